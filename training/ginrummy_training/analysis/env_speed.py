"""How fast the environments are here, in seconds; `ginrummy bench` measures in earnest.

>>> [row["games"] for row in env_speed([1, 4], opponent="random", seconds=0.01)]
[1, 4]
"""

from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np

from ginrummy_env.core.actions import random_actions
from ginrummy_env.envs.vector_env import GinRummyVectorEnv


def env_speed(
    sizes: Sequence[int], *, opponent: str, seconds: float = 1.0, seed: int = 0, **options: Any
) -> list[dict[str, Any]]:
    """Return how many decisions of a learner the vector environment takes a second.

    The learner takes any legal action; observations, masks and the opponent's answers are part of
    the time, which is that of this process, whatever else the machine does.

    Args:
        sizes: numbers of games at once.
        opponent: the other player.
        seconds: of each measurement, after a tenth as much to warm up.
        seed: of games and actions.
        options: of the environment.

    Returns:
        For each size ``opponent``, ``games`` and ``decisions_a_second``.
    """
    rows = []
    for size in sizes:
        env = GinRummyVectorEnv(size, opponent, **options)
        rng = np.random.default_rng(seed)
        _, infos = env.reset(seed=seed)
        for limit in (seconds / 10, seconds):
            steps, start = 0, process_time()
            while process_time() < start + limit:
                actions = random_actions(infos["action_mask"], rng.random(size))
                _, _, _, _, infos = env.step(actions)
                steps += 1
            rate = size * steps / (process_time() - start)
        env.close()
        rows.append({"opponent": opponent, "games": size, "decisions_a_second": round(rate)})
    return rows
