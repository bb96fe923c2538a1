"""What commands share when they run: processes, a progress bar, tables, closing words."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ENOUGH_GAMES = 1_000
"""Games for which another process pays."""

Report = Callable[[str, int, int], None]
"""Called with what is under way, how much of it is done and how much there is."""


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


@contextmanager
def progress_bar(unit: str = "") -> Iterator[Report]:
    """Show on stderr how far a command is, if it is a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    amount = MofNCompleteColumn() if unit else TextColumn("{task.percentage:>3.0f} %")
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        amount,
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("", total=None)

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield report


@contextmanager
def games_bar(names: Sequence[str], games: int) -> Iterator[Callable[[int, int], None]]:
    """Show how many games of several pairings have been played.

    Args:
        names: of the pairings.
        games: of each.
    """
    done = [0] * len(names)
    with progress_bar("games") as show:

        def report(number: int, count: int) -> None:
            done[number] = count
            show(names[number], sum(done), games * len(names))

        yield report


def show_tables(*tables: object) -> None:
    """Print tables; where there is no terminal, wide enough that no line is broken."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 160).print(*tables, sep="\n")


def color() -> bool:
    """Return whether to print in color."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def log(text: str) -> None:
    """Print a line of what is going on to stderr."""
    print(text, file=sys.stderr, flush=True)


def interrupted(out: Path | None) -> int:
    """Say what an interrupted command has left, and return its exit code."""
    if out is None:
        log("\ninterrupted; use --out FOLDER to save games and resume later")
    else:
        log(f"\ninterrupted; the games are in {out}; run the same command to resume")
    return 130
