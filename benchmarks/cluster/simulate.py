"""A cluster at work, event by event, to compare the closed form of `cost` with."""

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from benchmarks.cluster.cost import ClusterRun
from ginrummy_training.cluster.ray_runner import AHEAD


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """How a simulated run went."""

    seconds: float
    """From its start to its last range."""
    ranges: int
    """Played to their end."""
    lost: int
    """Played again, since their worker failed."""
    busy: float
    """The share of the workers' time that went into ranges that count."""


def simulate(plan: ClusterRun, games: int, rng: np.random.Generator) -> SimulatedRun:
    """Play a run of a number of games.

    The driver hands out `AHEAD` ranges a worker at first and another one for each that comes back,
    as `run` does. It takes what comes back one at a time, while workers continue with what has been
    handed out.

    Args:
        plan: the cluster, and what a game costs.
        games: of the run.
        rng: of speeds and failures.
    """
    ranges = -(-games // plan.games_a_range)
    speeds = np.exp(plan.spread * rng.standard_normal(plan.workers))
    durations = ((plan.overhead + plan.games_a_range * plan.seconds_a_game) / speeds).tolist()
    merging = plan.merging
    handed_out = min(ranges, AHEAD * plan.workers)
    store, ready = ranges - handed_out, handed_out  # not handed out; handed out and not played yet
    waiting: list[int] = []  # workers that have nothing to play
    order = count()  # events of one moment come in the order in which they were noted
    events = [(plan.start, next(order), "free", worker) for worker in range(plan.workers)]
    done = lost = 0
    now = driver = played = 0.0  # driver: when it has taken all that has come back so far
    while done < ranges:
        now, _, kind, worker = heapq.heappop(events)
        if kind == "free":
            if not ready:
                waiting.append(worker)
                continue
            ready -= 1
            lasts, fails = durations[worker], rng.exponential(3600 * plan.hours_to_failure)
            kind = "failed" if fails < lasts else "ended"
            heapq.heappush(events, (now + min(lasts, fails), next(order), kind, worker))
        elif kind in ("failed", "ended"):
            back = now + plan.repair if kind == "failed" else now
            heapq.heappush(events, (back, next(order), "free", worker))
            driver = max(driver, now) + merging
            kind = "again" if kind == "failed" else "done"
            played += durations[worker] if kind == "done" else 0.0
            heapq.heappush(events, (driver, next(order), kind, worker))
        else:
            if kind == "again":
                lost += 1
                ready += 1
            else:
                done += 1
                ready += min(store, 1)
                store -= min(store, 1)
            if ready and waiting:
                heapq.heappush(events, (now, next(order), "free", waiting.pop()))
    return SimulatedRun(now, done, lost, played / (plan.workers * (now - plan.start)))
