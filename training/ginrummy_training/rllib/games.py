"""N games for two learners each, the core of RLlib's environments; does not import RLlib."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.learned.inputs import features
from ginrummy_env.core.checks import did_you_mean, one_of
from ginrummy_env.core.state import NOBODY, BatchState
from ginrummy_env.core.types import Rows
from ginrummy_env.core.view import make_view
from ginrummy_env.envs.deal_infos import EndedDeals
from ginrummy_env.envs.episodes import Episodes, advance
from ginrummy_env.envs.options import EpisodeOptions
from ginrummy_training.learning.win_chance import WinChance

DEFAULTS: dict[str, Any] = {
    "rules": "classic",
    "episode": "deal_of_game",
    "reward": "points",
    "chance": None,
    "max_deals": 200,
    "derived": True,
    "ahead": True,
}
"""Settings of an environment's ``env_config``; `env.GinRummyMultiAgentEnv` documents them."""

Seen = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Observations [K, size] and legal actions [K, 108], 1 and 0."""


@dataclass(frozen=True, slots=True)
class Over:
    """Episodes that have just ended, [E] each."""

    rows: Rows
    terminated: NDArray[np.bool_]
    """False: truncated."""
    deals: EndedDeals
    places: Rows
    """Indices of their last deals in ``deals``."""


class SelfPlayGames:
    """N games, each an endless stream of episodes.

    Attributes:
        games: the games and their streams.
    """

    def __init__(self, count: int, config: dict[str, Any] | None = None) -> None:
        """Make them; `begin` deals.

        Raises:
            ValueError: an unknown setting, or a bad value.
        """
        unknown = set(config or {}) - set(DEFAULTS)
        if unknown:
            name = sorted(unknown)[0]
            raise ValueError(
                f"unknown setting {name!r} of env_config{did_you_mean(name, DEFAULTS)}; the "
                f"settings are {', '.join(DEFAULTS)}"
            )
        given = {**DEFAULTS, **(config or {})}
        self.episode = str(given["episode"])
        paid = given["reward"]
        self.chance: WinChance | None = given["chance"]
        one_of("episode", self.episode, ("deal_of_game", "deal", "game"))
        if (paid == "chance") != (self.chance is not None):
            raise ValueError(
                "the reward 'chance' needs a chance of winning; no other reward takes one"
            )
        if paid == "chance" and self.episode == "deal":
            raise ValueError("reward='chance' needs a game: episode='deal_of_game' or 'game'")
        if paid in ("win", "final") and self.episode == "deal_of_game":
            raise ValueError(f"reward={paid!r} is paid once per game: it needs episode='game'")
        self.games = Episodes(
            count,
            EpisodeOptions(
                rules=given["rules"],
                episode="deal" if self.episode == "deal" else "game",
                reward="points" if paid == "chance" else paid,
                max_deals=None if self.episode == "deal" else given["max_deals"],
            ),
        )
        self.derived, self.ahead = bool(given["derived"]), bool(given["ahead"])
        self._dealt = np.zeros(count, dtype=np.bool_)  # the next deal of a game has been dealt

    def __len__(self) -> int:
        """Return N."""
        return len(self.games)

    @property
    def movers(self) -> NDArray[np.int8]:
        """[N] who is to move."""
        return self.games.state.player

    def seed(self, rows: Rows, seeds: Any, slots: Any) -> None:
        """Start new streams in these rows; see `Episodes.seed`."""
        self.games.seed(rows, seeds, slots)
        self._dealt[rows] = False

    def begin(self, rows: Rows) -> None:
        """Start an episode in these rows: the next deal of a game that is not over, or a game."""
        self.games.start(rows[~self._dealt[rows]])
        self._dealt[rows] = False

    def step(self, rows: Rows, actions: NDArray[np.integer]) -> tuple[NDArray[np.float64], Over]:
        """Take an action in each of these rows.

        Args:
            rows: [K], distinct.
            actions: [K].

        Returns:
            (rewards of players 0 and 1 [K, 2], the episodes that have ended).

        Raises:
            IllegalActionError: an action is not legal; nothing has changed.
        """
        ended = advance(self.games.state, actions, self.games.options, rows)
        rewards = np.zeros((len(rows), 2))
        none = np.zeros(0, dtype=np.intp)
        if ended is None:
            return rewards, Over(none, none.astype(np.bool_), ended, none)  # type: ignore[arg-type]
        paid = ended.rewards if self.chance is None else self._changes(ended.state, self.chance)
        rewards[np.searchsorted(rows, ended.rows)] = paid
        game_over = ended.terminated | ended.truncated
        over = np.ones_like(game_over) if self.episode == "deal_of_game" else game_over
        self._dealt[ended.rows[over]] = ~game_over[over]
        terminated = np.ones_like(over) if self.episode == "deal_of_game" else ended.terminated
        places = np.flatnonzero(over)
        return rewards, Over(ended.rows[over], terminated[over], ended, places)

    def see(self, rows: Rows) -> Seen:
        """Return what the players to move observe in these rows."""
        return self._see(self.games.state.select(rows), None)

    def see_ended(self, over: Over, player: int) -> Seen:
        """Return what a player observes at the end of episodes: no action is legal."""
        return self._see(over.deals.state.select(over.places), player)

    def _see(self, state: BatchState, player: int | None) -> Seen:
        view = make_view(state, self.games.options.rules, player)
        seen = features(view, self.derived, self.ahead)
        return seen, view.action_masks().astype(np.float32)

    def _changes(self, ended: BatchState, chance: WinChance) -> NDArray[np.float64]:
        """Return twice the change in the chance of winning by deals, [D, 2] by player."""
        before = ended.scores.copy()
        won = np.flatnonzero(ended.winner != NOBODY)
        before[won, ended.winner[won]] -= ended.points[won]
        change = 2 * (chance(ended.scores) - chance(before))
        return np.stack([change, -change], axis=1)
