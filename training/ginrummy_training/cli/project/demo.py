"""``ginrummy demo``: a match, an agent that learns on, a ladder, a game to look at."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from ginrummy_training.cli.arguments import add_force, add_seed, add_workers, even, whole

HELP = """\
Shows the project at work in about a minute, under the rules of the EAAI challenge: a match of two
rule agents; half a minute of further training of the shipped agent; a small tournament; and a game
to look at in the browser. Prints tables and writes results, plots and the game into a folder.

examples:
  ginrummy demo
  ginrummy demo --seconds 0 --out runs/demo         without learning
"""

FIRST = ("champion", "simple")
"""The best of the rule agents, and the baseline."""

LADDER = ("gold", "simple", "hein", "heuristic", "lookahead", "champion")
"""Rule agents; the search takes longer than a demonstration may."""

RULES = "eaai"
MAX_DEALS = 1_000
"""After which `play_tournament` stops a game."""

LEARNED = "learned.npz"
TEST_SEED = 1
"""Added to the seed for the decks of the test: no other part of the demonstration has them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--games", type=even, default=100, metavar="N",
                        help="games of each pairing of the ladder, even (100)")  # fmt: skip
    parser.add_argument("--first-games", type=even, default=200, metavar="N",
                        help="games of the first match, an even number (200)")  # fmt: skip
    parser.add_argument("--seconds", type=whole, default=30, metavar="N",
                        help="how long to learn; 0: not at all (30)")  # fmt: skip
    add_seed(parser)
    add_workers(parser)
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="FOLDER",
                        help="for the results (demo)")  # fmt: skip
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    from ginrummy_env.files import require_free
    from ginrummy_training.cli.console import interrupted, show_tables, workers_for

    out: Path = options.out
    for name in ("game.html", LEARNED, "tournament.json"):
        require_free(out / name, options.force)
    out.mkdir(parents=True, exist_ok=True)
    options.workers = workers_for(options, pairings=20)
    start = perf_counter()
    try:
        show_tables(*first_match(options))
        learned = learn(options) if options.seconds else ()
        show_tables("", *ladder(options, learned))
        page = write_game(out / "game.html", (*learned, *FIRST)[:2], options.seed)
    except KeyboardInterrupt:
        return interrupted(out)
    print(f"\n{perf_counter() - start:.0f} s. Tables and plots are in {out}.")
    print(f"Look at a game: open {page.resolve().as_uri()} in a browser.")
    print("Play yourself: ginrummy play champion --web. More: ginrummy --help.")
    return 0


def first_match(options: argparse.Namespace) -> Sequence[object]:
    """Play the first match and return what to print."""
    from ginrummy_training.cli.commands.bench import speeds
    from ginrummy_training.evaluation.console_tables import match_report
    from ginrummy_training.evaluation.match import play_match
    from ginrummy_training.evaluation.match_summary import summarise
    from ginrummy_training.progress import progress_bar

    start = perf_counter()
    with progress_bar("games") as progress:
        result = play_match(
            *FIRST,
            games=options.first_games,
            seed=options.seed,
            rules=RULES,
            workers=options.workers,
            progress=progress,
        )
    rates = speeds(result, perf_counter() - start).values()
    rate = "{:,.0f} games, {:,.0f} decisions a second".format(*rates)
    return [match_report(summarise(result)), rate]


def learn(options: argparse.Namespace) -> tuple[str, ...]:
    """Let the shipped learned agent learn on, test both, and return the name of the new one."""
    try:
        from ginrummy_training.learning.warm_start import keep_learning
    except ModuleNotFoundError as error:
        print(f"\nno learning: {error.name} is missing (pip install -e '.[train]')")
        return ()
    from ginrummy_agents.learned.policy import load_network, shipped
    from ginrummy_env.core.rules import as_rules
    from ginrummy_env.files import write_whole
    from ginrummy_training.evaluation.match import play_match
    from ginrummy_training.evaluation.match_summary import games_won
    from ginrummy_training.progress import progress_bar

    print(f"\nThe learned agent `ppo` learns on against `simple` for {options.seconds} s.")
    path = options.out / LEARNED
    with progress_bar() as show:
        network, decisions = keep_learning(
            load_network(shipped(as_rules(RULES))),
            RULES,
            options.seconds,
            seed=options.seed,
            progress=lambda elapsed: show("learning", int(100 * elapsed), 100 * options.seconds),
        )
        write_whole(path, network.to_bytes())
    name = f"ppo:{path}"
    for agent, about in (("ppo", "before"), (name, f"after {decisions:,} more decisions")):
        with progress_bar("games") as progress:
            result = play_match(
                agent,
                "simple",
                games=4 * options.games,
                seed=options.seed + TEST_SEED,
                rules=RULES,
                workers=options.workers,
                progress=progress,
            )
        won = games_won(result)
        print(
            f"{100 * won.value:.1f} % ({100 * won.low:.1f} to {100 * won.high:.1f}) of "
            f"{4 * options.games} games won against `simple` {about}"
        )
    return (name,)


def ladder(options: argparse.Namespace, learned: Sequence[str]) -> Sequence[object]:
    """Let everyone play everyone, write the results and return what to print."""
    from ginrummy_env.core.rules import as_rules
    from ginrummy_training.evaluation.console_tables import cross_report
    from ginrummy_training.evaluation.result_files import (
        require_tournament_folder,
        write_tournament,
    )
    from ginrummy_training.evaluation.tournament import play_tournament
    from ginrummy_training.evaluation.tournament_figures import save_figures
    from ginrummy_training.progress import progress_bar

    agents, rules, out = (*LADDER, *learned), as_rules(RULES), options.out
    require_tournament_folder(
        out, agents, rules, options.seed, MAX_DEALS, options.games, options.force
    )
    with progress_bar("games") as progress:
        played = play_tournament(
            agents,
            games=options.games,
            seed=options.seed,
            rules=rules,
            workers=options.workers,
            out=out,
            progress=progress,
            force=options.force,
        )
    summary = write_tournament(played, out)
    save_figures(summary, out)
    return [cross_report(summary)]


def write_game(path: Path, agents: Sequence[str], seed: int) -> Path:
    """Write a game as a web page, with what the agents thought, and return its path."""
    from ginrummy_env.core.rules import as_rules
    from ginrummy_env.viewer import Replay
    from ginrummy_training.evaluation.annotated_records import record_match
    from ginrummy_training.evaluation.match_result import Match
    from ginrummy_training.progress import progress_bar

    with progress_bar() as progress:
        progress("a game to look at", 0, 1)
        first, second = agents
        (record,) = record_match(Match((first, second), as_rules(RULES), seed), 1)
        Replay(record).save(path)
        progress("a game to look at", 1, 1)
    return path
