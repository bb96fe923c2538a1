"""Any legal action, all equally likely."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.chance import Random
from ginrummy_env.core.view import View


@dataclass(frozen=True)
class RandomAgent:
    """Takes any legal action, all equally likely.

    It hardly ever knocks: nearly every deal between two of them is void.

    Never wins a game against `simple`: 0 of 400 under EAAI and under CLASSIC (results/ladder-*).
    """

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row, -1 where it is not the viewer's move."""
        return random_actions(view.action_masks(), rng.random((len(view),)))
