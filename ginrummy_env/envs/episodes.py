"""Episodes and rewards: what every environment does with N games at once.

An episode is a game to the target score or a single deal. A deal that ends is scored, both players
are paid, and the next one is dealt in the same step, so every step is a decision.
"""

import operator
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import NUM_ACTIONS, IllegalActionError
from ginrummy_env.core.cards import NO_CARD
from ginrummy_env.core.chance import MAX_SEED, FirstGame, require_seed
from ginrummy_env.core.checks import quoted, whole
from ginrummy_env.core.deal import decks as shuffled
from ginrummy_env.core.game import game_winners, restart
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.single_game import quick_legal_step
from ginrummy_env.core.state import NOBODY, BatchState, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.types import Rows
from ginrummy_env.envs.deal_infos import EndedDeals
from ginrummy_env.envs.features import Chances, chances_under
from ginrummy_env.envs.options import EpisodeOptions
from ginrummy_env.envs.starts import Decks, Start, deal_on

POINTS_A_REWARD = 100
"""Points that make a reward of 1 in the modes "points" and "final"."""

_EPISODE_BITS = np.uint64(32)
_FIRST_GAME: dict[str, int] = {"train": FirstGame.TRAIN, "eval": FirstGame.EVAL}
_DEAL_OVER = int(Phase.DEAL_OVER)
_BOTH = np.array([1.0, -1.0])  # what player 0 is paid, to both
_SIGN = np.array([1.0, -1.0, 0.0])  # of player 0, by winner 0, 1 or NOBODY (-1)


def is_list(seed: object) -> TypeGuard[Sequence[int | None]]:
    """Return whether a seed is one for each row, not one for all."""
    return isinstance(seed, Sequence | np.ndarray) and np.ndim(seed) > 0


def action_number(action: object, most: int = NUM_ACTIONS - 1) -> int:
    """Return an action of one game as an int: any whole number, also a 0-d array of one.

    Args:
        action: what was given.
        most: the last action there is, for the error; numbers above it are returned too.

    Raises:
        ValueError: anything else, such as True, None or an array of one number in brackets.
    """
    if not isinstance(action, bool | np.bool_):
        try:
            return operator.index(action)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise ValueError(f"action={quoted(action)}: a whole number from 0 to {most} is needed")


def advance(
    state: BatchState,
    actions: ArrayLike,
    options: EpisodeOptions,
    rows: Rows | None = None,
    decks: dict[int, Decks] | None = None,
) -> EndedDeals | None:
    """Take one action in every row, or in some; where only a deal ends, deal the next one.

    Args:
        state: N games, changed in place. Rows whose episode is over are left alone.
        actions: [K] integers.
        options: what an episode is and what it pays.
        rows: [K] the rows in which an action is taken, none twice; all if None.
        decks: those of next deals that were set up, see `starts.deal_on`.

    Returns:
        The deals that have ended and what they pay; None if none has.

    Raises:
        IllegalActionError: an action is not legal; no row has been changed.
    """
    if len(state) == 1 and np.shape(actions) == (1,):
        if quick_legal_step(state, np.asarray(actions)[0], options.rules):
            return None
    phases = state.phase if rows is None else state.phase[rows]
    playing = phases < _DEAL_OVER
    step(state, actions, options.rules, rows)
    phases = state.phase if rows is None else state.phase[rows]
    ended = (playing & (phases >= _DEAL_OVER)).nonzero()[0]
    if not ended.size:
        return None
    if rows is not None:
        ended = rows[ended]
    final = state.select(ended)
    final.seed[:] = final.game_number[:] = 0  # results go to agents, who could work out decks
    rewards, terminated, truncated = payments(final, options)
    going = ended[~(terminated | truncated)]
    if going.size:
        deal_on(state, options.rules, going, decks or {})
    deals = EndedDeals(
        rows=ended,
        state=final,
        rules=options.rules,
        rewards=rewards,
        terminated=terminated,
        truncated=truncated,
    )
    if options.reward_hook is None:
        return deals
    paid = np.asarray(options.reward_hook(deals), dtype=np.float64)
    if paid.shape != rewards.shape or not np.isfinite(paid).all():
        raise ValueError(
            f"reward_hook returned {quoted(paid)}: finite numbers of shape {rewards.shape} are "
            "needed, what each deal pays players 0 and 1"
        )
    return replace(deals, rewards=paid)


