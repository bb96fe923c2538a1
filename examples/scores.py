"""How good is it? Points a deal on decks that training never has. Used by the other examples."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ginrummy_env import GinRummyVectorEnv

DEALS = 2000
"""Deals to play where nothing else is said."""

Choose = Callable[[NDArray[np.float32], NDArray[np.bool_]], NDArray[np.integer]]
"""From observations [N, size] and masks [N, 108] to actions [N]."""


def points_a_deal(
    choose: Choose, opponent: str = "simple", deals: int | None = None, rules: str = "classic"
) -> float:
    """Return the points that ``choose`` wins a deal, on average, from both seats."""
    env = GinRummyVectorEnv(
        100,
        opponent,
        rules=rules,
        episode="deal",
        reward="points",
        split="eval",
        autoreset_mode="SameStep",
    )
    observations, _ = env.reset(seed=1)
    ended, points = 0, 0.0
    while ended < (deals or DEALS):
        observations, rewards, terminated, _, _ = env.step(choose(observations, env.action_masks()))
        ended += terminated.sum()
        points += rewards.sum()
    return 100 * points / ended


def report(choose: Choose, opponent: str = "simple", deals: int | None = None) -> None:
    """Print what `points_a_deal` finds."""
    points = points_a_deal(choose, opponent, deals)
    print(f"{points:+.1f} points a deal against {opponent}")
