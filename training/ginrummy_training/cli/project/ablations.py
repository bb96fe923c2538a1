"""``ginrummy ablations``: what each part of a training is worth."""

import argparse
from pathlib import Path

from ginrummy_training.cli.arguments import add_force, whole

HELP = """\
Trains variants of a base run that differ in one setting, plays them on the same decks, and writes
ablations.csv and ablations.png into the folder. About two and a half minutes per run on a free
core. Ctrl-C pauses; the same command resumes and repeats nothing.

examples:
  ginrummy ablations runs/ablations
  ginrummy ablations runs/ablations --rules eaai --seeds 2 3
  ginrummy ablations runs/ablations --only "no imitation" points
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the runs")
    parser.add_argument("--rules", nargs="+", choices=("classic", "eaai"),
                        default=["classic", "eaai"], help="(classic eaai)")  # fmt: skip
    parser.add_argument("--seeds", nargs="+", type=whole, default=[2], metavar="N", help="(2)")
    parser.add_argument("--only", nargs="+", action="extend", default=[], metavar="VARIANT",
                        help="some variants; a wrong name lists them")  # fmt: skip
    parser.add_argument("--games", type=whole, metavar="N",
                        help="games of each run at its end, an even number (6,000)")  # fmt: skip
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, play and write the table."""
    from ginrummy_training.cli.console import interrupted
    from ginrummy_training.experiments.ablation_figure import ablation_picture
    from ginrummy_training.experiments.ablations import (
        GAMES,
        VARIANTS,
        ablate,
        require_table,
        write_rows,
    )

    for name in options.only:
        if name not in VARIANTS:
            raise ValueError(f"unknown variant {name!r}; the variants are {', '.join(VARIANTS)}")
    folder: Path = options.folder
    only = options.only or list(VARIANTS)
    games = GAMES if options.games is None else options.games
    wanted = [
        (rules, variant, seed)
        for rules in options.rules
        for variant in ("base", *only)
        for seed in options.seeds
    ]
    require_table(folder / "ablations.csv", wanted, options.force)
    try:
        rows = [
            row
            for rules in options.rules
            for seed in options.seeds
            for row in ablate(folder, rules, seed, only, games=games)
        ]
    except KeyboardInterrupt:
        return interrupted(folder)
    write_rows(rows, folder / "ablations.csv")
    ablation_picture(rows).save(folder / "ablations.png")
    print(f"written: {folder}/ablations.csv and .png")
    return 0
