"""Stable-Baselines3: a native VecEnv for MaskablePPO, thousands of games in one process.

The only module here that imports stable_baselines3 (the extra ``train``).
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import (
    VecEnvIndices,
    VecEnvObs,
    VecEnvStepReturn,
)

from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.checks import whole
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.view import View
from ginrummy_env.envs.deal_infos import DealResult
from ginrummy_env.envs.learner_games import LearnerGames
from ginrummy_env.envs.observing import first_rows, privileged_state, row_of
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
from ginrummy_env.envs.rendering import Screen
from ginrummy_env.envs.starts import deck_list, read_start
from ginrummy_env.envs.vector_env import LearnerBatch
from ginrummy_env.policy import Policy


class GinRummyVecEnv(LearnerBatch, VecEnv):
    """N games of gin rummy for Stable-Baselines3, a learner in each; policies play the other seats.

    A row whose episode ends is reset in the same step. Its info then has
    ``"terminal_observation"``, ``"TimeLimit.truncated"`` and ``"episode"`` (return r, length l,
    seconds t: what `Monitor` reports, so none is needed around it). ``"deals"`` is a list of the
    deals that have ended since the last step (`deal_infos.DealResult`; do not write into it, rows
    without one share an empty list); in ``reset_infos``,
    ``"skipped"`` those of episodes that the opponent ended before the learner's first decision.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Opponents = "random",
        *,
        assignment: ArrayLike | None = None,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        """Make the environment; the arguments are those of `vector_env.GinRummyVectorEnv`."""
        episodes, others = read_options(options, LearnerKeywords)
        self.games = LearnerGames(
            num_envs,
            episodes,
            opponent=opponent,
            assignment=assignment,
            seat=others["seat"],
            illegal_action=others["illegal_action"],
        )
        self._mode: str | None = others["render_mode"]
        self._screen = Screen(self._mode, others["open_cards"])
        self._seed: int | None = None
        self._actions: NDArray[np.integer] = np.zeros(len(self.games), dtype=np.int64)
        self._rows = [EnvRow(self, number) for number in range(len(self.games))]
        self._returns = np.zeros(len(self.games))
        self._lengths = np.zeros(len(self.games), dtype=np.int64)
        self._began = time.perf_counter()
        super().__init__(
            len(self.games),
            self.games.observer.space(),
            spaces.Discrete(NUM_ACTIONS),
        )

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Begin new streams of games with the next `reset`: row i plays stream i of the seed.

        Unlike seeds that count up by row, these share no game with those of a neighbouring seed.

        Args:
            seed: a whole number 0..2**64 - 1; drawn by chance if None.
        """
        self._seed = secrets.randbits(64) if seed is None else require_seed(seed)
        return [self._seed] * self.num_envs

    def reset(self) -> VecEnvObs:
        """Start an episode in every row and return the first observations.

        `set_options` takes a dict for all rows or one for each: ``{"deck": cards in dealing
        order, "dealer": 0 or 1, "start": {"scores": [80, 90], ...}}``, see `starts.read_start`.

        Raises:
            ValueError: an unknown option, or a bad value of one.
            OpponentError: an opponent's policy failed; reset again.
        """
        refuse_shadowed_opponent(self)
        everywhere = np.arange(self.num_envs)
        episodes = self.games.episodes
        given = _options_of_rows(self._options, self.rules)
        start = read_start(given, self.num_envs, episodes.options)
        with episodes.whole():
            episodes.reseed(self._seed, everywhere)
            self.games.begin(everywhere, start)
            self._returns[:] = 0.0
            self._lengths[:] = 0
            self._began = time.perf_counter()
            for row in everywhere.tolist():
                self._note_reset(row)
            self._seed = None
            self._reset_seeds()
            self._reset_options()
            return self.games.observations()

    def step_async(self, actions: NDArray[np.integer]) -> None:
        """Take note of the actions; `step_wait` plays them."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play the actions and return (observations, rewards, dones, infos).

        Raises:
            IllegalActionError: with illegal_action="raise"; nothing has changed.
            ValueError: actions of a wrong shape or type; nothing has changed.
            OpponentError: an opponent's policy failed; call ``reset``.
            gymnasium.error.ResetNeeded: nothing has been dealt, or the last step was broken off.
        """
        refuse_shadowed_opponent(self)
        self.games.episodes.require_ready()
        actions = self.games.numbers(self._actions)
        with self.games.episodes.whole():
            return self._step(actions)

    def _step(self, actions: NDArray[np.integer]) -> VecEnvStepReturn:
        step = self.games.act(actions)
        self._returns += step.rewards
        self._lengths += 1
        infos: list[dict[str, Any]]
        if self.games.episodes.options.report_deals:
            none: list[DealResult] = []  # one for all rows: thousands keep the collector busy
            infos = [{"deals": none} for _ in range(self.num_envs)]
            for row, deals in step.deals.items():
                infos[row]["deals"] = deals
        else:
            infos = [{} for _ in range(self.num_envs)]
        for name, texts in (("illegal_action", step.illegal), ("forfeit", step.forfeits)):
            for row, text in texts.items():
                infos[row][name] = text
        if self.games.episodes.options.privileged:
            hidden = self.games.hidden()
            for row, info in enumerate(infos):
                info["state"] = hidden[row]
        dones = step.terminated | step.truncated
        ended = dones.nonzero()[0]
        ends = None
        if ended.size:
            ends = self.games.ends(ended)
            self._tell_ends(infos, ended, step.truncated)
            self.games.begin(ended)
            for row in ended.tolist():
                self._note_reset(row)
        seen = self.games.observations(ends)
        for place, row in enumerate(ended.tolist(), self.num_envs):
            infos[row]["terminal_observation"] = row_of(seen, place)
        rewards = step.rewards.astype(np.float32)
        return first_rows(seen, self.num_envs), rewards, dones, infos

    def _note_reset(self, row: int) -> None:
        """Write the info of an episode that has begun."""
        info: dict[str, Any] = {"seat": int(self.games.seats[row])}
        if self.games.episodes.options.privileged:
            info["state"] = privileged_state(
                self.games.state.select([row]), self.games.seats[[row]]
            )[0]
        if self.games.episodes.options.report_deals:
            info |= {"deals": [], "skipped": self.games.skipped_deals.get(row, [])}
        self.reset_infos[row] = info

    def _tell_ends(
        self, infos: list[dict[str, Any]], ended: NDArray[np.intp], truncated: NDArray[np.bool_]
    ) -> None:
        seconds = time.perf_counter() - self._began
        for row in ended.tolist():
            info = infos[row]
            info["TimeLimit.truncated"] = bool(truncated[row])
            info["episode"] = {
                "r": float(self._returns[row]),
                "l": int(self._lengths[row]),
                "t": round(seconds, 6),
            }
            info["seat"] = int(self.games.seats[row])
        self._returns[ended] = 0.0
        self._lengths[ended] = 0

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learners' legal actions, [N, 108] bool, a new array."""
        self.games.episodes.require_ready()
        return self.games.masks.copy()

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the rows have an attribute or method of this name."""
        return hasattr(self._rows[0], attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the rows (see `EnvRow`).

        Raises:
            AttributeError: the rows have none of this name.
        """
        return [getattr(row, attr_name) for row in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the rows: ``opponent`` is the only one, as `set_opponent` does it.

        Raises:
            AttributeError: the rows have none of this name that can be set.
        """
        chosen = self._chosen(indices)
        if attr_name == "opponent":
            self._seat_in(chosen, value)
            return
        for row in chosen:
            setattr(row, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method of the rows (see `EnvRow`)."""
        if method_name == "action_masks" and indices is None:
            return list(self.action_masks())
        chosen = self._chosen(indices)
        if method_name == "set_opponent":  # one policy for all, which is then asked once a step
            self._seat_in(chosen, *method_args, **method_kwargs)
            return [None] * len(chosen)
        return [getattr(row, method_name)(*method_args, **method_kwargs) for row in chosen]

    def _seat_in(self, chosen: "list[EnvRow]", policy: PolicyLike | OpponentPool) -> None:
        if len(chosen) == self.num_envs:
            self.set_opponent(policy)
        elif isinstance(policy, OpponentPool):
            raise ValueError("a pool plays in all rows or none: leave indices out")
        else:
            self.games.set_opponent_in(np.array([row.number for row in chosen]), policy)

    def env_is_wrapped(
        self,
        wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]],
        indices: VecEnvIndices = None,
    ) -> list[bool]:
        """Return whether the rows do what the wrapper does: true of Monitor alone."""
        return [issubclass(wrapper_class, Monitor) for _ in self._chosen(indices)]

    def get_images(self) -> Sequence[NDArray[Any] | None]:
        """Return the positions as pixels, with render_mode="rgb_array"."""
        return [row.render() for row in self._rows]

    def close(self) -> None:
        """Close the window, if there is one, and end the opponents' programs."""
        self._screen.close()
        self.games.close()

    def _chosen(self, indices: VecEnvIndices) -> "list[EnvRow]":
        if indices is None:
            return self._rows
        most = len(self._rows) - 1
        given = np.atleast_1d(indices)  # type: ignore[arg-type]
        return [self._rows[whole("indices", each, -1 - most, most)] for each in given]


