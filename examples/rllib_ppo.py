"""RLlib: PPO with the masking module of its examples, on the single Gymnasium environment.

    python examples/rllib_ppo.py

Reaches -39.0 points a deal against `simple` (random play: -49.0) in 16,000 decisions, half a minute
on one core, most of it in the environment. Needs the extra ``scale``. `ginrummy rllib` trains by
self-play, and steps whole batches of games.
"""

import argparse

import gymnasium
import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env
from scores import report

import ginrummy_env

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=20_000, help="decisions to learn from")
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()


def make(config: dict) -> gymnasium.Env:
    """Return an environment."""
    return gymnasium.make(
        ginrummy_env.GYMNASIUM_ID,
        opponent="simple",
        episode="deal",
        reward="points",
        mask_in="observation",  # glue
        observation_key="observations",  # glue
    )


register_env("gin_rummy", make)
BATCH = min(4_096, options.steps)
config = (
    PPOConfig()
    .environment("gin_rummy")
    .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
    .training(
        train_batch_size_per_learner=BATCH,
        minibatch_size=min(512, BATCH),
        num_epochs=4,
        lr=5e-4,
        gamma=1.0,
        entropy_coeff=0.01,
    )
    .rl_module(
        rl_module_spec=RLModuleSpec(
            module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [256, 256]}
        )
    )
    .debugging(seed=options.seed)
)
algorithm = config.build_algo()
for _ in range(max(1, options.steps // BATCH)):
    algorithm.train()
module = algorithm.get_module()


def choose(seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return the likeliest actions."""
    given = {"observations": torch.from_numpy(seen), "action_mask": torch.from_numpy(masks).float()}
    with torch.no_grad():
        logits = module.forward_inference({"obs": given})["action_dist_inputs"]
    return np.where(masks, logits.numpy(), -np.inf).argmax(axis=1)


report(choose)
algorithm.stop()
