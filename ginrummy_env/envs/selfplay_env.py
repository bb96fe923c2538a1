"""Two seats, one batch: N games in which both players learn.

In each row the player to move is asked, 0 or 1, so every decision of a game is one
that can be learned from. `player_steps` and `gae` turn what was collected into what each player's
own line of decisions needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.legal import action_masks, require_actions
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.types import Flags
from ginrummy_env.core.view import View, make_view
from ginrummy_env.envs.episodes import Episodes
from ginrummy_env.envs.observing import Observer, Seen, privileged_state
from ginrummy_env.envs.options import (
    RESET_OPTIONS,
    EpisodeKeywords,
    read_options,
    reset_options,
)
from ginrummy_env.envs.shaping import DeadwoodShaping
from ginrummy_env.envs.starts import read_start

Infos = dict[str, Any]


class GinRummySelfPlayEnv:
    """N games of gin rummy; the player to move in each is asked for an action.

    A deal or game that ends is followed by the next one in the same step, so every row always
    waits for a decision. What is returned belongs to the player to move, ``infos["seat"]``.

    Attributes:
        num_envs: N.
        observation_size: numbers in an observation; see `core.observation.layout`.
        num_actions: 108.
    """

    def __init__(
        self,
        num_envs: int = 1,
        **options: Unpack[EpisodeKeywords],
    ) -> None:
        """Make the environment; `reset` deals.

        Args:
            num_envs: N.
            options: see `options.EpisodeOptions`.

        Raises:
            ValueError: a value that an option does not allow.
        """
        episodes, _ = read_options(options, EpisodeKeywords)
        self._games = Episodes(num_envs, episodes)
        self._observer = Observer(episodes, "info")
        self._shaping = DeadwoodShaping(len(self._games), episodes.shaping)
        self.num_envs = len(self._games)
        self.num_actions = NUM_ACTIONS
        self.observation_size = self._observer.features.size

    @property
    def rules(self) -> Rules:
        """The settings of the games."""
        return self._games.options.rules

    @property
    def state(self) -> BatchState:
        """The games with all that is hidden in them, for critics and labels. Only to be read."""
        return self._games.state

    @property
    def seats(self) -> NDArray[np.int8]:
        """The players to move, [N] int8, a new array."""
        return self._games.state.player.copy()

    def provenance(self) -> dict[str, NDArray[Any]]:
        """Return seeds, game numbers and deal numbers, [N] each, which name the decks in play.

        For the environment's owner, to replay a game; see `Episodes.provenance`.
        """
        return self._games.provenance()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Seen, Infos]:
        """Start the next episode in every row.

        Args:
            seed: begins new streams of games: with a number, row i has the games of row i of the
                vector environment with that seed; with N numbers, those of the single environment
                with its own. Without one each row's next game is dealt; the first streams are drawn
                by chance.
            options: ``{"deck": cards in dealing order, or [N, 52]; "dealer": 0 or 1, or [N];
                "start": {"scores": [80, 90], ...}}``, see `starts.read_start`.

        Returns:
            (observations [N, size] float32, infos); see `step`.

        Raises:
            ValueError: a bad seed, another number of seeds than N, an unknown option, or a bad
                value of one.
        """
        rows = np.arange(self.num_envs)
        given = reset_options(options, *RESET_OPTIONS)
        start = read_start(given, self.num_envs, self._games.options)
        with self._games.whole():
            self._games.reseed(seed, rows)
            self._games.start(rows, start)
            self._shaping.begin(self.state, rows)
            return self._observe(self._infos())

    def step(self, actions: ArrayLike) -> tuple[Seen, NDArray[np.float64], Flags, Flags, Infos]:
        """Take the action of the player to move in every row.

        Args:
            actions: [N] integers, 0..107.

        Returns:
            (observations [N, size] float32 of the players now to move;
            rewards [N, 2] float64, paid to players 0 and 1 by this step;
            deals_over [N] bool, where a deal has ended, the next one being dealt already;
            games_over [N] bool, where the episode has ended with it, be it a game or a deal;
            infos: ``"action_mask"`` [N, 108] int8 and ``"seat"`` [N] int8 of the players now to
            move; ``"truncated"`` [N] bool, where ``max_deals`` cut an episode off; ``"deals"`` [N]
            lists: the result of the deal that has ended, or nothing).

        Raises:
            IllegalActionError: an action that is not legal in its row; nothing has changed.
            ValueError: actions of a wrong shape or type; nothing has changed.
            gymnasium.error.ResetNeeded: nothing has been dealt, or the last step was broken off.
        """
        self._games.require_ready()
        numbers = require_actions(actions, self.num_envs)
        with self._games.whole():
            return self._step(numbers)

    def _step(
        self, actions: NDArray[np.int16]
    ) -> tuple[Seen, NDArray[np.float64], Flags, Flags, Infos]:
        rewards = np.zeros((self.num_envs, 2))
        deals_over = np.zeros(self.num_envs, dtype=np.bool_)
        games_over = np.zeros(self.num_envs, dtype=np.bool_)
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        infos: Infos = self._infos() | {"truncated": truncated}
        ended = self._games.step(actions)
        if ended is not None:
            rows = ended.rows
            rewards[rows] = ended.rewards
            deals_over[rows] = True
            truncated[rows] = ended.truncated
            games_over[rows] = ended.terminated | ended.truncated
            if self._games.options.report_deals:
                for row, result in zip(rows.tolist(), ended.results(), strict=True):
                    infos["deals"][row] = [result]
        if self._shaping.weight:
            rewards += self._shaping.pay(self.state)
        if games_over.any():
            begun = np.flatnonzero(games_over)
            self._games.start(begun)
            self._shaping.begin(self.state, begun)
        observations, infos = self._observe(infos)
        return observations, rewards, deals_over, games_over, infos

    def views(self, rows: ArrayLike | None = None) -> View:
        """Return what the players to move see, as policies take it, in all rows or in some."""
        self._games.require_ready()
        state = self.state if rows is None else self.state.select(rows)
        return make_view(state, self.rules, state.player)

    def _infos(self) -> Infos:
        """Return infos that report no deal: a list of its own in every row."""
        if not self._games.options.report_deals:
            return {}
        deals = np.empty(self.num_envs, dtype=object)
        for row in range(self.num_envs):
            deals[row] = []
        return {"deals": deals}

    def _observe(self, infos: Infos) -> tuple[Seen, Infos]:
        state, rules = self.state, self.rules
        masks = action_masks(state, rules)
        if self._observer.mask_in_info:
            infos["action_mask"] = masks.view(self._observer.mask_dtype)
        infos["seat"] = self.seats
        if self._games.options.privileged:
            infos["state"] = privileged_state(state, state.player)
        return self._observer.observe(state, rules, state.player, masks), infos


@dataclass(frozen=True, slots=True)
class PlayerSteps:
    """A rollout of T steps of N games, as the decisions of each player one after another.

    All are [T, N], an entry for each decision.

    Attributes:
        next: the step of the same player's next decision in the same episode, at most T; T is the
            decision that comes right after the rollout. -1 where there is none, or none is known.
        rewards: float64, what that player is paid from the decision on until the next one.
        over: bool, whether the episode ends before the player's next decision.
        known: bool, False where the rollout ends before it is known what follows: the last decision
            of the player who waits when the rollout ends. It is not to be learned from.
    """

    next: NDArray[np.intp]
    rewards: NDArray[np.float64]
    over: Flags
    known: Flags


def player_steps(seats: ArrayLike, rewards: ArrayLike, over: ArrayLike) -> PlayerSteps:
    """Return a rollout as the decisions of each player.

    Args:
        seats: [T + 1, N] who decided in each step, and who is to decide after the last.
        rewards: [T, N, 2] what each step paid players 0 and 1.
        over: [T, N] bool, whether the step ended the episode: ``deals_over`` of the environment if
            each deal is to be answered for by itself, or ``games_over``.

    Raises:
        ValueError: shapes that do not fit each other.
    """
    seats, paid, ends = np.asarray(seats), np.asarray(rewards, np.float64), np.asarray(over)
    steps, games = ends.shape
    if seats.shape != (steps + 1, games) or paid.shape != (steps, games, 2):
        raise ValueError(
            f"seats of shape {seats.shape} and rewards of shape {paid.shape} where "
            f"{(steps + 1, games)} and {(steps, games, 2)} are needed, as over is {ends.shape}"
        )
    rows = np.arange(games)
    # Looking back from the end, by row and player: where the next decision is, what comes until it.
    following = np.full((games, 2), -1, dtype=np.intp)
    following[rows, seats[steps]] = steps
    coming = np.zeros((games, 2))
    ending = np.zeros((games, 2), dtype=np.bool_)
    result = PlayerSteps(
        next=np.empty((steps, games), dtype=np.intp),
        rewards=np.empty((steps, games)),
        over=np.empty((steps, games), dtype=np.bool_),
        known=np.empty((steps, games), dtype=np.bool_),
    )
    for step in reversed(range(steps)):
        ended = ends[step]
        following[ended], coming[ended], ending[ended] = -1, 0.0, True
        coming += paid[step]
        place = (rows, seats[step])
        result.next[step], result.rewards[step] = following[place], coming[place]
        result.over[step] = ending[place]
        result.known[step] = ending[place] | (following[place] >= 0)
        following[place], coming[place], ending[place] = step, 0.0, False
    return result


def gae(
    steps: PlayerSteps, values: ArrayLike, *, gamma: float = 1.0, gae_lambda: float = 0.95
) -> NDArray[np.float64]:
    """Return the advantage of each decision by generalised advantage estimation.

    Args:
        steps: of `player_steps`.
        values: [T + 1, N] the value of each decision's position to the player who decided, and that
            of the position after the rollout to the player to move in it.
        gamma: what is left of a reward one decision of the same player earlier.
        gae_lambda: 0: trust the value of the next decision; 1: sum up the rewards.

    Returns:
        [T, N] float64; 0 where what follows is not known. With ``values[:-1]`` added these are the
        returns that values are fitted to.

    Source: Schulman et al., High-dimensional continuous control using generalized advantage
    estimation, 2016.
    """
    worth = np.asarray(values, np.float64)
    count, games = steps.next.shape
    advantages = np.zeros((count + 1, games))
    rows = np.arange(games)
    for step in reversed(range(count)):
        place, follows = steps.next[step], steps.next[step] >= 0
        ahead = worth[place, rows] + gae_lambda * advantages[place, rows]
        target = steps.rewards[step] + gamma * np.where(follows, ahead, 0.0)
        advantages[step] = np.where(steps.known[step], target - worth[step], 0.0)
    return advantages[:-1]
