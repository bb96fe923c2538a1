"""A view as numbers: each part of `OBSERVATION_LAYOUT` against what it says."""

from functools import cache

import numpy as np
import oracle
import pytest
from hypothesis import given
from positions import batches, lists_of, positions, rich_decks, under_variants, view_bytes

from ginrummy_env.core.cards import FULL_DECK, card_planes, hand_of, hand_points, parse_hand
from ginrummy_env.core.game import new_games
from ginrummy_env.core.melds import melding_cards
from ginrummy_env.core.observation import (
    OBSERVATION_LAYOUT,
    layout,
    observation_size,
    observe,
    planes,
    scalars,
)
from ginrummy_env.core.rules import CLASSIC, MODERN, OKLAHOMA, Rules
from ginrummy_env.core.state import Phase, concatenate
from ginrummy_env.core.step import step
from ginrummy_env.core.view import ME, OPPONENT, make_view

RAW = {
    "hand": lambda view: view.hand,
    "upcard": lambda view: hand_of(view.upcard[:, None]),
    "discard_pile": lambda view: hand_of(view.discard_pile),
    "opponent_known": lambda view: view.known[:, OPPONENT] | view.opponent_hand,
    "my_known": lambda view: view.known[:, ME],
    "opponent_discarded": lambda view: view.discarded[:, OPPONENT],
    "my_discarded": lambda view: view.discarded[:, ME],
    "opponent_declined": lambda view: view.declined[:, OPPONENT],
    "drawn_card": lambda view: hand_of(view.drawn_card[:, None]),
    "unseen": lambda view: view.unseen,
}
DERIVED = ["melded", "after_discard", "makes_meld"]
SCALARS = {
    **{
        f"phase_{phase.name.lower()}": lambda view, phase=phase: view.phase == phase
        for phase in Phase
    },
    "to_move": lambda view: view.to_move,
    "is_dealer": lambda view: view.is_dealer,
    "stock": lambda view: view.stock_count / 31,
    "turn": lambda view: view.turn / 100,
    "my_score": lambda view: view.scores[:, ME] / view.rules.target,
    "opponent_score": lambda view: view.scores[:, OPPONENT] / view.rules.target,
    "my_deals_won": lambda view: view.deals_won[:, ME] / 10,
    "opponent_deals_won": lambda view: view.deals_won[:, OPPONENT] / 10,
    "deadwood": lambda view: np.array(list(map(oracle.deadwood, lists_of(view.hand)))) / 100,
    "knock_limit": lambda view: view.knock_limit / 10,
}  # fmt: skip


def views(rules=CLASSIC, seed=0):
    """Views of both players, of random and of rich deals, with scores."""
    rng = np.random.default_rng(seed)
    state = concatenate([
        positions(rules, games=10, seed=seed),
        new_games(0, 30, rules, decks=rich_decks(rng, 30, rules)),
    ])  # fmt: skip
    state.scores[:] = rng.integers(0, 2 * rules.target, state.scores.shape)
    state.deals_won[:] = rng.integers(0, 15, state.deals_won.shape)
    return make_view(state, rules, rng.integers(0, 2, len(state)))


@cache
def observed(rules, seed, derived):
    """Views and what is observed of them, the same for every part."""
    view = views(rules, seed)
    return view, observe(view, derived)


def part(observation, name, derived=True):
    (entry,) = (each for each in layout(derived) if each.name == name)
    return observation[:, entry.slice]


# The layout


@pytest.mark.parametrize("derived", [False, True])
def test_the_layout_is_all_there_is(derived):
    """One part after another, planes before scalars, each named, bounded and explained."""
    entries = layout(derived)
    assert [each.start for each in entries] == np.cumsum(
        [0, *(each.size for each in entries)]
    ).tolist()[:-1]
    assert sum(each.size for each in entries) == observation_size(derived)
    names = [each.name for each in entries]
    assert names == [*RAW, *(DERIVED if derived else []), *SCALARS]
    kinds = [each.is_plane for each in entries]
    assert kinds == sorted(kinds, reverse=True)
    assert all(each.text and each.low >= -1 and each.high <= 1 for each in entries)
    assert {each.size for each in entries} == {52, 1}


def test_the_derived_planes_are_the_default():
    view = views()
    assert layout() == OBSERVATION_LAYOUT
    assert (observe(view) == observe(view, derived=True)).all()
    assert observation_size() == observe(view).shape[1]


@under_variants
def test_an_observation_lies_in_its_bounds(rules):
    for derived in (False, True):
        observation = observe(views(rules), derived)
        assert observation.dtype == np.float32
        assert observation.shape[1] == observation_size(derived)
        assert np.isfinite(observation).all()
        for entry in layout(derived):
            numbers = observation[:, entry.slice]
            assert numbers.min() >= entry.low, entry.name
            assert numbers.max() <= entry.high, entry.name


# Its parts


@pytest.mark.parametrize("name", RAW)
@pytest.mark.parametrize("derived", [False, True])
def test_raw_planes(name, derived):
    for rules in (CLASSIC, MODERN):
        view, observation = observed(rules, 0, derived)
        expected = card_planes(RAW[name](view))
        assert (part(observation, name, derived) == expected).all()


