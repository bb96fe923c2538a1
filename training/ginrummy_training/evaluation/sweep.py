"""Settings of an agent compared on the same decks."""

import argparse
import sys
from pathlib import Path

from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_summary import summarise
from ginrummy_training.storage import write_csv

HEAD = ("agent", "against", "rules", "games", "seed", "games_won", "low", "high", "deals_won")


def sweep(
    agents: list[str], against: str, rules: str, games: int, seed: int, workers: int = 1
) -> list[tuple[str | int | float, ...]]:
    """Return a row for each agent: its share of games won, with the interval, and of deals.

    All play the same decks, so their differences are less noisy than their intervals say.

    Args:
        agents: specifications such as "champion:weight=14".
        against: the one opponent.
        rules: a preset's name.
        games: games of each, an even number.
        seed: of decks and agents; confirm the best of a sweep on another.
        workers: processes; they change the speed, never a game.
    """
    rows: list[tuple[str | int | float, ...]] = []
    for agent in agents:
        result = play_match(agent, against, games=games, seed=seed, rules=rules, workers=workers)
        summary = summarise(result)
        won = summary["games_won"]["a"]
        low, high, deals = won["low"], won["high"], summary["deals_won"]["a"]["value"]
        shares = (round(share, 5) for share in (won["value"], low, high, deals))
        rows.append((agent, against, rules, games, seed, *shares))
        print(f"{agent:40s} {won['value']:7.2%} ({low:.2%} to {high:.2%})", flush=True)
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Run a sweep from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m ginrummy_training.evaluation.sweep",
        description=__doc__,
        epilog="example: ... hein hein:0.25 --rules eaai",
    )
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="one setting each")
    parser.add_argument("--against", default="simple", metavar="AGENT", help="(simple)")
    parser.add_argument("--rules", default="classic", help="a preset (classic)")
    parser.add_argument("--games", type=int, default=6000, metavar="N", help="of each (6,000)")
    parser.add_argument("--seed", type=int, default=0, help="(0)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a CSV file for the table")
    given = parser.parse_args(arguments)
    try:
        rows = sweep(
            given.agents, given.against, given.rules, given.games, given.seed, given.workers
        )
    except ValueError as error:
        parser.error(str(error))
    if given.out:
        write_csv(given.out, HEAD, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
