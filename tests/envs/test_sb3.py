"""Stable-Baselines3: the native VecEnv, and the single environment in SB3's own."""

import copy
import functools
import pickle
import types

import gymnasium
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy as evaluate_without_masks
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor
from tables import READY_DECK, Quiet, Random, eager, global_random_state, some_legal

import ginrummy_env
from ginrummy_env import GinRummyEnv, GinRummyVecEnv, GinRummyVectorEnv, IllegalActionError

VOID_SOON = {"turn_bound": 3}
SHORT = {"rules": {"target": 30}, "reward": "points", "max_deals": 6}
SMALL = {"policy_kwargs": {"net_arch": [32]}, "n_epochs": 1, "seed": 0, "device": "cpu"}


def choose_all(masks, number, choose=some_legal):
    return np.array([choose(mask, number + row) for row, mask in enumerate(masks)])


def single(**options):
    return gymnasium.make(ginrummy_env.GYMNASIUM_ID, **options)


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.filterwarnings("ignore:.*illegal action has lost")
def test_sb3_checker():
    """Actions without a mask: the environment must stand them."""
    check_env(single(opponent="simple").unwrapped)
    check_env(GinRummyEnv("random", episode="deal", reward="points", features="raw"))


def test_masks_are_found():
    """Bool [n_envs, n_actions] of each vector env, through Monitor and others."""
    native = GinRummyVecEnv(3, "simple")
    dummy = DummyVecEnv([lambda: Monitor(single(opponent="simple"))] * 3)
    for env in (native, VecMonitor(DummyVecEnv([lambda: single(opponent="simple")] * 3)), dummy):
        env.seed(0)
        env.reset()
        for number in range(60):
            assert is_masking_supported(env)
            masks = get_action_masks(env)
            assert masks.shape == (3, 108)
            assert masks.dtype == np.bool_
            assert masks.any(axis=1).all()
            env.step(choose_all(masks, number))
    assert not native.has_attr("no_such_thing")


def test_it_plays_like_the_gymnasium_vector_env():
    """One learner loop: the same seed gives the same episodes as SAME_STEP there."""
    ours = GinRummyVecEnv(6, "simple", **SHORT)
    theirs = GinRummyVectorEnv(6, "simple", autoreset_mode="SameStep", **SHORT)
    assert ours.seed(5) == [5] * 6
    observation = ours.reset()
    expected, infos = theirs.reset(seed=5)
    ends = 0
    for number in range(200):
        assert np.array_equal(observation, expected)
        masks = get_action_masks(ours)
        assert np.array_equal(masks, infos["action_mask"])
        actions = choose_all(masks, number, eager)
        observation, rewards, dones, told = ours.step(actions)
        expected, paid, terminated, truncated, infos = theirs.step(actions)
        assert rewards.dtype == np.float32
        assert rewards == pytest.approx(paid)
        assert np.array_equal(dones, terminated | truncated)
        for row in range(6):
            assert ("terminal_observation" in told[row]) == dones[row]
            if dones[row]:
                ends += 1
                assert np.array_equal(told[row]["terminal_observation"], infos["final_obs"][row])
                assert told[row]["TimeLimit.truncated"] == truncated[row]
                assert told[row]["deals"] == infos["final_info"]["deals"][row]
            else:
                assert told[row]["deals"] == infos["deals"][row]
    assert ends > 10


def test_it_plays_like_single_environments_in_a_dummy():
    """What SB3's own DummyVecEnv returns of single ones, row 0 of the same seed."""
    ours = GinRummyVecEnv(1, "simple", **SHORT)
    dummy = DummyVecEnv([lambda: GinRummyEnv("simple", **SHORT)])
    ours.seed(5)
    dummy.seed(5)
    assert np.array_equal(ours.reset(), dummy.reset())
    for number in range(150):
        actions = choose_all(get_action_masks(ours), number, eager)
        mine, his = ours.step(actions), dummy.step(actions)
        for ours_, theirs in zip(mine[:3], his[:3], strict=True):
            assert ours_.dtype == theirs.dtype
            assert np.array_equal(ours_, theirs)
        assert mine[3][0].get("TimeLimit.truncated", False) == his[3][0]["TimeLimit.truncated"]


