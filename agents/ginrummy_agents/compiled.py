"""Whether hot loops run as compiled kernels: with the extra ``fast``, which installs numba.

Each kernel (``kernels.py``) stands behind a NumPy function that gives the same, bit for bit. A
kernel is compiled when it is first used, and kept on disk for the next time.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np

VARIABLE = "GINRUMMY_FAST"
"""Environment variable: 0 turns the kernels off."""

NOTICE_SECONDS = 1.0
"""A first use that takes longer says why."""


@cache
def available() -> bool:
    """Return whether numba is installed."""
    return find_spec("numba") is not None


def in_use() -> bool:
    """Return whether kernels are used: numba is installed, and `VARIABLE` is not 0."""
    return os.environ.get(VARIABLE, "1") != "0" and available()


@contextmanager
def kernels(used: bool) -> Iterator[None]:
    """Turn the kernels on or off for a while, in this process and those that it starts."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1" if used else "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def kernel_of(sources: Iterable[str], tables: Iterable[Any]) -> Callable[..., Any]:
    """Return a decorator that compiles functions, which are kept on disk.

    numba looks at the date of one source only, and what a function calls or reads of its module
    becomes part of the code. So the file's name on disk has a hash of all.

    Args:
        sources: the file of the functions, and those of the compiled functions that they call.
        tables: arrays and numbers that they read.
    """
    from numba import njit

    parts = [Path(source).read_bytes() for source in sources]
    read = b"".join([*parts, *(np.asarray(each).tobytes() for each in tables)])
    digest = sha256(read).hexdigest()[:16]

    def kernel(function: Callable[..., Any], **options: Any) -> Any:
        function.__qualname__ += f"_{digest}"  # numba names the file by it
        return njit(cache=True, **options)(function)

    return kernel


@contextmanager
def first_use(what: str) -> Iterator[None]:
    """Say so on standard error if the block, which compiles, takes longer than a second."""
    if what in _used:
        yield
        return
    timer = Timer(NOTICE_SECONDS, _notice, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    _used.add(what)


_used: set[str] = set()


def _notice(what: str) -> None:
    print(
        f"preparing {what}: compiled when first used, then kept on disk",
        file=sys.stderr,
        flush=True,
    )
