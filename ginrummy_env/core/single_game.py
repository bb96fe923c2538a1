"""One game without NumPy's cost of a call: the plain steps of a turn, masks and observations.

A batch of one spends its time on calling NumPy, some hundred times a step. What is plain (drawing
and discarding where no deal ends; masks where no knock is near; observations where no rank is held
three times) is done here with Python's numbers, in a tenth of the time, on the same state. All else
is left to `core`, and the tests hold every result against it.
"""

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import (
    BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    PASS,
    TAKE_UPCARD,
)
from ginrummy_env.core.cards import (
    CARD_BIT,
    LANE_POINTS,
    LANE_RANKS,
    NO_CARD,
    NUM_CARDS,
    NUM_LANE_PATTERNS,
    NUM_RANKS,
)
from ginrummy_env.core.deadwood import NUM_WAYS, WAYS
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.melds import LANE_IN_RUNS, LANE_LEFT, SUIT_SPREAD
from ginrummy_env.core.observation import observation_size, observe, scalar_factors
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.view import OPPONENT, View, make_view

_OPENING, _FIRST_DRAW, _DRAW, _DISCARD, _, _DEAL_OVER, _ = (int(phase) for phase in Phase)
_NUM_PHASES = len(Phase)
_BITS = list(CARD_BIT[:NUM_CARDS])
_INT_BITS = [int(bit) for bit in CARD_BIT]  # _INT_BITS[NO_CARD] is 0
_LANE = NUM_LANE_PATTERNS - 1
_EVERY_SUIT = 0x0001000100010001

_LEFT: list[int] = LANE_LEFT.tolist()
_IN_RUNS: list[int] = LANE_IN_RUNS.tolist()
_POINTS: list[int] = LANE_POINTS.tolist()
_FLAGS = LANE_RANKS.astype(np.float32)
_FLAG_BYTES = [row.tobytes() for row in LANE_RANKS]
_NO_KNOCK = bytes(NUM_ACTIONS - NUM_CARDS)

# The sets that can be made of the suits held of one rank, as cards of rank 0; first none.
_WAYS: list[list[int]] = [
    SUIT_SPREAD[WAYS[held, : NUM_WAYS[held]]].tolist() for held in range(len(WAYS))
]

# [8192, 13]: by how much the points left of a suit change when one of its cards goes, modulo 256;
# _ABSENT, larger than any sum of points can be, for a card that is not there.
_ABSENT = 140
_PATTERNS = np.arange(NUM_LANE_PATTERNS)[:, None]
_CHANGE = np.where(
    LANE_RANKS,
    LANE_LEFT[_PATTERNS & ~(1 << np.arange(NUM_RANKS))] - LANE_LEFT[_PATTERNS],
    np.uint8(_ABSENT),
)
# [256]: the number of the plane "after_discard" by deadwood.
_AFTER = np.where(np.arange(256) < _ABSENT, (100 - np.arange(256, dtype=np.float32)) / 100, 0)
_AFTER = _AFTER.astype(np.float32)

_PLAIN_MASKS: dict[int, bytes] = {}
for _phase, _actions in {
    _OPENING: (TAKE_UPCARD, PASS),
    _FIRST_DRAW: (DRAW_STOCK,),
    _DRAW: (DRAW_STOCK, TAKE_UPCARD),
}.items():
    _PLAIN_MASKS[_phase] = bytes(action in _actions for action in range(NUM_ACTIONS))


