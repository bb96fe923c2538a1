"""Learning curves: share of games won against each eval opponent over the steps.

    ginrummy curves runs/eaai runs/classic --out curves.png

A run is its folder, or its log.csv.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ginrummy_training.learning.run_folder import LOG, SETTINGS
from ginrummy_training.statistics import Estimate
from ginrummy_training.storage import ResultError, read_json

if TYPE_CHECKING:
    from ginrummy_training.plotting import Picture

Points = list[tuple[float, float, float, float]]
"""Steps, share of games won, and the ends of its interval."""


def read_curves(run: Path) -> dict[str, Points]:
    """Return a run's evaluations, by opponent.

    Args:
        run: its folder, or its log.

    Raises:
        ResultError: no log, or a corrupt one.
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


def run_name(run: Path) -> str:
    """Return what a run is called in a legend: its rules and seed, else the name of its file.

    >>> run_name(Path("runs/eaai-seed2.csv"))
    'eaai seed 2'
    """
    if (run / SETTINGS).exists():
        about = read_json(run / SETTINGS)
        made = about.get("settings") if isinstance(about, dict) else None
        if isinstance(made, dict) and {"rules", "seed"} <= made.keys():
            return f"{str(made['rules']).upper()}, seed {made['seed']}"
    return re.sub(r"(?<=[a-z])(?=[0-9])", " ", re.sub("[-_]+", " ", run.stem))


def draw_curves(runs: Mapping[str, Path], opponents: Sequence[str], out: Path) -> None:
    """Draw the curves of one or more runs into a picture (png, svg, pdf); see `curves_picture`.

    Args:
        runs: folders or logs, by their names in the legend.
        opponents: eval opponents to draw; all if empty.
        out: the file.

    Raises:
        ResultError: no log, a corrupt one, or one without any of the evaluations.
        ValueError: the file's name does not end as a picture's.
    """
    curves_picture(runs, opponents).save(out)


def curves_picture(
    runs: Mapping[str, Path],
    opponents: Sequence[str] = (),
    x_label: str = "thousand decisions of PPO (0: after the imitation)",
) -> "Picture":
    """Return the curves of one or more runs.

    Args:
        runs: folders or logs, by their names in the legend.
        opponents: eval opponents to draw; all if empty.
        x_label: what steps are.

    Raises:
        ResultError: no log, a corrupt one, or one without any of the evaluations.
    """
    from ginrummy_training.plotting import series_picture

    found = {
        (name, opponent): [
            (steps / 1000, Estimate(100 * won, 100 * low, 100 * high))
            for steps, won, low, high in points
        ]
        for name, run in runs.items()
        for opponent, points in read_curves(run).items()
        if not opponents or opponent in opponents
    }
    if not found:
        raise ResultError("no evaluations" + (f" against {', '.join(opponents)}" * bool(opponents)))
    against = list(dict.fromkeys(opponent for _, opponent in found))
    alone = len(against) == 1
    return series_picture(
        {name if alone else f"{name} against {each}": line for (name, each), line in found.items()},
        x_label=x_label,
        title=f"games won against {against[0]}, %" if alone else "games won, %",
        height=4.2,
    )
