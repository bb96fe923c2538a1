"""The learned agent: a move alone, and in a batch.

Positions are those of its own games, at all places of their deals, and whose move it is decides:
half of them are discards, which cost twice as much as a draw.
"""

from __future__ import annotations

import functools
import itertools
import time

from benchmarks.positions import views_of
from benchmarks.registry import Benchmark, Entry, Goal, Measured, Measurement
from benchmarks.timing import Contender, Work

POSITIONS = 512
BATCH = 4096
ROUNDS = 5
"""How often each position is asked for when single moves are timed."""

RULES = ("eaai", "classic")
MS_ALONE, MS_IN_BATCH = 1.0, 0.1
"""What a move may take."""


def moves(seed: int, rules: str, together: int) -> Contender:
    """Moves in positions taken ``batch`` at a time."""
    import numpy as np

    from ginrummy_env.policy import make_policy

    view = views_of("ppo", rules, seed, max(together, POSITIONS))
    parts = np.array_split(np.arange(len(view)), max(1, len(view) // together))
    views = itertools.cycle([view.select(part) for part in parts])
    policy, rng = make_policy("ppo"), np.random.default_rng(seed)

    def work() -> Work:
        batch = next(views)
        policy.act(batch, rng)
        return Work(len(batch))

    return work


def single_moves(seed: int, rules: str) -> Measured:
    """Return the 90 % point of the milliseconds that a move alone takes on the processor."""
    import numpy as np

    from ginrummy_env.policy import make_policy

    view = views_of("ppo", rules, seed, POSITIONS)
    views = [view.select([row]) for row in range(len(view))]
    policy, rng = make_policy("ppo"), np.random.default_rng(seed)
    clocks = {"processor": time.process_time, "clock": time.perf_counter}
    took: dict[str, list[float]] = {name: [] for name in clocks}
    for one in views * ROUNDS:
        begun = {name: clock() for name, clock in clocks.items()}
        policy.act(one, rng)
        for name, clock in clocks.items():
            took[name].append(1000 * (clock() - begun[name]))
    lines = []
    for name, each in took.items():
        middle, most, worst = np.percentile(each[len(views) :], [50, 90, 99])  # the first warm up
        lines.append(
            f"{rules}, ms by the {name}: median {middle:.2f}, mean {np.mean(each):.2f}, "
            f"90 % within {most:.2f}, 99 % within {worst:.2f}"
        )
    return Measured(float(np.percentile(took["processor"], 90)), tuple(lines))


BENCHMARKS: list[Entry] = [
    *(
        Benchmark(
            name=f"ppo/{rules}/{together}",
            track="learned agent",
            unit="moves",
            make=functools.partial(moves, rules=rules, together=together),
            goals=(Goal(value=1000 / goal),),
        )
        for rules in RULES
        for together, goal in ((1, MS_ALONE), (BATCH, MS_IN_BATCH))
    ),
    *(
        Measurement(
            name=f"ppo/{rules}/90%",
            track="moves alone",
            unit="ms",
            work_out=functools.partial(single_moves, rules=rules),
            goals=(Goal(value=MS_ALONE, at_most=True),),
        )
        for rules in RULES
    ),
]
