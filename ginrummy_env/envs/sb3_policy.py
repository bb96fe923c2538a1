"""Models of Stable-Baselines3 and sb3-contrib as policies: opponents, or players of a match.

Needs the extra ``train``; torch is imported when a policy is made.
"""

import hashlib
import inspect
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ginrummy_env.core.chance import Random
from ginrummy_env.core.checks import flag
from ginrummy_env.core.view import View
from ginrummy_env.envs.features import features_of, features_of_size
from ginrummy_env.envs.observing import last_actions
from ginrummy_env.policy import parse_spec

TRUST = "GINRUMMY_TRUST"
"""The environment variable that lets names of policies (``sb3:FILE``) unpickle files if it is 1."""

ALGORITHMS = {
    "sb3_contrib.common.maskable.policies": "sb3_contrib.MaskablePPO",
    "sb3_contrib.qrdqn.policies": "sb3_contrib.QRDQN",
    "stable_baselines3.dqn.policies": "stable_baselines3.DQN",
    "stable_baselines3.common.policies": "stable_baselines3.PPO",
}
"""The algorithm of a saved model, by the module of its policy; A2C shares that of PPO."""


class SB3Policy:
    """A model that was trained on one of the environments, as a policy.

    It draws its actions from the model's probabilities with the random numbers that it is given, so
    a game is the same whatever is played beside it; illegal actions are left out, also with models
    that know no masks.

    Attributes:
        model: the model.
        name: what to call it.
    """

    def __init__(
        self,
        model: Any,
        *,
        deterministic: bool = False,
        features: str | None = None,
        name: str = "",
    ) -> None:
        """Make a policy.

        Args:
            model: MaskablePPO, PPO, A2C, DQN, QR-DQN or another with a categorical policy.
            deterministic: play the likeliest action instead of drawing one.
            features: what it observes, as the option of the environments; by the size of its
                observations if None.
            name: of the policy; that of the model's class if empty.

        Raises:
            ValueError: a model that has neither probabilities nor values of actions, or whose
                observations are not those of these environments.
        """
        self.model = model
        self.name = name or type(model).__name__
        self._deterministic = flag("deterministic", deterministic)
        space = model.observation_space
        self._parts = list(space.spaces) if isinstance(space, spaces.Dict) else None
        flat = space["observation"] if self._parts else space
        if not isinstance(flat, spaces.Box) or len(flat.shape) != 1:
            raise ValueError(f"{self.name} observes {space}, which no environment here provides")
        self._features = features_of(features or features_of_size(flat.shape[0]))
        self._count = space["history"].shape[0] if "history" in (self._parts or ()) else 0
        policy = model.policy
        if not hasattr(policy, "get_distribution") and _values_of(policy) is None:
            raise ValueError(f"{self.name} has neither probabilities nor values of actions")

    @classmethod
    def load(cls, path: str | os.PathLike[str], algorithm: Any = None, **options: Any) -> Self:
        """Return the policy of a saved model.

        The file is unpickled, which can run any code: load only what you trust.

        Args:
            path: of the zip file.
            algorithm: the model's class; if None the file says it.
            options: of the policy.

        Raises:
            OSError: the file cannot be read.
            ValueError: it holds no model, or one of an unknown algorithm.
        """
        algorithm = algorithm or algorithm_of(path)
        return cls(algorithm.load(path, device="cpu"), **options)

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row of the view; see `policy.Policy`."""
        masks = view.action_masks()
        chances = self._chances(view, masks) * masks
        lost = (chances.sum(axis=1) <= 0) & masks.any(axis=1)
        chances[lost] = masks[lost]
        if self._deterministic:
            return chances.argmax(axis=1).astype(np.int16)
        sums = chances.cumsum(axis=1)
        drawn = rng.random((len(view),)) * sums[:, -1]
        found = (sums <= drawn[:, None]).sum(axis=1)
        last = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)  # where rounding went beyond it
        return np.minimum(found, last).astype(np.int16)

    def _chances(self, view: View, masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return how likely the model takes each action, or 1 for the one it values most."""
        import torch

        seen = self._features.observe(view)
        parts = {
            "observation": seen,
            "action_mask": masks.astype(np.int8),
            "history": last_actions(view, self._count),
        }
        given = seen if self._parts is None else {name: parts[name] for name in self._parts}
        policy = self.model.policy
        policy.set_training_mode(False)
        tensor, _ = policy.obs_to_tensor(given)
        with torch.no_grad():
            values = _values_of(policy)
            if values is not None:
                found = values(tensor)
                worth = found.mean(dim=1) if found.dim() == 3 else found  # QR-DQN has quantiles
                best = np.where(masks, worth.numpy(force=True), -np.inf).argmax(axis=1)
                return np.eye(masks.shape[1])[best]
            takes_masks = "action_masks" in inspect.signature(policy.get_distribution).parameters
            safe = np.where(masks.any(axis=1, keepdims=True), masks, True)
            known = {"action_masks": safe} if takes_masks else {}
            chances = policy.get_distribution(tensor, **known).distribution.probs
        return chances.numpy(force=True).astype(np.float64)


