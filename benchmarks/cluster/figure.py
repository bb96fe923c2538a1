"""The cost of a run as a picture: how long ranges should be, and how close a night comes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cluster.cost import ClusterRun, half_width, plans
from benchmarks.cluster.simulate import simulate
from ginrummy_env.files import write_whole
from ginrummy_training.plotting import new_figure, styled

LINES = (("-", "o"), ("--", "s"), ("-.", "^"), (":", "D"))
"""Told apart without colours."""

SECONDS = 1200.0
"""Of the run whose ranges are longer or shorter; it is simulated too."""


def used(plan: ClusterRun, games: int, seconds: float) -> float:
    """Return the share of the CPUs' time that went into games, in %."""
    return 100 * games * plan.seconds_a_game / (plan.workers * seconds)


@styled
def draw(measured: dict[str, Any], workers: int, half: float, path: Path) -> None:
    """Draw both panels into a PNG file.

    Args:
        measured: what `measure` wrote.
        workers: CPUs of the left panel.
        half: the interval wanted, a line in the right one.
        path: of the file.
    """
    figure, (left, right) = new_figure(4.4, 11, columns=2)
    plan = plans(measured, workers)["champion"][0]
    cases = {
        "workers fail every 100 h": plan,
        "every hour": replace(plan, hours_to_failure=1.0),
        "no failures, ten times the work per range": replace(
            plan, hours_to_failure=1e6, merge=10 * plan.merge
        ),
    }
    for (name, case), (line, mark) in zip(cases.items(), LINES, strict=False):
        lengths = np.geomspace(4, 300, 40)
        shares = []
        for length in lengths:
            cut = replace(case, range_seconds=float(length))
            shares.append(used(cut, cut.games_in(SECONDS), SECONDS))
        left.plot(lengths, shares, line, color="black", label=name)
        for length in (8.0, 20.0, 60.0, 200.0):
            cut = replace(case, range_seconds=length)
            games = cut.games_in(SECONDS)
            run = simulate(cut, games, np.random.default_rng(1))
            left.plot(length, used(cut, games, run.seconds), mark, color="black", fillstyle="none")
    left.set_xscale("log")
    left.set_xticks([5, 10, 20, 50, 100, 200], ["5", "10", "20", "50", "100", "200"])
    left.set_xlabel("seconds per range")
    left.set_ylabel("time that goes into games, %")
    left.set_ylim(0, 100)
    left.set_title(f"champion, {workers:,} CPUs, {SECONDS / 60:.0f} minutes (marks: simulated)")
    left.legend(loc="lower right")
    cpus = np.geomspace(1, 10_000, 50).round().astype(int)
    for (agent, (_, deviation)), (line, _) in zip(plans(measured, 1).items(), LINES, strict=False):
        nights = [plans(measured, int(number))[agent][0].games_in(8 * 3600) for number in cpus]
        widths = [100 * half_width(deviation, games) for games in nights]
        right.loglog(cpus, widths, line, color="black", label=agent)
    right.axhline(100 * half, color="0.6", linewidth=1)
    right.text(cpus[-1], 108 * half, f"± {100 * half:g} points", color="0.4", ha="right")
    right.xaxis.set_major_formatter("{x:,.0f}")
    right.yaxis.set_major_formatter("{x:g}")
    right.set_xlabel("CPUs")
    right.set_ylabel("95 % interval of games won, ± points")
    right.set_title("one night of 8 hours against simple")
    right.legend()
    write_whole(path, figure.png())
