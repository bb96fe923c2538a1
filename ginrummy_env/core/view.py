"""What one player may see: all that observations and policies read.

A view is made from the state for one player per row. It holds copies, so it stays as it is when the
game continues, and nothing from which a card that the player cannot know would follow, now or in a
later deal: neither the seed and the game's number nor the stock, nor the opponent's cards but those
taken from the discard pile, until a knock lays them on the table.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import NO_ACTION
from ginrummy_env.core.legal import masks_of
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.settlement import LaidDown, lay_down
from ginrummy_env.core.state import NOBODY, BatchState, Outcome, as_index, pile_mask
from ginrummy_env.core.types import Hands, Int8, Points, Rows

ME, OPPONENT = 0, 1
"""Columns of the view's [N, 2] arrays."""


@dataclass(slots=True)
class View:
    """What one player of each of N games sees. Columns of [N, 2] arrays: ME, OPPONENT."""

    rules: Rules
    player: Int8  # [N] 0 or 1, whose view it is
    to_move: NDArray[np.bool_]  # [N] whether it is the viewer's move
    is_dealer: NDArray[np.bool_]  # [N] whether the viewer dealt
    phase: Int8  # [N] Phase of the player to move
    turn: NDArray[np.int32]  # [N] discards made in this deal, by both
    hand: Hands  # [N] uint64, the viewer's cards
    drawn_card: Int8  # [N] the card the viewer has drawn this turn, or NO_CARD
    taken_card: Int8  # [N] the upcard that the player to move has taken this turn, or NO_CARD
    upcard: Int8  # [N] top of the discard pile, or NO_CARD
    discard_pile: Int8  # [N, Rules.num_pile] oldest first, NO_CARD from `discard_count` on
    discard_count: Int8  # [N]
    stock_count: Int8  # [N]
    first_upcard: Int8  # [N]
    knock_limit: Points  # [N] int16
    known: Hands  # [N, 2] uint64, cards taken from the pile and still held
    taken: Hands  # [N, 2] uint64, every card taken from the pile in this deal
    discarded: Hands  # [N, 2] uint64, every card discarded in this deal
    declined: Hands  # [N, 2] uint64, every upcard passed or left for the stock
    history: NDArray[np.uint8]  # [N, H] the actions of this deal in order, then NO_ACTION
    step_count: NDArray[np.int32]  # [N]
    scores: Points  # [N, 2] int16, points of the game so far
    deals_won: NDArray[np.int32]  # [N, 2]
    deal_number: NDArray[np.int32]  # [N] from 0
    outcome: Int8  # [N] Outcome.NONE until the deal is over
    winner: Int8  # [N] ME, OPPONENT or NOBODY
    points: Points  # [N] int16, of the deal's winner
    knocker: Int8  # [N] ME, OPPONENT or NOBODY
    knocker_deadwood: Points  # [N] int16, -1 if nobody knocked
    defender_deadwood: Points  # [N] int16, after lay-offs; -1 if nobody knocked
    opponent_hand: Hands  # [N] uint64, once it is laid down after a knock; else 0

    def __len__(self) -> int:
        """Return N, the number of games."""
        return len(self.player)

    @property
    def discards(self) -> Hands:
        """The discard pile as a mask of cards, [N] uint64."""
        return pile_mask(self.first_upcard, self.discarded, self.known)

    @property
    def unseen(self) -> Hands:
        """Cards that are in the stock or unknown in the opponent's hand, [N] uint64."""
        seen = self.hand | self.discards | self.known[:, OPPONENT] | self.opponent_hand
        return self.rules.full_deck & ~seen

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the viewer's legal actions, [N, 108] bool; none where it is not their move."""
        masks = masks_of(np.where(self.to_move, self.hand, np.uint64(0)), self, self.rules)
        masks[~self.to_move] = False
        return masks

    def select(self, rows: ArrayLike) -> Self:
        """Return the view of the given rows ([K] row numbers or [N] bool), in their order."""
        index = as_index(rows)
        return type(self)(
            self.rules, *(np.asarray(getattr(self, name)[index]) for name in ARRAY_NAMES)
        )

    def laid_down(self) -> LaidDown:
        """Return what lies on the table, for rows in which somebody has knocked.

        Raises:
            ValueError: a row in which nobody has knocked.
        """
        hands = np.stack([self.hand, self.opponent_hand], axis=1)
        return lay_down(hands, self.knocker, self.discards, self.rules)