class SB3File(SB3Policy):
    """The model of a file, as ``sb3:FILE`` names it.

    Attributes:
        path: of the file.
    """

    def __init__(self, text: str) -> None:
        """Load the model that a text names: ``FILE`` or ``FILE,deterministic=true``.

        Raises:
            ValueError: a text that names none, or nobody has said that the file is to be trusted.
            OSError: the file cannot be read.
        """
        _, given = parse_spec(f"sb3:{text}", {""})
        self.path = str(given.pop("", ""))
        unknown = given.keys() - {"deterministic"}
        if not self.path or unknown:
            raise ValueError(f"sb3:{text}: sb3:FILE.zip or sb3:FILE.zip,deterministic=true")
        if os.environ.get(TRUST) != "1":
            raise ValueError(
                f"sb3:{self.path}: the file is unpickled, which can run any code. If you trust it: "
                f"--trust on the command line, {TRUST}=1 in the environment, or in Python "
                "SB3Policy.load(path)"
            )
        super().__init__(
            algorithm_of(self.path).load(self.path, device="cpu"),
            deterministic=flag("deterministic", given.get("deterministic", False)),
            name=Path(self.path).stem,
        )

    def fingerprint(self) -> str:
        """Return what decides how it plays: the file's content, and the options."""
        content = hashlib.sha256(Path(self.path).read_bytes()).hexdigest()
        return f"{content} deterministic={self._deterministic}"

    def __reduce__(self) -> tuple[type, tuple[str]]:
        """Pickle by name: who unpickles it has to trust the file, too."""
        return type(self), (f"{self.path},deterministic={self._deterministic}",)


class _SB3Files:
    """Makes policies of files; what stands behind ``sb3:`` is the path and options."""

    takes_text = True
    about = "a model of Stable-Baselines3 or sb3-contrib: sb3:FILE.zip, with --trust"

    def __call__(self, text: str) -> SB3Policy:
        return SB3File(text)


SB3 = _SB3Files()


@contextmanager
def trusting(files: bool = True) -> Iterator[None]:
    """Let names of policies unpickle files, in this process and in those that it starts.

    Args:
        files: whether to; if False nothing changes.
    """
    before = os.environ.get(TRUST)
    if files:
        os.environ[TRUST] = "1"
    try:
        yield
    finally:
        if files and before is None:
            del os.environ[TRUST]
        elif files and before is not None:
            os.environ[TRUST] = before


def algorithm_of(path: str | os.PathLike[str]) -> Any:
    """Return the class of the algorithm that saved a file. Nothing is unpickled.

    Raises:
        OSError: the file cannot be read.
        ValueError: it holds no model, or one of an unknown algorithm.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
        module = data["policy_class"]["__module__"]
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)} is not a model of Stable-Baselines3") from error
    if module not in ALGORITHMS:
        raise ValueError(
            f"{os.fspath(path)}: its policy is of {module}; SB3Policy(ALGORITHM.load(path)) takes "
            "what it can use"
        )
    package, _, name = ALGORITHMS[module].partition(".")
    if name == "PPO" and "clip_range" not in data:
        name = "A2C"
    return getattr(import_module(package), name)


def _values_of(policy: Any) -> Any:
    """Return what gives the values of all actions, or None if the policy has no such thing."""
    return getattr(policy, "q_net", None) or getattr(policy, "quantile_net", None)
