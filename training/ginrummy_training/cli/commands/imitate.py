"""``ginrummy imitate``: the first part of `ginrummy train`."""

import argparse
from dataclasses import replace
from pathlib import Path

from ginrummy_training.cli.arguments import RULES_HELP
from ginrummy_training.cli.commands import train
from ginrummy_training.cli.commands.train_selfplay import show

HELP = f"""\
Trains an agent by imitation alone: the first part of `ginrummy train`, with the same folder,
presets and settings. `ginrummy train FOLDER --resume --set steps=N` continues with PPO.

examples:
  ginrummy imitate runs/look --expert lookahead --rules eaai
  ginrummy imitate runs/wise --expert search:64 --set imitation_samples=100000
  ginrummy imitate runs/kept --data data/wise --expert search:64 --rules eaai
  ginrummy match ppo:runs/look/best.npz simple --rules eaai

With --data it learns from decisions that `ginrummy selfplay` has written; the expert is one of
the agents that played there (by default the only one).

{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    train.add_arguments(parser)
    parser.add_argument("--expert", metavar="AGENT", help="the agent to imitate (lookahead)")
    parser.add_argument("--data", type=Path, metavar="FOLDER",
                        help="learn from this folder of `ginrummy selfplay`")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train by imitation alone."""
    if options.show and (saved := train.saved_settings(options)) is not None:
        show(saved)
        return 0
    if options.resume:
        return train.start(options, None)
    settings = replace(train.settings_of(options), steps=0)
    if options.show:
        show(settings)
        return 0
    if not settings.expert:
        raise ValueError("expert='': an agent to imitate is needed")
    return train.start(options, settings)