def quick_step(state: BatchState, action: int, rules: Rules) -> bool:
    """Take an action in a batch of one if it is plain: a draw, or a discard that ends no deal.

    Args:
        state: one game, changed in place.
        action: a legal action.
        rules: the settings.

    Returns:
        Whether it has been taken. If not, nothing has changed and `step.step` has to do it.
    """
    count = state.step_count.item(0)
    phase = state.phase.item(0)
    player = state.player.item(0)
    if count >= state.history.shape[1]:
        return False
    if action < KNOCK:
        turn = state.turn.item(0) + 1
        bound = rules.turn_bound
        if state.stock_count.item(0) <= rules.void_stock or (bound is not None and turn >= bound):
            return False
        bit = _BITS[action]
        state.hands[0, player] ^= bit
        state.known[0, player] &= ~bit
        state.discarded[0, player] |= bit
        top = state.discard_count.item(0)
        state.discard_pile[0, top] = action
        state.discard_count[0] = top + 1
        state.turn[0] = turn
        state.drawn_card[0] = state.taken_card[0] = NO_CARD
        state.player[0] = 1 - player
        state.phase[0] = _DRAW
    elif action == DRAW_STOCK:
        left = state.stock_count.item(0)
        card = state.deck.item(0, NUM_CARDS - left)
        top = state.discard_count.item(0) - 1
        state.stock_count[0] = left - 1
        state.hands[0, player] |= _BITS[card]
        if top >= 0:
            state.declined[0, player] |= _BITS[state.discard_pile.item(0, top)]
        state.drawn_card[0] = card
        state.phase[0] = _DISCARD
    elif action == TAKE_UPCARD:
        top = state.discard_count.item(0) - 1
        card = state.discard_pile.item(0, top)
        bit = _BITS[card]
        state.discard_pile[0, top] = NO_CARD
        state.discard_count[0] = top
        for cards in (state.hands, state.known, state.taken):
            cards[0, player] |= bit
        state.drawn_card[0] = state.taken_card[0] = card
        state.phase[0] = _DISCARD
    elif action == PASS and phase == _OPENING:
        top = state.discard_count.item(0) - 1
        state.declined[0, player] |= _BITS[state.discard_pile.item(0, top)]
        if player == state.dealer.item(0):
            state.phase[0] = _FIRST_DRAW
        state.player[0] = 1 - player
    else:
        return False
    state.history[0, count] = action
    state.step_count[0] = count + 1
    return True


def quick_legal_step(
    state: BatchState, action: object, rules: Rules, mask: NDArray[np.int8] | None = None
) -> bool:
    """Take an action in a batch of one if it is legal and plain; see `quick_step`.

    Args:
        state: one game, changed in place.
        action: anything; what is not a legal action is left to the core to judge.
        rules: the settings.
        mask: [108], the legal actions, if they have been computed.

    Returns:
        Whether it has been taken; if not, nothing has changed.
    """
    if isinstance(action, bool) or not isinstance(action, int | np.integer):
        return False
    if not 0 <= action < NUM_ACTIONS:
        return False
    if mask is None:
        mask = quick_mask(state, rules)
    return bool(mask[action]) and quick_step(state, int(action), rules)


def quick_mask(state: BatchState, rules: Rules) -> NDArray[np.int8]:
    """Return the legal actions of a batch of one, [108] int8, a new array; see `legal`."""
    hand = state.hands.item(0, state.player.item(0))
    mask = _plain_mask(state, hand, rules)
    if mask is None:
        return action_masks(state, rules)[0].astype(np.int8)
    return np.frombuffer(bytearray(mask), dtype=np.int8)


def quick_view_mask(view: View) -> NDArray[np.bool_]:
    """Return the viewer's legal actions, [108] bool, of a view of one row; see `View`."""
    mask = _plain_mask(view, view.hand.item(0), view.rules) if view.to_move.item(0) else None
    if mask is None:
        return view.action_masks()[0]
    return np.frombuffer(bytearray(mask), dtype=np.bool_)


