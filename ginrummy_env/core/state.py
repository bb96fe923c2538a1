"""The state of a batch of games: one array a field, game ``i`` in row ``i`` of each."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import NO_ACTION
from ginrummy_env.core.cards import CARD_BIT, NO_CARD, NUM_CARDS
from ginrummy_env.core.rules import CLASSIC, Rules
from ginrummy_env.core.types import Hands, Int8, Points, Rows

NUM_PLAYERS = 2
HISTORY_START = 64
"""Columns of a new history. It doubles when a deal grows longer."""


class Phase(IntEnum):
    """What the player to move decides."""

    OPENING = 0
    """Take the first upcard or pass."""
    FIRST_DRAW = 1
    """Both have passed: the non-dealer can only draw from the stock."""
    DRAW = 2
    """Draw from the stock or take the upcard."""
    DISCARD = 3
    """Discard, knock or lay down big gin."""
    WALL = 4
    """The stock is down to the void size: take the upcard or pass (`Rules.at_void_stock`)."""
    DEAL_OVER = 5
    GAME_OVER = 6


class Outcome(IntEnum):
    """How a deal ended."""

    NONE = 0
    """It has not ended."""
    GIN = 1
    BIG_GIN = 2
    KNOCK = 3
    UNDERCUT = 4
    EQUAL = 5
    """Equal deadwood, and the rules give such a deal to nobody."""
    GIN_ANSWERED = 6
    """Gin, and the other player's own ten cards have no deadwood either."""
    VOID = 7


NOBODY = -1
"""Stands for no player: the winner of a void deal, its knocker."""


@dataclass(slots=True)
class BatchState:
    """N games in play. Every card of a deal is in one place: a hand, the stock or the pile.

    All fields are the batch's own arrays: change them only through `step` and `game`. Fields of
    one number per game are [N]; two numbers, [N, 2], are by player.
    """

    hands: Hands  # [N, 2] uint64, the cards each player holds
    deck: Int8  # [N, 52] NO_CARD up to a small deck, then the cards in dealing order; the last
    # `stock_count` are the stock
    stock_count: Int8  # [N]
    discard_pile: Int8  # [N, Rules.num_pile] oldest first, NO_CARD from `discard_count` on
    discard_count: Int8  # [N]
    first_upcard: Int8  # [N] the card turned up at the deal
    knock_limit: Points  # [N] int16, most deadwood to knock with in this deal
    player: Int8  # [N] 0 or 1, the player to move
    dealer: Int8  # [N] 0 or 1
    phase: Int8  # [N] Phase
    turn: NDArray[np.int32]  # [N] discards made in this deal
    drawn_card: Int8  # [N] the eleventh card of the player to move, or NO_CARD
    taken_card: Int8  # [N] the same card if it came from the pile, else NO_CARD
    known: Hands  # [N, 2] uint64, cards in the player's hand that came from the pile
    taken: Hands  # [N, 2] uint64, every card the player took from the pile in this deal
    discarded: Hands  # [N, 2] uint64, every card the player discarded in this deal
    declined: Hands  # [N, 2] uint64, every upcard the player passed or left for the stock
    history: NDArray[np.uint8]  # [N, H] the actions of this deal in order, then NO_ACTION
    step_count: NDArray[np.int32]  # [N] how many actions
    outcome: Int8  # [N] Outcome of this deal
    winner: Int8  # [N] of this deal: 0, 1 or NOBODY
    points: Points  # [N] int16, won by the winner of this deal
    knocker: Int8  # [N] 0, 1 or NOBODY
    knocker_deadwood: Points  # [N] int16, -1 if nobody knocked
    defender_deadwood: Points  # [N] int16, after lay-offs; -1 if nobody knocked
    scores: Points  # [N, 2] int16, points of the deals of this game so far
    deals_won: NDArray[np.int32]  # [N, 2]
    deal_number: NDArray[np.int32]  # [N] of this deal in its game, from 0
    game_number: NDArray[np.uint64]  # [N] with the seed, names the game
    seed: NDArray[np.uint64]  # [N]

    @classmethod
    def empty(cls, count: int, rules: Rules = CLASSIC) -> Self:
        """Return ``count`` rows without a deal (GAME_OVER), to be filled by `game.restart`.

        Args:
            count: N.
            rules: decides how long the discard pile can grow.
        """

        def full(value: int, dtype: type, *shape: int) -> NDArray[Any]:
            return np.full((count, *shape), value, dtype=dtype)

        return cls(
            hands=full(0, np.uint64, 2),
            deck=full(NO_CARD, np.int8, NUM_CARDS),
            stock_count=full(0, np.int8),
            discard_pile=full(NO_CARD, np.int8, rules.num_pile),
            discard_count=full(0, np.int8),
            first_upcard=full(NO_CARD, np.int8),
            knock_limit=full(0, np.int16),
            player=full(0, np.int8),
            dealer=full(0, np.int8),
            phase=full(Phase.GAME_OVER, np.int8),
            turn=full(0, np.int32),
            drawn_card=full(NO_CARD, np.int8),
            taken_card=full(NO_CARD, np.int8),
            known=full(0, np.uint64, 2),
            taken=full(0, np.uint64, 2),
            discarded=full(0, np.uint64, 2),
            declined=full(0, np.uint64, 2),
            history=full(NO_ACTION, np.uint8, HISTORY_START),
            step_count=full(0, np.int32),
            outcome=full(Outcome.NONE, np.int8),
            winner=full(NOBODY, np.int8),
            points=full(0, np.int16),
            knocker=full(NOBODY, np.int8),
            knocker_deadwood=full(-1, np.int16),
            defender_deadwood=full(-1, np.int16),
            scores=full(0, np.int16, 2),
            deals_won=full(0, np.int32, 2),
            deal_number=full(0, np.int32),
            game_number=full(0, np.uint64),
            seed=full(0, np.uint64),
        )

    def __len__(self) -> int:
        """Return N, the number of games."""
        return len(self.player)

    def copy(self) -> Self:
        """Return an independent copy."""
        return type(self)(*(getattr(self, name).copy() for name in FIELD_NAMES))

    def select(self, rows: ArrayLike) -> Self:
        """Return an independent batch of the given rows, in their order (one may appear twice).

        Args:
            rows: [K] row numbers, or [N] bool.
        """
        index = as_index(rows)
        if index.dtype == np.bool_:
            return type(self)(*[field[index] for field in _FIELDS(self)])
        return type(self)(*[field.take(index, axis=0) for field in _FIELDS(self)])

    def assign(self, rows: ArrayLike, other: "BatchState") -> None:
        """Put the rows of ``other`` in the place of ``rows``.

        Args:
            rows: [K] row numbers, or [N] bool with K flags.
            other: K rows.
        """
        width = max(self.history.shape[1], other.history.shape[1])
        self.widen(width)
        index = require_rows(rows, len(self))
        if other.history.shape[1] < width:
            self.history[index] = NO_ACTION  # what the other has no columns for
        for field, value in zip(_FIELDS(self), _FIELDS(other), strict=True):
            if field is self.history:
                field[index, : value.shape[1]] = value
            else:
                field[index] = value

    def widen(self, width: int) -> None:
        """Give the history at least ``width`` columns."""
        if self.history.shape[1] < width:
            self.history = _widened(self.history, width)

    @property
    def upcard(self) -> Int8:
        """The top of the discard pile, [N] int8; NO_CARD if the pile is empty."""
        top = self.discard_pile[np.arange(len(self)), self.discard_count - 1]
        # With an empty pile the index is -1: the last place, which holds NO_CARD then.
        return top

    @property
    def discards(self) -> Hands:
        """The discard pile as a mask of cards, [N] uint64."""
        return pile_mask(self.first_upcard, self.discarded, self.known)

    @property
    def stock(self) -> list[list[int]]:
        """The cards of each stock, the next one first."""
        return [
            row[NUM_CARDS - count :]
            for row, count in zip(self.deck.tolist(), self.stock_count.tolist(), strict=True)
        ]

    @property
    def over(self) -> NDArray[np.bool_]:
        """Whether the deal (or the game) is over, [N] bool."""
        return self.phase >= _DEAL_OVER


