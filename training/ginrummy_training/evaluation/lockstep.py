"""Many games at once between two agents, each game as if it were played alone.

Game g of a match has the decks of pair g // 2; agent A sits at seat g % 2. So the two games of a
pair are the same cards with the seats swapped. A game depends on its number only: decks come
from (seed, pair, deal), an agent's random numbers from (seed, game, deal, step). The batch around
a game, and the process it is played in, change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from logging import getLogger
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.external.own_melds import settle_again
from ginrummy_env.core.actions import IllegalActionError
from ginrummy_env.core.chance import Purpose, RowRandom, keys, policy_keys
from ginrummy_env.core.game import new_games, next_deals, restart
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY, BatchState, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.types import Int8, Rows
from ginrummy_env.core.view import View, make_view
from ginrummy_env.policy import Forfeit, MeldingPolicy, Melds, Policy, SeatPolicy, new_seats
from ginrummy_env.records.recorder import Recorder
from ginrummy_training.evaluation.game_table import Table, Tally

BATCH = 4096
"""Games played at once, unless another number is asked for."""


@dataclass(slots=True)
class Clock:
    """Time spent deciding, by match and agent."""

    seconds: NDArray[np.float64]  # [M, 2]
    decisions: NDArray[np.int64]  # [M, 2]

    @classmethod
    def of(cls, matches: int) -> "Clock":
        """Return a clock that has not run."""
        return cls(np.zeros((matches, 2)), np.zeros((matches, 2), dtype=np.int64))

    def add(self, other: "Clock") -> None:
        """Add the time of another clock."""
        self.seconds += other.seconds
        self.decisions += other.decisions


@dataclass(frozen=True, slots=True)
class Games:
    """Games to be played, of one match or of several: [G] each."""

    match: NDArray[np.intp]
    """Which match the game belongs to."""
    number: NDArray[np.int64]
    """Of the game in its match."""
    agents: NDArray[np.int8]
    """[G, 2] the policies that A and B are."""

    def __len__(self) -> int:
        """Return G."""
        return len(self.match)

    def select(self, which: slice | NDArray[np.bool_]) -> "Games":
        """Return some of the games."""
        return Games(self.match[which], self.number[which], self.agents[which])


def deck_numbers(games: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the game numbers that `core.game` makes the decks of: the pairs', [N] uint64.

    Those of the environments have one of the two highest bits set (`envs.episodes`), so no
    agent is measured on a deck that it was trained on, whatever the seeds.
    """
    return (games // 2).astype(np.uint64)


def settles_by_own_melds(policy: Policy) -> bool:
    """Return whether deals with this policy are settled by the players' own melds."""
    return isinstance(policy, MeldingPolicy) and policy.own_melds


class Lockstep:
    """Games in the rows of a batch; a row whose game is over takes the next game.

    Games of several matches can be in play together: a policy is asked once a step, for all rows
    in which it is its move, since a call costs as much as hundreds of positions.
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        games: Games,
        rules: Rules,
        *,
        seed: int = 0,
        batch: int = BATCH,
        max_deals: int = 1000,
        recorder: Recorder | None = None,
    ) -> None:
        """Start the first games.

        Args:
            policies: all that play.
            games: in the order in which they start.
            rules: the settings.
            seed: of decks and agents.
            batch: games at once.
            max_deals: a game is stopped after this many deals and has no winner.
            recorder: is given every deal that ends or is forfeited; its keys are the games' places
                in ``games``.
        """
        self._policies, self._games = policies, games
        self._rules, self._seed, self._max_deals = rules, seed, max_deals
        self._recorder = recorder
        self._seats = (games.number % 2).astype(np.int8)  # of A
        self._keys = policy_keys(Purpose.MATCH, np.uint64(seed), games.number)
        self._matches = int(games.match.max(initial=-1)) + 1
        self._remembering = [isinstance(policy, SeatPolicy) for policy in policies]
        self._melding = {
            number: policy
            for number, policy in enumerate(policies)
            if isinstance(policy, MeldingPolicy)
        }
        self._own_melds = np.array([settles_by_own_melds(policy) for policy in policies])
        # By game and player, for policies that remember.
        remembered = len(games) if any(self._remembering) else 0
        self.seat_numbers = new_seats(2 * remembered).reshape(-1, 2)
        rows = min(batch, len(games))
        self._places = np.arange(rows)  # which of the games is in each row
        self._started = rows
        self._state = new_games(np.uint64(seed), self.decks(games.number[:rows]), rules)
        self._tally = Tally(games.number, rules)
        self.clock = Clock.of(self._matches)

    @property
    def running(self) -> int:
        """How many games are in play."""
        return len(self._places)

    @property
    def remembers(self) -> bool:
        """Whether a policy follows games from start to end, as programs outside do."""
        return any(self._remembering)

    def step(self) -> None:
        """Take one action in every game; deal on, and start the next games, where one is over.

        Raises:
            IllegalActionError: an agent's action is not legal; a note names the agent and the game.
        """
        forfeited = self._act()
        state = self._state
        rows = np.flatnonzero(state.phase >= Phase.DEAL_OVER)
        if not rows.size and not forfeited.size:
            return
        if self._own_melds.any():
            rows, lost = self._settle_again(rows)
            forfeited = np.concatenate([forfeited, lost])
        self.deals_over(state, rows, self._places[rows])
        self._report("deals_over", rows)
        ended = state.phase[rows] == Phase.GAME_OVER
        ended |= state.deal_number[rows] + 1 >= self._max_deals
        next_deals(state, self._rules, rows[~ended])
        rows = rows[ended]
        self._tally.note_games(state, rows, self._places[rows])
        rows = np.concatenate([rows, forfeited])
        if rows.size:
            self._report("games_over", rows)
            self._refill(rows)

    def collect(self) -> tuple[NDArray[np.intp], Table, Clock]:
        """Return what has ended since this was last called.

        Returns:
            (matches [K], rows of their tables [K], time spent).
        """
        places, table = self._tally.collect()
        clock, self.clock = self.clock, Clock.of(self._matches)
        return self._games.match[places], table, clock

    def decks(self, games: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the game numbers that the decks of these games come from, [K] uint64."""
        return deck_numbers(games)

    def decide(self, policy: Policy, view: View, rng: RowRandom, places: Rows) -> NDArray[np.int16]:
        """Return what a policy does in K positions; ``places`` [K]: in which of the games."""
        if isinstance(policy, SeatPolicy):
            return policy.act_at(self.seat_numbers[places, view.player], view, rng)
        return policy.act(view, rng)

    def deals_over(self, state: BatchState, rows: Rows, places: Rows) -> None:
        """Note deals that have just ended, in these rows of the batch and places of the games."""
        self._tally.note_deals(state, rows, places)
        if self._recorder is not None:
            self._recorder.add(state, rows, keys=places.tolist())

    def _report(self, event: str, rows: Rows) -> None:
        """Let policies that remember know how the deals or games in these rows ended."""
        for number, remembers in enumerate(self._remembering):
            for side in (0, 1) if remembers else ():
                mine = rows[self._games.agents[self._places[rows], side] == number]
                if mine.size:
                    players = self._seats[self._places[mine]] ^ side
                    view = make_view(self._state.select(mine), self._rules, players)
                    seats = self.seat_numbers[self._places[mine], players]
                    getattr(self._policies[number], event)(seats, view)

    def _act(self) -> Rows:
        """Ask the agents and step; return the rows whose mover forfeits, which are left alone."""
        state, places = self._state, self._places
        side = state.player ^ self._seats[places]
        who = self._games.agents[places, side]
        actions = np.empty(len(state), dtype=np.int16)
        asked = np.flatnonzero(np.bincount(who, minlength=len(self._policies)))
        for number in asked.tolist():
            rows = np.flatnonzero(who == number) if len(asked) > 1 else None
            actions[slice(None) if rows is None else rows] = self._ask(number, rows, side)
        if any(self._remembering) and (forfeited := np.flatnonzero(actions < 0)).size:
            self._note_forfeits(forfeited, state.player[forfeited], actions[forfeited])
            others = np.flatnonzero(actions >= 0)
            part = state.select(others)
            self._step(part, actions[others], others, side)
            state.assign(others, part)
            return forfeited
        self._step(state, actions, np.arange(len(state)), side)
        return np.empty(0, dtype=np.intp)

    def _note_forfeits(self, rows: Rows, players: Int8, kinds: NDArray[np.int16]) -> None:
        places = self._places[rows]
        self._tally.note_forfeits(self._state, rows, places, players, kinds)
        if self._recorder is not None:  # the deal in play is the last of the record
            self._recorder.add(self._state, rows, keys=places.tolist())
        sides = players ^ self._seats[places]
        seats = self.seat_numbers[places, players]
        for place, side, seat in zip(places, sides, seats.tolist(), strict=True):
            policy = self._policies[self._games.agents[place, side]]
            assert isinstance(policy, SeatPolicy)
            getLogger("ginrummy").warning(
                "agent %s forfeits game %d: %s",
                "AB"[side], self._games.number[place], policy.forfeit_reason(seat),
            )  # fmt: skip

    def _settle_again(self, rows: Rows) -> tuple[Rows, Rows]:
        """Settle deals by the players' own melds where one of them has any.

        Returns:
            The rows whose deals are over, and those whose games a player has forfeited.
        """
        agents = self._games.agents[self._places[rows]]
        knocked = self._state.knocker[rows] != NOBODY
        again = rows[knocked & self._own_melds[agents].any(axis=1)]
        if not again.size:
            return rows, again
        shown, lost, players, kinds = settle_again(self._state, again, self._rules, self._lay_down)
        lost_rows = again[lost]
        self._note_forfeits(lost_rows, players, kinds)
        kept = np.delete(again, lost)
        for number, policy in self._melding.items():
            for side in (0, 1):
                places = self._places[kept]
                mine = np.flatnonzero(self._games.agents[places, side] == number)
                if mine.size:
                    players = self._seats[places[mine]] ^ side
                    seats = self.seat_numbers[places[mine], players]
                    policy.laid_down(seats, [shown[at] for at in mine])
        return np.setdiff1d(rows, lost_rows), lost_rows

    def _lay_down(
        self, rows: Rows, players: Int8, knocked: Sequence[Melds] | None
    ) -> Sequence[Melds | Forfeit | None]:
        """Ask players who have melds of their own for them; see `own_melds.LayDown`."""
        answers: list[Melds | Forfeit | None] = [None] * len(rows)
        places = self._places[rows]
        who = self._games.agents[places, players ^ self._seats[places]]
        for number in np.flatnonzero(self._own_melds).tolist():
            mine = np.flatnonzero(who == number)
            if mine.size:
                view = make_view(self._state.select(rows[mine]), self._rules, players[mine])
                seats = self.seat_numbers[places[mine], players[mine]]
                melds = None if knocked is None else [knocked[at] for at in mine.tolist()]
                for at, answer in zip(
                    mine, self._melding[number].lay_down(seats, view, melds), strict=True
                ):
                    answers[at] = answer
        return answers

    def _step(self, state: BatchState, actions: NDArray[np.int16], rows: Rows, side: Int8) -> None:
        """Step games; ``rows`` says which rows of the batch they are, for the error's note."""
        try:
            step(state, actions, self._rules)
        except IllegalActionError as error:
            at = error.row or 0
            row = rows[at]
            error.add_note(
                f"agent {'AB'[side[row]]} in game {self._games.number[self._places[row]]} "
                f"(seed {self._seed}), deal {state.deal_number[at]}, "
                f"step {state.step_count[at]}"
            )
            raise

    def _ask(self, number: int, rows: Rows | None, side: Int8) -> NDArray[np.int16]:
        """Return a policy's actions in the given rows (None: in all)."""
        state = self._state if rows is None else self._state.select(rows)
        places = self._places if rows is None else self._places[rows]
        moments = (state.deal_number.astype(np.int64) << 32) | state.step_count
        rng = RowRandom(keys(self._keys[places], moments))
        view = make_view(state, self._rules)
        start = perf_counter()
        actions = self.decide(self._policies[number], view, rng, places)
        took = perf_counter() - start
        of_side = 2 * self._games.match[places] + (side if rows is None else side[rows])
        count = np.bincount(of_side, minlength=2 * self._matches).reshape(-1, 2)
        self.clock.decisions += count
        self.clock.seconds += took / len(places) * count
        return actions

    def _refill(self, rows: Rows) -> None:
        """Start waiting games in these rows; close up the batch when none is waiting."""
        state = self._state
        new = np.arange(self._started, min(self._started + len(rows), len(self._games)))
        self._started += len(new)
        filled, left = rows[: len(new)], rows[len(new) :]
        if filled.size:
            self._places[filled] = new
            numbers = self.decks(self._games.number[new])
            restart(state, filled, np.uint64(self._seed), numbers, self._rules)
        if left.size:
            keep = np.ones(len(state), dtype=np.bool_)
            keep[left] = False
            self._state = state.select(keep)
            self._places = self._places[keep]
