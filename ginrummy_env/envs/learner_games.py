"""One learner a game, policies in the other seats: the loop of all one-learner environments.

`gym_env` is one row of it, `vector_env` and `sb3_vec_env` are many.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import NUM_ACTIONS, IllegalActionError
from ginrummy_env.core.chance import Purpose, bits, further_keys, keys, policy_keys
from ginrummy_env.core.checks import one_of, whole_numbers
from ginrummy_env.core.legal import action_masks, require_actions
from ginrummy_env.core.single_game import quick_mask
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.types import Rows
from ginrummy_env.core.view import View, make_view
from ginrummy_env.envs.deal_infos import DealResult, EndedDeals
from ginrummy_env.envs.episodes import Episodes, advance
from ginrummy_env.envs.observing import Ends, Observer, Seen, privileged_state
from ginrummy_env.envs.opponents import (
    OpponentError,
    Opponents,
    OtherSeats,
    PolicyLike,
)
from ginrummy_env.envs.options import EpisodeOptions, IllegalAction
from ginrummy_env.envs.shaping import DeadwoodShaping
from ginrummy_env.envs.starts import Start

Deals = dict[int, list[DealResult]]


ILLEGAL_REWARD = -1.0
"""What an illegal action costs where it ends the episode, as in PettingZoo's games."""

_ONE_BIT = np.uint64(1)
_DEAL_OVER, _GAME_OVER = int(Phase.DEAL_OVER), int(Phase.GAME_OVER)


@dataclass(frozen=True, slots=True)
class LearnerStep:
    """The result of a step for the learners, the opponents' answers included.

    Attributes:
        rewards: [N] float64.
        terminated, truncated: [N] bool, never both; true only in the step that ends the episode.
        deals: by row, the deals that have ended since the learner's last decision, oldest first.
        illegal: by row, the illegal action that ended the episode, and what was legal, in words.
        forfeits: by row, why the opponent lost the game by a fault; the episode is truncated.
    """

    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    deals: Deals
    illegal: dict[int, str]
    forfeits: dict[int, str]


