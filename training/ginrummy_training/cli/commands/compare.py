"""``ginrummy compare``: settings of an agent on the same decks."""

import argparse

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    RULES_HELP,
    add_force,
    add_games,
    add_out,
    add_rules,
    add_seed,
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("agents", nargs="+", metavar="AGENT")
    parser.add_argument("--against", default="simple", metavar="AGENT",
                        help="the opponent of all (simple)")  # fmt: skip
    add_rules(parser)
    add_seed(parser)
    add_out(parser, "CSV file for the table")
    add_force(parser)
    add_games(parser, 6_000, "of each agent")
    add_workers(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the agents."""
    from ginrummy_env.core.rules import rules_name
    from ginrummy_env.files import require_free
    from ginrummy_training.cli.console import interrupted, workers_for
    from ginrummy_training.evaluation.sweep import HEAD, sweep
    from ginrummy_training.storage import write_csv

    if options.out is not None:
        require_free(options.out, options.force)
    try:
        rows = sweep(
            options.agents,
            options.against,
            rules_name(options.rules),
            options.games,
            options.seed,
            workers_for(options),
        )
    except KeyboardInterrupt:
        return interrupted(None)
    if options.out is not None:
        write_csv(options.out, HEAD, rows)
        print(f"written: {options.out}")
    return 0
