"""Opponents are changed through every wrapper, and may fail without leaving a step half done."""

import copy
import functools

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import RecordEpisodeStatistics
from tables import READY_DECK, Quiet, Random, some_legal

import ginrummy_env
from ginrummy_env import GinRummyEnv, GinRummyVectorEnv, OpponentError

ID = ginrummy_env.GYMNASIUM_ID
GIVEN = {"deck": READY_DECK, "dealer": 1}


def single(**options):
    return gymnasium.make(ID, **options)


def names(policies):
    return [type(policy).__name__ for policy in policies]


def test_opponents_are_set_through_the_wrappers_of_gymnasium():
    """The policy that answers is the new one; nonsense is refused with what is allowed."""
    env = RecordEpisodeStatistics(single(opponent="simple"))
    env.get_wrapper_attr("set_opponent")("gold")
    assert names([env.unwrapped.opponent]) == ["Gold"]
    env.set_wrapper_attr("opponent", "random")
    assert names([env.unwrapped.opponent]) == ["RandomAgent"]
    for wrong, says in (
        ("nobody", "unknown policy 'nobody'; the policies are"),
        (3, "act\\(view, rng\\)"),
    ):
        with pytest.raises(ValueError, match=says):
            env.get_wrapper_attr("set_opponent")(wrong)
    assert names([env.unwrapped.opponent]) == ["RandomAgent"]


def test_opponents_are_set_in_the_vector_environments_of_gymnasium():
    native = gymnasium.make_vec(ID, 3, opponent="simple")
    native.set_opponent("gold")
    assert names(native.games.others.policies) == ["Gold"]
    native.set_opponents(["gold", "random"])
    assert names(native.games.others.policies) == ["Gold", "RandomAgent"]
    several = gymnasium.make_vec(ID, 2, vectorization_mode="sync", opponent="simple")
    several.call("set_opponent", "gold")
    assert names(env.unwrapped.opponent for env in several.envs) == ["Gold", "Gold"]
    several.set_attr("opponent", "random")
    assert names(env.unwrapped.opponent for env in several.envs) == ["RandomAgent"] * 2


def test_an_opponent_set_on_a_wrapper_is_not_silently_ignored():
    """Python sets the attribute on the wrapper: the next reset or step says so."""
    env = RecordEpisodeStatistics(single(opponent="simple"))
    _, info = env.reset(seed=0)
    env.opponent = "champion"
    with pytest.raises(AttributeError, match=r"RecordEpisodeStatistics.*set_opponent"):
        env.step(some_legal(info["action_mask"], 0))
    with pytest.raises(AttributeError, match="set on the wrapper"):
        env.reset()
    del env.opponent
    env.step(some_legal(info["action_mask"], 0))  # nothing had changed
    inner = env.env
    inner.opponent = "nonsense"
    with pytest.raises(AttributeError, match=type(inner).__name__):
        env.reset()


def test_an_opponent_set_around_a_batch_is_not_silently_ignored():
    """On wrappers of vector environments it is an error; on the environment itself it counts."""
    from gymnasium.wrappers.vector import RecordEpisodeStatistics

    batch = GinRummyVectorEnv(3, "simple")
    batch.opponent = "gold"
    assert names([batch.opponent]) == ["Gold"]
    batch.opponent = ["gold", "simple", "gold"]
    assert names(batch.opponent) == ["Gold", "Simple", "Gold"]
    with pytest.raises(ValueError, match="did you mean 'gold'"):
        batch.opponent = "goldd"
    around = [
        RecordEpisodeStatistics(batch),
        gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", opponent="simple"),
    ]
    for env in around:
        env.opponent = "champion"
        with pytest.raises(AttributeError, match=type(env).__name__):
            env.reset(seed=0)
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import VecCheckNan

    native = VecCheckNan(ginrummy_env.GinRummyVecEnv(2, "simple"))
    native.reset()
    native.opponent = "champion"
    with pytest.raises(AttributeError, match="wrapper VecCheckNan"):
        native.step([np.flatnonzero(mask)[0] for mask in native.env_method("action_masks")])
    with pytest.raises(AttributeError, match="wrapper VecCheckNan"):
        native.reset()


