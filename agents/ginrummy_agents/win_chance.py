"""What a score is worth: the chance of winning the game from it, between equal players."""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import Points
from ginrummy_env.core.rules import EAAI, PRESETS, Rules

Float = NDArray[np.float64]

DEAL_POINTS = "winchance.npz"
"""Made by ``python -m ginrummy_training.fitting.deal_points``: for some presets, how often a deal
that was won was worth so many points, between equal players."""

MOST_POINTS = 255


def solve(shares: Float, target: int) -> Float:
    """Return the chance of winning the game for each pair of scores.

    Both players win each deal with the same chance and the same points, and void deals are played
    again; who deals is left out.

    Args:
        shares: [P] how often a deal that was won was worth 0, 1, 2, ... points; sum 1.
        target: points that end the game.

    Returns:
        [target, target] the chance of the player with the first score. Opposite scores add to 1.
    """
    worth = shares.copy()
    worth[0] = 0  # deals of no points change nothing: they are as if played again
    worth /= worth.sum()
    wide = target + len(worth)
    chance = np.zeros((wide, wide))
    chance[target:, :target] = 1
    gains = np.flatnonzero(worth)
    weights = worth[gains]
    # A deal raises the sum of the scores, so that the highest sums are known first.
    for total in range(2 * (target - 1), -1, -1):
        mine = np.arange(max(0, total - target + 1), min(total, target - 1) + 1)[:, None]
        his = total - mine
        won, lost = chance[mine + gains, his], chance[mine, his + gains]
        chance[mine[:, 0], his[:, 0]] = (won + lost) @ weights / 2
    return chance[:target, :target]


@cache
def deal_points() -> dict[str, Float]:
    """Return the shares of points of the presets that are in the data file."""
    path: Any = files("ginrummy_agents").joinpath("data", DEAL_POINTS)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return {name: np.asarray(arrays[name], dtype=np.float64) for name in arrays.files}


@cache
def table(rules: Rules) -> Float:
    """Return the chance of winning under these rules, [target, target].

    Rules that are no preset of the data file get the points of the preset that is nearest: CLASSIC,
    or EAAI if an undercut is worth 18 or more.
    """
    known = deal_points()
    for name, preset in PRESETS.items():
        if name in known and preset == rules:
            return solve(known[name], rules.target)
    near = "eaai" if rules.undercut_bonus >= (EAAI.undercut_bonus + 10) / 2 else "classic"
    return solve(known[near], rules.target)


def win_chance(scores: Points, points: Points, rules: Rules) -> Float:
    """Return the chance of winning the game after deals.

    Args:
        scores: [N, 2] int16, mine and his before the deal.
        points: [N, ...] int16, what I win, negative if he wins it.
        rules: the settings.

    Returns:
        [N, ...], 1 for a game won and 0 for a game lost.
    """
    shape = (len(scores),) + (1,) * (points.ndim - 1)
    mine = scores[:, 0].astype(np.int64).reshape(shape) + np.maximum(points, 0)
    his = scores[:, 1].astype(np.int64).reshape(shape) + np.maximum(-points, 0)
    chance = table(rules)
    last = rules.target - 1
    value = chance[np.minimum(mine, last), np.minimum(his, last)]
    return np.where(mine > last, 1.0, np.where(his > last, 0.0, value))
