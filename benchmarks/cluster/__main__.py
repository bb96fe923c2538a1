"""The cost of a run on a cluster, from the command line: ``ginrummy cluster cost``."""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.cluster.cost import plans, table
from benchmarks.cluster.figure import draw
from benchmarks.cluster.simulate import simulate
from ginrummy_env.files import require_free
from ginrummy_training.storage import read_json

MEASURED = Path(__file__).parents[2] / "results" / "scale" / "measured.json"


def main() -> None:
    """Print what a night on a cluster gives."""
    parser = argparse.ArgumentParser(
        prog="ginrummy cluster cost", allow_abbrev=False,
        description="What a night on a cluster gives: games against simple, and how close the "
        "share of games won is then known. The assumptions are in benchmarks/cluster/cost.py.",
    )  # fmt: skip
    parser.add_argument("--workers", type=int, default=1000, help="CPUs (1000)")
    parser.add_argument("--hours", type=float, default=8.0, help="(8)")
    parser.add_argument("--points", type=float, default=0.2, help="the interval wanted, ± (0.2)")
    parser.add_argument("--measured", type=Path, default=MEASURED,
                        help="what `ginrummy cluster measure` wrote")  # fmt: skip
    parser.add_argument("--simulate", action="store_true", help="play each night event by event")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw it too")
    parser.add_argument("--force", action="store_true", help="overwrite the figure")
    given = parser.parse_args()
    if given.plot:
        require_free(given.plot, given.force)
    measured, seconds = read_json(given.measured), 3600 * given.hours
    rows = table(measured, given.workers, seconds, given.points / 100)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"{given.workers:,} CPUs, {given.hours:g} h, ± {given.points:g} points")
    for row in rows:
        agent, *cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([row[0].ljust(len(agent)), *cells]))
    if given.simulate:
        for agent, (plan, _) in plans(measured, given.workers).items():
            run = simulate(plan, plan.games_in(seconds), np.random.default_rng(0))
            print(
                f"{agent}: {run.ranges:,} ranges in {run.seconds / 3600:.3f} h, "
                f"{run.lost:,} of them twice, busy {run.busy:.1%}"
            )
    if given.plot:
        draw(measured, given.workers, given.points / 100, given.plot)


if __name__ == "__main__":
    main()
