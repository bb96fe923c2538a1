"""Least deadwood: exact, by table look-ups, for whole batches.

Once it is settled which cards lie in sets, a suit needs no search: every card in a block of three
or more neighbours is melded, so one table over the 8,192 suit patterns gives the points left. What
remains is to choose the sets. A hand of eleven cards has at most three ranks of which it holds
three or four cards; three cards can be a set or not, four also all four or any three of them. These
*choices* are listed for the whole batch at once (`set_choices`), and the best of each hand is
taken.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import (
    CARD_BIT,
    DEAREST,
    LANE_BITS,
    LANE_POINTS,
    LANE_RANKS,
    NO_CARD,
    NUM_CARDS,
    NUM_LANE_PATTERNS,
    NUM_RANKS,
    NUM_SUITS,
    format_hand,
    lanes,
)
from ginrummy_env.core.melds import (
    EVERY_SUIT,
    LANE_LEFT,
    LOWEST_RANKS,
    MAX_MELDS,
    NUM_SUIT_PATTERNS,
    SUIT_SPREAD,
    cards_in_runs,
    ranks_in_threes,
    suits_of_rank,
)
from ginrummy_env.core.types import Hands, Points, Rows

NOT_HELD = 255
"""Stands for a card that is not held in `deadwood_after_discard`."""

# The sets that can be made of the suits held of one rank: none, each of three suits, all four.
_WAYS = [
    [0] + [p for p in range(NUM_SUIT_PATTERNS) if p & held == p and p.bit_count() >= 3]
    for held in range(NUM_SUIT_PATTERNS)
]
_MOST_WAYS = 6
WAYS = np.array([ways + [0] * (_MOST_WAYS - len(ways)) for ways in _WAYS], dtype=np.uint8)
"""[16, 6] uint8, the suits put into a set, by suits held and way."""

NUM_WAYS = np.array([len(ways) for ways in _WAYS], dtype=np.intp)
"""[16], 1 for less than three suits, 2 for three, 6 for four."""

_BYTE_SUM = np.uint32(0x01010101)


def lane_sum(by_suit: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the sum over the suits, [..., 4] uint8 to [...] uint8; sums stay below 256.

    Four bytes are added by one multiplication: their sum comes out in the top byte.
    """
    words = by_suit.view("<u4")[..., 0] * _BYTE_SUM
    return (words >> np.uint32(24)).astype(np.uint8)


def points_left(hands: Hands) -> NDArray[np.uint8]:
    """Return the points of the cards that are in no run, as if there were no sets.

    Args:
        hands: [...] uint64.

    Returns:
        [...] uint8 (a hand of any size has less than 256).
    """
    return lane_sum(LANE_LEFT.take(lanes(hands)))


def require_cards(hands: Hands, fewest: int, most: int) -> None:
    """Raise ValueError if hands are not uint64 or have fewer or more cards than allowed."""
    if hands.dtype != np.uint64:
        raise ValueError(f"hands are uint64 bit masks, not {hands.dtype}")
    sizes = np.bitwise_count(hands)
    wrong = sizes > most if fewest == 0 else (sizes > most) | (sizes < fewest)
    if wrong.any():
        hand = hands[wrong][0]
        raise ValueError(
            f"a hand of {np.bitwise_count(hand)} cards, expected {fewest} to {most}: "
            f"{format_hand(hand)}"
        )


@dataclass(slots=True)
class Choices:
    """Every choice of sets of some hands: a work list, the choices of one hand side by side."""

    rows: Rows
    """[K] the hand's place in the batch, ascending."""

    numbers: Rows
    """[K] counting from 0 within each hand; number 0 chooses no set."""

    starts: Rows
    """[H] where each hand's choices start."""

    sets: Hands
    """[K] uint64, the cards put into sets."""

    ranks: NDArray[np.uint8]
    """[K, 3] the ranks that sets are made of; 13 where there is none."""

    suits: NDArray[np.uint8]
    """[K, 3] the suits put into the set of that rank, four bits; 0 if it is not made."""


