"""Draw a position from the command line: ``python -m ginrummy_env.render --help``."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.rules import Rules, as_rules
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import View, make_view
from ginrummy_env.policy import make_policy
from ginrummy_env.render import PixelRenderer, position_html, position_svg, position_text

SUFFIXES = (".png", ".svg", ".html", ".txt")


def play(seed: int, steps: int, rules: Rules, policy: str) -> BatchState:
    """Return a game after so many actions of a policy that plays both sides.

    It ends sooner if the game does.
    """
    player = make_policy(policy)
    rng = np.random.default_rng(seed)
    state = new_games(seed, 1, rules)
    for _ in range(steps):
        next_deals(state, rules)
        if state.phase[0] == Phase.GAME_OVER:
            break
        step(state, player.act(make_view(state, rules), rng), rules)
    return state


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m ginrummy_env.render", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the game (default 0)")
    parser.add_argument("--steps", type=int, default=20, help="actions before it (default 20)")
    parser.add_argument("--rules", default="classic", help="name of a preset (default classic)")
    parser.add_argument("--policy", default="simple", help="who plays both sides (default simple)")
    parser.add_argument("--player", type=int, choices=(0, 1), help="whose view; the mover's if not")
    parser.add_argument("--open-cards", action="store_true", help="show both hands")
    parser.add_argument("--width", type=int, default=900, help="of a PNG in pixels (default 900)")
    parser.add_argument("--ascii", action="store_true", help="text without signs beyond ASCII")
    parser.add_argument(
        "--out", type=Path, help=f"a file to write ({', '.join(SUFFIXES)}); the terminal if not"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    options = parser().parse_args(arguments)
    out: Path | None = options.out
    if out is not None and out.suffix not in SUFFIXES:
        parser().error(f"--out {out}: the name must end in one of {', '.join(SUFFIXES)}")
    try:
        rules = as_rules(options.rules)
        state = play(options.seed, options.steps, rules, options.policy)
    except ValueError as error:
        parser().error(str(error))
    view = make_view(state, rules, options.player)
    opponent = make_view(state, rules, 1 - view.player) if options.open_cards else None
    if out is None:
        color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        print(position_text(view, opponent=opponent, color=color, ascii=options.ascii), end="")
        return
    write(out, view, opponent, options.width, options.ascii)
    print(f"{out}: {out.stat().st_size:,} bytes")


def write(out: Path, view: View, opponent: View | None, width: int, ascii: bool) -> None:
    """Write a position in the form that the file's name asks for."""
    if out.suffix == ".png":
        with PixelRenderer(width) as renderer:
            renderer.save(out, view, opponent=opponent)
    elif out.suffix == ".txt":
        out.write_text(position_text(view, opponent=opponent, ascii=ascii), encoding="utf-8")
    else:
        draw = position_svg if out.suffix == ".svg" else position_html
        out.write_text(draw(view, opponent=opponent) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
