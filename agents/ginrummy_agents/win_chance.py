"""What a score is worth: the chance of winning the game from it, between equal players."""

from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_agents.arrays import read_arrays, require_finite
from ginrummy_agents.thresholds import plays_like_eaai
from ginrummy_env.core.rules import PRESETS, Rules
from ginrummy_env.core.types import Float, Points

DEAL_POINTS = "winchance.npz"
"""Made by ``ginrummy fit deal-points``: for some presets, how often a deal
that was won was worth 0, 1, 2, ... points, between equal players."""

MOST_POINTS = 255

LARGEST_TABLE = 1000
"""Up to this target the chances of all scores are kept in a table."""

_NEVER = 1e-17
"""Chances below this are left out."""


class WinChance:
    """The chance of winning the game from each pair of scores, between equal players.

    Both players win each deal with the same chance and the same points, and void deals are played
    again; who deals is left out.

    How many deals a player has to win for the points still needed, and which of two players gets to
    that number first, are independent questions. The answer to the second is the problem of points
    (Pascal and Fermat, 1654); that to the first follows from the shares of points.
    """

    def __init__(self, shares: ArrayLike, target: int) -> None:
        """Prepare the chances: 0.02 s for a target of 100, about a second for 10,000.

        Args:
            shares: [P] how often a deal that was won was worth 0, 1, 2, ... points.
            target: points that end the game.

        Raises:
            ValueError: shares that are negative or not finite, or no deal that was worth points.
        """
        worth = np.array(shares, dtype=np.float64)
        if worth.ndim != 1 or not np.isfinite(worth).all() or (worth < 0).any():
            raise ValueError("shares of points: numbers from 0 are needed")
        worth[:1] = 0  # deals of no points change nothing: they are as if played again
        if not worth.any():
            raise ValueError("no deal was worth any points, so nobody ever wins the game")
        self.target = target
        self._deals = deals_needed(worth / worth.sum(), target)
        self._ahead = self._deals @ first_to_win(self._deals.shape[1])
        small = target <= LARGEST_TABLE
        self._table = (self._ahead @ self._deals.T)[::-1, ::-1].copy() if small else None

    @property
    def table(self) -> Float:
        """[target, target] the chance of the player with the first score.

        Opposite scores add to 1. Made again for each call if the target is large.
        """
        if self._table is not None:
            return self._table
        return (self._ahead @ self._deals.T)[::-1, ::-1]

    @classmethod
    def of_points(cls, points: ArrayLike, target: int) -> "WinChance":
        """Return the chances if deals pay as in a sample.

        Args:
            points: what deals paid, to whichever player; counted for both sides, so that neither
                is the stronger.
            target: points that end the game.
        """
        worth = np.minimum(np.abs(np.asarray(points, dtype=np.int64)), target)
        return cls(np.bincount(worth), target)

    def __call__(self, scores: NDArray[np.integer]) -> Float:
        """Return the chance of the player with the first score.

        Args:
            scores: [..., 2] the player's and the opponent's. Whoever has the target has won; where
                both have, the first counts.

        Returns:
            [...] 1 for a game won and 0 for a game lost.
        """
        last = self.target - 1
        mine, others = scores[..., 0], scores[..., 1]
        first, second = np.minimum(mine, last), np.minimum(others, last)
        if self._table is not None:
            value = self._table[first, second]
        else:
            numbers = first.astype(np.int64) * self.target + second
            pairs, where = np.unique(numbers, return_inverse=True)
            value = self._of_pairs(*np.divmod(pairs, self.target))[where].reshape(first.shape)
        return np.where(mine > last, 1.0, np.where(others > last, 0.0, value))

    def _of_pairs(self, mine: NDArray[np.integer], others: NDArray[np.integer]) -> Float:
        """Return the chances of [K] pairs of scores, without the table."""
        found = np.empty(len(mine))
        for start in range(0, len(mine), 4096):
            some = slice(start, start + 4096)
            ahead = self._ahead[self.target - 1 - mine[some]]
            found[some] = (ahead * self._deals[self.target - 1 - others[some]]).sum(axis=1)
        return found


def deals_needed(worth: Float, target: int) -> Float:
    """Return how likely each number of deals is the number to win for each number of points.

    Args:
        worth: [P] how often a deal is worth 0, 1, 2, ... points; never 0; sum 1.
        target: most points.

    Returns:
        [target, K] for 1 ... target points and 1 ... K deals; more are as good as impossible.
    """
    sums = np.zeros(target)  # how likely the points of the deals so far are 0, 1, 2, ...
    sums[0] = 1
    fewer = [np.ones(target)]  # how likely they are fewer than 1, 2, 3, ... points
    while fewer[-1][-1] > _NEVER:
        sums = np.convolve(sums, worth)[:target]
        fewer.append(sums.cumsum())
    return -np.diff(np.array(fewer), axis=0).T


def first_to_win(most: int) -> Float:
    """Return the chance of the player who needs the first number of deals, each won by either.

    Returns:
        [most, most] for 1 ... most deals each.
    """
    chance = np.zeros((most + 1, most + 1))
    chance[0, 1:] = 1
    for total in range(2, 2 * most + 1):
        mine = np.arange(max(1, total - most), min(most, total - 1) + 1)
        others = total - mine
        chance[mine, others] = (chance[mine - 1, others] + chance[mine, others - 1]) / 2
    return chance[1:, 1:]


@cache
def deal_points() -> dict[str, Float]:
    """Return the shares of points of the presets that are in the data file."""
    shares = read_arrays(files("ginrummy_agents").joinpath("data", DEAL_POINTS))
    require_finite(shares)
    return {name: array.astype(np.float64) for name, array in shares.items()}


def point_shares(rules: Rules) -> Float:
    """Return how often a deal that was won was worth 0, 1, 2, ... points, between equal players.

    Rules that are not a preset of the data file get the points of EAAI or CLASSIC, whichever is
    nearer (`thresholds`), also with decks of other sizes.
    """
    known = deal_points()
    for name, preset in PRESETS.items():
        if name in known and preset == rules:
            return known[name]
    return known["eaai" if plays_like_eaai(rules) else "classic"]


@cache
def win_chance_of(rules: Rules) -> WinChance:
    """Return the chances under these rules, by their `point_shares`."""
    return WinChance(point_shares(rules), rules.target)


def win_chance(scores: Points, points: Points, rules: Rules) -> Float:
    """Return the chance of winning the game after deals.

    Args:
        scores: [N, 2] int16, the player's and the opponent's before the deal.
        points: [N, ...] int16, what the player wins, negative if the opponent wins it.
        rules: the settings.

    Returns:
        [N, ...], 1 for a game won and 0 for a game lost.
    """
    shape = (len(scores),) + (1,) * (points.ndim - 1)
    mine = scores[:, 0].astype(np.int64).reshape(shape) + np.maximum(points, 0)
    others = scores[:, 1].astype(np.int64).reshape(shape) + np.maximum(-points, 0)
    return win_chance_of(rules)(np.stack([mine, others], axis=-1))
