"""What commands share when they run: processes, a progress bar, tables, closing words."""

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import JustifyMethod

ENOUGH_GAMES = 1_000
"""Games for which another process pays."""


def workers_for(options: argparse.Namespace, pairings: int = 1) -> int:
    """Return how many processes to use: as given, else one per core if there is enough to do."""
    if options.workers is not None:
        if options.workers < 1:
            raise ValueError(f"workers={options.workers}: at least 1 is needed")
        return int(options.workers)
    return max(1, min(cores(), options.games * pairings // ENOUGH_GAMES))


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def who_plays(options: argparse.Namespace, pairings: int = 1) -> dict[str, Any]:
    """Return the arguments of `play_match` that say where games are played."""
    if options.ray is None:
        if options.range is not None:
            raise ValueError("--range needs --ray")
        return {"workers": workers_for(options, pairings)}
    from ginrummy_training.cluster.ray_runner import RayRunner

    return {"runner": RayRunner(options.ray, games=options.range, workers=options.workers)}


def width_is_known() -> bool:
    """Return whether the output is a terminal, or COLUMNS says how wide it is."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ


def columns() -> int:
    """Return the width of the terminal, or COLUMNS; 100 where neither is known."""
    return shutil.get_terminal_size((100, 24)).columns if width_is_known() else 100


def show_tables(*tables: object) -> None:
    """Print tables, as wide as the terminal or COLUMNS allows; elsewhere 100 columns at most."""
    from rich.console import Console

    Console(width=columns()).print(*tables, sep="\n")


def show_frame(frame: "pd.DataFrame") -> None:
    """Print a table of pandas: words on the left of their columns, numbers on the right."""
    from pandas.api.types import is_numeric_dtype
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False)
    for name, column in frame.items():
        justify: JustifyMethod = "right" if is_numeric_dtype(column) else "left"
        table.add_column(str(name), justify=justify, overflow="fold")
    for row in frame.itertuples(index=False):
        table.add_row(*(each if isinstance(each, str) else f"{each:g}" for each in row))
    show_tables(table)


def color() -> bool:
    """Return whether to print in color."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def log(text: str) -> None:
    """Print a line of progress to stderr."""
    print(text, file=sys.stderr, flush=True)


def interrupted(out: Path | None) -> int:
    """Say what an interrupted command has left, and return its exit code."""
    if out is None:
        log("\ninterrupted; use --out FOLDER to save games and resume later")
    else:
        log(f"\ninterrupted; the games are in {out}; run the same command to resume")
    return 130