def _plain_mask(seen: BatchState | View, hand: int, rules: Rules) -> bytes | None:
    """Return the legal actions of who is to move and holds the hand; None if they are not plain."""
    phase = seen.phase.item(0)
    if phase != _DISCARD:
        return _PLAIN_MASKS.get(phase)
    if rules.at_void_stock == "knock_with_discard":
        return None
    s, h, d, c = hand & _LANE, hand >> 16 & _LANE, hand >> 32 & _LANE, hand >> 48
    alone = ~_threes(s, h, d, c)  # ranks of which no set can be made
    never_melded = sum(_POINTS[suit & alone & ~_IN_RUNS[suit]] for suit in (s, h, d, c))
    limit, taken = seen.knock_limit.item(0), seen.taken_card.item(0)
    may_go = hand
    if taken != NO_CARD and not rules.discard_taken_upcard:
        may_go &= ~_INT_BITS[taken]
    flags = [_FLAG_BYTES[may_go >> shift & _LANE] for shift in (0, 16, 32, 48)]
    # The bound of `deadwood.may_reach`: no knock, and no big gin, is near.
    if not hand or never_melded > limit + 10:
        return b"".join((*flags, _NO_KNOCK))
    _, least, after = _melding(hand, True)
    assert after is not None
    knocks = after <= limit
    if may_go != hand:
        knocks[taken] = False
    others = bytearray(NUM_ACTIONS - 2 * NUM_CARDS)
    others[BIG_GIN - 2 * NUM_CARDS] = rules.big_gin and not least
    return b"".join((*flags, knocks.tobytes(), others))


def _threes(s: int, h: int, d: int, c: int) -> int:
    """Return the ranks held three or four times, as a suit pattern."""
    return (s & h & (d | c)) | (d & c & (s | h))


def quick_observation(
    state: BatchState, rules: Rules, player: int, derived: bool
) -> NDArray[np.float32]:
    """Return what a player of a batch of one sees, [size] float32; see `observation`."""
    phase = state.phase.item(0)
    if phase >= _DEAL_OVER:
        return observe(make_view(state, rules, [player]), derived)[0]
    other = 1 - player
    hand = state.hands.item(0, player)
    mine, theirs = state.known.item(0, player), state.known.item(0, other)
    pile = int(np.bitwise_or.reduce(CARD_BIT[state.discard_pile[0]]))
    top = state.discard_count.item(0) - 1
    moves = state.player.item(0) == player
    cards = [
        hand,
        _INT_BITS[state.discard_pile.item(0, top)] if top >= 0 else 0,
        pile,
        theirs,
        mine,
        state.discarded.item(0, other),
        state.discarded.item(0, player),
        state.declined.item(0, other),
        _INT_BITS[state.drawn_card.item(0)] if moves else 0,
    ]
    numbers = [
        moves,
        player == state.dealer.item(0),
        state.stock_count.item(0),
        state.turn.item(0),
        state.scores.item(0, player),
        state.scores.item(0, other),
        state.deals_won.item(0, player),
        state.deals_won.item(0, other),
    ]
    return _written(cards, phase, numbers, state.knock_limit.item(0), rules, derived)


def quick_view_observation(view: View, derived: bool) -> NDArray[np.float32]:
    """Return a view of one row as numbers, [size] float32; see `observation`."""
    phase = view.phase.item(0)
    if phase >= _DEAL_OVER:
        return observe(view, derived)[0]
    mine, theirs = view.known.tolist()[0]
    my_discards, their_discards = view.discarded.tolist()[0]
    laid = _INT_BITS[view.first_upcard.item(0)] | my_discards | their_discards
    cards = [
        view.hand.item(0),
        _INT_BITS[view.upcard.item(0)],
        laid & ~mine & ~theirs,
        theirs,
        mine,
        their_discards,
        my_discards,
        view.declined.item(0, OPPONENT),
        _INT_BITS[view.drawn_card.item(0)],
    ]
    numbers = [
        view.to_move.item(0),
        view.is_dealer.item(0),
        view.stock_count.item(0),
        view.turn.item(0),
        *view.scores.tolist()[0],
        *view.deals_won.tolist()[0],
    ]
    return _written(cards, phase, numbers, view.knock_limit.item(0), view.rules, derived)


