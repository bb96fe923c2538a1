"""``ginrummy demo``: a thousand games, an agent that learns, and a tournament."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ginrummy_training.cli.arguments import add_force, add_seed, add_workers, whole

if TYPE_CHECKING:
    from rich.table import Table

    from ginrummy_training.evaluation.match_summary import Summary

HELP = """\
The project at work, in two or three minutes: a thousand full games of the two simplest ways to
play; an agent that learns for about a minute; then everyone against everyone, the new agent too,
under the classic rules and those of the EAAI challenge. Prints tables and writes results and plots.

examples:
  ginrummy demo
  ginrummy demo --no-training --out runs/demo
"""

FIRST = {"random": "random", "knock at once": "gold"}
"""The two simplest ways to play: anything that is legal; least deadwood, knocking when it can."""

TOURNAMENT_AGENTS = (
    "random",
    "gold",
    "simple",
    "simple:0",
    "hein",
    "heuristic",
    "myopic",
    "lookahead",
    "champion",
)
"""The rule agents; those that search take longer than a demonstration may."""

MAX_DEALS = 1_000
"""After which `play_tournament` stops a game."""

TOURNAMENT_RULES = ("classic", "eaai")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--games", type=whole, default=150, metavar="N",
                        help="games of each pairing in the tournaments (150)")  # fmt: skip
    parser.add_argument("--first-games", type=whole, default=1_000, metavar="N",
                        help="games of the first part (1,000)")  # fmt: skip
    add_seed(parser)
    add_workers(parser)
    parser.add_argument("--training", action=argparse.BooleanOptionalAction, default=True,
                        help="train an agent too, about a minute (yes)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="FOLDER",
                        help="for the results (demo)")  # fmt: skip
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    from ginrummy_training.cli.console import interrupted, show_tables, workers_for

    options.workers = workers_for(options, pairings=20)
    start = perf_counter()
    out: Path = options.out
    try:
        show_tables(first_table(options.first_games, options.seed, options.workers))
        learned = learning(out / "training", options.seed) if options.training else ()
        for rules in TOURNAMENT_RULES:
            show_tables("", *tournament(rules, options, out / rules, learned))
    except KeyboardInterrupt:
        return interrupted(out)
    print(
        f"\n{perf_counter() - start:.0f} s. Tables and plots are in {out}/classic and {out}/eaai."
    )
    print("Play yourself: ginrummy play champion. More: ginrummy --help.")
    return 0


def first_table(games: int, seed: int, workers: int) -> "Table":
    """Play the first part and return what it shows."""
    from ginrummy_training.cli.commands.bench import speeds
    from ginrummy_training.evaluation.console_tables import titled_table
    from ginrummy_training.evaluation.match import play_match
    from ginrummy_training.evaluation.match_summary import summarise
    from ginrummy_training.progress import progress_bar

    columns: dict[str, dict[str, str]] = {}
    for name, agent in FIRST.items():
        with progress_bar("games") as progress:
            start = perf_counter()
            result = play_match(
                agent, agent, games=games, seed=seed, workers=workers, progress=progress
            )
            seconds = perf_counter() - start
        columns[name] = _first_column(summarise(result))
        for what, number in speeds(result, seconds).items():
            columns[name][what.replace("_", " ")] = f"{number:,.0f}"
    _, table = titled_table("", ["", *columns])
    table.title = f"{games:,} full games to 100, classic rules, all at once"
    for row in next(iter(columns.values())):
        table.add_row(row, *(column[row] for column in columns.values()))
    return table


def _first_column(summary: "Summary") -> dict[str, str]:
    """Return how deals ended and what games came to, as text."""
    from ginrummy_training.evaluation.console_tables import ENDINGS, plain

    deals = summary["deals"]
    counts = {words: sum(summary["endings"][way].values()) for way, words in ENDINGS.items()}
    counts["void"] = summary["endings"]["void"]
    never = ("big gin", "equal deadwood", "gin answered by gin")
    column = {
        f"deals ended: {words}": f"{100 * count / deals:.2f} %"
        for words, count in counts.items()
        if words not in never
    }
    column["deals a game"] = plain(summary["deals_a_game"], 1)
    column["points a game, first seat"] = plain(summary["points_a_game"]["a"], 1)
    column["points a game, second seat"] = plain(summary["points_a_game"]["b"], 1)
    column["with bonuses, first seat"] = plain(summary["final_score"]["a"], 1)
    column["with bonuses, second seat"] = plain(summary["final_score"]["b"], 1)
    return column


def learning(folder: Path, seed: int) -> Sequence[str]:
    """Train an agent for about a minute, show how it gets on, and return its name.

    The extra ``train`` brings what that needs; without it nothing is trained.
    """
    try:
        from ginrummy_training.learning.settings import DEMO
        from ginrummy_training.learning.train import train
    except ModuleNotFoundError as error:
        print(f"\nno training: {error.name} is missing (pip install -e '.[train]')")
        return ()
    print("\nTraining under the EAAI rules: imitation of `lookahead`, then PPO against `simple`")
    resume = (folder / "settings.json").exists()  # of a demonstration that broke off
    train(folder, replace(DEMO, seed=seed), resume=resume, progress_bar=sys.stderr.isatty())
    print(f"The curve is in {folder / 'curve.png'}. `ginrummy train --help` says more.")
    return (f"ppo:{folder / 'best.npz'}",)


def tournament(
    rules: str, options: argparse.Namespace, out: Path, learned: Sequence[str] = ()
) -> Sequence[object]:
    """Play a tournament, write it, and return what is to be printed."""
    from ginrummy_env.core.rules import PRESETS
    from ginrummy_training.evaluation.console_tables import cross_report
    from ginrummy_training.evaluation.result_files import (
        require_tournament_folder,
        write_tournament,
    )
    from ginrummy_training.evaluation.tournament import play_tournament
    from ginrummy_training.evaluation.tournament_figures import save_figures
    from ginrummy_training.progress import progress_bar

    agents = (*TOURNAMENT_AGENTS, *learned)
    require_tournament_folder(
        out, agents, PRESETS[rules], options.seed, MAX_DEALS, options.games, options.force
    )
    with progress_bar("games") as progress:
        played = play_tournament(
            agents,
            games=options.games,
            seed=options.seed,
            rules=PRESETS[rules],
            workers=options.workers,
            out=out,
            progress=progress,
            force=options.force,
        )
    summary = write_tournament(played, out)
    save_figures(summary, out)
    return [cross_report(summary)]
