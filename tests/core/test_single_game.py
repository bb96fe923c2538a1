"""The quick ways of a batch of one against the core, bit by bit."""

import numpy as np
import pytest

from ginrummy_env.core.game import new_games, next_deals, restart
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.observation import observe
from ginrummy_env.core.rules import PRESETS, Rules
from ginrummy_env.core.single_game import (
    quick_legal_step,
    quick_mask,
    quick_observation,
    quick_view_mask,
    quick_view_observation,
)
from ginrummy_env.core.state import FIELD_NAMES, Phase, concatenate
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view

VARIANTS = {
    **PRESETS,
    "bound of 5": Rules(turn_bound=5),
    "no bound, stock of 20": Rules(turn_bound=None, void_stock=20),
    "wall, must knock": Rules(void_stock=15, at_void_stock="knock_with_discard"),
    "wall": Rules(void_stock=15, at_void_stock="take_discard", turn_bound=30),
}


def positions(rules, seed, count):
    """Positions of games in which knocks are frequent, takes and draws alike."""
    rng = np.random.default_rng(seed)
    state = new_games(seed, 1, rules)
    for _ in range(count):
        yield state
        mask = action_masks(state, rules)[0]
        legal = np.flatnonzero(mask)
        knocks = legal[(legal >= 52) & (legal < 104)]
        chosen = knocks if len(knocks) and rng.random() < 0.4 else legal
        step(state, [rng.choice(chosen)], rules)
        if state.phase[0] == Phase.GAME_OVER:
            yield state
            restart(state, [0], seed, state.game_number + np.uint64(1), rules)
        elif state.phase[0] == Phase.DEAL_OVER:
            yield state
            next_deals(state, rules)


@pytest.mark.parametrize("name", list(VARIANTS))
def test_masks_and_observations(name):
    rules = VARIANTS[name]
    seen = concatenate([state.copy() for state in positions(rules, 1, 400)])
    masks = action_masks(seen, rules)
    slow = {
        (player, derived): observe(make_view(seen, rules, np.full(len(seen), player)), derived)
        for player in (0, 1)
        for derived in (True, False)
    }
    for row in range(len(seen)):
        state = seen.select([row])
        mask = quick_mask(state, rules)
        assert mask.dtype == np.int8
        assert mask.flags.writeable
        assert (mask == masks[row]).all()
        for (player, derived), observations in slow.items():
            view = make_view(state, rules, player)
            for quick in (
                quick_observation(state, rules, player, derived),
                quick_view_observation(view, derived),
            ):
                assert quick.dtype == observations.dtype
                assert np.array_equal(quick, observations[row])
            assert np.array_equal(quick_view_mask(view), view.action_masks()[0])


@pytest.mark.parametrize("name", list(VARIANTS))
def test_steps(name):
    """Every legal action of a position leaves the same state; what is not plain changes nothing."""
    rules = VARIANTS[name]
    plain = others = 0
    for state in positions(rules, 2, 250):
        for action in np.flatnonzero(action_masks(state, rules)[0]).tolist():
            slow, quick = state.copy(), state.copy()
            step(slow, [action], rules)
            done = quick_legal_step(quick, action, rules)
            plain += done
            others += not done
            expected = slow if done else state
            for field in FIELD_NAMES:
                ours, theirs = getattr(quick, field), getattr(expected, field)
                assert ours.dtype == theirs.dtype
                assert np.array_equal(ours, theirs), f"{field} after {action}"
    assert plain
    assert others


def test_what_is_not_legal_is_left_to_the_core():
    rules = PRESETS["classic"]
    for state in positions(rules, 3, 100):
        before = state.copy()
        mask = action_masks(state, rules)[0]
        for action in [*np.flatnonzero(~mask).tolist(), -1, 108, 2**40, None, 3.0, "draw"]:
            assert not quick_legal_step(state, action, rules)
        assert all(np.array_equal(getattr(state, f), getattr(before, f)) for f in FIELD_NAMES)


def test_a_history_that_is_full_is_left_to_the_core():
    """64 actions and more; the core makes room."""
    rules = Rules(turn_bound=None, discard_taken_upcard=True)
    state = new_games(0, 1, rules)
    for number in range(200):
        mask = quick_mask(state, rules)
        action = 105 if mask[105] else int(np.flatnonzero(mask[:52])[0])
        if not quick_legal_step(state, action, rules):
            step(state, [action], rules)
        assert state.step_count[0] == number + 1
