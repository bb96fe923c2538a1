"""Worlds that agree with a view: the opponent's ten cards and the order of the stock."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents import compiled
from ginrummy_agents.search.belief import Belief, stages
from ginrummy_agents.search.settle import left_over
from ginrummy_env.core.cards import CARD_BIT, NUM_CARDS, card_planes, hand_size
from ginrummy_env.core.chance import Random
from ginrummy_env.core.sampling import sample_states
from ginrummy_env.core.types import Hands
from ginrummy_env.core.view import OPPONENT, View

SWAPS = 16
"""Cards that are offered in exchange, one after another, to make a hand look played."""


@dataclass(slots=True)
class Worlds:
    """k worlds for each of N positions, those of one side by side."""

    theirs: Hands  # [N * k] uint64
    deck: NDArray[np.int8]  # [N * k, 52] the stock at the end
    opponent_waits: NDArray[
        np.bool_
    ]  # [N * k] whether the opponent waits for gin: they could have knocked in their last turn


def sample_worlds(
    view: View,
    count: int,
    rng: Random,
    belief: Belief | None,
    swaps: int = SWAPS,
    waits: float = 0.0,
) -> Worlds:
    """Return ``count`` worlds for each row of a view.

    Without a belief all hands are equally likely. With one, a hand is drawn card by card by the
    belief's weights; then single cards of it are exchanged with the stock, as the Metropolis
    rule has it, so that hands come to be likely in proportion to the product of their cards'
    weights times ``exp(-slope × deadwood)``: cards drawn one by one lack a played hand's melds.

    Args:
        view: N rows.
        count: worlds a row.
        rng: randomness of N rows.
        belief: how the opponent's cards are judged; None: all alike.
        swaps: exchanges tried for each world.
        waits: share of other worlds in which the opponent waits for gin too.

    Source: Metropolis et al. (1953).
    """
    weights = None if belief is None else belief.weights(view)
    states = sample_states(view, view.rules, rng, count, weights)
    rows = np.arange(len(states))
    theirs = states.hands[rows, np.repeat(1 - view.player, count)]
    if belief is not None and weights is not None and swaps:
        chances = rng.random((len(view), count, 3 * swaps)).reshape(-1, swaps, 3)
        slopes = np.repeat(belief.deadwood[stages(view)], count)
        unknown = theirs & ~np.repeat(view.known[:, OPPONENT], count)
        theirs = _swapped(
            states.deck, theirs, unknown, states.stock_count, weights, slopes, chances
        )
    # What they drew last is in their hand: this is the deadwood with which they threw a card.
    had_turn = np.repeat(view.discarded[:, OPPONENT] != 0, count)
    opponent_waits = had_turn & (left_over(theirs) <= states.knock_limit)
    if waits > 0:
        opponent_waits |= rng.random((len(view), count)).reshape(-1) < waits
    return Worlds(theirs, states.deck, opponent_waits)


def _swapped(
    deck: NDArray[np.int8],
    theirs: Hands,
    unknown: Hands,
    stock: NDArray[np.int8],
    weights: NDArray[np.float64],
    slopes: NDArray[np.float64],
    chances: NDArray[np.float64],
) -> Hands:
    """Return hands after exchanges with the stock, [W]. Changes ``deck`` in place."""
    logs, fits = np.log(weights), np.log(np.maximum(chances[:, :, 2], 1e-12))
    if compiled.in_use():
        from ginrummy_agents import kernels

        with compiled.first_use("the sampled hands of the search"):
            kernels.swapped(theirs, unknown, deck, stock, logs, slopes, chances, fits)
        return theirs
    size = hand_size(unknown).astype(np.int64)
    # Their unknown cards, in ascending order, as numbers; behind them anything.
    cards = np.argsort(~card_planes(unknown), axis=1, kind="stable")[:, :10].astype(np.int8)
    rows = np.arange(len(theirs))
    flat_logs = logs.reshape(-1)
    base = rows // (len(theirs) // len(weights)) * NUM_CARDS
    left = left_over(theirs)
    flat_cards, flat_deck = cards.reshape(-1), deck.reshape(-1)
    for number in range(chances.shape[1]):
        out_at = rows * 10 + (chances[:, number, 0] * size).astype(np.int64)
        in_at = (rows + 1) * NUM_CARDS - 1 - (chances[:, number, 1] * stock).astype(np.int64)
        out, new = flat_cards[out_at], flat_deck[in_at]
        hand = (theirs & ~CARD_BIT[out]) | CARD_BIT[new]
        after = left_over(hand)
        score = flat_logs[base + new] - flat_logs[base + out] - slopes * (after - left)
        taken = np.flatnonzero((score > fits[:, number]) & (size > 0) & (stock > 0))
        theirs[taken], left[taken] = hand[taken], after[taken]
        flat_cards[out_at[taken]], flat_deck[in_at[taken]] = new[taken], out[taken]
    return theirs