def test_opponents_are_set_through_stable_baselines3():
    """In DummyVecEnv, SubprocVecEnv and the native VecEnv."""
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import SubprocVecEnv

    dummy = make_vec_env(ID, 2, env_kwargs={"opponent": "simple"})
    dummy.env_method("set_opponent", "gold")
    assert names(env.unwrapped.opponent for env in dummy.envs) == ["Gold", "Gold"]
    dummy.set_attr("opponent", "champion")
    with pytest.raises(AttributeError, match=r"wrapper Monitor.*env_method\('set_opponent'"):
        dummy.reset()
    others = SubprocVecEnv([functools.partial(single, opponent="simple")] * 2, start_method="fork")
    others.env_method("set_opponent", "gold")
    assert names(others.get_attr("opponent")) == ["Gold", "Gold"]
    others.close()
    native = ginrummy_env.GinRummyVecEnv(4, "simple")
    native.env_method("set_opponent", "random", indices=[1, 3])
    assert names(native.get_attr("opponent")) == ["Simple", "RandomAgent"] * 2
    native.env_method("set_opponent", "gold")
    assert names(native.games.others.policies) == ["Gold"]  # one for all, asked once a step


class Fails:
    """Passes on to `Quiet`, but for its decision number ``at``: then it does something wrong."""

    def __init__(self, at, wrong):
        self.left, self.wrong = at, wrong

    def act(self, view, rng):
        self.left -= 1
        if self.left >= 0:
            return Quiet().act(view, rng)
        if isinstance(self.wrong, BaseException):
            raise self.wrong
        return self.wrong(len(view))


WRONG = {
    "error": RuntimeError("out of memory"),
    "Ctrl-C": KeyboardInterrupt(),
    "illegal": lambda count: np.full(count, 107),
    "floats": lambda count: np.full(count, 104.0),
    "flags": lambda count: np.ones(count, dtype=bool),
    "one number": lambda count: 104,
    "a column": lambda count: np.full((count, 1), 104),
    "None": lambda count: None,
}


def environments(opponent):
    yield GinRummyEnv(opponent, seat=0), {}
    yield GinRummyVectorEnv(3, opponent, seat=0), {"actions": 3}
    yield GinRummyVectorEnv(3, opponent, seat=0, autoreset_mode="SameStep"), {"actions": 3}
    yield GinRummyVectorEnv(3, [opponent, Quiet()], seat=0), {"actions": 3}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("kind", range(4), ids=["single", "next step", "same step", "two"])
def test_an_opponent_that_fails_leaves_no_step_half_done(wrong, kind):
    """In ``step`` and in ``reset``: the error names the opponent, and only a reset helps."""
    expected = KeyboardInterrupt if isinstance(wrong, KeyboardInterrupt) else OpponentError
    for at in (1, 0):
        env, several = list(environments(Fails(at, copy.copy(wrong))))[kind]
        pass_on = np.full(3, 106) if several else 106
        if at:  # the dealer passes before the learner's decision, then fails
            env.reset(seed=0, options={**GIVEN, "dealer": 0})
        with pytest.raises(expected) as error:
            env.step(pass_on) if at else env.reset(seed=0, options={**GIVEN, "dealer": 0})
        if expected is OpponentError:
            assert "the opponent Fails failed" in str(error.value)
        for use in (lambda: env.step(pass_on), env.action_masks):  # noqa: B023
            with pytest.raises(ResetNeeded, match=r"was broken off \(.*call reset"):
                use()
        getattr(env, "set_opponents" if several else "set_opponent")(Quiet())
        env.reset(seed=0, options=GIVEN)
        env.step(pass_on)


def test_an_opponent_that_fails_in_stable_baselines3_needs_a_reset():
    pytest.importorskip("stable_baselines3")
    env = ginrummy_env.GinRummyVecEnv(3, Fails(2, ValueError("no")), seat=0)
    env.reset()

    def play():
        for number in range(9):
            env.step(np.array([some_legal(mask, number) for mask in env.action_masks()]))

    with pytest.raises(OpponentError, match="the opponent Fails failed: ValueError: no"):
        play()
    with pytest.raises(ResetNeeded, match="the opponent Fails failed"):
        env.step(np.full(3, 106))
    with pytest.raises(ResetNeeded, match="was broken off"):
        env.env_method("action_masks")
    env.set_opponent("simple")
    env.reset()
    assert env.action_masks().any(axis=1).all()


def test_rows_that_a_broken_reset_left_out_can_be_played_on():
    """Only the rows of the reset are unusable, and only until they are reset."""
    env = GinRummyVectorEnv(4, Random())
    _, infos = env.reset(seed=0)
    env.set_opponent(Fails(0, RuntimeError("no")))
    half = np.array([True, True, False, False])
    while True:
        try:
            env.reset(options={"reset_mask": half})
        except OpponentError:
            break
    assert env.games.episodes.ready[2:].all()
    env.set_opponent(Random())
    with pytest.raises(ResetNeeded, match=r"row [01]: the last step or reset was broken off"):
        env.step(np.zeros(4, dtype=int))
    _, infos = env.reset(options={"reset_mask": half})
    env.step(np.array([some_legal(mask, 0) for mask in infos["action_mask"]]))
