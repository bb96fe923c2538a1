"""``ginrummy cluster``: what a run on a cluster costs, by the checkout's benchmarks."""

import argparse
import os
import subprocess
import sys

HELP = """\
Estimates what a night on a cluster gives: how many games, and how narrow the interval of the share
of games won. The costs in the model were measured on one machine; docs/SCALE.md explains it. Needs
a checkout of the project.

examples:
  ginrummy cluster cost --workers 1000 --hours 8 --points 0.2 --simulate
  ginrummy cluster cost --plot scale.png
  ginrummy cluster measure --out runs/scale         measure the costs here
  ginrummy cluster cost --help                      the options of each
"""

MODULES = {"cost": "benchmarks.cluster", "measure": "benchmarks.cluster.measure"}
"""The modules that are run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("what", nargs="?", choices=MODULES, metavar="WHAT", help="cost or measure")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="...",
                        help="options of the one named")  # fmt: skip
    parser.set_defaults(run=run, print_help=parser.print_help)


def run(options: argparse.Namespace) -> int:
    """Run the benchmarks of clusters."""
    from ginrummy_training.cli.commands.bench import ROOT

    if options.what is None:
        options.print_help()
        return 0
    if not (ROOT / "benchmarks" / "cluster").is_dir():
        raise ValueError("the benchmarks are in a checkout of the project")
    command = [sys.executable, "-m", MODULES[options.what], *options.options]
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False).returncode
