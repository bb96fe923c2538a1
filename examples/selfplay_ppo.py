"""PPO by self-play in one file: both players' decisions are learned from.

    python examples/selfplay_ppo.py                    about a minute and a half on one core
    python examples/selfplay_ppo.py --updates 400      longer, better

Reaches -11.5 points a deal against `simple` (random play: -49.0) in 655,000 decisions.
Needs PyTorch (`pip install -e '.[train]'`). A single deal is an episode, paid in points. No
teacher and no other agent is involved; `simple` is only asked how good the policy is.
"""

import argparse
import time
from functools import partial

import numpy as np
import torch
from scores import points_a_deal
from torch import nn

from ginrummy_env import GinRummySelfPlayEnv, gae, player_steps

GAMES, STEPS = 256, 64  # a rollout: 16,384 decisions
EPOCHS, BATCH, CLIP, ENTROPY = 2, 2048, 0.2, 0.03
AFTER_DISCARD = slice(572, 624)  # the plane of deadwood after each discard; docs/API.md


def see(observations: np.ndarray) -> torch.Tensor:
    """Return observations with the discards ranked: 0 is the best, -1 ten points worse."""
    seen = torch.from_numpy(observations)
    after = seen[:, AFTER_DISCARD]
    worse = 10 * (after - after.amax(dim=1, keepdim=True)).clamp(min=-0.3)
    seen[:, AFTER_DISCARD] = torch.where(after > 0, worse, 0.0)
    seen[:, -2] *= 10  # my deadwood, in tens: the knock limit is 1
    return seen


class Network(nn.Module):
    """Logits of the 108 actions, and the value of the position."""

    def __init__(self, size: int, actions: int, width: int = 256) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.policy, self.value = nn.Linear(width, actions), nn.Linear(width, 1)
        self.discards = nn.Parameter(torch.zeros(2))  # the same for each card: discard, knock
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, seen: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return log-probabilities [N, 108] and values [N]."""
        features = self.body(seen)
        direct = self.discards[:, None] * seen[:, None, AFTER_DISCARD]
        logits = self.policy(features)
        logits = torch.cat([logits[:, :104] + direct.flatten(1), logits[:, 104:]], dim=1)
        return logits.masked_fill(~masks, -1e9).log_softmax(dim=1), self.value(features)[:, 0]


def choose(network: Network, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return the likeliest actions."""
    return network(see(observations), torch.from_numpy(masks))[0].argmax(dim=1).numpy()


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    env = GinRummySelfPlayEnv(GAMES, rules="eaai", episode="deal", reward="points")
    network = Network(env.observation_size, env.num_actions)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    observations, infos = env.reset(seed=options.seed)
    began = time.perf_counter()
    for update in range(1, options.updates + 1):
        kept: list[tuple[torch.Tensor, ...]] = []
        seats, paid, ends, values = [infos["seat"]], [], [], []
        for step in range(STEPS + 1):
            seen, masks = see(observations), torch.from_numpy(infos["action_mask"].astype(bool))
            with torch.no_grad():
                logs, value = network(seen, masks)
            values.append(value.numpy())
            if step == STEPS:  # the position after the rollout is only valued
                break
            actions = torch.multinomial(logs.exp(), 1)[:, 0]
            kept.append((seen, masks, actions, logs[torch.arange(GAMES), actions]))
            observations, rewards, deals_over, _, infos = env.step(actions.numpy())
            seats.append(infos["seat"])
            paid.append(rewards)
            ends.append(deals_over)
        steps = player_steps(seats, paid, ends)
        found = gae(steps, values, gae_lambda=0.95)
        learned = torch.from_numpy(np.flatnonzero(steps.known))
        seen, masks, actions, old = (torch.cat(part) for part in zip(*kept, strict=True))
        advantages = torch.from_numpy(found.astype(np.float32)).flatten()
        returns = advantages + torch.from_numpy(np.concatenate(values[:-1]))
        for _ in range(EPOCHS):
            for rows in learned[torch.randperm(len(learned))].split(BATCH):
                logs, value = network(seen[rows], masks[rows])
                gained = advantages[rows]
                gained = (gained - gained.mean()) / (gained.std() + 1e-8)
                ratio = (logs.gather(1, actions[rows, None])[:, 0] - old[rows]).exp()
                clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
                surprise = -(logs.exp() * logs).sum(dim=1).mean()
                loss = -torch.minimum(ratio * gained, clipped * gained).mean()
                loss += 2 * (value - returns[rows]).square().mean() - ENTROPY * surprise
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        if update % 10 == 0:
            decisions = update * GAMES * STEPS
            points = points_a_deal(partial(choose, network), rules="eaai")
            print(
                f"{decisions:9,d} decisions  {decisions / (time.perf_counter() - began):6,.0f}/s  "
                f"entropy {surprise.item():.2f}  {points:+.2f} points a deal against simple"
            )


if __name__ == "__main__":
    main()
