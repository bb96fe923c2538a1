"""PettingZoo's ``gin_rummy_v4``, the old way on RLCard and ours, driven by the same loop.

PettingZoo 1.27 no longer has the environment, so its way is written out here: at each step RLCard
works out the state, the environment asks for it again, and ``last()`` once more. Around all of them
are PettingZoo's usual wrappers. In the loop a random legal action is taken, and a decision is one
action of a player.
"""

from __future__ import annotations

import functools
import random
from typing import Any

from benchmarks.peers import rlcard_play
from benchmarks.registry import Benchmark, Goal, require
from benchmarks.timing import Contender, Work

TRACK = "gin_rummy_v4"
OLD = "gin_rummy_v4/rlcard"


def rlcard_env(seed: int) -> Any:
    """Return RLCard's game in PettingZoo's interface, as up to PettingZoo 1.26."""
    import numpy as np
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers

    rlcard: Any = require("rlcard", "rlcard")

    class OnRlcard(AECEnv):  # type: ignore[misc]
        metadata = {"name": "on_rlcard"}  # noqa: RUF012 - PettingZoo's convention

        def __init__(self) -> None:
            self.game = rlcard.make("gin-rummy", config={"seed": seed})
            self.possible_agents = ["player_0", "player_1"]
            self.action_spaces = dict.fromkeys(self.possible_agents, _discrete(110))

        def action_space(self, agent: str) -> Any:
            return self.action_spaces[agent]

        def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
            state, player = self.game.reset()
            self.legal = list(state["legal_actions"])
            self.agents = self.possible_agents[:]
            self.agent_selection = self.agents[player]
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
            self.terminations = dict.fromkeys(self.agents, False)
            self.truncations = dict.fromkeys(self.agents, False)
            self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}

        def observe(self, agent: str) -> Any:
            state = self.game.get_state(self.possible_agents.index(agent))
            mask = np.zeros(110, dtype=np.int8)
            for action in self.legal:
                mask[action] = 1
            return {"observation": state["obs"][:4].astype(np.int8), "action_mask": mask}

        def step(self, action: Any) -> None:
            agent = self.agent_selection
            if self.terminations[agent]:
                self._was_dead_step(action)
                return
            state, player = self.game.step(action)
            self.observe(agent)  # kept by the old environment, for nobody
            self.legal = list(state["legal_actions"])
            if self.game.is_over():
                self.legal = []
                payoffs = self.game.get_payoffs()
                self.rewards = dict(zip(self.possible_agents, payoffs, strict=True))
                self.terminations = dict.fromkeys(self.agents, True)
            self._cumulative_rewards[agent] = 0
            self.agent_selection = self.possible_agents[player]
            self._accumulate_rewards()
            self._deads_step_first()

    inner: Any = wrappers.TerminateIllegalWrapper(OnRlcard(), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(inner))


def _discrete(count: int) -> Any:
    from gymnasium import spaces

    return spaces.Discrete(count)


def compat_env(seed: int, *, faithful: bool, raw: bool = False) -> Any:
    """Return ours."""
    from ginrummy_env.compat import gin_rummy_v4

    make = gin_rummy_v4.raw_env if raw else gin_rummy_v4.env
    env = make(faithful=faithful)
    env.reset(seed=seed)
    return env


def random_loop(env: Any, seed: int) -> Contender:
    """Play random deals by the loop that PettingZoo's documentation gives."""
    uniform = random.Random(seed).random

    def play() -> Work:
        env.reset()
        decisions = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(int(legal[int(uniform() * len(legal))]))
            decisions += 1
        return Work(decisions, 1)

    return play


def _ours(seed: int, faithful: bool, raw: bool = False) -> Contender:
    return random_loop(compat_env(seed, faithful=faithful, raw=raw), seed)


BENCHMARKS = [
    Benchmark(
        name=OLD,
        track=TRACK,
        unit="decisions",
        make=lambda seed: random_loop(rlcard_env(seed), seed),
    ),
    Benchmark(
        name="gin_rummy_v4/rlcard-alone",
        track=TRACK,
        unit="decisions",
        make=rlcard_play,
    ),
    Benchmark(
        name="gin_rummy_v4/faithful",
        track=TRACK,
        unit="decisions",
        make=functools.partial(_ours, faithful=True),
        goals=(Goal(value=3, than=OLD),),
        compare=("gin_rummy_v4/rlcard-alone",),
    ),
    Benchmark(
        name="gin_rummy_v4/faithful-raw",
        track=TRACK,
        unit="decisions",
        make=functools.partial(_ours, faithful=True, raw=True),
        compare=(OLD, "gin_rummy_v4/rlcard-alone"),
    ),
    Benchmark(
        name="gin_rummy_v4/default",
        track=TRACK,
        unit="decisions",
        make=functools.partial(_ours, faithful=False),
        goals=(Goal(value=3, than=OLD),),
        compare=("gin_rummy_v4/rlcard-alone",),
    ),
]
