"""Every hand counted: the least deadwood of all 15,820,024,220 hands of ten cards, exactly.

Deadwood does not depend on which suit is which. So only hands whose suits are in order are looked
at, and each counts for the 24, 12, 6, 4 or 1 hands that it stands for. 671 million are left.
A suit is a pattern of 13 bits; patterns are ordered by how many cards they have, the most first,
then as numbers. Hands are built from a left half, the two greater suits, and a right half.

>>> found = census(3)
>>> found.total, found.melded, int(found.counts[0])
(22100, 96, 96)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import (
    HAND_SIZE,
    LANE_BITS,
    LANE_POINTS,
    NUM_CARDS,
    NUM_LANE_PATTERNS,
    NUM_RANKS,
)
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.types import Hands
from ginrummy_training.evaluation.processes import run_apart
from ginrummy_training.progress import Progress, no_progress
from ginrummy_training.provenance import code_fingerprint, require_same
from ginrummy_training.storage import ResultError, read_arrays, write_arrays

MOST_DEADWOOD = 98
"""Of ten cards: two each of king, queen, jack, ten and nine, in no run."""

CHUNK = 8_000_000
"""Hands that are counted before the sums are saved, about."""

PART = 1 << 15
"""Hands that are looked at together: their arrays stay in the cache."""

FORMAT = 1

Counts = NDArray[np.int64]

# How many hands a hand in order stands for, by which neighbours of its four suits are equal: bit 0
# for the first and second, bit 1 for the second and third, bit 2 for the third and fourth.
STANDS_FOR = np.array([24, 12, 12, 4, 12, 6, 4, 1], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Halves:
    """All pairs of suits in order with given numbers of cards, ascending by the second suit."""

    hands: Hands
    """[P] uint64: the first suit in lane 0, the second in lane 1."""
    first: NDArray[np.int64]
    """[P] its pattern."""
    second: NDArray[np.int64]
    points: NDArray[np.int16]
    """[P] of all their cards."""


@cache
def patterns(cards: int) -> NDArray[np.int64]:
    """Return the suit patterns with a number of cards, ascending."""
    every = np.arange(NUM_LANE_PATTERNS)
    return every[np.bitwise_count(every) == cards]


@cache
def halves(first: int, second: int) -> Halves:
    """Return the pairs of suits with ``first`` and ``second`` cards, in order.

    With equally many cards in both, the first pattern is not below the second.
    """
    one, other = np.meshgrid(patterns(first), patterns(second))  # rows: by the second suit
    keep = (one >= other) | (first > second)
    one, other = one[keep], other[keep]
    hands = one.astype(np.uint64) | other.astype(np.uint64) << np.uint64(LANE_BITS)
    points = LANE_POINTS[one].astype(np.int16) + LANE_POINTS[other]
    return Halves(hands, one, other, points)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some hands with given numbers of cards in the suits: some left halves, all that fit them."""

    shape: tuple[int, int, int, int]
    start: int
    stop: int


