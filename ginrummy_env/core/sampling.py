"""Full states that agree with what a player sees: for search, and for beliefs about the opponent.

What a view leaves open is which unseen cards the opponent holds, and in which order the others lie
in the stock. A sampled state is one full deal with all that settled; its view is the view it was
sampled from. Nothing of the true state but the view is read.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import (
    CARD_BIT,
    HAND_SIZE,
    NO_CARD,
    NUM_CARDS,
    card_planes,
    hand_of,
    hand_size,
)
from ginrummy_env.core.chance import Random
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.types import Hands
from ginrummy_env.core.view import OPPONENT, View


def sample_states(
    view: View,
    rules: Rules,
    rng: Random,
    k: int,
    weights: NDArray[np.float64] | None = None,
) -> BatchState:
    """Return ``k`` full states for each row of a view, all of which agree with it.

    Args:
        view: N rows.
        rules: the settings of the game; the view's own.
        rng: randomness. One row of numbers is drawn for each row of the view.
        k: states a row.
        weights: [N, 52] non-negative, how likely each unseen card is to be the opponent's, up to a
            factor: their unknown cards are drawn one after another in proportion (Plackett-Luce).
            All alike if None, which is exact if their play reveals nothing.

    Returns:
        N * k rows: the k states of view row 0, then those of row 1, and so on. They play on; but
        their decks hold only the stock in its place (the other cards before it, ascending), and
        seed and game number are 0, so that the next deal is not that of the game they stand for.

    Raises:
        ValueError: k below 1, weights of a wrong shape or sign, other rules than the view's.
    """
    count = len(view)
    if k < 1:
        raise ValueError(f"k={k}: at least one state per row is needed")
    if rules != view.rules:
        raise ValueError("the rules are not those that the view was made with")
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (count, NUM_CARDS) or not (weights >= 0).all():
            raise ValueError(
                f"weights are [{count}, 52] numbers of at least 0, not {weights.shape}"
            )
    keys = _keys(rng.random((count, k, NUM_CARDS)), weights)
    keys[~np.broadcast_to(card_planes(view.unseen)[:, None], keys.shape)] = np.inf
    order = _sorted_cards(keys.reshape(count * k, NUM_CARDS))
    rows = np.repeat(np.arange(count), k)
    known = view.known[:, OPPONENT] | view.opponent_hand
    missing = (_opponent_size(view) - hand_size(known))[rows]
    drawn = np.where(np.arange(MAX_HAND) < missing[:, None], order[:, :MAX_HAND], NO_CARD)
    return _state(view, rows, known[rows] | hand_of(drawn), order, missing)


MAX_HAND = HAND_SIZE + 1


def _sorted_cards(keys: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return the cards in ascending order of their keys, [M, 52] int8; keys are 0 or more.

    Floats from 0 on are in the order of their bits, so the card goes into the lowest six of them.
    """
    numbers = keys.view(np.uint64) & ~_CARD_FIELD
    numbers |= np.arange(NUM_CARDS, dtype=np.uint64)
    numbers.sort(axis=1)
    return (numbers & _CARD_FIELD).astype(np.int8)


_CARD_FIELD = np.uint64(63)


def _keys(
    uniforms: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return sort keys: the lowest come first, in proportion to the weights (exponential races)."""
    if weights is None:
        return uniforms
    # -log(u) / w is the arrival time of a card; those of weight 0 come last, in random order.
    waiting = -np.log1p(-uniforms)
    late = np.finfo(np.float64).max / 4
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        arrival = np.minimum(waiting / weights[:, None], late)
    return np.where(weights[:, None] > 0, arrival, late * (1 + uniforms))


def _opponent_size(view: View) -> NDArray[np.int64]:
    """Return how many cards the opponent holds: one more between draw and discard."""
    drawn = (view.phase == Phase.DISCARD) & ~view.to_move
    shown = hand_size(view.opponent_hand)
    return np.where(shown > 0, shown, view.rules.hand_size + drawn).astype(np.int64)


_COPIED = (
    "stock_count discard_pile discard_count first_upcard knock_limit phase turn taken_card "
    "history step_count outcome points knocker_deadwood defender_deadwood deal_number"
).split()
_BY_PLAYER = "known taken discarded declined scores deals_won".split()


def _state(
    view: View,
    rows: NDArray[np.intp],
    opponent_hands: Hands,
    order: NDArray[np.int8],
    missing: NDArray[np.int64],
) -> BatchState:
    """Return the states in which the opponent holds these cards and the stock lies in this order.

    Args:
        view: N rows.
        rows: [M] the view's row of each state.
        opponent_hands: [M] uint64.
        order: [M, 52] the unseen cards first: the opponent's unknown cards, then the stock.
        missing: [M] how many of them are the opponent's.
    """
    players = view.player[rows]
    swap = players[:, None] != 0

    def by_player(columns: NDArray[Any]) -> NDArray[Any]:
        return np.where(swap, columns[:, ::-1], columns)

    def player_of(side: NDArray[np.int8]) -> NDArray[np.int8]:
        return np.where(side < 0, side, side ^ players)

    fields: dict[str, NDArray[Any]] = {name: getattr(view, name)[rows] for name in _COPIED}
    fields |= {name: by_player(getattr(view, name)[rows]) for name in _BY_PLAYER}
    to_move = view.to_move[rows]
    stock = fields["stock_count"].astype(np.int64)
    # A card drawn from the stock is not shown: any of the unknown cards of who drew may be it.
    hidden_draw = (fields["phase"] == Phase.DISCARD) & ~to_move
    drawn = np.where(fields["taken_card"] != NO_CARD, fields["taken_card"], order[:, 0])
    unused = np.zeros(len(rows), dtype=np.uint64)
    return BatchState(
        hands=by_player(np.stack([view.hand[rows], opponent_hands], axis=1)),
        deck=_decks(order, missing, stock, view.rules),
        player=np.where(to_move, players, 1 - players).astype(np.int8),
        dealer=np.where(view.is_dealer[rows], players, 1 - players).astype(np.int8),
        drawn_card=np.where(hidden_draw, drawn, view.drawn_card[rows]).astype(np.int8),
        winner=player_of(view.winner[rows]),
        knocker=player_of(view.knocker[rows]),
        seed=unused,
        game_number=unused.copy(),
        **fields,
    )


def _decks(
    order: NDArray[np.int8], missing: NDArray[np.int64], stock: NDArray[np.int64], rules: Rules
) -> NDArray[np.int8]:
    """Return decks that end with the stock, [M, 52] int8; the cards before it ascend.

    A small deck starts with NO_CARD for each card that it has not, as dealt ones do.
    """
    place = np.arange(NUM_CARDS)
    first = missing[:, None]
    in_stock = (place >= first) & (place < first + stock[:, None])
    # Sort by (stock or not, place in the stock, card), packed into one number per card.
    numbers = np.where(in_stock, 64 * (place + 2), 64).astype(np.uint16) + order.astype(np.uint16)
    missing_cards = NUM_CARDS - rules.num_cards
    if missing_cards:
        numbers[(CARD_BIT[order] & rules.full_deck) == 0] &= np.uint16(63)
    numbers.sort(axis=1)
    deck = (numbers & np.uint16(63)).astype(np.int8)
    deck[:, :missing_cards] = NO_CARD
    return deck
