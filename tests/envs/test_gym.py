"""Gymnasium: one learner against a policy."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from tables import (
    READY_DEALER_DECK,
    READY_DECK,
    UNDERCUT_DECK,
    Eager,
    Quiet,
    Random,
    Script,
    global_random_state,
    some_legal,
)

import ginrummy_env
from ginrummy_env import GinRummyEnv, IllegalActionError
from ginrummy_env.core.rules import Rules
from ginrummy_env.policy import make_policy

KNOCK_KH = 52 + 25
VOID_SOON = {"turn_bound": 3}


def play(env, count, seed=0, choose=some_legal):
    """Play, yielding (observation, reward, terminated, truncated, info) of each step."""
    _, info = env.reset(seed=seed)
    for number in range(count):
        step = env.step(choose(info["action_mask"], number))
        info = step[-1]
        yield step
        if step[2] or step[3]:
            _, info = env.reset()


def test_the_learner_is_paid_for_his_knock():
    """In the step of the knock."""
    env = GinRummyEnv(Quiet(), episode="deal", reward="points", seat=0)
    env.reset(seed=0, options={"deck": READY_DECK, "dealer": 1})
    _, reward, terminated, _, _ = env.step(105)
    assert (reward, terminated) == (0.0, False)
    _, reward, terminated, truncated, info = env.step(KNOCK_KH)
    assert (terminated, truncated) == (True, False)
    assert reward > 0
    assert [deal["points"] for deal in info["deals"]] == [reward * 100]


def test_the_learner_is_paid_for_the_answer():
    """The opponent knocks inside the learner's step, and the loss is in that step."""
    env = GinRummyEnv(Eager(), episode="deal", reward="points", seat=0)
    env.reset(seed=0, options={"deck": READY_DEALER_DECK, "dealer": 1})
    _, reward, terminated, _, info = env.step(106)
    assert terminated
    assert reward < 0
    assert info["deals"][0]["winner"] == 1
    assert not info["action_mask"].any()


def test_the_learners_undercut_pays_him():
    """The opponent knocks, the learner has less."""
    env = GinRummyEnv(Script("take", "knock Kh"), episode="deal", reward="points", seat=1)
    env.reset(seed=0, options={"deck": UNDERCUT_DECK, "dealer": 1})
    assert env.unwrapped.games.skipped[0] == 1  # it was over before he had a decision
    env = GinRummyEnv(Script("pass", "draw", "knock Kh"), episode="deal", reward="points", seat=1)
    env.reset(seed=0, options={"deck": UNDERCUT_DECK, "dealer": 1})
    _, reward, terminated, _, info = env.step(106)
    assert terminated
    assert info["deals"][0]["outcome"] == "undercut"
    assert reward == info["deals"][0]["points"] / 100 > 0


def test_what_comes_before_the_first_decision_is_owed():
    """In a game, a deal that the opponent ends at once is paid and told with the first step."""
    env = GinRummyEnv(Script("take", "knock Kh"), reward="points", seat=1)
    _, info = env.reset(seed=0, options={"deck": READY_DECK, "dealer": 1})
    assert info["deals"] == []
    _, reward, _, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert reward == -info["deals"][0]["points"] / 100 < 0
    assert info["deals"][0]["deal_number"] == 0


@pytest.mark.parametrize("reward", ["win", "points", "final"])
def test_the_return_is_the_result(reward):
    """Over an episode the rewards add up to the learner's result; outcomes add up."""
    env = GinRummyEnv("simple", reward=reward, rules={"target": 40})
    simple, rng = make_policy("simple"), np.random.default_rng(0)
    total, games, won, last = 0.0, 0, 0, None
    played = play(env, 400, choose=lambda *_: simple.act(env.view(), rng)[0])
    for _, paid, terminated, truncated, info in played:
        total += paid
        for deal in info.get("deals", []):
            last = deal
            assert deal["winner"] in (0, 1, -1)
        if terminated:
            assert not truncated
            seat = info["seat"]
            scores = np.array(last["final_scores" if reward == "final" else "scores"], dtype=float)
            result = (scores[seat] - scores[1 - seat]) / 100
            assert total == pytest.approx(np.sign(result) if reward == "win" else result)
            games, won, total = games + 1, won + (total > 0), 0.0
    assert games > 3
    assert 0 < won < games


def test_seats_are_drawn_or_chosen():
    env = GinRummyEnv(Random(), episode="deal", rules=VOID_SOON)
    seats = {info["seat"] for *_, info in play(env, 100)}
    assert seats == {0, 1}
    for seat in (0, 1):
        env = GinRummyEnv(Random(), episode="deal", rules=VOID_SOON, seat=seat)
        assert {info["seat"] for *_, info in play(env, 50)} == {seat}
    with pytest.raises(ValueError, match="seat=2"):
        GinRummyEnv(Random(), seat=2)


