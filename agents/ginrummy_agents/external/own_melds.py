"""Deals settled by the players' own melds and a greedy lay-off, as the AAAI-21 challenge does it.

The rules of this project settle exactly: the knocker's melds are the best ones, and the defender's
melds and lay-offs are chosen together. In the challenge each player chooses melds, and then the
defender's unmelded cards are laid off one by one wherever they fit. `settle_again` scores deals in
that way, after the rules have ended them.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import (
    CARD_BIT,
    HAND_SIZE,
    NUM_RANKS,
    NUM_SUITS,
    SUIT_LETTERS,
    format_hand,
    hand_of,
    hand_points,
)
from ginrummy_env.core.deal import doubled
from ginrummy_env.core.layoff import knocker_arrangement
from ginrummy_env.core.melds import ALL_SETS, MELD_MASK, MIN_MELD, NO_MELD
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import DEFENDER, KNOCKER
from ginrummy_env.core.settlement import book, may_lay_off, score_laid_down
from ginrummy_env.core.state import NOBODY, BatchState, pile_mask
from ginrummy_env.core.types import Int8, Rows
from ginrummy_env.policy import Forfeit, Melds, Showdown

_BITS = [
    int(CARD_BIT[SUIT_LETTERS.index(suit) * NUM_RANKS + rank])
    for suit in "chsd"
    for rank in range(NUM_RANKS)
]
"""All cards as masks, in the order in which the challenge tries to lay them off."""

_RUNS = frozenset(
    sum(int(CARD_BIT[suit * NUM_RANKS + rank]) for rank in range(low, high))
    for suit in range(NUM_SUITS)
    for low in range(NUM_RANKS)
    for high in range(low + MIN_MELD, NUM_RANKS + 1)
)
_MELDS = _RUNS | {int(hand_of(cards)) for cards in ALL_SETS}

MOST_DEADWOOD = HAND_SIZE * 10

Answers = Sequence[Melds | Forfeit | None]
"""What players lay down; None: they leave it to the host."""

LayDown = Callable[[Rows, Int8, Sequence[Melds] | None], Answers]
"""Called with [K] rows, the players in them, and what the knockers have laid down (None: these
players are the knockers)."""


def is_meld(cards: int) -> bool:
    """Return whether cards, as a mask, are one meld; a run may have any length.

    >>> from ginrummy_env.core.cards import parse_hand
    >>> [is_meld(int(parse_hand(text))) for text in ("3s 4s 5s 6s 7s 8s", "3s 4s", "Kd Kh Ks")]
    [True, False, True]
    """
    return cards in _MELDS


def flaw(melds: Melds, hand: int, limit: int = MOST_DEADWOOD) -> str:
    """Return in words what is wrong with melds that are laid down; empty if nothing is.

    Args:
        melds: masks of cards.
        hand: the player's cards, the knock discard taken out.
        limit: of a knocker's deadwood; a defender's may be anything.
    """
    left = hand
    for meld in melds:
        if not is_meld(meld):
            return f"laid down {format_hand(meld)}, which is not a meld"
        if meld & left != meld:
            missing = format_hand(meld & ~left)
            return f"laid down {format_hand(meld)}, but {missing} is not there to be melded"
        left &= ~meld
    points = _points(left)
    if points > limit:
        return f"knocked with melds that leave {points} points, more than {limit}"
    return ""


def greedy_layoffs(cards: int, melds: Melds) -> tuple[int, ...]:
    """Return which cards are laid off on each meld: one after another, wherever one fits first.

    Args:
        cards: the defender's unmelded cards, as a mask.
        melds: the knocker's.

    >>> from ginrummy_env.core.cards import parse_hand
    >>> run = int(parse_hand("5h 6h 7h"))
    >>> [format_hand(each) for each in greedy_layoffs(int(parse_hand("Kc 3h 4h 8h")), (run,))]
    ['3h 4h 8h']
    """
    grown = list(melds)
    waiting = [bit for bit in _BITS if cards & bit]
    while True:
        for bit in waiting:
            place = next((at for at, meld in enumerate(grown) if meld | bit in _MELDS), None)
            if place is not None:
                grown[place] |= bit
                waiting.remove(bit)
                break
        else:
            return tuple(full & ~meld for full, meld in zip(grown, melds, strict=True))


def settle_again(
    state: BatchState, rows: Rows, rules: Rules, lay_down: LayDown
) -> tuple[list[Showdown], Rows, Int8, NDArray[np.int16]]:
    """Settle deals by what the players lay down. Changes ``state`` in place.

    Who leaves it to the host lays down the melds of least deadwood, as knocker and as defender.

    Args:
        state: the batch.
        rows: [K] rows in which a knock has just ended the deal.
        rules: of the games.
        lay_down: asks players for their melds.

    Raises:
        ValueError: melds that cannot be laid down.

    Returns:
        (what lies on the table in the rows that remain; these rows' forfeits: places [F] among
        ``rows``, players [F] and kinds [F] `Forfeit`). A deal that is forfeited is not scored.
    """
    knocker = state.knocker[rows]
    _unbook(state, rows)
    first = lay_down(rows, knocker, None)
    places, players, kinds = _forfeits(first, knocker)
    kept = np.setdiff1d(np.arange(len(rows)), places)
    knocked = _filled([first[place] for place in kept], state, rows[kept], knocker[kept], rules)
    second = lay_down(rows[kept], 1 - knocker[kept], knocked)
    more, others, reasons = _forfeits(second, 1 - knocker[kept])
    left = np.setdiff1d(np.arange(len(kept)), more)
    defended = _filled(
        [second[place] for place in left], state, rows[kept[left]], 1 - knocker[kept[left]], rules
    )
    shown = _score(state, rows[kept[left]], rules, [knocked[place] for place in left], defended)
    return (
        shown,
        np.concatenate([places, kept[more]]),
        np.concatenate([players, others]),
        np.concatenate([kinds, reasons]),
    )


def _unbook(state: BatchState, rows: Rows) -> None:
    """Take back the points that these deals have brought."""
    won = np.flatnonzero(state.winner[rows] != NOBODY)
    places = 2 * rows[won] + state.winner[rows[won]]
    state.scores.reshape(-1)[places] -= state.points[rows[won]]
    state.deals_won.reshape(-1)[places] -= 1


def _forfeits(answers: Answers, players: Int8) -> tuple[Rows, Int8, NDArray[np.int16]]:
    found = [place for place, answer in enumerate(answers) if isinstance(answer, Forfeit)]
    places = np.array(found, dtype=np.intp)
    return places, players[places], np.array([answers[place] for place in found], dtype=np.int16)


def _filled(
    answers: Sequence[Melds | Forfeit | None],
    state: BatchState,
    rows: Rows,
    players: Int8,
    rules: Rules,
) -> list[Melds]:
    """Return melds for all: those of least deadwood where the player left it to the host.

    Raises:
        ValueError: melds that cannot be laid down.
    """
    hands = state.hands.reshape(-1)[2 * rows + players]
    if not len(rows):
        return []
    piles = pile_mask(state.first_upcard[rows], state.discarded[rows], state.known[rows])
    best, _ = knocker_arrangement(hands, piles, rules.full_deck)
    found: list[Melds] = []
    limits = np.where(players == state.knocker[rows], state.knock_limit[rows], MOST_DEADWOOD)
    for numbers, answer, hand, limit in zip(best, answers, hands, limits, strict=True):
        assert not isinstance(answer, Forfeit)
        if answer is not None and (wrong := flaw(answer, int(hand), int(limit))):
            raise ValueError(f"a player {wrong}")
        ours = tuple(int(MELD_MASK[number]) for number in numbers if number != NO_MELD)
        found.append(joined(ours) if answer is None else answer)
    return found


def joined(melds: Melds) -> Melds:
    """Return melds with neighbouring runs of a suit as one: the core cuts runs longer than five.

    >>> from ginrummy_env.core.cards import parse_hand
    >>> [format_hand(each) for each in joined(tuple(int(parse_hand(text)) for text in
    ...     ("3s 4s 5s", "Kd Kh Ks", "6s 7s 8s")))]
    ['3s 4s 5s 6s 7s 8s', 'Ks Kh Kd']
    """
    found: list[int] = []
    for meld in sorted(melds):
        at = next((at for at, other in enumerate(found) if meld | other in _RUNS), None)
        if at is None:
            found.append(meld)
        else:
            found[at] |= meld
    return tuple(found)


def _score(
    state: BatchState, rows: Rows, rules: Rules, knocked: list[Melds], defended: list[Melds]
) -> list[Showdown]:
    """Score and book deals, and return what lies on the table."""
    hands = state.hands.reshape(-1)
    knocker = state.knocker[rows]
    knocking, defending = hands[2 * rows + knocker], hands[2 * rows + 1 - knocker]
    left = _points_left(knocking, knocked)
    allowed = may_lay_off(left, rules)
    shown, alone, after = [], [], []
    for hand, allows, melds, own in zip(
        defending.tolist(), allowed.tolist(), knocked, defended, strict=True
    ):
        unmelded = hand & ~sum(own)
        laid = greedy_layoffs(unmelded, melds) if allows else (0,) * len(melds)
        shown.append(Showdown(melds, own, laid))
        alone.append(_points(unmelded))
        after.append(_points(unmelded & ~sum(laid)))
    defender = np.array(after, dtype=np.int16)
    big = np.bitwise_count(knocking) > rules.hand_size
    side, points, outcome = score_laid_down(
        left, defender, np.array(alone, dtype=np.int16), big, rules
    )
    points = np.where(doubled(state.first_upcard[rows], rules), 2 * points, points)
    winner = np.select([side == KNOCKER, side == DEFENDER], [knocker, 1 - knocker], NOBODY)
    state.knocker_deadwood[rows] = left
    state.defender_deadwood[rows] = defender
    state.outcome[rows] = outcome
    book(state, rows, winner.astype(np.int8), points.astype(np.int16), rules)
    return shown


def _points_left(hands: NDArray[np.uint64], melds: Sequence[Melds]) -> NDArray[np.int16]:
    left = [hand & ~sum(own) for hand, own in zip(hands.tolist(), melds, strict=True)]
    return hand_points(np.array(left, dtype=np.uint64))


def _points(cards: int) -> int:
    return int(hand_points(np.array([cards], dtype=np.uint64))[0])
