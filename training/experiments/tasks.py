"""The same work on many things, by one process or several; results come as they are ready."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def run_tasks(
    work: Callable[[T], R], things: Sequence[T], workers: int = 1
) -> Iterator[tuple[int, R]]:
    """Yield (place, result) for each thing, in the order in which they are ready.

    Args:
        work: a function of a module, so that other processes can find it.
        things: what it is called with.
        workers: processes; 1 works in this one.

    Raises:
        Exception: what ``work`` raised. A process that is killed is replaced by the pool, but its
            result never comes: stop, and go on from what was saved.
    """
    if workers == 1 or len(things) < 2:
        for place, thing in enumerate(things):
            yield place, work(thing)
        return
    numbered = [(work, place, thing) for place, thing in enumerate(things)]
    with multiprocessing.get_context("spawn").Pool(min(workers, len(things))) as pool:
        yield from pool.imap_unordered(_call, numbered)


def _call(task: tuple[Callable[[T], R], int, T]) -> tuple[int, R]:
    work, place, thing = task
    return place, work(thing)
