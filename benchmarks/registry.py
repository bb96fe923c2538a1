"""What a benchmark is, and where the benchmarks are."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from types import ModuleType

from benchmarks.timing import Contender

MODULES = ("peers", "core", "envs", "compat", "search", "ppo", "arena", "learners")
"""Modules of this folder with a list ``BENCHMARKS``, in the order of the report."""


class MissingExtraError(ImportError):
    """A package is missing that an extra of the project brings. The message says which."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """What is to be reached."""

    value: float
    """A ratio where ``than`` is given, else in the benchmark's unit (a second, if it is timed)."""

    than: str | None = None
    """The benchmark of the same run of which ours is to be ``value`` times."""

    at_most: bool = False
    """Whether ``value`` is the most allowed; else the least."""

    def reached(self, value: float) -> bool:
        """Return whether ``value`` is good enough."""
        return value <= self.value if self.at_most else value >= self.value


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """Something that is timed, in turn with the others of its track."""

    name: str
    """Unique, ``what/variant``."""

    track: str
    """Benchmarks of one track take turns within a round; compare only within a track."""

    unit: str
    """What is counted: decisions, hands, deals, games."""

    make: Callable[[int], Contender]
    """From a seed to what is called. May take its time: tables and warm positions are made here."""

    goals: tuple[Goal, ...] = ()
    compare: tuple[str, ...] = ()
    """Further benchmarks whose ratio to this one is shown, without a goal."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The outcome of a measurement."""

    value: float
    lines: tuple[str, ...] = ()
    """Details to print below the tables."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """Something that is measured once: a size, a share, a profile."""

    name: str
    track: str
    unit: str
    work_out: Callable[[int], Measured]
    """From a seed to the outcome."""

    goals: tuple[Goal, ...] = ()


Entry = Benchmark | Measurement


def require(module: str, package: str, extra: str = "bench") -> ModuleType:
    """Import a module of an optional package.

    Args:
        module: its import name.
        package: what pip calls the package.
        extra: the extra of this project that brings it.

    Raises:
        MissingExtraError: it isn't installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{package} is not installed: pip install -e '.[{extra}]' ({error})"
        ) from error


def entries(only: Iterable[str] = ()) -> list[Entry]:
    """Return the benchmarks, in the order of `MODULES`.

    Args:
        only: names of modules, names of benchmarks, or patterns of these (``random/*``); all if
            empty. What a benchmark asked for by its name is compared with comes along.

    Raises:
        ValueError: a name in ``only`` fits nothing, or two benchmarks have one name.
    """
    wanted = list(only)
    modules = [name for name in wanted if name in MODULES]
    patterns = [name for name in wanted if name not in MODULES]
    # A pattern can name anything, so it needs all modules; else load those asked for alone.
    loaded = MODULES if patterns or not wanted else tuple(m for m in MODULES if m in modules)
    found: dict[str, Entry] = {}
    chosen: set[str] = set()
    used = set(modules)
    for module in loaded:
        for entry in importlib.import_module(f"benchmarks.{module}").BENCHMARKS:
            if entry.name in found:
                raise ValueError(f"two benchmarks are called {entry.name}")
            found[entry.name] = entry
            fitting = {pattern for pattern in patterns if fnmatch(entry.name, pattern)}
            used |= fitting
            if fitting:
                chosen |= {entry.name, *compared_with(entry)}
            if not wanted or module in modules:
                chosen.add(entry.name)
    unknown = [name for name in wanted if name not in used]
    if unknown:
        raise ValueError(f"no module or benchmark is called {', '.join(unknown)}")
    return [entry for name, entry in found.items() if name in chosen]


def compared_with(entry: Entry) -> set[str]:
    """Return the names of the benchmarks that ``entry`` is compared with."""
    names = {goal.than for goal in entry.goals if goal.than is not None}
    return names | set(entry.compare) if isinstance(entry, Benchmark) else names
