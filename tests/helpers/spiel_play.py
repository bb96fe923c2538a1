"""What is played when OpenSpiel's engine and ours are compared: decks and choices of actions."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import (
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    PASS,
    TAKE_UPCARD,
    random_actions,
)
from ginrummy_env.core.cards import CARD_BIT, NUM_CARDS, RANK
from ginrummy_env.core.deadwood import (
    NOT_HELD,
    deadwood,
    deadwood_after_discard,
    least_after_discard,
)
from ginrummy_env.core.deal import decks as shuffled_decks
from ginrummy_env.core.legal import mover_hands
from ginrummy_env.core.rules import OPENSPIEL, Rules
from ginrummy_env.core.state import BatchState, Phase

_DENSE_RANKS = 7

Chooser = Callable[[BatchState, NDArray[np.bool_], NDArray[np.float64]], NDArray[np.int16]]
"""From N states, [N, 108] actions to choose from and [N, 4] random numbers to [N] actions."""


def choose_random(
    state: BatchState, masks: NDArray[np.bool_], uniforms: NDArray[np.float64]
) -> NDArray[np.int16]:
    """Choose any action, all equally likely. Few such deals end with a knock."""
    return random_actions(masks, uniforms[:, 0])


def choose_eager(
    state: BatchState, masks: NDArray[np.bool_], uniforms: NDArray[np.float64]
) -> NDArray[np.int16]:
    """Play for a knock, now and then at random; make three out of four that are possible."""
    return _improve(state, masks, uniforms, 0.75)


def choose_patient(
    state: BatchState, masks: NDArray[np.bool_], uniforms: NDArray[np.float64]
) -> NDArray[np.int16]:
    """Play for a good hand and seldom knock, so that the end of the stock is met with one."""
    return _improve(state, masks, uniforms, 0.05)


def _improve(
    state: BatchState,
    masks: NDArray[np.bool_],
    uniforms: NDArray[np.float64],
    knocking: float,
) -> NDArray[np.int16]:
    """Take the upcard where it lowers the least deadwood; keep the least of eleven cards.

    One time out of ten any card will do. At the wall the upcard is taken three times out of four.

    Args:
        state, masks, uniforms: see `Chooser`.
        knocking: how likely a knock is where it is possible.
    """
    wanted = masks.copy()
    hands = mover_hands(state)
    sensible = uniforms[:, 1] < 0.9
    offered = np.flatnonzero(masks[:, TAKE_UPCARD] & (state.phase != Phase.WALL) & sensible)
    if offered.size:
        upcards = state.upcard[offered]
        least = least_after_discard(hands[offered] | CARD_BIT[upcards], upcards)
        takes = least < deadwood(hands[offered])
        wanted[offered] &= (np.arange(NUM_ACTIONS) == TAKE_UPCARD) == takes[:, None]
    rows = np.flatnonzero((state.phase == Phase.DISCARD) & masks[:, :KNOCK].any(axis=1))
    knocks = masks[rows, KNOCK:DRAW_STOCK].any(axis=1) & (uniforms[rows, 2] < knocking)
    wanted[rows[knocks], :KNOCK] = False
    wanted[rows[~knocks], KNOCK:] = False
    keeping = rows[~knocks & sensible[rows]]
    if keeping.size:
        taken = np.where(state.taken_card[keeping] < 0, NUM_CARDS, state.taken_card[keeping])
        left = deadwood_after_discard(hands[keeping]).astype(np.int16)
        left[np.arange(NUM_CARDS) == taken[:, None]] = NOT_HELD
        wanted[keeping, :KNOCK] = left == left.min(axis=1, keepdims=True)
    rows = np.flatnonzero((state.phase == Phase.WALL) & masks[:, TAKE_UPCARD])
    wanted[rows[uniforms[rows, 2] < 0.75], PASS] = False
    return random_actions(wanted, uniforms[:, 0])


def choose_stubborn(
    state: BatchState, masks: NDArray[np.bool_], uniforms: NDArray[np.float64]
) -> NDArray[np.int16]:
    """Take the upcard nearly always, throw it back one time out of four, seldom knock."""
    wanted = masks.copy()
    takes = masks[:, TAKE_UPCARD] & (uniforms[:, 1] < 0.95)
    wanted[takes] = False
    wanted[takes, TAKE_UPCARD] = True
    rows = np.flatnonzero(masks[:, :KNOCK].any(axis=1) & (uniforms[:, 2] < 0.98))
    wanted[rows, KNOCK:] = False
    back = rows[(state.taken_card[rows] >= 0) & (uniforms[rows, 3] < 0.25)]
    wanted[back] = False
    wanted[back, state.taken_card[back]] = True
    return random_actions(wanted, uniforms[:, 0])


def choose_mixed(
    state: BatchState, masks: NDArray[np.bool_], uniforms: NDArray[np.float64]
) -> NDArray[np.int16]:
    """Choose eagerly in six deals out of ten, patiently in two, at random and stubbornly in one."""
    style = state.game_number % np.uint64(10)
    chosen = choose_eager(state, masks, uniforms)
    others = {6: choose_patient, 7: choose_patient, 8: choose_random, 9: choose_stubborn}
    for number, choose in others.items():
        rows = np.flatnonzero(style == number)
        if rows.size:
            chosen[rows] = choose(state.select(rows), masks[rows], uniforms[rows])
    return chosen


CHOOSERS: dict[str, Chooser] = {
    "mixed": choose_mixed,
    "eager": choose_eager,
    "patient": choose_patient,
    "random": choose_random,
    "stubborn": choose_stubborn,
}


def make_decks(
    seed: int, games: NDArray[np.uint64], dense: float, rules: Rules = OPENSPIEL
) -> NDArray[np.int8]:
    """Return decks, [N, 52] int8, a share ``dense`` of them full of melds.

    In these the cards of seven neighbouring ranks come first, so that both hands are made of them.
    A deck of seven ranks or fewer is dealt as it is.
    """
    cards = shuffled_decks(seed, games, 0, rules)
    highest = max(rules.num_ranks - _DENSE_RANKS, 0)
    lowest = (games % np.uint64(highest + 1)).astype(np.int8)
    rank = RANK[cards]
    front = (rank >= lowest[:, None]) & (rank < lowest[:, None] + _DENSE_RANKS)
    front |= ((games % np.uint64(100)) >= np.uint64(round(100 * dense)))[:, None]
    order = np.argsort(~front, axis=1, kind="stable")
    return np.take_along_axis(cards, order, axis=1)
