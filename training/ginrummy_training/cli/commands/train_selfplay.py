"""``ginrummy train --selfplay``: PPO from nothing, both players' decisions learned from."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from ginrummy_training.cli.arguments import assignment
from ginrummy_training.progress import progress_bar

if TYPE_CHECKING:
    from ginrummy_training.learning.selfplay.settings import SelfPlaySettings
    from ginrummy_training.learning.settings import TrainSettings

NEEDED = "pip install -e '.[train]'"


def run(options: argparse.Namespace) -> int:
    """Train, or resume a training; see `train.run`."""
    if options.previous and not options.resume:
        raise ValueError("--previous needs --resume")
    settings = None if options.resume else settings_of(options)
    if options.show and settings is not None:
        show(settings)
        return 0
    try:
        from ginrummy_training.learning.selfplay.run import SelfPlayRun, selfplay_train
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is missing: {NEEDED}") from error
    folder, given = options.folder, dict(assignment(text) for text in options.given)
    if options.resume:
        SelfPlayRun.extend(folder, given, previous=options.previous)
    try:
        with progress_bar("decisions") as progress:
            selfplay_train(
                folder,
                settings,
                resume=options.resume,
                previous=options.previous,
                report=lambda text: print(text, flush=True),
                progress=progress,
            )
    except KeyboardInterrupt:
        print(
            f"\ninterrupted; `ginrummy train {folder} --selfplay --resume` resumes from the last "
            "checkpoint",
            file=sys.stderr,
        )
        return 130
    print(f"written: {folder}; play it: ginrummy play ppo:{folder / 'best.npz'}")
    return 0


def settings_of(options: argparse.Namespace) -> "SelfPlaySettings":
    """Return the settings that the arguments ask for.

    Raises:
        ValueError: an unknown setting, or a bad value.
    """
    from ginrummy_training.learning.selfplay.settings import PRESETS
    from ginrummy_training.learning.settings import read_toml

    if options.preset not in PRESETS:
        raise ValueError(f"--preset {options.preset}: --selfplay has {', '.join(PRESETS)}")
    settings = PRESETS[options.preset]
    if options.config is not None:
        settings = settings.changed(read_toml(options.config))
    given: dict[str, Any] = dict(assignment(text) for text in options.given)
    given |= {n: getattr(options, n) for n in ("rules", "seed") if getattr(options, n) is not None}
    settings = settings.changed(given)
    settings.check()
    return settings


def show(settings: "TrainSettings | SelfPlaySettings") -> None:
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
