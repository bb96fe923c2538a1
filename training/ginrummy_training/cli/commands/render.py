"""``ginrummy render``: a position as text or as a picture."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from ginrummy_env.core.rules import Rules
    from ginrummy_env.core.state import BatchState
    from ginrummy_env.core.view import View

HELP = f"""\
Draws a position reached after some actions of an agent that plays both sides. Without --out it is
printed as text. A .gif shows the whole deal of that position as an animation.

examples:
  ginrummy render --seed 13 --steps 139
  ginrummy render --seed 13 --steps 139 --out position.svg
  ginrummy render --agent champion --view both --out position.png
  ginrummy render --agent champion --seed 5 --width 600 --out deal.gif

{AGENTS_HELP}
{RULES_HELP}"""

SUFFIXES = (".png", ".svg", ".html", ".txt", ".gif")
FRAME_MS, LAST_FRAME_MS = 900, 4_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_rules(parser)
    add_seed(parser)
    add_trust(parser)
    add_out(parser, f"file for the picture ({', '.join(SUFFIXES)})")
    add_force(parser)
    parser.add_argument("--steps", type=whole, default=20, metavar="N",
                        help="actions before the position (20)")  # fmt: skip
    parser.add_argument("--agent", default="simple", metavar="AGENT",
                        help="plays both sides (simple)")  # fmt: skip
    parser.add_argument("--view", choices=("0", "1", "both", "mover"), default="mover",
                        help="whose cards are shown (mover)")  # fmt: skip
    parser.add_argument("--width", type=whole, default=900, metavar="N",
                        help="of a PNG or GIF, in pixels (900)")  # fmt: skip
    parser.add_argument("--ascii", action="store_true", help="text in ASCII only")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw a position."""
    from ginrummy_env.core.view import make_view
    from ginrummy_env.files import require_free
    from ginrummy_env.render import position_text
    from ginrummy_training.cli.console import color

    out: Path | None = options.out
    if out is not None and out.suffix not in SUFFIXES:
        raise ValueError(f"--out {out}: the name must end in one of {', '.join(SUFFIXES)}")
    if out is not None:
        require_free(out, options.force)
    if out is not None and out.suffix == ".gif":
        animate(out, options)
        print(f"written: {out} ({out.stat().st_size:,} bytes)")
        return 0
    state = played(options.seed, options.steps, options.rules, options.agent)[-1]
    player = int(options.view) if options.view in ("0", "1") else None
    view = make_view(state, options.rules, player)
    opponent = None
    if options.view == "both":
        opponent = make_view(state, options.rules, 1 - view.player)
    if out is None:
        text = position_text(view, opponent=opponent, color=color(), ascii=options.ascii)
        print(text, end="")
        return 0
    write(out, view, opponent, options.width, options.ascii)
    print(f"written: {out} ({out.stat().st_size:,} bytes)")
    return 0


def played(
    seed: int, steps: int, rules: "Rules", agent: str, *, to_the_end: bool = False
) -> "list[BatchState]":
    """Return the positions of the deal in play after some actions of an agent that plays both.

    Args:
        seed: of the game.
        steps: actions; fewer if the game ends before.
        rules: the settings.
        agent: plays both sides.
        to_the_end: whether to play that deal to its end.
    """
    import numpy as np

    from ginrummy_env.core.game import new_games, next_deals
    from ginrummy_env.core.state import Phase
    from ginrummy_env.core.step import step
    from ginrummy_env.core.view import make_view
    from ginrummy_env.policy import make_policy

    player = make_policy(agent)
    rng = np.random.default_rng(seed)
    state = new_games(seed, 1, rules)
    positions = [state.copy()]
    while steps > 0 or (to_the_end and not state.over[0]):
        steps -= 1
        if state.phase[0] == Phase.GAME_OVER:
            break
        if state.over[0]:
            next_deals(state, rules)
            positions = [state.copy()]
        step(state, player.act(make_view(state, rules), rng), rules)
        positions.append(state.copy())
    return positions


def animate(out: Path, options: argparse.Namespace) -> None:
    """Write the deal of a position as a GIF, one frame per action."""
    from PIL import Image

    from ginrummy_env.core.view import make_view
    from ginrummy_env.render import PixelRenderer

    rules = options.rules
    states = played(options.seed, options.steps, rules, options.agent, to_the_end=True)
    player = int(options.view) if options.view in ("0", "1") else 0
    frames = []
    with PixelRenderer(options.width) as renderer:
        for state in states:
            view = make_view(state, rules, player)
            opponent = make_view(state, rules, 1 - player) if options.view == "both" else None
            frames.append(Image.fromarray(renderer.draw(view, opponent=opponent)))
    first, *others = [
        frame.quantize(32, dither=Image.Dither.NONE, palette=frames[-1].quantize(32))
        for frame in frames
    ]
    times = [FRAME_MS] * len(others) + [LAST_FRAME_MS]
    first.save(out, save_all=True, append_images=others, duration=times, loop=0, optimize=True)


def write(out: Path, view: "View", opponent: "View | None", width: int, ascii: bool) -> None:
    """Write a position in the form that the file's name asks for."""
    from ginrummy_env.render import PixelRenderer, position_html, position_svg, position_text

    if out.suffix == ".png":
        with PixelRenderer(width) as renderer:
            renderer.save(out, view, opponent=opponent)
    elif out.suffix == ".txt":
        out.write_text(position_text(view, opponent=opponent, ascii=ascii), encoding="utf-8")
    else:
        draw = position_svg if out.suffix == ".svg" else position_html
        out.write_text(draw(view, opponent=opponent) + "\n", encoding="utf-8")
