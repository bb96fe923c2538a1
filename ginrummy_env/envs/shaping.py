"""Reward deadwood at once: potential-based shaping.

What a player holds has a potential, -deadwood / 100. Each step pays the change of it, and at the
end of an episode it is 0, so that over an episode the pay adds up to a number that was decided by
the deal: what is best to do stays the same (Ng, Harada and Russell, 1999).
"""

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.types import Rows

POINTS_A_POTENTIAL = 100
"""Points of deadwood that make a potential of -1."""


class DeadwoodShaping:
    """What the changes of both players' deadwood pay in N games.

    Attributes:
        weight: reward for a potential of 1; nothing is computed if it is 0.
    """

    def __init__(self, count: int, weight: float) -> None:
        """Shape the rewards of ``count`` games."""
        self.weight = weight
        self._potentials = np.zeros((count, 2))

    def begin(self, state: BatchState, rows: Rows) -> None:
        """Take note of the hands in rows whose episode has begun."""
        if self.weight:
            self._potentials[rows] = _potentials(state.select(rows))

    def pay(self, state: BatchState) -> NDArray[np.float64]:
        """Return what players 0 and 1 get for the change since the last call, [N, 2]."""
        if not self.weight:
            return np.zeros_like(self._potentials)
        now = _potentials(state)
        paid = self.weight * (now - self._potentials)
        self._potentials = now
        return paid


def _potentials(state: BatchState) -> NDArray[np.float64]:
    left = deadwood(state.hands.reshape(-1)).reshape(-1, 2) / POINTS_A_POTENTIAL
    return np.where(state.over[:, None], 0.0, -left)
