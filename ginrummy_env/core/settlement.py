"""The end of a deal: hands laid down, lay-offs, points, and what is written into the state.

`settle` and `void_deals` end deals in play. `lay_down` and `deal_ends` give in full how they ended,
for views, records and infos.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import cards_of
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.deal import doubled
from ginrummy_env.core.layoff import (
    Defence,
    deadwood_cards,
    defend,
    defender_deadwood,
    knocker_arrangement,
)
from ginrummy_env.core.melds import MELDS, NO_MELD
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import DEFENDER, KNOCKER, NO_SIDE, score_gin, score_knock
from ginrummy_env.core.state import NOBODY, BatchState, Outcome, Phase, pile_mask
from ginrummy_env.core.types import Flags, Hands, Int8, MeldNumbers, Points, Rows


def may_lay_off(knocker_deadwood: Points, rules: Rules) -> Flags:
    """Return whether the defender lays off, [N] bool: always, or not on gin.

    Source: RULES, One deal, 6; RULES, Settings (``layoff_on_gin``).
    """
    return (knocker_deadwood > 0) | rules.layoff_on_gin


def settle(state: BatchState, rows: Rows, rules: Rules) -> None:
    """Lay down and score deals whose player to move has knocked. Changes ``state`` in place.

    Args:
        state: the batch; in these rows the knock discard lies on the pile already.
        rows: [K] row numbers, none twice.
        rules: the settings.

    Source: RULES, One deal, 6; RULES, Scoring a deal.
    """
    knocker = state.player[rows]
    hands = state.hands.reshape(-1)
    knocking, defending = hands[2 * rows + knocker], hands[2 * rows + 1 - knocker]
    melds, left = knocker_arrangement(
        knocking,
        pile_mask(state.first_upcard[rows], state.discarded[rows], state.known[rows]),
        rules.full_deck,
    )
    defender = defender_deadwood(defending, melds, may_lay_off(left, rules))
    alone = np.zeros(len(rows), dtype=np.int16)
    gins = (left == 0).nonzero()[0]
    if gins.size:
        alone[gins] = deadwood(defending[gins])
    big = np.bitwise_count(knocking) > rules.hand_size
    side, points, outcome = score_laid_down(left, defender, alone, big, rules)
    if rules.oklahoma:
        points = np.where(doubled(state.first_upcard[rows], rules), 2 * points, points)
    winner = np.where(side == NO_SIDE, _NOBODY, knocker ^ (side == DEFENDER))
    state.knocker[rows] = knocker
    state.knocker_deadwood[rows] = left
    state.defender_deadwood[rows] = defender
    state.outcome[rows] = outcome
    book(state, rows, winner, points, rules)


def score_laid_down(
    knocker: Points, defender: Points, alone: Points, big: Flags, rules: Rules
) -> tuple[Int8, Points, Int8]:
    """Return who wins deals that somebody has ended, by how much, and what they are called.

    Args:
        knocker: [N] int16, the knocker's deadwood.
        defender: [N] int16, the defender's after lay-offs.
        alone: [N] int16, the defender's without lay-offs; read after gin only.
        big: [N] bool, whether gin is big gin; read after gin only.
        rules: the settings. A spade that doubles the points is not looked at.

    Returns:
        (side [N] int8: KNOCKER, NO_SIDE or DEFENDER; points [N] int16; Outcome [N] int8).

    Source: RULES, Scoring a deal.
    """
    side, points = score_knock(knocker, defender, rules)
    outcome = _OUTCOME_OF_SIDE.take(side, mode="wrap")
    gins = (knocker == 0).nonzero()[0]
    if gins.size:
        side[gins], points[gins], answered = score_gin(
            defender[gins], alone[gins], big[gins], rules
        )
        outcome[gins] = np.where(big[gins], Outcome.BIG_GIN, Outcome.GIN)
        outcome[gins[answered]] = Outcome.GIN_ANSWERED
    return side, points, outcome


_NOBODY = np.int8(NOBODY)
_OUTCOME_OF_SIDE = np.zeros(3, dtype=np.int8)
_OUTCOME_OF_SIDE[[KNOCKER, NO_SIDE, DEFENDER]] = Outcome.KNOCK, Outcome.EQUAL, Outcome.UNDERCUT
_DEAL_OVER, _GAME_OVER = np.int8(Phase.DEAL_OVER), np.int8(Phase.GAME_OVER)


def void_deals(state: BatchState, rows: Rows, rules: Rules) -> None:
    """End deals that nobody wins because of the stock or the turn bound. Changes ``state``."""
    state.outcome[rows] = Outcome.VOID
    nobody = np.full(len(rows), NOBODY, dtype=np.int8)
    book(state, rows, nobody, np.zeros(len(rows), dtype=np.int16), rules)


def void_reasons(state: BatchState, rules: Rules) -> list[str | None]:
    """Return why each deal is void: "bound", "stock", or None where it is not.

    If both come in one turn it is the bound.
    """
    bound = np.zeros(len(state), dtype=np.bool_)
    if rules.turn_bound is not None:
        bound = state.turn >= rules.turn_bound
    return [
        None if outcome != Outcome.VOID else "bound" if by_bound else "stock"
        for outcome, by_bound in zip(state.outcome.tolist(), bound.tolist(), strict=True)
    ]


def book(state: BatchState, rows: Rows, winner: Int8, points: Points, rules: Rules) -> None:
    """Write the results of deals that are over. Changes ``state`` in place.

    Args:
        state: the batch.
        rows: [K] row numbers, none twice.
        winner: [K] 0, 1 or NOBODY.
        points: [K] int16, the winner's.
        rules: the target.

    Source: RULES, The game.
    """
    state.winner[rows] = winner
    state.points[rows] = points
    won = (winner != NOBODY).nonzero()[0]
    if won.size:
        places = 2 * rows[won] + winner[won]
        state.scores.reshape(-1)[places] += points[won]
        state.deals_won.reshape(-1)[places] += 1
    over = (state.scores[rows] >= rules.target).any(axis=1)
    state.phase[rows] = np.where(over, _GAME_OVER, _DEAL_OVER)


# How deals ended, in full


@dataclass(slots=True)
class LaidDown:
    """What lies on the table at the end of deals that somebody ended."""

    knocker_melds: MeldNumbers
    """[N, 3] int16 numbers of `melds.MELDS`, NO_MELD behind."""

    knocker_left: Hands
    """[N] uint64, the knocker's cards that are in no meld."""

    defence: Defence
    """The defender's melds, lay-offs and what is left of their cards."""


