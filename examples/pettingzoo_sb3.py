"""Self-play as PettingZoo's tutorial for Stable-Baselines3 does it, with the tutorial's wrapper.

    python examples/pettingzoo_sb3.py

One model moves for both players, and is taught by what the player is paid who has just moved, so
the loser of a deal never learns of the loss: the tutorial's way, shown since many start from it.
``shaping`` also pays a move at once for the deadwood that it gets rid of.

Reaches -44.3 points a deal against `simple` (random play: -49.0) in 16,000 decisions, a minute on
one core; `sb3_maskable_ppo.py` and `selfplay_ppo.py` learn better and faster. Needs the extra
``train``.
"""

import argparse

import gymnasium
import pettingzoo.utils
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from scores import report

import ginrummy_env


class SB3ActionMaskWrapper(pettingzoo.utils.BaseWrapper, gymnasium.Env):
    """Lets a PettingZoo environment be used with sb3-contrib's action masking."""

    def reset(self, seed=None, options=None):
        """Start an episode; the spaces are those of what is inside the observation."""
        super().reset(seed, options)
        self.observation_space = super().observation_space(self.possible_agents[0])["observation"]
        self.action_space = super().action_space(self.possible_agents[0])
        return self.observe(self.agent_selection), {}

    def step(self, action):
        """Take an action and return what the player who moves next sees."""
        current_agent = self.agent_selection
        super().step(action)
        next_agent = self.agent_selection
        return (
            self.observe(next_agent),
            self._cumulative_rewards[current_agent],
            self.terminations[current_agent],
            self.truncations[current_agent],
            self.infos[current_agent],
        )

    def observe(self, agent):
        """Return the observation alone."""
        return super().observe(agent)["observation"]

    def action_mask(self):
        """Return the mask of the player to move."""
        return super().observe(self.agent_selection)["action_mask"]


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=15_000, help="decisions to learn from")
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

env = SB3ActionMaskWrapper(
    ginrummy_env.env(
        episode="deal",
        reward="points",
        shaping=1.0,  # glue
    )
)
env.reset(seed=options.seed)
env = ActionMasker(env, lambda env: env.action_mask())
model = MaskablePPO("MlpPolicy", env, seed=options.seed, device="cpu")
model.learn(total_timesteps=options.steps)

report(lambda seen, masks: model.predict(seen, action_masks=masks, deterministic=True)[0])
