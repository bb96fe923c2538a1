"""``ginrummy experiments``: published experiments, repeated."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ginrummy_training.cli.arguments import add_force, add_out, add_seed, add_workers

if TYPE_CHECKING:
    from ginrummy_training.experiments.rows import Row

HELP = """\
Repeats published experiments and reports for each number whether it could be reproduced.

examples:
  ginrummy experiments --fast                     every part once, in half a minute
  ginrummy experiments --out runs/experiments --workers 2
  ginrummy experiments --only E4 E9 --seed 7
  ginrummy experiments --only census              all 15,820,024,220 hands of ten cards

Ctrl-C pauses; with --out the same command resumes.

files in --out:
  E1.json ... E12.json   numbers, with what made them; --force replaces those of others
  census.json            the census; census.csv: hands by deadwood
  table.csv              one row per number: published, checked, ours, intervals, verdict, reason
  *.png                  plots
  games/                 games of interrupted experiments
"""

SEED = 400
"""As `ginrummy_training.experiments.lab.SEED`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--only", nargs="+", action="extend", default=[], metavar="NAME",
                        help="some experiments: E1 to E12, census")  # fmt: skip
    parser.add_argument("--fast", action="store_true", help="few games, to try it out")
    add_seed(parser, SEED)
    add_out(parser, "folder for the results, and to resume from")
    add_force(parser)
    add_workers(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Repeat the experiments."""
    from ginrummy_training.cli.console import interrupted, log, show_frame
    from ginrummy_training.experiments.catalogue import EXPERIMENTS
    from ginrummy_training.experiments.lab import Lab
    from ginrummy_training.experiments.report import table
    from ginrummy_training.progress import progress_bar

    for name in options.only:
        if name not in EXPERIMENTS:
            raise ValueError(
                f"unknown experiment {name!r}; the experiments are {', '.join(EXPERIMENTS)}"
            )
    rows: list[Row] = []
    workers = 1 if options.workers is None else options.workers
    try:
        with progress_bar() as progress:
            lab = Lab(
                options.out, options.fast, options.seed, workers, options.force, progress, log
            )
            for name in options.only or EXPERIMENTS:
                rows += EXPERIMENTS[name].rows(lab)
                log(f"{name} done")
    except KeyboardInterrupt:
        return interrupted(options.out)
    show_frame(table(rows))
    if options.out is not None:
        if not options.only:
            write_results(rows, options.out)
        print(f"written: {options.out}/")
    return 0


def write_results(rows: "list[Row]", out: Path) -> None:
    """Write the table, the census as CSV, and the plots of the experiments."""
    from ginrummy_env.files import write_whole
    from ginrummy_training.experiments.plots import pictures
    from ginrummy_training.experiments.report import write_rows
    from ginrummy_training.storage import write_csv

    write_rows(out / "table.csv", rows)
    counts = [(int(row.x), int(row.ours)) for row in rows if row.series == "hands with deadwood"
              and row.x is not None]  # fmt: skip
    if counts:
        write_csv(out / "census.csv", ["deadwood", "hands"], counts)
    for name, picture in pictures(rows).items():
        write_whole(out / f"{name}.png", picture.png())
