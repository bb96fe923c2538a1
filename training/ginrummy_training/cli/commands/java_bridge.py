"""``ginrummy java-bridge``: players of the AAAI-21 challenge as agents."""

import argparse
from pathlib import Path

HELP = """\
Compiles the bridge that lets players written in Java for the AAAI-21 gin rummy challenge play here
unchanged, and prints the agent to use. Needs a JDK; docs/ARENA.md says how games are settled.

examples:
  ginrummy java-bridge --classpath challenge.jar:mybot.jar mybot.MyPlayer
  ginrummy match "$(ginrummy java-bridge --classpath challenge.jar mybot.MyPlayer)" simple
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("player", metavar="CLASS", help="full name of the player's class")
    parser.add_argument(
        "--classpath", required=True, metavar="PATH",
        help="jars and folders that hold the challenge's classes and the player's",
    )  # fmt: skip
    parser.add_argument(
        "--shared", action="store_true",
        help="one class loader for the player's classes in all games: faster, wrong for players "
        "with static state",
    )  # fmt: skip
    parser.add_argument(
        "--own-melds", action="store_true",
        help="settle deals by the melds that the players lay down, as the challenge does",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=Path("build/java"), metavar="FOLDER",
        help="folder of the compiled bridge (build/java)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compile, and print the agent."""
    from ginrummy_agents.external.java_bridge import bridge_agent, compile_bridge

    compile_bridge(options.out)
    agent = bridge_agent(
        options.out,
        options.classpath,
        options.player,
        shared=options.shared,
        own_melds=options.own_melds,
    )
    print(agent)
    return 0
