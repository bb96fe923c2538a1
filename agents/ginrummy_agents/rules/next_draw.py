"""Which cards would meld, and what the next draw would leave: bit operations and work lists."""

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents import compiled
from ginrummy_agents.rules.work_lists import cards_listed, group_starts, ranks
from ginrummy_env.core.cards import CARD_BIT, DEAREST, NUM_CARDS, POINTS, card_planes
from ginrummy_env.core.deadwood import least_after_discard, points_left, set_choices
from ginrummy_env.core.melds import cards_in_runs, melding_cards, ranks_in_threes
from ginrummy_env.core.types import Hands, Rows

_0, _1, _2, _3 = (np.uint64(number) for number in (0, 1, 2, 3))


def around(hands: Hands, bits: Hands, beyond: bool = False) -> list[NDArray[np.bool_]]:
    """Return whether the cards two down, one down, one up and two up are in ``hands``.

    Args:
        hands: [P] uint64. With ``beyond``, the bits that are no cards are set.
        bits: [P] uint64, one card each.
        beyond: what counts beyond a suit's ends. The empty bits above a king lie below the ace of
            the next suit; those below the ace of spades come by the shift.

    Returns:
        Four arrays [P] bool.
    """
    one, two = (_1, _3) if beyond else (_0, _0)
    shifted = ((hands << _2) | two, (hands << _1) | one, hands >> _1, hands >> _2)
    return [(each & bits) != 0 for each in shifted]


def _adjoining() -> Hands:
    cards = np.arange(NUM_CARDS)
    rank, suit = cards % 13, cards // 13
    near = np.abs(rank[:, None] - rank) <= 2
    same_suit = suit[:, None] == suit
    adjoins = (same_suit & near) | (rank[:, None] == rank)
    np.fill_diagonal(adjoins, False)
    return np.bitwise_or.reduce(np.where(adjoins, CARD_BIT[:NUM_CARDS], np.uint64(0)), axis=1)


ADJOINING = _adjoining()
"""[52] uint64, the cards that can be in a meld of three with each card: of its rank, or of its suit
within two ranks."""


def loose_cards(hands: Hands) -> Hands:
    """Return the cards that are unmelded in at least one arrangement of least deadwood.

    Args:
        hands: [N] uint64, eleven cards at most.

    Returns:
        [N] uint64.

    >>> from ginrummy_env.core.cards import format_hand, parse_hand
    >>> hand = np.array([parse_hand("5s 6s 7s 6h 6d 9c")])  # a run of spades, or three sixes
    >>> format_hand(loose_cards(hand)[0])
    '5s 7s 6h 6d 9c'
    """
    loose = hands & ~cards_in_runs(hands)
    rows, best, rest = _best_choices(hands)
    if rows.size:
        starts = group_starts(rows)
        unmelded = np.where(best, rest & ~cards_in_runs(rest), np.uint64(0))
        loose[rows[starts]] = np.bitwise_or.reduceat(unmelded, starts)
    return loose


def deadwood_cards(hands: Hands) -> Hands:
    """Return the cards that are unmelded in one arrangement of least deadwood.

    Args:
        hands: [N] uint64, eleven cards at most.

    Returns:
        [N] uint64. Of several such arrangements, the one with the fewest sets counts.
    """
    loose = hands & ~cards_in_runs(hands)
    rows, best, rest = _best_choices(hands)
    rows, rest = rows[best][::-1], rest[best][::-1]
    loose[rows] = rest & ~cards_in_runs(rest)  # of a row that is there twice the last one counts
    return loose


def _best_choices(hands: Hands) -> tuple[Rows, NDArray[np.bool_], Hands]:
    """Return every choice of sets: its row, whether it leaves least, and the cards not in sets.

    Hands without three cards of a rank are left out.
    """
    rows = np.flatnonzero(ranks_in_threes(hands))
    if not rows.size:
        return rows, np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.uint64)
    choices = set_choices(hands, rows)
    rest = hands[choices.rows] & ~choices.sets
    left = points_left(rest)
    counts = np.diff(choices.starts, append=len(left))
    best = left == np.repeat(np.minimum.reduceat(left, choices.starts), counts)
    return choices.rows, best, rest


def least_after_each_draw(
    hands: Hands, left: NDArray[np.uint8], unseen: Hands
) -> NDArray[np.uint8]:
    """Return what the best discard leaves after each unseen card is drawn to ten.

    A card that melds with nothing is thrown straight back, or takes the place of the card whose
    loss saves most; only cards that meld are looked at one by one.

    Args:
        hands: [P] uint64, ten cards (`Rules.hand_size`).
        left: [P] uint8, their least deadwood.
        unseen: [P] uint64, the cards that may come; none of them held.

    Returns:
        [P, 52] uint8; 255 for a card that cannot come.
    """
    nine = least_of_nine(hands)
    after = np.minimum(left[:, None], nine[:, None] + _POINTS)
    after[~card_planes(unseen)] = 255
    rows, cards = cards_listed(melding_cards(hands) & unseen)
    after[rows, cards] = least_after_discard(hands[rows] | CARD_BIT[cards])
    return after


_POINTS = POINTS.astype(np.uint8)


def compiled_draws(
    hands: Hands, left: NDArray[np.uint8], unseen: Hands, best: int
) -> NDArray[np.int64] | None:
    """Return sums over `least_after_each_draw` by the compiled kernel; None if it is not in use.

    Nor is it for hands of a size with which all cards and a drawn one can be melds of three: it
    leaves out that none of these has a card to spare.

    Args:
        hands, left, unseen: as for `least_after_each_draw`.
        best: how many of the lowest values are added up.

    Returns:
        [P, 6] int64, see `kernels.draws_ahead`.
    """
    if not compiled.in_use() or (len(hands) and np.bitwise_count(hands[0]) % 3 != 1):
        return None
    from ginrummy_agents import kernels

    found = np.empty((len(hands), 6), dtype=np.int64)
    with compiled.first_use("the draws ahead of rule agents"):
        columns = map(np.ascontiguousarray, (hands, left, unseen))
        kernels.draws_ahead(*columns, best, found)
    return found


def least_of_nine(hands: Hands) -> NDArray[np.uint8]:
    """Return the least deadwood of the best nine of ten cards, [P] uint8.

    The dearest card goes that the best choice of sets leaves loose; where all ten are melded, one
    that a meld of four or more can spare. Compare `deadwood.least_after_discard`.
    """
    least = _without_dearest(hands)
    rows = np.flatnonzero(ranks_in_threes(hands))
    if rows.size:
        choices = set_choices(hands, rows)
        left = _without_dearest(hands[choices.rows] & ~choices.sets)
        least[rows] = np.minimum.reduceat(left, choices.starts)
    return least


def _without_dearest(hands: Hands) -> NDArray[np.uint8]:
    """Return the points of the cards in no run, less those of the dearest of them."""
    return points_left(hands) - DEAREST.take(ranks(hands & ~cards_in_runs(hands)))
