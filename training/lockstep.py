"""Many games at once between two agents, each game as if it were played alone.

Game g of a match has the decks of pair g // 2; agent A sits at seat g % 2. So the two games of a
pair are the same cards with the seats swapped. All that a game hangs on is its number: decks come
from (seed, pair, deal), an agent's random numbers from (seed, game, deal, step). The batch around
a game, and the process it is played in, change nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import IllegalActionError
from ginrummy_env.core.cards import Rows
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.game import new_games, next_deals, restart
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy
from training.table import GAME, Table, Tally

FIRST_GAME = 2**63
"""The game number, for the decks, of pair 0. Environments count their games from 0, so no deck that
an agent is measured with is one that it was trained with, whatever the seeds."""

BATCH = 4096
"""Games played at once, unless another number is asked for."""

_AGENTS = 3  # what a random number is for, part of its key: `core.deal` has 1 and 2


@dataclass(slots=True)
class Clock:
    """Time spent deciding, by agent."""

    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    decisions: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, other: "Clock") -> None:
        """Add the time of another clock."""
        for side in range(2):
            self.seconds[side] += other.seconds[side]
            self.decisions[side] += other.decisions[side]


def deck_numbers(games: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the game numbers that `core.game` makes the decks of, [N] uint64."""
    return np.uint64(FIRST_GAME) + (games // 2).astype(np.uint64)


def agent_random(seed: int, games: NDArray[np.int64], state: BatchState, rows: Rows) -> RowRandom:
    """Return what an agent draws from in this step of the given rows, a function of their games."""
    deals, steps = state.deal_number[rows], state.step_count[rows]
    return RowRandom(keys(_AGENTS, np.uint64(seed), games[rows], deals, steps))


class Lockstep:
    """Games in the rows of a batch; a row whose game is over takes the next game."""

    def __init__(
        self,
        policies: tuple[Policy, Policy],
        games: NDArray[np.int64],
        rules: Rules,
        *,
        seed: int = 0,
        batch: int = BATCH,
        max_deals: int = 1000,
    ) -> None:
        """Start the first games.

        Args:
            policies: A and B.
            games: their numbers in the match, in the order in which they start.
            rules: the settings.
            seed: of decks and agents.
            batch: games at once.
            max_deals: a game that has had so many deals ends without a winner.
        """
        self._policies, self._rules, self._seed = policies, rules, seed
        self._max_deals = max_deals
        rows = min(batch, len(games))
        self._games, self._waiting = games[:rows].copy(), games[rows:]
        self._seat_a = (self._games % 2).astype(np.int8)
        self._state = new_games(np.uint64(seed), deck_numbers(self._games), rules)
        self._first_dealer = self._state.dealer.copy()
        self._tally = Tally(rows)
        self.clock = Clock()

    @property
    def running(self) -> int:
        """How many games are in play."""
        return len(self._games)

    def steps(self) -> Iterator[Table]:
        """Play all games, step by step; after each step yield the games that ended with it.

        Raises:
            IllegalActionError: an agent did what it may not; a note says who and in which game.
        """
        while self.running:
            self._act()
            yield self._book()

    def _act(self) -> None:
        """Ask the agents and step."""
        state = self._state
        a, b = self._policies
        if a is b:
            # One policy plays for both: it is asked once. Half of the time goes to each.
            everyone = np.arange(len(state))
            actions = self._ask(a, everyone, (0, 1))
        else:
            actions = np.empty(len(state), dtype=np.int16)
            of_a = state.player == self._seat_a
            for side, wanted in enumerate((of_a, ~of_a)):
                rows = np.flatnonzero(wanted)
                if rows.size:
                    actions[rows] = self._ask(self._policies[side], rows, (side,))
        try:
            step(state, actions, self._rules)
        except IllegalActionError as error:
            row = error.row or 0
            who = "B" if state.player[row] != self._seat_a[row] else "A"
            error.add_note(
                f"agent {who} in game {self._games[row]} (seed {self._seed}), deal "
                f"{state.deal_number[row]}, step {state.step_count[row]}"
            )
            raise

    def _ask(self, policy: Policy, rows: Rows, sides: tuple[int, ...]) -> NDArray[np.int16]:
        state = self._state
        asked = state if len(rows) == len(state) else state.select(rows)
        view = make_view(asked, self._rules)
        rng = agent_random(self._seed, self._games, state, rows)
        start = perf_counter()
        actions = policy.act(view, rng)
        took = perf_counter() - start
        for side in sides:
            self.clock.seconds[side] += took / len(sides)
            mine = len(rows)
            if len(sides) == 2:
                mine = int(((state.player ^ self._seat_a) == side).sum())
            self.clock.decisions[side] += mine
        return actions

    def _book(self) -> Table:
        """Count deals that are over, deal on, start new games; return the games that are over."""
        state = self._state
        rows = np.flatnonzero(state.phase >= Phase.DEAL_OVER)
        if not rows.size:
            return np.zeros(0, dtype=GAME)
        self._tally.add_deals(state, rows, self._seat_a)
        ended = state.phase[rows] == Phase.GAME_OVER
        ended |= state.deal_number[rows] + 1 >= self._max_deals
        next_deals(state, self._rules, rows[~ended])
        rows = rows[ended]
        if not rows.size:
            return np.zeros(0, dtype=GAME)
        finished = self._tally.finish(
            state, rows, self._games[rows], self._first_dealer[rows], self._rules
        )
        self._refill(rows)
        return finished

    def _refill(self, rows: Rows) -> None:
        """Start waiting games in these rows; close up the batch when none is waiting."""
        state = self._state
        new = self._waiting[: len(rows)]
        self._waiting = self._waiting[len(rows) :]
        filled, left = rows[: len(new)], rows[len(new) :]
        if filled.size:
            self._games[filled] = new
            self._seat_a[filled] = new % 2
            restart(state, filled, np.uint64(self._seed), deck_numbers(new), self._rules)
            self._first_dealer[filled] = state.dealer[filled]
        if left.size:
            keep = np.ones(len(state), dtype=np.bool_)
            keep[left] = False
            rows = np.flatnonzero(keep)
            self._state = state.select(rows)
            self._games, self._seat_a = self._games[rows], self._seat_a[rows]
            self._first_dealer = self._first_dealer[rows]
            self._tally.select(rows)
