"""A demonstration in two or three minutes: ``make demo``.

First a thousand full games of the two simplest ways to play, all at once. Then an agent learns for
about a minute. Then everybody against everybody, the new one too, under the classic rules and under
those of the EAAI challenge; tables are printed, results and plots are written into a folder.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from time import perf_counter

from rich.table import Table

from ginrummy_env.core.rules import PRESETS
from ginrummy_training.cli.commands import progress_bar, show_tables, speeds, workers_for
from ginrummy_training.cli.main import Parser, whole
from ginrummy_training.evaluation.console_tables import ENDINGS, cross_report, plain, titled_table
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_summary import Summary, summarise
from ginrummy_training.evaluation.tournament import play_tournament, write_tournament
from ginrummy_training.evaluation.tournament_figures import save_plots

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

TOURNAMENT_RULES = ("classic", "eaai")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration and return the exit code."""
    options = _parser().parse_args(arguments)
    options.workers = workers_for(options, pairings=20)
    start = perf_counter()
    out: Path = options.out
    try:
        show_tables(first_table(options.first_games, options.seed, options.workers))
        learned = learning(out / "training", options.seed) if options.training else ()
        for rules in TOURNAMENT_RULES:
            show_tables("", *tournament(rules, options, out / rules, learned))
    except KeyboardInterrupt:
        print(f"\ninterrupted; what has been played is in {out}, and is not played again")
        return 130
    print(
        f"\n{perf_counter() - start:.0f} s. Tables and plots are in {out}/classic and {out}/eaai."
    )
    print("Play yourself: ginrummy play champion. More: ginrummy --help.")
    return 0


def _parser() -> Parser:
    made = Parser(prog="python -m ginrummy_training.cli.demo", description=__doc__)
    made.add_argument("--games", type=whole, default=150, help="a pairing in the tournaments (150)")
    made.add_argument("--first-games", type=whole, default=1000, help="of the first part (1000)")
    made.add_argument("--seed", type=whole, default=0, help="of decks and agents (0)")
    made.add_argument("--workers", type=whole, help="processes (one for each core)")
    made.add_argument("--training", action=argparse.BooleanOptionalAction, default=True,
                      help="train an agent too, about a minute (yes)")  # fmt: skip
    made.add_argument("--out", type=Path, default=Path("demo"), help="a folder (demo)")
    return made


def first_table(games: int, seed: int, workers: int) -> Table:
    """Play the first part and return what it shows."""
    columns: dict[str, dict[str, str]] = {}
    for name, agent in FIRST.items():
        with progress_bar([f"{name}: full games to 100"], games) as progress:
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


def _first_column(summary: Summary) -> dict[str, str]:
    """Return how deals ended and what games came to, as text."""
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
        print(f"\nno training: {error.name} is missing (pip install 'ginrummy_env[train]')")
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
    agents = (*TOURNAMENT_AGENTS, *learned)
    names = [f"{rules}: {a} – {b}" for a, b in combinations(agents, 2)]
    with progress_bar(names, options.games) as progress:
        played = play_tournament(
            agents,
            games=options.games,
            seed=options.seed,
            rules=PRESETS[rules],
            workers=options.workers,
            out=out,
            progress=progress,
        )
    summary = write_tournament(played, out)
    save_plots(summary, out)
    return [cross_report(summary)]


if __name__ == "__main__":
    sys.exit(main())
