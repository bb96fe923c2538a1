"""``ginrummy tournament``: everyone plays everyone."""

import argparse
import os
from pathlib import Path
from time import perf_counter

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    RULES_HELP,
    add_force,
    add_out,
    add_playing,
    add_rules,
    add_seed,
    add_trust,
)

HELP = f"""\
Everyone plays everyone, all on the same decks. Prints the cross table and Bradley-Terry ratings
with 95 % intervals.

examples:
  ginrummy tournament random gold simple simple:0
  ginrummy tournament simple gold lookahead --rules eaai --games 4000 --out runs/ladder

With --out everything is saved: Ctrl-C pauses, the same command resumes, and a command with more
agents plays only the new pairings. --ray plays on a cluster (docs/SCALE.md): the same games.

files in --out:
  tournament.json, ratings.csv, pairings.csv, cross_table.csv    results, with seed, rules, versions
  cross_table.png, ratings.png, endings.png                      plots
  games-A-B-*.npz                                                every game of a pairing

{AGENTS_HELP}
{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("agents", nargs="+", metavar="AGENT")
    add_rules(parser)
    add_seed(parser)
    add_trust(parser)
    add_out(parser, "folder for results and plots, and to resume from")
    add_force(parser)
    add_playing(parser, 2_000)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play a tournament."""
    from ginrummy_training.cli.console import interrupted, show_tables, who_plays
    from ginrummy_training.evaluation.console_tables import cross_report
    from ginrummy_training.evaluation.match import require_games
    from ginrummy_training.evaluation.result_files import (
        require_tournament_folder,
        write_tournament,
    )
    from ginrummy_training.evaluation.tournament import play_tournament
    from ginrummy_training.evaluation.tournament_figures import save_figures
    from ginrummy_training.progress import progress_bar

    out: Path | None = options.out
    start = perf_counter()
    require_games(options.games)
    if out is not None:
        require_tournament_folder(
            out,
            [agent.strip() for agent in options.agents],
            options.rules,
            options.seed,
            options.max_deals,
            options.games,
            options.force,
        )
    try:
        with progress_bar("games") as progress:
            tournament = play_tournament(
                options.agents,
                games=options.games,
                seed=options.seed,
                rules=options.rules,
                **who_plays(options, len(options.agents) * (len(options.agents) - 1) // 2),
                batch=options.batch,
                max_deals=options.max_deals,
                out=out,
                progress=progress,
                force=options.force,
            )
    except KeyboardInterrupt:
        return interrupted(out)
    summary = tournament.summary()
    show_tables(cross_report(summary))
    print(f"{perf_counter() - start:.1f} s")
    if out is not None:
        write_tournament(tournament, out)
        save_figures(summary, out)
        print(f"written: {out}{os.sep}")
    return 0
