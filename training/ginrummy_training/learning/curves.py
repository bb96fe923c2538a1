"""Learning curves: share of games won against each eval opponent over the steps.

    ginrummy curves runs/eaai runs/classic --out curves.png

RUN is the folder of a run, or its log.csv.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ginrummy_training.learning.run_folder import LOG
from ginrummy_training.storage import ResultError

Points = list[tuple[float, float, float, float]]
"""Steps, share of games won, and the ends of its interval."""


def read_curves(run: Path) -> dict[str, Points]:
    """Return a run's evaluations, by opponent.

    Args:
        run: its folder, or its log.

    Raises:
        ResultError: no log, or a damaged one.
    """
    path = run / LOG if run.is_dir() else run
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    curves: dict[str, Points] = {}
    for row in rows:
        for name, value in row.items():
            if name.startswith("eval/") and value and f"{name}_low" in row:
                try:
                    low, high = float(row[f"{name}_low"]), float(row[f"{name}_high"])
                    point = (float(row["steps"]), float(value), low, high)
                except (KeyError, ValueError) as error:
                    raise ResultError(f"{path}: corrupt ({error})") from error
                curves.setdefault(name.removeprefix("eval/"), []).append(point)
    return curves


def draw_curves(runs: Mapping[str, Path], opponents: Sequence[str], out: Path) -> None:
    """Draw the curves of one or more runs into a PNG.

    Args:
        runs: folders or logs, by their names in the legend.
        opponents: eval opponents to draw; all if empty.
        out: the file.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(6.4, 4), layout="constrained")
        axes = figure.subplots()
        number = 0
        for name, run in runs.items():
            for opponent, points in read_curves(run).items():
                if opponents and opponent not in opponents:
                    continue
                steps, won, low, high = (np.array(part) for part in zip(*points, strict=True))
                axes.errorbar(
                    steps / 1000,
                    100 * won,
                    yerr=100 * np.array([won - low, high - won]),
                    fmt="osD^vP"[number % 6] + ("-", "--", ":")[number % 3],
                    color=str(0.6 * (number % 2)),  # black and grey, so colors do not matter
                    ms=4,
                    lw=1,
                    capsize=2,
                    label=f"{name} vs {opponent}",
                )
                number += 1
        axes.axhline(50, color="grey", lw=0.8)
        axes.set_xlabel("thousand decisions of PPO (0: after the imitation)")
        axes.set_ylabel("full games won, %")
        figure.legend(loc="outside upper center", ncols=2, frameon=False)
        axes.grid(alpha=0.2)
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=150)