def expand(counts: NDArray[np.intp]) -> tuple[Rows, Rows, Rows]:
    """Return a work list with ``counts[i]`` entries for each i.

    Returns:
        (owners [K], numbers [K] counting from 0 within each owner, starts [len(counts)]).
    """
    starts = counts.cumsum() - counts
    owners = np.arange(len(counts)).repeat(counts)
    return owners, np.arange(len(owners)) - starts.take(owners), starts


def set_choices(hands: Hands, rows: Rows) -> Choices:
    """Return every choice of sets of the hands in ``rows``.

    Args:
        hands: [N] uint64, eleven cards at most.
        rows: [H] the hands that count.
    """
    chosen = hands[rows]
    ranks = LOWEST_RANKS.take(ranks_in_threes(chosen), axis=0)
    held = suits_of_rank(chosen[:, None], ranks)
    ways = _WAYS_CODE.take(held) @ _CODE_PLACES
    owners, numbers, starts = expand(_NUM_CHOICES.take(ways))
    digits = _CHOICES.take(ways.take(owners) * _MOST_CHOICES + numbers, axis=0)
    ranks = ranks.take(owners, axis=0)
    suits = WAYS.reshape(-1).take(held.take(owners, axis=0) * _MOST_WAYS + digits)
    spread = SUIT_SPREAD.take(suits) << ranks
    sets = spread[:, 0] | spread[:, 1] | spread[:, 2]
    return Choices(rows.take(owners), numbers, starts, sets, ranks, suits)


# How many ways three ranks have (1, 2 or 6 each) is one code of three digits 0, 1, 2. By code: how
# many choices there are, and which way of each rank a choice takes.
_WAYS_CODE = np.searchsorted([1, 2, _MOST_WAYS], NUM_WAYS)
_CODE_PLACES = np.array([9, 3, 1])
_COMBINED = list(product((1, 2, _MOST_WAYS), repeat=MAX_MELDS))
_NUM_CHOICES = np.array([a * b * c for a, b, c in _COMBINED])
_MOST_CHOICES = int(_NUM_CHOICES.max())
_CHOICES = np.zeros((len(_COMBINED) * _MOST_CHOICES, MAX_MELDS), dtype=np.uint8)
for _code, _ways in enumerate(_COMBINED):
    _start = _code * _MOST_CHOICES
    # The way of the lowest rank changes first from choice to choice.
    _CHOICES[_start : _start + _NUM_CHOICES[_code], ::-1] = list(product(*map(range, _ways[::-1])))


def deadwood(hands: Hands) -> Points:
    """Return the least deadwood of each hand, over all ways of melding it.

    Args:
        hands: [N] uint64, eleven cards at most.

    Returns:
        [N] int16, points.

    Source: RULES, Cards.

    >>> from ginrummy_env.core.cards import parse_hand
    >>> deadwood(np.array([parse_hand("As 2s 3s 4h 5h 6h 9c 9d 9s Kh")])).tolist()
    [10]
    """
    require_cards(hands, 0, 11)
    least = points_left(hands).astype(np.int16)
    rows = ranks_in_threes(hands).nonzero()[0]
    if rows.size:
        choices = set_choices(hands, rows)
        left = points_left(hands[choices.rows] & ~choices.sets)
        least[rows] = np.minimum.reduceat(left, choices.starts)
    return least


def melded_cards(hands: Hands) -> tuple[Hands, Points]:
    """Return the melded cards of an arrangement of least deadwood, and that deadwood.

    Among arrangements of equal deadwood the one with the fewest sets is taken, in a fixed order;
    what a knocker lays down is `layoff.knocker_arrangement`.

    Args:
        hands: [N] uint64, eleven cards at most.

    Returns:
        (cards [N] uint64, deadwood [N] int16).
    """
    melded = cards_in_runs(hands)
    least = points_left(hands).astype(np.int16)
    rows = ranks_in_threes(hands).nonzero()[0]
    if rows.size:
        choices = set_choices(hands, rows)
        others = hands[choices.rows] & ~choices.sets
        left = points_left(others)
        # The place in the low bits: the least of both is the first choice among equals.
        ranked = left.astype(np.int64) * len(left) + np.arange(len(left))
        best = np.minimum.reduceat(ranked, choices.starts) % len(left)
        melded[rows] = choices.sets[best] | cards_in_runs(others[best])
        least[rows] = left[best]
    return melded, least


