"""``ginrummy benchmark``: a card by a frozen protocol."""

import argparse
import os
from pathlib import Path
from time import perf_counter
from typing import Any

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    add_force,
    add_out,
    add_trust,
    add_workers,
    whole,
)

HELP = f"""\
Plays a policy by a frozen protocol and writes a card: what it wins against named opponents, under
two sets of rules, on fixed decks. The same policy gives the same card, byte for byte, so cards can
be cited and compared. docs/BENCHMARK.md explains how.

examples:
  ginrummy benchmark champion --out runs/card
  ginrummy benchmark ppo:runs/x/best.npz --name my-agent --out runs/my-card
  ginrummy benchmark mymodule:MyPolicy --protocol smoke --out runs/try    seconds; not for reports
  ginrummy benchmark --ladder results/benchmark/*          the table of many cards
  ginrummy benchmark --compare runs/my-card results/benchmark/champion

Ctrl-C pauses; run the same command to resume. A card of another policy or protocol is not
overwritten without --force. An opponent whose play has changed is refused.

files in --out:
  card.json      the card
  card.md        the same as tables
  card.png       games won, with intervals
  games/         every game of every match; the benchmark resumes from it

{AGENTS_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("policy", nargs="?", metavar="POLICY")
    add_out(parser, "folder for the card, and to resume from")
    parser.add_argument("--name", default="", metavar="NAME",
                        help="the policy's name on the card (as given)")  # fmt: skip
    parser.add_argument("--protocol", default="", metavar="NAME",
                        help="which protocol (the latest: ginrummy-benchmark-1)")  # fmt: skip
    parser.add_argument("--best-response", type=Path, action="append", default=[], metavar="FILE",
                        help="a result of `ginrummy exploit` for the card; may be given for "
                        "each rules")  # fmt: skip
    add_workers(parser)
    parser.add_argument("--batch", type=whole, default=4_096, metavar="N",
                        help="games played at the same time (4,096)")  # fmt: skip
    parser.add_argument("--ladder", type=Path, nargs="+", metavar="CARD",
                        help="print the table of cards, and play nothing")  # fmt: skip
    parser.add_argument("--compare", type=Path, nargs=2, metavar="CARD",
                        help="print the difference of two cards, and play nothing")  # fmt: skip
    add_force(parser)
    add_trust(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play a benchmark, or print cards."""
    from ginrummy_training.strength.card import read_card
    from ginrummy_training.strength.card_table import compare_markdown, ladder_markdown

    asked = [options.policy, options.ladder, options.compare]
    if sum(each is not None for each in asked) != 1:
        raise ValueError("one of POLICY, --ladder and --compare is needed")
    if options.ladder is not None:
        print(ladder_markdown([read_card(path) for path in options.ladder]), end="")
        return 0
    if options.compare is not None:
        print(compare_markdown(*(read_card(path) for path in options.compare)), end="")
        return 0
    if options.out is None:
        raise ValueError("--out FOLDER is needed, to write the card into")
    return _play(options)


def _play(options: argparse.Namespace) -> int:
    from ginrummy_training.cli.console import cores, interrupted
    from ginrummy_training.progress import progress_bar
    from ginrummy_training.storage import read_json
    from ginrummy_training.strength.card import benchmark, write_card
    from ginrummy_training.strength.card_table import ladder_markdown
    from ginrummy_training.strength.protocol import LATEST, protocol_of

    protocol = protocol_of(options.protocol) if options.protocol else LATEST
    found: list[Any] = [read_json(path) for path in options.best_response]
    start = perf_counter()
    try:
        with progress_bar("games") as progress:
            card, results = benchmark(
                options.policy,
                protocol=protocol,
                name=options.name,
                best_responses=found,
                workers=options.workers or (cores() if protocol is LATEST else 1),
                batch=options.batch,
                out=options.out,
                progress=progress,
                force=options.force,
            )
    except KeyboardInterrupt:
        return interrupted(options.out)
    write_card(card, options.out)
    print(ladder_markdown([card]), end="")
    seconds, decisions = (
        sum(float(getattr(result, name)[0]) for result in results)
        for name in ("seconds", "decisions")
    )
    print(
        f"\n{perf_counter() - start:.1f} s; {1e6 * seconds / max(decisions, 1):,.0f} µs a decision"
    )
    print(f"written: {options.out}{os.sep}")
    return 0