def lay_down(hands: Hands, knocker: Int8, discards: Hands, rules: Rules) -> LaidDown:
    """Return the melds and lay-offs of deals that ended with a knock, gin or big gin.

    Args:
        hands: [N, 2] uint64, the hands of players 0 and 1 (or of a viewer and the opponent).
        knocker: [N] which of the two knocked, 0 or 1.
        discards: [N] uint64, the discard pile.
        rules: the settings.

    Raises:
        ValueError: a deal in which nobody has knocked.

    Source: RULES, One deal, 6.
    """
    if (knocker == NOBODY).any():
        row = int((knocker == NOBODY).nonzero()[0][0])
        raise ValueError(f"row {row}: nobody has knocked, so nothing is laid down")
    knocking = np.where(knocker == 0, hands[:, 0], hands[:, 1])
    defending = np.where(knocker == 0, hands[:, 1], hands[:, 0])
    melds, left = knocker_arrangement(knocking, discards, rules.full_deck)
    defence = defend(defending, melds, may_lay_off(left, rules))
    return LaidDown(melds, deadwood_cards(knocking, melds), defence)


@dataclass(frozen=True, slots=True, kw_only=True)
class DealEnd:
    """How a deal ended, in plain values. Pairs are by player; a void deal lays nothing down."""

    outcome: Outcome
    winner: int
    """0, 1 or NOBODY."""
    points: int
    """The winner's points of this deal."""
    scores: tuple[int, int]
    """Points of the game with this deal."""
    deals_won: tuple[int, int]
    """Deals of the game won, this one included."""
    void_reason: str | None = None
    """ "stock", "bound", or None if the deal is not void."""
    knocker: int = NOBODY
    """0, 1 or NOBODY."""
    melds: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]] = ((), ())
    layoffs: tuple[tuple[int, ...], ...] = ()
    """The defender's, on each of the knocker's melds."""
    deadwood_cards: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    deadwood: tuple[int, int] = (-1, -1)
    """In points, after lay-offs; -1 if nobody knocked."""


def deal_ends(state: BatchState, rules: Rules) -> list[DealEnd | None]:
    """Return how each deal ended, or None where it is not over."""
    ends: list[DealEnd | None] = [None] * len(state)
    reasons = void_reasons(state, rules)
    knocked = (state.knocker != NOBODY).nonzero()[0]
    places = dict(zip(knocked.tolist(), range(len(knocked)), strict=True))
    some = state.select(knocked)
    laid = lay_down(some.hands, some.knocker, some.discards, rules)
    for row in (state.over & (state.outcome != Outcome.NONE)).nonzero()[0].tolist():
        scores, won = state.scores[row].tolist(), state.deals_won[row].tolist()
        end: dict[str, Any] = {
            "outcome": Outcome(int(state.outcome[row])),
            "winner": int(state.winner[row]),
            "points": int(state.points[row]),
            "scores": (scores[0], scores[1]),
            "deals_won": (won[0], won[1]),
            "void_reason": reasons[row],
        }
        if row in places:
            end |= _on_the_table(some, laid, places[row])
        ends[row] = DealEnd(**end)
    return ends


def _on_the_table(state: BatchState, laid: LaidDown, row: int) -> dict[str, Any]:
    """Return the fields of a `DealEnd` that say what was laid down."""
    knocker = int(state.knocker[row])
    # Pairs for knocker and defender, which are then put in the order of the players.
    melds = _melds(laid.knocker_melds[row]), _melds(laid.defence.melds[row])
    left = cards_of(laid.knocker_left[row]), cards_of(laid.defence.deadwood_cards[row])
    deadwood = int(state.knocker_deadwood[row]), int(state.defender_deadwood[row])
    order = -1 if knocker else 1
    return {
        "knocker": knocker,
        "melds": melds[::order],
        "layoffs": tuple(
            tuple(cards_of(cards)) for cards in laid.defence.layoffs[row, : len(melds[0])]
        ),
        "deadwood_cards": tuple(map(tuple, left))[::order],
        "deadwood": deadwood[::order],
    }


def _melds(numbers: NDArray[np.int16]) -> tuple[tuple[int, ...], ...]:
    return tuple(MELDS[number] for number in numbers.tolist() if number != NO_MELD)
