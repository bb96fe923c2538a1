"""What an action does. A deal that ends is settled and scored at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import KNOCK
from ginrummy_env.core.cards import CARD_BIT, NO_CARD, NUM_CARDS, Hands, Rows
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.deal import doubled
from ginrummy_env.core.game import book
from ginrummy_env.core.layoff import defender_deadwood, knocker_arrangement
from ginrummy_env.core.legal import (
    BIG_GINS,
    DISCARDS,
    DRAWS,
    IGNORED,
    KNOCKS,
    NUM_KINDS,
    PASSES,
    TAKES,
    require_actions,
    require_legal,
)
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import DEFENDER, KNOCKER, NO_SIDE, score_gin, score_knock
from ginrummy_env.core.state import (
    NOBODY,
    BatchState,
    Int8,
    Outcome,
    Phase,
    pile_mask,
    player_index,
)

_FIRST_DRAW, _DRAW = int(Phase.FIRST_DRAW), int(Phase.DRAW)
_DISCARD, _WALL = int(Phase.DISCARD), int(Phase.WALL)


def step(state: BatchState, actions: ArrayLike, rules: Rules) -> None:
    """Take one action in every deal that is not over. Changes ``state`` in place.

    A deal that ends is settled and scored: its phase is then DEAL_OVER, or GAME_OVER if a player
    has reached the target. `game.next_deals` deals on.

    Args:
        state: N games.
        actions: [N] integers; not read where the deal is over.
        rules: the settings that the games were started with.

    Raises:
        ValueError: actions of a wrong shape or type.
        IllegalActionError: an action is not legal. Says the row, the action and what was legal.
            No row has been changed then.

    Source: RULES, One deal, 3 to 7.
    """
    chosen = require_actions(actions, len(state))
    kinds = require_legal(state, chosen, rules)
    counts = np.bincount(kinds, minlength=NUM_KINDS).tolist()
    _log(state, chosen, kinds, counts[IGNORED])
    for kind, transition in _TRANSITIONS.items():
        if counts[kind]:
            transition(state, np.flatnonzero(kinds == kind), rules)
    if counts[KNOCKS]:
        knocks = np.flatnonzero(kinds == KNOCKS)
        _discard(state, knocks, chosen[knocks] - np.int16(KNOCK))
    if counts[DISCARDS]:
        discards = np.flatnonzero(kinds == DISCARDS)
        _discard(state, discards, chosen[discards])
        _end_turn(state, discards, rules)
    if counts[KNOCKS] or counts[BIG_GINS]:
        settle(state, np.flatnonzero((kinds == KNOCKS) | (kinds == BIG_GINS)), rules)


def _log(
    state: BatchState, actions: NDArray[np.int16], kinds: NDArray[np.int8], ignored: int
) -> None:
    """Append the actions to the histories."""
    width = state.history.shape[1]
    if int(state.step_count.max(initial=0)) >= width:
        state.widen(2 * width)
        width = state.history.shape[1]
    rows = np.flatnonzero(kinds != IGNORED) if ignored else np.arange(len(kinds))
    places = rows * width + (state.step_count[rows] if ignored else state.step_count)
    state.history.reshape(-1)[places] = actions[rows] if ignored else actions
    if ignored:
        state.step_count[rows] += 1
    else:
        state.step_count += 1


def _pass(state: BatchState, rows: Rows, rules: Rules) -> None:
    state.declined.reshape(-1)[player_index(state, rows)] |= CARD_BIT[state.upcard[rows]]
    at_wall = state.phase[rows] == _WALL
    if at_wall.any():
        _void(state, rows[at_wall], rules)
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
        _void(state, rows[ended], rules)


def _void(state: BatchState, rows: Rows, rules: Rules) -> None:
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


def may_lay_off(knocker_deadwood: NDArray[np.int16], rules: Rules) -> NDArray[np.bool_]:
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
    mine, his = hands[2 * rows + knocker], hands[2 * rows + 1 - knocker]
    melds, knocker_deadwood = knocker_arrangement(
        mine, pile_mask(state.first_upcard[rows], state.discarded[rows], state.known[rows])
    )
    defender = defender_deadwood(his, melds, may_lay_off(knocker_deadwood, rules))
    side, points, outcome = _score(mine, his, knocker_deadwood, defender, rules)
    points = np.where(doubled(state.first_upcard[rows], rules), 2 * points, points)
    winner = np.select([side == KNOCKER, side == DEFENDER], [knocker, 1 - knocker], NOBODY)
    state.knocker[rows] = knocker
    state.knocker_deadwood[rows] = knocker_deadwood
    state.defender_deadwood[rows] = defender
    state.outcome[rows] = outcome
    book(state, rows, winner.astype(np.int8), points.astype(np.int16), rules)


def _score(
    mine: Hands,
    his: Hands,
    knocker_deadwood: NDArray[np.int16],
    defender: NDArray[np.int16],
    rules: Rules,
) -> tuple[Int8, NDArray[np.int16], Int8]:
    """Return side, points and outcome of each deal that was laid down."""
    side, points = score_knock(knocker_deadwood, defender, rules)
    ended = {KNOCKER: Outcome.KNOCK, NO_SIDE: Outcome.EQUAL, DEFENDER: Outcome.UNDERCUT}
    outcome = np.select([side == s for s in ended], [int(o) for o in ended.values()])
    gins = np.flatnonzero(knocker_deadwood == 0)
    if gins.size:
        big = np.bitwise_count(mine[gins]) == 11
        side[gins], points[gins], answered = score_gin(
            defender[gins], deadwood(his[gins]), big, rules
        )
        outcome[gins] = np.where(big, Outcome.BIG_GIN, Outcome.GIN)
        outcome[gins[answered]] = Outcome.GIN_ANSWERED
    return side, points, outcome.astype(np.int8)
