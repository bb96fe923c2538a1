"""``ginrummy replay``: a recorded game, step by step."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ginrummy_training.cli.arguments import add_force, whole

if TYPE_CHECKING:
    from ginrummy_env.records.recorder import GameRecord

HELP = """\
Shows a recorded game step by step. The engine replays the record, so a corrupt file or an illegal
move is found. --html makes a single web page that needs no network: both hands, or with --view
only what one player sees.

examples:
  ginrummy replay game.txt                 Enter continues, q stops
  ginrummy replay game.txt --deal 2 --view 0
  ginrummy replay game.txt --lines         one line per position
  ginrummy replay game.txt --html game.html
  ginrummy replay game.txt --html game.html --values search:64

--values asks an agent for the value of the candidates of every decision; records of
`ginrummy match --record` already have it. The page has buttons that jump to the mistakes:
decisions that cost at least --margin compared with the best.

Records come from `ginrummy play --out`, `ginrummy match --record` and `--records`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--game", type=whole, default=1, metavar="K",
                        help="which game of the file, from 1 (1)")  # fmt: skip
    parser.add_argument("--deal", type=whole, metavar="K", help="only this deal, from 1")
    parser.add_argument("--view", choices=("0", "1", "both"), default="both",
                        help="whose cards are shown (both)")  # fmt: skip
    parser.add_argument("--lines", action="store_true", help="one line per position")
    parser.add_argument("--all", action="store_true", help="do not stop for Enter")
    parser.add_argument("--html", type=Path, metavar="PAGE", help="write a web page")
    add_force(parser)
    parser.add_argument("--values", metavar="AGENT",
                        help="with --html: value every decision with this agent")  # fmt: skip
    parser.add_argument("--margin", type=float, default=0.02, metavar="X",
                        help="with --html: least cost of a mistake (0.02)")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show a recorded game."""
    from ginrummy_env.records.recorder import load
    from ginrummy_training.cli.console import color, columns, width_is_known
    from ginrummy_training.play.terminal import replay_game
    from ginrummy_training.play.terminal_player import QuitGame
    from ginrummy_training.play.wrapping import wrapped

    records = load(options.file)
    if not 1 <= options.game <= len(records):
        raise ValueError(
            f"{options.file} has {len(records)} games; --game is one of 1..{len(records)}"
        )
    record = records[options.game - 1]
    if options.deal == 0:
        raise ValueError("--deal 0: deals are counted from 1")
    if options.html is not None:
        return write_page(options, record)
    if options.values is not None:
        raise ValueError("--values needs --html, a page to show them in")

    def wait() -> None:
        try:
            if input("[Enter, q] ").strip().lower() in ("q", "quit"):
                raise QuitGame
        except EOFError:
            raise QuitGame from None

    def show(text: str) -> None:
        print(wrapped(text, columns()))

    stopping = sys.stdin.isatty() and sys.stdout.isatty() and not (options.all or options.lines)
    try:
        replay_game(
            record,
            print if options.lines or not width_is_known() else show,
            viewer=None if options.view == "both" else int(options.view),
            deal=None if options.deal is None else options.deal - 1,
            lines=options.lines,
            wait=wait if stopping else lambda: None,
            color=color(),
        )
    except QuitGame:
        pass
    return 0


def write_page(options: argparse.Namespace, record: "GameRecord") -> int:
    """Write a recorded game as a web page."""
    from ginrummy_env.files import require_free
    from ginrummy_env.viewer import Replay
    from ginrummy_training.evaluation.annotated_records import annotate

    require_free(options.html, options.force)
    if options.values is not None:
        (record,) = annotate([record], options.values)
    viewer = None if options.view == "both" else int(options.view)
    Replay(record, viewer=viewer, margin=options.margin).save(options.html)
    print(f"written: {options.html}")
    return 0
