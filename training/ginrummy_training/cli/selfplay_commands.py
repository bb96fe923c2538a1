"""``ginrummy selfplay``: its arguments, and what it does."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

SELFPLAY_HELP = """\
Agents play games, and every decision becomes a row of a Parquet file: what the mover saw, what it
did, what it thought each candidate worth (agents that tell it: search, champion, ppo), and what
came of the deal and the game. Needs the extra: pip install 'ginrummy_env[data]'.

examples:
  ginrummy selfplay lookahead --rules eaai --games 2000 --out data/lookahead
  ginrummy selfplay search:64 champion --rules eaai --games 500 --shard-games 50 --out data/wise
  ginrummy selfplay champion --games 100000 --out data/many --ray 10.0.0.1:6379
  ginrummy imitate runs/wise --data data/wise --teacher search:64 --rules eaai
  python -c "import pandas as pd; print(pd.read_parquet('data/lookahead/positions'))"

One agent plays itself; of several everyone plays everyone, an equal part of the games each. Games
are in pairs on the same cards with the seats swapped, on decks that no match has.

A shard is a function of the settings and of its games' numbers: the number of workers changes no
byte of it, nor does a cluster (docs/SCALE.md). Ctrl-C stops; the same command goes on and makes the
shards that are missing; a larger --games adds games. A folder that was made with other settings is
refused.

files in --out:
  card.json                  agents, rules, seed, versions, every column with its meaning
  positions/00000.parquet    every decision of a shard's games: docs/DATA.md
  games/00000.parquet        a line a game
"""


def add_commands(command: Callable[[str, str, str], argparse.ArgumentParser]) -> None:
    """Add the command to the parser that ``command`` adds to."""
    from ginrummy_training.cli.main import AGENTS_HELP, RULES_HELP, parse_rules, whole

    to = command(
        "selfplay",
        "games and positions as Parquet files",
        f"{SELFPLAY_HELP}\n{AGENTS_HELP}\n{RULES_HELP}",
    )
    to.add_argument("agents", nargs="+", metavar="AGENT")
    to.add_argument("--out", type=Path, required=True, metavar="FOLDER",
                    help="for the data, and to go on from")  # fmt: skip
    to.add_argument("--games", type=whole, default=1_000, metavar="N",
                    help="in all, an even number (1,000)")  # fmt: skip
    to.add_argument("--rules", default="classic", type=parse_rules, metavar="RULES",
                    help="a preset or settings, see below (classic)")  # fmt: skip
    to.add_argument("--seed", type=whole, default=0, help="of decks and agents (0)")
    to.add_argument("--shard-games", type=whole, default=1_000, metavar="N",
                    help="games a shard: what is lost if it is interrupted; many together are "
                    "played faster (1,000)")  # fmt: skip
    to.add_argument("--max-deals", type=whole, default=1_000, metavar="N",
                    help="a game of so many deals has no winner (1,000)")  # fmt: skip
    to.add_argument("--no-values", action="store_true",
                    help="leave out what the agents think")  # fmt: skip
    to.add_argument("--workers", type=whole, metavar="N",
                    help="processes (one for each core, if there are shards enough)")  # fmt: skip
    to.add_argument("--ray", nargs="?", const="local", metavar="ADDRESS",
                    help="play on a Ray cluster: host:port of its head, or auto; without an "
                    "address one is started on this machine")  # fmt: skip


def run_selfplay(options: argparse.Namespace) -> int:
    """Play and keep everything."""
    from ginrummy_training.cli.commands import interrupted, progress_bar, workers_for
    from ginrummy_training.dataset.generate import plan_of, selfplay

    plan = plan_of(
        options.agents,
        rules=options.rules,
        seed=options.seed,
        shard_games=options.shard_games,
        max_deals=options.max_deals,
        values=not options.no_values,
    )
    maker = None
    if options.ray is not None:
        from ginrummy_training.cluster.ray_dataset import RayMaker

        maker = RayMaker(options.ray, options.workers)
    start = perf_counter()
    try:
        with progress_bar([" – ".join(plan.names)], options.games) as report:
            card = selfplay(
                options.out,
                plan,
                options.games,
                workers=workers_for(options),
                maker=maker,
                tell=lambda done, games: report(0, done),
            )
    except KeyboardInterrupt:
        return interrupted(options.out)
    print(
        f"{card['games']:,} games, {card['positions']:,} positions, "
        f"{card['bytes'] / card['positions']:.1f} bytes a position"
    )
    print(f"{perf_counter() - start:.1f} s")
    print(f"written: {options.out}{os.sep}")
    return 0
