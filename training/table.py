"""What a match keeps of its games: one row a game, whole numbers only, so that sums are exact."""

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import PASS, TAKE_UPCARD
from ginrummy_env.core.cards import Rows
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.state import NOBODY, BatchState, Outcome, Phase

Table = NDArray[np.void]

SIDES = ("a", "b")
"""The agents of a match, in the order of columns that come twice."""

KNOCKER_OUTCOMES = {
    Outcome.GIN: "gin",
    Outcome.BIG_GIN: "big_gin",
    Outcome.KNOCK: "knock",
    Outcome.UNDERCUT: "undercut",
    Outcome.EQUAL: "equal",
    Outcome.GIN_ANSWERED: "gin_answered",
}
"""How a deal ends after somebody lays down, and its columns. ``undercut_a``: A undercut B; in all
others the side is the one who laid down."""

_COUNTED_BY_SIDE = (
    "deals_won",
    *KNOCKER_OUTCOMES.values(),
    "opening_offers",  # times that the first upcard was offered
    "opening_takes",
)
_COUNTED = (
    "deals",
    "void",
    "steps",  # actions of both
    "knocks",  # deals that ended with cards laid down
    "knock_turns",  # the turns (of both) of these deals, summed
    "knock_turns_squared",
    "knocker_deadwood",  # in these deals, summed
    "defender_deadwood",  # after lay-offs
    "decided",  # deals that somebody won
    "starter_won",  # of these, deals won by the non-dealer
)
_SUMS = (*_COUNTED, *(f"{name}_{side}" for name in _COUNTED_BY_SIDE for side in SIDES))
_COLUMN = {name: number for number, name in enumerate(_SUMS)}

GAME = np.dtype(
    [
        ("game", np.int64),  # its number in the match; its decks are those of pair game // 2
        ("done", np.bool_),
        ("seat_a", np.int8),  # where A sits: game % 2
        ("first_dealer", np.int8),  # 0: A, 1: B
        ("winner", np.int8),  # 0: A, 1: B, -1: stopped after too many deals
        ("points_a", np.int16),  # points of all deals, without bonuses
        ("points_b", np.int16),
        ("final_a", np.int16),  # with bonuses
        ("final_b", np.int16),
        *((name, np.int32) for name in _SUMS),
    ]
)
"""The columns of a match's table. Not `done`: the game has not been played, all else is 0."""


def empty_table(games: int) -> Table:
    """Return a table of games that have not been played, numbered from 0."""
    table = np.zeros(games, dtype=GAME)
    table["game"] = np.arange(games)
    table["seat_a"] = table["game"] % 2
    return table


class Tally:
    """Counts what happens in the rows of a batch, from each game's start to its end."""

    def __init__(self, rows: int) -> None:
        """Start with ``rows`` games that have no deal yet."""
        self._sums = np.zeros((rows, len(_SUMS)), dtype=np.int32)

    def select(self, rows: Rows) -> None:
        """Keep the given rows only, in their order."""
        self._sums = self._sums[rows]

    def add_deals(self, state: BatchState, rows: Rows, seat_a: NDArray[np.int8]) -> None:
        """Count deals that have just ended.

        Args:
            state: the batch.
            rows: [K] rows whose deal is over, none twice.
            seat_a: [N] the seat of A in each row of the batch.
        """
        sums = self._sums

        def add(name: str, where: Rows, amount: NDArray[np.generic] | int = 1) -> None:
            sums[where, _COLUMN[name]] += amount

        seats = seat_a[rows]
        outcome = state.outcome[rows]
        winner = state.winner[rows]
        turns = state.turn[rows].astype(np.int32)
        add("deals", rows)
        add("steps", rows, state.step_count[rows])
        add("void", rows[outcome == Outcome.VOID])
        down = outcome != Outcome.VOID
        laid = rows[down]
        add("knocks", laid)
        add("knock_turns", laid, turns[down])
        add("knock_turns_squared", laid, turns[down] ** 2)
        add("knocker_deadwood", laid, state.knocker_deadwood[laid])
        add("defender_deadwood", laid, state.defender_deadwood[laid])
        decided = winner != NOBODY
        add("decided", rows[decided])
        starter = 1 - state.dealer[rows]
        add("starter_won", rows[decided & (winner == starter)])
        opened = state.history[rows, :2]
        passed = opened[:, 0] == PASS
        took_later = passed & (opened[:, 1] == TAKE_UPCARD)
        for number, side in enumerate(SIDES):
            seat = seats ^ number
            add(f"deals_won_{side}", rows[winner == seat])
            ended_by = np.where(outcome == Outcome.UNDERCUT, winner, state.knocker[rows])
            for kind, name in KNOCKER_OUTCOMES.items():
                add(f"{name}_{side}", rows[(outcome == kind) & (ended_by == seat)])
            starts = starter == seat
            add(f"opening_offers_{side}", rows[starts | passed])
            took = np.where(starts, opened[:, 0] == TAKE_UPCARD, took_later)
            add(f"opening_takes_{side}", rows[took])

    def finish(
        self,
        state: BatchState,
        rows: Rows,
        games: NDArray[np.int64],
        first_dealer: NDArray[np.int8],
        rules: Rules,
    ) -> Table:
        """Return the table's rows of games that are over, and start counting anew in their rows.

        Args:
            state: the batch.
            rows: [K] rows, none twice.
            games: [K] their numbers in the match.
            first_dealer: [K] the seat that dealt first.
            rules: for the bonuses.
        """
        table = np.zeros(len(rows), dtype=GAME)
        seats = (games % 2).astype(np.int8)
        order = np.stack([seats, 1 - seats], axis=1)
        scores = np.take_along_axis(state.scores[rows], order, axis=1)
        won = np.take_along_axis(state.deals_won[rows], order, axis=1)
        final = final_scores(scores, won, rules)
        table["game"], table["done"], table["seat_a"] = games, True, seats
        table["first_dealer"] = first_dealer ^ seats
        over = state.phase[rows] == Phase.GAME_OVER
        table["winner"] = np.where(over, scores[:, 1] > scores[:, 0], NOBODY)
        for number, side in enumerate(SIDES):
            table[f"points_{side}"] = scores[:, number]
            table[f"final_{side}"] = final[:, number]
        for name, column in _COLUMN.items():
            table[name] = self._sums[rows, column]
        self._sums[rows] = 0
        return table
