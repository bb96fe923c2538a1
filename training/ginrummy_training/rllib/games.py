"""N games for two learners each, the core of RLlib's environments; does not import RLlib."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.learned.inputs import features
from ginrummy_env.core.checks import did_you_mean
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.types import Rows
from ginrummy_env.core.view import make_view
from ginrummy_env.envs.deal_infos import EndedDeals
from ginrummy_env.envs.episodes import Episodes, advance
from ginrummy_env.envs.options import EpisodeOptions
from ginrummy_training.learning.win_chance import WinChance, changes_of

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
        chance: WinChance | None = given["chance"]
        if (given["reward"] == "chance") != (chance is not None):
            raise ValueError(
                "the reward 'chance' needs a chance of winning; no other reward takes one"
            )
        options = EpisodeOptions(
            rules=given["rules"],
            episode=given["episode"],
            reward=given["reward"],
            max_deals=None if given["episode"] == "deal" else given["max_deals"],
        )
        if chance is not None:  # its own, not that of the option
            options = replace(options, reward="points", reward_hook=changes_of(chance))
        self.games = Episodes(count, options)
        self.derived, self.ahead = bool(given["derived"]), bool(given["ahead"])

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

    def begin(self, rows: Rows) -> None:
        """Start an episode in these rows: the next deal of a game that is not over, or a game."""
        self.games.start(rows)

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
        rewards[np.searchsorted(rows, ended.rows)] = ended.rewards
        places = np.flatnonzero(ended.terminated | ended.truncated)
        return rewards, Over(ended.rows[places], ended.terminated[places], ended, places)

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
