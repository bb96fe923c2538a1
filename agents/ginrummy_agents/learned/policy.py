"""The learned agent: weights as plain arrays, played with NumPy.

`learning.network` describes the layers and has learned the weights; nothing of torch is needed
here, and nothing is unpickled.
"""

import io
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ginrummy_agents.arrays import read_arrays, require_finite
from ginrummy_agents.learned.inputs import feature_names, feature_sizes, features
from ginrummy_agents.learned.neighbours import WINDOW, near_matrices
from ginrummy_agents.parameters import Parametrized, parameter
from ginrummy_agents.thresholds import plays_like_eaai
from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.cards import NUM_RANKS, NUM_SUITS
from ginrummy_env.core.chance import Random
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.single_game import quick_view_mask
from ginrummy_env.core.types import Flat
from ginrummy_env.core.view import View

Arrays = dict[str, NDArray[np.float32]]

FORMAT = 1
"""Of the files; another number, and they are read no more."""

SHIPPED = ("ppo", "scratch")
"""The agents whose policies come with the package, one for EAAI and one for CLASSIC."""

FEATURE_LARGEST = 3.0
"""No feature is larger, see `learned.inputs`."""

LARGEST = 1e30
"""Of what may come up between features and logits; float32 ends at 3e38."""

MOST_DEADWOOD = 98
"""Of ten cards: a limit that forbids no knock."""

CHUNK = 1024
"""Rows that go through the layers together, so that what lies between stays in the cache."""


class PolicyFileError(ValueError):
    """A policy file that can't be used. The message names it and says why."""