def test_masks_fit_and_the_learner_is_to_move():
    """In info and from the method, int8 and bool."""
    env = GinRummyEnv(Random(), rules=VOID_SOON, max_deals=4)
    for observation, _, terminated, truncated, info in play(env, 300):
        assert env.observation_space.contains(observation)
        assert info["action_mask"].dtype == np.int8
        assert env.action_masks().dtype == np.bool_
        assert (env.action_masks() == info["action_mask"]).all()
        assert info["action_mask"].any() != (terminated or truncated)


def test_void_is_terminated_and_a_time_limit_truncates():
    """Never both; masks are found through the wrappers."""
    env = GinRummyEnv(Quiet(), episode="deal", rules=VOID_SOON)
    ends = [step for step in play(env, 60) if step[2] or step[3]]
    assert len(ends) > 5
    for _, reward, terminated, truncated, info in ends:
        assert (terminated, truncated, reward) == (True, False, 0.0)
        assert info["deals"][0]["outcome"] == "void"
    limited = TimeLimit(RecordEpisodeStatistics(GinRummyEnv(Quiet(), max_deals=50)), 7)
    steps = list(play(limited, 28))
    assert [step[3] for step in steps] == ([False] * 6 + [True]) * 4
    assert not any(step[2] for step in steps)
    assert limited.get_wrapper_attr("action_masks")().any()


def test_episode_statistics():
    """A deal of known length, in the first and in all later episodes."""
    env = RecordEpisodeStatistics(
        GinRummyEnv(Quiet(), episode="deal", rules=VOID_SOON), buffer_length=50
    )
    dealt = []
    for *_, terminated, _, info in play(env, 200, choose=lambda mask, _: quiet_choice(mask)):
        if terminated:
            deal = info["deals"][0]
            # Opening, then a draw and a discard in each of his turns: two of three, or one.
            dealt.append(5 if deal["dealer"] != info["seat"] else 3)
            assert info["episode"]["l"] == dealt[-1]
            assert info["episode"]["r"] == 0.0
    assert list(env.length_queue) == dealt[-50:]


def quiet_choice(mask):
    """What `Quiet` does, from the mask."""
    for action in (106, 104):
        if mask[action]:
            return action
    return int(mask.argmax())


@pytest.mark.filterwarnings("ignore:.*illegal action has lost")
def test_illegal_actions():
    """-1 and the end, or refused; the hands stay as they are."""
    options = {"deck": READY_DECK, "dealer": 1}
    for action in (104, np.int64(104), np.array(104), -1, 108, 10**12):
        env = GinRummyEnv(Random(), reward="points", seat=0)
        first, _ = env.reset(seed=3, options=options)
        hands = env.games.state.hands.copy()
        observation, reward, terminated, truncated, told = env.step(action)
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert f"action {action}" in told["illegal_action"]
        assert told["illegal_action"].endswith("legal: take, pass")
        assert not told["action_mask"].any()
        assert (env.games.state.hands == hands).all()
        assert observation.shape == first.shape
        with pytest.raises(ResetNeeded, match="call reset"):
            env.step(0)
        env.reset()
        strict = GinRummyEnv(Random(), illegal_action="raise", seat=0)
        strict.reset(seed=3, options=options)
        before = pickle.dumps(strict.games.state)
        with pytest.raises(IllegalActionError, match="not legal"):
            strict.step(action)
        assert pickle.dumps(strict.games.state) == before
    with pytest.raises(ValueError, match="illegal_action='ignore'"):
        GinRummyEnv(Random(), illegal_action="ignore")


def test_the_first_illegal_action_warns_and_names_the_mask():
    """Training without masks would go on for hours; checkers see the warning once."""
    env = GinRummyEnv(Random(), seat=0)
    env.reset(seed=3)
    with pytest.warns(UserWarning, match=r"illegal action has lost.*action_mask.*MaskablePPO"):
        env.step(107)
    env.reset()
    env.step(107)  # warnings are errors here


def test_what_is_no_action_is_refused_in_one_way():
    env = GinRummyEnv(Random(), seat=0)
    env.reset(seed=3)
    for wrong in (True, np.True_, None, 105.0, "take", [105], np.array([105]), np.array(105.0)):
        with pytest.raises(ValueError, match=r"action=.*: a whole number from 0 to 107 is needed"):
            env.step(wrong)
    env.step(np.array(106))