@pytest.mark.parametrize("name", SCALARS)
@pytest.mark.parametrize("derived", [False, True])
def test_scalars(name, derived):
    for rules in (CLASSIC, OKLAHOMA, Rules(target=250, knock_limit=98)):
        view, observation = observed(rules, 1, derived)
        expected = np.minimum(SCALARS[name](view), 1)
        assert np.allclose(part(observation, name, derived)[:, 0], expected, atol=1e-6)


def test_melded_cards():
    """They can be melded, and what is left is the least deadwood."""
    view = views(MODERN, seed=2)
    plane = part(observe(view), "melded") == 1
    for hand, melded in zip(lists_of(view.hand), plane, strict=True):
        kept = np.flatnonzero(melded).tolist()
        assert set(kept) <= set(hand)
        assert oracle.deadwood(kept) == 0
        assert oracle.points(set(hand) - set(kept)) == oracle.deadwood(hand)


def test_deadwood_after_each_discard():
    view = views(MODERN, seed=3)
    plane = part(observe(view), "after_discard")
    assert (np.bitwise_count(view.hand) == 11).any()
    for hand, numbers in zip(lists_of(view.hand), plane, strict=True):
        expected = np.zeros(52)
        if len(hand) == 11:
            for card, left in oracle.after_discard(hand).items():
                expected[card] = (100 - left) / 100
        assert np.allclose(numbers, expected, atol=1e-6)


@given(batches(0, 1, 2, 3, 10, 11))
def test_cards_that_make_a_meld(batch):
    """Each card that would stand in a meld with cards of the hand, tried one by one."""
    hands = np.array([hand_of(hand) if hand else np.uint64(0) for hand in batch], dtype=np.uint64)
    for hand, found in zip(batch, lists_of(melding_cards(hands)), strict=True):
        expected = [
            card
            for card in range(52)
            if card not in hand and any(card in meld for meld in oracle.melds({*hand, card}))
        ]
        assert found == expected


def test_the_ace_makes_no_meld_with_king_and_queen():
    hands = np.array([parse_hand("Qs Ks"), parse_hand("Ks 2s"), parse_hand("Kh Ad")])
    assert lists_of(melding_cards(hands)) == [[10], [], []]


def test_the_plane_of_cards_that_make_a_meld():
    view = views(seed=4)
    expected = card_planes(melding_cards(view.hand))
    assert (part(observe(view), "makes_meld") == expected).all()


# As a whole


def test_every_card_is_in_one_plane():
    """Mine, the pile, the opponent's known ones and the unseen: each card once."""
    view = views(MODERN, seed=5)
    observation = observe(view)
    four = [
        part(observation, name) for name in ("hand", "discard_pile", "opponent_known", "unseen")
    ]
    assert (np.sum(four, axis=0) == 1).all()


def test_the_end_of_a_deal_is_observed():
    """Not zeros, but the final position, with the hand that was laid down."""
    view = views(CLASSIC)
    over = view.select(view.knocker >= 0)
    observation = observe(over)
    assert part(observation, "hand").sum() == 10 * len(over)
    assert part(observation, "opponent_known").sum() == 10 * len(over)
    assert (hand_points(over.opponent_hand) > 0).all()


@pytest.mark.parametrize("derived", [False, True])
def test_planes_for_convolutions(derived):
    view = views()
    observation = observe(view, derived)
    pictures = planes(observation)
    names = [each.name for each in layout(derived) if each.is_plane]
    assert pictures.shape == (len(view), len(names), 4, 13)
    for place, name in enumerate(names):
        expected = part(observation, name, derived).reshape(-1, 4, 13)
        assert (pictures[:, place] == expected).all()
    assert planes(observation[0]).shape == (len(names), 4, 13)
    assert planes(observation[None]).shape == (1, len(view), len(names), 4, 13)
    assert scalars(observation).shape == (len(view), len(SCALARS))
    assert (scalars(observation) == observation[:, -len(SCALARS) :]).all()


def test_planes_of_something_else():
    with pytest.raises(ValueError, match="observations of 100 numbers"):
        planes(np.zeros((2, 100), dtype=np.float32))


def test_an_observation_is_a_new_array():
    """The view is not changed, and an old observation stays as it was."""
    state = new_games(0, 5, CLASSIC)
    view = make_view(state, CLASSIC)
    before = view_bytes(view)
    first = observe(view)
    kept = first.copy()
    step(state, [106] * 5, CLASSIC)
    second = observe(make_view(state, CLASSIC))
    assert (first == kept).all()
    assert (second != kept).any()
    assert (observe(view) == kept).all()
    first[:] = 5
    assert (observe(view) == kept).all()
    assert view_bytes(view) == before


def test_a_row_is_observed_as_alone():
    """Also where a batch is worked through in pieces."""
    view = views(MODERN, seed=6)
    many = view.select(np.arange(9000) % len(view))
    for derived in (False, True):
        whole = observe(many, derived)
        assert (whole == observe(view, derived)[np.arange(9000) % len(view)]).all()
        assert (observe(view.select([3]), derived)[0] == whole[3]).all()
        assert observe(view.select([]), derived).shape == (0, observation_size(derived))


def test_unseen_and_seen_are_the_deck():
    view = views(seed=7)
    assert (
        view.unseen | view.hand | view.discards | view.known[:, OPPONENT] | view.opponent_hand
        == FULL_DECK
    ).all()