class LearnerGames:
    """N games; in each a learner is asked for actions and a policy answers.

    The opponents' random numbers are a function of the game and the step in it (`RowRandom`), not
    of a generator's state: a row plays as it would alone, and a copy continues identically.

    Attributes:
        episodes: the games, and what an episode is.
        seats: [N] int8, the learner's player number in each row.
        others: the policies in the other seats.
        observer: makes the learners' observations.
        skipped: [N], episodes that the opponent ended before the learner's first decision. They
            have no step that could report them, so the next one was begun instead.
        skipped_deals: by row, the deals of the episodes that were skipped when the one in play was
            begun; empty after its first step.
    """

    def __init__(
        self,
        num_games: int,
        options: EpisodeOptions,
        *,
        opponent: Opponents = "random",
        assignment: ArrayLike | None = None,
        seat: int | Sequence[int] | NDArray[np.integer] | None = None,
        illegal_action: IllegalAction = "lose",
    ) -> None:
        """Make room for the games; `begin` starts them.

        Args:
            num_games: N.
            options: what an episode is and what it pays.
            opponent, assignment: see `opponents.OtherSeats.put`.
            seat, illegal_action: see `options.LearnerKeywords`.
        """
        one_of("illegal_action", illegal_action, get_args(IllegalAction))
        self.episodes = Episodes(num_games, options)
        self.observer = Observer(options, "info")
        self._shaping = DeadwoodShaping(len(self), options.shaping)
        self.illegal_action: IllegalAction = illegal_action
        self._warned = False
        self.seat = _require_seat(seat, len(self))
        self.others = OtherSeats(len(self), opponent, assignment)
        self.seats = np.zeros(len(self), dtype=np.int8)
        self._game_keys = np.zeros(len(self), dtype=np.uint64)
        self._masks: NDArray[np.bool_] | None = None
        self._no_masks = np.zeros((0, NUM_ACTIONS), dtype=np.bool_)
        self.skipped = np.zeros(len(self), dtype=np.int64)
        self.skipped_deals: Deals = {}
        self._owed = np.zeros(len(self))
        self._owed_deals: Deals = {}
        self._forfeits: dict[int, str] = {}

    def __len__(self) -> int:
        """Return N, the number of games."""
        return len(self.episodes)

    @property
    def state(self) -> BatchState:
        """The games' state. Change it only through this class."""
        return self.episodes.state

    @property
    def masks(self) -> NDArray[np.bool_]:
        """The learners' legal actions, [N, 108] bool; all false where the episode is over.

        Computed when first asked for in a position. Do not write into it.
        """
        if self._masks is None:
            rules = self.episodes.options.rules
            if len(self) == 1:
                self._masks = quick_mask(self.state, rules)[None].view(np.bool_)
            else:
                self._masks = action_masks(self.state, rules)
        return self._masks

    def begin(self, rows: Rows, start: Start | None = None) -> None:
        """Start the next episode in these rows, up to the learner's first decision.

        What deals that end before it pay is paid, and reported, with the first step. An episode
        that ends before it is skipped, and its deals are in ``skipped_deals``; but a deal of a game
        that is not over is paid like others.

        Args:
            rows: [K] row numbers, none twice.
            start: how the games begin; see `starts.read_start`.
        """
        self._start(rows, start)
        self.skipped_deals = {}
        self._owed[rows] = 0.0
        for row in rows.tolist():
            self._owed_deals.pop(row, None)
        waiting = rows
        while waiting.size:
            self._take_seats(waiting)
            self._shaping.begin(self.state, waiting)
            for ended in self._answer(waiting):
                self._pay(ended, self._owed, self._owed_deals)
            waiting = waiting[self.state.over[waiting]]
            if waiting.size:
                self._skip(waiting)
                self._start(waiting)
        self._forfeits = {}
        self._masks = None

    def _start(self, rows: Rows, start: Start | None = None) -> None:
        """Start the next episode in these rows; games that do not continue are left."""
        self._leave(rows[~self.episodes.going_on(rows, start)])
        self.episodes.start(rows, start)

    def set_opponent(self, opponents: Opponents, assignment: ArrayLike | None = None) -> None:
        """Let other policies play from their next decision on; see `opponents.OtherSeats.put`."""
        self.others.put(opponents, assignment, lambda: self._leave(np.arange(len(self))))

    def set_opponent_in(self, rows: Rows, policy: PolicyLike) -> None:
        """Let another policy play in these rows; see `opponents.OtherSeats.put_in`."""
        self.others.put_in(rows, policy, lambda: self._leave(rows))

    def close(self) -> None:
        """Give up the games in play, and end the opponents' programs."""
        self._leave(np.arange(len(self)))
        self.others.close()

    def _leave(self, rows: Rows) -> None:
        """Let opponents that remember know that the games in these rows are over or given up."""
        if self.others.remember and rows.size:
            self.others.leave(rows, self._seen_by_others(self.state.select(rows), rows))

    def _seen_by_others(self, state: BatchState, rows: Rows) -> View:
        """Return what the opponents see of states of these rows."""
        return make_view(state, self.episodes.options.rules, 1 - self.seats[rows])

    def _report(self, ended: EndedDeals) -> None:
        """Report deals that have ended to opponents that remember."""
        if self.others.remember:
            view = self._seen_by_others(ended.state, ended.rows)
            self.others.deals_over(ended.rows, view)
            over = ended.state.phase == _GAME_OVER
            if self.episodes.options.episode != "deal_of_game":
                over |= ended.terminated | ended.truncated
            if over.any():
                self.others.leave(ended.rows[over], view.select(over))

    def _skip(self, rows: Rows) -> None:
        """Give up episodes that ended before the learner's first decision."""
        if self.episodes.options.episode == "deal_of_game":
            rows = rows[self.state.phase[rows] == _GAME_OVER]
        self.skipped[rows] += 1
        self._owed[rows] = 0.0
        for row in rows.tolist():
            self.skipped_deals.setdefault(row, []).extend(self._owed_deals.pop(row, []))

    def numbers(self, actions: ArrayLike) -> NDArray[np.integer]:
        """Return actions as [N] whole numbers of any size, as `act` takes them.

        Raises:
            ValueError: a wrong shape or type.
        """
        asked = np.asarray(actions)
        if asked.shape != (len(self),):
            raise ValueError(
                f"actions of shape {asked.shape}, expected {(len(self),)}: one per game"
            )
        if asked.dtype.kind not in "iu":
            raise ValueError(f"actions are whole numbers, not {asked.dtype}")
        return asked

    def act(self, actions: NDArray[np.integer]) -> LearnerStep:
        """Take the learners' actions and let the opponents answer.

        Call it within `Episodes.whole`, with actions from `numbers`.

        Args:
            actions: [N] integers; not read where the episode is over.

        Raises:
            IllegalActionError: with illegal_action="raise"; no row has been changed.
            OpponentError: an opponent's policy failed; the step is half done.
        """
        state = self.state
        self.skipped_deals = {}
        asked = actions
        if self.illegal_action == "lose":
            asked = np.clip(actions, -1, NUM_ACTIONS)  # numbers that are no action lose too
        chosen = require_actions(asked, len(self))
        live = ~state.over
        illegal: dict[int, str] = {}
        terminated = np.zeros(len(self), dtype=np.bool_)
        truncated = np.zeros(len(self), dtype=np.bool_)
        if self.illegal_action == "lose":
            for row in (live & ~self._legal(chosen)).nonzero()[0].tolist():
                legal = self.masks[row].nonzero()[0].tolist()
                illegal[row] = str(IllegalActionError(None, int(actions[row]), legal))
            self._warn(illegal)
            state.phase[list(illegal)] = _GAME_OVER
        first = self.episodes.step(chosen)
        rewards = np.where(live, self._owed, 0.0)
        deals, self._owed_deals = self._owed_deals, {}
        self._owed[:] = 0.0
        rewards[list(illegal)] += ILLEGAL_REWARD
        terminated[list(illegal)] = True
        ended = [first] if first is not None else []
        for some in ended:
            self._report(some)
        ended += self._answer(live.nonzero()[0])
        for some in ended:
            self._pay(some, rewards, deals)
            terminated[some.rows] |= some.terminated
            truncated[some.rows] |= some.truncated
        forfeits, self._forfeits = self._forfeits, {}
        truncated[list(forfeits)] = True
        self._masks = None
        if self._shaping.weight:
            shaped = self._shaping.pay(self.state)[np.arange(len(self)), self.seats]
            rewards += np.where(live, shaped, 0.0)
        return LearnerStep(rewards, terminated, truncated, deals, illegal, forfeits)

    def views(self, rows: Rows | None = None) -> View:
        """Return what the learners see, in all rows or in some."""
        state = self.state if rows is None else self.state.select(rows)
        seats = self.seats if rows is None else self.seats[rows]
        return make_view(state, self.episodes.options.rules, seats)

    def ends(self, rows: Rows) -> Ends:
        """Return the last positions of the episodes that have ended in these rows."""
        return Ends(self.state.select(rows), self.seats[rows])

    def observations(self, ends: Ends | None = None) -> Seen:
        """Return the learners' observations, new arrays; those of ``ends`` after those of all rows.

        Ends that are observed with all rows cost little; a call of their own, as much as these.
        """
        masks = self.masks if self.observer.mask_in_observation else self._no_masks
        rules = self.episodes.options.rules
        return self.observer.observe(self.state, rules, self.seats, masks, ends)

    def hidden(self) -> NDArray[np.float32]:
        """Return what the learners do not see, [N, STATE_SIZE] float32; see `privileged_state`."""
        return privileged_state(self.state, self.seats)

    def _warn(self, illegal: dict[int, str]) -> None:
        """Warn of the first illegal action, as training without masks would continue for hours."""
        if illegal and not self._warned:
            self._warned = True
            gymnasium.logger.warn(
                f"an illegal action has lost an episode: {next(iter(illegal.values()))}. Choose "
                "among legal actions only: they are flagged in info['action_mask'] and by "
                "action_masks() (Stable-Baselines3: MaskablePPO, and evaluate_policy of "
                "sb3_contrib.common.maskable). There is no second warning; illegal_action='raise' "
                "makes it an error"
            )

    def _legal(self, actions: NDArray[np.int16]) -> NDArray[np.bool_]:
        inside = (actions >= 0) & (actions < self.masks.shape[1])
        return inside & self.masks[np.arange(len(self)), np.where(inside, actions, 0)]

    def _take_seats(self, rows: Rows) -> None:
        state = self.state
        seeds, games = state.seed[rows], state.game_number[rows]
        self.others.draw(rows, seeds, games)
        self._game_keys[rows] = policy_keys(Purpose.OPPONENT, seeds, games)
        if self.seat is not None:
            self.seats[rows] = self.seat[rows]
        else:
            self.seats[rows] = bits(keys(Purpose.SEAT, seeds, games), 1)[:, 0] & _ONE_BIT

    def _pay(self, ended: EndedDeals, rewards: NDArray[np.float64], deals: Deals) -> None:
        """Add what ended deals pay the learners, and the deals themselves."""
        rows = ended.rows
        rewards[rows] += ended.rewards[np.arange(len(rows)), self.seats[rows]]
        for row, result in zip(rows.tolist(), ended.results(), strict=True):
            deals.setdefault(row, []).append(result)

    def _answer(self, rows: Rows) -> list[EndedDeals]:
        """Let the opponents act in these rows until the learner is to move or the episode over."""
        state, options = self.state, self.episodes.options
        found: list[EndedDeals] = []
        rows = self._waiting(rows)
        while rows.size:
            actions = self._opponent_actions(rows)
            lost = self.others.forfeited(rows, actions)
            if lost:
                state.phase[rows[list(lost)]] = _GAME_OVER
                self._forfeits |= {int(rows[place]): reason for place, reason in lost.items()}
            try:
                ended = advance(state, actions, options, rows, self.episodes.decks)
            except IllegalActionError as error:
                row = int(rows[0]) if error.row is None else error.row
                raise OpponentError(self.others.name_in(row), str(error)) from error
            if ended is not None:
                self._report(ended)
                found.append(ended)
            rows = self._waiting(rows)
        return found

    def _waiting(self, rows: Rows) -> Rows:
        """Return those of the rows in which it is the opponent's move."""
        state = self.state
        theirs = state.player[rows] != self.seats[rows]
        return rows[theirs & (state.phase[rows] < _DEAL_OVER)]

    def _opponent_actions(self, rows: Rows) -> NDArray[np.int16]:
        state = self.state
        view = make_view(state, self.episodes.options.rules, rows=rows)
        moments = state.deal_number[rows].astype(np.int64) << 32 | state.step_count[rows]
        return self.others.act(view, rows, further_keys(self._game_keys[rows], moments))


def _require_seat(
    seat: int | Sequence[int] | NDArray[np.integer] | None, count: int
) -> NDArray[np.int8] | None:
    """Return the seats as [count] int8, or None if they are to be drawn."""
    if seat is None:
        return None
    seats = whole_numbers("seat", seat, 0, 1, np.int8)
    if seats.shape not in ((), (count,)):
        raise ValueError(f"seat={seat!r}: one is needed, or {count}, one for each row")
    return np.broadcast_to(seats, (count,))
