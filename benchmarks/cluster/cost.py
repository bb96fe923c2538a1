"""The cost of a run on a cluster, in closed form; `simulate` plays the same, event by event.

Workers draw ranges of one size from a common store. A range of R games takes a worker of speed v

    d(v) = (overhead + R * seconds_a_game) / v

Speeds are lognormal, of median 1 (stragglers). Every worker fails at random times, on average once
in ``hours_to_failure``; it loses its range, which another one plays again, and comes back after
``repair`` seconds. The driver needs ``merging`` seconds for each range, one after another.

>>> run = ClusterRun(seconds_a_game=0.01, workers=1000)
>>> run.games_in(8 * 3600) > 2_000_000_000
True
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ginrummy_env.core.types import Float
from ginrummy_training.evaluation.ranges import RANGE_SECONDS
from ginrummy_training.statistics import CONFIDENCE

Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRun:
    """A run on a cluster. All times are in seconds."""

    seconds_a_game: float
    """Of a game on one core, among many."""
    workers: int
    """CPUs that play."""
    overhead: float = 1.5
    """Of a range in addition to its games: to hand it out, and its first and last moments, when
    lockstep has few games in play."""
    range_seconds: float = RANGE_SECONDS
    """What a range takes at speed 1, overhead included; decides its size."""
    start: float = 30.0
    """Until workers play: processes start and load their agents."""
    spread: float = 0.2
    """Standard deviation of the logarithm of the workers' speeds."""
    hours_to_failure: float = 100.0
    """Of one worker, on average."""
    repair: float = 300.0
    """Until a worker that failed is back."""
    merge: float = 0.004
    """The driver's work on one range,"""
    merge_a_game: float = 0.8e-6
    """and on each game in it."""

    @property
    def games_a_range(self) -> int:
        """Games in a range of the size asked for; at least 1."""
        return max(round((self.range_seconds - self.overhead) / self.seconds_a_game), 1)

    @property
    def merging(self) -> float:
        """The driver's work on one range and its games."""
        return self.merge + self.games_a_range * self.merge_a_game

    @property
    def durations(self) -> Float:
        """[W] what a range takes each worker; the workers are at even quantiles of speed."""
        at = (np.arange(self.workers) + 0.5) / self.workers
        speeds = np.exp(self.spread * np.array([NormalDist().inv_cdf(x) for x in at.tolist()]))
        return (self.overhead + self.games_a_range * self.seconds_a_game) / speeds

    @property
    def ranges_a_second(self) -> float:
        """How many ranges the cluster ends in a second, once all play.

        A worker with failures at rate f needs (1/f + repair) * (exp(f d) - 1) seconds on average
        for a range of d seconds that starts again after each of them.
        """
        rate = 1 / (3600 * self.hours_to_failure)
        each = (1 / rate + self.repair) * np.expm1(rate * self.durations)
        played = float((1 / each).sum())
        return min(played, 1 / self.merging) if self.merging else played

    @property
    def tail(self) -> float:
        """How long the last range is played after the last one was handed out.

        Every worker is then somewhere in its range, at any point of it alike: the longest of W
        uniform rests, each of its own length.
        """
        durations = self.durations
        x = np.linspace(0, durations.max(), 2001)
        sooner = np.minimum(x[:, None] / durations, 1)
        return float(np.trapezoid(1 - sooner.prod(axis=1), x))

    def seconds_for(self, games: int) -> float:
        """Return how many seconds a number of games takes."""
        ranges = -(-games // self.games_a_range)
        # When the last range is handed out, half of the W in play have been done, as it were.
        handing_out = max(ranges - self.workers / 2, 0) / self.ranges_a_second
        return self.start + handing_out + self.tail

    def games_in(self, seconds: float) -> int:
        """Return how many games can be played in a time."""
        playing = max(seconds - self.start - self.tail, 0)
        if not playing:
            return 0
        ranges = self.ranges_a_second * playing + self.workers / 2
        return int(ranges) * self.games_a_range


def half_width(pair_deviation: float, games: float) -> float:
    """Return half the 95 % interval of the share of games won.

    Args:
        pair_deviation: standard deviation of a pair's share (0, 1/2 or 1).
        games: of the match.

    >>> round(half_width(0.28, 150_000), 4)
    0.002
    """
    return Z * pair_deviation / (games / 2) ** 0.5


def games_for(pair_deviation: float, half: float) -> int:
    """Return how many games give an interval of this half width.

    >>> games_for(0.28, 0.002)
    150586
    """
    return 2 * int(np.ceil((Z * pair_deviation / half) ** 2))


def plans(measured: dict[str, Any], workers: int) -> dict[str, tuple[ClusterRun, float]]:
    """Return a plan and the deviation of a pair for each agent that has been measured.

    Args:
        measured: what `measure` wrote.
        workers: CPUs.
    """
    found = measured["agents"]
    # Of an agent too slow to have played enough pairs, the most that the others have.
    most = max(each["pair_deviation"] or 0 for each in found.values())
    ranges = measured["ranges"]
    beside = float(np.median([each["beside_it"] for each in ranges]))
    # Ray works in the driver's background as time goes by; the rest is for the range.
    lasted = [each["seconds_a_range"] for each in ranges]
    _, merge = np.polyfit(lasted, [each["driver_cpu"] for each in ranges], 1)
    return {
        agent: (
            ClusterRun(
                seconds_a_game=each["seconds_a_game"],
                overhead=each["overhead"] + beside,
                merge=float(merge),
                merge_a_game=measured["merge_a_game"],
                workers=workers,
            ),
            each["pair_deviation"] or most,
        )
        for agent, each in found.items()
    }


def table(measured: dict[str, Any], workers: int, seconds: float, half: float) -> list[list[str]]:
    """Return what a number of seconds and CPUs gives each agent, as rows of text.

    Its games in that time and their interval; the games that an interval of ``half`` to each side
    takes, the CPU hours of these, and how many pairings can be measured so well in that time.
    """
    head = [
        "agent",
        "CPU s per game",
        "games per range",
        "games",
        "± points",
        "games for ±",
        "CPU h",
    ]
    rows = [[*head, "pairings"]]
    for agent, (plan, deviation) in plans(measured, workers).items():
        games, enough = plan.games_in(seconds), games_for(deviation, half)
        rows.append(
            [
                agent,
                f"{plan.seconds_a_game:.4f}",
                f"{plan.games_a_range:,}",
                f"{games / 1e6:,.1f} M",
                f"{100 * half_width(deviation, games):.4f}" if games else "",
                f"{enough:,}",
                f"{enough * plan.seconds_a_game / 3600:.2f}",
                f"{games // enough:,}",
            ]
        )
    return rows
