"""``ginrummy curves``: learning curves of training runs."""

import argparse
from pathlib import Path

from ginrummy_training.cli.arguments import add_force, add_out

HELP = """\
Draws learning curves of one or more training runs: games won against the fixed opponents over the
steps, with their intervals.

examples:
  ginrummy curves runs/eaai runs/classic --out curves.png
  ginrummy curves runs/eaai/log.csv --against simple --out curves.png
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN",
                        help="folder of a run, or its log.csv")  # fmt: skip
    parser.add_argument("--against", nargs="*", default=[], metavar="AGENT",
                        help="only these opponents (all)")  # fmt: skip
    add_out(parser, "PNG file", required=True)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw the curves."""
    from ginrummy_env.files import require_free
    from ginrummy_training.learning.curves import draw_curves

    require_free(options.out, options.force)
    draw_curves({run.stem: run for run in options.runs}, options.against, options.out)
    print(f"written: {options.out}")
    return 0
