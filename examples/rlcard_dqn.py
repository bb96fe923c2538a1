"""RLCard: its DQN agent learns against `simple`, with the runner of its examples.

    python examples/rlcard_dqn.py

Reaches -47.1 points a deal against `simple` (random play: -49.0) in 15,000 decisions, a minute on
one core: DQN needs more. Needs rlcard (the extra ``bench``) and PyTorch. The import registers
the environment in RLCard.
"""

import argparse

import numpy as np
import rlcard
import torch
from rlcard.agents import DQNAgent
from rlcard.utils import reorganize, set_seed
from scores import report

from ginrummy_env.compat.rlcard_game import PolicyAgent  # glue

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=15_000, help="decisions to learn from")
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

set_seed(options.seed)
torch.set_num_threads(1)
env = rlcard.make("ginrummy-env", config={"seed": options.seed})
agent = DQNAgent(
    num_actions=env.num_actions,
    state_shape=env.state_shape[0],
    mlp_layers=[256, 256],
    learning_rate=5e-4,
    epsilon_decay_steps=20_000,
    train_every=4,
    device=torch.device("cpu"),
)
env.set_agents([agent, PolicyAgent("simple", np.random.default_rng(options.seed))])
while env.timestep < 2 * options.steps:  # both players' decisions are counted
    trajectories, payoffs = env.run(is_training=True)
    for transition in reorganize(trajectories, payoffs)[0]:
        agent.feed(transition)


def choose(seen, masks):
    """Return the legal actions that the agent values most."""
    values = agent.q_estimator.predict_nograd(seen)
    return np.where(masks, values, -np.inf).argmax(axis=1)


report(choose)
