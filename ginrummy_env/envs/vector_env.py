"""Gymnasium's VectorEnv: the batch itself, thousands of games in one process."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.types import Rows
from ginrummy_env.envs.episodes import is_list
from ginrummy_env.envs.learner_games import Deals, LearnerGames, LearnerStep
from ginrummy_env.envs.observing import Seen, first_rows, row_of
from ginrummy_env.envs.opponents import (
    OpponentPool,
    Opponents,
    PolicyLike,
    refuse_shadowed_opponent,
)
from ginrummy_env.envs.options import (
    RESET_OPTIONS,
    LearnerKeywords,
    read_options,
    reset_options,
)
from ginrummy_env.envs.rendering import RENDER_FPS, RENDER_MODES, Screen
from ginrummy_env.envs.starts import read_start
from ginrummy_env.policy import Policy

Infos = dict[str, Any]


class LearnerBatch:
    """What the vector environments of every library have in common.

    Attributes:
        games: the games of the learners.
    """

    games: LearnerGames

    @property
    def rules(self) -> Rules:
        """The settings of the games."""
        return self.games.episodes.options.rules

    @property
    def opponent(self) -> Policy | list[Policy]:
        """The policy in the other seats, or one per row where there are several."""
        others = self.games.others
        if len(others.policies) == 1:
            return others.policies[0]
        return [others.policies[number] for number in others.assignment]

    @opponent.setter
    def opponent(self, policy: Opponents) -> None:
        self.set_opponents(policy)

    def set_opponent(self, policy: PolicyLike | OpponentPool) -> None:
        """Let all learners play against another policy from the opponents' next decision on.

        Raises:
            ValueError: not a policy, or an unknown name; says which there are.
        """
        self.games.set_opponent(policy)

    def set_opponents(self, opponent: Opponents, assignment: ArrayLike | None = None) -> None:
        """Let the learners play against other policies; see `opponents.OtherSeats.put`."""
        self.games.set_opponent(opponent, assignment)

    def provenance(self) -> dict[str, NDArray[Any]]:
        """Return seeds, game numbers and deal numbers, [N] each, which name the decks in play.

        For the environment's owner, to replay a game; see `Episodes.provenance`.
        """
        return self.games.episodes.provenance()


class GinRummyVectorEnv(LearnerBatch, VectorEnv[Any, NDArray[np.integer], NDArray[Any]]):
    """N games of gin rummy, a learner in each; policies play the other seats.

    ``infos["action_mask"]`` is int8[N, 108] and fits the observations that are returned with it;
    ``infos["seat"]`` the learners' player numbers; ``infos["deals"]`` N lists of the deals that
    have ended (`deal_infos.DealResult`); ``infos["skipped"]`` the same of episodes that opponents
    ended before the learner's first decision. With SAME_STEP the last observation and info of an
    episode are in ``infos["final_obs"]`` and ``infos["final_info"]``.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Opponents = "random",
        *,
        assignment: ArrayLike | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        """Make the environment; ``reset`` deals.

        Args:
            num_envs: N.
            opponent: a policy, its name or a function ``(view, rng) -> actions``; a list of these;
                or an `opponents.OpponentPool`, from which one is drawn for each episode.
            assignment: [N] which of the list plays in each row; the list in turn if None.
            autoreset_mode: NEXT_STEP (Gymnasium's default), SAME_STEP or DISABLED.
            options: see `options.LearnerKeywords` and `options.EpisodeOptions`.
        """
        episodes, others = read_options(options, LearnerKeywords)
        self.games = LearnerGames(
            num_envs,
            episodes,
            opponent=opponent,
            assignment=assignment,
            seat=others["seat"],
            illegal_action=others["illegal_action"],
        )
        self.num_envs = len(self.games)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = others["render_mode"]
        self._screen = Screen(self.render_mode, others["open_cards"])
        self.single_observation_space = self.games.observer.space()
        self.single_action_space = spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._over = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Seen, Infos]:
        """Start episodes in all rows, or in some.

        Args:
            seed: a number begins N streams of games of their own, none of which any other seed
                has; a list begins in each row the stream that the single environment has with that
                seed (None: the row's next game). Without one each row's next game is dealt.
            options: ``{"reset_mask": [N] bool}``: only these rows are reset, the others are left as
                they are; ``{"deck": cards in dealing order, or one deck per row; "dealer": 0 or 1,
                or [K]; "start": {"scores": [80, 90], ...}}`` for the rows that are reset, see
                `starts.read_start`. Each may be missing.

        Raises:
            TypeError, ValueError: a bad mask, seed or list of seeds, an unknown option, or a bad
                value of one.
            OpponentError: an opponent's policy failed; reset again.
        """
        refuse_shadowed_opponent(self)
        given = reset_options(options, *RESET_OPTIONS, "reset_mask")
        rows = self._rows_of(given.get("reset_mask"))
        episodes = self.games.episodes
        start = read_start(given, len(rows), episodes.options)
        if seed is not None and not is_list(seed):
            super().reset(seed=require_seed(seed))
        with episodes.whole(rows):
            episodes.reseed(seed, rows, self._first_seed)
            self._over[rows] = False
            self.games.begin(rows, start)
            return self.games.observations(), self._infos({})

    def step(
        self, actions: ArrayLike
    ) -> tuple[Seen, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Take an action in every row, let the opponents answer, and return the result.

        With NEXT_STEP, a row whose episode ended in the last step is reset: its action is not
        looked at, its reward is 0.

        Raises:
            IllegalActionError: with illegal_action="raise"; nothing has changed.
            ValueError: actions of a wrong shape or type; nothing has changed.
            OpponentError: an opponent's policy failed; call ``reset``.
            gymnasium.error.ResetNeeded: a row has not been dealt, or the last step was broken off;
                with DISABLED also a row whose episode is over.
        """
        refuse_shadowed_opponent(self)
        self.games.episodes.require_ready()
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            row = int(self._over.nonzero()[0][0])
            raise ResetNeeded(
                f"row {row}: the episode is over: reset it (options={{'reset_mask': ...}})"
            )

        numbers = self.games.numbers(actions)
        with self.games.episodes.whole():
            return self._step(numbers)

    def _step(
        self, actions: NDArray[np.integer]
    ) -> tuple[Seen, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        waiting = self._over.nonzero()[0]  # only with NEXT_STEP is there any
        step = self.games.act(actions)
        deals = step.deals
        if waiting.size:
            self.games.begin(waiting)
        self._over = step.terminated | step.truncated
        ended = self._over.nonzero()[0]
        infos: Infos = {}
        ends = None
        if self.autoreset_mode == AutoresetMode.SAME_STEP and ended.size:
            ends = self.games.ends(ended)
            self._add_finals(infos, step)
            self.games.begin(ended)
            self._over = np.zeros(self.num_envs, dtype=np.bool_)
            over = set(ended.tolist())
            deals = {row: some for row, some in deals.items() if row not in over}
        infos |= self._infos(deals)
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            self._add(infos, "illegal_action", step.illegal)
            self._add(infos, "forfeit", step.forfeits)
        seen = self.games.observations(ends)
        if ends is not None:
            final_obs = infos["final_obs"]
            for place, row in enumerate(ended.tolist(), self.num_envs):
                final_obs[row] = row_of(seen, place)
            seen = first_rows(seen, self.num_envs)
        return seen, step.rewards, step.terminated, step.truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learners' legal actions, [N, 108] bool, a new array."""
        self.games.episodes.require_ready()
        return self.games.masks.copy()

    def render(self) -> tuple[Any, ...] | None:
        """Return the positions as text or pixels, one per row; or show the first in a window."""
        rows = range(1 if self.render_mode == "human" else self.num_envs)
        seats = self.games.seats
        shown = [
            self._screen.show(self.games.state, self.rules, row, int(seats[row])) for row in rows
        ]
        return None if self.render_mode in ("human", None) else tuple(shown)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window, if there is one, and end the opponents' programs."""
        if hasattr(self, "_screen"):  # Gymnasium closes what could not even be made
            self._screen.close()
            self.games.close()

    def _rows_of(self, reset_mask: Any) -> Rows:
        if reset_mask is None:
            return np.arange(self.num_envs)
        if not isinstance(reset_mask, np.ndarray) or reset_mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask']={reset_mask!r}: an array of bool is needed")
        if reset_mask.shape != (self.num_envs,) or not reset_mask.any():
            raise ValueError(
                f"options['reset_mask'] of shape {reset_mask.shape}: shape ({self.num_envs},) and "
                "at least one True are needed"
            )
        return reset_mask.nonzero()[0]

    def _first_seed(self) -> int:
        """Return a seed by chance; Gymnasium draws it and shows it in ``np_random_seed``."""
        return int(self.np_random_seed or 0)

    def _infos(self, deals: Deals) -> Infos:
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        infos: Infos = {}
        if self.games.observer.mask_in_info:
            masks = self.games.masks.astype(self.games.observer.mask_dtype)
            infos |= {"action_mask": masks, "_action_mask": everywhere}
        infos |= {"seat": self.games.seats.copy(), "_seat": everywhere.copy()}
        if self.games.episodes.options.privileged:
            infos |= {"state": self.games.hidden(), "_state": everywhere.copy()}
        self._add_deals(infos, deals, self.games.skipped_deals, everywhere)
        return infos

    def _add_deals(
        self, infos: Infos, deals: Deals, skipped: Deals, rows: NDArray[np.bool_]
    ) -> None:
        """Add lists of deals in these rows, empty ones where there are none."""
        if self.games.episodes.options.report_deals:
            places = rows.nonzero()[0].tolist()
            for name, some in (("deals", deals), ("skipped", skipped)):
                lists = np.full(self.num_envs, None, dtype=object)
                for row in places:
                    lists[row] = some[row] if row in some else []
                infos[name], infos[f"_{name}"] = lists, rows.copy()

    def _add(self, infos: Infos, key: str, values: Mapping[int, Any]) -> None:
        """Add what some rows have, as Gymnasium does it: N objects, and which rows have one."""
        if values:
            values_by_row = np.full(self.num_envs, None, dtype=object)
            some = np.zeros(self.num_envs, dtype=np.bool_)
            for row, value in values.items():
                values_by_row[row] = value
                some[row] = True
            infos[key], infos[f"_{key}"] = values_by_row, some

    def _add_finals(self, infos: Infos, step: LearnerStep) -> None:
        """Add the last info of the episodes that have ended, and room for their observations."""
        some = self._over.copy()
        final_obs = np.full(self.num_envs, None, dtype=object)
        final: Infos = {}
        if self.games.observer.mask_in_info:
            masks = np.zeros((self.num_envs, NUM_ACTIONS), self.games.observer.mask_dtype)
            final |= {"action_mask": masks, "_action_mask": some.copy()}
        seats = np.where(some, self.games.seats, 0).astype(np.int8)
        final |= {"seat": seats, "_seat": some.copy()}
        if self.games.episodes.options.privileged:
            hidden = np.where(some[:, None], self.games.hidden(), np.float32(0))
            final |= {"state": hidden, "_state": some.copy()}
        self._add_deals(final, step.deals, {}, some)
        self._add(final, "illegal_action", step.illegal)
        self._add(final, "forfeit", step.forfeits)
        infos |= {"final_obs": final_obs, "_final_obs": some}
        infos |= {"final_info": final, "_final_info": some.copy()}
