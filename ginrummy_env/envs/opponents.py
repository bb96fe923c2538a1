"""The policies in the other seats: which plays in which row, and what happens if one fails."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.chance import Purpose, Random, RowRandom, bits, keys
from ginrummy_env.core.checks import real, whole_numbers
from ginrummy_env.core.legal import require_actions
from ginrummy_env.core.types import Rows
from ginrummy_env.core.view import View
from ginrummy_env.policy import Policy, make_policy, policy_name

PolicyLike = str | Policy | Callable[[View, Random], Any]
"""A policy, its name, or a function ``(view, rng) -> actions``."""


class OpponentError(RuntimeError):
    """An opponent's policy failed: it raised an error, or its answer was no legal action.

    What it raised is the ``__cause__``. The step or reset in which it happened is half done, so the
    environment has to be reset.

    Attributes:
        opponent: the policy's name.
        reason: what it did.
    """

    def __init__(self, opponent: str, reason: str) -> None:
        """Say which opponent failed and why."""
        self.opponent, self.reason = opponent, reason
        super().__init__(f"the opponent {opponent} failed: {reason}")

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Pickle by the arguments, as worker processes need."""
        return type(self), (self.opponent, self.reason)


class OpponentPool:
    """Several policies, one of which is drawn for each episode.

    Which one is a function of the game, not of what was played before.

    Attributes:
        policies: the policies.
        shares: [P] float64 how often each is drawn; they add to 1.
    """

    def __init__(self, policies: Sequence[PolicyLike], weights: ArrayLike | None = None) -> None:
        """Make a pool.

        Args:
            policies: at least one; names, policies or functions.
            weights: [P] how often each is drawn, not negative, not all 0; alike if None.

        Raises:
            ValueError: no policy, an unknown name, or bad weights.
        """
        self.policies = [make_policy(each) for each in policies]
        if not self.policies:
            raise ValueError("OpponentPool([]): at least one policy is needed")
        given = np.ones(len(self.policies)) if weights is None else weights
        worth = np.array([real("weight", each, 0) for each in np.ravel(given)])
        if len(worth) != len(self.policies) or not worth.any():
            raise ValueError(
                f"weights={weights!r}: {len(self.policies)} numbers from 0 are needed, one for "
                "each policy, not all of them 0"
            )
        self.shares = worth / worth.sum()

    def draw(self, seeds: NDArray[np.uint64], games: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Return which of the policies plays in each of these games, [K]."""
        drawn = bits(keys(Purpose.POOL, seeds, games), 1)[:, 0] / 2.0**64
        found = np.searchsorted(self.shares.cumsum(), drawn, side="right")
        return np.minimum(found, len(self.policies) - 1)


Opponents = PolicyLike | OpponentPool | Sequence[PolicyLike]
"""What plays in the other seats: one policy, one for each row, or a pool."""


class OtherSeats:
    """The policies that play against the learners of N rows.

    Attributes:
        policies: those in use.
        assignment: [N] intp, which of them plays in each row.
    """

    def __init__(self, count: int, opponents: Opponents, assignment: ArrayLike | None) -> None:
        """Seat policies in ``count`` rows; see `put`."""
        self.policies: list[Policy] = []
        self.assignment = np.zeros(count, dtype=np.intp)
        self._pool: OpponentPool | None = None
        self.put(opponents, assignment)

    def put(self, opponents: Opponents, assignment: ArrayLike | None = None) -> None:
        """Seat other policies in all rows.

        Args:
            opponents: a policy, its name or a function; a list of these; or a pool, from which one
                is drawn for each row at its next episodes.
            assignment: [N] integers, which of the list plays in each row; the list in turn, row
                after row, if None.

        Raises:
            ValueError: no policy, an unknown name, or a bad assignment.
        """
        count = len(self.assignment)
        pool = opponents if isinstance(opponents, OpponentPool) else None
        if isinstance(opponents, OpponentPool):
            policies = opponents.policies
        elif isinstance(opponents, Sequence) and not isinstance(opponents, str):
            policies = [make_policy(each) for each in opponents]
        else:
            policies = [make_policy(opponents)]
        if not policies:
            raise ValueError("opponent=[]: at least one policy is needed")
        chosen = np.arange(count) % len(policies)
        if assignment is not None:
            if pool is not None:
                raise ValueError("assignment: a pool draws who plays in which row")
            chosen = whole_numbers("assignment", assignment, 0, len(policies) - 1, np.intp)
            if chosen.shape != (count,):
                raise ValueError(
                    f"assignment={assignment!r}: {count} whole numbers are needed, one a row"
                )
        self.policies, self.assignment, self._pool = policies, chosen.astype(np.intp), pool

    def put_in(self, rows: Rows, policy: PolicyLike) -> None:
        """Seat one policy in these rows, and leave the others as they are.

        Raises:
            ValueError: not a policy, or an unknown name.
        """
        made = make_policy(policy)
        self.assignment[rows] = len(self.policies)
        used = np.unique(self.assignment)
        self.policies = [[*self.policies, made][number] for number in used]
        self.assignment = np.searchsorted(used, self.assignment)
        self._pool = None

    def draw(self, rows: Rows, seeds: NDArray[np.uint64], games: NDArray[np.uint64]) -> None:
        """Draw who plays in rows whose episode begins, if there is a pool."""
        if self._pool is not None:
            self.assignment[rows] = self._pool.draw(seeds, games)

    def name_in(self, row: int) -> str:
        """Return the name of the policy in a row."""
        return policy_name(self.policies[self.assignment[row]])

    def act(self, view: View, rows: Rows, row_keys: NDArray[np.uint64]) -> NDArray[np.int16]:
        """Return the policies' actions, [K] int16.

        Args:
            view: K rows.
            rows: [K] what they are called here.
            row_keys: [K] uint64, of the policies' random numbers.

        Raises:
            OpponentError: a policy raised an error, or its answer was not one whole number a row.
        """
        if len(self.policies) == 1:
            return _ask(self.policies[0], view, RowRandom(row_keys))
        actions = np.zeros(len(rows), dtype=np.int16)
        assigned = self.assignment[rows]
        for number in np.unique(assigned):
            places = np.flatnonzero(assigned == number)
            some = RowRandom(row_keys[places])
            actions[places] = _ask(self.policies[number], view.select(places), some)
        return actions


def _ask(policy: Policy, view: View, rng: RowRandom) -> NDArray[np.int16]:
    try:
        return require_actions(policy.act(view, rng), len(view))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise OpponentError(policy_name(policy), reason) from error
