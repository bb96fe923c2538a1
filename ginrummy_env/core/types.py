"""The arrays that the packages exchange, by name. Shapes are given where they are used."""

import numpy as np
from numpy.typing import NDArray

Hands = NDArray[np.uint64]
"""Sets of cards as bit masks, see `cards`."""

Cards = NDArray[np.integer]
"""Cards 0..51, or NO_CARD."""

Points = NDArray[np.int16]
"""Points of cards, deadwood, deals and scores."""

Rows = NDArray[np.intp]
"""Row numbers of a batch, or other places in an array."""

MeldNumbers = NDArray[np.int16]
"""Melds as their places in `melds.MELDS`, or NO_MELD."""

Int8 = NDArray[np.int8]
"""Small numbers: cards, players, phases, counts of cards."""

Flags = NDArray[np.bool_]
"""One yes or no for each."""

Flat = NDArray[np.float32]
"""Observations, or parts of them."""

Uniforms = NDArray[np.float64]
"""Random numbers in [0, 1)."""

Float = NDArray[np.float64]
"""Real numbers: chances, values of cards and actions, points on average."""
