"""Learning curves: games won against the panel over the steps, with their intervals."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from training.files import ResultError
from training.run import LOG

Points = list[tuple[float, float, float, float]]
"""Steps, share of games won, and the ends of its interval."""


def read_curves(folder: Path) -> dict[str, Points]:
    """Return a run's evaluations, by opponent.

    Raises:
        ResultError: no log, or a damaged one.
    """
    path = folder / LOG
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
                    raise ResultError(f"{path}: damaged ({error})") from error
                curves.setdefault(name.removeprefix("eval/"), []).append(point)
    return curves


def draw_curves(runs: Mapping[str, Path], opponents: Sequence[str], out: Path) -> None:
    """Draw the curves of one or more runs into a PNG.

    Args:
        runs: folders by what they are called.
        opponents: whose evaluations are drawn; all if empty.
        out: the file.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(6.4, 4), layout="constrained")
        axes = figure.subplots()
        for name, folder in runs.items():
            for opponent, points in read_curves(folder).items():
                if opponents and opponent not in opponents:
                    continue
                steps, won, low, high = zip(*points, strict=True)
                (line,) = axes.plot(
                    steps, [100 * x for x in won], marker="o", ms=3, label=f"{name} vs {opponent}"
                )
                axes.fill_between(
                    steps,
                    [100 * x for x in low],
                    [100 * x for x in high],
                    color=line.get_color(),
                    alpha=0.15,
                    lw=0,
                )
        axes.axhline(50, color="grey", lw=0.8)
        axes.set_xlabel("decisions learned from by PPO (0: after the imitation)")
        axes.set_ylabel("full games won, %")
        axes.legend(frameon=False)
        axes.grid(alpha=0.2)
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=150)
