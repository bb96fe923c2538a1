"""Results that notebooks store with the settings that made them, and how much notebooks compute.

    FAST = fast()
    table = kept("speed", lambda: measured(games), games=games, seed=7)

The second time the table is read, not made; with other settings, or other code of the rules, the
agents or the matches, it is made again.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ginrummy_training.provenance import digest, environment, value_fingerprint
from ginrummy_training.storage import ResultError, read_json, write_json

if TYPE_CHECKING:
    from ginrummy_training.learning.selfplay.settings import SelfPlaySettings
    from ginrummy_training.learning.settings import TrainSettings

SMALL_VARIABLE, WORKERS_VARIABLE, FOLDER_VARIABLE = (
    "GINRUMMY_SMALL", "GINRUMMY_WORKERS", "GINRUMMY_CACHE",
)  # fmt: skip


def fast() -> bool:
    """Return whether a notebook is to run on small settings, as the tests have them."""
    return os.environ.get(SMALL_VARIABLE, "") not in ("", "0")


def workers() -> int:
    """Return how many processes may play: 2 if nothing else is said, 1 on small settings."""
    return int(os.environ.get(WORKERS_VARIABLE) or (1 if fast() else 2))


def kept_root() -> Path:
    """Return the folder of all that is kept: that of the environment, else ``build/notebooks``."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return Path(given)
    # Jupyter starts a notebook in its own folder, one below the project's.
    above = Path("..")
    project = above if (above / "pyproject.toml").exists() else Path()
    return project / "build" / "notebooks"


def shipped_results() -> Path:
    """Return the folder of the results that ship with the repository, wherever a notebook runs."""
    return Path(__file__).resolve().parents[3] / "results"


def kept_folder(name: str, **settings: Any) -> Path:
    """Return a folder for what resumes by itself: matches, tournaments, training runs.

    Args:
        name: what it is, in a word.
        settings: all that decides what will be in it, as JSON can hold it. With others it is
            another folder; its ``settings.json`` holds them.
    """
    about = {"settings": settings, "code": environment()["code"]}
    folder = kept_root() / f"{name}-{_mark(about)}"
    if not (folder / "settings.json").exists():
        write_json(folder / "settings.json", about)
    return folder


def kept(name: str, make: Callable[[], Any], **settings: Any) -> pd.DataFrame:
    """Return a table: the one that is kept, or a new one.

    Args:
        name: what it is, in a word.
        make: is called if there is none; a data frame, or what makes one. Numbers, text and missing
            values only; its index is not kept.
        settings: all that decides what is in it, as JSON can hold it.

    Raises:
        ResultError: what is kept is corrupt.
    """
    about = {"settings": settings, **environment(), "made_by": value_fingerprint(make)}
    path = kept_root() / f"{name}-{_mark(about)}.json"
    if not path.exists():
        table = pd.DataFrame(make()).reset_index(drop=True)
        columns = json.loads(table.to_json(orient="split", double_precision=15, index=False))
        write_json(path, {**about, "columns": columns["columns"], "data": columns["data"]})
    # Also what was just made is read, so that it is the same the second time.
    found = read_json(path)
    try:
        if found["settings"] != json.loads(json.dumps(settings)):
            raise ResultError(f"{path}: made with settings that do not fit its name")
        return pd.DataFrame(found["data"], columns=found["columns"])
    except (KeyError, TypeError) as error:
        raise ResultError(f"{path}: corrupt ({type(error).__name__}: {error})") from error


def _mark(about: dict[str, Any]) -> str:
    """Return a short sign of the settings."""
    return digest(json.dumps(about, sort_keys=True, ensure_ascii=False).encode())


def kept_training(settings: "TrainSettings | SelfPlaySettings") -> Path:
    """Return the folder of a training run that has come to its end.

    It is trained now if it is not there, or resumes from its last checkpoint.

    Args:
        settings: of the run; their type decides who learns: MaskablePPO, or self-play.
    """
    from ginrummy_training.learning.run_folder import RESULT, SETTINGS
    from ginrummy_training.learning.selfplay.run import selfplay_train
    from ginrummy_training.learning.settings import TrainSettings
    from ginrummy_training.learning.train import train

    name = "training" if isinstance(settings, TrainSettings) else "selfplay"
    folder = kept_folder(name, **settings.to_dict()) / "run"
    if not (folder / RESULT).exists():
        resume = (folder / SETTINGS).exists()
        if isinstance(settings, TrainSettings):
            train(folder, settings, resume=resume, report=_ignore)
        else:
            selfplay_train(folder, settings, resume=resume, report=_ignore)
    return folder


def _ignore(text: str) -> None:
    """Print nothing: everything is in the log of the run."""


def mark_of(path: Path) -> str:
    """Return a short sign of what is in a file, for settings that name it."""
    return digest(path.read_bytes())
