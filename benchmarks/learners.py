"""How fast the learners learn: decisions learned from in a processor second."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.envs import Clock
from benchmarks.registry import Entry, Goal, Measured, Measurement, require

if TYPE_CHECKING:
    from ginrummy_training.learning.selfplay.settings import Precision
    from ginrummy_training.learning.settings import TrainSettings

UPDATES = 3
"""Measured, after one that is not; each of 32,768 decisions."""


def selfplay_learner(seed: int) -> Measured:
    """Measure the self-play learner against MaskablePPO as the preset ``quick`` has it.

    Same network and features, rollouts of the same size, one core. MaskablePPO learns from the
    decisions of one seat, the preset's opponents answer (the shipped policy in place of the pool).
    The self-play learner learns from both seats; counted are only decisions that had a choice.
    ``quick`` is measured without the compiled kernels too, as it was before there were any.
    """
    require("sb3_contrib", "sb3-contrib", "train")
    import torch

    from ginrummy_agents import compiled
    from ginrummy_training.learning.settings import QUICK

    torch.set_num_threads(1)
    quick = replace(QUICK, seed=seed, reward="points")
    rates = {}
    for fast in (False, True):
        with compiled.kernels(fast):
            rates[fast] = _quick_rate(quick), _selfplay_rate(quick)
    rounded = _selfplay_rate(quick, "bfloat16")
    return Measured(
        rates[compiled.in_use()][1] / rates[False][0],
        (
            "Decisions learned from in a processor second, same network and features:",
            *(
                f"  {'with' if fast else 'without'} kernels: MaskablePPO (quick, {quick.epochs} "
                f"passes) {ppo:,.0f}, self-play learner {both:,.0f}: {both / ppo:.1f} times"
                for fast, (ppo, both) in rates.items()
            ),
            f"  self-play learner with precision=bfloat16: {rounded:,.0f}",
        ),
    )


def _quick_rate(quick: TrainSettings) -> float:
    """Return how many decisions MaskablePPO learns from in a processor second."""
    from stable_baselines3.common.logger import Logger

    from ginrummy_agents.learned.policy import NetworkPolicy, load_network, shipped
    from ginrummy_env import make_policy
    from ginrummy_training.learning.env import LearningEnv
    from ginrummy_training.learning.opponent_pool import assign
    from ginrummy_training.learning.settings import POOL
    from ginrummy_training.learning.train import make_model

    env = LearningEnv(quick, quick.parsed_rules(), None)
    names, assignment = assign(quick.opponents[0][1], quick.num_envs)
    past = {POOL: NetworkPolicy(load_network(shipped(quick.parsed_rules())), 1.0)}
    env.set_opponents([past.get(name) or make_policy(name) for name in names], assignment)
    model = make_model(quick, env)
    model.set_logger(Logger(None, []))
    each = quick.num_envs * quick.num_steps
    model.learn(each)
    clock = Clock()
    with clock:
        model.learn(UPDATES * each, reset_num_timesteps=False)
    return UPDATES * each / clock.seconds


def _selfplay_rate(quick: TrainSettings, precision: Precision = "float32") -> float:
    """Return how many decisions the self-play learner learns from in a processor second."""
    from ginrummy_training.learning.selfplay.learner import Learner
    from ginrummy_training.learning.selfplay.settings import SCRATCH

    settings = replace(
        SCRATCH, seed=quick.seed, ahead=quick.ahead, units=False, near=0, direct=False,
        width=quick.width, critic_width=quick.width, layers=quick.layers, precision=precision,
    )  # fmt: skip
    learner = Learner(settings)
    learner.begin(0)
    learner.update(0)
    clock, learned = Clock(), 0
    for number in range(1, UPDATES + 1):
        with clock:
            learner.update(number * settings.num_envs * settings.num_steps)
        learned += int(learner.rollout.learned.sum())
    return learned / clock.seconds


BENCHMARKS: list[Entry] = [
    Measurement(
        name="self-play learner / MaskablePPO without `fast`",
        track="training",
        unit="times the decisions a second",
        work_out=selfplay_learner,
        goals=(Goal(value=3),),
    )
]
