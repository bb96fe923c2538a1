"""BatchState: rows that can be copied, chosen and put back."""

import copy
import pickle
from dataclasses import fields

import numpy as np
import pytest
from positions import differences, lists_of, places, play_deals, positions

from ginrummy_env.core.actions import NO_ACTION
from ginrummy_env.core.cards import NO_CARD
from ginrummy_env.core.game import new_games, restart
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import CLASSIC, OPENSPIEL, Rules
from ginrummy_env.core.state import FIELD_NAMES, BatchState, Phase, concatenate, require_rows
from ginrummy_env.core.step import step

COPIES = {
    "copy": BatchState.copy,
    "copy.copy": lambda state: copy.copy(state.copy()),
    "deepcopy": copy.deepcopy,
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    "select": lambda state: state.select(np.arange(len(state))),
    "select by flags": lambda state: state.select(np.ones(len(state), dtype=bool)),
    "concatenate": lambda state: concatenate([state]),
    "concatenate two": lambda state: concatenate(
        [state.select([0]), state.select(range(1, len(state)))]
    ),
}


@pytest.fixture
def middle():
    """Some games in the middle of play, deals that are over among them."""
    return positions(CLASSIC, games=4, seed=2)


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_is_the_same_and_shares_nothing(middle, make):
    before = middle.copy()
    other = make(middle)
    assert differences(other, middle) == []
    for name in FIELD_NAMES:
        assert not np.shares_memory(getattr(other, name), getattr(middle, name)), name
        assert getattr(other, name).flags.writeable
        getattr(other, name)[:] = 1
    assert differences(middle, before) == []


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_plays_on_alike(make):
    """The same 50 steps and more, and the original stays where it was."""
    state = new_games(5, 12, CLASSIC)
    rng = np.random.default_rng(0)
    for _, _ in zip(range(9), play_deals(state, CLASSIC, rng), strict=False):
        pass
    before, other = state.copy(), make(state)
    after = [step_on.copy() for step_on in play_deals(other, CLASSIC, np.random.default_rng(1))]
    assert differences(state, before) == []
    again = play_deals(state, CLASSIC, np.random.default_rng(1))
    assert all(differences(*pair) == [] for pair in zip(again, after, strict=True))
    assert len(after) > 30


def test_chosen_rows(middle):
    rows = [5, 0, 5, 17]
    some = middle.select(rows)
    assert len(some) == 4
    for name in FIELD_NAMES:
        assert (getattr(some, name) == getattr(middle, name)[rows]).all()
    flags = middle.player == 1
    assert differences(middle.select(flags), middle.select(np.flatnonzero(flags))) == []
    for nothing in ([], np.zeros(len(middle), dtype=bool), np.zeros(0, dtype=int)):
        assert len(middle.select(nothing)) == 0


def test_put_back_where_they_were(middle):
    """select, play on, assign: other rows are untouched, whatever the width of the history."""
    rows = [7, 2, 11]
    some = new_games(9, 3, Rules(turn_bound=None))
    some.widen(300)
    some.history[:, 299] = 5
    before = middle.copy()
    middle.assign(rows, some)
    assert differences(middle.select(rows), some) == []
    others = [row for row in range(len(middle)) if row not in rows]
    assert differences(middle.select(others), before.select(others)) == []
    flags = np.isin(np.arange(len(middle)), rows)
    middle.assign(flags, before.select(flags))
    assert differences(middle, before) == []
    some.hands[:] = 0
    assert differences(middle, before) == []


def test_rows_can_change_places(middle):
    before = middle.copy()
    order = np.arange(len(middle))[::-1]
    middle.assign(order, middle)
    assert differences(middle, before.select(order)) == []


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param([0, 3], "row 3 does not exist: rows are 0..2", id="behind the last"),
        pytest.param([-1], "row -1 does not exist: rows are 0..2", id="negative"),
        pytest.param([1, 0, 1], "row 1 appears twice", id="twice"),
        pytest.param([0.7], "rows of type float64", id="no whole number"),
        pytest.param([[0, 1]], r"shape \(1, 2\)", id="two dimensions"),
        pytest.param([True, False], r"type bool and shape \(2,\)", id="flags of too few rows"),
        pytest.param(1, r"shape \(\)", id="one number"),
    ],
)
def test_rows_that_there_are_not(rows, message):
    with pytest.raises(ValueError, match=message):
        require_rows(rows, 3)
    state = new_games(0, 3, CLASSIC)
    before = state.copy()
    with pytest.raises(ValueError, match=message):
        state.assign(rows, state.select([0]))
    with pytest.raises(ValueError, match=message):
        restart(state, rows, 0, [5] * np.size(rows), CLASSIC)
    assert differences(state, before) == []


