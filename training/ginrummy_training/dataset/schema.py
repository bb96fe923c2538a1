"""Decisions as rows: what the mover saw, in few bytes, and what came of it. NumPy only.

`COLUMNS` is the only description: shards are written, read, documented (docs/DATA.md) and tested
from it. A row is one decision. What its view showed is in the columns of `SEEN` and nowhere else,
so a learner that reads only these knows no more than the mover did; the columns of `LATER` are the
outcome. `view_of` rebuilds the view, equal in every field to that of the game.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, NO_ACTION, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT, NO_CARD, NUM_CARDS
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY, Outcome
from ginrummy_env.core.types import Hands
from ginrummy_env.core.view import ME, OPPONENT, View

Columns = dict[str, NDArray[Any]]
"""Rows by column. ``history`` is [N, H] uint8, NO_ACTION behind each row's end."""

WHICH, SEEN, DONE, LATER = "which", "seen", "done", "later"
"""Kinds of columns: which row this is; what the mover saw; what the mover did, and its values;
what was known only later."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the positions."""

    name: str
    dtype: str
    """Name of the type in Arrow."""
    who: str
    """WHICH, SEEN, DONE or LATER."""
    text: str


_CARDS = "set of cards"


def _by_both(name: str, text: str) -> list[Column]:
    """Return a column for the mover and one for the opponent."""
    return [
        Column(f"{whose}_{name}", "uint64", SEEN, f"{_CARDS}: {text.format(who)}")
        for whose, who in (("my", "the mover"), ("opponent", "the opponent"))
    ]


_MASKS = ("known", "taken", "discarded", "declined")

COLUMNS: tuple[Column, ...] = (
    Column("game", "int64", WHICH, "number of the game; its decks are those of pair game // 2"),
    Column("deal", "int32", SEEN, "number of the deal in its game, from 0"),
    Column("step", "int16", SEEN, "actions by both players in this deal before this one"),
    Column("player", "int8", SEEN, "seat of the mover, 0 or 1; agent A sits at game % 2"),
    Column("agent", "dictionary", WHICH, "the agent that decided, as named in the command"),
    Column("phase", "int8", SEEN, "kind of decision: 0 first upcard, 1 only the stock is left to "
           "draw from, 2 draw, 3 discard or knock, 4 last upcard when the stock has run out"),
    Column("is_dealer", "bool", SEEN, "whether the mover dealt"),
    Column("turn", "int16", SEEN, "discards by both players in this deal"),
    Column("stock", "int8", SEEN, "cards left in the stock"),
    Column("knock_limit", "int16", SEEN, "most points of deadwood to knock with in this deal"),
    Column("first_upcard", "int8", SEEN, "card turned up at the deal"),
    Column("upcard", "int8", SEEN, "top card of the discard pile, -1 if it is empty"),
    Column("drawn_card", "int8", SEEN, "card drawn or taken this turn, -1 before the draw"),
    Column("taken_card", "int8", SEEN, "the same card if it came from the discard pile, else -1"),
    Column("my_score", "int16", SEEN, "points of the mover in this game so far"),
    Column("opponent_score", "int16", SEEN, "points of the opponent"),
    Column("my_deals_won", "int32", SEEN, "deals of this game that the mover has won"),
    Column("opponent_deals_won", "int32", SEEN, "deals that the opponent has won"),
    Column("hand", "uint64", SEEN, f"{_CARDS}: the mover's hand"),
    *_by_both("known", "those that {} took from the pile and still holds"),
    *_by_both("taken", "those that {} took from the pile in this deal"),
    *_by_both("discarded", "those that {} discarded in this deal"),
    *_by_both("declined", "upcards that {} passed or left for the stock"),
    Column("history", "binary", SEEN, "actions of this deal before this one, a byte each, oldest "
           "first; a card drawn from the stock is not named"),
    Column("legal_discards", "uint64", SEEN, f"{_CARDS}: those that may be discarded"),
    Column("legal_knocks", "uint64", SEEN, f"{_CARDS}: those that may be discarded with a knock"),
    Column("legal_others", "uint8", SEEN, "sum of 1 draw, 2 take the upcard, 4 pass, 8 big gin"),
    Column("action", "uint8", DONE, "what the mover did, 0 to 107"),
    Column("value_actions", "list<uint8>", DONE, "the actions that the agent evaluated, ascending; "
           "null if none, or if the agent reports no values"),
    Column("values", "list<float>", DONE, "the agent's value of each; the unit is in card.json, "
           "by agent"),
    Column("result_outcome", "int8", LATER, "how the deal ended: 1 gin, 2 big gin, 3 knock, 4 "
           "undercut, 5 equal, 6 gin answered by gin, 7 void"),
    Column("result_points", "int16", LATER, "points of the deal for the mover; negative if the "
           "opponent won them"),
    Column("result_winner", "int8", LATER, "who won the deal: 0 the mover, 1 the opponent, -1 "
           "nobody"),
    Column("result_knocker", "int8", LATER, "who knocked, likewise"),
    Column("result_game_won", "int8", LATER, "1 the mover won the game, 0 the opponent did, -1 it "
           "was cut off"),
)  # fmt: skip
"""In the order of the file. A set of cards is a sum of bits: card = suit × 13 +
rank has bit suit × 16 + rank, spades, hearts, diamonds, clubs, each from the ace."""

NAMES = tuple(column.name for column in COLUMNS)
VIEW_COLUMNS = tuple(
    column.name for column in COLUMNS if column.who == SEEN and not column.name.startswith("legal_")
)
"""What `view_of` reads."""

