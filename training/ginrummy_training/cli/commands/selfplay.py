"""``ginrummy selfplay``: games and positions as Parquet files."""

import argparse
import os
from time import perf_counter

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    RULES_HELP,
    add_games,
    add_max_deals,
    add_out,
    add_ray,
    add_rules,
    add_seed,
    add_trust,
    add_workers,
    whole,
)

HELP = f"""\
Agents play games, and every decision becomes a row of a Parquet file: what the mover saw and did,
the value of each candidate (from agents that report it: search, champion, ppo), and the result of
the deal and of the game. Needs the extra: pip install -e '.[data]'.

examples:
  ginrummy selfplay lookahead --rules eaai --games 2000 --out data/lookahead
  ginrummy selfplay search:64 champion --rules eaai --games 500 --shard-games 50 --out data/wise
  ginrummy selfplay champion --games 100000 --out data/many --ray 10.0.0.1:6379
  ginrummy imitate runs/wise --data data/wise --expert search:64 --rules eaai
  python -c "import pandas as pd; print(pd.read_parquet('data/lookahead/positions'))"

One agent plays itself; of several, everyone plays everyone, with equal shares of the games. Games
are in pairs on the same cards with the seats swapped, on decks that no match has.

A shard depends only on the settings and the numbers of its games: workers or a cluster
(docs/SCALE.md) do not change a byte. Ctrl-C pauses; run the same command to make the missing
shards; a larger --games adds games. A folder made with other settings is refused.

files in --out:
  card.json                  agents, rules, seed, versions, every column with its meaning
  positions/00000.parquet    every decision of a shard's games: docs/DATA.md
  games/00000.parquet        one row per game

{AGENTS_HELP}
{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("agents", nargs="+", metavar="AGENT")
    add_rules(parser)
    add_seed(parser)
    add_trust(parser)
    add_out(parser, "folder for the data, and to resume from", required=True)
    add_games(parser, 1_000, "in all")
    parser.add_argument("--shard-games", type=whole, default=1_000, metavar="N",
                        help="games per shard; an interruption loses at most one shard, larger "
                        "ones are faster (1,000)")  # fmt: skip
    parser.add_argument("--no-values", action="store_true",
                        help="leave out the values of candidates")  # fmt: skip
    add_workers(parser)
    add_max_deals(parser)
    add_ray(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play and write everything."""
    from ginrummy_training.cli.console import interrupted, workers_for
    from ginrummy_training.dataset.generate import plan_of, selfplay
    from ginrummy_training.progress import progress_bar

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
        with progress_bar("games") as progress:
            card = selfplay(
                options.out,
                plan,
                options.games,
                workers=workers_for(options),
                maker=maker,
                report=lambda done, games: progress(" – ".join(plan.names), done, games),
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
