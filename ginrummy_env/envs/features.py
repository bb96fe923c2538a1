"""What other packages add to the environments: features of observations, chances of winning.

Environments import no agent: what needs one is registered from there, by name, and the packages
that have policies are imported when something is asked for that is not known yet.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ginrummy_env.core.checks import one_of
from ginrummy_env.core.observation import observation_size, observe
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.single_game import quick_observation
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.types import Flat
from ginrummy_env.core.view import View, make_view
from ginrummy_env.policy import ENTRY_POINTS


@dataclass(frozen=True, slots=True)
class Features:
    """One way of turning views into numbers.

    Attributes:
        size: numbers in an observation.
        observe: from a view of N rows to [N, size] float32, a new array. It reads the view only, so
            nothing hidden can leak.
        low, high: the least and the greatest number there can be.
    """

    size: int
    observe: Callable[[View], Flat]
    low: float = -1.0
    high: float = 1.0

    def space(self) -> spaces.Space[Any]:
        """Return the space of one observation."""
        return spaces.Box(self.low, self.high, (self.size,), np.float32)

    def of_state(self, state: BatchState, rules: Rules, players: NDArray[np.int8]) -> Flat:
        """Return what players see, [N, size] float32, a new array.

        Args:
            state: N games.
            rules: their settings.
            players: [N] 0 or 1, whose view it is.
        """
        if len(state) == 1 and self.observe in _DERIVED:
            seen = quick_observation(state, rules, int(players[0]), _DERIVED[self.observe])
            return seen[None]
        return self.observe(make_view(state, rules, players))


def _raw(view: View) -> Flat:
    return observe(view, derived=False)


def _derived(view: View) -> Flat:
    return observe(view, derived=True)


_DERIVED = {_raw: False, _derived: True}
_FEATURES = {
    "raw": Features(observation_size(False), _raw),
    "derived": Features(observation_size(True), _derived),
}


def _load_others() -> None:
    for point in entry_points(group=ENTRY_POINTS):
        point.load()


def register_features(name: str, features: Features) -> None:
    """Make features known by a name, as the option ``features`` of all environments takes it.

    Packages that also have policies (entry points of the group `policy.ENTRY_POINTS`) are imported
    when a name is not known yet, so it is enough to register when they are imported.

    Args:
        name: such as "ahead".
        features: what the name stands for.
    """
    _FEATURES[name] = features


def features_of(name: str) -> Features:
    """Return the features of a name.

    Raises:
        ValueError: no such name; says which there are.
    """
    if not isinstance(name, str) or name not in _FEATURES:
        _load_others()
    return _FEATURES[one_of("features", name, _FEATURES)]


def features_of_size(size: int) -> str:
    """Return the name of the features that make observations of this size.

    Raises:
        ValueError: there are none.
    """
    _load_others()
    for name, features in _FEATURES.items():
        if features.size == size:
            return name
    sizes = ", ".join(f"{name} {features.size}" for name, features in _FEATURES.items())
    raise ValueError(f"features have {sizes} numbers, not {size}")


Chances = Callable[[NDArray[np.integer]], NDArray[np.float64]]
"""From scores [..., 2], a player's and the opponent's, to that player's chances [...]."""

_CHANCES: list[Callable[[Rules], Chances]] = []


def register_win_chance(chances_under: Callable[[Rules], Chances]) -> None:
    """Make known how likely a game is won from each score, for ``reward="chance"``.

    Args:
        chances_under: from rules to the chances; called often, so it should keep what it works out.
    """
    _CHANCES[:] = [chances_under]


def chances_under(rules: Rules) -> Chances:
    """Return the chances of winning under these rules.

    Raises:
        ValueError: nobody has registered them.
    """
    if not _CHANCES:
        _load_others()
    if not _CHANCES:
        raise ValueError("reward='chance' needs the package ginrummy_agents, which has the chances")
    return _CHANCES[0](rules)