def payments(
    ended: BatchState, options: EpisodeOptions
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what deals that are over pay to players 0 and 1, and which episodes they end.

    Args:
        ended: K games whose deal is over.
        options: what an episode is and what it pays.

    Returns:
        (rewards [K, 2] float64, terminated [K] bool, truncated [K] bool).
    """
    count = len(ended)
    truncated = np.zeros(count, dtype=np.bool_)
    if options.episode == "deal":
        terminated = np.ones(count, dtype=np.bool_)
        winner = ended.winner
    else:
        terminated = ended.phase == Phase.GAME_OVER
        winner = game_winners(ended, options.rules)
        if options.max_deals is not None:
            truncated = ~terminated & (ended.deal_number + 1 >= options.max_deals)
    if options.episode == "deal_of_game":
        terminated, truncated = np.ones_like(terminated), np.zeros_like(truncated)
    if options.reward == "chance":
        paid = chance_changes(ended, chances_under(options.rules))[:, 0]
    elif options.reward == "points":
        paid = _SIGN[ended.winner] * ended.points / POINTS_A_REWARD
    elif options.reward == "win":
        paid = np.where(terminated, _SIGN[winner], 0.0)
    else:
        scores = final_scores(ended.scores, ended.deals_won, options.rules).astype(np.float64)
        paid = np.where(terminated, (scores[:, 0] - scores[:, 1]) / POINTS_A_REWARD, 0.0)
    return paid[:, None] * _BOTH + 0.0, terminated, truncated  # -0.0 + 0.0 is 0.0


def chance_changes(ended: BatchState, chances: Chances) -> NDArray[np.float64]:
    """Return twice what deals that are over have changed in the chances of winning the game.

    Args:
        ended: K games whose deal is over.
        chances: of winning, from scores.

    Returns:
        [K, 2] float64, for players 0 and 1.
    """
    before = ended.scores.copy()
    won = (ended.winner != NOBODY).nonzero()[0]
    before[won, ended.winner[won]] -= ended.points[won]
    return 2 * (chances(ended.scores) - chances(before))[:, None] * _BOTH


class Episodes:
    """N games, an episode in each row, one after another.

    The games of a row form a stream of their own: its seed and its slot (a number that tells apart
    rows of one seed) name it, and its episodes are counted from 0. So a row plays the same games
    whatever the number of rows and whatever happens in the others.

    Attributes:
        options: what an episode is and what it pays.
        state: the games.
        seeds: [N] uint64, of each row's stream.
        slots: [N] uint64, of each row's stream.
        numbers: [N] uint64, of the next episode in its stream.
        ready: [N] bool, which rows can be stepped: those that have been dealt and of which no step
            or reset was broken off.
        decks: by row [D, C], the decks of the game's next deals, where they were set up.
    """

    def __init__(self, num_games: int, options: EpisodeOptions) -> None:
        """Make room for ``num_games`` games; `start` deals them."""
        num_games = whole("num_envs", num_games, 1)
        self.options = options
        self.state = BatchState.empty(num_games, options.rules)
        self.seeds = np.zeros(num_games, dtype=np.uint64)
        self.slots = np.arange(num_games, dtype=np.uint64)
        self.numbers = np.zeros(num_games, dtype=np.uint64)
        self.ready = np.zeros(num_games, dtype=np.bool_)
        self.decks: dict[int, Decks] = {}
        self._failures: dict[int, str] = {}
        self._seeded = False

    def __len__(self) -> int:
        """Return N, the number of rows."""
        return len(self.seeds)

    def seed(self, rows: Rows, seeds: ArrayLike, slots: ArrayLike) -> None:
        """Begin new streams in these rows: the next episode of each is its first.

        Args:
            rows: [K] row numbers.
            seeds: a whole number 0..2**64 - 1, or [K].
            slots: a whole number, or [K].
        """
        self.seeds[rows] = np.asarray(seeds).astype(np.uint64)
        self.slots[rows] = np.asarray(slots).astype(np.uint64)
        self.numbers[rows] = 0
        self.state.phase[rows] = Phase.GAME_OVER  # games that were begun are given up

    def reseed(
        self,
        seed: int | Sequence[int | None] | None,
        rows: Rows,
        fresh: Callable[[], int] | None = None,
    ) -> None:
        """Begin new streams where a reset gives seeds, and in all rows at the first reset.

        Args:
            seed: a number: row i plays stream (seed, i), and no two rows or seeds share a game; a
                list of N: row i plays stream (seed[i], 0), which is row 0 of that seed, or resumes
                its own if seed[i] is None; None: all rows resume their streams.
            rows: [K] the rows that are reset; at the first reset the others are seeded too.
            fresh: draws the seed where none is given at the first reset; from the system if None.

        Raises:
            ValueError: not a seed, or a list of another length.
        """
        everywhere = np.arange(len(self))
        first = not self._seeded
        seeded = everywhere if first else rows
        given: list[int | None] = [None] * len(self)
        if is_list(seed):
            if len(seed) != len(self):
                raise ValueError(f"{len(seed)} seeds, expected num_envs={len(self)}")
            given = [None if each is None else require_seed(each) for each in seed]
        elif seed is not None:
            self.seed(seeded, require_seed(seed), seeded)
            self._seeded = True
            return
        if first and None in given:
            drawn = secrets.randbits(64) if fresh is None else fresh() & MAX_SEED
            self.seed(everywhere, drawn, everywhere)
        for row in seeded.tolist():
            each = given[row]
            if each is not None:
                self.seed(np.array([row]), each, 0)
        self._seeded = True

    def going_on(self, rows: Rows, start: Start | None = None) -> NDArray[np.bool_]:
        """Return in which of these rows `start` deals the next deal of the game in play, [K]."""
        state = self.state
        if self.options.episode != "deal_of_game" or start is not None:
            return np.zeros(len(rows), dtype=np.bool_)
        going = state.phase[rows] == Phase.DEAL_OVER
        if self.options.max_deals is not None:
            going &= state.deal_number[rows] + 1 < self.options.max_deals
        return going

    def start(self, rows: Rows, start: Start | None = None) -> None:
        """Start the next episode of the streams of these rows.

        That is the next deal of a game in rows in which one ended, if episodes are deals of games
        and nothing is set up; else a new game.

        Args:
            rows: [K] row numbers, none twice.
            start: how the games begin; see `starts.read_start`.
        """
        state, rules = self.state, self.options.rules
        going = self.going_on(rows, start)
        if going.any():
            deal_on(state, rules, rows[going], self.decks)
            rows = rows[~going]
        base = np.uint64(_FIRST_GAME[self.options.split])
        games = base | self.slots[rows] << _EPISODE_BITS | self.numbers[rows]
        self.numbers[rows] += np.uint64(1)
        for row in rows.tolist() if self.decks else ():
            self.decks.pop(row, None)
        self._begin(rows, self.seeds[rows], games, start or Start())

    def _begin(
        self,
        rows: Rows,
        seeds: NDArray[np.uint64],
        games: NDArray[np.uint64],
        start: Start,
    ) -> None:
        state, rules = self.state, self.options.rules
        if start.positions is not None:
            state.assign(rows, start.positions)
            state.seed[rows], state.game_number[rows] = seeds, games
            return
        decks = None if start.decks is None else np.stack([each[0] for each in start.decks])
        if start.deal_number is not None and decks is None:
            decks = shuffled(seeds, games, start.deal_number, rules)
        restart(state, rows, seeds, games, rules, dealers=start.dealers, decks=decks)
        for field, values in (
            (state.scores, start.scores),
            (state.deals_won, start.deals_won),
            (state.deal_number, start.deal_number),
        ):
            if values is not None:
                field[rows] = values
        for row, each in zip(rows.tolist(), start.decks or (), strict=False):
            if len(each) > 1:
                self.decks[row] = each[1:]

    def provenance(self, rows: Rows | None = None) -> dict[str, NDArray[Any]]:
        """Return what names the deck of the deal in play in each row.

        For the owner of the environment: an agent could work out every hidden card from it.

        Args:
            rows: [K] row numbers; all if None.

        Returns:
            ``seed`` [K] uint64, ``game_number`` [K] uint64 and ``deal_number`` [K] int32, as
            `core.game.new_games` and `core.deal.decks` take them.
        """
        chosen = slice(None) if rows is None else rows
        names = ("seed", "game_number", "deal_number")
        return {name: getattr(self.state, name)[chosen].copy() for name in names}

    def require_ready(self) -> None:
        """Raise if a row cannot be stepped.

        Raises:
            gymnasium.error.ResetNeeded: a row has not been dealt, or a step or reset of it was
                broken off (says by what).
        """
        if self.ready.all():
            return
        row = int((~self.ready).nonzero()[0][0])
        where = f"row {row}: " if len(self) > 1 else ""
        reason = f" ({self._failures[row]})" if row in self._failures else ""
        if not reason and self.state.deck[row, 0] == NO_CARD:
            raise ResetNeeded(f"{where}nothing has been dealt yet: call reset()")
        raise ResetNeeded(f"{where}the last step or reset was broken off{reason}: call reset()")

    @contextmanager
    def whole(self, rows: Rows | None = None) -> Iterator[None]:
        """Take a step or a reset as a whole: if it is broken off, the rows need a reset.

        An IllegalActionError leaves the rows as they were: it is raised before anything changes.

        Args:
            rows: [K] the rows that the step or reset changes; all if None.
        """
        changing = np.arange(len(self)) if rows is None else rows
        before = self.ready[changing]
        self.ready[changing] = False
        try:
            yield
        except IllegalActionError:
            self.ready[changing] = before
            raise
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            self._failures |= dict.fromkeys(changing.tolist(), reason)
            raise
        for row in changing.tolist() if self._failures else ():
            self._failures.pop(row, None)
        self.ready[changing] = True

    def step(self, actions: ArrayLike) -> EndedDeals | None:
        """Take one action in every row whose episode is not over; see `advance`."""
        return advance(self.state, actions, self.options, decks=self.decks)
