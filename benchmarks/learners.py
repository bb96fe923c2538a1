"""How fast the learners learn: decisions learned from in a processor second."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.envs import Clock
from benchmarks.registry import Entry, Goal, Measured, Measurement, require

UPDATES = 3
"""Measured, after one that is not; each of 32,768 decisions."""


def selfplay_learner(seed: int) -> Measured:
    """Measure the self-play learner against MaskablePPO as the preset ``quick`` has it.

    Same network and features, rollouts of the same size, one core. MaskablePPO learns from the
    decisions of one seat, the preset's opponents answer (the shipped policy in place of the pool).
    The self-play learner learns from both seats; counted are only decisions that had a choice.
    """
    require("sb3_contrib", "sb3-contrib", "train")
    import torch
    from stable_baselines3.common.logger import Logger

    from ginrummy_agents.learned.policy import NetworkPolicy, load_network
    from ginrummy_agents.learned.policy import shipped as shipped_policy
    from ginrummy_env import make_policy
    from ginrummy_training.learning.env import make_env
    from ginrummy_training.learning.opponent_pool import assign
    from ginrummy_training.learning.selfplay.learner import Learner
    from ginrummy_training.learning.selfplay.settings import SCRATCH
    from ginrummy_training.learning.settings import POOL, QUICK
    from ginrummy_training.learning.train import make_model

    torch.set_num_threads(1)
    quick = replace(QUICK, seed=seed, reward="points")
    env = make_env(quick, quick.parsed_rules(), None)
    names, assignment = assign(quick.opponents[0][1], quick.num_envs)
    shipped = {POOL: NetworkPolicy(load_network(shipped_policy(quick.parsed_rules())), 1.0)}
    env.games.set_opponents([shipped.get(name) or make_policy(name) for name in names], assignment)
    model = make_model(quick, env)
    model.set_logger(Logger(None, []))
    each = quick.num_envs * quick.num_steps
    model.learn(each)
    ppo, both = Clock(), Clock()
    with ppo:
        model.learn(UPDATES * each, reset_num_timesteps=False)

    settings = replace(
        SCRATCH, seed=seed, ahead=quick.ahead, units=False, near=0, direct=False,
        width=quick.width, critic_width=quick.width, layers=quick.layers,
    )  # fmt: skip
    learner = Learner(settings)
    learner.begin(0)
    learner.update(0)
    learned = 0
    for number in range(1, UPDATES + 1):
        with both:
            learner.update(number * each)
        learned += int(learner.rollout.learned.sum())
    rates = UPDATES * each / ppo.seconds, learned / both.seconds
    return Measured(
        rates[1] / rates[0],
        (
            "Decisions learned from in a processor second, same network and features:",
            f"  MaskablePPO (quick, {quick.epochs} passes) {rates[0]:,.0f}, "
            f"self-play learner ({settings.epochs} passes) {rates[1]:,.0f}",
        ),
    )


BENCHMARKS: list[Entry] = [
    Measurement(
        name="self-play learner / MaskablePPO",
        track="training",
        unit="times the decisions a second",
        work_out=selfplay_learner,
        goals=(Goal(value=3),),
    )
]
