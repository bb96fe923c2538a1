"""What may be done: action masks, and the check of actions that are asked for."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import (
    BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    TAKE_UPCARD,
    IllegalActionError,
)
from ginrummy_env.core.cards import CARD_BIT, NO_CARD, NUM_CARDS, card_planes
from ginrummy_env.core.deadwood import deadwood, knock_discards, least_after_discard, may_reach
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.types import Hands, Int8, Points, Rows

# The kinds of action, and what else `require_legal` may find. Plain numbers: an IntEnum's members
# cost more to look up than a step of one game can spare.
DISCARDS, KNOCKS, DRAWS, TAKES, PASSES, BIG_GINS = range(6)
NO_ACTIONS = 6  # a number that is not an action
IGNORED = 7  # any number, where the deal is over
ILLEGAL = 8
NUM_KINDS = 9

# [110] the kind of action a at index a + 1, with NO_ACTION at both ends.
_KIND = np.array(
    [NO_ACTIONS]
    + [DISCARDS] * NUM_CARDS
    + [KNOCKS] * NUM_CARDS
    + [DRAWS, TAKES, PASSES, BIG_GINS, NO_ACTIONS],
    dtype=np.int8,
)
_KINDS_OF_PHASE = {
    Phase.OPENING: [TAKES, PASSES],
    Phase.FIRST_DRAW: [DRAWS],
    Phase.DRAW: [DRAWS, TAKES],
    Phase.DISCARD: [DISCARDS, KNOCKS, BIG_GINS],
    Phase.WALL: [TAKES, PASSES],
}
# [7, 9] what an action of each kind is in each phase, as far as the phase alone decides.
_BOOLEANS = frozenset({bool, np.bool_})
_KIND_IN_PHASE = np.full((len(Phase), NUM_KINDS), ILLEGAL, dtype=np.int8)
_KIND_IN_PHASE[[Phase.DEAL_OVER, Phase.GAME_OVER]] = IGNORED
# [7, 4] flags of the last four actions (draw, take, pass, big gin) where only the phase counts.
_PLAIN_FLAGS = np.zeros((len(Phase), NUM_ACTIONS - DRAW_STOCK), dtype=np.bool_)
for _phase, _kinds in _KINDS_OF_PHASE.items():
    _KIND_IN_PHASE[_phase, _kinds] = _kinds
    for _kind in {DRAWS, TAKES, PASSES} & set(_kinds):
        _PLAIN_FLAGS[_phase, _kind - DRAWS] = True


_DISCARD, _WALL = int(Phase.DISCARD), int(Phase.WALL)


class Seen(Protocol):
    """The fields that determine legality, besides the mover's hand; state and view have them."""

    @property
    def phase(self) -> Int8: ...  # noqa: D102
    @property
    def upcard(self) -> Int8: ...  # noqa: D102
    @property
    def taken_card(self) -> Int8: ...  # noqa: D102
    @property
    def stock_count(self) -> Int8: ...  # noqa: D102
    @property
    def knock_limit(self) -> Points: ...  # noqa: D102


def forbidden_cards(taken_card: Int8, rules: Rules) -> Int8:
    """Return the card that may not be discarded this turn, or NO_CARD: [N] int8.

    Source: RULES, One deal, 4.
    """
    return np.full_like(taken_card, NO_CARD) if rules.discard_taken_upcard else taken_card


def at_wall(seen: Seen, rules: Rules, rows: Rows | slice = slice(None)) -> NDArray[np.bool_]:
    """Return whether the taken card was taken at the wall, [N] bool, or [K] for some rows.

    Source: RULES, Settings (``at_void_stock``).
    """
    return (seen.stock_count[rows] <= rules.void_stock) & (seen.taken_card[rows] != NO_CARD)


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


def masks_of(hands: Hands, seen: Seen, rules: Rules) -> NDArray[np.bool_]:
    """Return the legal actions of the players to move, from what these players see.

    Args:
        hands: [N] uint64, the hand of the player to move; 0 hides it (no discard, no knock).
        seen: the state, or a view of the player to move.
        rules: the settings.

    Returns:
        [N, 108] bool; all false where the deal is over.

    Source: RULES, One deal, 3 to 7.
    """
    masks = np.zeros((len(hands), NUM_ACTIONS), dtype=np.bool_)
    masks[:, DRAW_STOCK:] = _PLAIN_FLAGS.take(seen.phase, axis=0)
    shown = hands != 0
    discarding = (seen.phase == _DISCARD) & shown
    held = np.where(discarding, hands, np.uint64(0))
    may_go = held & ~CARD_BIT.take(forbidden_cards(seen.taken_card, rules))
    masks[:, :KNOCK] = card_planes(may_go)
    rows = (discarding & may_reach(held, seen.knock_limit)).nonzero()[0]
    if rows.size:
        knocks = knock_discards(held[rows], seen.knock_limit[rows]) & may_go[rows]
        masks[rows, KNOCK:DRAW_STOCK] = card_planes(knocks)
        if rules.big_gin:
            masks[rows, BIG_GIN] = deadwood(held[rows]) == 0
    if rules.at_void_stock == "knock_with_discard":
        rows = (discarding & at_wall(seen, rules)).nonzero()[0]
        masks[rows, :KNOCK] = False
        rows = ((seen.phase == _WALL) & shown).nonzero()[0]
        if rows.size:
            masks[rows, TAKE_UPCARD] = can_take_at_wall(
                hands[rows], seen.upcard[rows], seen.knock_limit[rows], rules
            )
    return masks


