"""Whom the learner plays against: fixed agents and its own past, each in a share of the games."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.learned.policy import NetworkPolicy, load_network
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.learning.settings import POOL, TrainSettings


class Pool:
    """The learner's past policies, the oldest dropped first, and those given at the start.

    Attributes:
        files: of past policies, oldest first, names within the folder.
    """

    def __init__(self, folder: Path, settings: TrainSettings, files: list[str]) -> None:
        """Make a pool.

        Args:
            folder: of its files.
            settings: size and seeds.
            files: those that it has.
        """
        self.folder, self.files = folder, files
        self._size = settings.pool_size
        self._seeds = [make_policy(name) for name in settings.pool_seeds]

    def add(self, name: str) -> None:
        """Add a file; drop the oldest if there are too many."""
        if name not in self.files:
            self.files.append(name)
        del self.files[: -self._size]

    def members(self) -> list[Policy]:
        """Return all policies, the latest last. They sample actions, as in training."""
        past = [
            NetworkPolicy(load_network(self.folder / name), 1.0, Path(name).stem)
            for name in self.files
        ]
        return [*self._seeds, *past]

    def draw(self, count: int, rng: np.random.Generator) -> list[Policy]:
        """Return ``count`` random members; the latest two are as likely as all others together."""
        members = self.members()
        if not members:
            raise ValueError("the pool is empty")
        weights = np.ones(len(members))
        if len(members) > 2:
            weights[-2:] = (len(members) - 2) / 2
        picked = rng.choice(len(members), count, p=weights / weights.sum())
        return [members[number] for number in picked]


def shares_at(settings: TrainSettings, progress: float) -> dict[str, float]:
    """Return the shares of the current stage of the opponents' schedule.

    Args:
        settings: the schedule.
        progress: share of the steps done, 0 to 1.
    """
    return [shares for start, shares in settings.opponents if start <= progress + 1e-9][-1]


def assign(shares: Mapping[str, float], rows: int) -> tuple[list[str], NDArray[np.intp]]:
    """Return the opponents' names and which of them plays in each row, [rows].

    Shares are rounded to whole rows by the largest remainder. The rows of an opponent are adjacent:
    rows are endless streams of games, so their order does not matter.

    >>> assign({"simple": 3, "lookahead": 1}, 8)[1].tolist()
    [0, 0, 0, 0, 0, 0, 1, 1]
    """
    names = [name for name, share in shares.items() if share > 0]
    wanted = np.array([shares[name] for name in names], dtype=np.float64)
    wanted *= rows / wanted.sum()
    counts = np.floor(wanted).astype(int)
    missing = rows - counts.sum()
    counts[np.argsort(counts - wanted, kind="stable")[:missing]] += 1
    return names, np.repeat(np.arange(len(names)), counts)


def opponents_of(
    shares: Mapping[str, float], rows: int, pool: Pool, rng: np.random.Generator, draws: int = 2
) -> tuple[list[str | Policy], NDArray[np.intp]]:
    """Return policies and which of them plays in each row; members of the pool are drawn again.

    Args:
        shares: by name.
        rows: of the batch.
        pool: the learner's past.
        rng: for the draw.
        draws: members of the pool that play at once; each costs one call per step.
    """
    names, assignment = assign(shares, rows)
    policies: list[str | Policy] = list(names)
    if POOL in names:
        place = names.index(POOL)
        drawn = pool.draw(draws, rng)
        policies[place] = drawn[0]
        theirs = np.flatnonzero(assignment == place)
        for number, member in enumerate(drawn[1:], start=1):
            assignment[theirs[number::draws]] = len(policies)
            policies.append(member)
    return policies, assignment
