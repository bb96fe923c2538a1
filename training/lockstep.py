"""Many games at once between two agents, each game as if it were played alone.

Game g of a match has the decks of pair g // 2; agent A sits at seat g % 2. So the two games of a
pair are the same cards with the seats swapped. All that a game hangs on is its number: decks come
from (seed, pair, deal), an agent's random numbers from (seed, game, deal, step). The batch around
a game, and the process it is played in, change nothing.
"""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import IllegalActionError
from ginrummy_env.core.cards import Rows
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.game import new_games, next_deals, restart
from ginrummy_env.core.record import Recorder
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy
from training.table import Table, Tally

BATCH = 4096
"""Games played at once, unless another number is asked for."""

_AGENTS = 3  # what a random number is for, part of its key: `core.deal` has 1 and 2


@dataclass(slots=True)
class Clock:
    """Time spent deciding, by agent."""

    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    decisions: list[int] = field(default_factory=lambda: [0, 0])

    def tick(self, side: int, seconds: float, decisions: int) -> None:
        """Add decisions of one agent."""
        self.seconds[side] += seconds
        self.decisions[side] += decisions

    def add(self, other: "Clock") -> None:
        """Add the time of another clock."""
        for side in range(2):
            self.seconds[side] += other.seconds[side]
            self.decisions[side] += other.decisions[side]


def deck_numbers(games: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the game numbers that `core.game` makes the decks of: the pairs', [N] uint64.

    Those of the environments have one of the two highest bits set (`ginrummy_env.episodes`), so no
    agent is measured on a deck that it was trained on, whatever the seeds.
    """
    return (games // 2).astype(np.uint64)


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
        recorder: Recorder | None = None,
    ) -> None:
        """Start the first games.

        Args:
            policies: A and B.
            games: their numbers in the match, in the order in which they start.
            rules: the settings.
            seed: of decks and agents.
            batch: games at once.
            max_deals: a game that has had so many deals ends without a winner.
            recorder: is given every deal that ends, with the number of its game in the match.
        """
        self._recorder = recorder
        self._policies, self._rules, self._seed = policies, rules, seed
        self._max_deals = max_deals
        self._games = games
        self._seats = (games % 2).astype(np.int8)  # of A
        self._keys = keys(_AGENTS, np.uint64(seed), games)
        rows = min(batch, len(games))
        self._places = np.arange(rows)  # which of the games is in each row
        self._started = rows
        self._state = new_games(np.uint64(seed), deck_numbers(games[:rows]), rules)
        self._tally = Tally(games, rules)
        self.clock = Clock()

    @property
    def running(self) -> int:
        """How many games are in play."""
        return len(self._places)

    def step(self) -> None:
        """Take one action in every game; deal on, and start the next games, where one is over.

        Raises:
            IllegalActionError: an agent did what it may not; a note says who and in which game.
        """
        self._act()
        state = self._state
        rows = np.flatnonzero(state.phase >= Phase.DEAL_OVER)
        if not rows.size:
            return
        self._tally.note_deals(state, rows, self._places[rows])
        if self._recorder is not None:
            self._recorder.add(state, rows, keys=self._games[self._places[rows]].tolist())
        ended = state.phase[rows] == Phase.GAME_OVER
        ended |= state.deal_number[rows] + 1 >= self._max_deals
        next_deals(state, self._rules, rows[~ended])
        rows = rows[ended]
        if rows.size:
            self._tally.note_games(state, rows, self._places[rows])
            self._refill(rows)

    def collect(self) -> Table:
        """Return the games that have ended since this was last called."""
        return self._tally.collect()

    def _act(self) -> None:
        """Ask the agents and step."""
        state = self._state
        a, b = self._policies
        of_a = state.player == self._seats[self._places]
        if a is b:
            # One policy plays for both, so it is asked once. Time is shared out by decisions.
            actions, took = self._ask(a, None)
            mine = int(of_a.sum())
            self.clock.tick(0, took * mine / len(state), mine)
            self.clock.tick(1, took * (1 - mine / len(state)), len(state) - mine)
        else:
            actions = np.empty(len(state), dtype=np.int16)
            for side, wanted in enumerate((of_a, ~of_a)):
                rows = np.flatnonzero(wanted)
                if rows.size:
                    actions[rows], took = self._ask(self._policies[side], rows)
                    self.clock.tick(side, took, len(rows))
        try:
            step(state, actions, self._rules)
        except IllegalActionError as error:
            row = error.row or 0
            error.add_note(
                f"agent {'A' if of_a[row] else 'B'} in game {self._games[self._places[row]]} "
                f"(seed {self._seed}), deal {state.deal_number[row]}, "
                f"step {state.step_count[row]}"
            )
            raise

    def _ask(self, policy: Policy, rows: Rows | None) -> tuple[NDArray[np.int16], float]:
        """Return a policy's actions in the given rows (None: in all), and the seconds they took."""
        state = self._state if rows is None else self._state.select(rows)
        row_keys = self._keys[self._places if rows is None else self._places[rows]]
        moments = (state.deal_number.astype(np.int64) << 32) | state.step_count
        rng = RowRandom(keys(row_keys, moments))
        view = make_view(state, self._rules)
        start = perf_counter()
        actions = policy.act(view, rng)
        return actions, perf_counter() - start

    def _refill(self, rows: Rows) -> None:
        """Start waiting games in these rows; close up the batch when none is waiting."""
        state = self._state
        new = np.arange(self._started, min(self._started + len(rows), len(self._games)))
        self._started += len(new)
        filled, left = rows[: len(new)], rows[len(new) :]
        if filled.size:
            self._places[filled] = new
            numbers = deck_numbers(self._games[new])
            restart(state, filled, np.uint64(self._seed), numbers, self._rules)
        if left.size:
            keep = np.ones(len(state), dtype=np.bool_)
            keep[left] = False
            self._state = state.select(keep)
            self._places = self._places[keep]
