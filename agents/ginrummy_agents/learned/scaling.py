"""The observation in the units in which decisions differ, for networks that learn from nothing.

In an observation deadwood is in hundredths: the best two discards may differ by 0.02, which a
network that begins from nothing takes long to notice. Here ten points are 1, and discards are
compared with the best of them. Nothing is added that the observation does not say.
"""

import numpy as np

from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.observation import OBSERVATION_LAYOUT
from ginrummy_env.core.types import Flat

_AT = {entry.name: entry.slice for entry in OBSERVATION_LAYOUT}
_PLANES = sum(entry.is_plane for entry in OBSERVATION_LAYOUT)

COMPARED = "after_discard"
"""The plane that is put in other units: with eleven cards, 1 less the tens of points by which the
card leaves more deadwood than the best discard, at least -2; else 0."""

SCALARS = {
    "deadwood_tens": "deadwood after the best discard, or of ten cards, / 10, at most 3",
    "upcard_melds": "1 if the upcard makes a new meld with my cards",
    "turn_twentieths": "discards made in this deal / 20, at most 2",
}
"""Scalars that are put behind those of the observation."""


def scaled_names() -> tuple[str, ...]:
    """Return the names of what `scaled` returns: planes of 52 numbers, then scalars."""
    names = (f"{e.name}_compared" if e.name == COMPARED else e.name for e in OBSERVATION_LAYOUT)
    return (*names, *SCALARS)


def scaled_sizes() -> tuple[int, int]:
    """Return how many planes and how many scalars `scaled` has."""
    return _PLANES, len(OBSERVATION_LAYOUT) - _PLANES + len(SCALARS)


def scaled(observation: Flat) -> Flat:
    """Return observations in these units.

    Args:
        observation: [N, 693] float32, of `observe` with the derived planes.

    Returns:
        [N, 696] float32, a new array.
    """
    wider = np.empty((len(observation), observation.shape[1] + len(SCALARS)), dtype=np.float32)
    wider[:, : -len(SCALARS)] = observation
    after = observation[:, _AT[COMPARED]]
    best = after.max(axis=1)
    worse = np.minimum(10 * (best[:, None] - after), 3)
    wider[:, _AT[COMPARED]] = np.where(after > 0, 1 - worse, 0)
    deadwood = np.where(best > 0, 1 - best, observation[:, _AT["deadwood"]][:, 0])
    wider[:, -3] = np.minimum(10 * deadwood, 3)
    melds = observation[:, _AT["upcard"]] * observation[:, _AT["makes_meld"]]
    wider[:, -2] = melds.sum(axis=1)
    wider[:, -1] = np.minimum(5 * observation[:, _AT["turn"]][:, 0], 2)
    return wider


def plane_numbers(names: tuple[str, ...]) -> list[int]:
    """Return where planes stand among those of `scaled`, by their names."""
    planes = list(scaled_names()[:_PLANES])
    return [planes.index(name) for name in names]


NEAR = (
    "hand", "upcard", "opponent_known", "opponent_discarded", "unseen", "melded",
    "after_discard_compared", "makes_meld",
)  # fmt: skip
"""Planes that the layer of each card's neighbours looks at."""

assert _PLANES * NUM_CARDS == _AT["phase_opening"].start
