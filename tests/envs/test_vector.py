"""Gymnasium's VectorEnv: the batch against single environments, row by row, in each mode."""

import copy
import inspect
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from tables import (
    READY_DECK,
    Eager,
    Quiet,
    Random,
    eager,
    global_random_state,
    some_legal,
)

import ginrummy_env
from ginrummy_env import GinRummyEnv, GinRummyVectorEnv, IllegalActionError
from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.cards import cards_of, hand_of

SAME, NEXT, DISABLED = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED
VOID_SOON = {"turn_bound": 3}
RAW_DEALS = {"episode": "deal", "features": "raw"}
SHORT = {"rules": {"target": 30}, "reward": "points", "max_deals": 6}


def choose_all(masks, number, choose=some_legal):
    """An action for every row; any where the mask is empty."""
    rows = enumerate(masks)
    return np.array([choose(mask, number + row) if mask.any() else 0 for row, mask in rows])


def same(ours, theirs):
    """Whether infos say the same, lazily told deals or not."""
    if isinstance(theirs, dict):
        return set(ours) == set(theirs) and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, np.ndarray) and theirs.dtype == object:
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, np.ndarray):
        return np.array_equal(ours, theirs)
    return ours == theirs


@pytest.mark.parametrize("mode", [SAME, NEXT])
@pytest.mark.parametrize(
    "options", [SHORT, {"episode": "deal", "features": "raw"}], ids=["game", "deal"]
)
def test_rows_are_single_environments(mode, options):
    """With the same seeds Gymnasium's SyncVectorEnv of single ones returns the same."""
    seeds = [3, 1, 4, 15, 9]
    ours = GinRummyVectorEnv(5, "simple", autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: GinRummyEnv("simple", **options)] * 5, autoreset_mode=mode)
    observation, infos = ours.reset(seed=seeds)
    expected, expected_infos = theirs.reset(seed=seeds)
    assert same(infos, expected_infos)
    ends = 0
    for number in range(250):
        assert np.array_equal(observation, expected)
        actions = choose_all(infos["action_mask"], number, eager)
        observation, *rest, infos = ours.step(actions)
        expected, *expected_rest, expected_infos = theirs.step(actions)
        for mine, his in zip(rest, expected_rest, strict=True):
            assert mine.dtype == his.dtype
            assert np.array_equal(mine, his)
        assert same(infos, expected_infos)
        ends += (rest[1] | rest[2]).sum()
    assert ends > 20


def test_one_seed_gives_every_row_a_stream_of_its_own():
    """64 rows, 64 deals, also after resets; none of them in the neighbouring seed."""
    decks = []
    for seed in (0, 1):
        env = GinRummyVectorEnv(64, Random())
        env.reset(seed=seed)
        for _ in range(3):
            decks += [deck.tobytes() for deck in env.games.state.deck]
            env.reset()
    assert len(set(decks)) == len(decks)


def test_one_row_is_row_0_of_eight():
    """Shapes (1, ...) everywhere, and the same results."""
    one = GinRummyVectorEnv(1, "simple", **SHORT)
    eight = GinRummyVectorEnv(8, "simple", **SHORT)
    (first, infos), (others, other_infos) = one.reset(seed=5), eight.reset(seed=5)
    for number in range(200):
        assert first.shape == (1, *one.single_observation_space.shape)
        assert infos["action_mask"].shape == (1, 108)
        assert np.array_equal(first[0], others[0])
        actions = choose_all(other_infos["action_mask"], number)
        first, *rest, infos = one.step(actions[:1])
        others, *other_rest, other_infos = eight.step(actions)
        for mine, his in zip(rest, other_rest, strict=True):
            assert mine.shape == (1,)
            assert mine[0] == his[0]


def test_next_step():
    """The step after the end ignores the action, pays 0 and shows the new episode."""
    env = GinRummyVectorEnv(16, Quiet(), episode="deal", rules=VOID_SOON)
    assert env.metadata["autoreset_mode"] is NEXT
    _, infos = env.reset(seed=0)
    over = np.zeros(16, dtype=bool)
    for number in range(60):
        masks = infos["action_mask"]
        assert (masks.any(axis=1) != over).all()
        actions = np.where(over, 99, choose_all(masks, number))
        observation, rewards, terminated, truncated, infos = env.step(actions)
        assert "final_obs" not in infos
        assert not (terminated | truncated)[over].any()
        assert (rewards[over] == 0).all()
        begun = env.games.views(np.flatnonzero(over))
        assert (begun.turn <= 1).all()
        assert np.array_equal(env.games.masks, infos["action_mask"])
        assert env.observation_space.contains(observation)
        over = terminated | truncated


