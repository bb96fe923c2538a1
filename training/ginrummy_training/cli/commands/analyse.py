"""``ginrummy analyse``: why a move, from the candidates of a position in sampled worlds."""

import argparse
from pathlib import Path
from textwrap import fill

from ginrummy_training.cli.arguments import (
    RULES_HELP,
    add_force,
    add_out,
    add_rules,
    add_seed,
    whole,
)

HELP = f"""\
Explains a move: tries every candidate of one position in the same sampled worlds, plays the deals
to their end, and prints the value of each candidate, how its deals ended, what the search would do
and why, and its estimate of the opponent's hand.

examples:
  ginrummy analyse game.txt --deal 2 --step 7
  ginrummy analyse --hand "4s 5s 6s 9h 9d 9c Kh Kd 2c 3c Qs" --pile "7h Jd" --rules eaai
  ginrummy analyse --hand "4s 5s 6s 9h 9d 9c Kh Kd 2c 3c" --pile "7h Kc" --score 40:75
  ginrummy analyse game.txt --deal 2 --step 7 --out why.png

The position comes from a record or from --hand and --pile: ten cards (draw or take?) or eleven
(which discard? knock?). What the opponent discarded, declined or took narrows down their hand:
give it with --thrown, --declined and --known.

{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="a record")
    parser.add_argument("--game", type=whole, default=1, metavar="K", help="from 1 (1)")
    parser.add_argument("--deal", type=whole, default=1, metavar="K", help="from 1 (1)")
    parser.add_argument("--step", type=whole, default=1, metavar="K", help="action, from 1 (1)")
    add_rules(parser)
    add_seed(parser)
    add_out(parser, "file for the plot (png, svg, pdf) or the numbers (json)")
    add_force(parser)
    for name, about in (
        ("hand", "your cards, ten or eleven"),
        ("pile", "the discard pile, oldest first"),
        ("known", "cards that the opponent took from the pile"),
        ("thrown", "cards of the pile that the opponent threw"),
        ("declined", "upcards that the opponent left"),
        ("taken", "the upcard you took this turn"),
    ):
        parser.add_argument(f"--{name}", default="", metavar="CARDS", help=about)
    parser.add_argument("--score", default="0:0", metavar="A:B",
                        help="yours and the opponent's (0:0)")  # fmt: skip
    parser.add_argument("--dealer", action="store_true", help="you dealt")
    parser.add_argument("--opening", action="store_true", help="the first upcard is offered")
    parser.add_argument("--search", default="search:1000", metavar="AGENT",
                        help="the search that values the candidates (search:1000)")  # fmt: skip
    parser.set_defaults(run=run, print_help=parser.print_help)


def run(options: argparse.Namespace) -> int:
    """Explain a move.

    Raises:
        ValueError: no such position, or an agent that does not search.
    """
    if options.file is None and not options.hand:
        options.print_help()
        return 0

    from ginrummy_agents.search.policy import Search
    from ginrummy_env.core.actions import format_action
    from ginrummy_env.files import require_free
    from ginrummy_env.policy import make_policy
    from ginrummy_env.records.recorder import load
    from ginrummy_env.render.text import position_line
    from ginrummy_training.analysis import position
    from ginrummy_training.cli.console import columns, show_tables

    search = make_policy(options.search)
    if not isinstance(search, Search):
        raise ValueError(f"--search {options.search}: not an agent that searches")
    if options.out is not None:
        require_free(options.out, options.force)
    action = None
    if options.file is not None:
        records = load(options.file)
        if not 1 <= options.game <= len(records):
            raise ValueError(
                f"{options.file} has {len(records)} games; --game is one of 1..{len(records)}"
            )
        record = records[options.game - 1]
        view, action = position.recorded_view(record, options.deal - 1, options.step - 1)
    else:
        mine, _, theirs = options.score.partition(":")
        if not (mine.isdigit() and theirs.isdigit()):
            raise ValueError(f"--score {options.score}: two numbers are needed, such as 40:75")
        view = position.typed_view(
            options.hand,
            options.pile,
            options.rules,
            known=options.known,
            thrown=options.thrown,
            declined=options.declined,
            taken=options.taken,
            scores=(int(mine), int(theirs)),
            dealer=options.dealer,
            opening=options.opening,
        )
    found = position.weigh(view, search, options.seed, action)
    title = position_line(view)
    print(fill(title, columns()))
    show_tables(position.table(found))
    if action is not None:
        print(f"* what was done: {format_action(action)}")
    for sentence in found.sentences():
        print(fill(sentence, columns()))
    if options.out is not None:
        from ginrummy_training.analysis.search_figures import write

        write(options.out, found, title)
        print(f"written: {options.out}")
    return 0
