"""The cut, the shuffle and the deal: the one place where chance enters the game."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import NO_ACTION
from ginrummy_env.core.cards import (
    CARD_BIT,
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    POINTS,
    RANK,
    SUIT,
    cards_of,
    format_card,
)
from ginrummy_env.core.chance import Purpose, bits, keys
from ginrummy_env.core.rules import CLASSIC, Rules
from ginrummy_env.core.state import NOBODY, BatchState, Outcome, Phase
from ginrummy_env.core.types import Points, Rows

_CARD_FIELD = np.uint64(63)  # the low six bits of a random number carry the card


def _shuffled(row_keys: NDArray[np.uint64], rules: Rules = CLASSIC) -> NDArray[np.int8]:
    """Return the cards in random order for each key, [N, Rules.num_cards] int8.

    The cards are sorted by random numbers of 58 bits: two are equal once in 2 * 10**14 decks. A
    small deck is the full one without the cards that it has not.
    """
    numbers = bits(row_keys, NUM_CARDS)
    numbers &= ~_CARD_FIELD
    numbers |= np.arange(NUM_CARDS, dtype=np.uint64)
    if rules.num_cards < NUM_CARDS:
        numbers = numbers[:, cards_of(rules.full_deck)]
    numbers.sort(axis=1)
    return (numbers & _CARD_FIELD).astype(np.int8)


def decks(
    seeds: ArrayLike, games: ArrayLike, deals: ArrayLike, rules: Rules = CLASSIC
) -> NDArray[np.int8]:
    """Return the deck of each deal, a function of (seed, game number, deal number) alone.

    Args:
        seeds, games, deals: integers or [N] arrays that broadcast.
        rules: which cards the deck has.

    Returns:
        [N, Rules.num_cards] int8 in dealing order: cards go to the non-dealer and the dealer in
        turn, ten each (`Rules.hand_size`); then the upcard; then the stock, its next card first.
    """
    return _shuffled(keys(Purpose.SHUFFLE, seeds, games, deals), rules)


def first_dealers(seeds: ArrayLike, games: ArrayLike) -> NDArray[np.int8]:
    """Return who deals first: both cut a card, the higher rank deals, equal ranks cut again.

    The cut is of all 52 cards, whatever the deck.

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


def require_decks(given: ArrayLike, count: int, rules: Rules = CLASSIC) -> NDArray[np.int8]:
    """Return explicit decks as [N, Rules.num_cards] int8, or say what is wrong with them.

    Raises:
        ValueError: not whole numbers, a wrong shape, no card (or none of the deck), a card twice.
    """
    array = np.asarray(given)
    shape = (count, rules.num_cards)
    if array.dtype.kind not in "iu":
        raise ValueError(f"a deck is {shape[1]} whole numbers (cards), not {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"decks of shape {array.shape}, expected {shape}")
    wrong = (array < 0) | (array >= NUM_CARDS)
    if wrong.any():
        raise ValueError(f"{array[wrong][0]} is not a card: cards are 0..51 (suit * 13 + rank)")
    outside = (CARD_BIT[array] & ~rules.full_deck) != 0
    if outside.any():
        raise ValueError(
            f"{format_card(int(array[outside][0]))} is not in a deck of {rules.num_suits} suits "
            f"and {rules.num_ranks} ranks"
        )
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
        cards: [K, Rules.num_cards] int8 in dealing order.
        rules: for the size of the hands and the knock limit.

    Source: RULES, One deal, 2.
    """
    dealer = state.dealer[rows]
    size = rules.hand_size
    dealt = CARD_BIT[cards[:, : 2 * size]].reshape(-1, size, 2)
    hands = np.bitwise_or.reduce(dealt, axis=1)  # non-dealer, dealer
    flat = state.hands.reshape(-1)
    flat[2 * rows + 1 - dealer] = hands[:, 0]
    flat[2 * rows + dealer] = hands[:, 1]
    upcards = cards[:, 2 * size]
    # The stock ends where the row does, whatever the deck.
    state.deck[rows, NUM_CARDS - rules.num_cards :] = cards
    state.stock_count[rows] = rules.num_stock
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
