"""The table of all experiments: for a program, and for a reader."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

import pandas as pd

from ginrummy_training.experiments.lab import Lab
from ginrummy_training.experiments.rows import Row
from ginrummy_training.storage import write_csv

COLUMNS = [each.name for each in fields(Row)]


def frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Return all columns of all lines."""
    return pd.DataFrame([row.to_dict() for row in rows], columns=COLUMNS)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write all columns of all lines as CSV."""
    write_csv(path, COLUMNS, [list(row.to_dict().values()) for row in rows])


def compared(rows: Iterable[Row]) -> list[Row]:
    """Return the lines that there is something to compare with."""
    return [row for row in rows if row.against]


def number(value: float | None, half: float | None = None) -> str:
    """Return a number with as many digits as make sense, and its interval.

    >>> number(59.8, 0.8), number(-0.0861, 0.0021), number(1584.0), number(None)
    ('59.8 ± 0.8', '-0.0861 ± 0.0021', '1,584', '')
    """
    if value is None:
        return ""
    if not half:
        return f"{value:,.8g}" if value < 1e6 else f"{value:,.0f}"
    digits = 1 if half >= 0.1 else 2 if half >= 0.01 else 4
    return f"{value:.{digits}f} ± {half:.{digits}f}"


def _printed(value: float | None, half: float | None, kind: str) -> str:
    """Return a published number as it was printed: halves that only come of rounding are not."""
    return number(value, None if kind in ("rounding", "exact") else half)


def table(rows: Iterable[Row], experiments: Sequence[str] = ()) -> pd.DataFrame:
    """Return the table as a reader wants it: one line a number that was published.

    Args:
        rows: of any experiments.
        experiments: those wanted; all if empty.
    """
    chosen = [row for row in compared(rows) if not experiments or row.experiment in experiments]
    return pd.DataFrame(
        {
            "": [row.experiment for row in chosen],
            "what": [row.what for row in chosen],
            "print": [
                _printed(row.published, row.published_half, row.published_kind) for row in chosen
            ],
            "check": [_printed(row.check, row.check_half, row.check_kind) for row in chosen],
            "ours": [number(row.ours, (row.high - row.low) / 2) for row in chosen],
            "verdict": [f"{row.verdict} ({row.against})" for row in chosen],
            "check says": [row.check_verdict if row.against == "print" else "" for row in chosen],
            "why": [row.note for row in chosen],
        }
    )


def tally(rows: Iterable[Row]) -> pd.DataFrame:
    """Return by experiment how many numbers were reproduced, of print and of the check."""
    lines = []
    chosen = compared(rows)
    for name in dict.fromkeys(row.experiment for row in chosen):
        mine = [row for row in chosen if row.experiment == name]
        printed = [row.verdict for row in mine if row.against == "print"]
        checked = [row.check_verdict for row in mine if row.check_verdict]
        lines.append(
            {
                "experiment": name,
                "numbers in print": len(printed),
                "reproduced": printed.count("reproduced"),
                "numbers of the check": len(checked),
                "reproduced of the check": checked.count("reproduced"),
            }
        )
    return pd.DataFrame(lines)


def times(lab: Lab, names: Iterable[str]) -> pd.DataFrame:
    """Return how long each experiment took, in seconds, and with how many processes."""
    return pd.DataFrame([{"experiment": name, **lab.took(name)} for name in names])
