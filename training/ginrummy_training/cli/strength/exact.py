"""``ginrummy exact``: the value of a small deal, an equilibrium, and how exploitable agents are."""

import argparse
import os
from time import perf_counter

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    RULES_HELP,
    add_force,
    add_out,
    add_rules,
    add_seed,
    add_trust,
    whole,
)

NEEDED = "pip install -e '.[openspiel]'"

AGENTS = ("random", "simple", "lookahead", "champion", "search:16")

HELP = f"""\
Solves a deal of a small deck exactly: its value for the player who opens, an equilibrium, and what
a best response wins from each agent. The whole tree is walked; CFR, CFR+, best responses and
exploitability are OpenSpiel's. Needs the extra: {NEEDED}.

examples:
  ginrummy exact --out runs/nano                       the preset nano, in a few minutes
  ginrummy exact simple ppo:runs/x/best.npz --out runs/nano
  ginrummy exact random simple --rules nano,turn_bound=1 --iterations 50
  ginrummy exact --rules nano,knock_limit=5 --out runs/five

Only small decks can be walked: "nano" has 323,920 histories, and two million are allowed. An agent
that draws random numbers is asked --samples times in each position, and the frequencies are used
as its probabilities.

Ctrl-C keeps the agents that are done; run the same command to do the others, or name more agents.
Results of other settings or agents are not overwritten without --force.

files in --out:
  exact.json        all results, with the command and versions
  agents.csv        how exploitable each agent is
  solvers.csv       how exploitable CFR and CFR+ are by iteration
  equilibrium.npz   the strategy (docs/SMALL_GAMES.md reads it)
  exact.png         both tables as a picture

{AGENTS_HELP}
{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("agents", nargs="*", metavar="AGENT",
                        help=f"({' '.join(AGENTS)})")  # fmt: skip
    add_rules(parser, "nano")
    parser.add_argument("--iterations", type=whole, default=200, metavar="N",
                        help="of CFR and CFR+ (200)")  # fmt: skip
    parser.add_argument("--samples", type=whole, default=16, metavar="N",
                        help="answers of an agent that draws random numbers, per position "
                        "(16)")  # fmt: skip
    add_seed(parser)
    add_out(parser, "folder for the results, and to resume from")
    add_force(parser)
    add_trust(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Solve, measure and print."""
    from rich.table import Table

    from ginrummy_training.cli.console import interrupted, show_tables
    from ginrummy_training.progress import progress_bar

    try:
        from ginrummy_training.strength.exact import PICTURE, exact
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is missing: {NEEDED}") from error
    from ginrummy_training.strength.exact_figure import exact_picture

    if options.iterations < 1:
        raise ValueError(f"--iterations {options.iterations}: at least 1 is needed")
    start = perf_counter()
    try:
        with progress_bar() as progress:
            found = exact(
                options.agents or AGENTS,
                options.rules,
                iterations=options.iterations,
                samples=options.samples,
                seed=options.seed,
                out=options.out,
                force=options.force,
                progress=progress,
            )
    except KeyboardInterrupt:
        return interrupted(options.out)
    tree, value = found["tree"], found["value"]
    print(
        f"{found['rules']}: {tree['histories']:,} histories, {tree['information_sets']:,} "
        f"information sets\nvalue for the opener: {value['low']:.4f} to {value['high']:.4f} points "
        f"per deal\nin equilibrium: "
        + ", ".join(f"{name} {100 * share:.1f} %" for name, share in found["endings"].items())
    )
    table = Table(title="Points per deal", title_justify="left")
    for head in ("agent", "exploitability", "as opener", "as dealer", "against equilibrium"):
        table.add_column(head, justify="left" if head == "agent" else "right")
    keys = ("exploitability", "loses_as_opener", "loses_as_dealer", "against_equilibrium")
    ranked = sorted(found["agents"].items(), key=lambda item: item[1]["exploitability"])
    for name, each in ranked:
        table.add_row(name, *(f"{each[key]:+.3f}".removeprefix("+") for key in keys))
    show_tables(table)
    print(f"{perf_counter() - start:.1f} s")
    if options.out is not None:
        exact_picture(found).save(options.out / PICTURE)
        print(f"written: {options.out}{os.sep}")
    return 0
