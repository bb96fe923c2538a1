"""No half-done step: the environment is as it was, or has to be reset.

Opponents that fail are in test_opponents; here are the learner's actions, and Ctrl-C at any place.
"""

import itertools
import pickle
import sys
from functools import partial

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from tables import Quiet, some_legal

import ginrummy_env
from ginrummy_env import GinRummyEnv, GinRummySelfPlayEnv, GinRummyVectorEnv
from ginrummy_env.compat import gin_rummy_v4
from ginrummy_env.envs import aec_env, episodes


def sb3_env():
    pytest.importorskip("stable_baselines3")
    return ginrummy_env.GinRummyVecEnv(3, Quiet(), illegal_action="raise", seat=0)


ENVIRONMENTS = {
    "pettingzoo": lambda: ginrummy_env.raw_env(),
    "single": lambda: GinRummyEnv(Quiet(), illegal_action="raise", seat=0),
    "vector": lambda: GinRummyVectorEnv(3, Quiet(), illegal_action="raise", seat=0),
    "sb3": sb3_env,
    "two seats": lambda: GinRummySelfPlayEnv(3),
}
every_environment = pytest.mark.parametrize("name", ENVIRONMENTS)


OLD = {
    "v4": lambda: gin_rummy_v4.raw_env(),
    "v4 faithful": lambda: gin_rummy_v4.raw_env(faithful=True),
}
"""The old interface, whose actions have other numbers."""


def state_of(env):
    if hasattr(env, "_game"):
        return vars(env._game)
    games = env.games if hasattr(env, "games") else env._games
    return games.state


def is_batch(env):
    return not hasattr(env, "agent_selection") and len(state_of(env)) > 1


def masks_of(env):
    if hasattr(env, "action_masks"):
        return np.atleast_2d(env.action_masks())
    if hasattr(env, "agent_selection"):
        return env.observe(env.agent_selection)["action_mask"][None]
    return env.views().action_masks()


def legal(env, number):
    actions = np.array([some_legal(mask, number) for mask in masks_of(env)])
    return actions if is_batch(env) else int(actions[0])


def reset(env):
    if hasattr(env, "reset_infos"):
        env.seed(3)
        env.reset()
    else:
        env.reset(seed=3)


@pytest.mark.parametrize("name", [*ENVIRONMENTS, *OLD])
def test_wrong_actions_of_the_learner_change_nothing(name):
    """Illegal ones, other types, other shapes: the game goes on as if they had not been."""
    env, twin = (ENVIRONMENTS | OLD)[name](), (ENVIRONMENTS | OLD)[name]()
    for each in (env, twin):
        reset(each)
    wrong = [107, -1, 10**6, 105.0, True, None, "take", [[105]]]
    if is_batch(env):
        wrong = [np.full(3, each) for each in wrong[:5]] + [105, [105], [None] * 3, ["take"] * 3]
    for number in range(12):
        before = pickle.dumps(state_of(env))
        for action in wrong:
            with pytest.raises(ValueError, match=r"legal|whole number|shape"):
                env.step(action)
            assert pickle.dumps(state_of(env)) == before
        for each in (env, twin):
            each.step(legal(each, number))
    assert pickle.dumps(state_of(env)) == pickle.dumps(state_of(twin))


def test_wrong_actions_in_the_parallel_api_change_nothing():
    env = ginrummy_env.parallel_env()
    env.reset(seed=3)
    state = env.unwrapped._games.state
    before = pickle.dumps(state)
    for action in (105.0, True, "take", [[105]], None):
        with pytest.raises((ValueError, AssertionError), match=r"needed|action space"):
            env.step(dict.fromkeys(env.agents, action))
        assert pickle.dumps(state) == before
        assert len(env.agents) == 2
    env.step(dict.fromkeys(env.agents, legal(env.unwrapped, 0)))


@every_environment
@pytest.mark.parametrize("place", ["before", "after"])
def test_ctrl_c_in_a_step_makes_a_reset_necessary(name, place, monkeypatch):
    """Before the rules are asked or after the cards have moved; masks are not stale either."""
    env = ENVIRONMENTS[name]()
    reset(env)

    def interrupted(taken):
        def step(*arguments, **options):
            if place == "after":
                taken(*arguments, **options)
            raise KeyboardInterrupt

        return step

    actions = legal(env, 0)
    with monkeypatch.context() as patched:
        for module, function in (
            (episodes, "step"),
            (episodes, "quick_legal_step"),
            (aec_env, "quick_legal_step"),
        ):
            patched.setattr(module, function, interrupted(getattr(module, function)))
        with pytest.raises(KeyboardInterrupt):
            env.step(actions)
    for use in (lambda: env.step(actions), lambda: masks_of(env)):
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            use()
    reset(env)
    env.step(legal(env, 0))


def interrupted_at(line, call):
    """Call with Ctrl-C at the given line of the project that is run; return whether it came."""
    run = itertools.count(1)

    def trace(frame, event, _):
        if "/ginrummy_env/" not in frame.f_code.co_filename:
            return None
        if event == "line" and next(run) == line:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def reported(env):
    """What an environment of PettingZoo says beside the state."""
    names = ("agent_selection", "rewards", "_cumulative_rewards", "terminations", "infos")
    return [getattr(env, name) for name in names if hasattr(env, "agent_selection")]


@pytest.mark.parametrize("name", [*ENVIRONMENTS, *OLD])
def test_ctrl_c_at_any_line_leaves_no_half_done_step(name):
    """Of the game the line counts: a step or a reset is not taken, or whole, or must be reset."""
    make = (ENVIRONMENTS | OLD)[name]
    env, twin = make(), make()
    for use in ("step", "reset"):
        seen, line = {}, 1
        for line in itertools.count(1, 5):
            for each in (env, twin):
                reset(each)
            actions = legal(env, line)
            before = pickle.dumps(state_of(env)), pickle.dumps(reported(env))
            call = partial(env.step, actions) if use == "step" else env.reset
            if not interrupted_at(line, call):
                break
            (twin.step(actions) if use == "step" else twin.reset())
            after = pickle.dumps(state_of(twin)), pickle.dumps(reported(twin))
            now = pickle.dumps(state_of(env)), pickle.dumps(reported(env))
            try:
                masks = masks_of(env)
            except ResetNeeded:
                seen[line] = "unusable"
                continue
            assert now in (before, after), line
            seen[line] = "whole" if now == after else "as before"
            if now == after:
                np.testing.assert_array_equal(masks, masks_of(twin))
        assert "unusable" in seen.values()
        assert "whole" not in [what for at, what in seen.items() if at < line - 20]


def test_ctrl_c_in_a_reset_makes_another_one_necessary(monkeypatch):
    """While the next deals are dealt, the rows of the reset alone."""

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    for name in ("single", "vector", "two seats", "pettingzoo"):
        env = ENVIRONMENTS[name]()
        reset(env)
        actions = legal(env, 0)
        with monkeypatch.context() as patched:
            patched.setattr(episodes, "restart", interrupted)
            with pytest.raises(KeyboardInterrupt):
                env.reset()
        with pytest.raises(ResetNeeded, match="KeyboardInterrupt"):
            env.step(actions)
        env.reset()
        env.step(legal(env, 0))
