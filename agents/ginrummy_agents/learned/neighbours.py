"""The layer of each card's neighbours, written out as matrices."""

import numpy as np

from ginrummy_env.core.cards import NUM_RANKS
from ginrummy_env.core.types import Flat

WINDOW = 5
"""Ranks that a convolution looks at: all that can be in a run of three with the middle one."""


def near_matrices(near: Flat, near_rank: Flat) -> tuple[Flat, Flat]:
    """Return the layer of each card's neighbours as matrices from a suit's planes to its cards.

    Args:
        near: [C × WINDOW, F], of the cards around each, along the ranks.
        near_rank: [C, F], of the cards of its rank in all suits.

    Returns:
        Two of [C × 13, 13 × F] float32.
    """
    filters, reach = near.shape[1], WINDOW // 2
    by_plane = near.reshape(-1, WINDOW, filters)
    along = np.zeros((len(by_plane), NUM_RANKS, NUM_RANKS, filters), dtype=np.float32)
    across = np.zeros_like(along)
    for rank in range(NUM_RANKS):
        across[:, rank, rank] = near_rank
        for place in range(WINDOW):
            seen = rank + place - reach
            if 0 <= seen < NUM_RANKS:
                along[:, seen, rank] = by_plane[:, place]
    size = (len(by_plane) * NUM_RANKS, NUM_RANKS * filters)
    return along.reshape(size), across.reshape(size)