class Network:
    """The layers up to the logits of all actions."""

    def __init__(self, arrays: Arrays, about: dict[str, Any]) -> None:
        """Take the weights.

        Args:
            arrays: as `ginrummy_training.learning.network.arrays_of` names them.
            about: the file's description of itself; ``derived``, ``ahead`` and ``units`` (False if
                it is missing) say which features it reads, ``hold`` the most deadwood that it
                knocks with after ``hold_from`` turns (any, if they are missing).

        Raises:
            ValueError: arrays that are missing, of a wrong shape, not finite, or so large that
                float32 could overflow.
        """
        self.about = about
        self.derived = bool(about["derived"])
        self.num_layers = sum(name.startswith("own") for name in arrays)
        self.num_convolutions = sum(name.startswith("along") for name in arrays)
        self.ahead = bool(about["ahead"])
        self.units = bool(about.get("units", False))
        self.advice = bool(about.get("advice", False))
        self.hold = int(about.get("hold", MOST_DEADWOOD))
        self.hold_from = int(about.get("hold_from", 0))
        planes, scalars = feature_sizes(self.derived, self.ahead, self.units, self.advice)
        self._cards, self._planes = planes * NUM_SUITS * NUM_RANKS, planes
        shapes: dict[str, tuple[int, ...]] = {}
        for number in range(self.num_convolutions):
            filters = len(arrays[f"across_bias{number}"])
            shapes[f"along{number}"] = (planes * WINDOW, filters)
            shapes[f"across{number}"] = (planes, filters)
            shapes[f"across_bias{number}"] = (filters,)
            planes = filters
        own = planes * NUM_RANKS
        common = own + scalars
        width = len(arrays["bias0"])
        shapes |= {
            "card": (width, 2 * NUM_RANKS),
            "card_bias": (2 * NUM_RANKS,),
            "pool": (width, width),
            "pool_bias": (width,),
            "other": (width, NUM_ACTIONS - 2 * NUM_SUITS * NUM_RANKS),
            "other_bias": (NUM_ACTIONS - 2 * NUM_SUITS * NUM_RANKS,),
        }
        for number in range(self.num_layers):
            shapes[f"own{number}"] = (width if number else own, width)
            shapes[f"common{number}"] = (width if number else common, width)
            shapes[f"bias{number}"] = (width,)
        if "direct" in arrays:
            shapes["direct"] = (planes, 2)
        if "near_bias" in arrays:
            filters = len(arrays["near_bias"])
            shapes |= {
                "near": (planes * WINDOW, filters),
                "near_rank": (planes, filters),
                "near_bias": (filters,),
                "near_context": (width, filters),
                "near_out": (filters, 2),
            }
        if set(shapes) != set(arrays):
            raise ValueError(f"arrays {sorted(set(shapes) ^ set(arrays))} are missing or unknown")
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                raise ValueError(f"{name} of shape {arrays[name].shape}, expected {shape}")
        require_finite(arrays)
        with np.errstate(over="ignore"):
            self.arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
        if not self._largest() < LARGEST:  # not a number is refused, too
            raise ValueError("its weights are so large that logits would overflow")
        if "near" in arrays:
            self._near = near_matrices(self.arrays["near"], self.arrays["near_rank"])

    def _largest(self) -> float:
        """Return a bound of every number between the features and the logits."""
        sizes = {name: np.abs(array).astype(np.float64) for name, array in self.arrays.items()}

        def through(name: str, largest: float) -> float:
            return largest * float(sizes[name].sum(axis=0).max())

        largest, found = FEATURE_LARGEST, [0.0]
        for number in range(self.num_convolutions):
            largest = through(f"along{number}", largest) + through(f"across{number}", 4 * largest)
            largest += float(sizes[f"across_bias{number}"].max())
            found.append(largest)
        common = NUM_SUITS * largest
        for number in range(self.num_layers):
            largest = through(f"own{number}", largest) + through(f"common{number}", common)
            largest = common = largest + float(sizes[f"bias{number}"].max())
            found.append(NUM_SUITS * largest)
        for name in ("card", "pool"):
            found.append(through(name, largest) + float(sizes[f"{name}_bias"].max()))
        found.append(through("other", found[-1]) + float(sizes["other_bias"].max()))
        beside = 0.0
        if "direct" in sizes:
            beside += through("direct", FEATURE_LARGEST)
        if "near" in sizes:
            around = through("near", FEATURE_LARGEST) + through("near_rank", 4 * FEATURE_LARGEST)
            around += through("near_context", largest) + float(sizes["near_bias"].max())
            beside += through("near_out", around)
        return max(found) + beside

    def features(self, view: View) -> Flat:
        """Return what the network reads of a view, [N, size] float32."""
        return features(view, self.derived, self.ahead, self.units, self.advice)

    def logits(self, observations: Flat) -> Flat:
        """Return the logits of all actions, legal or not, [N, 108] float32.

        Args:
            observations: [N, size] float32, of `features`.
        """
        if len(observations) <= CHUNK:
            return self._logits(observations)
        starts = range(0, len(observations), CHUNK)
        return np.concatenate([self._logits(observations[at : at + CHUNK]) for at in starts])

    def _logits(self, observations: Flat) -> Flat:
        w, count = self.arrays, len(observations)
        cards = observations[:, : self._cards].reshape(count, self._planes, NUM_SUITS, NUM_RANKS)
        for number in range(self.num_convolutions):
            cards = self._convolution(cards, number)
        suits = planes = cards.transpose(0, 2, 1, 3).reshape(count * NUM_SUITS, -1)
        total = suits.reshape(count, NUM_SUITS, -1).sum(axis=1)
        common = np.concatenate([total, observations[:, self._cards :]], axis=1)
        for number in range(self.num_layers):
            suits = suits @ w[f"own{number}"]
            by_game = suits.reshape(count, NUM_SUITS, -1)
            by_game += (common @ w[f"common{number}"] + w[f"bias{number}"])[:, None]
            np.maximum(suits, 0, out=suits)
            common = by_game.sum(axis=1) * np.float32(1 / NUM_SUITS)
        logits = np.empty((count, NUM_ACTIONS), dtype=np.float32)
        by_card = (suits @ w["card"] + w["card_bias"]).reshape(count, NUM_SUITS, 2, NUM_RANKS)
        if "direct" in w:
            of_card = planes.reshape(count, NUM_SUITS, -1, NUM_RANKS)
            by_card += w["direct"].T @ of_card
        if "near" in w:
            by_card += self._by_neighbours(planes, suits).reshape(by_card.shape)
        both = 2 * NUM_SUITS * NUM_RANKS
        logits[:, :both] = by_card.transpose(0, 2, 1, 3).reshape(count, both)
        pooled = np.maximum(common @ w["pool"] + w["pool_bias"], 0)
        logits[:, both:] = pooled @ w["other"] + w["other_bias"]
        return logits

    def _by_neighbours(self, planes: Flat, suits: Flat) -> Flat:
        """Return [4 N, 2, 13] logits from what is at each card, around it and in its rank."""
        w, filters = self.arrays, len(self.arrays["near_bias"])
        along, across = self._near
        total = planes.reshape(-1, NUM_SUITS, planes.shape[1]).sum(axis=1)
        hidden = (planes @ along).reshape(-1, NUM_SUITS, NUM_RANKS, filters)
        hidden += (total @ across).reshape(-1, 1, NUM_RANKS, filters)
        context = suits @ w["near_context"] + w["near_bias"]
        hidden += context.reshape(-1, NUM_SUITS, 1, filters)
        out = np.maximum(hidden, 0) @ w["near_out"]
        return out.reshape(-1, NUM_RANKS, 2).transpose(0, 2, 1)

    def _convolution(self, cards: Flat, number: int) -> Flat:
        """Return [N, filters, 4, 13] from [N, C, 4, 13]: along the ranks, and of all suits' sum."""
        w, reach = self.arrays, WINDOW // 2
        padded = np.pad(cards, ((0, 0), (0, 0), (0, 0), (reach, reach)))
        windows = sliding_window_view(padded, WINDOW, axis=3).transpose(0, 2, 3, 1, 4)
        by_card = windows.reshape(*windows.shape[:3], -1) @ w[f"along{number}"]
        total = cards.sum(axis=2).transpose(0, 2, 1)
        by_card += (total @ w[f"across{number}"] + w[f"across_bias{number}"])[:, None]
        return np.maximum(by_card, 0).transpose(0, 3, 1, 2)

    def _names(self) -> tuple[str, ...]:
        return feature_names(self.derived, self.ahead, self.units, self.advice)

    def to_bytes(self, dtype: str = "float32") -> bytes:
        """Return the file: .npz, weights as ``dtype``, and its description as JSON."""
        about = json.dumps({**self.about, "format": FORMAT, "features": self._names()})
        arrays = {name: array.astype(dtype) for name, array in self.arrays.items()}
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, about=np.array(about), **arrays)
        return file.getvalue()

    @classmethod
    def load(cls, path: Path) -> "Network":
        """Return the network that a file holds.

        Raises:
            PolicyFileError: no such file, corrupt, something else, or made for observations of
                another version.
        """
        try:
            arrays = read_arrays(path)
            about = json.loads(str(arrays.pop("about")))
            if about["format"] != FORMAT:
                raise ValueError(f"format {about['format']}, expected {FORMAT}")
            network = cls(arrays, about)
            if tuple(about["features"]) != network._names():
                raise ValueError("it was trained on observations of another version")
        except FileNotFoundError:
            raise PolicyFileError(f"{path}: no such file") from None
        except Exception as error:  # damaged bytes make zipfile and numpy raise nearly anything
            raise PolicyFileError(f"{path}: not a policy, or corrupt ({error})") from error
        return network


