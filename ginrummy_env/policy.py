"""The policy protocol, and policies by name.

Everything that plays is a policy: it maps a batch of views to one action each. The environments
need one for the other seat but import no agent: names are looked up among the entry points of the
group ``ginrummy_env.policies``, where packages such as ``ginrummy_agents`` register theirs.
"""

import os
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import count, islice
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.chance import Random
from ginrummy_env.core.checks import did_you_mean
from ginrummy_env.core.view import View

ENTRY_POINTS = "ginrummy_env.policies"

Value = int | float | bool | str


@runtime_checkable
class Policy(Protocol):
    """What plays: views in, actions out, for a whole batch."""

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row of the view in which it is the viewer's move.

        Args:
            view: N rows. Nothing else may be read, so nothing hidden can leak.
            rng: the policy's randomness. Ask for ``rng.random((N, ...))``, a row of numbers for
                each row of the view: then a game does not depend on the batch around it.

        Returns:
            [N] int16 legal actions; anything where it is not the viewer's move.
        """
        ...


def policy_name(policy: Policy) -> str:
    """Return what to call a policy in messages: its ``name`` if it has one, else its class."""
    return str(getattr(policy, "name", "") or type(policy).__name__)


@dataclass(frozen=True)
class FunctionPolicy:
    """A function ``(view, rng) -> actions`` as a policy."""

    function: Callable[[View, Random], NDArray[np.int16]]

    @property
    def name(self) -> str:
        """What the function is called."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return the function's actions."""
        return self.function(view, rng)


class Forfeit(IntEnum):
    """Returned in place of an action by a `SeatPolicy` that has lost the game by a fault."""

    ILLEGAL = -1
    """It did what it may not do."""
    TIMEOUT = -2
    """It did not answer in time."""
    ENDED = -3
    """It crashed, or ended before the game did."""
    UNREADABLE = -4
    """What it answered could not be understood."""


_SEATS = count()


def new_seats(number: int) -> NDArray[np.int64]:
    """Return seats that nobody else in this process uses, [number] int64; see `SeatPolicy`."""
    return np.fromiter(islice(_SEATS, number), dtype=np.int64, count=number)


