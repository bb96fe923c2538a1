"""``ginrummy compare``: settings of an agent on the same decks."""

import argparse
from textwrap import fill

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    RULES_HELP,
    add_force,
    add_games,
    add_out,
    add_rules,
    add_seed,
    add_trust,
    add_workers,
)

HELP = f"""\
Plays several agents, usually one agent with different settings, against the same opponent on the
same decks. Their differences are less noisy than their intervals suggest; confirm the best of many
on another seed.

examples:
  ginrummy compare hein hein:0.25 hein:0.5 --rules eaai
  ginrummy compare lookahead --rules eaai --games 20000 --seed 31
  ginrummy compare simple:0 simple:4 --against gold --out knock.csv

{AGENTS_HELP}
{RULES_HELP}"""


HEAD = ("agent", "against", "rules", "games", "seed", "games_won", "low", "high", "deals_won")
"""Columns of the CSV file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("agents", nargs="+", metavar="AGENT")
    parser.add_argument("--against", default="simple", metavar="AGENT",
                        help="the opponent of all (simple)")  # fmt: skip
    add_rules(parser)
    add_seed(parser)
    add_trust(parser)
    add_out(parser, "CSV file for the table")
    add_force(parser)
    add_games(parser, 6_000, "of each agent")
    add_workers(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the agents."""
    from ginrummy_env.core.rules import rules_name
    from ginrummy_env.files import require_free
    from ginrummy_training.cli.console import columns, interrupted, show_frame, workers_for
    from ginrummy_training.evaluation.comparison import compare
    from ginrummy_training.progress import progress_bar
    from ginrummy_training.storage import write_csv

    if options.out is not None:
        require_free(options.out, options.force)
    try:
        with progress_bar("games") as progress:
            table = compare(
                options.agents,
                [options.against],
                rules=options.rules,
                games=options.games,
                seed=options.seed,
                workers=workers_for(options),
                progress=progress,
            )
    except KeyboardInterrupt:
        return interrupted(None)
    title = (
        f"against {options.against}, {rules_name(options.rules)}: {options.games:,} games of each "
        f"agent on the same decks, seed {options.seed}"
    )
    print(fill(title, columns()))
    show_frame(table.drop(columns="against").round(2))
    if options.out is not None:
        rules = rules_name(options.rules)
        shares = (table[["games won %", "low", "high", "deals won %"]] / 100).round(5)
        rows = [
            (agent, options.against, rules, options.games, options.seed, *share)
            for agent, share in zip(table["agent"], shares.to_numpy().tolist(), strict=True)
        ]
        write_csv(options.out, HEAD, rows)
        print(f"written: {options.out}")
    return 0