def _drop_table() -> NDArray[np.complex128]:
    """Return by how much the points left of a suit change when one of its cards goes, modulo 256.

    140 stands for a card that is not held: with at most 110 points left in eleven cards it gives
    140..250, which no deadwood of ten cards (98 at most) reaches.
    """
    patterns = np.arange(NUM_LANE_PATTERNS)[:, None]
    without = patterns & ~(1 << np.arange(NUM_RANKS))[None, :]
    change = LANE_LEFT[without] - LANE_LEFT[patterns]
    table = np.full((NUM_LANE_PATTERNS, LANE_BITS), _ABSENT, dtype=np.uint8)
    table[:, :NUM_RANKS] = np.where(LANE_RANKS, change, np.uint8(_ABSENT))
    return table.view(np.complex128)[:, 0]  # 16 bytes as one item


_ABSENT = 140
_DROP = _drop_table()


def _left_after(hands: Hands) -> NDArray[np.uint8]:
    """Return the points in no run after each discard, [N, 64] uint8; from 140 on: not held.

    In the layout of a hand, four lanes of 16: moving 16 bytes at once is fastest.
    """
    changes = _DROP.take(lanes(hands)).view(np.uint8).reshape(len(hands), 4 * LANE_BITS)
    return changes + points_left(hands)[:, None]


def deadwood_after_discard(hands: Hands) -> NDArray[np.uint8]:
    """Return the least deadwood of the other cards, for each card of a hand.

    The best melding of eleven cards is not always the best to discard from: each discard is judged
    for itself. A choice of sets that holds the card is not asked: without the card it is another
    choice.

    Args:
        hands: [N] uint64, one to eleven cards.

    Returns:
        [N, 52] uint8; NOT_HELD where the card is not in the hand.

    >>> from ginrummy_env.core.cards import parse_card, parse_hand
    >>> hand = np.array([parse_hand("As Ac Ad 2s 2c 2d 2h 3d 4s 4d 4h")])
    >>> int(deadwood_after_discard(hand)[0, parse_card("3d")])
    0
    """
    require_cards(hands, 1, 11)
    after = _left_after(hands)
    rows = ranks_in_threes(hands).nonzero()[0]
    if rows.size:
        choices = set_choices(hands, rows)
        after[rows] = _least_of_choices(_left_after(hands[choices.rows] & ~choices.sets), choices)
    absent = (after >= _ABSENT).view(np.uint8)
    after |= np.negative(absent, out=absent)  # 0 or 255, NOT_HELD
    return after.reshape(-1, NUM_SUITS, LANE_BITS)[:, :, :NUM_RANKS].reshape(-1, NUM_CARDS)


def _least_of_choices(left: NDArray[np.uint8], choices: Choices) -> NDArray[np.uint8]:
    """Return the least of each column over the choices of a hand, [K, C] to [H, C].

    Neighbours are compared, then every second one, every fourth: several times as fast as
    ``np.minimum.reduceat(left, choices.starts, axis=0)``.
    """
    gap = 1
    while gap <= choices.numbers.max():
        place = (choices.numbers[:-gap] & (2 * gap - 1) == 0).nonzero()[0]
        place = place[choices.rows[place] == choices.rows[place + gap]]
        left[place] = np.minimum(left[place], left[place + gap])
        gap *= 2
    return left[choices.starts]


