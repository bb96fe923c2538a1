"""Random numbers that are a function of their place: no state, no generator object a row.

The numbers come from the SplitMix64 output function (Steele, Lea and Flood, "Fast splittable
pseudorandom number generators", 2014) applied to a key and a counter. The deck of a deal, and
what an agent draws in a match, depend only on (seed, game, deal, ...): not on the size of the
batch, the row, or what was played before.

SplitMix64 can be inverted. What policies are given therefore has keys made from a one-way function
of the seed (`policy_keys`): from the numbers they draw nothing follows about the decks.
"""

from enum import IntEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.checks import whole

GAMMA = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd: steps through all 2**64 values
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = (np.uint64(shift) for shift in (30, 27, 31, 11))
_TO_UNIT = 2.0**-53

MAX_SEED = 2**64 - 1


class Purpose(IntEnum):
    """What random numbers are for: the first part of their keys, so that no two uses share them."""

    SHUFFLE = 1
    CUT = 2
    MATCH = 3
    """What the agents of a match draw."""
    CHAMPION_FIT = 4
    HINTS = 5
    """What the browser's hints draw."""
    DEAL_POINTS_FIT = 6
    BELIEF_FIT = 7
    TERMINAL_GAME = 8
    WEB_GAME = 9
    ANNOTATION = 10
    GAIN_SCORES = 11
    GAIN_DEALS = 12
    GAIN_DECISIONS = 13
    BELIEF_CHECK = 14
    OPPONENT = 101
    """What the opponents in an environment draw."""
    SEAT = 102
    WIN_CHANCE_DEALS = 104
    IMITATION = 105
    POOL = 106
    """Which opponent of a pool plays in an episode."""


class FirstGame(IntEnum):
    """Where the game numbers of each use begin, so that no two uses have decks in common.

    Each use has the numbers up to the next one. An environment's numbers hold the row and the
    episode; all others count from their first.
    """

    MATCH = 0
    """Matches, tournaments and games of people."""
    CHAMPION_FIT = 1 << 61
    BELIEF_FIT = (1 << 61) + (1 << 58)
    """Fit and check of the belief."""
    DEAL_POINTS_FIT = (1 << 61) + (2 << 58)
    SEARCH_GAIN = (1 << 61) + (3 << 58)
    TRAIN = 1 << 62
    """Environments with ``split="train"``."""
    EVAL = 1 << 63
    """Environments with ``split="eval"``."""
    LEARNING = 3 << 62
    """Learning without an environment: imitation, data to learn from, points of deals."""


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the SplitMix64 output function of each value: a bijection that looks random."""
    z = (values ^ (values >> _30)) * MIX_1
    z = (z ^ (z >> _27)) * MIX_2
    return z ^ (z >> _31)


def keys(*parts: ArrayLike) -> NDArray[np.uint64]:
    """Return one 64-bit key for each row of numbers, any number changed changing it all.

    Args:
        parts: integers or arrays of integers that broadcast to [N].

    Returns:
        [N] uint64 ([1] if all parts are plain numbers).
    """
    return further_keys(_NO_KEY, *parts)


_NO_KEY = np.zeros(1, dtype=np.uint64)


def further_keys(row_keys: NDArray[np.uint64], *parts: ArrayLike) -> NDArray[np.uint64]:
    """Return the keys of further parts: ``keys(a, b, c)`` is ``further_keys(keys(a, b), c)``."""
    for part in parts:
        array = np.asarray(part).astype(np.uint64, copy=False)
        row_keys = mix((row_keys ^ array) * GAMMA + GAMMA)
    return row_keys


def policy_keys(purpose: Purpose, seeds: ArrayLike, *parts: ArrayLike) -> NDArray[np.uint64]:
    """Return keys for what policies draw: as `keys`, but the seed cannot be recovered.

    Args:
        purpose: what the numbers are for.
        seeds: a whole number 0..2**64 - 1, or an array of them that broadcasts to [N].
        parts: integers or arrays of integers that broadcast to [N].

    Returns:
        [N] uint64.
    """
    given = np.asarray(seeds).astype(np.uint64)
    digests = [_digest(seed) for seed in given.reshape(-1).tolist()]
    return keys(purpose, np.array(digests, dtype=np.uint64).reshape(given.shape), *parts)


@lru_cache(maxsize=65536)
def _digest(seed: int) -> int:
    """Return 64 bits of a cryptographic hash of a seed."""
    hashed = blake2b(seed.to_bytes(8, "little"), digest_size=8, person=b"ginrummy-policy")
    return int.from_bytes(hashed.digest(), "little")


def bits(row_keys: NDArray[np.uint64], count: int, start: int = 0) -> NDArray[np.uint64]:
    """Return ``count`` random 64-bit numbers for each key.

    Args:
        row_keys: [N] uint64.
        count: numbers a row.
        start: index of the first, so that further numbers of the same keys differ.

    Returns:
        [N, count] uint64.
    """
    counters = np.arange(start + 1, start + count + 1, dtype=np.uint64) * GAMMA
    return mix(row_keys[:, None] + counters)


def require_seed(seed: object) -> int:
    """Return the seed, or raise ValueError if it is not a whole number from 0 to 2**64 - 1."""
    return whole("seed", seed, 0, MAX_SEED)


class Random(Protocol):
    """What a policy draws from: `numpy.random.Generator` or `RowRandom`."""

    def random(self, size: tuple[int, ...], /) -> NDArray[np.float64]:
        """Return numbers in [0, 1), one row of them for each row of the view."""
        ...


class RowRandom:
    """Random numbers by row: those of row i are a function of its key and the call's number.

    A policy that asks for ``rng.random((N, ...))`` thus acts in a game as it would if the game
    were played alone.

    >>> alone, batch = RowRandom(keys([7])), RowRandom(keys([3, 7]))
    >>> bool(alone.random((1, 2))[0, 1] == batch.random((2, 2))[1, 1])
    True
    """

    def __init__(self, row_keys: NDArray[np.uint64]) -> None:
        """Start at the first number of each key; ``row_keys`` is [N] uint64."""
        self._keys = row_keys
        self._drawn = 0

    def random(self, size: tuple[int, ...] | int, /) -> NDArray[np.float64]:
        """Return numbers in [0, 1), as `numpy.random.Generator.random` does.

        Args:
            size: (N, ...): one row for each key.

        Raises:
            ValueError: the first dimension is not the number of keys.
        """
        shape = tuple(size) if isinstance(size, tuple | list) else (whole("size", size, 0),)
        if not shape or shape[0] != len(self._keys):
            raise ValueError(
                f"size={size}: the first dimension must be {len(self._keys)}, one row per game"
            )
        count = int(np.prod(shape[1:]))
        numbers = bits(self._keys, count, start=self._drawn)
        self._drawn += count
        return ((numbers >> _11).astype(np.float64) * _TO_UNIT).reshape(shape)
