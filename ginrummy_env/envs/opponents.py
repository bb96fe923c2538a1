"""The policies in the other seats: which plays in which row, and what happens if one fails.

Those that remember (`policy.SeatPolicy`) are informed of their games: each game of a row has a
seat, a number of its own, from the policy's first decision in it until `OtherSeats.leave`.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.chance import Purpose, Random, RowRandom, bits, keys
from ginrummy_env.core.checks import real, whole_numbers
from ginrummy_env.core.legal import require_actions
from ginrummy_env.core.types import Rows
from ginrummy_env.core.view import View
from ginrummy_env.policy import Policy, SeatPolicy, make_policy, new_seats, policy_name

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


MAX_FORFEITS = 3
"""An opponent that forfeits this many games in a row has failed."""

NO_SEAT = -1


class OpponentPool:
    """Several policies, one of which is drawn for each episode.

    Which one is a function of the game, not of what was played before.

    Attributes:
        given: the policies as they were given, names among them.
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
        self.given = list(policies)
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
        remember: whether any of them is informed of its games.
    """

    def __init__(self, count: int, opponents: Opponents, assignment: ArrayLike | None) -> None:
        """Seat policies in ``count`` rows; see `put`."""
        self.policies: list[Policy] = []
        self.assignment = np.zeros(count, dtype=np.intp)
        self.remember = False
        self._seats = np.full(count, NO_SEAT, dtype=np.int64)
        self._forfeits = np.zeros(count, dtype=np.int64)
        """Games that were forfeited one after another."""
        self._pool: OpponentPool | None = None
        self._made_here: list[Policy] = []
        """Policies in use that were made from their names."""
        self.put(opponents, assignment)

    def put(
        self,
        opponents: Opponents,
        assignment: ArrayLike | None = None,
        leave: Callable[[], None] | None = None,
    ) -> None:
        """Seat other policies in all rows.

        Args:
            opponents: a policy, its name or a function; a list of these; or a pool, from which one
                is drawn for each row at its next episodes.
            assignment: [N] integers, which of the list plays in each row; the list in turn, row
                after row, if None.
            leave: called before those in use are replaced, when nothing can go wrong any more.

        Raises:
            ValueError: no policy, an unknown name, or a bad assignment.
        """
        count = len(self.assignment)
        pool = opponents if isinstance(opponents, OpponentPool) else None
        policies = [make_policy(each) for each in _listed(opponents)]
        if not policies:
            raise ValueError("opponent=[]: at least one policy is needed")
        chosen = np.arange(count) % len(policies)
        if assignment is not None:
            if pool is not None:
                raise ValueError("assignment: a pool draws who plays in which row")
            chosen = whole_numbers("assignment", assignment, 0, len(policies) - 1, np.intp)
            if chosen.shape != (count,):
                raise ValueError(
                    f"assignment={assignment!r}: {count} whole numbers are needed, one per row"
                )
        if leave is not None:
            leave()
        given = _listed(opponents) if pool is None else pool.given
        self.policies, self.assignment, self._pool = policies, chosen.astype(np.intp), pool
        self._changed(made for name, made in zip(given, policies, strict=True) if made is not name)

    def put_in(
        self, rows: Rows, policy: PolicyLike, leave: Callable[[], None] | None = None
    ) -> None:
        """Seat one policy in these rows, and leave the others as they are; see `put`.

        Raises:
            ValueError: not a policy, or an unknown name.
        """
        made = make_policy(policy)
        if leave is not None:
            leave()
        self.assignment[rows] = len(self.policies)
        used = np.unique(self.assignment)
        self.policies = [[*self.policies, made][number] for number in used]
        self.assignment = np.searchsorted(used, self.assignment)
        self._pool = None
        self._changed([made] if made is not policy else [])

    def draw(self, rows: Rows, seeds: NDArray[np.uint64], games: NDArray[np.uint64]) -> None:
        """Draw who plays in rows whose episode begins, if there is a pool."""
        if self._pool is not None:
            self.assignment[rows] = self._pool.draw(seeds, games)

    def name_in(self, row: int) -> str:
        """Return the name of the policy in a row."""
        return policy_name(self.policies[self.assignment[row]])

    def act(self, view: View, rows: Rows, row_keys: NDArray[np.uint64]) -> NDArray[np.int16]:
        """Return the policies' actions, [K] int16, a `Forfeit` where one has lost the game.

        Args:
            view: K rows.
            rows: [K] what they are called here.
            row_keys: [K] uint64, of the policies' random numbers.

        Raises:
            OpponentError: a policy raised an error, or its answer was not one whole number a row.
        """
        if len(self.policies) == 1:
            return self._ask(self.policies[0], view, rows, RowRandom(row_keys))
        actions = np.zeros(len(rows), dtype=np.int16)
        assigned = self.assignment[rows]
        for number in np.unique(assigned):
            places = (assigned == number).nonzero()[0]
            some = RowRandom(row_keys[places])
            part = view.select(places)
            actions[places] = self._ask(self.policies[number], part, rows[places], some)
        return actions

    def _ask(self, policy: Policy, view: View, rows: Rows, rng: RowRandom) -> NDArray[np.int16]:
        with _failing(policy):
            if self.remember and isinstance(policy, SeatPolicy):
                actions = policy.act_at(self._seats_in(rows), view, rng)
            else:
                actions = policy.act(view, rng)
            return require_actions(actions, len(view))

    def forfeited(self, rows: Rows, actions: NDArray[np.int16]) -> dict[int, str]:
        """Return why policies have lost the games in some of these rows, by place among the rows.

        Args:
            rows: [K].
            actions: [K] what `act` has returned.

        Raises:
            OpponentError: a policy has forfeited `MAX_FORFEITS` games of a row.
        """
        reasons: dict[int, str] = {}
        for place in (actions < 0).nonzero()[0].tolist() if self.remember else ():
            row = int(rows[place])
            policy = self.policies[self.assignment[row]]
            if isinstance(policy, SeatPolicy):
                reasons[place] = policy.forfeit_reason(int(self._seats[row]))
                self._forfeits[row] += 1
                if self._forfeits[row] >= MAX_FORFEITS:
                    self._forfeits[row] = 0
                    often = f"forfeited {MAX_FORFEITS} games one after another"
                    raise OpponentError(policy_name(policy), f"{often}: {reasons[place]}")
        return reasons

    def deals_over(self, rows: Rows, view: View) -> None:
        """Report deals that have ended to policies that remember.

        Args:
            rows: [K].
            view: K rows, what the policies see of the deals.
        """
        self._forfeits[rows] = 0
        self._report("deals_over", rows, self._seats_in(rows), view)

    def leave(self, rows: Rows, view: View) -> None:
        """Report that the games in these rows are over, or given up; see `deals_over`."""
        begun = self._seats[rows] != NO_SEAT
        if begun.any():
            rows = rows[begun]
            seats = self._seats[rows]
            self._seats[rows] = NO_SEAT  # also if a policy fails now
            self._report("games_over", rows, seats, view.select(begun))

    def close(self) -> None:
        """End the programs that were named to this environment. They start again if asked."""
        _close(self._made_here)

    def _changed(self, made: Iterable[Policy]) -> None:
        """Note who plays now, and end the programs that do not any more."""
        self.remember = any(isinstance(policy, SeatPolicy) for policy in self.policies)
        made_here = [*self._made_here, *made]
        self._made_here = [one for one in made_here if any(one is x for x in self.policies)]
        _close(one for one in made_here if not any(one is x for x in self.policies))

    def _report(self, event: str, rows: Rows, seats: NDArray[np.int64], view: View) -> None:
        assigned = self.assignment[rows]
        for number in np.unique(assigned):
            policy = self.policies[number]
            if isinstance(policy, SeatPolicy):
                places = (assigned == number).nonzero()[0]
                with _failing(policy):
                    getattr(policy, event)(seats[places], view.select(places))

    def _seats_in(self, rows: Rows) -> NDArray[np.int64]:
        """Return the seats of the games in these rows, new ones where the game is new."""
        new = rows[self._seats[rows] == NO_SEAT]
        self._seats[new] = new_seats(len(new))
        return self._seats[rows]


def _listed(opponents: Opponents) -> Sequence[PolicyLike]:
    if isinstance(opponents, OpponentPool):
        return opponents.policies
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        return opponents
    return [opponents]


def _close(policies: Iterable[Policy]) -> None:
    for policy in policies:
        if callable(close := getattr(policy, "close", None)):
            close()


@contextmanager
def _failing(policy: Policy) -> Iterator[None]:
    """Raise OpponentError for what a policy raises."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise OpponentError(policy_name(policy), reason) from error


