"""Intervals that take two games on the same decks as one observation, and ratings.

The games of a pair share their decks, and the deals of a game their players' luck: none of them is
independent of the others, but the pairs are. So every interval here comes from the spread between
pairs ("clustered by pair"), whatever is counted: games, deals, points or turns.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special, stats

from ginrummy_env.core.types import Float

CONFIDENCE = 0.95

ELO = 400 / np.log(10)
"""Points of a rating a unit of log odds: 400 points are odds of ten to one."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval; all three are NaN where nothing was counted."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """Return what JSON can hold: null for NaN."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return {key: None if np.isnan(x) else float(x) for key, x in numbers.items()}

    @classmethod
    def from_dict(cls, given: Mapping[str, float | None]) -> "Estimate":
        """Return the estimate that `to_dict` wrote.

        Raises:
            KeyError, TypeError: there is none.
        """
        parts = (given[key] for key in ("value", "low", "high"))
        return cls(*(np.nan if part is None else float(part) for part in parts))

    def other_side(self) -> "Estimate":
        """Return the same for the opponent, where the two shares make 1."""
        return Estimate(1 - self.value, 1 - self.high, 1 - self.low)


NOTHING = Estimate(float("nan"), float("nan"), float("nan"))


def share(part: ArrayLike, whole: ArrayLike) -> Estimate:
    """Return the share that the parts have of the wholes, with its interval clustered by pair.

    The share is ``part.sum() / whole.sum()``. Its interval is normal, of the ratio of two means
    (linearised), after two have been added to each side: a pair won and a pair lost. That is the
    "plus four" rule of Agresti and Coull (1998); without it a match in which all pairs ended alike
    would seem to be exact. `tests/evaluation/test_statistics.py` checks how often the interval
    holds the truth.

    Args:
        part: [P] what was won in each pair (games, deals).
        whole: [P] what could be won in each pair.

    >>> share([2, 2, 1, 1], [2, 2, 2, 2]).value
    0.75
    """
    won, played = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    if played.sum() <= 0:
        return NOTHING
    middle, half = _ratio(np.append(won, [2, 0]), np.append(played, [2, 2]))
    return Estimate(
        float(won.sum() / played.sum()), max(middle - half, 0.0), min(middle + half, 1.0)
    )


def mean(total: ArrayLike, count: ArrayLike) -> Estimate:
    """Return the mean of what was counted, with its interval clustered by pair.

    Args:
        total: [P] the sum of the numbers in each pair (points, turns).
        count: [P] how many numbers there are in each pair.

    >>> mean([10, 20, 30], [1, 1, 1]).value
    20.0
    """
    totals, counts = np.asarray(total, dtype=np.float64), np.asarray(count, dtype=np.float64)
    if counts.sum() <= 0:
        return NOTHING
    middle, half = _ratio(totals, counts)
    return Estimate(middle, middle - half, middle + half)


def _ratio(totals: Float, counts: Float) -> tuple[float, float]:
    """Return the ratio of the sums and half the width of its interval (NaN for a single pair)."""
    pairs = len(totals)
    ratio = totals.sum() / counts.sum()
    if pairs < 2:
        return float(ratio), float("nan")
    left = totals - ratio * counts
    error = np.sqrt(pairs / (pairs - 1) * (left**2).sum()) / counts.sum()
    return float(ratio), float(stats.t.ppf((1 + CONFIDENCE) / 2, pairs - 1) * error)


@dataclass(frozen=True, slots=True)
class Ratings:
    """Bradley-Terry ratings: the odds that i beats j are ten to the (i - j) / 400."""

    ratings: list[Estimate]
    """One an agent, on Elo's scale, as difference to the anchor."""

    expected: Float
    """[A, A] the share of games that the row's agent should win of the column's."""


def bradley_terry(wins: Float, anchor: int = 0) -> Ratings:
    """Fit ratings to games won, with intervals clustered by pair.

    The pairings are played on the same decks, so what is independent is the pair number: all games
    of all pairings on one pair's decks are one cluster (the sandwich estimate of the errors). As in
    `share`, each pairing is given one pair won and one lost, so that an agent that lost all its
    games has a finite rating and an honest interval.

    Args:
        wins: [A, A, P] games (0 to 2) that the row's agent won of the column's with the decks of
            each pair; NaN where the pair was not played.
        anchor: the agent whose rating is 0.

    Returns:
        The ratings, with the table that they expect: where the played one differs from it, the
        agents are not on one line.

    Source: Bradley and Terry (1952).
    """
    agents = len(wins)
    first, second = np.triu_indices(agents, 1)
    won, lost = wins[first, second], wins[second, first]  # [M, P]
    played = ~(np.isnan(won) | np.isnan(lost))
    met = played.any(axis=1)
    first, second, played = first[met], second[met], played[met]
    won, lost = np.where(played, won[met], 0.0), np.where(played, lost[met], 0.0)
    won_in_all, lost_in_all = won.sum(axis=1) + 2, lost.sum(axis=1) + 2
    design = np.zeros((len(first), agents))
    design[np.arange(len(first)), first] = 1
    design[np.arange(len(first)), second] = -1
    design = np.delete(design, anchor, axis=1)

    def loss(strengths: Float) -> tuple[float, Float]:
        odds = design @ strengths
        value = -(won_in_all * special.log_expit(odds) + lost_in_all * special.log_expit(-odds))
        share_won = special.expit(odds)
        slope = design.T @ ((won_in_all + lost_in_all) * share_won - won_in_all)
        return float(value.sum()), slope

    fit = optimize.minimize(loss, np.zeros(agents - 1), jac=True, method="BFGS")
    odds = design @ fit.x
    chance = special.expit(odds)
    bread = np.linalg.inv(
        design.T @ (design * ((won_in_all + lost_in_all) * chance * (1 - chance))[:, None])
    )
    residuals = won - (won + lost) * chance[:, None]  # [M, P]
    scores = residuals.T @ design  # [P, A - 1]
    added = np.concatenate([design * (2 - 2 * chance)[:, None], design * (-2 * chance)[:, None]])
    spread = bread @ (scores.T @ scores + added.T @ added) @ bread
    half = stats.norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(np.diag(spread))
    strengths = np.insert(fit.x, anchor, 0.0)
    halves = np.insert(half, anchor, 0.0)
    return Ratings(
        [
            Estimate(ELO * middle, ELO * (middle - width), ELO * (middle + width))
            for middle, width in zip(strengths.tolist(), halves.tolist(), strict=True)
        ],
        special.expit(strengths[:, None] - strengths[None, :]),
    )
