"""Learning that starts from a policy file: its weights for torch, and some seconds of PPO."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

import ginrummy_env
from ginrummy_agents.learned.policy import Arrays, Network
from ginrummy_training.learning.env import LearningEnv
from ginrummy_training.learning.network import arrays_of
from ginrummy_training.learning.settings import QUICK
from ginrummy_training.learning.train import make_model, policy_of

FILTERS = 32
"""Of a network without convolutions: the default of `learning.network.SuitFeatures`."""


def shape_of(network: Network) -> dict[str, Any]:
    """Return the settings of the layers that a policy has, as `learning.network.SuitFeatures`."""
    arrays = network.arrays
    return {
        "derived": network.derived,
        "ahead": network.ahead,
        "width": len(arrays["bias0"]),
        "layers": network.num_layers,
        "convolutions": network.num_convolutions,
        "filters": len(arrays.get("across_bias0", np.zeros(FILTERS))),
    }


def parameters_of(network: Network, own: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Return a policy's weights by the names of torch's parameters: the inverse of `arrays_of`.

    Args:
        network: the policy.
        own: the state of a module with layers of the same shape; gives the shapes.
    """
    return {
        name: torch.from_numpy(np.ascontiguousarray(array.T).reshape(tuple(own[name].shape)))
        for name, array in _by_parameter(network.arrays).items()
    }


def _by_parameter(arrays: Arrays) -> dict[str, NDArray[np.float32]]:
    parts = {"along": "along.weight", "across": "across.weight", "across_bias": "across.bias",
             "own": "own.weight", "common": "common.weight", "bias": "common.bias"}  # fmt: skip
    named: dict[str, NDArray[np.float32]] = {}
    for name, array in arrays.items():
        kind = name.rstrip("0123456789")
        if kind in parts:
            group = "convolutions" if kind.startswith("a") else "layers"
            named[f"features_extractor.{group}.{name[len(kind) :]}.{parts[kind]}"] = array
        else:
            head = name.removesuffix("_bias")
            named[f"action_net.{head}.{'bias' if name != head else 'weight'}"] = array
    return named


def keep_learning(
    network: Network,
    rules: str,
    seconds: float,
    *,
    opponent: str = "simple",
    seed: int = 0,
    progress: Callable[[float], None] = lambda elapsed: None,
) -> tuple[Network, int]:
    """Return what a policy becomes after some seconds of PPO, and the decisions it learned from.

    The learning rate is small and constant: a policy that plays well stays one.

    Args:
        network: the policy to start from.
        rules: a preset's name or settings.
        seconds: how long; the update under way is finished.
        opponent: who plays against it.
        seed: of decks, agents and batches.
        progress: called with the seconds that have passed.
    """
    settings = replace(
        QUICK.changed(shape_of(network)), rules=rules, seed=seed, reward="points", num_envs=512,
        num_steps=16, batch=2_048, epochs=2, learning_rate=1e-4, final_learning_rate=1e-4,
    )  # fmt: skip
    torch.set_num_threads(1)  # the layers are small: more threads wait for each other
    env = LearningEnv(settings, settings.parsed_rules(), None, opponent)
    model = make_model(settings, env)
    policy = policy_of(model)
    own = policy.state_dict()
    policy.load_state_dict({**own, **parameters_of(network, own)})
    model.set_logger(Logger(None, []))
    model.learn(2**62, Deadline(seconds, progress))
    env.close()
    about = {**network.about, "ginrummy_env": ginrummy_env.__version__}
    about["continued"] = {"rules": rules, "seed": seed, "decisions": model.num_timesteps}
    return Network(arrays_of(policy), about), model.num_timesteps


class Deadline(BaseCallback):
    """Ends the learning between two updates once the time is over."""

    def __init__(self, seconds: float, progress: Callable[[float], None]) -> None:
        """Count from the first step."""
        super().__init__()
        self.seconds, self.progress = seconds, progress
        self.start = 0.0

    def _on_training_start(self) -> None:
        self.start = monotonic()

    def _on_step(self) -> bool:
        elapsed = monotonic() - self.start
        self.progress(min(elapsed, self.seconds))
        return elapsed < self.seconds
