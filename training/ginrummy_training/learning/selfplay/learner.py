"""The self-play learner: PPO from nothing, both players' decisions learned from.

    ginrummy train runs/scratch --selfplay

Read it from `Learner.update` downwards. In each lap, from one checkpoint to the next:

1. play (`games`): every game waits for a decision of the player to move; the policy draws it;
2. value: a critic that may see both hands says how good each position is;
3. advantages: what a decision has changed in that (GAE);
4. learn: PPO's clipped loss with a bonus for entropy, both falling schedules.

A lap begins with new games and random numbers of its own, a function of the seed and of the
decisions made before: a run that is killed and resumed goes the way it would have gone. With
several workers each plays its share of the games, and gradients are averaged in every step.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import nn

from ginrummy_env import gae, player_steps
from ginrummy_env.core.chance import keys
from ginrummy_env.core.types import Flat
from ginrummy_env.envs.selfplay_env import PlayerSteps
from ginrummy_training.learning.selfplay.games import Rollout, Table
from ginrummy_training.learning.selfplay.network import (
    NOT_LEGAL,
    Actor,
    Critic,
    chosen,
    load_arrays,
)
from ginrummy_training.learning.selfplay.settings import Precision, SelfPlaySettings

_ACTIONS = 112  # what random numbers are for, part of their key


class Learner:
    """The policy, its critic, and PPO."""

    def __init__(self, settings: SelfPlaySettings, rank: int = 0) -> None:
        """Make both with initial weights, the same in every worker."""
        torch.manual_seed(settings.seed % 2**63)
        self.settings, self.rank = settings, rank
        self.actor, self.critic = Actor(settings), Critic(settings)
        if settings.begin:
            load_arrays(self.actor, settings.first_network().arrays)
        self.optimizers = [
            torch.optim.Adam(each.parameters(), settings.learning_rate, eps=1e-5, fused=True)
            for each in (self.actor, self.critic)
        ]
        self.table = Table(settings, rank)
        self.rollout = Rollout(settings, self.table.env.num_envs)
        self.noise = torch.Generator()

    def begin(self, steps: int) -> None:
        """Begin a lap: games and random numbers that depend on nothing but seed and steps."""
        self.table.begin(steps)
        key = keys(_ACTIONS, self.settings.seed, steps, self.rank)
        self.noise.manual_seed(int(key[0]) >> 1)

    def update(self, steps: int) -> dict[str, float]:
        """Play one rollout and learn from it.

        Args:
            steps: decisions made before it, which say how far the schedules have come.

        Returns:
            What is worth a line in the log.
        """
        with _multiplying(self.settings.precision):
            return self._update(steps)

    def _update(self, steps: int) -> dict[str, float]:
        settings = self.settings
        done = min(1.0, steps / settings.steps)
        entropy = _between(settings.entropy, settings.final_entropy, done)
        rate = _between(settings.learning_rate, settings.final_learning_rate, done)
        for optimizer, times in zip(self.optimizers, (1.0, settings.critic_rate), strict=True):
            optimizer.param_groups[0]["lr"] = times * rate
        with torch.inference_mode():
            self.table.play(self.actor, self.rollout, self.noise, steps)
            values = self._values()
        advantages, returns, known = self._advantages(values)
        learned = torch.from_numpy(np.flatnonzero(self.rollout.learned & known))
        gained = torch.from_numpy(advantages.astype(np.float32)).flatten()
        gained = self._normalised(gained, learned)
        logged = {}
        if steps < settings.imitate:
            logged = self._imitate(learned)
        elif steps >= settings.critic_first:
            logged = self._learn_policy(learned, gained, entropy)
        aims = torch.from_numpy(returns.astype(np.float32)).flatten()
        fitted = torch.from_numpy(np.flatnonzero(known))
        logged["critic_loss"] = self._learn_values(fitted, aims)
        left = (returns - values[:-1])[known].var() / max(1e-9, float(returns[known].var()))
        return {**logged, "explained": 1 - float(left), "rate": rate, "entropy_weight": entropy}

    def _values(self) -> Flat:
        """Return the critic's values of all positions of the rollout, [T + 1, N]."""
        r = self.rollout
        parts = zip(r.cards, r.common, r.hidden_cards, r.hidden_common, strict=True)
        return np.stack([self.critic(*seen).numpy() for seen in parts])

    def _advantages(
        self, values: Flat
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return advantages and what values are to be, both [T, N], and where they are known.

        The value of a position is the critic's and a share of the lead in deadwood. What the critic
        learns is the rest.
        """
        r, settings = self.rollout, self.settings
        worth = values + settings.deadwood_value * r.ahead
        find: Callable[[float], NDArray[np.float64]]
        if settings.joint:
            find = _JointLine(r, worth)
            known = np.ones(r.over.shape, dtype=np.bool_)
        else:
            steps = player_steps(r.seats, r.rewards, r.over)
            known = steps.known
            find = partial(_own_lines, steps, worth)

        return find(settings.gae_lambda), find(settings.value_lambda) + values[:-1], known

    def _normalised(self, gained: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Return advantages with mean 0 and deviation 1 over the learned rows of all workers."""
        some = gained[rows].double()
        sums = torch.stack([some.sum(), some.square().sum(), torch.tensor(float(len(rows)))])
        self._add_up(sums)
        mean = sums[0] / sums[2]
        deviation = (sums[1] / sums[2] - mean.square()).clamp(min=1e-12).sqrt()
        return ((gained - mean) / deviation).float()

    def _learn_policy(
        self, rows: torch.Tensor, gained: torch.Tensor, entropy: float
    ) -> dict[str, float]:
        """Take PPO's steps; return the means of what they met."""
        settings, r = self.settings, self.rollout
        masks, actions = r.masks.flatten(0, 1), r.actions.flatten()
        before, met = r.logs.flatten(), []
        for batch in self._batches(rows):
            logits = self.actor(*r.seen(batch))
            logs, spread = chosen(logits, masks.index_select(0, batch), actions[batch])
            change = logs - before[batch]
            ratio = change.exp()
            clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            worth = torch.minimum(ratio * gained[batch], clipped * gained[batch]).mean()
            self._step(0, -worth - entropy * spread.mean())
            with torch.no_grad():
                outside = (ratio != clipped).float().mean()
                met.append(torch.stack([spread.mean(), (ratio - 1 - change).mean(), outside]))
        names = ("entropy", "kl", "clipped")
        return dict(zip(names, torch.stack(met).mean(0).tolist(), strict=True))

    def _imitate(self, rows: torch.Tensor) -> dict[str, float]:
        """Learn to do as the expert would; return the mean loss and how often it is so."""
        r, met = self.rollout, []
        masks, expert = r.masks[:-1].flatten(0, 1), r.expert.flatten()
        for batch in self._batches(rows):
            logits = torch.where(masks[batch], self.actor(*r.seen(batch)), NOT_LEGAL)
            loss = nn.functional.cross_entropy(logits, expert[batch])
            self._step(0, loss)
            alike = (logits.argmax(1) == expert[batch]).float().mean()
            met.append(torch.stack([loss.detach(), alike]))
        return dict(zip(("imitation", "alike"), torch.stack(met).mean(0).tolist(), strict=True))

    def _learn_values(self, rows: torch.Tensor, aims: torch.Tensor) -> float:
        """Fit the critic to the returns; return the mean loss."""
        losses = []
        for batch in self._batches(rows):
            values = self.critic(*self.rollout.seen(batch, hidden=True))
            loss = (values - aims[batch]).square().mean()
            self._step(1, loss)
            losses.append(float(loss.detach()))
        return sum(losses) / len(losses)

    def _batches(self, rows: torch.Tensor) -> list[torch.Tensor]:
        """Return the rows in batches, shuffled, each row once an epoch; every worker as many."""
        size = self.settings.batch // self.settings.workers
        count = torch.tensor([math.ceil(self.rollout.over.size / size)])
        batches: list[torch.Tensor] = []
        for _ in range(self.settings.epochs):
            order = rows[torch.randperm(len(rows), generator=self.noise)]
            batches += order.tensor_split(int(count))
        return batches

    def _step(self, which: int, loss: torch.Tensor) -> None:
        """Take one step of an optimiser, along the mean of all workers' gradients."""
        network = (self.actor, self.critic)[which]
        optimizer = self.optimizers[which]
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self.settings.workers > 1:
            gradients = [p.grad for p in network.parameters() if p.grad is not None]
            flat = torch.cat([gradient.flatten() for gradient in gradients])
            self._add_up(flat)
            at = 0
            for gradient in gradients:
                part = flat[at : at + gradient.numel()]
                gradient.copy_(part.view_as(gradient) / self.settings.workers)
                at += gradient.numel()
        nn.utils.clip_grad_norm_(network.parameters(), self.settings.max_grad_norm)
        optimizer.step()

    def _add_up(self, numbers: torch.Tensor) -> None:
        """Add up numbers over the workers, in place."""
        if self.settings.workers > 1:
            dist.all_reduce(numbers)

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {
            "actor": self.actor.state_dict(),
            "critic": self.critic.state_dict(),
            "optimizers": [each.state_dict() for each in self.optimizers],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what a checkpoint has kept."""
        self.actor.load_state_dict(saved["actor"])
        self.critic.load_state_dict(saved["critic"])
        for optimizer, state in zip(self.optimizers, saved["optimizers"], strict=True):
            optimizer.load_state_dict(state)


class _JointLine:
    """GAE along the decisions of both players: what is good for one is bad for the other.

    A critic that sees both hands values the position right after a decision too, be it the other's
    move: so what a discard has changed is seen before the opponent and the stock have added luck.
    """

    def __init__(self, rollout: Rollout, worth: Flat) -> None:
        self.sign = 1.0 - 2.0 * rollout.seats
        of_first = worth * self.sign  # to player 0
        self.going_on = ~rollout.over
        self.changes = rollout.rewards[:, :, 0] + self.going_on * of_first[1:] - of_first[:-1]

    def __call__(self, lam: float) -> NDArray[np.float64]:
        found = np.zeros(self.sign.shape)
        for step in reversed(range(len(self.changes))):
            found[step] = self.changes[step] + lam * self.going_on[step] * found[step + 1]
        return (found * self.sign)[:-1]


def _own_lines(steps: PlayerSteps, worth: Flat, lam: float) -> NDArray[np.float64]:
    """Return GAE along each player's own decisions."""
    return gae(steps, worth, gae_lambda=lam)


@contextmanager
def _multiplying(precision: Precision) -> Iterator[None]:
    """Let matrix products be that exact for a while."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium" if precision == "bfloat16" else before)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _between(first: float, last: float, done: float) -> float:
    """Return a value on the way from the first to the last, each step by the same factor."""
    return first * (last / first) ** done
