"""The table of a match: one row per game, whole numbers only, so that sums are exact."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import PASS, TAKE_UPCARD
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.state import NOBODY, BatchState, Outcome, Phase
from ginrummy_env.core.types import Int8, Rows
from ginrummy_env.policy import Forfeit

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
MOST_POINTS = 1_000 + 98
"""Of a deal: the greatest bonus that `Rules` allows, and the most deadwood."""

_COUNTED = (
    "deals",
    "void",
    "steps",  # actions of both
    "knocks",  # deals that ended with cards laid down
    "knock_turns",  # the turns (of both) of these deals, summed
    "knock_turns_squared",
    "knock_moves",  # the same with the passes of the opening, as others count turns
    "knock_moves_squared",
    "knocker_deadwood",  # in these deals, summed
    "defender_deadwood",  # after lay-offs
    "decided",  # deals with a winner
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
        ("forfeit_a", np.int8),  # `Forfeit` by which A lost the game, 0: it did not
        ("forfeit_b", np.int8),
        ("points_a", np.int32),  # points of all deals, without bonuses
        ("points_b", np.int32),
        ("final_a", np.int32),  # with bonuses
        ("final_b", np.int32),
        *((name, np.int32) for name in _SUMS),
    ]
)
"""The columns of a match's table. Not `done`: the game has not been played, all else is 0."""


def flaw(columns: Mapping[str, NDArray[Any]], rules: Rules, max_deals: int, games: int) -> str:
    """Return in words what is impossible in the columns of a table; empty if nothing is.

    Args:
        columns: by name, as they were read from a file.
        rules: of the games.
        max_deals: a game is stopped after this many deals.
        games: all numbers are below this.
    """
    names = GAME.names or ()
    if set(columns) != set(names):
        return f"columns that are missing or unknown: {sorted(set(columns) ^ set(names))}"
    count = len(columns["game"]) if columns["game"].ndim else -1
    for name in names:
        if columns[name].shape != (count,) or columns[name].dtype != GAME[name]:
            return f"{name}: {columns[name].dtype} {columns[name].shape}, {GAME[name]} is needed"
    table = {name: columns[name].astype(np.int64) for name in names}
    number, seat = table["game"], table["seat_a"]
    sides = {name: [table[f"{name}_{side}"] for side in SIDES] for name in _COUNTED_BY_SIDE}
    points = np.stack([table["points_a"], table["points_b"]], axis=1)
    deals_won = np.stack(sides["deals_won"], axis=1)
    winner, reached = table["winner"], points >= rules.target
    forfeits = np.stack([table["forfeit_a"], table["forfeit_b"]], axis=1)
    forfeited = (forfeits < 0).any(axis=1)
    knocks, decided, deals = table["knocks"], table["decided"], table["deals"]
    wrong = {
        "a game that is not over": ~columns["done"],
        "a game's number": (number < 0) | (number >= games),
        "seat_a": seat != number % 2,
        "first_dealer": (table["first_dealer"] < 0) | (table["first_dealer"] > 1),
        "winner": (winner < -1) | (winner > 1),
        "the winner's points": np.where(
            winner < 0, reached.any(axis=1), ~(reached & (np.arange(2) == winner[:, None])).any(1)
        )
        & ~forfeited,
        "forfeits": (forfeits > 0).any(axis=1)
        | (forfeits < min(Forfeit)).any(axis=1)
        | (forfeits < 0).all(axis=1)
        | (forfeited & (winner != (forfeits[:, 0] < 0))),
        "deals": (deals < ~forfeited) | (deals > max_deals),
        "a number below 0": np.min([table[name] for name in _SUMS], axis=0) < 0,
        "points": (
            (points < 0)
            | (points > MOST_POINTS * deals_won)
            | (points >= rules.target + MOST_POINTS)
        ).any(axis=1),
        "knocks": (knocks + table["void"] != deals) | (decided > knocks),
        "deals won": (deals_won.sum(axis=1) != decided) | (table["starter_won"] > decided),
        "ways to end": sum(sum(sides[name]) for name in KNOCKER_OUTCOMES.values()) != knocks,
        "openings": np.max(
            [
                take > offer
                for take, offer in zip(sides["opening_takes"], sides["opening_offers"], strict=True)
            ],
            axis=0,
        ),
    }
    for words, rows in wrong.items():
        if np.any(rows):
            return f"{words}: row {int(np.flatnonzero(rows)[0])}"
    final = final_scores(points.astype(np.int16), deals_won.astype(np.int32), rules)
    if (final != np.stack([table["final_a"], table["final_b"]], axis=1)).any():
        return "final scores that do not follow from the points"
    if len(np.unique(number)) != count:
        return "a game that appears twice"
    return ""


def empty_table(games: int) -> Table:
    """Return a table of games that have not been played, numbered from 0."""
    table = np.zeros(games, dtype=GAME)
    table["game"] = np.arange(games)
    table["seat_a"] = table["game"] % 2
    return table


@dataclass(slots=True)
class _Deals:
    """Deals that ended in one step, [K] each: what is to be counted of them."""

    place: Rows
    dealer: Int8
    first: NDArray[np.bool_]
    outcome: Int8
    winner: Int8
    knocker: Int8
    turn: NDArray[np.int32]
    steps: NDArray[np.int32]
    knocker_deadwood: NDArray[np.int16]
    defender_deadwood: NDArray[np.int16]
    opening: NDArray[np.uint8]  # [K, 2] the first two actions