def test_as_many_rows_as_places():
    state = new_games(0, 3, CLASSIC)
    before = state.copy()
    with pytest.raises(ValueError, match=r"3|shape"):
        state.assign([0, 1], state.copy())
    assert differences(state, before) == []


def test_rows_of_all_kinds():
    assert require_rows([2, 0], 3).tolist() == [2, 0]
    assert require_rows(np.array([True, False, True]), 3).tolist() == [0, 2]
    for nothing in ([], np.zeros(3, dtype=bool), np.zeros(0)):
        assert require_rows(nothing, 3).tolist() == []


def test_longer_histories_are_padded():
    one, other = new_games(0, 2, CLASSIC), new_games(1, 1, CLASSIC)
    other.widen(200)
    both = concatenate([one, other])
    assert both.history.shape == (3, 200)
    assert (both.history == NO_ACTION).all()
    both.widen(50)
    assert both.history.shape == (3, 200)


def test_a_history_grows_with_the_deal():
    """Both take for ever: 300 turns, 600 actions, none forgotten; then the bound."""
    rules = Rules(turn_bound=300)
    state = new_games(0, 3, rules)
    taken = []
    while not state.over.all():
        masks = action_masks(state, rules)
        actions = np.where(masks[:, 105], 105, masks[:, :52].argmax(axis=1))
        taken.append(actions)
        step(state, actions, rules)
    assert state.step_count.tolist() == [600] * 3
    assert (state.history[:, :600] == np.stack(taken, axis=1)).all()
    assert (state.history[:, 600:] == NO_ACTION).all()


def test_the_upcard_is_the_top_of_the_pile():
    """NO_CARD while the pile is empty: the first upcard has been taken and nothing thrown yet."""
    seen = 0
    for state in play_deals(new_games(3, 40, OPENSPIEL), OPENSPIEL, np.random.default_rng(0)):
        piles = [[card for card in row if card != NO_CARD] for row in state.discard_pile.tolist()]
        assert state.upcard.tolist() == [pile[-1] if pile else NO_CARD for pile in piles]
        assert state.discard_count.tolist() == [len(pile) for pile in piles]
        filled = np.arange(state.discard_pile.shape[1]) < state.discard_count[:, None]
        assert ((state.discard_pile != NO_CARD) == filled).all()
        assert lists_of(state.discards) == [sorted(pile) for pile in piles]
        assert lists_of(places(state)[:, 2]) == [sorted(stock) for stock in state.stock]
        seen += sum(not pile for pile in piles)
    assert seen, "an empty pile was among them"


def test_what_is_read_off_a_state_is_not_its_own(middle):
    """Writing into what is returned changes nothing."""
    before = middle.copy()
    for array in (middle.upcard, middle.discards, middle.over, action_masks(middle, CLASSIC)):
        array[:] = 1
    for stock in middle.stock:
        stock.clear()
    assert differences(middle, before) == []


def test_rows_without_a_deal():
    state = BatchState.empty(3)
    assert (state.phase == Phase.GAME_OVER).all()
    assert state.over.all()
    assert (state.upcard == NO_CARD).all()
    assert not action_masks(state, CLASSIC).any()
    assert len(state) == 3
    assert len(BatchState.empty(0)) == len(new_games(0, 0, CLASSIC)) == 0


def test_no_field_is_forgotten():
    assert tuple(field.name for field in fields(BatchState)) == FIELD_NAMES
    state = new_games(0, 5, CLASSIC)
    assert all(len(getattr(state, name)) == 5 for name in FIELD_NAMES)


def test_a_game_takes_less_than_a_kibibyte():
    state = new_games(0, 64, CLASSIC)
    assert sum(getattr(state, name).nbytes for name in FIELD_NAMES) <= 64 * 1024
