"""What is laid down: the knocker's arrangement, the defender's melds and lay-offs.

A defender's suit ``m`` (own sets taken out) and the knocker's runs ``b`` in that suit need no
search either: the cards that are in a block of three or more cards of ``m | b`` go, in runs of
their own or laid off one after another. So what is left is `points_left` of ``m | b``, since
the knocker's runs leave nothing. To choose are own sets, and for each set of three that the knocker
laid whether its fourth card goes there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import FULL_DECK, NUM_RANKS, NUM_SUITS, hand_points, lanes
from ginrummy_env.core.deadwood import Choices, expand, points_left, set_choices
from ginrummy_env.core.melds import (
    ALL_SETS,
    MAX_MELDS,
    MELD_MASK,
    MELDS,
    NO_MELD,
    RUN_NUMBERS,
    SET_NUMBER,
    cards_in_runs,
)
from ginrummy_env.core.types import Hands, MeldNumbers, Points, Rows

_IS_SET = np.array([*(meld in set(ALL_SETS) for meld in MELDS), False])
_RUN_MASK: Hands = np.where(_IS_SET, np.uint64(0), MELD_MASK)
_RANK_MASK: Hands = np.array(
    [sum(1 << (16 * suit + rank) for suit in range(NUM_SUITS)) for rank in range(NUM_RANKS)],
    dtype=np.uint64,
)
_FOURTH: Hands = np.array(
    [
        *(
            _RANK_MASK[meld[0] % NUM_RANKS] & ~MELD_MASK[number] if _IS_SET[number] else 0
            for number, meld in enumerate(MELDS)
        ),
        0,
    ],
    dtype=np.uint64,
)
"""[186] uint64, the fourth card of each set of three."""

_SUIT = np.arange(NUM_SUITS)
_MOST_RUNS = NUM_SUITS * RUN_NUMBERS.shape[-1]


def spread(start: Hands, through: Hands) -> Hands:
    """Return the cards of ``through`` that are reached from ``start``, rank by rank in a suit.

    Args:
        start: [...] uint64, cards of runs.
        through: [...] uint64, cards that continue a run.

    Returns:
        [...] uint64, a subset of ``through``; ``start`` is not in it.
    """
    up, down = start, start
    open_up = open_down = through
    for shift in (np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8)):
        # Each round doubles the reach; the empty bits between the lanes stop it at the suit's ends.
        up = up | (open_up & (up << shift))
        down = down | (open_down & (down >> shift))
        open_up = open_up & (open_up << shift)
        open_down = open_down & (open_down >> shift)
    return (up | down) & ~start


def arrangement_of(hands: Hands, choices: Choices) -> MeldNumbers:
    """Return the melds of each choice of sets: the sets, and all runs of the other cards.

    Args:
        hands: [N] uint64, eleven cards at most.
        choices: K choices of sets of these hands.

    Returns:
        [K, 3] int16 numbers of `melds.MELDS`, ascending, then NO_MELD.
    """
    runs = RUN_NUMBERS[_SUIT, lanes(hands[choices.rows] & ~choices.sets)]
    sets = SET_NUMBER[choices.ranks, choices.suits]
    melds = np.concatenate([sets, runs.reshape(len(sets), _MOST_RUNS)], axis=1)
    melds[melds == NO_MELD] = len(MELDS)  # behind all others
    melds.sort(axis=1)
    melds = melds[:, :MAX_MELDS]
    melds[melds == len(MELDS)] = NO_MELD
    return melds


def layoff_potential(
    melds: MeldNumbers, hands: Hands, discards: Hands, deck: np.uint64 = FULL_DECK
) -> Points:
    """Return the points of all cards that could be laid off on an arrangement.

    Cards go one after another; possible is every card that is neither the knocker's nor in the
    discard pile; a card that fits in two places counts once.

    Args:
        melds: [N, 3] int16 numbers of melds.
        hands: [N] uint64, the knocker's cards after the discard.
        discards: [N] uint64, the discard pile, the knock discard included.
        deck: the cards there are, a mask (`Rules.full_deck`).

    Returns:
        [N] int16, points.

    Source: RULES, Settled here.
    """
    unseen = deck & ~hands & ~discards
    runs = np.bitwise_or.reduce(_RUN_MASK[melds], axis=1)
    fourths = np.bitwise_or.reduce(_FOURTH[melds], axis=1)
    return hand_points(spread(runs, unseen) | (fourths & unseen))


def _keep_least(
    values: NDArray[np.integer], rows: NDArray[np.intp], count: int
) -> NDArray[np.intp]:
    """Return the places where a row's value is the least of that row; ``rows`` ascends from 0."""
    starts = rows.searchsorted(np.arange(count))
    return (values == np.minimum.reduceat(values, starts)[rows]).nonzero()[0]


