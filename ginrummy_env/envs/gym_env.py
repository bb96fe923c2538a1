"""Gymnasium: one learner against a policy.

Version history of ``ginrummy_env/GinRummy``:

- v0: the first.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.view import View
from ginrummy_env.envs.episodes import action_number
from ginrummy_env.envs.learner_games import LearnerGames
from ginrummy_env.envs.observing import ActionSpace, Seen, row_of
from ginrummy_env.envs.opponents import OpponentPool, PolicyLike, refuse_shadowed_opponent
from ginrummy_env.envs.options import (
    RESET_OPTIONS,
    LearnerKeywords,
    read_options,
    reset_options,
)
from ginrummy_env.envs.rendering import RENDER_FPS, RENDER_MODES, Screen
from ginrummy_env.envs.starts import read_start
from ginrummy_env.policy import Policy

_ROW = np.zeros(1, dtype=np.intp)


class GinRummyEnv(gymnasium.Env[Any, np.int64]):
    """Gin rummy for one learner; a policy plays the other seat.

    A step is a decision of the learner. What the opponent's answer brings is paid in the same step.
    Each ``info`` has ``"action_mask"`` (int8[108]), ``"seat"`` (the learner's player number) and
    ``"deals"``, a list of the deals that have ended since the last decision (see
    `deal_infos.RESULT_KEYS`). ``"skipped"`` lists, in the first info of an episode, the deals of
    episodes that the opponent ended before the learner's first decision.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(
        self, opponent: PolicyLike | OpponentPool = "random", **options: Unpack[LearnerKeywords]
    ) -> None:
        """Make the environment; ``reset`` deals.

        Args:
            opponent: a policy, its name, such as "simple", a function ``(view, rng) -> actions``,
                or an `opponents.OpponentPool`, from which one is drawn for each episode.
            options: see `options.LearnerKeywords` and `options.EpisodeOptions`.
        """
        episodes, others = read_options(options, LearnerKeywords)
        self.games = LearnerGames(
            1,
            episodes,
            opponent=opponent,
            seat=others["seat"],
            illegal_action=others["illegal_action"],
        )
        self.render_mode = others["render_mode"]
        self._screen = Screen(self.render_mode, others["open_cards"])
        self.observation_space = self.games.observer.space()
        self.action_space = ActionSpace(NUM_ACTIONS)

    @property
    def rules(self) -> Rules:
        """The settings of the game."""
        return self.games.episodes.options.rules

    @property
    def seat(self) -> int:
        """The learner's player number in this episode."""
        return int(self.games.seats[0])

    @property
    def opponent(self) -> Policy:
        """The policy in the other seat. Set it with `set_opponent`, which wrappers pass on."""
        return self.games.others.policies[self.games.others.assignment[0]]

    @opponent.setter
    def opponent(self, policy: PolicyLike | OpponentPool) -> None:
        self.set_opponent(policy)

    def set_opponent(self, policy: PolicyLike | OpponentPool) -> None:
        """Let the learner play against another policy from the opponent's next decision on.

        From a pool one is drawn for each episode, from the next one on.

        Through wrappers: ``env.get_wrapper_attr("set_opponent")(policy)``; in Gymnasium's vector
        environments ``envs.call("set_opponent", policy)``; in those of Stable-Baselines3
        ``envs.env_method("set_opponent", policy)``.

        Raises:
            ValueError: not a policy, or an unknown name; says which there are.
        """
        self.games.set_opponent(policy)

    def provenance(self) -> dict[str, int]:
        """Return seed, game number and deal number, which name the deck in play.

        For the environment's owner, to replay a game; see `Episodes.provenance`.
        """
        return {name: int(each[0]) for name, each in self.games.episodes.provenance().items()}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Start an episode and return the first observation and info.

        Args:
            seed: begins a stream of games: the same seed gives the same games, seats and opponent's
                chances. Without one the next game of the stream is dealt.
            options: ``{"deck": cards in dealing order, "dealer": 0 or 1, "start": {"scores":
                [80, 90], ...}}``, see `starts.read_start`.

        Raises:
            ValueError: a bad seed, an unknown option, or a bad value of one.
            OpponentError: the opponent's policy failed; reset again.
        """
        refuse_shadowed_opponent(self)
        episodes = self.games.episodes
        start = read_start(reset_options(options, *RESET_OPTIONS), 1, episodes.options)
        super().reset(seed=None if seed is None else require_seed(seed))
        with episodes.whole():
            episodes.reseed(seed, _ROW, lambda: self.np_random_seed)
            self.games.begin(_ROW, start)
            seen = row_of(self.games.observations(), 0), self._info()
        if self.render_mode == "human":
            self.render()
        return seen

    def step(self, action: int | np.integer[Any]) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Take the learner's action, let the opponent answer, and return the result.

        Raises:
            IllegalActionError: with illegal_action="raise"; nothing has changed.
            ValueError: not one whole number; nothing has changed.
            OpponentError: the opponent's policy failed; call ``reset``.
            gymnasium.error.ResetNeeded: the episode is over, not begun, or its last step was
                broken off.
        """
        refuse_shadowed_opponent(self)
        self.games.episodes.require_ready()
        if self.games.state.over[0]:
            raise ResetNeeded("the episode is over: call reset()")
        actions = self.games.numbers([action_number(action)])
        with self.games.episodes.whole():
            step = self.games.act(actions)
            info = self._info(step.deals.get(0))
            if step.illegal:
                info["illegal_action"] = step.illegal[0]
            if step.forfeits:
                info["forfeit"] = step.forfeits[0]
            observation = row_of(self.games.observations(), 0)
        if self.render_mode == "human":
            self.render()
        paid, terminated, truncated = step.rewards[0], step.terminated[0], step.truncated[0]
        return observation, float(paid), bool(terminated), bool(truncated), info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learner's legal actions, [108] bool, as sb3-contrib asks for them."""
        self.games.episodes.require_ready()
        return self.games.masks[0].copy()

    def view(self) -> View:
        """Return the learner's view, one row: what policies are given."""
        self.games.episodes.require_ready()
        return self.games.views()

    def render(self) -> Any:
        """Return the learner's position as text or pixels, or show it in a window."""
        return self._screen.show(self.games.state, self.rules, 0, self.seat)

    def close(self) -> None:
        """Close the window, if there is one, and end the opponents' programs."""
        self._screen.close()
        self.games.close()

    def _info(self, deals: Sequence[Any] | None = None) -> dict[str, Any]:
        info: dict[str, Any] = {}
        if self.games.observer.mask_in_info:
            info["action_mask"] = self.games.masks[0].astype(self.games.observer.mask_dtype)
        info["seat"] = self.seat
        if self.games.episodes.options.privileged:
            info["state"] = self.games.hidden()[0]
        if self.games.episodes.options.report_deals:
            for name, some in (("deals", deals), ("skipped", self.games.skipped_deals.get(0))):
                info[name] = [deal.to_dict() for deal in some or ()]
        return info
