"""Initial weights of a run on RLlib, from a policy file or a run of `ginrummy train`."""

from pathlib import Path
from typing import Any

import torch

from ginrummy_agents.learned.policy import Network, Ppo, load_network, shipped
from ginrummy_env.core.rules import Rules
from ginrummy_env.policy import make_policy
from ginrummy_training.learning.run_folder import Run
from ginrummy_training.rllib.config import MODULE
from ginrummy_training.storage import ResultError


def policy_network(spec: str, rules: Rules) -> Network:
    """Return the network of ``ppo`` or ``ppo:FILE``.

    Raises:
        ValueError: another policy.
    """
    policy = make_policy(spec)
    if not isinstance(policy, Ppo) or policy.agent != "ppo":
        raise ValueError(f"start={spec!r}: 'ppo' or 'ppo:FILE' is needed")
    return load_network(Path(policy.path) if policy.path else shipped(rules))


def run_weights(folder: Path) -> dict[str, torch.Tensor]:
    """Return the weights of a run of `ginrummy train` or `imitate`, with its value head.

    Raises:
        ResultError: no run, no checkpoint yet, or a corrupt one.
    """
    _, saved = Run.open(folder)
    if saved is None:
        raise ResultError(f"{folder}: there is no checkpoint yet")
    parts = ("features_extractor.", "action_net.", "value_net.")
    return {name: value for name, value in saved["policy"].items() if name.startswith(parts)}


def start(algorithm: Any, source: str, rules: Rules) -> None:
    """Load the weights of a run or a policy into an algorithm: its learner and its env runners.

    Args:
        algorithm: RLlib's.
        source: see `RLlibSettings.start`.
        rules: for the policy that ships with the package.

    Raises:
        ValueError: layers of another shape, or no such source.
    """
    weights = run_weights(Path(source)) if Path(source).is_dir() else None
    network = policy_network(source, rules) if weights is None else None

    def take(learner: Any) -> None:
        module = learner.module[MODULE].unwrapped()
        if network is not None:
            module.take(network)
        else:
            module.load_state_dict(weights)

    try:
        algorithm.learner_group.foreach_learner(take)
    except RuntimeError as error:  # what torch raises for other shapes
        raise ValueError(f"start={source!r}: {error}") from error
    algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=algorithm.learner_group)