def test_same_step():
    """``final_obs`` and ``final_info``; the mask fits the observation that is returned."""
    env = GinRummyVectorEnv(16, Quiet(), episode="deal", rules=VOID_SOON, autoreset_mode="SameStep")
    assert env.metadata["autoreset_mode"] is SAME
    _, infos = env.reset(seed=0)
    ends = 0
    for number in range(60):
        _, _, terminated, _, infos = env.step(choose_all(infos["action_mask"], number))
        assert infos["action_mask"].any(axis=1).all()
        assert np.array_equal(env.games.masks, infos["action_mask"])
        for row in np.flatnonzero(terminated):
            final = infos["final_obs"][row]
            assert env.single_observation_space.contains(final)
            assert not infos["final_info"]["action_mask"][row].any()
            told = infos["final_info"]["deals"][row][0]
            assert told["turns"] == 3 or told["outcome"] != "void"
            ends += 1
        if terminated.any():
            assert (infos["_final_obs"] == terminated).all()
            assert (infos["_final_info"] == terminated).all()
        else:
            assert "final_obs" not in infos
    assert ends > 50


def test_disabled():
    """Rows whose episode is over wait for a reset by mask."""
    env = GinRummyVectorEnv(8, Quiet(), episode="deal", rules=VOID_SOON, autoreset_mode=DISABLED)
    _, infos = env.reset(seed=0)
    for number in range(60):
        _, _, terminated, truncated, infos = env.step(choose_all(infos["action_mask"], number))
        over = terminated | truncated
        if over.any():
            with pytest.raises(ResetNeeded, match=r"row \d: the episode is over"):
                env.step(choose_all(infos["action_mask"], number))
            _, infos = env.reset(options={"reset_mask": over})


def test_reset_by_mask():
    """The rows of the mask, no others; the mask stays in the caller's dict."""
    env = GinRummyVectorEnv(6, Random())
    observation, infos = env.reset(seed=0)
    for number in range(9):
        observation, *_, infos = env.step(choose_all(infos["action_mask"], number))
    before = env.games.state.copy()
    numbers = env.games.episodes.numbers.copy()
    mask = np.array([True, False, False, True, False, False])
    options = {"reset_mask": mask}
    shown, _ = env.reset(options=options)
    assert options == {"reset_mask": mask}
    state = env.games.state
    for row in range(6):
        changed = (state.deck[row] != before.deck[row]).any()
        assert changed == mask[row]
        assert np.array_equal(shown[row], observation[row]) != mask[row]
        assert env.games.episodes.numbers[row] == numbers[row] + mask[row]
        assert (state.turn[row] == before.turn[row]) or mask[row]
    env.reset(seed=0, options={"reset_mask": mask})
    fresh = GinRummyVectorEnv(6, Random())
    fresh.reset(seed=0)
    assert (env.games.state.deck[mask] == fresh.games.state.deck[mask]).all()
    for wrong, error in [
        ([True] * 6, TypeError),
        (np.ones(6, dtype=int), TypeError),
        (np.ones(5, dtype=bool), ValueError),
        (np.zeros(6, dtype=bool), ValueError),
    ]:
        with pytest.raises(error, match="reset_mask"):
            env.reset(options={"reset_mask": wrong})
    with pytest.raises(ValueError, match="2 seeds, expected num_envs=6"):
        env.reset(seed=[1, 2])


COUNTS = "SAME_STEP" in inspect.getsource(RecordEpisodeStatistics.step)
"""The wrapper of older Gymnasiums (1.2.2) misses a step of each later episode in this mode."""


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(SAME, marks=pytest.mark.skipif(not COUNTS, reason="Gymnasium counts wrong")),
        NEXT,
    ],
)
def test_episode_statistics(mode):
    """Deals of known length, in the first and all later episodes, through the wrapper."""
    env = RecordEpisodeStatistics(
        GinRummyVectorEnv(8, Quiet(), episode="deal", rules=VOID_SOON, autoreset_mode=mode)
    )
    env.reset(seed=0)
    ends = 0
    for _ in range(60):
        dealer = env.unwrapped.games.state.dealer == env.unwrapped.games.seats
        masks = env.unwrapped.games.masks
        actions = np.where(masks[:, 106], 106, np.where(masks[:, 104], 104, masks.argmax(axis=1)))
        _, _, terminated, _, infos = env.step(actions)
        for row in np.flatnonzero(terminated):
            assert infos["episode"]["l"][row] == (3 if dealer[row] else 5)
            assert infos["episode"]["r"][row] == 0
            ends += 1
    assert ends > 50