_OTHERS = np.array([1, 2, 4, 8], dtype=np.uint8)


def columns_of(view: View) -> Columns:
    """Return what a view shows the players to move: the columns of `SEEN`.

    Args:
        view: N rows, the viewers to move.
    """
    masks = view.action_masks()
    columns: Columns = {
        "deal": view.deal_number.astype(np.int32),
        "step": view.step_count.astype(np.int16),
        "player": view.player,
        "phase": view.phase,
        "is_dealer": view.is_dealer,
        "turn": view.turn.astype(np.int16),
        "stock": view.stock_count,
        "knock_limit": view.knock_limit,
        "first_upcard": view.first_upcard,
        "upcard": view.upcard,
        "drawn_card": view.drawn_card,
        "taken_card": view.taken_card,
        "hand": view.hand,
        "history": view.history,
        "legal_discards": _as_hands(masks[:, :KNOCK]),
        "legal_knocks": _as_hands(masks[:, KNOCK:DRAW_STOCK]),
        "legal_others": (masks[:, DRAW_STOCK:] * _OTHERS).sum(axis=1, dtype=np.uint8),
    }
    for side, who in ((ME, "my"), (OPPONENT, "opponent")):
        columns[f"{who}_score"] = view.scores[:, side]
        columns[f"{who}_deals_won"] = view.deals_won[:, side]
        for name in _MASKS:
            columns[f"{who}_{name}"] = getattr(view, name)[:, side]
    return columns


def _as_hands(planes: NDArray[np.bool_]) -> Hands:
    """Return sets of cards given as [N, 52] bool as [N] uint64."""
    return (planes * CARD_BIT[:NUM_CARDS]).sum(axis=1, dtype=np.uint64)


def legal_masks(columns: Columns) -> NDArray[np.bool_]:
    """Return the legal actions of rows, [N, 108] bool, from their columns ``legal_...``."""
    cards = CARD_BIT[:NUM_CARDS]
    parts = [(columns[f"legal_{kind}"][:, None] & cards) != 0 for kind in ("discards", "knocks")]
    return np.concatenate([*parts, (columns["legal_others"][:, None] & _OTHERS) != 0], axis=1)


def view_of(columns: Columns, rules: Rules) -> View:
    """Return the movers' view, equal in every field to that of the game.

    Args:
        columns: those of `VIEW_COLUMNS`, N rows; others are ignored.
        rules: of the games, see the data card.

    Returns:
        N rows; the width of the history is that of the longest row.
    """
    count = len(columns["hand"])
    steps = columns["step"].astype(np.int32)
    history = columns["history"][:, : int(steps.max(initial=0))]
    pile, piled = _piles(columns["first_upcard"], history, rules)

    def of_both(name: str) -> NDArray[Any]:
        return np.stack([columns[f"my_{name}"], columns[f"opponent_{name}"]], axis=1)

    nobody = np.full(count, NOBODY, dtype=np.int8)
    no_points = np.full(count, -1, dtype=np.int16)
    return View(
        rules=rules,
        player=columns["player"],
        to_move=np.ones(count, dtype=np.bool_),
        is_dealer=columns["is_dealer"],
        phase=columns["phase"],
        turn=columns["turn"].astype(np.int32),
        hand=columns["hand"],
        drawn_card=columns["drawn_card"],
        taken_card=columns["taken_card"],
        upcard=columns["upcard"],
        discard_pile=pile,
        discard_count=piled,
        stock_count=columns["stock"],
        first_upcard=columns["first_upcard"],
        knock_limit=columns["knock_limit"],
        history=history,
        step_count=steps,
        **{name: of_both(name) for name in _MASKS},
        scores=of_both("score"),
        deals_won=of_both("deals_won"),
        deal_number=columns["deal"].astype(np.int32),
        outcome=np.full(count, Outcome.NONE, dtype=np.int8),
        winner=nobody,
        points=np.zeros(count, dtype=np.int16),
        knocker=nobody.copy(),
        knocker_deadwood=no_points,
        defender_deadwood=no_points.copy(),
        opponent_hand=np.zeros(count, dtype=np.uint64),
    )


def _piles(
    first_upcards: NDArray[np.int8], history: NDArray[np.uint8], rules: Rules
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the discard piles, oldest card first ([N, Rules.num_pile]), and their sizes ([N])."""
    count = len(first_upcards)
    pile = np.full((count, rules.num_pile), NO_CARD, dtype=np.int8)
    pile[:, 0] = first_upcards
    size = np.ones(count, dtype=np.int8)
    for actions in history.T:
        thrown = np.flatnonzero(actions < DRAW_STOCK)
        pile[thrown, size[thrown]] = actions[thrown] % NUM_CARDS
        size[thrown] += 1
        taken = np.flatnonzero(actions == TAKE_UPCARD)
        size[taken] -= 1
        pile[taken, size[taken]] = NO_CARD
    return pile, size


def widened(history: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Return histories padded with NO_ACTION to more columns, [N, width]."""
    wider = np.full((len(history), width), NO_ACTION, dtype=np.uint8)
    wider[:, : history.shape[1]] = history
    return wider


def joined(parts: list[Columns]) -> Columns:
    """Return the rows of all parts, in order."""
    width = max(part["history"].shape[1] for part in parts)
    return {
        name: np.concatenate(
            [widened(part[name], width) if name == "history" else part[name] for part in parts]
        )
        for name in parts[0]
    }
