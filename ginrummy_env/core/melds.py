"""Melds: sets and runs, as tables.

There are 329 melds, 65 sets and 264 runs. A run of six or more is two or more shorter ones laid
end to end, so 185 melds (those of three to five cards) make every arrangement. They are numbered
0..184 in the order of their cards, compared as ascending lists where a list that is a prefix of
another comes first; an arrangement is an ascending list of these numbers.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import (
    CARD_BIT,
    FULL_DECK,
    LANE_POINTS,
    LANE_RANKS,
    NUM_LANE_PATTERNS,
    NUM_RANKS,
    NUM_SUITS,
    hand_of,
)
from ginrummy_env.core.types import Hands

MIN_MELD = 3
MAX_MELDS = 3
"""Most melds in ten or eleven cards."""

ALL_SETS: tuple[tuple[int, ...], ...] = tuple(
    tuple(NUM_RANKS * suit + rank for suit in suits)
    for rank in range(NUM_RANKS)
    for size in (3, 4)
    for suits in combinations(range(NUM_SUITS), size)
)
"""The 65 sets: three or four cards of one rank. Source: RULES, Cards."""

ALL_RUNS: tuple[tuple[int, ...], ...] = tuple(
    tuple(range(NUM_RANKS * suit + low, NUM_RANKS * suit + low + length))
    for suit in range(NUM_SUITS)
    for length in range(MIN_MELD, NUM_RANKS + 1)
    for low in range(NUM_RANKS - length + 1)
)
"""The 264 runs: three or more ranks in sequence, one suit, the ace low. Source: RULES, Cards."""

MELDS: tuple[tuple[int, ...], ...] = tuple(
    sorted(meld for meld in ALL_SETS + ALL_RUNS if len(meld) <= 5)
)
"""The 185 melds of three to five cards in their order."""

NO_MELD = -1
MELD_MASK: Hands = np.array([*(hand_of(meld) for meld in MELDS), 0], dtype=np.uint64)
"""[186] uint64, the cards of each meld; ``MELD_MASK[NO_MELD]`` is 0."""

_NUMBER = {meld: number for number, meld in enumerate(MELDS)}

# Suits of one rank as four bits (spades 1, hearts 2, diamonds 4, clubs 8). SUIT_SPREAD puts them
# into the lanes of a hand, at rank 0.
NUM_SUIT_PATTERNS = 1 << NUM_SUITS
SUIT_SPREAD: Hands = np.array(
    [sum(int(CARD_BIT[13 * s]) for s in range(4) if p >> s & 1) for p in range(NUM_SUIT_PATTERNS)],
    dtype=np.uint64,
)
_GATHER = np.uint64(sum(1 << (48 - 15 * suit) for suit in range(NUM_SUITS)))


EVERY_SUIT = SUIT_SPREAD[-1]
"""uint64: times a pattern of ranks, the cards of these ranks in all suits."""

_LANE, _TWO_LANES = np.uint64(16), np.uint64(32)


def suits_of_rank(hands: Hands, ranks: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the suits held of one rank, as four bits (spades 1 ... clubs 8).

    Args:
        hands: [...] uint64.
        ranks: [...] 0..12; 13..15 stand for no rank and give 0.

    Returns:
        [...] integers, 0..15.
    """
    column = (hands >> ranks.astype(np.uint64)) & EVERY_SUIT
    return ((column * _GATHER) >> np.uint64(48) & np.uint64(15)).astype(np.intp)