def as_index(rows: ArrayLike) -> NDArray[Any]:
    """Return row numbers (one may appear twice) or flags as an index; an empty list is no rows."""
    array = np.asarray(rows)
    return array.astype(np.intp) if array.size == 0 and array.dtype != np.bool_ else array


FIELD_NAMES: tuple[str, ...] = tuple(field.name for field in fields(BatchState))
_FIELDS: Callable[[BatchState], tuple[NDArray[Any], ...]] = attrgetter(*FIELD_NAMES)
_DEAL_OVER = int(Phase.DEAL_OVER)  # an IntEnum's members cost more to look up


def pile_mask(first_upcard: Int8, discarded: Hands, known: Hands) -> Hands:
    """Return the cards of each discard pile: laid there, and not taken back to a hand.

    Args:
        first_upcard: [N] int8.
        discarded, known: [N, 2] uint64, as in `BatchState` (or `View`).

    Returns:
        [N] uint64.
    """
    laid = CARD_BIT.take(first_upcard) | discarded[:, 0] | discarded[:, 1]
    return laid & ~known[:, 0] & ~known[:, 1]


def _widened(history: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    wider = np.full((len(history), width), NO_ACTION, dtype=np.uint8)
    wider[:, : history.shape[1]] = history
    return wider


def concatenate(states: list[BatchState]) -> BatchState:
    """Return one batch with the rows of all, in their order."""
    width = max(state.history.shape[1] for state in states)
    if any(state.history.shape[1] < width for state in states):
        states = [replace(state, history=_widened(state.history, width)) for state in states]
    columns = zip(*map(_FIELDS, states), strict=True)
    return BatchState(*[np.concatenate(column) for column in columns])


def require_rows(rows: ArrayLike, count: int) -> Rows:
    """Return row numbers as integers: given as such, or as one flag per row.

    Args:
        rows: [K] row numbers, none twice, or [N] bool.
        count: N, the rows there are.

    Raises:
        ValueError: other types or shapes, a row that does not exist or appears twice.
    """
    array = np.asarray(rows)
    if array.dtype == np.bool_ and array.shape == (count,):
        return np.flatnonzero(array)
    if array.size == 0 and array.ndim <= 1:
        return np.empty(0, dtype=np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"rows of type {array.dtype} and shape {array.shape}: row numbers or {count} flags "
            "are needed"
        )
    outside = array[(array < 0) | (array >= count)]
    if outside.size:
        raise ValueError(f"row {outside[0]} does not exist: rows are 0..{count - 1}")
    if array.size > 1 and np.bincount(array, minlength=count).max() > 1:
        raise ValueError(f"row {np.bincount(array).argmax()} appears twice")
    return array.astype(np.intp)


def player_index(state: BatchState, rows: Rows) -> Rows:
    """Return where the player to move is in the flattened [N, 2] fields, for each row."""
    return 2 * rows + state.player[rows]