def test_opponents_by_row():
    """A list in turn, or an assignment."""
    in_turn = GinRummyVectorEnv(5, ["simple", Quiet()])
    assert in_turn.games.others.assignment.tolist() == [0, 1, 0, 1, 0]
    in_turn.set_opponents(["random", "simple", "gold"], [2, 2, 1, 1, 0])
    names = [type(policy).__name__ for policy in in_turn.games.others.policies]
    assert names == ["RandomAgent", "Simple", "Gold"]
    for wrong in ([0, 1], [0, 1, 2, 3, 0], [0.0] * 5):
        with pytest.raises(ValueError, match="assignment="):
            in_turn.set_opponents(["random", "simple", "gold"], wrong)
    with pytest.raises(ValueError, match="at least one policy"):
        in_turn.set_opponents([])


@pytest.mark.filterwarnings("ignore:.*illegal action has lost")
def test_a_row_with_an_opponent_of_its_own_plays_as_alone():
    rows = [0, 1, 2, 2, 1, 0]
    policies = ["simple", Eager(), "random"]
    mixed = GinRummyVectorEnv(6, policies, assignment=rows, autoreset_mode=SAME, **SHORT)
    observation, infos = mixed.reset(seed=2)
    log = []
    for number in range(120):
        actions = choose_all(infos["action_mask"], number)
        observation, rewards, *_, infos = mixed.step(actions)
        log.append((actions, observation, rewards))
    for number, policy in enumerate(policies):
        alone = GinRummyVectorEnv(6, policy, autoreset_mode=SAME, illegal_action="lose", **SHORT)
        alone.reset(seed=2)
        mine = [row for row in range(6) if rows[row] == number]
        for actions, observation, rewards in log:
            got, paid, *_ = alone.step(actions)
            assert np.array_equal(got[mine], observation[mine])
            assert np.array_equal(paid[mine], rewards[mine])


def test_nothing_hidden_is_seen():
    """Unseen cards dealt otherwise; observations, masks and infos are byte for byte the same.

    Ten thousand positions and more.
    """
    env = GinRummyVectorEnv(512, "simple", autoreset_mode=SAME)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for number in range(24):
        observation, *_, infos = env.step(choose_all(infos["action_mask"], number))
        twin = copy.deepcopy(env)
        state, seats = twin.games.state, twin.games.seats
        rows, his = np.arange(512), 1 - seats
        hidden = state.hands[rows, his] & ~state.known[rows, his]
        stocks = state.stock
        for row in rows:
            mine, stock = cards_of(hidden[row]), stocks[row]
            dealt = rng.permutation(mine + stock)
            state.hands[row, his[row]] ^= hidden[row] ^ hand_of(dealt[: len(mine)])
            state.deck[row, 52 - len(stock) :] = dealt[len(mine) :]
        twin.games._masks = None
        assert twin.games.observations().tobytes() == observation.tobytes()
        assert same(twin._infos({}), env._infos({}))


def test_every_row_can_always_move():
    """100,000 decisions, the mask never empty."""
    env = GinRummyVectorEnv(1024, "simple", autoreset_mode=SAME)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(100):
        assert infos["action_mask"].any(axis=1).all()
        masks = infos["action_mask"].view(np.bool_)
        *_, infos = env.step(random_actions(masks, rng.random(1024)))


def test_seats():
    env = GinRummyVectorEnv(64, Random(), episode="deal")
    _, infos = env.reset(seed=0)
    assert set(infos["seat"]) == {0, 1}
    env = GinRummyVectorEnv(4, Random(), seat=[0, 1, 1, 0])
    assert env.reset(seed=0)[1]["seat"].tolist() == [0, 1, 1, 0]


@pytest.mark.filterwarnings("ignore:.*illegal action has lost")
def test_illegal_actions():
    """Refused for the whole batch, with the row; or lost by that row alone."""
    env = GinRummyVectorEnv(4, Random(), illegal_action="raise")
    _, infos = env.reset(seed=0)
    actions = choose_all(infos["action_mask"], 0)
    wrong = actions.copy()
    wrong[2] = 107
    before = pickle.dumps(env.games.state)
    with pytest.raises(IllegalActionError, match="row 2: action 107, 'big gin', is not legal"):
        env.step(wrong)
    assert pickle.dumps(env.games.state) == before
    for bad in (actions[:3], actions.astype(float), actions[:, None]):
        with pytest.raises(ValueError, match="actions"):
            env.step(bad)
    loose = GinRummyVectorEnv(4, Random(), autoreset_mode=SAME)  # as all environments do
    loose.reset(seed=0)
    _, rewards, terminated, truncated, infos = loose.step(wrong)
    assert "action 107" in infos["final_info"]["illegal_action"][2]
    assert infos["final_info"]["_illegal_action"].tolist() == [False, False, True, False]
    assert rewards.tolist() == [0, 0, -1, 0]
    assert terminated.tolist() == [False, False, True, False]
    assert not truncated.any()