def _set_numbers() -> NDArray[np.int16]:
    table = np.full((NUM_RANKS + 3, NUM_SUIT_PATTERNS), NO_MELD, dtype=np.int16)
    for meld in ALL_SETS:
        suits = sum(1 << card // NUM_RANKS for card in meld)
        table[meld[0] % NUM_RANKS, suits] = _NUMBER[meld]
    return table


SET_NUMBER = _set_numbers()
"""[16, 16] int16, the number of the set of a rank (13..15: none) with these suits, or NO_MELD."""


def _lane_tables() -> tuple[NDArray[np.uint16], NDArray[np.int8]]:
    """Return each suit pattern's cards in runs, and its runs (of 3 to 5) as lowest rank, length."""
    in_runs = np.zeros(NUM_LANE_PATTERNS, dtype=np.uint16)
    runs = np.zeros((NUM_LANE_PATTERNS, NUM_RANKS // MIN_MELD, 2), dtype=np.int8)
    for pattern in range(NUM_LANE_PATTERNS):
        found: list[tuple[int, int]] = []
        low = 0
        while low < NUM_RANKS:
            length = 0
            while pattern >> (low + length) & 1:
                length += 1
            if length >= MIN_MELD:
                in_runs[pattern] |= ((1 << length) - 1) << low
                # The order of arrangements prefers short melds first: threes, then what is left.
                start, left = low, length
                while left >= 2 * MIN_MELD:
                    found.append((start, MIN_MELD))
                    start, left = start + MIN_MELD, left - MIN_MELD
                found.append((start, left))
            low += length + 1
        for place, run in enumerate(found):
            runs[pattern, place] = run
    return in_runs, runs


LANE_IN_RUNS, LANE_RUNS = _lane_tables()

LANE_LEFT = (LANE_POINTS - LANE_POINTS[LANE_IN_RUNS]).astype(np.uint8)
"""[8192] uint8, the points of the cards of a suit pattern that are in no run. The one table that
deadwood and lay-offs need."""


def _run_numbers() -> NDArray[np.int16]:
    table = np.full((NUM_SUITS, NUM_LANE_PATTERNS, LANE_RUNS.shape[1]), NO_MELD, dtype=np.int16)
    for suit in range(NUM_SUITS):
        numbers = np.full((NUM_RANKS, 6), NO_MELD, dtype=np.int16)  # by lowest rank and length
        for meld, number in _NUMBER.items():
            if meld[0] // NUM_RANKS == suit and meld[-1] // NUM_RANKS == suit:
                numbers[meld[0] % NUM_RANKS, len(meld)] = number
        low, length = LANE_RUNS[..., 0], LANE_RUNS[..., 1]
        table[suit] = np.where(length > 0, numbers[low, np.minimum(length, 5)], NO_MELD)
    return table


RUN_NUMBERS = _run_numbers()
"""[4, 8192, 4] int16, the numbers of the runs in a suit's pattern, ascending, then NO_MELD."""


def cards_in_runs(hands: Hands) -> Hands:
    """Return the cards of each hand that belong to a run of three or more.

    The ace is low only: A-2-3 is a run, Q-K-A is not.

    Args:
        hands: [...] uint64.

    Returns:
        [...] uint64, a subset of ``hands``.

    Source: RULES, Cards.

    >>> from ginrummy_env.core.cards import format_hand, parse_hand
    >>> format_hand(cards_in_runs(parse_hand("As 5c 6c 7c 9c Qs Ks")))
    '5c 6c 7c'
    """
    one, two = np.uint64(1), np.uint64(2)
    lowest = hands & (hands >> one) & (hands >> two)  # ranks r, r+1 and r+2 are all held
    return lowest | (lowest << one) | (lowest << two)


def ranks_in_threes(hands: Hands) -> NDArray[np.uint16]:
    """Return the ranks of which each hand holds three or four cards.

    Args:
        hands: [...] uint64.

    Returns:
        [...] uint16, bit r for rank r.
    """
    other = hands >> _LANE
    both, either = hands & other, hands | other  # lane 0: of s and h; lane 2: of d and c
    return ((both & (either >> _TWO_LANES)) | ((both >> _TWO_LANES) & either)).astype(np.uint16)


def ranks_in_pairs(hands: Hands) -> NDArray[np.uint64]:
    """Return the ranks of which each hand holds two cards or more.

    Args:
        hands: [...] uint64.

    Returns:
        [...] uint64, bit r for rank r.
    """
    other = hands >> _LANE
    both, either = hands & other, hands | other  # lane 0: of s and h; lane 2: of d and c
    pairs = both | (both >> _TWO_LANES) | (either & (either >> _TWO_LANES))
    return pairs & np.uint64(NUM_LANE_PATTERNS - 1)


def melding_cards(hands: Hands, deck: np.uint64 = FULL_DECK) -> Hands:
    """Return the cards not held that would be in some meld with cards of the hand.

    Args:
        hands: [...] uint64.
        deck: the cards there are, a mask (`Rules.full_deck`).

    Returns:
        [...] uint64.

    >>> from ginrummy_env.core.cards import format_hand, parse_hand
    >>> format_hand(melding_cards(parse_hand("As 2s 7h 9h Kd Kc")))
    '3s Ks 8h Kh'
    """
    one, two = np.uint64(1), np.uint64(2)
    below, above = hands << one, hands >> one  # cards whose lower (higher) neighbour is held
    runs = (below & above) | (below & (hands << two)) | (above & (hands >> two))
    sets = ranks_in_pairs(hands) * EVERY_SUIT
    return (runs | sets) & deck & ~hands


def _lowest_ranks() -> NDArray[np.uint8]:
    table = np.full((NUM_LANE_PATTERNS, MAX_MELDS), NUM_RANKS, dtype=np.uint8)
    for place in range(MAX_MELDS):
        counted = LANE_RANKS.cumsum(axis=1) == place + 1
        found = counted & LANE_RANKS
        table[:, place] = np.where(found.any(axis=1), found.argmax(axis=1), NUM_RANKS)
    return table


LOWEST_RANKS = _lowest_ranks()
"""[8192, 3] uint8, the three lowest ranks of a pattern; 13 where there are fewer."""
