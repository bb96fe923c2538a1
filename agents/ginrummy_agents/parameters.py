"""Parameters of agents: the fields of their dataclasses, checked when a policy is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import Any

from ginrummy_env.core.checks import flag, one_of, quoted, real, whole


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
            value = _checked(each.name, getattr(self, each.name), each.default, each.metadata)
            object.__setattr__(self, each.name, value)


def _checked(name: str, value: Any, default: Any, about: Mapping[str, Any]) -> Any:
    """Return a parameter's value as its type."""
    if isinstance(default, bool):
        return flag(name, value)
    if isinstance(default, int):
        return whole(name, value, about["low"], about["high"])
    if isinstance(default, float):
        return real(name, value, about["low"], about["high"])
    if about["choices"]:
        return one_of(name, value, about["choices"])
    if isinstance(value, bool) or not isinstance(value, str | int | float | PathLike):
        raise ValueError(f"{name}={quoted(value)}: text is needed")
    return str(value)
