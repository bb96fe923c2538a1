"""Worlds that agree with a view: the opponent's ten cards and the order of the stock."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.search.evidence import log_likelihoods
from ginrummy_agents.search.hands import Odds, sample_hands
from ginrummy_agents.search.manners import manner_shares
from ginrummy_agents.search.past import PastTurn
from ginrummy_env.core.chance import Random
from ginrummy_env.core.types import Float, Hands
from ginrummy_env.core.view import View

OVERSAMPLED = 2
"""Hands that are sampled for each world."""


@dataclass(slots=True)
class Worlds:
    """k worlds for each of N positions, those of one side by side."""

    theirs: Hands  # [N * k] uint64
    deck: NDArray[np.int8]  # [N * k, 52] the stock at the end
    manner: NDArray[np.int8]  # [N * k] what the opponent is like, a place in `manners.manners`


def sample_worlds(
    view: View, count: int, rng: Random, odds: Odds, past: Sequence[PastTurn] = ()
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
        odds: by which hands are drawn (`hands.odds_of`).
        past: the opponent's last turns, the latest first (`past.past_turns`).

    Source: Gordon, Salmond and Smith (1993).
    """
    many = OVERSAMPLED * count
    hands, decks = sample_hands(view, many, rng, odds)
    theirs = hands.reshape(-1, many)
    shares = manner_shares(view)
    logs = np.log(shares)[:, None] + log_likelihoods(view, theirs, rng, past)
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
