"""``ginrummy ladder``: entries for kept tournaments, and their page."""

import argparse
from pathlib import Path

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    add_force,
    add_ray,
    add_trust,
    add_workers,
    whole,
)

HELP = f"""\
Adds an entry to a ladder, or writes the page of ladders. A ladder is a folder that
`ginrummy tournament --out` has written, such as results/ladder-eaai.

examples:
  ginrummy ladder add mybot "exec:./mybot --fast" --ladder results/ladder-eaai
  ginrummy ladder add mynet ppo:runs/mine/best.npz --ladder results/ladder-classic
  ginrummy ladder page results/ladder-eaai results/ladder-classic --out docs/LADDER.md --force

`add` plays the entry against all others under the ladder's rules, seed and number of games, and
updates its tables and plots. It refuses if the code or an agent has changed since the ladder was
played; with --force everything is played again. Pairings whose games are not in the folder are
played too: the same games as before. Ctrl-C pauses; the same command resumes.

{AGENTS_HELP}"""

ADD_HELP = """\
Plays an entry against all others of a ladder, and updates the ladder's tables and plots.

examples:
  ginrummy ladder add mybot "exec:./mybot --fast"
  ginrummy ladder add mybot "exec:./mybot --fast; move_seconds=2" --ladder results/ladder-classic
  ginrummy ladder add mynet ppo:runs/mine/best.npz --workers 1
"""

PAGE_HELP = """\
Writes a page in Markdown from the results of ladders.

example:
  ginrummy ladder page results/ladder-eaai results/ladder-classic --out runs/LADDER.md
"""

LADDER = Path("results/ladder-eaai")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="add|page")
    add = kinds.add_parser(
        "add",
        help="play an entry's pairings",
        description=ADD_HELP,
    )
    add.add_argument("name", metavar="NAME", help="what the entry is called")
    add.add_argument("agent", metavar="AGENT", help="its text form, such as exec:COMMAND")
    add.add_argument("--ladder", type=Path, default=LADDER, metavar="FOLDER",
                     help=f"the ladder ({LADDER.as_posix()})")  # fmt: skip
    add_trust(add)
    add_force(add)
    add_workers(add)
    add.add_argument("--batch", type=whole, default=4_096, metavar="N",
                     help="games played at the same time (4,096)")  # fmt: skip
    add_ray(add)
    add.add_argument("--range", type=whole, metavar="N",
                     help="with --ray: games per task (as many as take 20 s)")  # fmt: skip
    add.set_defaults(run=add_entry)
    page = kinds.add_parser(
        "page",
        help="write the page of ladders",
        description=PAGE_HELP,
    )
    page.add_argument("ladders", nargs="+", type=Path, metavar="FOLDER",
                      help="folders of ladders, such as results/ladder-eaai")  # fmt: skip
    page.add_argument("--out", type=Path, required=True, metavar="FILE", help="the page")
    add_force(page)
    page.set_defaults(run=write_page)


def add_entry(options: argparse.Namespace) -> int:
    """Play an entry's pairings."""
    from ginrummy_training.cli.console import interrupted, show_tables, who_plays
    from ginrummy_training.evaluation.console_tables import cross_report
    from ginrummy_training.evaluation.ladder import Ladder
    from ginrummy_training.evaluation.result_files import write_tournament
    from ginrummy_training.evaluation.tournament import play_tournament
    from ginrummy_training.evaluation.tournament_figures import save_figures
    from ginrummy_training.progress import progress_bar

    ladder = Ladder.of(options.ladder)
    entries = ladder.adding(options.name, options.agent, options.force)
    try:
        with progress_bar("games") as progress:
            tournament = play_tournament(
                entries,
                games=ladder.games,
                seed=ladder.seed,
                rules=ladder.rules,
                **who_plays(options, len(entries) * (len(entries) - 1) // 2),
                batch=options.batch,
                max_deals=ladder.max_deals,
                out=ladder.folder,
                progress=progress,
                force=options.force,
            )
    except KeyboardInterrupt:
        return interrupted(ladder.folder)
    summary = write_tournament(tournament, ladder.folder)
    save_figures(summary, ladder.folder)
    show_tables(cross_report(summary))
    print(f"written: {ladder.folder}; `ginrummy ladder page` writes the page again")
    return 0


def write_page(options: argparse.Namespace) -> int:
    """Write the page of ladders."""
    from ginrummy_env.files import require_free, write_whole
    from ginrummy_training.evaluation.ladder import Ladder, ladder_page
    from ginrummy_training.evaluation.result_files import TOURNAMENT
    from ginrummy_training.storage import read_json

    require_free(options.out, options.force)
    ladders = []
    for folder in options.ladders:
        Ladder.of(folder)  # says what is wrong if it is none
        ladders.append((folder.as_posix(), read_json(folder / TOURNAMENT)))
    write_whole(options.out, ladder_page(ladders).encode())
    print(f"written: {options.out}")
    return 0