def test_episodes_are_told_as_monitor_tells_them():
    """Return and length, in the first and all later episodes."""
    ours = GinRummyVecEnv(4, "simple", **SHORT)
    monitored = VecMonitor(DummyVecEnv([functools.partial(GinRummyEnv, "simple", **SHORT)]))
    ours.seed(1)
    ours.reset()
    returns, lengths, ends = np.zeros(4), np.zeros(4, dtype=int), 0
    for number in range(200):
        _, rewards, dones, infos = ours.step(choose_all(get_action_masks(ours), number, eager))
        returns += rewards
        lengths += 1
        for row in np.flatnonzero(dones):
            told = infos[row]["episode"]
            assert told["r"] == pytest.approx(returns[row], abs=1e-6)
            assert told["l"] == lengths[row]
            assert told["t"] > 0
            returns[row], lengths[row], ends = 0, 0, ends + 1
    assert ends > 10
    assert ours.env_is_wrapped(Monitor) == [True] * 4
    assert ours.env_is_wrapped(gymnasium.wrappers.TimeLimit) == [False] * 4
    monitored.close()


def test_rows_have_seeds_of_their_own():
    """64 rows, 64 deals; none of them with the neighbouring seed; others untouched."""
    before = global_random_state()
    decks = []
    for seed in (0, 1, None):
        env = GinRummyVecEnv(64, Random())
        if seed is not None:
            env.seed(seed)
        for _ in range(2):
            env.reset()
            decks += [deck.tobytes() for deck in env.games.state.deck]
    assert len(set(decks)) == len(decks)
    env.seed(0)
    env.reset()
    assert [deck.tobytes() for deck in env.games.state.deck] == decks[:64]
    assert global_random_state() == before


def test_attributes_and_methods_of_rows():
    env = GinRummyVecEnv(4, "simple", render_mode="ansi", seat=[0, 1, 0, 1])
    env.reset()
    assert env.get_attr("seat") == [0, 1, 0, 1]
    assert env.get_attr("seat", indices=np.int64(1)) == [1]
    assert env.get_attr("render_mode", indices=[1, 2]) == ["ansi", "ansi"]
    assert [type(policy).__name__ for policy in env.get_attr("opponent")] == ["Simple"] * 4
    env.set_attr("opponent", "random", indices=[1, 3])
    names = [type(policy).__name__ for policy in env.get_attr("opponent")]
    assert names == ["Simple", "RandomAgent", "Simple", "RandomAgent"]
    env.set_attr("opponent", "gold")
    assert [type(policy).__name__ for policy in env.games.others.policies] == ["Gold"]
    assert env.env_method("render", indices=0)[0].count("\n") > 5
    assert env.env_method("action_masks", indices=[2])[0].shape == (108,)
    assert len(env.env_method("view", indices=2)[0]) == 1
    for bad in (env.get_attr, env.env_method):
        with pytest.raises(AttributeError):
            bad("no_such_thing")
    with pytest.raises(AttributeError):
        env.set_attr("seat", 1)
    env.set_options([{"deck": READY_DECK, "dealer": 1 - seat} for seat in (0, 1, 0, 1)])
    env.reset()
    assert (env.games.state.deck == READY_DECK).all()
    env.set_options([{"deck": READY_DECK}, {}, {}, {}])
    with pytest.raises(ValueError, match="'deck' is missing in 3 of 4 rows"):
        env.reset()
    env.close()


def test_pictures():
    pytest.importorskip("pygame")  # .venv-scale has none
    env = GinRummyVecEnv(2, Quiet(), render_mode="rgb_array")
    env.reset()
    assert env.render().dtype == np.uint8


def test_illegal_actions_are_refused():
    """With the row; the evaluation that knows no masks is refused thereby."""
    env = GinRummyVecEnv(3, Random(), illegal_action="raise")
    env.reset()
    actions = choose_all(get_action_masks(env), 0)
    actions[1] = 107
    before = pickle.dumps(env.games.state)
    with pytest.raises(IllegalActionError, match="row 1"):
        env.step(actions)
    assert pickle.dumps(env.games.state) == before
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, **SMALL)
    with pytest.raises(IllegalActionError, match="not legal"):
        evaluate_without_masks(model, env, n_eval_episodes=50)


def test_evaluation_asks_for_no_illegal_action():
    """A model of random weights over hundreds of deals, the masked evaluation."""
    env = GinRummyVecEnv(32, "simple", episode="deal")
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, **SMALL)
    for deterministic in (True, False):
        returns, lengths = evaluate_policy(
            model, env, 200, deterministic=deterministic, return_episode_rewards=True
        )
        assert len(returns) >= 200
        assert set(returns) <= {-1.0, 0.0, 1.0}
        assert min(lengths) >= 1