def least_after_discard(hands: Hands, forbidden: NDArray[np.int8] | None = None) -> Points:
    """Return the least deadwood that a discard can leave.

    For each choice of sets the dearest card that is left over goes. If none is left over that may
    go, a card goes that its meld can spare: ten or eleven melded cards have a meld of four or more.
    Where the other cards can be melds of three, as four cards can, each discard is looked at.

    Args:
        hands: [N] uint64, two to eleven cards, all of one size.
        forbidden: [N] the card that may not go, or NO_CARD.

    Returns:
        [N] int16, points.

    Source: RULES, One deal, 4 and 5.

    >>> from ginrummy_env.core.cards import parse_hand
    >>> least_after_discard(np.array([parse_hand("As Ac Ad 2s 2c 2d 2h 3d 4s 4d 4h")])).tolist()
    [0]
    """
    require_cards(hands, 2, 11)
    if len(hands) and np.bitwise_count(hands[0]) % 3 != 2:
        return _least_of_discards(hands, forbidden)
    stays = np.zeros_like(hands) if forbidden is None else CARD_BIT[forbidden]
    least = _least_after(hands, stays).astype(np.int16)
    rows = ranks_in_threes(hands).nonzero()[0]
    if rows.size:
        choices = set_choices(hands, rows)
        left = _least_after(hands[choices.rows] & ~choices.sets, stays[choices.rows])
        least[rows] = np.minimum.reduceat(left, choices.starts)
    return least


def _least_of_discards(hands: Hands, forbidden: NDArray[np.int8] | None) -> Points:
    """Return what `least_after_discard` does, for hands of any size."""
    left = deadwood_after_discard(hands)
    if forbidden is not None:
        rows = (forbidden != NO_CARD).nonzero()[0]
        left[rows, forbidden[rows]] = NOT_HELD
    return left.min(axis=1).astype(np.int16)


def _least_after(hands: Hands, stays: Hands) -> NDArray[np.uint8]:
    """Return the points in no run after the dearest discard of a card in no run, [N] uint8."""
    loose = hands & ~cards_in_runs(hands) & ~stays
    loose |= loose >> np.uint64(32)
    ranks = (loose | loose >> np.uint64(16)).astype(np.uint16)
    return points_left(hands) - DEAREST.take(ranks & np.uint16(NUM_LANE_PATTERNS - 1))


def may_reach(hands: Hands, limits: Points) -> NDArray[np.bool_]:
    """Return whether a knock is not ruled out by a cheap bound.

    A card that is in no run and of whose rank the hand holds less than three stays deadwood,
    whatever the sets. Only one such card can be discarded, and saves ten points at most.

    Args:
        hands: [N] uint64, eleven cards at most.
        limits: [N] int16, the knock limit.

    Returns:
        [N] bool; false is certain, true is not.
    """
    in_threes = ranks_in_threes(hands) * EVERY_SUIT
    never_melded = hands & ~cards_in_runs(hands) & ~in_threes
    return lane_sum(LANE_POINTS.take(lanes(never_melded))) <= limits + 10


def knock_discards(
    hands: Hands, limits: Points, forbidden: NDArray[np.int8] | None = None
) -> Hands:
    """Return the cards that leave few enough points to knock.

    Args:
        hands: [N] uint64, one to eleven cards.
        limits: [N] int16, the knock limit of each.
        forbidden: [N] the card that may not go, or NO_CARD.

    Returns:
        [N] uint64, a subset of ``hands``.

    Source: RULES, One deal, 4 and 5.

    >>> from ginrummy_env.core.cards import format_hand, parse_hand
    >>> hand = np.array([parse_hand("3s 5s 6s 4h 5h 6h 7h 6d 3c 5c 6c")])
    >>> format_hand(knock_discards(hand, np.int16([10]))[0])
    '7h'
    """
    found = np.zeros(len(hands), dtype=np.uint64)
    rows = may_reach(hands, limits).nonzero()[0]
    if rows.size:
        enough = deadwood_after_discard(hands[rows]) <= limits[rows, None]
        found[rows] = pack_planes(enough)
        if forbidden is not None:
            found[rows] &= ~CARD_BIT[forbidden[rows]]
    return found


def pack_planes(planes: NDArray[np.bool_]) -> Hands:
    """Return the hands with the flagged cards: the inverse of `cards.card_planes`.

    Args:
        planes: [N, 52] bool.

    Returns:
        [N] uint64.
    """
    padded = np.zeros((len(planes), NUM_SUITS, 16), dtype=np.bool_)
    padded[:, :, :NUM_RANKS] = planes.reshape(-1, NUM_SUITS, NUM_RANKS)
    packed = np.packbits(padded.reshape(len(planes), 64), axis=1, bitorder="little")
    return packed.view("<u8")[:, 0].astype(np.uint64, copy=False)
