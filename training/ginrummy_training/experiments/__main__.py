"""Do the experiments from the command line: ``python -m ginrummy_training.experiments --help``."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ginrummy_training.experiments.catalogue import EXPERIMENTS
from ginrummy_training.experiments.lab import SEED, Lab, Progress
from ginrummy_training.experiments.report import table, write_rows
from ginrummy_training.experiments.rows import Row
from ginrummy_training.storage import ResultError, write_csv

HELP = """\
Does published experiments again and says of each number whether it comes out.

examples:
  python -m ginrummy_training.experiments --fast                  every part once, in half a minute
  python -m ginrummy_training.experiments --out results/experiments --workers 2
  python -m ginrummy_training.experiments --only E4 --only E9 --seed 7
  python -m ginrummy_training.experiments --only census   all 15,820,024,220 hands of ten cards

files in the folder:
  E1.json ... E12.json   numbers, with the settings that made them; done anew if those change
  census.json            the census; census.csv: hands by deadwood
  table.csv              one line a number: print, check, ours, intervals, verdict, why
  *.png                  pictures
  games/                 what was interrupted; the same command goes on with it
"""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show on stderr how far each experiment is, if somebody is looking."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    with bar:
        tasks = {}

        def report(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        yield report


def write_results(rows: Sequence[Row], out: Path) -> None:
    """Write the table, the census as CSV, and the pictures of the experiments that were done."""
    from ginrummy_training.experiments.plots import pictures
    from ginrummy_training.storage import write_whole

    write_rows(out / "table.csv", rows)
    counts = [(int(row.x), int(row.ours)) for row in rows if row.series == "hands with deadwood"
              and row.x is not None]  # fmt: skip
    if counts:
        write_csv(out / "census.csv", ["deadwood", "hands"], counts)
    for name, picture in pictures(rows).items():
        write_whole(out / f"{name}.png", picture.png())


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(
        prog="python -m ginrummy_training.experiments",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(
            ["experiments:"]
            + [f"  {each.name:8}{each.title} {each.source}" for each in EXPERIMENTS.values()]
        ),
    )
    found.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        choices=list(EXPERIMENTS),
        help="one experiment; may stand there twice",
    )
    found.add_argument("--fast", action="store_true", help="few games, to try it out")
    found.add_argument("--out", type=Path, metavar="DIR", help="a folder for results")
    found.add_argument("--seed", type=int, default=SEED, help=f"of decks and agents ({SEED})")
    found.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for."""
    given = parser().parse_args(arguments)
    rows: list[Row] = []
    try:
        with progress_bar() as progress:
            lab = Lab(given.out, given.fast, given.seed, given.workers, progress, say=_say)
            for name in given.only or EXPERIMENTS:
                rows += EXPERIMENTS[name].rows(lab)
                if not sys.stderr.isatty():
                    _say(f"{name} done")
    except KeyboardInterrupt:
        _say("interrupted" + ("; the same command goes on" if given.out else ""))
        return 130
    except (ValueError, ResultError) as error:
        _say(f"error: {error}")
        return 2
    print(table(rows).to_string(index=False, max_colwidth=90))
    if given.out is not None:
        if not given.only:
            write_results(rows, given.out)
        print(f"written: {given.out}/")
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
