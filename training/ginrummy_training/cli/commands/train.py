"""``ginrummy train``: imitation, then PPO."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ginrummy_training.cli.arguments import RULES_HELP, add_trust, assignment, whole
from ginrummy_training.cli.commands import train_selfplay
from ginrummy_training.cli.commands.train_selfplay import NEEDED, show

if TYPE_CHECKING:
    from ginrummy_training.learning.settings import TrainSettings

PRESETS = ("smoke", "demo", "quick", "full")
"""From the smallest to the largest: `ginrummy_training.learning.settings.PRESETS`."""

HELP = f"""\
Trains an agent: a network first imitates a rule agent, then improves by PPO restricted to legal
actions, against rule agents and its own past. Needs the extra: pip install -e '.[train]'.

examples:
  ginrummy train runs/smoke --preset smoke         every part once, in under a minute
  ginrummy train runs/eaai --rules eaai            five minutes on a free core
  ginrummy train runs/eaai --resume                resumes where it stopped or was killed
  ginrummy train runs/long --preset full --rules classic --seed 7
  ginrummy train runs/mine --config mine.toml --set steps=2000000 --set expert=simple
  ginrummy train runs/scratch --selfplay --preset full
  ginrummy match ppo:runs/eaai/best.npz simple --rules eaai

presets, from the smallest: smoke, demo, quick (the default), full.

With --selfplay no agent is imitated: the network plays both seats and learns from both, by PPO with
a critic that sees both hands (presets smoke, quick, full). Its settings are in
training/ginrummy_training/learning/selfplay/settings.py.

settings are lines of a TOML file, or --set NAME=VALUE (a TOML value; quotes may be left out):
  rules = "eaai"
  reward = "points"                         # or "chance" (of winning the game), "win", "final"
  expert = "lookahead:knock_turns=7"        # "": no imitation
  opponents = {{simple = 0.5, lookahead = 0.2, pool = 0.3}}
--show prints all of them; training/ginrummy_training/learning/settings.py explains each.

files in the folder:
  settings.json        settings, command, exact versions
  log.csv              losses, evaluations, how deals ended, time
  best.npz             the best policy so far; imitation.npz: before PPO; last.npz: at the end
  checkpoint-*.pt      the last two checkpoints, for --resume; checkpoint.json has their SHA-256
  pool-*.npz           past policies to play against
  result.json          after the end: the best policy on fresh decks
  curve.png            games won over the steps
  tensorboard/         tensorboard --logdir runs

{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the run, must be new")
    parser.add_argument("--resume", action="store_true", help="resume the run in the folder")
    parser.add_argument("--previous", action="store_true",
                        help="with --resume: from the checkpoint before the last one")  # fmt: skip
    parser.add_argument("--selfplay", action="store_true",
                        help="learn from nothing, from both players' decisions")  # fmt: skip
    parser.add_argument("--preset", choices=PRESETS, default="quick", help="(quick)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, TOML")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="given",
                        help="a setting; may be given several times")  # fmt: skip
    parser.add_argument("--rules", metavar="RULES", help="a preset or settings, see below (eaai)")
    parser.add_argument("--seed", type=whole, metavar="N",
                        help="seed of decks, agents and weights (0)")  # fmt: skip
    add_trust(parser)
    parser.add_argument("--show", action="store_true",
                        help="print the settings, of FOLDER's run if it has one")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, or resume a training."""
    if options.selfplay:
        return train_selfplay.run(options)
    if options.show:
        show(saved_settings(options) or settings_of(options))
        return 0
    return start(options, None if options.resume else settings_of(options))


def saved_settings(options: argparse.Namespace) -> "TrainSettings | None":
    """Return the settings of the run in the folder, as --set would change them; None: no run."""
    from ginrummy_training.learning.settings import TrainSettings
    from ginrummy_training.storage import ResultError, read_json

    path = options.folder / "settings.json"
    if not path.exists():
        return None
    try:
        settings = TrainSettings().changed(read_json(path)["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise ResultError(f"{path}: corrupt ({error})") from error
    return settings.changed(dict(assignment(text) for text in options.given))


def settings_of(options: argparse.Namespace) -> "TrainSettings":
    """Return the settings that the arguments ask for.

    Raises:
        ValueError: an unknown setting, or a bad value.
    """
    from ginrummy_training.learning.settings import PRESETS, TrainSettings

    settings = PRESETS[options.preset]
    if options.config is not None:
        settings = TrainSettings.load(options.config, settings)
    given: dict[str, Any] = dict(assignment(text) for text in options.given)
    for name in ("rules", "seed", "expert"):
        value = getattr(options, name, None)
        if value is not None:
            given[name] = value
    folder = getattr(options, "data", None)
    if folder is not None:
        from ginrummy_training.dataset.reader import Data

        given["data"] = str(folder)
        agents = Data(folder).agents
        named = "expert" in given or options.config is not None
        if not named and len(agents) == 1:
            given["expert"] = agents[0]
    settings = settings.changed(given)
    settings.check()  # wrong names are refused before anything is written
    return settings


def start(options: argparse.Namespace, settings: "TrainSettings | None") -> int:
    """Run the training; None resumes one, and only its length may be changed."""
    if options.previous and not options.resume:
        raise ValueError("--previous needs --resume")
    try:
        from ginrummy_training.learning.run_folder import Run
        from ginrummy_training.learning.train import train
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is missing: {NEEDED}") from error
    if options.resume:
        given = dict(assignment(text) for text in options.given)
        Run.extend(options.folder, given, previous=options.previous)
    try:
        train(
            options.folder,
            settings,
            resume=options.resume,
            previous=options.previous,
            progress_bar=sys.stderr.isatty(),
            report=lambda text: print(text, flush=True),
        )
    except KeyboardInterrupt:
        print(
            f"\ninterrupted; `ginrummy train {options.folder} --resume` resumes from the last "
            "checkpoint",
            file=sys.stderr,
        )
        return 130
    print(f"written: {options.folder}; play it: ginrummy play ppo:{options.folder / 'best.npz'}")
    return 0
