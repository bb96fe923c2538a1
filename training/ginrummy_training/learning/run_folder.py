"""The folder of a training run: checkpoints, a log, the best policy, settings and versions."""

import csv
import io
import json
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Self

import torch
from stable_baselines3.common.logger import KVWriter

import ginrummy_env
from ginrummy_agents.learned.policy import Network
from ginrummy_env.core.chance import MAX_SEED
from ginrummy_env.files import write_whole
from ginrummy_training.dataset.shards import data_id, read_card
from ginrummy_training.learning.checkpoints import INDEX, Checkpoints
from ginrummy_training.learning.network import SuitPolicy, arrays_of
from ginrummy_training.learning.setting_fields import SettingError
from ginrummy_training.learning.settings import POOL, TrainSettings
from ginrummy_training.provenance import fingerprints, require_same, typed_command
from ginrummy_training.storage import ResultError, read_json, write_json

SETTINGS, LOG, IMITATION, BEST, LAST, RESULT = (
    "settings.json", "log.csv", "imitation.npz", "best.npz", "last.npz", "result.json",
)  # fmt: skip

FORMAT = 1
"""Version of the checkpoints; others are refused."""

CODE = (
    "ginrummy_agents.learned.inputs",
    "ginrummy_training.learning.env",
    "ginrummy_training.learning.network",
)
"""What gives a checkpoint's weights their meaning, besides the rules and the agents."""

RESUME = {
    "ppo": "resume it without --selfplay",
    "selfplay": "resume it with --selfplay --resume",
}
"""How to resume a run of each learner."""

CHANGEABLE = (
    "steps", "eval_every", "eval_games", "retest_games", "checkpoint_every", "eval_opponents",
    "opponents",
)  # fmt: skip
"""Settings that a resumed run may change."""


@dataclass
class RunProgress:
    """How far a run has come: what a checkpoint holds besides weights."""

    samples: int = 0
    """Samples of the imitation."""
    steps: int = 0
    """Decisions of PPO."""
    updates: int = 0
    """Passes of PPO over its batches."""
    restarts: int = 0
    """How often it was resumed; each time its games have another seed."""
    seconds: float = 0.0
    """Total time."""
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds by activity."""
    pool: list[str] = field(default_factory=list)
    """Files of the pool, oldest first."""
    best_score: float = -1.0
    """Mean share of games won against the eval opponents, of the best checkpoint."""
    best_at: int = 0
    """Its steps."""
    imitation: dict[str, float] = field(default_factory=dict)
    """Shares of games won after the imitation, by opponent."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The log."""