class Tally:
    """Counts what happens in games, from each one's start to its end.

    A step ends a few deals only, and to count them one step at a time would cost as much as to play
    them. So steps are noted as they are, and counted together when the table is asked for.
    """

    def __init__(self, games: NDArray[np.int64], rules: Rules) -> None:
        """Start to count the games with these numbers; ``rules`` are for the bonuses."""
        self._rules = rules
        self._table = np.zeros(len(games), dtype=GAME)
        self._table["game"] = games
        self._table["seat_a"] = games % 2
        self._sums = np.zeros((len(games), len(_SUMS)), dtype=np.int32)
        self._deals: list[_Deals] = []
        self._ended: list[tuple[Rows, NDArray[np.int16], Int8]] = []

    def note_deals(self, state: BatchState, rows: Rows, places: Rows) -> None:
        """Note deals that have just ended.

        Args:
            state: the batch.
            rows: [K] rows whose deal is over.
            places: [K] the places of their games among those counted here.
        """
        self._deals.append(
            _Deals(
                places,
                state.dealer[rows],
                state.deal_number[rows] == 0,
                state.outcome[rows],
                state.winner[rows],
                state.knocker[rows],
                state.turn[rows],
                state.step_count[rows],
                state.knocker_deadwood[rows],
                state.defender_deadwood[rows],
                state.history[rows, :2],
            )
        )

    def note_games(self, state: BatchState, rows: Rows, places: Rows) -> None:
        """Note games that have just ended, their last deal having been noted; see `note_deals`."""
        self._ended.append((places, state.scores[rows], state.phase[rows]))

    def note_forfeits(
        self,
        state: BatchState,
        rows: Rows,
        places: Rows,
        players: Int8,
        kinds: NDArray[np.int16],
    ) -> None:
        """Note games that a fault has ended: the other player wins with the points of the moment.

        Args:
            state: the batch.
            rows: [K] rows in which the mover forfeits.
            places: [K] where their games stand among those counted here.
            players: [K] 0 or 1, who forfeits.
            kinds: [K] `Forfeit`.
        """
        side = players ^ self._table["seat_a"][places]
        for number, name in enumerate(SIDES):
            mine = side == number
            self._table[f"forfeit_{name}"][places[mine]] = kinds[mine]
        self.note_games(state, rows, places)

    def collect(self) -> tuple[Rows, Table]:
        """Return the games that have ended since this was last called.

        Returns:
            (places [K] among those counted here, rows of the table [K]).
        """
        self._count()
        if not self._ended:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=GAME)
        places, by_seat, phase = (np.concatenate(parts) for parts in zip(*self._ended, strict=True))
        self._ended = []
        table = self._table[places]
        for name, column in _COLUMN.items():
            table[name] = self._sums[places, column]
        order = np.stack([table["seat_a"], 1 - table["seat_a"]], axis=1)
        scores = np.take_along_axis(by_seat, order, axis=1)
        deals_won = np.stack([table["deals_won_a"], table["deals_won_b"]], axis=1)
        final = final_scores(scores, deals_won, self._rules)
        table["done"] = True
        won = scores.argmax(axis=1)
        table["winner"] = np.where(phase == Phase.GAME_OVER, won, NOBODY)
        for number, side in enumerate(SIDES):
            table["winner"][table[f"forfeit_{side}"] < 0] = 1 - number
        for number, side in enumerate(SIDES):
            table[f"points_{side}"] = scores[:, number]
            table[f"final_{side}"] = final[:, number]
        return places, table

    def _count(self) -> None:
        """Add the deals noted to the sums of their games."""
        if not self._deals:
            return
        deals = _Deals(
            *(
                np.concatenate([getattr(part, each.name) for part in self._deals])
                for each in fields(_Deals)
            )
        )
        self._deals = []
        seat_a = self._table["seat_a"][deals.place]
        first = deals.first
        self._table["first_dealer"][deals.place[first]] = (deals.dealer ^ seat_a)[first]
        counts = np.stack([_count(name, deals, seat_a) for name in _SUMS], axis=1)
        order = deals.place.argsort(kind="stable")
        places = deals.place[order]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        self._sums[places[starts]] += np.add.reduceat(counts[order], starts, axis=0)


def _count(name: str, deals: _Deals, seat_a: Int8) -> NDArray[np.int32]:
    """Return what each deal adds to a column, [K] int32."""
    laid = deals.outcome != Outcome.VOID
    turns = deals.turn
    starter = 1 - deals.dealer
    passed = deals.opening[:, 0] == PASS
    moves = turns + passed + (passed & (deals.opening[:, 1] == PASS))
    kind, _, side = name.rpartition("_")
    if name in _COUNTED:
        count: NDArray[Any] = {
            "deals": np.ones(len(laid)),
            "void": ~laid,
            "steps": deals.steps,
            "knocks": laid,
            "knock_turns": laid * turns,
            "knock_turns_squared": laid * turns**2,
            "knock_moves": laid * moves,
            "knock_moves_squared": laid * moves**2,
            "knocker_deadwood": laid * deals.knocker_deadwood,
            "defender_deadwood": laid * deals.defender_deadwood,
            "decided": deals.winner != NOBODY,
            "starter_won": deals.winner == starter,
        }[name]
        return count.astype(np.int32)
    seat = seat_a ^ SIDES.index(side)
    if kind == "deals_won":
        count = deals.winner == seat
    elif kind == "opening_offers":
        count = (starter == seat) | passed
    elif kind == "opening_takes":
        action = np.where(starter == seat, deals.opening[:, 0], deals.opening[:, 1])
        count = (action == TAKE_UPCARD) & ((starter == seat) | passed)
    else:
        code = next(outcome for outcome, word in KNOCKER_OUTCOMES.items() if word == kind)
        by = deals.winner if code == Outcome.UNDERCUT else deals.knocker
        count = (deals.outcome == code) & (by == seat)
    return count.astype(np.int32)
