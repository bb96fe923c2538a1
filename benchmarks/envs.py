"""The environments: steps a second as a user takes them, and their share of a training run.

The loops are those of the libraries' documentation: ``env.last()``, ``sample(mask)`` and
``env.step()`` for PettingZoo; one array of actions a step for the vector environments. A step of a
one-learner environment is a decision of the learner, the opponent's answer included.

PettingZoo dropped its gin rummy with 1.27, but not the class it was made of: `RLCardBase` with
RLCard's game, of whose planes the environment showed four, and the three usual wrappers around it.
So it can be built again here and measured in the same run.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchmarks.peers import rlcard_play
from benchmarks.registry import Benchmark, Entry, Goal, Measured, Measurement, require
from benchmarks.timing import Contender, Work

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ginrummy_env.core.chance import Random
    from ginrummy_env.core.view import View
    from ginrummy_env.policy import Policy

STEPS_A_CALL = 200
BATCHES = (1, 64, 1024, 4096)
BATCH_STEPS_A_CALL = 4096
"""A call makes as many steps as come first to one of these two bounds."""

TRAINING: dict[str, Any] = {
    "num_envs": 256,
    "n_steps": 64,
    "batch_size": 1024,
    "n_epochs": 5,
    "layers": [256, 256],
}
"""Settings of the training run whose time is shared out: as one would choose them for this game."""

TRAINING_STEPS = 65_536


def aec_loop(make: Callable[[], Any], seed: int) -> Contender:
    """An AEC environment in the loop of PettingZoo's documentation, random legal actions.

    Args:
        make: the environment.
        seed: of the deals and actions.
    """
    env = make()
    env.reset(seed=seed)
    for agent in env.possible_agents:
        env.action_space(agent).seed(seed)

    def play() -> Work:
        steps = 0
        while steps < STEPS_A_CALL:
            for agent in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    action = None
                else:
                    action = env.action_space(agent).sample(observation["action_mask"])
                    steps += 1
                env.step(action)
                if steps >= STEPS_A_CALL:
                    break
            if not env.agents:
                env.reset()
        return Work(steps)

    return play


def ours(**options: Any) -> Callable[[], Any]:
    """Return what makes our AEC environment with these options."""

    def make() -> Any:
        from ginrummy_env import env

        return env(**options)

    return make


def pettingzoo_gin_rummy() -> Any:
    """Return PettingZoo's former environment (1.26, gin_rummy_v4), without its pictures."""
    require("rlcard", "rlcard")
    from pettingzoo.classic.rlcard_envs.rlcard_base import RLCardBase
    from pettingzoo.utils import wrappers

    class Former(RLCardBase):  # type: ignore[misc]
        """RLCard's game; of its five planes the first four are shown."""

        metadata = {"render_modes": [], "name": "gin_rummy_v4"}  # noqa: RUF012
        render_mode = None

        def observe(self, agent: str) -> Any:
            seen = super().observe(agent)
            seen["observation"] = seen["observation"][0:4, :]
            return seen

    env = wrappers.TerminateIllegalWrapper(Former("gin-rummy", 2, (4, 52)), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


def gym_loop(opponent: str, seed: int) -> Contender:
    """The single Gymnasium environment against a policy, random legal actions."""
    import gymnasium

    import ginrummy_env

    env: Any = gymnasium.make(ginrummy_env.GYMNASIUM_ID, opponent=opponent)
    _, info = env.reset(seed=seed)
    env.action_space.seed(seed)

    def play() -> Work:
        nonlocal info
        for _ in range(STEPS_A_CALL):
            action = env.action_space.sample(info["action_mask"])
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()
        return Work(STEPS_A_CALL)

    return play


def vector_loop(count: int, opponent: str, seed: int) -> Contender:
    """The Gymnasium VectorEnv, SAME_STEP, random legal actions."""
    import numpy as np

    from ginrummy_env import GinRummyVectorEnv
    from ginrummy_env.core.actions import random_actions

    env = GinRummyVectorEnv(count, opponent, autoreset_mode="SameStep")
    _, infos = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    steps = max(1, min(STEPS_A_CALL, BATCH_STEPS_A_CALL // count))

    def play() -> Work:
        nonlocal infos
        deals = 0
        for _ in range(steps):
            actions = random_actions(infos["action_mask"].view(np.bool_), rng.random(count))
            *_, infos = env.step(actions)
            deals += sum(map(len, infos["deals"]))
        return Work(steps * count, deals)

    return play


def sb3_loop(count: int, opponent: str, seed: int) -> Contender:
    """The SB3 VecEnv, masks as MaskablePPO asks for them, random legal actions."""
    import numpy as np

    utils = require("sb3_contrib.common.maskable.utils", "sb3-contrib", "train")
    from ginrummy_env import GinRummyVecEnv
    from ginrummy_env.core.actions import random_actions

    env = GinRummyVecEnv(count, opponent)
    env.seed(seed)
    env.reset()
    rng = np.random.default_rng(seed)
    steps = max(1, min(STEPS_A_CALL, BATCH_STEPS_A_CALL // count))

    def play() -> Work:
        for _ in range(steps):
            env.step(random_actions(utils.get_action_masks(env), rng.random(count)))
        return Work(steps * count)

    return play


class Clock:
    """Processor seconds spent in what runs under it; what runs under another within it, not."""

    def __init__(self) -> None:
        """Start at 0."""
        self.seconds = 0.0
        self._begun = 0.0

    def __enter__(self) -> None:
        self._begun = time.process_time()

    def __exit__(self, *error: object) -> None:
        self.seconds += time.process_time() - self._begun


class TimedPolicy:
    """A policy whose time is taken."""

    def __init__(self, policy: Policy, clock: Clock) -> None:
        """Time ``policy`` by ``clock``."""
        self._policy, self._clock = policy, clock

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return the policy's actions."""
        with self._clock:
            return self._policy.act(view, rng)


def training_share(
    seed: int, *, opponent: str = "simple", num_envs: int = 256, of_opponent: bool = False
) -> Measured:
    """The environment's share of the time of a MaskablePPO run, or that of the opponent.

    Counted are ``reset``, ``step`` (rules, observation, infos) and the masks; the opponent's choice
    of actions is counted separately.

    Args:
        seed: of the run.
        opponent: its name.
        num_envs: games at once; the rollout has as many decisions whatever their number.
        of_opponent: whether the opponent's share is the outcome.
    """
    contrib = require("sb3_contrib", "sb3-contrib", "train")
    from ginrummy_env import GinRummyVecEnv, make_policy

    in_env, in_opponent = Clock(), Clock()

    class Timed(GinRummyVecEnv):
        """The VecEnv, its time taken."""

        def step_wait(self) -> Any:
            with in_env:
                return super().step_wait()

        def reset(self) -> Any:
            with in_env:
                return super().reset()

        def env_method(self, *args: Any, **kwargs: Any) -> Any:
            with in_env:
                return super().env_method(*args, **kwargs)

    settings = dict(TRAINING)
    layers = settings.pop("layers")
    settings["n_steps"] = settings["n_steps"] * settings.pop("num_envs") // num_envs
    env = Timed(num_envs, TimedPolicy(make_policy(opponent), in_opponent))
    env.seed(seed)
    policy = {"net_arch": layers}
    model = contrib.MaskablePPO(
        "MlpPolicy", env, seed=seed, device="cpu", policy_kwargs=policy, **settings
    )
    model.learn(TRAINING_STEPS // 4)  # what is done once, and warm caches
    in_env.seconds = in_opponent.seconds = 0.0
    whole = Clock()
    with whole:
        model.learn(TRAINING_STEPS, reset_num_timesteps=False)
    ours_alone = in_env.seconds - in_opponent.seconds
    counted = in_opponent.seconds if of_opponent else ours_alone
    share = ours_alone / whole.seconds
    known = {"games": num_envs, **settings, "layers": layers}
    setting = ", ".join(f"{name} {value}" for name, value in known.items())
    return Measured(
        counted / whole.seconds,
        (
            f"MaskablePPO, {TRAINING_STEPS:,} steps against {opponent} ({setting}):",
            f"  {TRAINING_STEPS / whole.seconds:,.0f} steps a processor second",
            f"  environment {share:.1%}, opponent {in_opponent.seconds / whole.seconds:.1%}, "
            f"net and training {1 - in_env.seconds / whole.seconds:.1%}",
        ),
    )


_ONE_GAME = "one game, as a user plays it"
_LEARNERS = "learners in vector environments"


def _vector_benchmarks() -> list[Entry]:
    loops = {"vector": vector_loop, "sb3": sb3_loop}
    return [
        Benchmark(
            name=f"{name}/{count}+{opponent}",
            track=_LEARNERS,
            unit="steps",
            make=functools.partial(loop, count, opponent),
        )
        for name, loop in loops.items()
        for count in BATCHES
        for opponent in ("random", "simple")
        if opponent == "simple" or count == max(BATCHES)
    ]


BENCHMARKS: list[Entry] = [
    Benchmark(
        name="pettingzoo/gin_rummy_v4",
        track=_ONE_GAME,
        unit="steps",
        make=functools.partial(aec_loop, pettingzoo_gin_rummy),
    ),
    Benchmark(name="rlcard/one game", track=_ONE_GAME, unit="steps", make=rlcard_play),
    Benchmark(
        name="aec",
        track=_ONE_GAME,
        unit="steps",
        make=functools.partial(aec_loop, ours()),
        goals=(
            Goal(value=4, than="pettingzoo/gin_rummy_v4"),
            Goal(value=1, than="rlcard/one game"),
        ),
    ),
    Benchmark(
        name="aec, raw planes",
        track=_ONE_GAME,
        unit="steps",
        make=functools.partial(aec_loop, ours(features="raw")),
        compare=("pettingzoo/gin_rummy_v4",),
    ),
    Benchmark(
        name="gym+random",
        track=_ONE_GAME,
        unit="steps",
        make=functools.partial(gym_loop, "random"),
    ),
    Benchmark(
        name="gym+simple",
        track=_ONE_GAME,
        unit="steps",
        make=functools.partial(gym_loop, "simple"),
    ),
    *_vector_benchmarks(),
    *(
        Measurement(
            name=f"environment's share of MaskablePPO/{count}",
            track="training",
            unit="share",
            work_out=functools.partial(training_share, num_envs=count),
            goals=(Goal(value=most, at_most=True),),
        )
        for count, most in ((64, 0.20), (256, 0.08), (1024, 0.04))
    ),
    Measurement(
        name="ppo's share of MaskablePPO/256",
        track="training",
        unit="share",
        work_out=functools.partial(training_share, opponent="ppo", of_opponent=True),
        goals=(Goal(value=0.15, at_most=True),),
    ),
]
