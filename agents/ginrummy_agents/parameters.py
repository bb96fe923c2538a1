"""Parameters of agents: the fields of their dataclasses, checked when a policy is made."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import index
from os import PathLike
from typing import Any

import numpy as np


def parameter(
    default: Any,
    about: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Return a dataclass field for an agent's parameter.

    Args:
        default: its type is the parameter's: a flag, a whole number, any number, or text.
        about: what it does, a short phrase for the list of agents.
        low: least value allowed.
        high: greatest value allowed.
        choices: the texts allowed; any text if there are none.
    """
    about_it = {"about": about, "low": low, "high": high, "choices": choices}
    return field(default=default, metadata=about_it)


@dataclass(frozen=True)
class Parametrized:
    """A frozen dataclass whose fields are parameters, see `parameter`.

    Raises:
        ValueError: a value of the wrong type, outside its range, infinite or not a number.
    """

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            convert = _CONVERSIONS[type(each.default)]
            try:
                converted = convert(value)
            except (TypeError, ValueError, OverflowError):
                converted = None
            low, high = each.metadata["low"], each.metadata["high"]
            choices = each.metadata["choices"]
            if (
                converted is None
                or (low is not None and converted < low)
                or (high is not None and converted > high)
                or (choices and converted not in choices)
            ):
                wanted = _wanted(type(each.default), low, high, choices)
                raise ValueError(f"{each.name}={value!r}: {wanted} is needed")
            object.__setattr__(self, each.name, converted)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError
    return bool(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return index(value)


def _number(value: Any) -> float:
    if isinstance(value, bool | np.bool_ | str | bytes):
        raise TypeError
    number = float(value)
    if not np.isfinite(number):
        raise ValueError
    return number


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float | PathLike):
        raise TypeError
    return str(value)


_CONVERSIONS: dict[type, Callable[[Any], Any]] = {
    bool: _flag,
    int: _whole,
    float: _number,
    str: _text,
}


def _wanted(kind: type, low: float | None, high: float | None, choices: tuple[str, ...]) -> str:
    """Return what a parameter allows, in words."""
    if choices:
        return " or ".join(choices)
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[kind]
    bounds = (("from", low), ("to", high))
    return words + "".join(f" {word} {bound}" for word, bound in bounds if bound is not None)
