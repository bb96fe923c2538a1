"""What was measured, as tables to read and as JSON to keep."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.registry import Benchmark, Entry, Goal, Measured, Measurement, require
from benchmarks.timing import Timing, quartiles, ratio

FORMAT = 1
"""Version of the JSON."""

PACKAGES = (
    "ginrummy_env",
    "numpy",
    "open_spiel",
    "rlcard",
    "pettingzoo",
    "gymnasium",
    "stable-baselines3",
    "sb3-contrib",
    "torch",
)
"""Packages whose versions are written down, if they are installed."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A benchmark beside another one, or beside its goal."""

    entry: Entry
    goal: Goal | None
    than: str | None
    """The other benchmark, or None if the goal is a number."""

    value: float
    """The ratio (median over the rounds), or the rate or value itself."""

    low: float
    high: float
    """The quartiles of these."""

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        return None if self.goal is None else self.goal.reached(self.value)


@dataclass(slots=True)
class Results:
    """All outcomes of a run."""

    entries: list[Entry]
    timings: dict[str, Timing] = field(default_factory=dict)
    measured: dict[str, Measured] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Name to the reason."""

    def comparisons(self, entry: Entry) -> Iterator[Comparison]:
        """Yield what ``entry`` is compared with, as far as both sides were measured."""
        if isinstance(entry, Measurement):
            if entry.name in self.measured:
                value = self.measured[entry.name].value
                for goal in entry.goals:
                    yield Comparison(entry, goal, None, value, value, value)
            return
        if entry.name not in self.timings:
            return
        timing = self.timings[entry.name]
        held: list[tuple[Goal | None, str | None]] = [(goal, goal.than) for goal in entry.goals]
        held += [(None, other) for other in entry.compare]
        for held_to, than in held:
            if than is None:
                yield Comparison(entry, held_to, None, timing.rate, *quartiles(timing.rates))
            elif than in self.timings:
                yield Comparison(entry, held_to, than, *ratio(timing, self.timings[than]))


def short(value: float) -> str:
    """Return a number with three digits that count.

    >>> short(2_104_000.0), short(48_700.0), short(0.0512)
    ('2.10 M', '48.7 k', '0.0512')
    """
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * factor:
            return f"{_three_digits(value / factor)} {letter}"
    return _three_digits(value)


def _three_digits(value: float) -> str:
    return f"{value:#.3g}".rstrip(".")


def rich(module: str) -> Any:
    """Return a module of rich, or say which extra brings it (MissingExtraError)."""
    return require(f"rich.{module}", "rich", "eval")


def print_tables(results: Results, goals: bool = False) -> None:
    """Print one table per track, then the details of the measurements and what was left out.

    Args:
        results: of the run.
        goals: whether to show the goals that this project has set itself.
    """
    console = rich("console").Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = FILE_WIDTH
    for track in dict.fromkeys(entry.track for entry in results.entries):
        rows = [
            row
            for entry in results.entries
            if entry.track == track
            for row in _rows(results, entry, goals)
        ]
        if rows:
            units = {entry.unit for entry in results.entries if entry.track == track}
            console.print(_table(track, rows, units, timed=any(row[2] for row in rows)))
    for name, measured in results.measured.items():
        if measured.lines:
            console.print(f"\n{name}", style="bold", highlight=False)
            for line in measured.lines:
                console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    for name, reason in results.skipped.items():
        console.print(f"left out: {name}: {reason}", style="yellow", markup=False)


FILE_WIDTH = 120
"""Columns of the tables where neither a terminal nor the variable COLUMNS sets them."""

HEADINGS = (
    "",
    "each CPU s",
    "±",
    "each wall s",
    "µs",
    "of",
    "ratio",
    "goal",
    "reached",
)
"""Of the columns; those that are empty from top to bottom are not shown."""


def _table(track: str, rows: list[list[str]], units: set[str], *, timed: bool) -> Any:
    headings = HEADINGS if timed else ("", "value", *HEADINGS[2:])
    title = track
    if len(units) == 1:  # said once, so that the table fits a terminal
        (unit,) = units
        title = f"{track}: {unit}"
        rows = [[row[0], row[1].removesuffix(f" {unit}"), *row[2:]] for row in rows]
    table = rich("table").Table(title=title, title_justify="left")
    shown = [place for place in range(len(HEADINGS)) if any(row[place] for row in rows)]
    for place in shown:
        justify = "left" if HEADINGS[place] in ("", "of") else "right"
        table.add_column(headings[place], justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*(row[place] for place in shown))
    return table


def _rows(results: Results, entry: Entry, goals: bool) -> Iterator[list[str]]:
    """Yield the rows of the table for one entry: one, and one more for each further comparison."""
    if isinstance(entry, Benchmark):
        if entry.name not in results.timings:
            return
        timing = results.timings[entry.name]
        first = [
            entry.name,
            f"{short(timing.rate)} {entry.unit}",
            f"{timing.spread:.0%}",
            short(timing.wall_rate),
            short(1e6 / timing.rate),
        ]
    else:
        if entry.name not in results.measured:
            return
        first = [entry.name, f"{short(results.measured[entry.name].value)} {entry.unit}"]
        first += [""] * 3
    comparisons = [each for each in results.comparisons(entry) if goals or each.than is not None]
    if not comparisons:
        yield [*first, "", "", "", ""]
    for comparison in comparisons:
        yield [*first, *_comparison_cells(results, comparison, goals)]
        first = [""] * len(first)


def _comparison_cells(results: Results, comparison: Comparison, goals: bool) -> list[str]:
    ratio_text = goal_text = reached = ""
    if comparison.than is not None:
        ratio_text = (
            f"{_three_digits(comparison.value)} "
            f"({_three_digits(comparison.low)} to {_three_digits(comparison.high)})"
        )
    if goals and comparison.goal is not None:
        sign = "≤" if comparison.goal.at_most else "≥"
        goal_text = f"{sign} {short(comparison.goal.value)}"
        reached = "[green]yes[/green]" if comparison.reached else "[red]no[/red]"
    return [comparison.than or "", ratio_text, goal_text, reached]


def to_json(
    results: Results, *, command: Sequence[str], seed: int, settings: Any
) -> dict[str, Any]:
    """Return a run as plain values.

    Args:
        results: of the run.
        command: the arguments that it was started with, but for where to write.
        seed: of the run.
        settings: how long and how often was measured.
    """
    return {
        "format": FORMAT,
        "command": " ".join(["python -m benchmarks", *command]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "settings": settings,
        "machine": machine(),
        "versions": versions(),
        "commit": commit(),
        "results": [
            _entry_json(results, entry)
            for entry in results.entries
            if entry.name in results.timings or entry.name in results.measured
        ],
        "left_out": results.skipped,
    }


def _entry_json(results: Results, entry: Entry) -> dict[str, Any]:
    record: dict[str, Any] = {"name": entry.name, "track": entry.track, "unit": entry.unit}
    if isinstance(entry, Benchmark):
        timing = results.timings[entry.name]
        record |= {
            "rate": timing.rate,
            "spread": timing.spread,
            "wall_rate": timing.wall_rate,
            "cpu_share": timing.cpu_share,
            "deals_rate": timing.deals,
            "rates": timing.rates,
        }
    else:
        measured = results.measured[entry.name]
        record |= {"value": measured.value, "lines": list(measured.lines)}
    record["comparisons"] = [
        {
            "than": comparison.than,
            "value": comparison.value,
            "low": comparison.low,
            "high": comparison.high,
            "goal": None if comparison.goal is None else comparison.goal.value,
            "at_most": comparison.goal is not None and comparison.goal.at_most,
            "reached": comparison.reached,
        }
        for comparison in results.comparisons(entry)
    ]
    return record


def machine() -> dict[str, Any]:
    """Return what the speed depends on: processor, cores, system."""
    return {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def processor_name() -> str:
    """Return the processor's name as far as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions() -> dict[str, str]:
    """Return the versions of Python and of `PACKAGES`, as far as these are installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str | None:
    """Return the commit of the checkout, with a ``+`` if files differ from it; None without git."""

    def git(*arguments: str) -> str:
        folder = Path(__file__).parent
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None