@cache
def _load(path: Path, changed: int) -> Network:
    """Return the network of a file, read once as long as it does not change."""
    return Network.load(path)


def load_network(path: Path) -> Network:
    """Return the network of a file; the same object if it has not changed since.

    Raises:
        PolicyFileError: it can't be used.
    """
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        raise PolicyFileError(f"{path}: no such file") from None
    return _load(path, changed)


def shipped(rules: Rules, agent: str = "ppo") -> Path:
    """Return the file of the policy that fits the rules best, of one of `SHIPPED`."""
    return _SHIPPED_PATHS[agent, "eaai" if plays_like_eaai(rules) else "classic"]


_SHIPPED_PATHS = {
    (agent, name): Path(__file__).parents[1] / "data" / f"{agent}-{name}.npz"
    for agent in SHIPPED
    for name in ("eaai", "classic")
}


@dataclass(frozen=True)
class Ppo(Parametrized):
    """A network that imitated a rule agent and then learned by PPO.

    - ``ppo``: the shipped policy for the rules in force; ``ppo:PATH``: that of a file.
    - It takes the legal action with the highest logit; with a temperature above 0 it draws one.

    How the shipped ones came about, and what they can't do, is in docs/MODEL_CARD.md.

    Raises:
        PolicyFileError: the file can't be used.
    """

    agent: ClassVar[str] = "ppo"

    path: str = parameter("", "a file written by `ginrummy train`; the shipped policy if empty")
    temperature: float = parameter(
        0.0, "0: the best action; 1: drawn as it was while learning", 0, 1000
    )

    def __post_init__(self) -> None:
        Parametrized.__post_init__(self)
        if self.path:
            load_network(Path(self.path))  # what is wrong with it is found out at once

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row, -1 where it is not the viewer's move.

        Args:
            view: N rows.
            rng: one number per row is drawn from it, if there is a temperature.
        """
        if self.path:
            network = load_network(Path(self.path))
        else:  # never changes; asking the disk would be a tenth of a move
            network = _load(shipped(view.rules, self.agent), 0)
        return act(network, view, rng, self.temperature)


@dataclass(frozen=True)
class Scratch(Ppo):
    """A network that learned from nothing, by self-play on both seats.

    It imitated nobody and played nobody else, and no plane that it sees looks ahead. Its parameters
    are those of `Ppo`; ``ginrummy train --selfplay`` makes such files.

    Raises:
        PolicyFileError: the file can't be used.
    """

    agent: ClassVar[str] = "scratch"


@dataclass(frozen=True, eq=False)
class NetworkPolicy:
    """A network that plays, without a file: what is being trained, or a past of it."""

    network: Network
    temperature: float = 0.0
    name: str = "ppo"

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row; see `Ppo.act`."""
        return act(self.network, view, rng, self.temperature)


