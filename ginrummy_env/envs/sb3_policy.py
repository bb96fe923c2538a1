"""Models of Stable-Baselines3 and sb3-contrib as policies: opponents, or players of a match.

Needs the extra ``train``; torch is imported when a policy is made.
"""

import inspect
import os
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ginrummy_env.core.chance import Random
from ginrummy_env.core.checks import flag
from ginrummy_env.core.view import View
from ginrummy_env.envs.features import features_of, features_of_size
from ginrummy_env.envs.observing import last_actions


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
            raise ValueError(f"{self.name} observes {space}, which no environment here shows")
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
            algorithm: the model's class; sb3_contrib.MaskablePPO if None.
            options: of the policy.
        """
        if algorithm is None:
            from sb3_contrib import MaskablePPO as algorithm
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


def _values_of(policy: Any) -> Any:
    """Return what gives the values of all actions, or None if the policy has no such thing."""
    return getattr(policy, "q_net", None) or getattr(policy, "quantile_net", None)
