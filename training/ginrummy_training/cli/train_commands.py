"""``ginrummy train`` and ``ginrummy imitate``: their arguments, and what they do."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ginrummy_training.learning.settings import PRESETS, TrainSettings

TRAIN_HELP = """\
Trains an agent: a network first imitates a rule agent, then improves by PPO with legal actions
only, against rule agents and its own past. Needs the extra: pip install 'ginrummy_env[train]'.

examples:
  ginrummy train runs/smoke --preset smoke         every part once, in under a minute
  ginrummy train runs/eaai --rules eaai            five minutes on a free core
  ginrummy train runs/eaai --resume                goes on where it stopped or was killed
  ginrummy train runs/long --preset full --rules classic --seed 7
  ginrummy train runs/mine --config mine.toml --set steps=2000000 --set teacher=simple
  ginrummy match ppo:runs/eaai/best.npz simple --rules eaai

presets, from the smallest: smoke, demo, quick (the one in use if none is named), full.

settings are lines of a TOML file, or --set NAME=VALUE (a TOML value; quotes may be left out):
  rules = "eaai"
  reward = "points"                         # or "chance" (of winning the game), "win", "final"
  teacher = "lookahead:knock_turns=7"       # "": imitate nobody
  opponents = {simple = 0.5, lookahead = 0.2, pool = 0.3}
--show prints all of them; training/ginrummy_training/learning/settings.py says what each does.

files in the folder:
  settings.json        settings, command, exact versions
  log.csv              everything logged: losses, evaluations, how deals ended, time
  best.npz             the best policy so far; imitation.npz: before PPO; last.npz: at the end
  checkpoint.pt        what --resume goes on from, written whole
  pool-*.npz           past policies that are played against
  result.json          after the end: the best policy on fresh decks
  curve.png            games won over the steps
  tensorboard/         tensorboard --logdir runs
"""

IMITATE_HELP = """\
Trains an agent by imitation alone: the first part of `ginrummy train`, with the same folder,
presets and settings. `ginrummy train FOLDER --resume --set steps=N` goes on with PPO.

examples:
  ginrummy imitate runs/look --teacher lookahead --rules eaai
  ginrummy imitate runs/wise --teacher search:64 --set lessons=100000
  ginrummy imitate runs/kept --data data/wise --teacher search:64 --rules eaai

With --data the lessons are decisions that `ginrummy selfplay` has kept; the teacher, one of the
agents that played there (the only one, if it is not named), is not asked again.

  ginrummy match ppo:runs/look/best.npz simple --rules eaai
"""

NEEDED = "pip install 'ginrummy_env[train]'"


def add_commands(command: Callable[[str, str, str], argparse.ArgumentParser]) -> None:
    """Add the two commands to the parser that ``command`` adds to."""
    train = command("train", "train an agent", TRAIN_HELP)
    imitate = command("imitate", "train an agent by imitation alone", IMITATE_HELP)
    for to in (train, imitate):
        to.add_argument("folder", type=Path, metavar="FOLDER", help="of the run, a new one")
        to.add_argument("--resume", action="store_true", help="go on with the run in the folder")
        to.add_argument("--preset", choices=tuple(PRESETS), default="quick", help="(quick)")
        to.add_argument("--config", type=Path, metavar="FILE", help="settings, TOML")
        to.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="given",
                        help="a setting, may stand there several times")  # fmt: skip
        to.add_argument("--rules", metavar="RULES", help="a preset of the rules, or settings")
        to.add_argument("--seed", type=int, help="of decks, agents and weights")
        to.add_argument("--show", action="store_true", help="print the settings and do nothing")
    imitate.add_argument("--teacher", metavar="AGENT", help="whom to imitate (lookahead)")
    imitate.add_argument("--data", type=Path, metavar="FOLDER",
                         help="of `ginrummy selfplay`: lessons from there")  # fmt: skip


def settings_of(options: argparse.Namespace, base: TrainSettings | None = None) -> TrainSettings:
    """Return the settings that the arguments ask for.

    Raises:
        ValueError: a setting that there is not, or a bad value.
    """
    settings = base or PRESETS[options.preset]
    if options.config is not None:
        settings = TrainSettings.load(options.config, settings)
    given: dict[str, Any] = dict(_assignment(text) for text in options.given)
    for name in ("rules", "seed", "teacher"):
        value = getattr(options, name, None)
        if value is not None:
            given[name] = value
    folder = getattr(options, "data", None)
    if folder is not None:
        given["data"] = str(folder)
        agents = recorded_agents(folder)
        named = "teacher" in given or options.config is not None
        if not named and len(agents) == 1:
            given["teacher"] = agents[0]
    settings = settings.changed(given)
    settings.parsed_rules()  # a wrong name is found out at once
    return settings


def recorded_agents(folder: Path) -> list[str]:
    """Return who has played in a folder of `ginrummy selfplay`."""
    from ginrummy_training.dataset.shards import Data

    return Data(folder).agents


def _assignment(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``name=value``."""
    import tomllib

    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r}: NAME=VALUE is needed")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()  # a word without quotes


def show(settings: TrainSettings) -> None:
    """Print settings as TOML."""
    import json

    def toml(value: Any) -> str:
        if isinstance(value, dict):
            inside = ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items())
            return f"{{{inside}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(toml, value))}]"
        return "0" if value is None else json.dumps(value)

    for name, value in settings.to_dict().items():
        print(f"{name} = {toml(value)}")


def run_train(options: argparse.Namespace) -> int:
    """Train, or go on training."""
    if options.resume:
        return _go(options, None)
    settings = settings_of(options)
    if options.show:
        show(settings)
        return 0
    return _go(options, settings)


def run_imitate(options: argparse.Namespace) -> int:
    """Train by imitation alone."""
    if options.resume:
        return _go(options, None)
    settings = replace(settings_of(options), steps=0)
    if options.show:
        show(settings)
        return 0
    if not settings.teacher:
        raise ValueError("teacher='': somebody has to be imitated")
    return _go(options, settings)


def _go(options: argparse.Namespace, settings: TrainSettings | None) -> int:
    """Run the training; what is changed of a resumed run is how long it goes on."""
    try:
        from ginrummy_training.learning.run_folder import Run
        from ginrummy_training.learning.train import train
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is missing: {NEEDED}") from error
    if options.resume:
        Run.extend(options.folder, dict(_assignment(text) for text in options.given))
    try:
        train(
            options.folder,
            settings,
            resume=options.resume,
            progress_bar=sys.stderr.isatty(),
            say=lambda text: print(text, flush=True),
        )
    except KeyboardInterrupt:
        print(
            f"\ninterrupted; `ginrummy train {options.folder} --resume` goes on from the last "
            "checkpoint",
            file=sys.stderr,
        )
        return 130
    print(f"written: {options.folder}; play it: ginrummy play ppo:{options.folder / 'best.npz'}")
    return 0
