"""Worlds that agree with a view: the opponent's ten cards and the order of the stock."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents import compiled
from ginrummy_agents.search.belief import Belief, stages
from ginrummy_agents.search.evidence import log_likelihoods
from ginrummy_agents.search.manners import manners
from ginrummy_agents.search.past import PastTurn
from ginrummy_agents.search.settle import left_over
from ginrummy_env.core.cards import CARD_BIT, NUM_CARDS, card_planes, hand_size
from ginrummy_env.core.chance import Random
from ginrummy_env.core.sampling import sample_states
from ginrummy_env.core.types import Float, Hands
from ginrummy_env.core.view import OPPONENT, View

OVERSAMPLED = 2
"""Hands that are sampled for each world."""

SWAPS = 16
"""Cards that are offered in exchange, one after another, to make a hand look played."""


@dataclass(slots=True)
class Worlds:
    """k worlds for each of N positions, those of one side by side."""

    theirs: Hands  # [N * k] uint64
    deck: NDArray[np.int8]  # [N * k, 52] the stock at the end
    manner: NDArray[np.int8]  # [N * k] what the opponent is like, a place in `manners.manners`


def sample_worlds(
    view: View, count: int, rng: Random, belief: Belief | None, past: Sequence[PastTurn] = ()
) -> Worlds:
    """Return ``count`` worlds for each row of a view, by all that the opponent was seen to do.

    Twice as many hands are sampled and weighed by the opponent's last turns (`evidence`). Worlds,
    a hand and a manner each, are then drawn in proportion to their weights, evenly spread over them
    (systematic resampling); those of one hand share its stock. Weights that would leave too few
    worlds are drawn nearer to each other.

    Args:
        view: N rows.
        count: worlds a row.
        rng: randomness of N rows.
        belief: how the opponent's cards are judged; None: all alike.
        past: the opponent's last turns, the latest first (`past.past_turns`).

    Source: Gordon, Salmond and Smith (1993).
    """
    many = OVERSAMPLED * count
    hands, decks = sample_hands(view, many, rng, belief)
    theirs = hands.reshape(-1, many)
    kinds = manners(view.rules)
    logs = np.log([kind.share for kind in kinds]) + log_likelihoods(view, theirs, rng, past)
    # Manner by manner, so that even steps through the weights do not meet one manner alone.
    weights = tempered(np.moveaxis(logs, 2, 1).reshape(len(view), -1), count)
    ends = weights.cumsum(axis=1)
    ends /= ends[:, -1:]
    targets = (np.arange(count) + rng.random((len(view), 1))) / count
    rows = np.arange(len(view))[:, None]
    found = np.searchsorted((ends + rows).reshape(-1), (targets + rows).reshape(-1))
    found = np.minimum(found, np.repeat((rows + 1) * weights.shape[1] - 1, count))
    row, place = np.divmod(found, weights.shape[1])
    manner, hand = np.divmod(place, many)
    world = row * many + hand
    return Worlds(hands[world], decks[world], manner.astype(np.int8))


def tempered(logs: Float, count: int) -> Float:
    """Return weights that leave an effective sample of at least half of ``count`` in each row.

    Args:
        logs: [N, W] logarithms of weights, which are halved until that holds.
        count: worlds that are wanted.
    """
    logs = logs - logs.max(axis=1, keepdims=True)
    weights = np.exp(logs)
    for _ in range(8):
        few = np.flatnonzero(weights.sum(axis=1) ** 2 < count / 2 * (weights**2).sum(axis=1))
        if not few.size:
            break
        logs[few] /= 2
        weights[few] = np.exp(logs[few])
    return weights


def sample_hands(
    view: View, count: int, rng: Random, belief: Belief | None, swaps: int = SWAPS
) -> tuple[Hands, NDArray[np.int8]]:
    """Return ``count`` hands of the opponent for each row of a view, with decks for the stock.

    Without a belief all hands are equally likely. With one, a hand is drawn card by card by the
    belief's weights; then single cards of it are exchanged with the stock, as the Metropolis
    rule has it, so that hands come to be likely in proportion to the product of their cards'
    weights times ``exp(-slope × deadwood)``: cards drawn one by one lack a played hand's melds.

    Args:
        view: N rows.
        count: hands a row.
        rng: randomness of N rows.
        belief: how the opponent's cards are judged; None: all alike.
        swaps: exchanges tried for each hand.

    Returns:
        (hands [N * count] uint64, decks [N * count, 52] int8).

    Source: Metropolis et al. (1953).
    """
    weights = None if belief is None else belief.weights(view)
    states = sample_states(view, view.rules, rng, count, weights)
    theirs = states.hands[np.arange(len(states)), np.repeat(1 - view.player, count)]
    if belief is not None and weights is not None and swaps:
        chances = rng.random((len(view), count, 3 * swaps)).reshape(-1, swaps, 3)
        slopes = np.repeat(belief.deadwood[stages(view)], count)
        unknown = theirs & ~np.repeat(view.known[:, OPPONENT], count)
        theirs = _swapped(
            states.deck, theirs, unknown, states.stock_count, weights, slopes, chances
        )
    return theirs, states.deck


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
        from ginrummy_agents.search import hand_kernels

        with compiled.first_use("the sampled hands of the search"):
            hand_kernels.swapped(theirs, unknown, deck, stock, logs, slopes, chances, fits)
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