def _written(
    cards: list[int], phase: int, numbers: list[int], limit: int, rules: Rules, derived: bool
) -> NDArray[np.float32]:
    """Return the observation.

    Args:
        cards: the raw planes but the last, the cards never seen.
        phase: not over.
        numbers: the scalars between the phases and the deadwood.
        limit: the knock limit.
        rules: the settings.
        derived: see `observation.observe`.
    """
    deck = int(rules.full_deck)
    hand, _, pile, theirs, *_ = cards
    cards.append(deck & ~(hand | pile | theirs))
    melded, left, after = _melding(hand, derived and hand.bit_count() == rules.hand_size + 1)
    observation = np.zeros(observation_size(derived), dtype=np.float32)
    at = raw = len(cards) * NUM_CARDS
    if derived:
        cards += [melded, _new_melds(hand, deck)]
    planes = _FLAGS.take(np.array(cards, dtype="<u8").view("<u2"), axis=0).reshape(-1)
    observation[:raw] = planes[:raw]
    if derived:
        observation[raw : raw + NUM_CARDS] = planes[raw : raw + NUM_CARDS]
        at = raw + 2 * NUM_CARDS
        if after is not None:
            observation[at - NUM_CARDS : at] = _AFTER.take(after)
        observation[at : at + NUM_CARDS] = planes[raw + NUM_CARDS :]
        at += NUM_CARDS
    phases = [0] * _NUM_PHASES
    phases[phase] = 1
    block = np.array([*phases, *numbers, left, limit], dtype=np.float32)
    block *= scalar_factors(rules.target)
    np.minimum(block, 1, out=observation[at:])
    return observation


def _melding(hand: int, discarding: bool) -> tuple[int, int, NDArray[np.uint8] | None]:
    """Return the melded cards of a hand, its deadwood, and the deadwood after each discard.

    As `deadwood.melded_cards` and `deadwood.deadwood_after_discard` do it: over all choices of
    sets, in the same order, the rest by table.

    Args:
        hand: its cards.
        discarding: whether the third is asked for; None if not.
    """
    s, h, d, c = hand & _LANE, hand >> 16 & _LANE, hand >> 32 & _LANE, hand >> 48
    sets = [0]
    threes = _threes(s, h, d, c)
    while threes:
        rank = (threes & -threes).bit_length() - 1
        threes &= threes - 1
        held = (s >> rank & 1) | (h >> rank & 1) << 1 | (d >> rank & 1) << 2 | (c >> rank & 1) << 3
        sets = [chosen | way << rank for way in _WAYS[held] for chosen in sets]
    best, melded, least = 0, 0, 256
    suits, lefts = [], []
    for chosen in sets:
        rest = hand & ~chosen
        s, h, d, c = rest & _LANE, rest >> 16 & _LANE, rest >> 32 & _LANE, rest >> 48
        left = _LEFT[s] + _LEFT[h] + _LEFT[d] + _LEFT[c]
        if left < least:
            least = left
            best = chosen
            melded = _IN_RUNS[s] | _IN_RUNS[h] << 16 | _IN_RUNS[d] << 32 | _IN_RUNS[c] << 48
        suits += [s, h, d, c]
        lefts.append(left)
    if not discarding:
        return best | melded, least, None
    after = _CHANGE.take(suits, axis=0).reshape(len(sets), NUM_CARDS)
    if len(sets) == 1:
        return melded, least, after[0] + np.uint8(least)
    after += np.array(lefts, dtype=np.uint8)[:, None]
    return best | melded, least, after.min(axis=0)


def _new_melds(hand: int, deck: int) -> int:
    """Return the cards that would make a new meld with the hand; see `melds.melding_cards`."""
    s, h, d, c = hand & _LANE, hand >> 16 & _LANE, hand >> 32 & _LANE, hand >> 48
    below, above = hand << 1, hand >> 1
    runs = (below & (hand << 2)) | (above & (hand >> 2)) | (below & above)
    pairs = (s & h) | (d & c) | ((s | h) & (d | c))
    return (runs | pairs * _EVERY_SUIT) & deck & ~hand
