"""What agents tell of their candidates: it changes nothing that they do, and agrees with it."""

import numpy as np
import pytest

from ginrummy_agents.explain import act_and_explain
from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.deadwood import least_after_discard
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import PRESETS, as_rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy


def played(spec, rules, games=48, steps=30):
    """Let an agent play; yield (view, keys of its random numbers, what it does, what it tells)."""
    policy, settings = make_policy(spec), as_rules(rules)
    state = new_games(3, np.arange(games, dtype=np.uint64), settings)
    for _ in range(steps):
        live = np.flatnonzero(~state.over)
        if not live.size:
            return
        part = state.select(live)
        view, row_keys = make_view(part, settings), keys(9, part.game_number, part.step_count)
        actions, told = act_and_explain(policy, view, RowRandom(row_keys))
        yield view, row_keys, actions, told
        everywhere = np.zeros(games, dtype=np.int16)
        everywhere[live] = actions
        step(state, everywhere, settings)


@pytest.mark.parametrize("rules", ["eaai", "classic"])
@pytest.mark.parametrize("spec", ["search:8", "champion", "ppo", "ppo:temperature=1"])
def test_only_legal_actions_have_values_and_acting_is_as_without(spec, rules):
    told_of, policy = 0, make_policy(spec)
    for view, row_keys, actions, told in played(spec, rules):
        np.testing.assert_array_equal(actions, policy.act(view, RowRandom(row_keys)))
        known = ~np.isnan(told.values)
        assert not (known & ~view.action_masks()).any()
        told_of += known.any(axis=1).sum()
    assert told_of > 200


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_the_champion_does_what_it_says_is_worth_most(rules):
    compared = 0
    for view, _, actions, told in played("champion", rules):
        known = ~np.isnan(told.values)
        several = known.sum(axis=1) > 1
        # Gin is laid down, not weighed; and what has to be knocked with is not chosen by worth.
        eleven = np.bitwise_count(view.hand) == view.rules.hand_size + 1
        gin = (view.phase == Phase.DISCARD) & eleven
        gin[gin] = least_after_discard(view.hand[gin]) == 0
        rows = np.flatnonzero(several & ~gin & known[np.arange(len(view)), actions])
        best = np.where(known, told.values, -np.inf)[rows]
        np.testing.assert_allclose(
            best.max(axis=1), best[np.arange(len(rows)), actions[rows]], rtol=1e-9
        )
        compared += len(rows)
        weighed = several & ~gin & (view.phase != Phase.WALL)
        assert known[weighed, actions[weighed]].all()
    assert compared > (20 if rules in ("mini", "nano") else 100)  # deals of few cards are short


class Dice:
    """Acts by its random numbers and explains by them."""

    def act(self, view, rng):
        return random_actions(view.action_masks(), rng.random((len(view),)))

    def explain(self, view, rng):
        return rng.random((len(view),))


@pytest.mark.parametrize("rng", [np.random.default_rng(1), RowRandom(keys(1, np.arange(20)))])
def test_it_explains_with_the_random_numbers_that_it_acted_with(rng):
    view = make_view(new_games(3, 20, as_rules("eaai")), as_rules("eaai"))
    actions, told = act_and_explain(Dice(), view, rng)
    np.testing.assert_array_equal(actions, random_actions(view.action_masks(), told))


def test_others_tell_nothing():
    assert all(told is None for *_, told in played("simple", "eaai", steps=3))
