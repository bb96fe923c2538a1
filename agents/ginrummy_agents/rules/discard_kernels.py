"""Candidate discards, compiled by numba: what `lookahead` does with arrays.

Imported only where `compiled.in_use`; see `ginrummy_agents.kernels`.
"""

from typing import Any

import numpy as np

from ginrummy_agents import kernels
from ginrummy_agents.compiled import kernel_of
from ginrummy_agents.kernels import (
    CARDS,
    cards_in_runs,
    least,
    points_of,
    ranks,
    threes_of,
    way,
    ways,
)
from ginrummy_agents.rules import lookahead
from ginrummy_env.core.cards import DEAREST

_0, _1 = np.uint64(0), np.uint64(1)
NOT_BELOW, MOST_LEFT = lookahead.NOT_BELOW.copy(), lookahead.MOST_LEFT

SOURCES = (__file__, kernels.__file__)
TABLES = (*kernels.TABLES, NOT_BELOW, MOST_LEFT)
_kernel = kernel_of(SOURCES, TABLES)


@_kernel
def count_of(cards: Any) -> Any:
    """Return how many cards there are."""
    count = 0
    while cards != _0:
        cards &= cards - _1
        count += 1
    return count


@_kernel
def loose_cards(hand: Any, every: Any) -> Any:
    """Return the cards unmelded in the first, or in ``every``, arrangement of least deadwood."""
    first, second, third = threes_of(hand)
    if first == _0:
        return hand & ~cards_in_runs(hand)
    best, loose = 1000, _0
    for a in range(ways(first)):
        for b in range(ways(second)):
            for c in range(ways(third)):
                rest = hand & ~(way(first, a) | way(second, b) | way(third, c))
                rest &= ~cards_in_runs(rest)
                points = points_of(rest)
                if points < best:
                    best, loose = points, rest
                elif every and points == best:
                    loose |= rest
    return loose


@_kernel
def candidates(hand: Any, taken: Any, stays: Any) -> Any:
    """Return the candidate discards as a mask, including those that leave too much."""
    legal = hand & ~stays
    loose = loose_cards(hand, True) & ~taken
    dear = np.int64(DEAREST[ranks(loose)])
    loose &= NOT_BELOW[dear - 5 if dear > 5 else np.int64(0)]
    if least(hand, True) == 0:
        gin, cards = _0, legal
        while cards != _0:
            card = cards & (~cards + _1)
            cards &= ~card
            if least(hand & ~card, False) == 0:
                gin |= card
        if gin != _0:
            return gin
    return loose if loose != _0 else legal


@_kernel
def candidates_listed(hand: Any, taken: Any, stays: Any, cards: Any, lefts: Any) -> Any:
    """Return the number of candidate discards, and the least deadwood that one leaves.

    Args:
        hand, taken, stays: as for `lookahead.candidates_listed`, of one row.
        cards, lefts: [11] written from the start: the cards, and the deadwood that each leaves.
    """
    chosen = candidates(hand, taken, stays)
    size, lowest = 0, np.int64(1000)
    for card in range(52):
        if chosen & CARDS[card] != _0:
            cards[size], lefts[size] = card, least(hand & ~CARDS[card], False)
            lowest = min(lowest, lefts[size])
            size += 1
    close = 0
    for place in range(size):
        if lefts[place] <= lowest + MOST_LEFT:
            cards[close], lefts[close] = cards[place], lefts[place]
            close += 1
    return close, lowest
