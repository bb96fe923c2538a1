"""What may be done: action masks, and the check of actions that are asked for."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import (
    BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    PASS,
    TAKE_UPCARD,
    IllegalActionError,
)
from ginrummy_env.core.cards import CARD_BIT, NUM_CARDS, Hands, Points, card_planes
from ginrummy_env.core.deadwood import deadwood, knock_discards, least_after_discard
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState, Int8, Phase

# Kinds of action, and which of them a phase knows. What else they need is checked below.
_DISCARDS, _KNOCKS, _DRAWS, _TAKES, _PASSES, _BIG_GINS = range(6)
_KIND = np.array(
    [_DISCARDS] * NUM_CARDS + [_KNOCKS] * NUM_CARDS + [_DRAWS, _TAKES, _PASSES, _BIG_GINS],
    dtype=np.int8,
)
_KINDS_OF_PHASE = {
    Phase.OPENING: [_TAKES, _PASSES],
    Phase.FIRST_DRAW: [_DRAWS],
    Phase.DRAW: [_DRAWS, _TAKES],
    Phase.DISCARD: [_DISCARDS, _KNOCKS, _BIG_GINS],
    Phase.WALL: [_TAKES, _PASSES],
}
_KNOWN = np.zeros((len(Phase), len(range(6))), dtype=np.bool_)
for _phase, _kinds in _KINDS_OF_PHASE.items():
    _KNOWN[_phase, _kinds] = True
# [7, 4]: flags of the last four actions (draw, take, pass, big gin) where only the phase counts.
_PLAIN_FLAGS = _KNOWN[:, _DRAWS:].copy()
_PLAIN_FLAGS[:, BIG_GIN - DRAW_STOCK] = False


def forbidden_cards(taken_card: Int8, rules: Rules) -> Int8:
    """Return the card that may not be discarded this turn, or NO_CARD: [N] int8.

    Source: RULES, One deal, 4.
    """
    return np.full_like(taken_card, -1) if rules.discard_taken_upcard else taken_card


def must_knock(stock_count: Int8, taken_card: Int8, rules: Rules) -> NDArray[np.bool_]:
    """Return whether the eleven cards were made at the wall, where taking means knocking.

    Source: RULES, Settings (``at_void_stock``).
    """
    if rules.at_void_stock != "knock_with_discard":
        return np.zeros(len(taken_card), dtype=np.bool_)
    return (stock_count <= rules.void_stock) & (taken_card >= 0)


def can_take_at_wall(
    hands: Hands, upcards: Int8, limits: Points, rules: Rules
) -> NDArray[np.bool_]:
    """Return whether each hand may take the upcard at the wall, [N] bool.

    Source: RULES, Settings (``at_void_stock``).
    """
    if rules.at_void_stock != "knock_with_discard":
        return np.ones(len(hands), dtype=np.bool_)
    least = least_after_discard(hands | CARD_BIT[upcards], forbidden_cards(upcards, rules))
    return least <= limits


def masks_of(
    hands: Hands,
    phases: Int8,
    upcards: Int8,
    taken_card: Int8,
    stock_count: Int8,
    knock_limit: Points,
    rules: Rules,
) -> NDArray[np.bool_]:
    """Return the legal actions of the players to move, from what these players see.

    Args:
        hands: [N] uint64, the hand of the player to move.
        phases, upcards, taken_card, stock_count, knock_limit: [N], as in `state.BatchState`.
        rules: the settings.

    Returns:
        [N, 108] bool; all false where the deal is over.

    Source: RULES, One deal, 3 to 7.
    """
    masks = np.zeros((len(hands), NUM_ACTIONS), dtype=np.bool_)
    masks[:, DRAW_STOCK:] = _PLAIN_FLAGS.take(phases, axis=0)
    rows = np.flatnonzero(phases == Phase.DISCARD)
    if rows.size:
        held = hands[rows]
        forbidden = forbidden_cards(taken_card[rows], rules)
        masks[rows, :KNOCK] = card_planes(held & ~CARD_BIT[forbidden])
        knocks = knock_discards(held, knock_limit[rows], forbidden)
        some = np.flatnonzero(knocks)
        if some.size:
            masks[rows[some], KNOCK:DRAW_STOCK] = card_planes(knocks[some])
        if rules.big_gin:
            masks[rows, BIG_GIN] = deadwood(held) == 0
        if rules.at_void_stock == "knock_with_discard":
            bound = must_knock(stock_count[rows], taken_card[rows], rules)
            masks[rows[bound], :KNOCK] = False
    if rules.at_void_stock == "knock_with_discard":
        rows = np.flatnonzero(phases == Phase.WALL)
        if rows.size:
            masks[rows, TAKE_UPCARD] = can_take_at_wall(
                hands[rows], upcards[rows], knock_limit[rows], rules
            )
    return masks


def mover_hands(state: BatchState) -> Hands:
    """Return the hand of the player to move, [N] uint64."""
    return np.where(state.player == 0, state.hands[:, 0], state.hands[:, 1])


def action_masks(state: BatchState, rules: Rules) -> NDArray[np.bool_]:
    """Return the legal actions of the player to move in every row.

    Args:
        state: N games.
        rules: the settings.

    Returns:
        [N, 108] bool, a new array; all false where the deal is over.

    Source: RULES, One deal, 3 to 7.
    """
    return masks_of(
        mover_hands(state),
        state.phase,
        state.upcard,
        state.taken_card,
        state.stock_count,
        state.knock_limit,
        rules,
    )


def require_actions(actions: ArrayLike, count: int) -> NDArray[np.int16]:
    """Return actions as [N] int16, or say what is wrong with them (not whether they are legal).

    Raises:
        ValueError: a wrong shape, or not whole numbers.
    """
    array = np.asarray(actions)
    if array.shape != (count,):
        raise ValueError(f"actions of shape {array.shape} where {(count,)} is needed, one a game")
    if array.dtype.kind not in "iu":
        raise ValueError(f"actions are whole numbers, not {array.dtype}")
    if array.dtype == np.int16:
        return array
    limits = np.iinfo(np.int16)
    return np.clip(array, limits.min, limits.max).astype(np.int16)


def require_legal(state: BatchState, actions: NDArray[np.int16], rules: Rules) -> None:
    """Raise if an action is not legal; rows that are over are not looked at.

    Cheaper than the masks: a knock is looked at only where one is asked for.

    Raises:
        IllegalActionError: for the first such row; says the action in words and what was legal.
    """
    inside = (actions >= 0) & (actions < NUM_ACTIONS)
    kinds = _KIND.take(actions, mode="clip")
    legal = _KNOWN[state.phase, kinds] & inside
    rows = np.flatnonzero(legal & (kinds <= _KNOCKS))
    if rows.size:
        wanted = actions[rows]
        knocks = wanted >= KNOCK
        bits = CARD_BIT[np.where(knocks, wanted - KNOCK, wanted)]
        hands = mover_hands(state)[rows]
        taken = state.taken_card[rows]
        held = hands & ~CARD_BIT[forbidden_cards(taken, rules)]
        fine = (held & bits) != 0
        if rules.at_void_stock == "knock_with_discard":
            fine &= knocks | ~must_knock(state.stock_count[rows], taken, rules)
        some = np.flatnonzero(knocks & fine)
        if some.size:
            left = deadwood(hands[some] & ~bits[some])
            fine[some] = left <= state.knock_limit[rows[some]]
        legal[rows] = fine
    if rules.at_void_stock == "knock_with_discard":
        rows = np.flatnonzero((state.phase == Phase.WALL) & (actions == TAKE_UPCARD))
        if rows.size:
            legal[rows] = can_take_at_wall(
                mover_hands(state)[rows], state.upcard[rows], state.knock_limit[rows], rules
            )
    rows = np.flatnonzero(legal & (actions == BIG_GIN))
    if rows.size:
        legal[rows] = (deadwood(mover_hands(state)[rows]) == 0) & rules.big_gin
    legal |= state.over
    if not legal.all():
        row = int(np.flatnonzero(~legal)[0])
        allowed = action_masks(state.select([row]), rules)[0]
        raise IllegalActionError(row, int(actions[row]), np.flatnonzero(allowed).tolist())


assert PASS == DRAW_STOCK + 2  # the order of `_PLAIN_FLAGS`
