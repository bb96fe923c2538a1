"""The cost of a run as a picture: how long ranges should be, and how close a night comes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cluster.cost import ClusterRun, half_width, plans
from benchmarks.cluster.simulate import simulate
from ginrummy_training.plotting import LINES, new_figure, styled

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
        workers: CPUs of the upper panel.
        half: the interval wanted, a line in the lower one.
        path: of the file.
    """
    figure, (upper, lower) = new_figure(8.4, rows=2)
    plan = plans(measured, workers)["champion"][0]
    cases = {
        "workers fail every 100 h": plan,
        "every hour": replace(plan, hours_to_failure=1.0),
        "no failures, ten times the work per range": replace(
            plan, hours_to_failure=1e6, merge=10 * plan.merge
        ),
    }
    for (name, case), look in zip(cases.items(), LINES, strict=False):
        lengths = np.geomspace(4, 300, 40)
        shares = []
        for length in lengths:
            cut = replace(case, range_seconds=float(length))
            shares.append(used(cut, cut.games_in(SECONDS), SECONDS))
        upper.plot(lengths, shares, label=name, **look | {"marker": ""})
        for length in (8.0, 20.0, 60.0, 200.0):
            cut = replace(case, range_seconds=length)
            games = cut.games_in(SECONDS)
            run = simulate(cut, games, np.random.default_rng(1))
            mark = look | {"linestyle": "none", "fillstyle": "none"}
            upper.plot(length, used(cut, games, run.seconds), **mark)
    upper.set_xscale("log")
    upper.set_xticks([5, 10, 20, 50, 100, 200], ["5", "10", "20", "50", "100", "200"])
    upper.set_xlabel("seconds per range")
    upper.set_ylabel("time that goes into games, %")
    upper.set_ylim(0, 100)
    upper.set_title(f"champion, {workers:,} CPUs, {SECONDS / 60:.0f} minutes (marks: simulated)")
    upper.legend(loc="lower right")
    upper.grid()
    cpus = np.geomspace(1, 10_000, 50).round().astype(int)
    for (agent, (_, deviation)), look in zip(plans(measured, 1).items(), LINES, strict=False):
        nights = [plans(measured, int(number))[agent][0].games_in(8 * 3600) for number in cpus]
        widths = [100 * half_width(deviation, games) for games in nights]
        lower.loglog(cpus, widths, label=agent, **look | {"marker": ""})
    lower.axhline(100 * half, color="#888888", linewidth=0.8)
    lower.text(cpus[-1], 108 * half, f"± {100 * half:g} points", color="#555555", ha="right")
    lower.xaxis.set_major_formatter("{x:,.0f}")
    lower.yaxis.set_major_formatter("{x:g}")
    lower.set_xlabel("CPUs")
    lower.set_ylabel("95 % interval of games won, ± points")
    lower.set_title("one night of 8 hours against simple")
    lower.legend()
    lower.grid()
    figure.save(path)