@runtime_checkable
class SeatPolicy(Policy, Protocol):
    """A policy that remembers: it learns which game each row belongs to, and how games end.

    The optional part of the policy protocol. What has happened in a deal is in the view's history;
    what a player with a memory needs beyond it is which rows belong together. Matches and
    environments call `act_at` in place of `act` where a policy has it.

    A *seat* is a number that stays the same from a game's start to its end and is not used for
    another game (`new_seats`). A seat that was not seen before is a new game. A game may also be
    given up before its end: `games_over` says so too.
    """

    def act_at(self, seats: NDArray[np.int64], view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row, as `act` does, or a `Forfeit`.

        Args:
            seats: [N] the seat of each row.
            view: N rows.
            rng: see `act`.
        """
        ...

    def deals_over(self, seats: NDArray[np.int64], view: View) -> None:
        """Learn how deals ended.

        Args:
            seats: [N].
            view: N rows, what the seats see of the deals that are over.
        """
        ...

    def games_over(self, seats: NDArray[np.int64], view: View) -> None:
        """Learn that games are over, their last deal having been reported; see `deals_over`."""
        ...

    def forfeit_reason(self, seat: int) -> str:
        """Return in words why the policy forfeited the game at a seat, "" if it did not."""
        ...


Melds = tuple[int, ...]
"""Cards laid down as melds, each as a mask (`core.cards`), in the player's order."""


@dataclass(frozen=True, slots=True)
class Showdown:
    """What lies on the table at the end of a deal that was settled by the players' own melds."""

    knocker_melds: Melds
    defender_melds: Melds
    layoffs: Melds
    """The defender's cards on each of the knocker's melds."""


@runtime_checkable
class MeldingPolicy(SeatPolicy, Protocol):
    """A seat policy that may lay down melds of its own choice, where a match settles by them.

    Attributes:
        own_melds: whether it does. If not, it only hears of what others lay down.
    """

    own_melds: bool

    def lay_down(
        self, seats: NDArray[np.int64], view: View, knocked: Sequence[Melds] | None
    ) -> Sequence[Melds | Forfeit | None]:
        """Return the melds that are laid down at each seat; None leaves them to the match.

        Args:
            seats: [N].
            view: N rows, what the seats see once somebody has knocked.
            knocked: what the knockers have laid down; None: these seats are the knockers.
        """
        ...

    def laid_down(self, seats: NDArray[np.int64], shown: Sequence[Showdown]) -> None:
        """Learn what lies on the table, before `deals_over` reports the same deals."""
        ...


def parse_spec(spec: str, texts: Collection[str] = ()) -> tuple[str, dict[str, Value]]:
    """Return the name and the parameters of a policy's text form.

    Parameters follow the name after a colon, with commas between; one without a name is stored
    under the empty name (a path, or an agent's main parameter).

    Args:
        spec: the text form.
        texts: names of parameters whose values are text, even if they look like numbers.

    >>> parse_spec("heuristic:knock=4,score=40")
    ('heuristic', {'knock': 4, 'score': 40})
    >>> parse_spec("search:128")
    ('search', {'': 128})
    >>> parse_spec("ppo:runs/rate=0.1/best.npz,temperature=1")
    ('ppo', {'': 'runs/rate=0.1/best.npz', 'temperature': 1})

    A text may have commas and ends at the next parameter, whose name has no slash in it:

    >>> parse_spec("ppo:runs/a,b=1/best.npz,temperature=1", texts=("",))
    ('ppo', {'': 'runs/a,b=1/best.npz', 'temperature': 1})
    """
    name, _, rest = spec.partition(":")
    parameters: dict[str, Value] = {}
    last = ""
    for piece in rest.split(","):
        key, equals, text = (each.strip() for each in piece.partition("="))
        named = equals and key.isidentifier()  # "runs/rate=0.1" is a path
        continues = last in parameters and last in texts and (not named or "/" in text)
        if continues and piece.strip():
            parameters[last] = f"{parameters[last]},{piece}".rstrip()
            continue
        if not named:
            key, text = "", piece.strip()
        if not key and not text:
            continue
        last = key
        if key in parameters:
            which = f"parameter {key!r}" if key else "a parameter without a name"
            raise ValueError(f"{spec!r}: {which} is given twice")
        parameters[key] = text if key in texts else _value(text)
    return name.strip().lower(), parameters


def _value(text: str) -> Value:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def make_policy(policy: str | Policy | Callable[[View, Random], Any]) -> Policy:
    """Return the policy that a text form names, or the policy itself.

    Args:
        policy: such as ``"simple"`` or ``"heuristic:knock=4"``; ``"exec:COMMAND"``, a program that
            plays by the arena's protocol; ``"module:attribute"``, a policy, or a class or function
            that makes one when called; an object with ``act``; or a function ``(view, rng) ->
            actions``. Modules are also looked for in
            the working directory.

    Raises:
        ValueError: no such name (says which there are), or parameters that it does not take.
    """
    if isinstance(policy, type) and hasattr(policy, "act"):
        name = policy.__name__
        raise ValueError(f"{name} is a class: a policy is an object of it, such as {name}()")
    if not isinstance(policy, str):
        if isinstance(policy, Policy):
            return policy
        if callable(policy) and not isinstance(policy, type):
            return FunctionPolicy(policy)
        raise ValueError(
            f"{policy!r} is not a policy: a name is needed, an object with a method "
            "act(view, rng), or a function (view, rng) -> actions"
        )
    name = policy.partition(":")[0].strip().lower()
    makers = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in makers and (found := _from_module(policy)) is not None:
        return found
    if name not in makers:
        known = ", ".join(sorted(makers)) or "none: is the package installed?"
        near = did_you_mean(name, makers)
        raise ValueError(f"unknown policy {name!r}{near}; the policies are {known}")
    maker: Callable[..., Policy] = makers[name].load()
    if getattr(maker, "takes_text", False):
        return maker(policy.partition(":")[2])
    _, parameters = parse_spec(policy, getattr(maker, "texts", ()))
    try:
        return maker(**{key or "main": value for key, value in parameters.items()})
    except TypeError as error:
        raise ValueError(f"{policy!r}: {error}") from error


def _from_module(spec: str) -> Policy | None:
    """Return the policy that ``module:attribute`` names; None if there is no such module."""
    module, _, attribute = spec.partition(":")
    if not attribute.isidentifier() or not all(map(str.isidentifier, module.split("."))):
        return None
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        if find_spec(module) is None:
            return None
    except ModuleNotFoundError:  # a package above it
        return None
    try:
        found = getattr(import_module(module), attribute)
    except AttributeError:
        raise ValueError(f"{spec!r}: the module {module} has no {attribute}") from None
    if (isinstance(found, type) or not isinstance(found, Policy)) and callable(found):
        try:
            found = found()
        except TypeError as error:
            raise ValueError(f"{spec!r}: calling {attribute}() failed: {error}") from error
    if not isinstance(found, Policy):
        raise ValueError(f"{spec!r} is not a policy: it has no method act(view, rng)")
    return found
