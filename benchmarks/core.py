"""The core: random play at all sizes of the batch, deadwood, settling deals, memory, profiles.

Imported with the benchmarks' own names alone: what is measured is imported when a contender is
made, after the numeric libraries have been told to use one thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.registry import Benchmark, Entry, Goal
from benchmarks.timing import Contender, Work

if TYPE_CHECKING:
    from ginrummy_env.core.cards import Hands

DEADWOOD_BATCH = 32_768


def random_hands(seed: int, count: int, size: int) -> Hands:
    """Return hands drawn from a full deck.

    Args:
        seed: of the draw.
        count: of hands, N.
        size: cards a hand.

    Returns:
        [N] uint64.
    """
    import numpy as np

    from ginrummy_env.core.cards import hand_of

    order = np.random.default_rng(seed).random((count, 52)).argsort(axis=1)
    return hand_of(order[:, :size])


def deadwood_of_ten(seed: int) -> Contender:
    """Least deadwood of ten cards."""
    from ginrummy_env.core.deadwood import deadwood

    hands = random_hands(seed, DEADWOOD_BATCH, 10)

    def work() -> Work:
        deadwood(hands)
        return Work(DEADWOOD_BATCH)

    return work


def deadwood_after_discards(seed: int) -> Contender:
    """Least deadwood after each of the eleven discards."""
    from ginrummy_env.core.deadwood import deadwood_after_discard

    hands = random_hands(seed, DEADWOOD_BATCH, 11)

    def work() -> Work:
        deadwood_after_discard(hands)
        return Work(DEADWOOD_BATCH)

    return work


BENCHMARKS: list[Entry] = [
    Benchmark(
        name="deadwood/10",
        track="deadwood",
        unit="hands",
        make=deadwood_of_ten,
        goals=(Goal(value=10, than="openspiel/deadwood"), Goal(value=10e6)),
    ),
    Benchmark(
        name="deadwood/11-discards",
        track="deadwood",
        unit="hands",
        make=deadwood_after_discards,
    ),
]
