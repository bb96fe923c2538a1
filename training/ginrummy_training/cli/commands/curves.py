"""``ginrummy curves``: learning curves of training runs."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ginrummy_training.cli.arguments import add_force, add_out

HELP = """\
Draws learning curves of one or more training runs: games won against the fixed opponents over the
steps, with their intervals. A run is called by its rules and seed unless you name it.

examples:
  ginrummy curves runs/eaai runs/classic --out curves.png
  ginrummy curves "with imitation=runs/a" "without=runs/b" --against simple --out curves.png
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("runs", nargs="+", metavar="[NAME=]RUN",
                        help="folder of a run, or its log.csv")  # fmt: skip
    parser.add_argument("--against", nargs="*", default=[], metavar="AGENT",
                        help="only these opponents (all)")  # fmt: skip
    add_out(parser, "file for the picture (png, svg, pdf)", required=True)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw the curves."""
    from ginrummy_env.files import require_free
    from ginrummy_training.learning.curves import draw_curves

    require_free(options.out, options.force)
    draw_curves(named_runs(options.runs), options.against, options.out)
    print(f"written: {options.out}")
    return 0


def named_runs(given: Sequence[str]) -> dict[str, Path]:
    """Return runs by their names: as given, or their own; of the same name all but one get a path.

    >>> named_runs(["first=runs/a", "runs/eaai-seed2.csv"])
    {'first': PosixPath('runs/a'), 'eaai seed 2': PosixPath('runs/eaai-seed2.csv')}
    """
    from ginrummy_training.learning.curves import run_name

    runs: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        run = Path(text if Path(text).exists() or not equals else path)
        name = name if equals and run != Path(text) else run_name(run)
        runs[f"{name} ({run})" if name in runs else name] = run
    return runs