def shapes(cards: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield how a hand's cards can lie in the suits, most first: 10 is 10+0+0+0 ... 3+3+2+2."""
    for a in range(min(cards, NUM_RANKS), -1, -1):
        for b in range(min(a, cards - a), -1, -1):
            for c in range(min(b, cards - a - b), -1, -1):
                d = cards - a - b - c
                if d <= c:
                    yield a, b, c, d


def partners(shape: tuple[int, int, int, int]) -> NDArray[np.int64]:
    """Return for each left half how many right halves fit it, counted from the first, [P].

    A right half's first suit may not be above the left half's second. So right halves are needed in
    the order of their first suit (see `right_halves`).
    """
    left, right = halves(*shape[:2]), right_halves(*shape[2:])
    if shape[1] > shape[2]:
        return np.full(len(left.hands), len(right.hands))
    return np.searchsorted(right.first, left.second, side="right")


@cache
def right_halves(first: int, second: int) -> Halves:
    """Return `halves`, ascending by the first suit and moved to lanes 2 and 3."""
    found = halves(first, second)
    order = found.first.argsort(kind="stable")
    hands = found.hands[order] << np.uint64(2 * LANE_BITS)
    return Halves(hands, found.first[order], found.second[order], found.points[order])


def chunks(cards: int, size: int = CHUNK) -> list[Chunk]:
    """Return all hands of a number of cards in chunks of about ``size`` hands."""
    found = []
    for shape in shapes(cards):
        ends = partners(shape).cumsum()
        start = 0
        while start < len(ends):
            before = ends[start - 1] if start else 0
            stop = max(int(np.searchsorted(ends, before + size, side="right")), start + 1)
            found.append(Chunk(shape, start, stop))
            start = stop
    return found


def count_chunk(chunk: Chunk) -> Counts:
    """Return how many hands a chunk stands for, by deadwood, [2, 99]; row 1: those without a meld.

    Chunks are independent of each other, so they can be counted anywhere, in any order.
    """
    left, right = halves(*chunk.shape[:2]), right_halves(*chunk.shape[2:])
    counts = partners(chunk.shape)
    found = np.zeros(2 * len(STANDS_FOR) * (MOST_DEADWOOD + 1), dtype=np.int64)
    start = chunk.start
    while start < chunk.stop:
        # Left halves with about PART hands. Their right halves differ in number (they ascend): the
        # longest list is taken for all, and what is too much is left out.
        width = max(int(counts[start]), 1)
        stop = min(start + max(PART // width, 1), chunk.stop)
        width = int(counts[stop - 1])
        for low in range(0, width, PART):
            part = slice(low, min(low + PART, width))
            found += _count(left, right, counts, slice(start, stop), part)
        start = stop
    by = found.reshape(2, len(STANDS_FOR), MOST_DEADWOOD + 1)
    weighted = (by * STANDS_FOR[:, None]).sum(axis=1)
    return np.stack([weighted.sum(axis=0), weighted[1]])


def _count_numbered(task: tuple[int, Chunk]) -> Counts:
    return count_chunk(task[1])


def _count(
    left: Halves, right: Halves, counts: NDArray[np.int64], rows: slice, columns: slice
) -> Counts:
    """Count left halves x right halves by (no meld, equal suits, deadwood), [1584]."""
    hands = left.hands[rows, None] | right.hands[None, columns]
    outer = (left.first == left.second)[rows, None] * np.int16(1)
    outer = outer + (right.first == right.second)[None, columns] * np.int16(4)
    equal = outer + (left.second[rows, None] == right.first[None, columns]) * np.int16(2)
    points = left.points[rows, None] + right.points[None, columns]
    allowed = np.arange(columns.start, columns.stop) < counts[rows, None]
    if not allowed.all():
        hands, equal, points = hands[allowed], equal[allowed], points[allowed]
    least = deadwood(hands.ravel())
    code = (least == points.ravel()) * np.int16(len(STANDS_FOR)) + equal.ravel()
    size = 2 * len(STANDS_FOR) * (MOST_DEADWOOD + 1)
    return np.bincount(code * np.int16(MOST_DEADWOOD + 1) + least, minlength=size)


@dataclass(frozen=True, slots=True)
class Census:
    """How many hands of a number of cards have which deadwood."""

    cards: int
    counts: Counts
    """[99] by deadwood."""
    unmelded: int
    """Hands without any meld."""

    @property
    def total(self) -> int:
        """How many hands there are."""
        return int(self.counts.sum())

    @property
    def melded(self) -> int:
        """Hands with a meld."""
        return self.total - self.unmelded

    @property
    def points(self) -> int:
        """The deadwood of all hands together."""
        return int((self.counts * np.arange(MOST_DEADWOOD + 1)).sum())

    @property
    def mean(self) -> float:
        """Mean deadwood."""
        return self.points / self.total

    @property
    def deviation(self) -> float:
        """Standard deviation of deadwood."""
        # In Python's whole numbers: the squares do not fit into 64 bits.
        squares = sum(count * value**2 for value, count in enumerate(self.counts.tolist()))
        return float(((squares * self.total - self.points**2) / (self.total * self.total)) ** 0.5)

    @property
    def mode(self) -> int:
        """The commonest deadwood."""
        return int(self.counts.argmax())

    @property
    def median(self) -> int:
        """The least deadwood that half of the hands do not exceed."""
        return int(np.searchsorted(self.counts.cumsum(), (self.total + 1) // 2))

    @property
    def most(self) -> int:
        """The greatest deadwood there is."""
        return int(np.flatnonzero(self.counts)[-1])

    def up_to(self, limit: int) -> int:
        """Return how many hands have so much deadwood or less."""
        return int(self.counts[: limit + 1].sum())


def census(
    cards: int = HAND_SIZE,
    *,
    workers: int = 1,
    out: Path | None = None,
    size: int = CHUNK,
    progress: Progress | None = None,
) -> Census:
    """Count all hands of a number of cards, or those that are missing.

    Args:
        cards: 1 to 11. Ten take less than a minute of one core.
        workers: processes.
        out: a file (.npz) that keeps what has been counted.
        size: hands in order a chunk, about.
        progress: called as hands are counted.

    Raises:
        ValueError: a bad number.
        ResultError: ``out`` is corrupt or of another census.
    """
    if not 1 <= cards <= HAND_SIZE + 1:
        raise ValueError(f"cards={cards}: 1 to {HAND_SIZE + 1} are needed")
    todo = chunks(cards, size)
    total = comb(NUM_CARDS, cards)
    done = np.zeros(len(todo), dtype=np.bool_)
    sums = np.zeros((2, MOST_DEADWOOD + 1), dtype=np.int64)
    about: dict[str, Any] = {
        "format": FORMAT,
        "cards": cards,
        "size": size,
        "chunks": len(todo),
        "code": code_fingerprint([__name__]),
    }
    if out is not None and out.exists():
        done, sums = _read(out, about)
    show = progress or no_progress
    show("census", int(sums[0].sum()), total)

    def receive(task: tuple[int, Chunk], here: Counts) -> None:
        done[task[0]] = True
        np.add(sums, here, out=sums)
        if out is not None:
            write_arrays(out, {"done": done, "sums": sums}, about)
        show("census", int(sums[0].sum()), total)

    missing = [(number, todo[number]) for number in np.flatnonzero(~done).tolist()]
    run_apart(_count_numbered, missing, receive, workers)
    return Census(cards, sums[0], int(sums[1].sum()))


def _read(path: Path, about: dict[str, Any]) -> tuple[NDArray[np.bool_], Counts]:
    """Return what has been counted."""
    arrays, there = read_arrays(path)
    require_same(path, "census", about, there, "remove it to count again")
    done, sums = arrays.get("done"), arrays.get("sums")
    if (
        done is None
        or sums is None
        or done.shape != (about["chunks"],)
        or sums.shape != (2, MOST_DEADWOOD + 1)
    ):
        raise ResultError(f"{path}: corrupt; remove it to count again")
    return done, sums