def mover_hands(state: BatchState, rows: Rows | None = None) -> Hands:
    """Return the hand of the player to move, [N] uint64, or [K] in some rows."""
    if rows is None:
        return np.where(state.player == 0, state.hands[:, 0], state.hands[:, 1])
    return state.hands.reshape(-1).take(2 * rows + state.player.take(rows))


def action_masks(state: BatchState, rules: Rules) -> NDArray[np.bool_]:
    """Return the legal actions of the player to move in every row.

    Args:
        state: N games.
        rules: the settings.

    Returns:
        [N, 108] bool, a new array; all false where the deal is over.

    Source: RULES, One deal, 3 to 7.
    """
    return masks_of(mover_hands(state), state, rules)


def require_actions(actions: ArrayLike, count: int) -> NDArray[np.int16]:
    """Return actions as [N] int16, or say what is wrong with them (not whether they are legal).

    Raises:
        ValueError: a wrong shape, not whole numbers, or a number far from any action.
    """
    array = np.asarray(actions)
    if array.shape != (count,):
        raise ValueError(f"actions of shape {array.shape}, expected {(count,)}: one per game")
    if array.dtype == np.int16:
        return array
    if array.dtype.kind not in "iu":
        raise ValueError(f"actions are whole numbers, not {array.dtype}")
    if isinstance(actions, list | tuple) and not _BOOLEANS.isdisjoint(map(type, actions)):
        raise ValueError("actions are whole numbers, not bool")  # NumPy makes 1 of True
    narrow = array.astype(np.int16)
    changed = (narrow != array).nonzero()[0]
    if changed.size:
        row = int(changed[0])
        raise IllegalActionError(row, int(array[row]), [])
    return narrow


def require_legal(
    state: BatchState, actions: NDArray[np.int16], rules: Rules, rows: Rows | None = None
) -> tuple[NDArray[np.int8], list[int]]:
    """Return the kind of each action, or raise if one is not legal.

    Cheaper than the masks: a knock is looked at only where one is asked for.

    Args:
        state: N games.
        actions: [K] int16, any numbers.
        rules: the settings.
        rows: [K] the rows in which the actions are taken; all if None.

    Returns:
        (kinds [K] int8: IGNORED where the deal is over; how many there are of each kind).

    Raises:
        IllegalActionError: for the first such row; says the action in words and what was legal.
    """
    raw = _KIND.take(actions + np.int16(1), mode="clip")
    phases = state.phase if rows is None else state.phase.take(rows)
    kinds = _KIND_IN_PHASE.reshape(-1).take(phases * np.int8(NUM_KINDS) + raw)
    counts = np.bincount(kinds, minlength=NUM_KINDS).tolist()
    illegal = counts[ILLEGAL] > 0
    if counts[DISCARDS] or counts[KNOCKS] or counts[BIG_GINS] or counts[TAKES]:
        illegal |= _mark_illegal(state, actions, rules, rows, kinds, counts)
    if illegal:
        place = int((kinds == ILLEGAL).argmax())
        row = place if rows is None else int(rows[place])
        allowed = action_masks(state.select([row]), rules)[0]
        raise IllegalActionError(row, int(actions[place]), allowed.nonzero()[0].tolist())
    return kinds, counts


def _mark_illegal(
    state: BatchState,
    actions: NDArray[np.int16],
    rules: Rules,
    rows: Rows | None,
    kinds: NDArray[np.int8],
    counts: list[int],
) -> bool:
    """Write ILLEGAL where an action of a kind that the phase allows is not; return whether any is.

    See `require_legal` for the arguments.
    """

    def of(places: Rows) -> Rows:
        return places if rows is None else rows[places]

    wrong: list[Rows] = []
    if counts[DISCARDS] or counts[KNOCKS]:
        places = (kinds <= KNOCKS).nonzero()[0]
        there = of(places)
        bits = _CARD_BIT_OF_ACTION.take(actions[places])
        hands = state.hands.reshape(-1).take(2 * there + state.player.take(there))
        may_go = hands
        if not rules.discard_taken_upcard:
            may_go = hands & ~CARD_BIT.take(state.taken_card.take(there))
        wrong.append(places[(may_go & bits) == 0])
        if counts[KNOCKS]:
            knocks = (kinds[places] == KNOCKS).nonzero()[0]
            left = deadwood(hands[knocks] & ~bits[knocks])
            wrong.append(places[knocks[left > state.knock_limit[there[knocks]]]])
    if rules.at_void_stock == "knock_with_discard":
        places = (kinds == DISCARDS).nonzero()[0]
        wrong.append(places[at_wall(state, rules, of(places))])
        places = (kinds == TAKES).nonzero()[0]
        places = places[state.phase[of(places)] == _WALL]
        if places.size:
            there = of(places)
            hands = mover_hands(state, there)
            fine = can_take_at_wall(hands, state.upcard[there], state.knock_limit[there], rules)
            wrong.append(places[~fine])
    if counts[BIG_GINS]:
        places = (kinds == BIG_GINS).nonzero()[0]
        fine = (deadwood(mover_hands(state, of(places))) == 0) & rules.big_gin
        wrong.append(places[~fine])
    for some in wrong:
        kinds[some] = ILLEGAL
    return any(some.size for some in wrong)


_CARD_BIT_OF_ACTION = np.concatenate([CARD_BIT[:NUM_CARDS], CARD_BIT[:NUM_CARDS]])
"""[104] uint64, the card that a discard or a knock lays down."""
