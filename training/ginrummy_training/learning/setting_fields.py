"""Fields of settings with the values that they allow, all checked when settings are made.

A dataclass of settings gives limits next to its defaults (`within`) and calls `check_fields` from
``__post_init__``. Values from TOML, JSON, the command line and Python thus pass the same checks and
become plain Python values.
"""

import types
from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ginrummy_env.core.checks import did_you_mean, flag, one_of, quoted, real, whole
from ginrummy_env.core.rules import Rules, as_rules
from ginrummy_env.policy import make_policy

Settings = TypeVar("Settings")


class SettingError(ValueError):
    """A setting that a run can't have. The message names it and says what is allowed."""


def rules_of(text: str) -> Rules:
    """Return the rules that a setting names, or raise SettingError."""
    try:
        return as_rules(text)
    except ValueError as error:
        raise SettingError(f"rules={quoted(text)}: {error}") from None


def within(default: Any, low: float, high: float) -> Any:
    """Return a field of a dataclass for a number.

    Args:
        default: its value if it is not given.
        low, high: the least and the greatest value allowed.
    """
    return field(default=default, metadata={"low": low, "high": high})


def check_fields(settings: Any) -> None:
    """Check every field of settings against its type and its limits; values become plain ones.

    Args:
        settings: a dataclass, frozen or not. Fields of other types than numbers, flags, text,
            choices (`Literal`) and lists of names are left to its own checks.

    Raises:
        SettingError: the first value that is not allowed.
    """
    hints = get_type_hints(type(settings))
    for each in fields(settings):
        value = getattr(settings, each.name)
        limits = each.metadata.get("low"), each.metadata.get("high")
        try:
            checked = _checked(each.name, value, hints[each.name], *limits)
        except ValueError as error:
            raise SettingError(str(error)) from None
        object.__setattr__(settings, each.name, checked)


def _checked(name: str, value: Any, kind: Any, low: Any, high: Any) -> Any:
    """Return a value as one of the type, or raise ValueError."""
    if get_origin(kind) in (Union, types.UnionType):  # a number, or None: also written as 0
        if value is None or (not isinstance(value, bool) and value == 0):
            return None
        (kind,) = (each for each in get_args(kind) if each is not type(None))
    if kind is bool:
        return flag(name, value)
    if kind is int:
        return whole(name, value, low, high) if low is not None else value
    if kind is float:
        return real(name, value, low, high)
    if kind is str:
        if not isinstance(value, str):
            raise ValueError(f"{name}={quoted(value)}: text is needed")
        return str(value)
    if get_origin(kind) is Literal:
        return one_of(name, value, get_args(kind))
    if kind == tuple[str, ...]:
        return _names(name, value)
    return value


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of names, each once."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ValueError(f'{name}={quoted(value)}: a list of names is needed, such as ["simple"]')
    names = tuple(map(str, value))
    if len(set(names)) < len(names):
        raise ValueError(f"{name}={quoted(list(names))}: a name appears twice")
    return names


def with_changes(settings: Settings, given: Any) -> Settings:
    """Return settings with some of them changed.

    Args:
        settings: a dataclass that checks its fields.
        given: values by name.

    Raises:
        SettingError: an unknown name (says which may have been meant), or a bad value.
    """
    if not isinstance(given, Mapping):
        raise SettingError(f"settings={quoted(given)}: a table of names and values is needed")
    known = [each.name for each in fields(settings)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise SettingError(
                f"unknown setting {quoted(name)}{did_you_mean(name, known)}; "
                f"the settings are {', '.join(known)}"
            )
    return replace(settings, **given)  # type: ignore[type-var]


def check_policies(setting: str, names: Iterable[str]) -> None:
    """Check that policies can be made: their names, parameters and files.

    Args:
        setting: which setting names them, for the error.
        names: such as ``"simple"`` or ``"ppo:FILE"``.

    Raises:
        SettingError: one that can't be made.
    """
    for name in names:
        try:
            make_policy(name)
        except (OSError, ValueError) as error:
            raise SettingError(f"{setting}: {error}") from error
