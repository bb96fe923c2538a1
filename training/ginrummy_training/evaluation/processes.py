"""Games by several processes, over the same ranges that a cluster plays.

>>> run_apart(len, ["a", "bcd"], lambda task, result: print(task, result))
a 1
bcd 3
"""

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic, perf_counter, process_time
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.policy import Policy
from ginrummy_env.records.recorder import Recorder
from ginrummy_training.evaluation.game_table import Table
from ginrummy_training.evaluation.lockstep import Clock
from ginrummy_training.evaluation.ranges import Job, Range, Ranges

REPORT_SECONDS = 0.25
"""How long games that have ended may wait before they are reported."""

Played = tuple[NDArray[np.intp], Table, Clock]
"""What `Lockstep.collect` returns: matches, games, the time spent deciding."""

Report = Callable[[NDArray[np.intp], Table, Clock], None]
"""Called with the matches of games that have ended, these games, and the time spent."""

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerError(RuntimeError):
    """A process ended before its work was done."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error on its way to another process."""

    error: Exception
    notes: list[str]

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """Return the failure; an error that can't be sent is replaced by its traceback."""
        notes = getattr(error, "__notes__", [])
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            error = RuntimeError(traceback.format_exc())
        return cls(error, notes)

    def reraise(self) -> NoReturn:
        """Raise the error here."""
        arrived = getattr(self.error, "__notes__", [])  # some errors take their notes along
        for note in self.notes[len(arrived) :]:
            self.error.add_note(note)
        raise self.error


def play_jobs(jobs: Sequence[Job], report: Report, workers: int = 1) -> None:
    """Play all games of all jobs.

    Args:
        jobs: played one after another.
        report: called in this process: a few times a second if it plays alone, else after each
            range.
        workers: processes; 1 plays in this one.

    Raises:
        ValueError: an agent that is not known, or can't be sent to another process.
        WorkerError: a worker was killed.
        Exception: what an agent raised.
    """
    if workers == 1:
        for job in jobs:
            play_here(job, report)
        return
    ranges = Ranges.of([replace(job, batch=-(-job.batch // workers)) for job in jobs])

    def receive(part: Range, result: tuple[float, Played]) -> None:
        seconds, played = result
        ranges.timed(part, seconds)
        report(*played)

    run_apart(_play_range, iter(lambda: ranges.cut(workers), None), receive, workers)


def play_games(job: Job, made: dict[str, Policy] | None = None) -> tuple[float, Played]:
    """Play all games of a job together; return the seconds that it took, and the games.

    They are seconds of the processor: on a machine that does other work too, ranges would become
    small, and small ranges cost more. Programs outside do not play on this process's time: with
    them they are seconds of the clock.

    Args:
        job: not empty.
        made: policies that are kept from job to job, by their text; see `Job.start`.
    """
    clock, processor = perf_counter(), process_time()
    games = job.start(made)
    while games.running:
        games.step()
    clock, processor = perf_counter() - clock, process_time() - processor
    return clock if games.remembers else processor, games.collect()


_MADE: dict[str, Policy] = {}
"""The policies of a worker process, from range to range."""


def _play_range(part: Range) -> tuple[float, Played]:
    return play_games(part.job, _MADE)


def play_here(job: Job, report: Report, recorder: Recorder | None = None) -> None:
    """Play a job in this process; a recorder is given every deal that ends."""
    if not len(job.games):
        return
    lockstep = job.start(recorder=recorder)
    due = monotonic() + REPORT_SECONDS
    while lockstep.running:
        lockstep.step()
        if monotonic() >= due:
            report(*lockstep.collect())
            due = monotonic() + REPORT_SECONDS
    report(*lockstep.collect())


def run_apart(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    receive: Callable[[Task, Result], None],
    workers: int = 1,
) -> None:
    """Do tasks in processes of one core each.

    Args:
        work: a function of a module.
        tasks: can be pickled. The next one is asked for when a process is about to be free.
        receive: called in this process with each task and its result, as results come.
        workers: processes; 1 does all tasks in this one.

    Raises:
        ValueError: a task can't be sent to another process.
        WorkerError: a process was killed.
        Exception: what the work raised; the other processes are ended.
    """
    if workers == 1:
        for task in tasks:
            receive(task, work(task))
        return
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_start_worker
    )
    out: dict[Future[Any], Task] = {}
    waiting = iter(tasks)
    try:
        while True:
            while len(out) <= workers:
                following = next(waiting, None)
                if following is None:
                    break
                out[_submit(pool, work, following)] = following
            if not out:
                break
            # Not without a limit: on Windows nothing interrupts such a wait.
            for future in wait(out, timeout=1, return_when=FIRST_COMPLETED).done:
                result = future.result()
                if isinstance(result, Failure):
                    result.reraise()
                receive(out.pop(future), result)
    except BrokenProcessPool as error:
        raise WorkerError("a worker process was killed, or ran out of memory") from error
    finally:
        _end(pool)


def _submit(
    pool: ProcessPoolExecutor, work: Callable[[Task], Result], task: Task
) -> "Future[Result | Failure]":
    try:
        pickle.dumps(task)  # here: in the pool's own thread the reason would be hard to tell
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise ValueError(
            f"an agent can't be sent to another process, use workers=1: {error}"
        ) from error
    with quiet_start():
        return pool.submit(_work, work, task)


def _work(work: Callable[[Task], Result], task: Task) -> Result | Failure:
    """Do a task in a worker process."""
    try:
        return work(task)
    except Exception as error:
        return Failure.of(error)


def _start_worker() -> None:
    """Leave Ctrl-C to the process that started this one, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _end(pool: ProcessPoolExecutor) -> None:
    """End a pool at once, also in the middle of tasks."""
    processes = [*(pool._processes or {}).values()]  # Python 3.14 has `terminate_workers`
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()


@contextmanager
def quiet_start() -> Iterator[None]:
    """Start processes that use one core each and leave Ctrl-C to this one."""
    threads = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    os.environ.update(dict.fromkeys(threads, "1"))
    # Held back, not ignored: a Ctrl-C that comes just now reaches this process afterwards.
    held = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if held else set()
    try:
        yield
    finally:
        if held:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for name, value in threads.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
