"""The command line: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import registry, timing
from benchmarks.registry import Benchmark, Measurement, MissingExtraError
from benchmarks.report import Results, print_tables, rich, to_json
from ginrummy_env.files import require_free, write_whole

DEFAULT_SECONDS, DEFAULT_ROUNDS = 0.2, 25
QUICK_SECONDS, QUICK_ROUNDS = 0.1, 7


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run measures."""

    seconds: float
    """Processor seconds a slice."""

    rounds: int
    """Slices a contender."""

    core: int | None
    """The core the process is kept on; None where the system cannot do that."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    made.add_argument(
        "--only",
        default="",
        metavar="NAMES",
        help="modules or benchmarks, comma between, * allowed: core,peers or 'random/*'",
    )
    made.add_argument("--quick", action="store_true", help="a look: fewer and shorter slices")
    made.add_argument("--seconds", type=float, help="processor seconds a slice")
    made.add_argument("--rounds", type=int, help="slices a contender")
    made.add_argument("--seed", type=int, default=0, help="of decks, hands and actions (0)")
    made.add_argument("--cpu", type=int, help="the core to use (the last that is allowed)")
    made.add_argument("--out", type=Path, metavar="FILE", help="write the results there, as JSON")
    made.add_argument("--force", action="store_true", help="overwrite the file")
    made.add_argument("--goals", action="store_true", help="show the goals of this project too")
    made.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    return made


def run(results: Results, settings: Settings, seed: int) -> None:
    """Measure all entries of ``results``, track by track, saying on stderr what is going on."""
    tracks = dict.fromkeys(entry.track for entry in results.entries)
    for track in tracks:
        contenders: dict[str, timing.Contender] = {}
        for entry in results.entries:
            if entry.track != track:
                continue
            say(f"{track}: preparing {entry.name}")
            try:
                if isinstance(entry, Benchmark):
                    contenders[entry.name] = entry.make(seed)
                else:
                    results.measured[entry.name] = entry.work_out(seed)
            except MissingExtraError as error:
                results.skipped[entry.name] = str(error)
        total = len(contenders) * (settings.rounds + 1)
        slices = timing.measure(
            contenders,
            seconds=settings.seconds,
            rounds=settings.rounds,
            timings=results.timings,
        )
        for number, name in enumerate(slices, start=1):
            say(f"{track}: {number}/{total} {name}")
    say("")


def say(text: str) -> None:
    """Show one line of progress, over the one before, if somebody is looking."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def without_option(arguments: Sequence[str], name: str) -> list[str]:
    """Return the arguments without one that takes a value, written with a space or with ``=``.

    >>> without_option(["--quick", "--out", "a.json", "--out=b.json"], "--out")
    ['--quick']
    """
    return [
        argument
        for before, argument in zip(["", *arguments], arguments, strict=False)
        if name not in (before, argument) and not argument.startswith(f"{name}=")
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, or 2 for a wrong argument.

    A goal that is missed is no error: the machine may be busy. An interrupted run prints what it
    has.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    made = parser()
    options = made.parse_args(given)
    timing.use_one_thread()
    try:
        if options.out is not None:
            require_free(options.out, options.force)
        chosen = registry.entries(name for name in options.only.split(",") if name)
        core = timing.pin_to_core(options.cpu)
        rich("table")  # known to be there before anything is measured
    except (OSError, ValueError, MissingExtraError) as error:
        made.error(str(error))
    if options.list:
        for entry in chosen:
            kind = "measured once" if isinstance(entry, Measurement) else "timed"
            print(f"{entry.name:28} {entry.track:16} {entry.unit:10} {kind}")
        return 0
    settings = Settings(
        seconds=options.seconds or (QUICK_SECONDS if options.quick else DEFAULT_SECONDS),
        rounds=options.rounds or (QUICK_ROUNDS if options.quick else DEFAULT_ROUNDS),
        core=core,
    )
    results = Results(chosen)
    try:
        run(results, settings, options.seed)
    except KeyboardInterrupt:
        say("")
        print("interrupted: what follows is what was measured until then")
    print_tables(results, options.goals)
    if options.out is not None:
        how = {"seconds": settings.seconds, "rounds": settings.rounds, "core": settings.core}
        command = without_option(given, "--out")  # a path says nothing on another machine
        record = to_json(results, command=command, seed=options.seed, settings=how)
        write_whole(options.out, json.dumps(record, indent=2) + "\n")
        print(f"written: {options.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