def act(network: Network, view: View, rng: Random, temperature: float = 0.0) -> NDArray[np.int16]:
    """Return an action for each row, -1 where it is not the viewer's move; see `Ppo`."""
    if network.hold < MOST_DEADWOOD:  # as if the rules had this limit
        holding = view.turn // 2 >= network.hold_from
        most = np.minimum(view.knock_limit, network.hold)
        view = replace(view, knock_limit=np.where(holding, most, view.knock_limit))
    masks = quick_view_mask(view)[None] if len(view) == 1 else view.action_masks()
    logits = network.logits(network.features(view))
    logits[~masks] = -np.inf
    if temperature == 0:
        actions = logits.argmax(axis=1).astype(np.int16)
    else:
        actions = drawn(logits, rng.random((len(view),)), temperature)
    actions[~view.to_move] = -1
    return actions


def drawn(logits: Flat, uniforms: NDArray[np.float64], temperature: float) -> NDArray[np.int16]:
    """Return an action for each row, drawn with the probabilities that the logits stand for.

    Args:
        logits: [N, 108]; -inf where an action is not legal.
        uniforms: [N] numbers in [0, 1).
        temperature: above 0.
    """
    highest = logits.max(axis=1, keepdims=True)
    highest[np.isneginf(highest)] = 0  # a row without a legal action
    weights = np.exp((logits - highest) / np.float32(temperature)).cumsum(axis=1, dtype=np.float64)
    place = uniforms[:, None] * weights[:, -1:]
    return (weights <= place).sum(axis=1).clip(max=NUM_ACTIONS - 1).astype(np.int16)
