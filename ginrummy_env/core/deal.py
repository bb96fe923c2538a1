"""The cut, the shuffle and the deal: the one place where chance enters the game."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import NO_ACTION
from ginrummy_env.core.cards import (
    CARD_BIT,
    HAND_SIZE,
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    POINTS,
    RANK,
    SUIT,
    format_card,
)
from ginrummy_env.core.chance import Purpose, bits, keys
from ginrummy_env.core.rules import NUM_STOCK, Rules
from ginrummy_env.core.state import NOBODY, BatchState, Outcome, Phase
from ginrummy_env.core.types import Points, Rows

_CARD_FIELD = np.uint64(63)  # the low six bits of a random number carry the card


def _shuffled(row_keys: NDArray[np.uint64]) -> NDArray[np.int8]:
    """Return the 52 cards in random order for each key, [N, 52] int8.

    The cards are sorted by random numbers of 58 bits: two are equal once in 2 * 10**14 decks.
    """
    numbers = bits(row_keys, NUM_CARDS)
    numbers &= ~_CARD_FIELD
    numbers |= np.arange(NUM_CARDS, dtype=np.uint64)
    numbers.sort(axis=1)
    return (numbers & _CARD_FIELD).astype(np.int8)


def decks(seeds: ArrayLike, games: ArrayLike, deals: ArrayLike) -> NDArray[np.int8]:
    """Return the deck of each deal, a function of (seed, game number, deal number) alone.

    Args:
        seeds, games, deals: integers or [N] arrays that broadcast.

    Returns:
        [N, 52] int8 in dealing order: cards go to the non-dealer and the dealer in turn, ten
        each; then the upcard; then the stock, its next card first.
    """
    return _shuffled(keys(Purpose.SHUFFLE, seeds, games, deals))


def first_dealers(seeds: ArrayLike, games: ArrayLike) -> NDArray[np.int8]:
    """Return who deals first: both cut a card, the higher rank deals, equal ranks cut again.

    Args:
        seeds, games: integers or [N] arrays that broadcast.

    Returns:
        [N] int8, player 0 or 1.

    Source: RULES, One deal, 1.
    """
    ranks = RANK[_shuffled(keys(Purpose.CUT, seeds, games))].reshape(-1, NUM_CARDS // 2, 2)
    differ = ranks[:, :, 0] != ranks[:, :, 1]
    cut = ranks[np.arange(len(ranks)), differ.argmax(axis=1)]
    return (cut[:, 1] > cut[:, 0]).astype(np.int8)


def require_decks(given: ArrayLike, count: int) -> NDArray[np.int8]:
    """Return explicit decks as [N, 52] int8, or say what is wrong with them.

    Raises:
        ValueError: not whole numbers, a wrong shape, no card, or a card twice.
    """
    array = np.asarray(given)
    if array.dtype.kind not in "iu":
        raise ValueError(f"a deck is 52 whole numbers (cards), not {array.dtype}")
    if array.shape != (count, NUM_CARDS):
        raise ValueError(f"decks of shape {array.shape} where {(count, NUM_CARDS)} is needed")
    wrong = (array < 0) | (array >= NUM_CARDS)
    if wrong.any():
        raise ValueError(f"{array[wrong][0]} is not a card: cards are 0..51 (suit * 13 + rank)")
    ordered = np.sort(array, axis=1)
    twice = np.argwhere(ordered[:, 1:] == ordered[:, :-1])
    if twice.size:
        row, place = twice[0]
        raise ValueError(f"deck {row}: {format_card(int(ordered[row, place]))} appears twice")
    return array.astype(np.int8)


def knock_limits(upcards: NDArray[np.int8], rules: Rules) -> Points:
    """Return the knock limit in force, [N] int16, given each deal's first upcard.

    Source: RULES, Settings.
    """
    if not rules.oklahoma:
        return np.full(len(upcards), rules.knock_limit, dtype=np.int16)
    points = POINTS[upcards]
    return np.where(upcards % NUM_RANKS == 0, rules.oklahoma_ace, points).astype(np.int16)


def doubled(first_upcards: NDArray[np.int8], rules: Rules) -> NDArray[np.bool_]:
    """Return whether the deal's points count double, [N] bool (Oklahoma, spades).

    Source: RULES, Settings.
    """
    doubles = rules.oklahoma and rules.oklahoma_spades_double
    return (SUIT[first_upcards] == 0) & doubles


def deal(state: BatchState, rows: Rows, cards: NDArray[np.int8], rules: Rules) -> None:
    """Deal ``cards[k]`` in row ``rows[k]``, whose dealer is set. Changes ``state`` in place.

    Args:
        state: the batch.
        rows: [K] row numbers, none twice.
        cards: [K, 52] int8 in dealing order.
        rules: for the knock limit.

    Source: RULES, One deal, 2.
    """
    dealer = state.dealer[rows]
    dealt = CARD_BIT[cards[:, : 2 * HAND_SIZE]].reshape(-1, HAND_SIZE, 2)
    hands = np.bitwise_or.reduce(dealt, axis=1)  # non-dealer, dealer
    flat = state.hands.reshape(-1)
    flat[2 * rows + 1 - dealer] = hands[:, 0]
    flat[2 * rows + dealer] = hands[:, 1]
    upcards = cards[:, 2 * HAND_SIZE]
    state.deck[rows] = cards
    state.stock_count[rows] = NUM_STOCK
    state.discard_pile[rows] = NO_CARD
    state.discard_pile[rows, 0] = upcards
    state.discard_count[rows] = 1
    state.first_upcard[rows] = upcards
    state.knock_limit[rows] = knock_limits(upcards, rules)
    state.player[rows] = 1 - dealer
    state.phase[rows] = Phase.OPENING
    for field in (state.turn, state.step_count, state.points):
        field[rows] = 0
    state.outcome[rows] = Outcome.NONE
    for masks in (state.known, state.taken, state.discarded, state.declined):
        masks[rows] = 0
    state.drawn_card[rows] = state.taken_card[rows] = NO_CARD
    state.history[rows] = NO_ACTION
    state.winner[rows] = state.knocker[rows] = NOBODY
    state.knocker_deadwood[rows] = state.defender_deadwood[rows] = -1