def test_copies_go_on_identically():
    env = GinRummyVectorEnv(8, ["simple", "random"], autoreset_mode=SAME, **SHORT)
    _, infos = env.reset(seed=0)
    for number in range(30):
        *_, infos = env.step(choose_all(infos["action_mask"], number))
    logs = []
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env):
        log = []
        for number in range(60):
            observation, *rest, _ = twin.step(choose_all(twin.action_masks(), number))
            log.append((observation.tobytes(), [array.tobytes() for array in rest]))
        logs.append(log)
    assert logs[0] == logs[1] == logs[2]


def test_what_is_returned_stays_as_it_is():
    """Observations, masks, rewards, final observations."""
    options = {"episode": "deal", "rules": VOID_SOON, "autoreset_mode": SAME}
    env, twin = (GinRummyVectorEnv(4, Random(), **options) for _ in range(2))
    (_, infos), _ = env.reset(seed=0), twin.reset(seed=0)
    kept = []
    for number in range(60):
        actions = choose_all(infos["action_mask"], number)
        mine, other = env.step(actions), twin.step(actions)
        infos = copy.deepcopy(mine[-1])
        for ours, theirs in zip(mine[:4], other[:4], strict=True):
            assert np.array_equal(ours, theirs)
        assert same(infos, other[-1])
        kept.append((other, copy.deepcopy(other)))
        mine[0][:] = -1
        mine[-1]["action_mask"][:] = 0
        env.action_masks()[:] = False
        for final in mine[-1].get("final_obs", []):
            if final is not None:
                final[:] = -1
    for other, copied in kept:
        assert all(np.array_equal(a, b) for a, b in zip(other[:4], copied[:4], strict=True))
        assert same(other[-1], copied[-1])


def test_a_reset_row_is_like_new():
    """After random play, the row's mask, observation and state are those of a new one."""
    env = GinRummyVectorEnv(32, Quiet(), episode="deal", autoreset_mode=SAME, seat=0)
    _, infos = env.reset(seed=0)
    checked = 0
    for number in range(250):
        observation, _, terminated, _, infos = env.step(
            choose_all(infos["action_mask"], number, eager)
        )
        for row in np.flatnonzero(terminated):
            state = env.games.state.select([row])
            options = {"deck": state.deck, "dealer": state.dealer}
            fresh = GinRummyVectorEnv(1, Quiet(), episode="deal", seat=0)
            fresh.reset(seed=0, options=options)
            assert np.array_equal(fresh.games.observations()[0], observation[row])
            assert np.array_equal(fresh.games.masks[0], infos["action_mask"][row])
            checked += 1
    assert checked > 100


def test_nobodys_generator_is_touched():
    before = global_random_state()
    env = GinRummyVectorEnv(4, "simple")
    _, infos = env.reset()
    env.step(choose_all(infos["action_mask"], 0))
    assert global_random_state() == before


def test_make_vec():
    env = gymnasium.make_vec(ginrummy_env.GYMNASIUM_ID, num_envs=3, opponent="simple", seat=1)
    assert isinstance(env, GinRummyVectorEnv)
    assert env.spec.id == ginrummy_env.GYMNASIUM_ID
    env.reset(seed=1)
    env.close()
    for mode, kind in (("sync", SyncVectorEnv), ("vector_entry_point", GinRummyVectorEnv)):
        env = gymnasium.make_vec(ginrummy_env.GYMNASIUM_ID, 2, vectorization_mode=mode)
        assert isinstance(env, kind)
        assert env.reset(seed=1)[0].shape == (2, *env.single_observation_space.shape)
        env.close()
    listed = DictInfoToList(gymnasium.make_vec(ginrummy_env.GYMNASIUM_ID, num_envs=3))
    _, infos = listed.reset(seed=1)
    assert [set(info) for info in infos] == [{"action_mask", "seat", "deals", "skipped"}] * 3


def test_given_decks():
    env = GinRummyVectorEnv(
        2, Quiet(), episode="deal", reward="points", seat=0, autoreset_mode=SAME
    )
    env.reset(seed=0, options={"deck": READY_DECK, "dealer": [1, 1]})
    env.step([105, 105])
    _, rewards, terminated, _, infos = env.step([52 + 25, 0])
    assert rewards[0] > 0 == rewards[1]
    assert terminated.tolist() == [True, False]
    assert infos["final_info"]["deals"][0][0]["outcome"] == "knock"


def test_render():
    env = GinRummyVectorEnv(3, Random(), render_mode="ansi")
    env.reset(seed=0)
    assert [type(text) for text in env.render()] == [str] * 3
    with pytest.raises(ValueError, match="render_mode='film'"):
        GinRummyVectorEnv(3, Random(), render_mode="film")