def test_wrong_options_are_refused_and_whole_numbers_of_any_kind_taken():
    """Unknown ones with what was probably meant."""
    for wrong, error, says in [
        ({"rewards": "win"}, TypeError, "unknown option 'rewards'.*did you mean 'reward'"),
        ({"derived": False}, TypeError, "the options are rules, episode"),
        ({"open_cards": "no"}, ValueError, "open_cards='no': True or False is needed"),
        ({"render_mode": "film"}, ValueError, "render_mode='film'"),
        ({"seat": True}, ValueError, "seat=True"),
        ({"max_deals": -3}, ValueError, "max_deals=-3: a whole number from 1"),
    ]:
        with pytest.raises(error, match=says):
            GinRummyEnv(Random(), **wrong)
    env = GinRummyEnv(Random(), seat=np.int8(1), max_deals=np.array(5))
    first, _ = env.reset(seed=np.int64(5))
    assert (first == env.reset(seed=5)[0]).all()


def test_a_time_before_reset_is_named():
    env = GinRummyEnv(Random())
    with pytest.raises(ResetNeeded, match="nothing has been dealt yet: call reset"):
        env.step(0)


def test_copies_go_on_identically():
    """With the opponent's chances; the original stays where it is."""
    env = gymnasium.make(
        ginrummy_env.GYMNASIUM_ID, opponent="simple", rules="eaai", reward="points", max_deals=9
    )
    for number, _ in enumerate(play(env, 40)):
        if number == 30:
            break
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    mark = pickle.dumps(env.unwrapped.games.state)
    logs = []
    for twin in [*twins, env]:
        log = []
        for number in range(200):
            observation, *rest, info = twin.step(some_legal(twin.unwrapped.action_masks(), number))
            log.append((observation.tobytes(), rest, info["action_mask"].tobytes(), str(info)))
            if rest[1] or rest[2]:
                log.append(twin.reset()[0].tobytes())
        logs.append(log)
        assert twin.unwrapped.rules == ginrummy_env.EAAI
        if twin is not env:
            assert pickle.dumps(env.unwrapped.games.state) == mark
    assert logs[0] == logs[1] == logs[2]


def test_seeds():
    """Twice the same; a hundred seeds, a hundred deals; nobody's generator is touched."""
    before = global_random_state()
    env = GinRummyEnv("simple")
    logs = [[(step[0].tobytes(), step[1:4]) for step in play(env, 100, seed=7)] for _ in range(2)]
    assert logs[0] == logs[1]
    decks = set()
    for seed in range(100):
        env.reset(seed=seed)
        decks.add(env.games.state.deck.tobytes())
    assert len(decks) == 100
    fresh = [GinRummyEnv(Random()) for _ in range(2)]
    for each in fresh:
        each.reset()
    assert global_random_state() == before
    assert (fresh[0].games.state.deck != fresh[1].games.state.deck).any()


def test_what_is_returned_stays_as_it_is():
    env, twin = GinRummyEnv("simple"), GinRummyEnv("simple")
    kept = []
    for mine, other in zip(play(env, 100), play(twin, 100), strict=True):
        assert np.array_equal(mine[0], other[0])
        assert np.array_equal(mine[4]["action_mask"], other[4]["action_mask"])
        kept.append((other, copy.deepcopy(other)))
        mine[0][:] = -1
        env.action_masks()[:] = False
    for other, copied in kept:
        assert np.array_equal(other[0], copied[0])
        assert np.array_equal(other[4]["action_mask"], copied[4]["action_mask"])


def test_another_opponent():
    """Self-play: the opponent can be changed between or within episodes."""
    env = GinRummyEnv("simple", rules=Rules(target=50))
    assert type(env.opponent).__name__ == "Simple"
    env.opponent = "random"
    assert type(env.opponent).__name__ == "RandomAgent"
    with pytest.raises(ValueError, match="unknown policy 'nobody'"):
        env.opponent = "nobody"
    with pytest.raises(ValueError, match="is not a policy"):
        GinRummyEnv(object())
    with pytest.raises(ValueError, match=r"Random is a class: .* such as Random\(\)"):
        GinRummyEnv(Random)


def test_gin_25_pays_35():
    """After reset, a seeded reset, a deal, a copy and a pickle."""
    env = gymnasium.make(ginrummy_env.GYMNASIUM_ID, opponent=Quiet(), rules={"gin_bonus": 25})
    for each in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        each.reset()
        each.reset(seed=1)
        assert each.unwrapped.rules == Rules(gin_bonus=25)


def test_before_the_first_reset_there_is_something_to_show():
    """Checkers render what has just been made."""
    env = GinRummyEnv(Quiet(), render_mode="ansi")
    assert "Nothing has been dealt yet." in env.render()
