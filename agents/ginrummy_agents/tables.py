"""Tables that rule agents and compiled kernels share."""

import numpy as np

from ginrummy_env.core.cards import CARD_BIT, NUM_CARDS, POINTS
from ginrummy_env.core.types import Hands

WORTH: Hands = np.array(
    [np.bitwise_or.reduce(CARD_BIT[:NUM_CARDS][points == POINTS]) for points in range(11)],
    dtype=np.uint64,
)
"""[11] uint64, the cards worth 0, 1, ... 10 points."""