class Run:
    """The folder of a run.

    Attributes:
        folder: where it is.
        settings: of the run.
        progress: how far it has come.
        checkpoints: the last two.
    """

    defaults: ClassVar[Any] = TrainSettings()
    """Settings of the kind that the run has."""
    learner: ClassVar[str] = "ppo"
    """Which learner's run it is."""

    def __init__(self, folder: Path, settings: Any, progress: RunProgress) -> None:
        """Use `start`, `open` or `resume`."""
        self.folder, self.settings, self.progress = folder, settings, progress
        self.checkpoints = Checkpoints(folder, ".pt")

    @classmethod
    def start(cls, folder: Path, settings: Any) -> Self:
        """Start a run in a new folder.

        Raises:
            ValueError: the folder holds a run, or files that a run would overwrite.
        """
        if (folder / SETTINGS).exists():
            raise ValueError(
                f"{folder} holds a run: resume it with --resume, or name another folder"
            )
        for name in (LOG, BEST, LAST, RESULT, IMITATION, INDEX):
            if (folder / name).exists():
                raise ValueError(f"{folder / name} would be overwritten: name another folder")
        run = cls(folder, settings, RunProgress())
        about = {"learner": cls.learner, "settings": settings.to_dict()}
        about |= {**cls.provenance(settings), "command": typed_command()}
        write_json(folder / SETTINGS, {**about, **versions()})
        return run

    @classmethod
    def open(cls, folder: Path, *, previous: bool = False) -> tuple[Self, dict[str, Any] | None]:
        """Return a run and its last checkpoint, or None if it has none yet.

        Args:
            folder: of the run.
            previous: the checkpoint before the last one instead.

        Raises:
            ResultError: no run, or a corrupt file.
        """
        path = folder / SETTINGS
        if not path.exists():
            raise ResultError(f"{folder}: no run to resume, {SETTINGS} is missing")
        about = read_json(path)
        theirs = about.get("learner", Run.learner) if isinstance(about, dict) else cls.learner
        if theirs != cls.learner:
            raise ResultError(f"{folder} holds a run of the learner {theirs!r}: {RESUME[theirs]}")
        try:
            settings = cls.defaults.changed(about["settings"])
        except (KeyError, TypeError, ValueError) as error:
            raise ResultError(
                f"{path}: corrupt, or written by another version ({error})"
            ) from error
        run = cls(folder, settings, RunProgress())
        file = run.checkpoints.open(previous)
        if file is None:
            return run, None
        try:
            saved = torch.load(file, weights_only=True)
            run.progress = RunProgress(**json.loads(saved["progress"]))
            made_with = json.loads(saved["settings"])
        except Exception as error:  # whatever torch raises for what is no checkpoint
            raise ResultError(f"{file}: corrupt ({type(error).__name__}: {error})") from error
        for name, value in fixed_settings(settings).items():
            if made_with.get(name) != value:
                raise ResultError(
                    f"{path}: {name} is {value!r}, but the checkpoint was made with "
                    f"{made_with.get(name)!r}"
                )
        return run, saved

    @classmethod
    def resume(cls, folder: Path, *, previous: bool = False) -> tuple[Self, dict[str, Any] | None]:
        """Return a run that is to continue, and its checkpoint; see `open`.

        Raises:
            ResultError: as `open`; or an agent, a policy file, recorded data or code that the run
                was started with has changed.
        """
        run, saved = cls.open(folder, previous=previous)
        there = read_json(folder / SETTINGS)
        require_same(folder, "run", cls.provenance(run.settings), there, "start a new run")
        if saved is not None:
            run.progress.restarts += 1
        return run, saved

    @classmethod
    def extend(cls, folder: Path, given: dict[str, Any], *, previous: bool = False) -> None:
        """Change settings of a run before it is resumed: those of how long and how often.

        Raises:
            SettingError: a setting that the existing checkpoint depends on, or a bad value.
            ResultError: as `resume`.
        """
        fixed = sorted(set(given) - set(CHANGEABLE))
        if fixed:
            raise SettingError(
                f"{', '.join(fixed)}: a resumed run keeps its settings; "
                f"{', '.join(CHANGEABLE)} can be changed"
            )
        if given:
            run, _ = cls.resume(folder, previous=previous)
            changed = run.settings.changed(given)
            changed.check()
            about = read_json(folder / SETTINGS)
            about |= {"settings": changed.to_dict(), **cls.provenance(changed)}
            write_json(folder / SETTINGS, about)

    @staticmethod
    def provenance(settings: Any) -> dict[str, Any]:
        """Return what decides a run besides its settings: agents, files, recorded data, code."""
        names = {settings.expert, *settings.pool_seeds, *settings.eval_opponents}
        names |= {name for _, shares in settings.opponents for name in shares}
        data = data_id(read_card(Path(settings.data))) if settings.data else None
        made_by = fingerprints(sorted(names - {"", POOL}), also=CODE)
        return {"format": FORMAT, "data": data, "made_by": made_by}

    def deck_seed(self) -> int:
        """Return the seed of this session's decks: another one each time the run is resumed."""
        return (self.settings.seed + 1_000_000 * self.progress.restarts) % (MAX_SEED + 1)

    def save(self, policy: Any) -> None:
        """Write a checkpoint of the policy, and the log."""
        saved = {
            "policy": policy.state_dict(),
            "optimizer": policy.optimizer.state_dict(),
            "torch_rng": torch.get_rng_state(),
        }
        self.write_checkpoint(saved)

    def write_checkpoint(self, saved: dict[str, Any]) -> None:
        """Write a checkpoint, whole or not at all, with the progress made; and the log."""
        progress, file = self.progress, io.BytesIO()
        run = {
            "progress": json.dumps(asdict(progress)),
            "settings": json.dumps(fixed_settings(self.settings)),
        }
        torch.save({**saved, **run}, file)
        about = f"{progress.samples:,} samples, {progress.steps:,} steps"
        self.checkpoints.write(file.getvalue(), about)
        self.write_log()

    def load(self, policy: SuitPolicy, saved: dict[str, Any]) -> None:
        """Restore a checkpoint's weights.

        Raises:
            ResultError: they do not fit the run's network.
        """
        try:
            policy.load_state_dict(saved["policy"])
            policy.optimizer.load_state_dict(saved["optimizer"])
            torch.set_rng_state(saved["torch_rng"])
        except (KeyError, RuntimeError, ValueError) as error:
            raise ResultError(f"{self.folder}: the checkpoint does not fit ({error})") from error

    def network(self, policy: Any) -> Network:
        """Return the current policy, playable with NumPy alone."""
        settings = self.settings
        about = {
            "derived": settings.derived,
            "ahead": settings.ahead,
            "rules": settings.rules,
            "samples": self.progress.samples,
            "steps": self.progress.steps,
            "seed": settings.seed,
            "ginrummy_env": ginrummy_env.__version__,
        }
        return Network(arrays_of(policy), about)

    def export(self, name: str, policy: Any, dtype: str = "float32") -> Path:
        """Write the current policy as a file that ``ppo:FILE`` plays."""
        path = self.folder / name
        write_whole(path, self.network(policy).to_bytes(dtype))
        return path

    def write_log(self) -> None:
        """Write the log as CSV."""
        rows = self.progress.rows
        names = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_whole(self.folder / LOG, text.getvalue().encode())


def fixed_settings(settings: Any) -> dict[str, Any]:
    """Return the settings that a resumed run keeps."""
    return {name: value for name, value in settings.to_dict().items() if name not in CHANGEABLE}


class Stopwatch:
    """Adds up the time spent on each activity."""

    def __init__(self, run: Run) -> None:
        """Start."""
        self._run = run
        self._last = perf_counter()

    def note(self, what: str) -> None:
        """Add the time since the last note to this activity."""
        now = perf_counter()
        progress = self._run.progress
        progress.seconds += now - self._last
        progress.spent[what] = progress.spent.get(what, 0.0) + now - self._last
        self._last = now


class RunLog(KVWriter):
    """Stable-Baselines3's log as rows of the run's log."""

    def __init__(self, run: Run) -> None:
        """Write into the run's log."""
        self.run = run

    def write(
        self,
        key_values: dict[str, Any],
        key_excluded: dict[str, tuple[str, ...]],
        step: int = 0,
    ) -> None:
        """Add a row."""
        numbers = {
            name: round(float(value), 6)
            for name, value in key_values.items()
            if isinstance(value, int | float) or hasattr(value, "__float__")
        }
        self.run.progress.rows.append({"steps": step, **numbers})

    def close(self) -> None:
        """Do nothing: no file stays open."""


def versions() -> dict[str, Any]:
    """Return the exact versions of Python and all installed packages."""
    installed = sorted(
        f"{each.metadata['Name']}=={each.version}" for each in distributions() if each.metadata
    )
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "installed": list(dict.fromkeys(installed)),
    }
