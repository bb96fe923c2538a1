"""Which cards to choose among, and choosing: hands as masks and work lists of single cards."""

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.tables import WORTH
from ginrummy_env.core.cards import (
    CARD_BIT,
    DEAREST,
    LANE_RANKS,
    NUM_CARDS,
    NUM_RANKS,
    card_planes,
    lanes,
)
from ginrummy_env.core.deadwood import (
    NOT_HELD,
    deadwood_after_discard,
    pack_planes,
    points_left,
    set_choices,
)
from ginrummy_env.core.melds import cards_in_runs, ranks_in_threes
from ginrummy_env.core.types import Cards, Hands, Rows, Uniforms

Left = NDArray[np.uint8]

_16, _32 = np.uint64(16), np.uint64(32)

_NTH_RANK = np.argsort(~LANE_RANKS, axis=1, kind="stable").astype(np.uint8)
"""[8192, 13] uint8, the ranks of a suit pattern in their order."""


def ranks(hands: Hands) -> NDArray[np.uint64]:
    """Return the ranks of which each hand holds a card, bit r for rank r."""
    either = hands | (hands >> _16)
    return (either | (either >> _32)) & np.uint64(0x1FFF)


def cards_listed(hands: Hands) -> tuple[Rows, Rows]:
    """Return all cards of the hands as a work list: (rows [P] ascending, cards [P] ascending)."""
    places = np.flatnonzero(card_planes(hands))
    rows = places // NUM_CARDS
    return rows, places - rows * NUM_CARDS


def group_starts(rows: Rows) -> Rows:
    """Return where each row's entries start in a work list, [K]; ``rows`` [P] ascending."""
    new = np.empty(len(rows), dtype=np.bool_)
    new[:1] = True
    np.not_equal(rows[1:], rows[:-1], out=new[1:])
    return np.flatnonzero(new)


def least_valued(rows: Rows, cards: Cards, values: NDArray[np.number]) -> Hands:
    """Return the cards of least value in each row.

    Args:
        rows: [P] 0, 1, ... ascending; each row appears at least once.
        cards: [P] their cards.
        values: [P] no NaN.

    Returns:
        [K] uint64.
    """
    starts = group_starts(rows)
    best = values == np.minimum.reduceat(values, starts)[rows]
    return np.bitwise_or.reduceat(np.where(best, CARD_BIT[cards], np.uint64(0)), starts)


def dearest(hands: Hands) -> Hands:
    """Return the cards of most points of each hand, [K] uint64."""
    return hands & WORTH[DEAREST.take(ranks(hands))]


def pick_one(hands: Hands, uniforms: Uniforms) -> Cards:
    """Return one card of each hand, all equally likely.

    Args:
        hands: [K] uint64, at least one card each.
        uniforms: [K] numbers in [0, 1).

    Returns:
        [K] integers.
    """
    by_suit = lanes(hands)
    ends = np.bitwise_count(by_suit).cumsum(axis=1)
    place = (uniforms * ends[:, 3]).astype(np.int64)  # which of the cards, from 0
    suit = (place[:, None] >= ends[:, :3]).sum(axis=1)
    row = np.arange(len(hands))
    place -= np.where(suit > 0, ends[row, suit - 1], 0).astype(np.int64)
    return NUM_RANKS * suit + _NTH_RANK[by_suit[row, suit], place]


def lowest(hands: Hands) -> Cards:
    """Return the lowest card of each hand, which holds at least one, [K] integers."""
    return pick_one(hands, np.zeros(len(hands)))


def least_discards(hands: Hands, stays: Hands) -> tuple[Left, Hands]:
    """Return the least deadwood that a discard can leave, and all discards that leave it.

    For each choice of sets the dearest cards go that it leaves loose. Only where all cards (but the
    one that stays) are melded can the least be left by a card of a meld, one that it can spare:
    these few hands are looked at card by card. So are hands of a size of which no meld may have a
    card to spare (see `deadwood.least_after_discard`).

    Args:
        hands: [K] uint64, two to eleven cards, all of one size.
        stays: [K] uint64, a card that may not go; 0 for none.

    Returns:
        (least [K] uint8, cards [K] uint64).

    >>> from ginrummy_env.core.cards import format_hand, parse_hand
    >>> hand = np.array([parse_hand("4s 5s 6s 7h 7d 7c Kd Kc Jc As 2c")])
    >>> least, cards = least_discards(hand, np.zeros(1, dtype=np.uint64))
    >>> int(least[0]), format_hand(cards[0])
    (23, 'Kd Jc Kc')
    """
    if len(hands) and np.bitwise_count(hands[0]) % 3 != 2:
        after = deadwood_after_discard(hands)
        after[card_planes(stays)] = NOT_HELD
        least = after.min(axis=1)
        return least, pack_planes(after == least[:, None])
    least, cards = _dearest_loose(hands, stays)
    rows = np.flatnonzero(ranks_in_threes(hands))
    if rows.size:
        choices = set_choices(hands, rows)
        left, loose = _dearest_loose(hands[choices.rows] & ~choices.sets, stays[choices.rows])
        least[rows] = np.minimum.reduceat(left, choices.starts)
        best = np.where(left == least[choices.rows], loose, np.uint64(0))
        cards[rows] = np.bitwise_or.reduceat(best, choices.starts)
        # A choice that leaves nothing loose but the card that stays: any melded card may do.
        melded = choices.rows[(left == least[choices.rows]) & (loose == 0)]
    else:
        melded = rows
    some = cards == 0
    some[melded] = True
    melded = some.nonzero()[0]
    if melded.size:
        after = deadwood_after_discard(hands[melded])
        flags = (after == least[melded, None]) & card_planes(hands[melded] & ~stays[melded])
        cards[melded] = flags @ CARD_BIT[:NUM_CARDS]
    return least, cards


def _dearest_loose(hands: Hands, stays: Hands) -> tuple[Left, Hands]:
    """Return the points of the cards in no run less those of the dearest that may go, and these."""
    loose = hands & ~cards_in_runs(hands) & ~stays
    points = DEAREST.take(ranks(loose))
    return points_left(hands) - points, loose & WORTH[points]
