"""Fair timing: contenders take turns on one core, and are compared within a round.

A contender is a function without arguments that does a small piece of work (some milliseconds)
and says how much it did. `measure` calls each one for a slice of time in turn, several rounds over.
What slows the machine down for a while slows all the contenders of a round, so the ratio of two of
them is steadier than either rate. Many short slices are better than few long ones: the clock rate
and the neighbours change within a second.

Rates are per second of processor time (`time.process_time`): a neighbour on the machine takes wall
time away but only a little processor time (through the shared caches). Wall rates are kept too.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Read by the numeric libraries when they are loaded."""


class Work(NamedTuple):
    """What a contender did in one call."""

    amount: int
    """In the benchmark's unit: decisions, hands, games."""

    deals: int = 0
    """Deals that ended meanwhile, where something is played."""


Contender = Callable[[], Work]


@dataclass(frozen=True, slots=True)
class Slice:
    """The work of one contender in one round."""

    amount: int
    deals: int
    cpu: float
    """Seconds of the processor, user and system."""
    wall: float
    """Seconds of the clock on the wall."""

    @property
    def rate(self) -> float:
        """Units of work a second of the processor."""
        return self.amount / self.cpu


@dataclass(slots=True)
class Timing:
    """The slices of one contender, one a round."""

    slices: list[Slice] = field(default_factory=list)

    @property
    def rates(self) -> list[float]:
        """Units a second of the processor, round by round."""
        return [one.rate for one in self.slices]

    @property
    def rate(self) -> float:
        """The median over the rounds."""
        return statistics.median(self.rates)

    @property
    def spread(self) -> float:
        """Half of what lies between the quartiles of the rates, as a part of the median."""
        low, high = quartiles(self.rates)
        return (high - low) / 2 / self.rate

    @property
    def wall_rate(self) -> float:
        """Units a second of the clock on the wall, the median over the rounds."""
        return statistics.median(one.amount / one.wall for one in self.slices)

    @property
    def cpu_share(self) -> float:
        """Processor time by wall time: below 1, others had the core."""
        return sum(one.cpu for one in self.slices) / sum(one.wall for one in self.slices)

    @property
    def deals(self) -> float:
        """Deals that ended a second of the processor."""
        return sum(one.deals for one in self.slices) / sum(one.cpu for one in self.slices)


def ratio(ours: Timing, theirs: Timing) -> tuple[float, float, float]:
    """Return how many times ``theirs`` ``ours`` is: median and quartiles over the rounds.

    Raises:
        ValueError: no round has both.
    """
    ratios = [a / b for a, b in zip(ours.rates, theirs.rates, strict=False)]
    if not ratios:
        raise ValueError("no round has a slice of both contenders")
    return statistics.median(ratios), *quartiles(ratios)


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the two values between which the middle half lies.

    >>> quartiles([1, 2, 3, 4, 5])
    (2.0, 4.0)
    """
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def use_one_thread() -> None:
    """Ask the numeric libraries for one thread. Works only before they are imported."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"


def pin_to_core(cpu: int | None = None) -> int | None:
    """Keep this process on one core: ``cpu``, or the last one that it may use.

    Returns:
        The core, or None where the system cannot do that (macOS, Windows).

    Raises:
        ValueError: the process may not use that core.
    """
    if not hasattr(os, "sched_setaffinity"):
        return None
    allowed = sorted(os.sched_getaffinity(0))
    chosen = allowed[-1] if cpu is None else cpu
    if chosen not in allowed:
        raise ValueError(f"core {chosen} is not one of {allowed}")
    os.sched_setaffinity(0, {chosen})
    return chosen


def run_slice(contender: Contender, seconds: float) -> Slice:
    """Call ``contender`` again and again until it has used ``seconds`` of the processor."""
    gc.collect()  # nobody pays for the garbage of the one before
    amount = deals = 0
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    while True:
        done = contender()
        amount += done.amount
        deals += done.deals
        cpu = time.process_time() - cpu_start
        if cpu >= seconds:
            return Slice(amount, deals, cpu, time.perf_counter() - wall_start)


def measure(
    contenders: Mapping[str, Contender],
    *,
    seconds: float,
    rounds: int,
    timings: dict[str, Timing],
) -> Iterator[str]:
    """Time the contenders against each other, yielding a name before each slice.

    A warm-up of one slice each comes first and is not counted. In every other round the
    order is turned round, so that nobody always follows the same neighbour.

    Args:
        contenders: name to contender.
        seconds: processor seconds a slice.
        rounds: slices a contender.
        timings: filled while it runs, so that what was measured survives an interruption.
    """
    for name, contender in contenders.items():
        yield name
        run_slice(contender, seconds)
    for number in range(rounds):
        names = list(contenders) if number % 2 == 0 else list(contenders)[::-1]
        for name in names:
            yield name
            timings.setdefault(name, Timing()).slices.append(run_slice(contenders[name], seconds))
