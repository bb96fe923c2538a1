"""Gin rummy for reinforcement learning: exact rules, whole batches at once, full games.

Importing this package registers the environments with Gymnasium and PettingZoo; their parts
are loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

from ginrummy_env.core.actions import IllegalActionError
from ginrummy_env.core.rules import (
    CLASSIC,
    EAAI,
    MODERN,
    OKLAHOMA,
    OPENSPIEL,
    PRESETS,
    RLCARD,
    STRAIGHT,
    Rules,
)

if TYPE_CHECKING:
    from ginrummy_env.envs.aec_env import env, parallel_env, raw_env
    from ginrummy_env.envs.gym_env import GinRummyEnv
    from ginrummy_env.envs.opponents import OpponentError, OpponentPool
    from ginrummy_env.envs.sb3_policy import SB3Policy
    from ginrummy_env.envs.sb3_vec_env import GinRummyVecEnv
    from ginrummy_env.envs.selfplay_env import GinRummySelfPlayEnv, gae, player_steps
    from ginrummy_env.envs.vector_env import GinRummyVectorEnv
    from ginrummy_env.policy import Policy, make_policy

__version__ = "0.1.0"

__all__ = [
    "CLASSIC",
    "EAAI",
    "MODERN",
    "OKLAHOMA",
    "OPENSPIEL",
    "PRESETS",
    "RLCARD",
    "STRAIGHT",
    "GinRummyEnv",
    "GinRummySelfPlayEnv",
    "GinRummyVecEnv",
    "GinRummyVectorEnv",
    "IllegalActionError",
    "OpponentError",
    "OpponentPool",
    "Policy",
    "Rules",
    "SB3Policy",
    "__version__",
    "env",
    "gae",
    "make_policy",
    "parallel_env",
    "player_steps",
    "raw_env",
]

_LATER = {
    "env": "envs.aec_env",
    "parallel_env": "envs.aec_env",
    "raw_env": "envs.aec_env",
    "GinRummyEnv": "envs.gym_env",
    "GinRummyVectorEnv": "envs.vector_env",
    "GinRummyVecEnv": "envs.sb3_vec_env",
    "GinRummySelfPlayEnv": "envs.selfplay_env",
    "gae": "envs.selfplay_env",
    "player_steps": "envs.selfplay_env",
    "OpponentError": "envs.opponents",
    "OpponentPool": "envs.opponents",
    "SB3Policy": "envs.sb3_policy",
    "Policy": "policy",
    "make_policy": "policy",
}
"""Public names and the modules in which they are; loaded when first asked for."""

GYMNASIUM_ID = "ginrummy_env/GinRummy-v0"
PETTINGZOO_ID = "ginrummy_env/gin_rummy-v0"


def _register() -> None:
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="ginrummy_env.envs.gym_env:GinRummyEnv",
            vector_entry_point="ginrummy_env.envs.vector_env:GinRummyVectorEnv",
        )
    # PettingZoo has a registry from 1.27 on.
    if PETTINGZOO_ID not in getattr(pettingzoo, "aec_registry", {PETTINGZOO_ID}):
        pettingzoo.register("aec", PETTINGZOO_ID, "ginrummy_env.envs.aec_env:env")
        pettingzoo.register("parallel", PETTINGZOO_ID, "ginrummy_env.envs.aec_env:parallel_env")


_register()


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