def test_copies_go_on_identically():
    env = GinRummyVecEnv(4, ["simple", "random"], **SHORT)
    env.seed(0)
    env.reset()
    for number in range(30):
        env.step(choose_all(get_action_masks(env), number))
    logs = []
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env):
        log = []
        for number in range(60):
            observation, rewards, dones, _ = twin.step(choose_all(get_action_masks(twin), number))
            log.append((observation.tobytes(), rewards.tobytes(), dones.tobytes()))
        logs.append(log)
    assert logs[0] == logs[1] == logs[2]


def test_what_is_returned_stays_as_it_is():
    options = {"episode": "deal", "rules": VOID_SOON}
    env, twin = (GinRummyVecEnv(4, Random(), **options) for _ in range(2))
    for each in (env, twin):
        each.seed(0)
        each.reset()
    kept = []
    for number in range(40):
        actions = choose_all(get_action_masks(twin), number)
        mine, other = env.step(actions), twin.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(mine[:3], other[:3], strict=True))
        kept.append((other, copy.deepcopy(other)))
        mine[0][:] = -1
        get_action_masks(env)[:] = False
        for mask in env.env_method("action_masks"):
            mask[:] = False
    for other, copied in kept:
        assert all(np.array_equal(a, b) for a, b in zip(other[:3], copied[:3], strict=True))


def native(count):
    return GinRummyVecEnv(count, "simple", episode="deal", reward="points")


def in_dummy(count):
    make = functools.partial(single, opponent="random", episode="deal", reward="points")
    return DummyVecEnv([lambda: Monitor(make())] * count)


def in_subprocesses(count):
    make = functools.partial(single, opponent="random", episode="deal", reward="points")
    return SubprocVecEnv([make] * count, start_method="fork")


@pytest.mark.parametrize(
    ("make", "count", "steps"),
    [(native, 64, 32_768), (in_dummy, 4, 4_096), (in_subprocesses, 2, 2_048)],
    ids=["native", "dummy", "subprocesses"],
)
def test_maskable_ppo_learns(make, count, steps):
    """Thousands of steps, many of them natively; SB3's argument checks are on: no simplex error."""
    env = make(count)
    if make is not in_subprocesses:
        env.seed(0)
    model = MaskablePPO("MlpPolicy", env, n_steps=steps // count // 4, batch_size=256, **SMALL)
    model.learn(steps)
    assert model.num_timesteps >= steps
    if make is not in_subprocesses:
        assert len(model.ep_info_buffer) > 0
    masks = get_action_masks(env)
    actions, _ = model.predict(model._last_obs, action_masks=masks)
    assert masks[np.arange(count), actions].all()
    env.close()


def test_maskable_evaluation_callback():
    """With the native VecEnv as training and as evaluation environment, whose decks never meet."""
    train = native(16)
    evaluate = GinRummyVecEnv(16, "simple", episode="deal", split="eval")
    callback = MaskableEvalCallback(evaluate, n_eval_episodes=16, eval_freq=32, verbose=0)
    model = MaskablePPO("MlpPolicy", train, n_steps=64, batch_size=256, **SMALL)
    model.learn(2048, callback=callback)
    assert -1 <= callback.last_mean_reward <= 1
    decks = [{deck.tobytes() for deck in env.games.state.deck} for env in (train, evaluate)]
    assert not decks[0] & decks[1]


@pytest.mark.parametrize("kind", ["MaskablePPO", "PPO", "DQN"])
def test_models_are_opponents(kind):
    """Legal actions only, also without masks; the same from a copy; any policy's interface."""
    import sb3_contrib
    import stable_baselines3

    made = getattr(sb3_contrib if kind == "MaskablePPO" else stable_baselines3, kind)
    where = "observation" if kind == "PPO" else "info"
    env = GinRummyVecEnv(2, "simple", features="raw", mask_in=where)
    small = {"policy_kwargs": {"net_arch": [8]}, "seed": 0, "device": "cpu"}
    model = made("MultiInputPolicy" if kind == "PPO" else "MlpPolicy", env, **small)
    logs = []
    for deterministic in (False, False, True):
        policy = ginrummy_env.SB3Policy(model, deterministic=deterministic)
        games = GinRummyVecEnv(16, policy, rules=VOID_SOON)
        games.seed(3)
        log = [games.reset().tobytes()]
        for number in range(12):
            log.append(games.step(choose_all(get_action_masks(games), number))[0].tobytes())
        logs.append(log)
    assert logs[0] == logs[1]
    if kind != "DQN":
        assert logs[0] != logs[2]


def test_a_model_of_another_environment_is_refused():
    model = types.SimpleNamespace(observation_space=gymnasium.spaces.Box(0, 1, (8,)))
    with pytest.raises(ValueError, match="features have raw 537"):
        ginrummy_env.SB3Policy(model)
