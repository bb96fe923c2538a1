"""What an environment hands out of a position: features, the mask, the last actions, the state.

And the space from which actions are drawn by such a mask.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ginrummy_env.core.actions import NO_ACTION, NUM_ACTIONS
from ginrummy_env.core.cards import NUM_CARDS, card_planes
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState, concatenate
from ginrummy_env.core.view import OPPONENT, View, make_view, players_of
from ginrummy_env.envs.features import features_of
from ginrummy_env.envs.options import EpisodeOptions, MaskIn

Seen = Any
"""[N, size] float32; or a dict of arrays with a first dimension N."""

STATE_PLANES = ("own hand", "opponent's hand", "stock")
"""What `privileged_state` shows, planes of 52."""
STATE_SIZE = len(STATE_PLANES) * NUM_CARDS

OPPONENT_ACTIONS = NUM_ACTIONS
"""In ``history`` the opponent's actions are these numbers: 108 + the action."""


class ActionSpace(spaces.Discrete[np.int64]):
    """Gymnasium's Discrete, drawing the same numbers by a mask in a fifth of the time.

    Gymnasium's own draw takes longer than a step of one game.
    """

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return a random action, of those that the mask flags if there is one."""
        plain = isinstance(mask, np.ndarray) and mask.dtype == np.int8 and mask.shape == (self.n,)
        if plain and probability is None and not mask.tobytes().translate(None, b"\0\1"):
            flagged = mask.nonzero()[0]
            if flagged.size:
                return self.start + flagged[self.np_random.integers(flagged.size)]
        return super().sample(mask, probability)


@dataclass(frozen=True, slots=True)
class Ends:
    """The positions in which K episodes ended.

    Attributes:
        state: K games that are over.
        players: [K] int8, whose view it is.
    """

    state: BatchState
    players: NDArray[np.int8]


class Observer:
    """Makes observations: the features alone, or a dict of them and what else was asked for.

    Attributes:
        mask_in_observation, mask_in_info: where the mask is.
        mask_dtype: its type.
        key: what the features are called in a dict.
    """

    def __init__(self, options: EpisodeOptions, default: MaskIn) -> None:
        """Observe as the options say.

        Args:
            options: what is observed.
            default: where the mask is if ``mask_in`` is None.

        Raises:
            ValueError: an ``observation_key`` where observations are no dicts.
        """
        where = options.mask_in or default
        self.features = features_of(options.features)
        self.mask_in_observation = where != "info"
        self.mask_in_info = where != "observation"
        self.mask_dtype = np.dtype(options.mask_dtype)
        self.key = options.observation_key
        self._history = options.history
        if self.key != "observation" and not self.is_dict:
            raise ValueError(
                f"observation_key={self.key!r}: observations are dicts only with "
                "mask_in='observation' or 'both', or a history"
            )

    @property
    def is_dict(self) -> bool:
        """Whether observations are dicts."""
        return self.mask_in_observation or self._history > 0

    def space(self) -> spaces.Space[Any]:
        """Return the space of one observation."""
        if not self.is_dict:
            return self.features.space()
        parts: dict[str, spaces.Space[Any]] = {self.key: self.features.space()}
        if self.mask_in_observation:
            parts["action_mask"] = spaces.Box(0, 1, (NUM_ACTIONS,), self.mask_dtype.type)
        if self._history:
            most = OPPONENT_ACTIONS + NUM_ACTIONS - 1
            parts["history"] = spaces.Box(-1, most, (self._history,), np.int16)
        return spaces.Dict(parts)

    def observe(
        self,
        state: BatchState,
        rules: Rules,
        players: NDArray[np.int8],
        masks: NDArray[Any],
        ends: Ends | None = None,
    ) -> Seen:
        """Return what players see, in new arrays.

        Args:
            state: N games.
            rules: their settings.
            players: [N] 0 or 1, whose view it is.
            masks: [N, 108] their legal actions.
            ends: K games more, whose rows come last; no action is legal there.
        """
        if ends is not None:
            state, players = concatenate([state, ends.state]), np.append(players, ends.players)
            masks = np.concatenate([masks, np.zeros((len(ends.players), NUM_ACTIONS), masks.dtype)])
        seen = self.features.of_state(state, rules, players)
        if not self.is_dict:
            return seen
        parts: dict[str, NDArray[Any]] = {self.key: seen}
        if self.mask_in_observation:
            parts["action_mask"] = masks.astype(self.mask_dtype)
        if self._history:
            parts["history"] = last_actions(make_view(state, rules, players), self._history)
        return parts


def first_rows(seen: Seen, count: int) -> Seen:
    """Return the observations of the first ``count`` rows."""
    if isinstance(seen, dict):
        return {name: array[:count] for name, array in seen.items()}
    return seen[:count]


def row_of(seen: Seen, row: int) -> Seen:
    """Return the observation of one row, a new array or a dict of new arrays."""
    if isinstance(seen, dict):
        return {name: array[row].copy() for name, array in seen.items()}
    return seen[row].copy()


def last_actions(view: View, count: int) -> NDArray[np.int16]:
    """Return the last actions of the deal, which both players have seen, the latest last.

    Args:
        view: N rows.
        count: how many.

    Returns:
        [N, count] int16: the viewer's own actions as their numbers, the opponent's as
        OPPONENT_ACTIONS + the number; -1 in front, where the deal has had fewer.
    """
    if not view.history.shape[1]:
        return np.full((len(view), count), -1, dtype=np.int16)
    theirs = players_of(view) == OPPONENT
    numbers = view.history.astype(np.int16) + np.int16(OPPONENT_ACTIONS) * theirs
    numbers[view.history == NO_ACTION] = -1
    places = view.step_count[:, None] + np.arange(-count, 0)
    found = np.take_along_axis(numbers, np.maximum(places, 0), axis=1)
    return np.where(places >= 0, found, np.int16(-1))


def privileged_state(
    state: BatchState, players: Sequence[int] | NDArray[np.int8]
) -> NDArray[np.float32]:
    """Return what is hidden too: for critics and labels, never for who plays.

    Args:
        state: N games.
        players: [N] 0 or 1, whose hand comes first.

    Returns:
        [N, STATE_SIZE] float32, the planes of STATE_PLANES.
    """
    rows, mine = np.arange(len(state)), np.asarray(players)
    in_stock = np.arange(NUM_CARDS) >= NUM_CARDS - state.stock_count[:, None]
    stock = np.zeros((len(state), NUM_CARDS), dtype=np.bool_)
    found, places = np.nonzero(in_stock)
    stock[found, state.deck[found, places]] = True
    hands = [card_planes(state.hands[rows, each]) for each in (mine, 1 - mine)]
    planes = [hand.reshape(len(state), NUM_CARDS) for hand in hands]
    return np.concatenate([*planes, stock], axis=1).astype(np.float32)
