"""How far something is: one type of report, and a bar that shows it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]
"""Called with what is under way, how much of the whole is done and how much there is."""


def no_progress(what: str, done: int, total: int) -> None:
    """Report to nobody."""


def part_of(progress: Progress, before: int, total: int, name: str = "") -> Progress:
    """Return what reports a part of a larger whole.

    Args:
        progress: called with the state of the whole.
        before: how much of the whole comes before the part.
        total: how much there is in the whole.
        name: of what is under way; that of the part if empty.
    """

    def report(what: str, done: int, _: int) -> None:
        progress(name or what, before + done, total)

    return report


@contextmanager
def progress_bar(unit: str = "") -> Iterator[Progress]:
    """Show on stderr how far something is, if it is a terminal.

    Args:
        unit: of what is counted, such as ``"games"``; a percentage is shown if empty.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if unit else TextColumn("{task.percentage:>3.0f} %"),
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
