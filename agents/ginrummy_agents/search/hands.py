"""Hands that the opponent may hold, with an order of the stock for each.

A hand is drawn card by card by the belief's weights; then single cards of it are exchanged with the
stock, as the Metropolis rule has it, so that hands come to be likely in proportion to the product
of their cards' weights times ``exp(-slope × deadwood)``: cards drawn one by one lack a played
hand's melds.

Source: Metropolis et al. (1953).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents import compiled
from ginrummy_agents.search.belief import Belief, stages
from ginrummy_agents.search.settle import left_over
from ginrummy_env.core.cards import CARD_BIT, NO_CARD, NUM_CARDS, card_planes, hand_size
from ginrummy_env.core.chance import Random, bits, keys
from ginrummy_env.core.types import Float, Hands
from ginrummy_env.core.view import OPPONENT, View

SWAPS = 16
"""Cards that are offered in exchange, one after another, to make a hand look played."""

WEIGHT_ONE = 2.0**20
"""A card's weight of 1 as a whole number: sums of those do not depend on their order."""

FITS = np.log((np.arange(4096) + 0.5) / 4096)
"""Logarithms of 4,096 even chances: the least change of a hand's that an exchange may bring."""


@dataclass(frozen=True, slots=True)
class Odds:
    """How hands of the opponent are drawn in N positions."""

    weights: NDArray[np.int64]  # [N, 52] of each card, whole numbers
    logs: Float  # [N, 52] their logarithms
    slopes: Float  # [N] what a point of deadwood takes off
    swaps: int
    """Exchanges tried for each hand."""


def odds_of(view: View, belief: Belief | None, swaps: int = SWAPS) -> Odds:
    """Return by which odds hands are drawn.

    Args:
        view: N rows.
        belief: how the opponent's cards are judged; None: all alike, and no exchanges.
        swaps: exchanges tried for each hand.
    """
    if belief is None:
        even = np.ones((len(view), NUM_CARDS))
        return Odds(even.astype(np.int64), 0 * even, np.zeros(len(view)), 0)
    weights = belief.weights(view)
    whole = np.maximum(weights * WEIGHT_ONE, 1).astype(np.int64)
    return Odds(whole, np.log(weights), belief.deadwood[stages(view)], swaps)


def sample_hands(view: View, count: int, rng: Random, odds: Odds) -> tuple[Hands, NDArray[np.int8]]:
    """Return ``count`` hands of the opponent for each row of a view, with decks for the stock.

    Args:
        view: N rows, the opponent with as many cards as at the end of a turn.
        count: hands a row.
        rng: randomness of N rows; one number of each is drawn.
        odds: of N rows.

    Returns:
        (hands [N * count] uint64, decks [N * count, 52] int8, the stock at the end, first card
        first, and before it the opponent's unknown cards).
    """
    row_keys = keys((rng.random((len(view),)) * 2.0**53).astype(np.uint64))
    stock = view.stock_count.astype(np.int64)
    unknown = hand_size(view.unseen).astype(np.int64) - stock
    decks = np.full((len(view) * count, NUM_CARDS), NO_CARD, dtype=np.int8)
    hands = np.repeat(view.known[:, OPPONENT], count)
    swaps = odds.swaps
    if compiled.in_use():
        from ginrummy_agents.search import hand_kernels

        with compiled.first_use("the sampled hands of the search"):
            hand_kernels.sample(
                hands, decks, view.unseen, unknown, stock, row_keys, FITS,
                odds.weights, odds.logs, odds.slopes, swaps,
            )  # fmt: skip
        return hands, decks
    numbers = bits(row_keys, count * (NUM_CARDS + 3 * swaps)).reshape(len(hands), -1)
    rows = np.repeat(np.arange(len(view)), count)
    unknown, stock = unknown[rows], stock[rows]
    _draw(decks, view.unseen[rows], unknown, odds.weights[rows], _units(numbers[:, :NUM_CARDS]))
    places = np.arange(NUM_CARDS)
    held = (places >= (NUM_CARDS - stock - unknown)[:, None]) & (
        places < (NUM_CARDS - stock)[:, None]
    )
    hands |= np.bitwise_or.reduce(np.where(held, CARD_BIT[decks], np.uint64(0)), axis=1)
    _exchange(
        hands,
        decks,
        unknown,
        stock,
        odds.logs[rows],
        odds.slopes[rows],
        numbers[:, NUM_CARDS:],
        swaps,
    )
    return hands, decks


def _units(numbers: NDArray[np.uint64]) -> Float:
    """Return numbers in [0, 1) from random bits."""
    units: Float = (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return units


def _draw(
    decks: NDArray[np.int8],
    unseen: Hands,
    unknown: NDArray[np.int64],
    weights: NDArray[np.int64],
    units: Float,
) -> None:
    """Write the unseen cards to the ends of the decks, the opponent's first, drawn by weights.

    The stock's are drawn evenly.
    """
    rows = np.arange(len(decks))
    left = card_planes(unseen)
    size = left.sum(axis=1)
    for number in range(int(size.max(initial=0))):
        some = np.flatnonzero(number < size)
        even = number >= unknown[some]
        worth = np.where(even[:, None], 1, weights[some]) * left[some]
        ends = worth.cumsum(axis=1)
        target = (units[some, number] * ends[:, -1]).astype(np.int64)
        cards = (ends <= target[:, None]).sum(axis=1)
        left[some, cards] = False
        decks[rows[some], NUM_CARDS - size[some] + number] = cards


def _exchange(
    hands: Hands,
    decks: NDArray[np.int8],
    unknown: NDArray[np.int64],
    stock: NDArray[np.int64],
    logs: Float,
    slopes: Float,
    numbers: NDArray[np.uint64],
    swaps: int,
) -> None:
    """Exchange cards of the hands with the stock. Changes hands and decks."""
    rows = np.arange(len(hands))
    left = left_over(hands)
    units = _units(numbers)
    fits = FITS[(numbers >> np.uint64(52)).astype(np.int64)]
    for number in range(swaps):
        out_at = NUM_CARDS - stock - unknown + (units[:, 3 * number] * unknown).astype(np.int64)
        in_at = NUM_CARDS - 1 - (units[:, 3 * number + 1] * stock).astype(np.int64)
        out, new = decks[rows, out_at % NUM_CARDS], decks[rows, in_at]
        hand = (hands & ~CARD_BIT[out]) | CARD_BIT[new]
        after = left_over(hand)
        score = logs[rows, new] - logs[rows, out] - slopes * (after - left)
        taken = np.flatnonzero((score > fits[:, 3 * number + 2]) & (unknown > 0) & (stock > 0))
        hands[taken], left[taken] = hand[taken], after[taken]
        decks[taken, out_at[taken]], decks[taken, in_at[taken]] = new[taken], out[taken]