def _as_it_is(array: NDArray[Any]) -> NDArray[Any]:
    return array


_SIDES = np.array([ME, OPPONENT])
_NONE, _VOID = np.int8(Outcome.NONE), np.int8(Outcome.VOID)

ARRAY_NAMES: tuple[str, ...] = tuple(f.name for f in fields(View) if f.name != "rules")


def make_view(
    state: BatchState, rules: Rules, players: ArrayLike | None = None, rows: Rows | None = None
) -> View:
    """Return what one player of each game sees.

    Args:
        state: N games.
        rules: the settings.
        players: [N] 0 or 1, or one number for all; the player to move if None.
        rows: [K] the rows of ``state`` that are looked at, and K players are given; all if None.

    Returns:
        A view of N rows (or K); all its arrays are copies.
    """
    copied: Callable[[NDArray[Any]], NDArray[Any]] = np.ndarray.copy
    if rows is not None:
        state, copied = state.select(rows), _as_it_is
    count = len(state)
    if players is None:
        player = copied(state.player)
    else:
        given = np.asarray(players)
        if given.shape not in ((), (count,)) or not ((given == 0) | (given == 1)).all():
            raise ValueError(f"players={players}: 0 or 1, or {count} of them, are needed")
        player = np.full(count, given, dtype=np.int8)
    order = (2 * np.arange(count) + player)[:, None] ^ _SIDES
    to_move = (player == state.player) & ~state.over
    shown = (state.outcome != _NONE) & (state.outcome != _VOID)
    hands = state.hands.take(order)
    longest = int(state.step_count.max(initial=0))

    def seen(side: Int8) -> Int8:
        return np.where(side == NOBODY, side, side ^ player)

    return View(
        rules=rules,
        player=player,
        to_move=to_move,
        is_dealer=player == state.dealer,
        phase=copied(state.phase),
        turn=copied(state.turn),
        hand=hands[:, ME].copy(),
        drawn_card=np.where(to_move, state.drawn_card, np.int8(-1)),
        taken_card=copied(state.taken_card),
        upcard=state.upcard,
        discard_pile=copied(state.discard_pile),
        discard_count=copied(state.discard_count),
        stock_count=copied(state.stock_count),
        first_upcard=copied(state.first_upcard),
        knock_limit=copied(state.knock_limit),
        known=state.known.take(order),
        taken=state.taken.take(order),
        discarded=state.discarded.take(order),
        declined=state.declined.take(order),
        history=copied(state.history[:, :longest]),
        step_count=copied(state.step_count),
        scores=state.scores.take(order),
        deals_won=state.deals_won.take(order),
        deal_number=copied(state.deal_number),
        outcome=copied(state.outcome),
        winner=seen(state.winner),
        points=copied(state.points),
        knocker=seen(state.knocker),
        knocker_deadwood=copied(state.knocker_deadwood),
        defender_deadwood=copied(state.defender_deadwood),
        opponent_hand=np.where(shown, hands[:, OPPONENT], np.uint64(0)),
    )


def players_of(view: View) -> Int8:
    """Return who took each action of the history: ME, OPPONENT, or -1 behind its end.

    Returns:
        [N, H] int8.
    """
    # A pass and a discard hand the move over; drawing keeps it.
    hands_over = (view.history < 104) | (view.history == 106)
    before = np.zeros(view.history.shape, dtype=np.int64)
    before[:, 1:] = hands_over[:, :-1].cumsum(axis=1)
    first = np.where(view.is_dealer, OPPONENT, ME)[:, None]
    return np.where(view.history == NO_ACTION, -1, first ^ (before & 1)).astype(np.int8)