def knocker_arrangement(
    hands: Hands, discards: Hands, deck: np.uint64 = FULL_DECK
) -> tuple[MeldNumbers, Points]:
    """Return how each knocker arranges the cards.

    Least deadwood first; among equals least lay-off potential; then the first in the order of
    `melds.MELDS`, compared meld by meld, where an arrangement that is a prefix of another
    comes first.

    Args:
        hands: [N] uint64, the knocker's cards (eleven at most).
        discards: [N] uint64, the discard pile, the knock discard included.
        deck: the cards there are, a mask (`Rules.full_deck`).

    Returns:
        (melds [N, 3] int16 numbers of `melds.MELDS` ascending, NO_MELD behind; deadwood [N] int16).

    Source: RULES, One deal, 6; RULES, Settled here.
    """
    count = len(hands)
    choices = set_choices(hands, np.arange(count))
    rows = choices.rows
    left = points_left(hands[rows] & ~choices.sets)
    kept = _keep_least(left, rows, count)
    melds, rows = arrangement_of(hands, choices)[kept], rows[kept]
    if len(rows) > count:
        potential = layoff_potential(melds, hands[rows], discards[rows], deck)
        kept = _keep_least(potential, rows, count)
        melds, rows = melds[kept], rows[kept]
    if len(rows) > count:
        place = np.int32(len(MELDS) + 1)
        order = (melds[:, 0] * place + melds[:, 1]) * place + melds[:, 2]
        melds = melds[_keep_least(order, rows, count)]
    return melds, np.minimum.reduceat(left, choices.starts).astype(np.int16)


@dataclass(slots=True)
class Defence:
    """What the defenders do with their cards, one row each."""

    deadwood: Points
    """[N] int16, points left after own melds and lay-offs."""

    melds: MeldNumbers
    """[N, 3] int16, the own melds: numbers ascending, NO_MELD behind."""

    layoffs: Hands
    """[N, 3] uint64, the cards laid off on each of the knocker's melds."""

    deadwood_cards: Hands
    """[N] uint64, the cards that count."""


def _defences(
    hands: Hands, melds: MeldNumbers, allowed: NDArray[np.bool_]
) -> tuple[Choices, Rows, Hands, NDArray[np.uint8], Rows, Hands]:
    """List every way to defend: own sets, and fourth cards that go on the knocker's sets."""
    lays = np.where(allowed, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0))
    fourths = np.sort(_FOURTH[melds] & (hands & lays)[:, None], axis=1)[:, ::-1]
    runs = np.bitwise_or.reduce(_RUN_MASK[melds], axis=1) & lays
    choices = set_choices(hands, np.arange(len(hands)))
    subsets = 1 << (fourths != 0).sum(axis=1)
    owners, numbers, _ = expand(subsets[choices.rows])
    rows = choices.rows[owners]
    laid = np.zeros(len(owners), dtype=np.uint64)
    for place in range(MAX_MELDS):
        laid |= np.where(numbers >> place & 1, fourths[rows, place], np.uint64(0))
    left = points_left((hands[rows] & ~choices.sets[owners] & ~laid) | runs[rows])
    return choices, owners, laid, left, rows, runs


def defender_deadwood(hands: Hands, melds: MeldNumbers, allowed: NDArray[np.bool_]) -> Points:
    """Return what each defender is left with after the best melds and lay-offs together.

    Args:
        hands: [N] uint64, the defender's cards (eleven at most).
        melds: [N, 3] int16, the melds that the knocker laid down.
        allowed: [N] bool, whether the defender may lay off at all.

    Returns:
        [N] int16, points.

    Source: RULES, One deal, 6.
    """
    _, _, _, left, rows, _ = _defences(hands, melds, allowed)
    starts = rows.searchsorted(np.arange(len(hands)))
    return np.minimum.reduceat(left, starts).astype(np.int16)


def defend(hands: Hands, melds: MeldNumbers, allowed: NDArray[np.bool_]) -> Defence:
    """Return in full what each defender melds and lays off (see `defender_deadwood`).

    Where several ways leave as little, the one with the fewest sets and lay-offs on sets is taken,
    in a fixed order; three neighbours of their own are a run rather than laid off.
    """
    choices, owners, laid, left, rows, runs = _defences(hands, melds, allowed)
    kept = _keep_least(left, rows, len(hands))
    first = kept[np.searchsorted(rows[kept], np.arange(len(hands)))]
    owner, laid_on_sets = owners[first], laid[first]
    one = Choices(
        np.arange(len(hands)),
        np.zeros(len(hands), dtype=np.intp),
        np.arange(len(hands)),
        choices.sets[owner],
        choices.ranks[owner],
        choices.suits[owner],
    )
    loose = hands & ~laid_on_sets
    own = arrangement_of(loose, one)
    rest = loose & ~one.sets
    gone = cards_in_runs(rest | runs) & rest
    laid_on_runs = gone & ~cards_in_runs(rest)
    layoffs = np.zeros(melds.shape, dtype=np.uint64)
    for place in range(MAX_MELDS):
        on_run = spread(_RUN_MASK[melds[:, place]], laid_on_runs)
        layoffs[:, place] = on_run | (_FOURTH[melds[:, place]] & laid_on_sets)
        laid_on_runs = laid_on_runs & ~on_run
    return Defence(left[first].astype(np.int16), own, layoffs, rest & ~gone)


def deadwood_cards(hands: Hands, melds: MeldNumbers) -> Hands:
    """Return the cards of each hand that are in none of its melds, [N] uint64."""
    return hands & ~np.bitwise_or.reduce(MELD_MASK[melds], axis=1)