class EnvRow:
    """One row of the VecEnv, as far as callers of SB3 look at single environments."""

    __slots__ = ("_env", "number")

    def __init__(self, env: GinRummyVecEnv, number: int) -> None:
        """Stand for row ``number`` of ``env``."""
        self._env = env
        self.number = number

    @property
    def render_mode(self) -> str | None:
        """How `render` shows the position."""
        return self._env._mode

    @property
    def rules(self) -> Rules:
        """The settings of the game."""
        return self._env.rules

    @property
    def seat(self) -> int:
        """The learner's player number in this episode."""
        return int(self._env.games.seats[self.number])

    @property
    def observation_space(self) -> spaces.Space[Any]:
        """The space of one observation."""
        return self._env.observation_space

    @property
    def action_space(self) -> spaces.Space[Any]:
        """The space of one action."""
        return self._env.action_space

    @property
    def spec(self) -> None:
        """There is no registered environment behind a row."""
        return None

    @property
    def opponent(self) -> Policy:
        """The policy in the other seat; set it with a policy or its name."""
        others = self._env.games.others
        return others.policies[others.assignment[self.number]]

    @opponent.setter
    def opponent(self, policy: PolicyLike) -> None:
        self.set_opponent(policy)

    def set_opponent(self, policy: PolicyLike) -> None:
        """Let the learner play against another policy from the opponent's next decision on."""
        self._env.games.set_opponent_in(np.array([self.number]), policy)

    def provenance(self) -> dict[str, int]:
        """Return seed, game number and deal number, which name the deck in play."""
        found = self._env.games.episodes.provenance(np.array([self.number]))
        return {name: int(each[0]) for name, each in found.items()}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learner's legal actions, [108] bool."""
        self._env.games.episodes.require_ready()
        return self._env.games.masks[self.number].copy()

    def view(self) -> View:
        """Return the learner's view, one row: what policies are given."""
        self._env.games.episodes.require_ready()
        return self._env.games.views(np.array([self.number]))

    def render(self) -> Any:
        """Return the learner's position as text or pixels, or show it in a window."""
        games = self._env.games
        return self._env._screen.show(games.state, self.rules, self.number, self.seat)


def _options_of_rows(options: Sequence[Mapping[str, Any]], rules: Rules) -> dict[str, Any]:
    """Return the reset options of all rows as one: lists of one value for each row.

    Raises:
        ValueError: an unknown option, or one that some rows have and some do not.
    """
    rows = [reset_options(each, *RESET_OPTIONS) for each in options]
    found: dict[str, Any] = _together(rows, ("deck", "dealer"))
    starts = [each.get("start") or {} for each in rows]
    if wrong := [each for each in starts if not isinstance(each, Mapping)]:
        return {**found, "start": wrong[0]}  # which is then refused
    if any(starts):
        starts = [
            {**each, "decks": deck_list(each["decks"], rules)} if "decks" in each else each
            for each in starts
        ]
        names = dict.fromkeys(name for each in starts for name in each)
        found["start"] = _together(starts, tuple(names))
    return found


def _together(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name in names:
        values = [each.get(name) for each in rows]
        missing = sum(value is None for value in values)
        if 0 < missing < len(values):
            raise ValueError(f"option {name!r} is missing in {missing} of {len(values)} rows")
        if not missing:
            found[name] = values
    return found
