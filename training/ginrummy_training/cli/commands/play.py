"""``ginrummy play``: a person against an agent."""

import argparse
from pathlib import Path

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

HELP = f"""\
Plays a game against an agent, here in the terminal (type help while playing) or in the browser.

examples:
  ginrummy play
  ginrummy play gold --rules modern
  ginrummy play lookahead --seed 5 --out game.txt
  ginrummy play search:128 --web           then open http://127.0.0.1:8765/

Every move is saved: in the terminal into the file of --out, in the browser into the folder
ginrummy-games or that of --out. The same command resumes an unfinished game. `ginrummy replay`
shows a saved game. The same seed deals the same cards again.

{AGENTS_HELP}
{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="(simple)")
    add_rules(parser, None)
    add_seed(parser, None)
    add_trust(parser)
    add_out(parser, "file for the record of the game; with --web a folder")
    add_force(parser)
    parser.add_argument("--web", action="store_true",
                        help="in the browser, at http://127.0.0.1:PORT")  # fmt: skip
    parser.add_argument("--port", type=whole, default=8_765, metavar="PORT",
                        help="with --web (8765)")  # fmt: skip
    parser.add_argument("--hints", nargs="+", default=[], metavar="AGENT",
                        help="with --web: more agents to ask for hints")  # fmt: skip
    parser.add_argument("--ascii", action="store_true",
                        help="letters for the suits, ASCII only")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Let a person play."""
    if options.web:
        return serve(options)
    import secrets
    from contextlib import suppress

    from ginrummy_training.cli.console import color, columns
    from ginrummy_training.play.terminal import open_game, play
    from ginrummy_training.play.terminal_player import Human

    game = open_game(
        options.out,
        options.agent,
        options.rules,
        options.seed,
        fresh_seed=secrets.randbits(32),
        force=options.force,
    )
    human = Human(
        opponent=game.agent.partition(":")[0], color=color(), ascii=options.ascii, width=columns
    )
    with suppress(ImportError):  # where there is none, what is typed can't be edited
        import readline  # noqa: F401
    play(human, game)
    return 0


def serve(options: argparse.Namespace) -> int:
    """Let a person play in the browser."""
    from ginrummy_env.core.rules import Rules

    try:
        from ginrummy_training.play.web.game import WebGame
        from ginrummy_training.play.web.server import Server
    except ModuleNotFoundError as error:
        raise ValueError(f"{error.name} is missing: pip install -e '.[web]'") from error
    folder: Path = options.out or Path("ginrummy-games")
    rules = Rules() if options.rules is None else options.rules
    agent = options.agent or "simple"
    game = WebGame(folder, agent, rules, seed=options.seed, hints=options.hints)
    if options.port > 65_535:
        raise ValueError(f"--port {options.port}: the largest port is 65535")
    try:
        server = Server(game, options.port)
    except OSError as error:
        raise ValueError(
            f"port {options.port} cannot be used ({error.strerror}): choose another with --port"
        ) from error
    print(f"Gin rummy against {game.agent}: open {server.url}   (Ctrl-C stops)")
    print(f"The game is saved in {game.path}; run the same command to resume.", flush=True)
    server.run()
    return 0
