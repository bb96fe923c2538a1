"""What an action does. A deal that ends is settled at once (`settlement`)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import KNOCK
from ginrummy_env.core.cards import CARD_BIT, NO_CARD, NUM_CARDS
from ginrummy_env.core.legal import (
    BIG_GINS,
    DISCARDS,
    DRAWS,
    IGNORED,
    KNOCKS,
    PASSES,
    TAKES,
    require_actions,
    require_legal,
)
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.settlement import settle, void_deals
from ginrummy_env.core.state import HISTORY_START, BatchState, Phase, player_index
from ginrummy_env.core.types import Rows

_FIRST_DRAW, _DRAW = int(Phase.FIRST_DRAW), int(Phase.DRAW)
_DISCARD, _WALL = int(Phase.DISCARD), int(Phase.WALL)


def step(state: BatchState, actions: ArrayLike, rules: Rules, rows: Rows | None = None) -> None:
    """Take one action in every deal that is not over. Changes ``state`` in place.

    A deal that ends is settled and scored: its phase is then DEAL_OVER, or GAME_OVER if a player
    has reached the target. `game.next_deals` deals on.

    Args:
        state: N games.
        actions: [N] integers, or [K] for some rows; not read where the deal is over.
        rules: the settings that the games were started with.
        rows: [K] the rows in which an action is taken, none twice; all if None.

    Raises:
        ValueError: actions of a wrong shape or type.
        IllegalActionError: an action is not legal. Says the row, the action and what was legal.
            No row has been changed then.

    Source: RULES, One deal, 3 to 7.
    """
    chosen = require_actions(actions, len(state) if rows is None else len(rows))
    kinds, counts = require_legal(state, chosen, rules, rows)
    of_rows = np.arange(len(chosen)) if rows is None else rows
    if counts[IGNORED]:
        taken = (kinds != IGNORED).nonzero()[0]
        kinds, chosen, of_rows = kinds[taken], chosen[taken], of_rows[taken]
    _log(state, chosen, of_rows)
    for kind, transition in _TRANSITIONS.items():
        if counts[kind] == len(kinds):
            transition(state, of_rows, rules)
        elif counts[kind]:
            transition(state, of_rows[kinds == kind], rules)
    if counts[KNOCKS]:
        knocks = kinds == KNOCKS
        _discard(state, of_rows[knocks], chosen[knocks] - np.int16(KNOCK))
    if counts[DISCARDS]:
        discards = kinds == DISCARDS
        discarding = of_rows[discards]
        _discard(state, discarding, chosen[discards])
        _end_turn(state, discarding, rules)
    if counts[KNOCKS] or counts[BIG_GINS]:
        settle(state, of_rows[(kinds == KNOCKS) | (kinds == BIG_GINS)], rules)


def _log(state: BatchState, actions: NDArray[np.int16], rows: Rows) -> None:
    """Append the actions to the histories of these rows."""
    width = state.history.shape[1]
    if len(state) and int(state.step_count.max()) >= width:
        state.widen(max(2 * width, HISTORY_START))  # sampled worlds may have no column
        width = state.history.shape[1]
    count = state.step_count[rows]
    state.history.reshape(-1)[rows * width + count] = actions
    state.step_count[rows] = count + 1


def _pass(state: BatchState, rows: Rows, rules: Rules) -> None:
    state.declined.reshape(-1)[player_index(state, rows)] |= CARD_BIT[state.upcard[rows]]
    at_wall = state.phase[rows] == _WALL
    if at_wall.any():
        void_deals(state, rows[at_wall], rules)
        rows = rows[~at_wall]
    dealer_passed = state.player[rows] == state.dealer[rows]
    state.phase[rows[dealer_passed]] = _FIRST_DRAW
    state.player[rows] ^= 1


def _draw_stock(state: BatchState, rows: Rows, rules: Rules) -> None:
    places = player_index(state, rows)
    left = state.stock_count[rows]
    cards = state.deck.reshape(-1)[rows * NUM_CARDS + (NUM_CARDS - left)]
    tops = rows * state.discard_pile.shape[1] + (state.discard_count[rows] - 1)
    upcards = state.discard_pile.reshape(-1)[tops]
    state.stock_count[rows] = left - np.int8(1)
    state.hands.reshape(-1)[places] |= CARD_BIT[cards]
    state.declined.reshape(-1)[places] |= CARD_BIT[upcards]
    state.drawn_card[rows] = cards
    state.phase[rows] = _DISCARD


def _take_upcard(state: BatchState, rows: Rows, rules: Rules) -> None:
    places = player_index(state, rows)
    left = state.discard_count[rows] - np.int8(1)
    tops = rows * state.discard_pile.shape[1] + left
    pile = state.discard_pile.reshape(-1)
    cards = pile[tops]
    bits = CARD_BIT[cards]
    pile[tops] = NO_CARD
    state.discard_count[rows] = left
    for masks in (state.hands, state.known, state.taken):
        masks.reshape(-1)[places] |= bits
    state.drawn_card[rows] = cards
    state.taken_card[rows] = cards
    state.phase[rows] = _DISCARD


_TRANSITIONS = {
    PASSES: _pass,
    DRAWS: _draw_stock,
    TAKES: _take_upcard,
}


def _discard(state: BatchState, rows: Rows, cards: NDArray[np.int16]) -> None:
    """Lay ``cards[k]`` on the discard pile in row ``rows[k]``."""
    places = player_index(state, rows)
    bits = CARD_BIT[cards]
    state.hands.reshape(-1)[places] ^= bits
    state.known.reshape(-1)[places] &= ~bits
    state.discarded.reshape(-1)[places] |= bits
    count = state.discard_count[rows]
    state.discard_pile.reshape(-1)[rows * state.discard_pile.shape[1] + count] = cards
    state.discard_count[rows] = count + np.int8(1)
    state.turn[rows] += 1
    state.drawn_card[rows] = NO_CARD
    state.taken_card[rows] = NO_CARD


def _end_turn(state: BatchState, rows: Rows, rules: Rules) -> None:
    """End turns without a knock: the other player's turn, the wall, or a void deal.

    Source: RULES, One deal, 7; RULES, Settled here (the bound); RULES, Settings.
    """
    state.player[rows] ^= 1
    state.phase[rows] = _DRAW
    ended = state.stock_count[rows] <= rules.void_stock
    if rules.at_void_stock != "end" and ended.any():
        state.phase[rows[ended]] = _WALL
        ended = np.zeros(len(rows), dtype=np.bool_)
    if rules.turn_bound is not None:
        ended |= state.turn[rows] >= rules.turn_bound
    if ended.any():
        void_deals(state, rows[ended], rules)
