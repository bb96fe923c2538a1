"""Checks of values that come from outside: whole numbers, numbers, flags and choices.

Every package uses these, so that the same value is accepted everywhere and refused in the same
words. A whole number is anything that Python can index with: an int, a NumPy integer of any width,
a 0-d integer array. True and False are not numbers, and 2.0 is not a whole number.
"""

import math
import operator
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_SHOWN = 60  # most characters of a wrong value in an error


def whole(name: str, value: object, low: int, high: int | None = None, *, or_: str = "") -> int:
    """Return a whole number as an int.

    Args:
        name: what it is, for the error.
        value: an int, a NumPy integer, a 0-d integer array, or what else has ``__index__``.
        low, high: the least and the greatest value allowed; no greatest if None.
        or_: what else the caller allows, for the error: "None".

    Raises:
        ValueError: not a whole number, a boolean, or outside the range; says what is allowed.

    >>> whole("target", np.int64(50), 1, 10_000), whole("seed", np.array(3), 0)
    (50, 3)
    >>> whole("games", True, 1)
    Traceback (most recent call last):
    ValueError: games=True: a whole number from 1 is needed
    """
    number = _index(value)
    if number is None or number < low or (high is not None and number > high):
        needed = f"a whole number {_span(low, high)}{or_ and f', or {or_},'}"
        raise ValueError(f"{name}={quoted(value)}: {needed} is needed")
    return number


def whole_numbers(
    name: str, values: ArrayLike, low: int, high: int, dtype: type[np.integer[Any]]
) -> NDArray[Any]:
    """Return whole numbers as an array of the given dtype; see `whole`.

    Args:
        name: what they are, for the error.
        values: integers of any shape; an empty list is one of no numbers.
        low, high: the least and the greatest value allowed; ``dtype`` holds both.
        dtype: of what is returned.

    Raises:
        ValueError: the first that is not a whole number or is outside the range.

    >>> whole_numbers("dealer", [0, 1], 0, 1, np.int8)
    array([0, 1], dtype=int8)
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or isinstance(values, list | tuple):
        # One by one: NumPy makes floats of an empty list, and of 0 beside a number from 2**63 on;
        # and 1 of True beside a number.
        array = np.asarray(values, dtype=object)
        numbers = [whole(name, value, low, high) for value in array.flat]
        return np.array(numbers, dtype=dtype).reshape(array.shape)
    outside = array[(array < low) | (array > high)]
    if outside.size:
        whole(name, outside[0], low, high)
    return array.astype(dtype)


def real(name: str, value: object, low: float | None = None, high: float | None = None) -> float:
    """Return a finite number as a float.

    Args:
        name: what it is, for the error.
        value: an int or float, a NumPy number, or a 0-d array of one.
        low, high: the least and the greatest value allowed; none if None.

    Raises:
        ValueError: not a number, a boolean, NaN, infinite, or outside the range.

    >>> real("alpha", np.float32(0.5), 0, 1)
    0.5
    >>> real("alpha", float("nan"), 0, 1)
    Traceback (most recent call last):
    ValueError: alpha=nan: a number from 0 to 1 is needed
    """
    number = _float(value)
    inside = number is not None and (low is None or low <= number)
    if number is None or not inside or (high is not None and number > high):
        span = _span(low, high)
        raise ValueError(
            f"{name}={quoted(value)}: a{'' if span else ' finite'} number{span and ' '}"
            f"{span} is needed"
        )
    return number


def flag(name: str, value: object) -> bool:
    """Return a boolean, Python's or NumPy's, as a bool.

    Raises:
        ValueError: anything else, such as 1 or "no".

    >>> flag("derived", np.bool_(True))
    True
    >>> flag("derived", "no")
    Traceback (most recent call last):
    ValueError: derived='no': True or False is needed
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, np.ndarray) and value.shape == () and value.dtype == np.bool_:
        return bool(value)
    raise ValueError(f"{name}={quoted(value)}: True or False is needed")


def one_of(name: str, value: object, allowed: Iterable[str]) -> str:
    """Return a text that is one of those allowed.

    Raises:
        ValueError: another one; says which there are, and which may have been meant.

    >>> one_of("reward", "pionts", ["win", "points"])
    Traceback (most recent call last):
    ValueError: reward='pionts': one of 'win', 'points' is needed (did you mean 'points'?)
    """
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return str(value)
    listed = ", ".join(map(repr, names))
    raise ValueError(
        f"{name}={quoted(value)}: one of {listed} is needed{did_you_mean(value, names)}"
    )


def did_you_mean(value: object, allowed: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for a text that nearly is one of those allowed, else "".

    >>> did_you_mean("glod", ["gold", "simple"])
    " (did you mean 'gold'?)"
    """
    near = get_close_matches(value.lower(), allowed, n=1) if isinstance(value, str) else []
    return f" (did you mean {near[0]!r}?)" if near else ""


def quoted(value: object, most: int = _SHOWN) -> str:
    """Return the repr of a value for an error, shortened if it is long.

    >>> quoted("x" * 100, most=5)
    "'xxxx..."
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**most:
        return f"a whole number of more than {most} digits"
    text = repr(value[: most + 1]) if isinstance(value, str) else repr(value)
    if isinstance(value, np.generic):
        text = repr(value.item())
    return text if len(text) <= most + 2 else text[:most] + "..."


def _index(value: object) -> int | None:
    """Return a whole number as an int, None for anything else."""
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _float(value: object) -> float | None:
    """Return a finite number as a float, None for anything else."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _span(low: float | None, high: float | None) -> str:
    """Return "from 0 to 1", with what is not bounded left out."""
    bounds = (("from", low), ("to", high))
    return " ".join(f"{word} {_bound(bound)}" for word, bound in bounds if bound is not None)


def _bound(bound: float) -> str:
    return "2**64 - 1" if bound == 2**64 - 1 and isinstance(bound, int) else str(bound)