def refuse_shadowed_opponent(env: object) -> None:
    """Raise if a wrapper around an environment has an attribute ``opponent`` of its own.

    ``wrapper.opponent = "champion"`` makes one (so does ``set_attr`` of Stable-Baselines3's
    DummyVecEnv and SubprocVecEnv), and the environment would never know. It does not know its
    wrappers either, but while it is stepped or reset they are in the call stack.

    Args:
        env: called from its ``step`` (``step_wait``) or ``reset``.

    Raises:
        AttributeError: such a wrapper; says what to do instead.
    """
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name in ("step", "step_wait", "reset"):
            outer = frame.f_locals.get("self")
            if (
                outer is not env
                and "opponent" in getattr(outer, "__dict__", ())
                and _is_wrapper(outer)
                and any(one is env for one in _inside(outer))
            ):
                raise AttributeError(
                    f"the attribute 'opponent' was set on the wrapper {type(outer).__name__}, "
                    "which does not change the environment's opponent. Delete it, and call "
                    "env.get_wrapper_attr('set_opponent')(policy), for a vector environment of "
                    "Gymnasium env.unwrapped.set_opponent(policy), for a VecEnv of "
                    "Stable-Baselines3 env_method('set_opponent', policy)"
                )
        frame = frame.f_back  # type: ignore[assignment]


def _is_wrapper(outer: object) -> bool:
    """Return whether this is a wrapper or vector environment of Gymnasium or Stable-Baselines3."""
    kinds: list[type] = [gymnasium.Wrapper, gymnasium.vector.VectorEnv]
    if sb3 := sys.modules.get("stable_baselines3.common.vec_env"):
        kinds.append(sb3.VecEnv)
    return isinstance(outer, tuple(kinds))


def _inside(outer: Any) -> Iterator[object]:
    """Yield the environments that a wrapper wraps, and itself."""
    waiting = [outer]
    while waiting:
        yield (one := waiting.pop())
        own = getattr(one, "__dict__", {})
        waiting += [own[name] for name in ("env", "venv") if name in own]
        waiting += own.get("envs", ())
