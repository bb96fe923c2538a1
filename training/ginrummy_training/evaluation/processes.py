"""Games by several processes: each plays its share of every job and sends what has ended.

Which process plays a game changes nothing (see `lockstep`), so shares are dealt out at the start
and nothing needs to be agreed on later.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from time import monotonic
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.rules import Rules
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.evaluation.game_table import Table
from ginrummy_training.evaluation.lockstep import Clock, Games, Lockstep

REPORT_SECONDS = 0.25
"""How long games that have ended may wait before they are reported."""


@dataclass(frozen=True, slots=True)
class Job:
    """Games that are to be played, of matches under one set of rules."""

    agents: tuple[str | Policy, ...]
    games: Games
    rules: Rules
    seed: int
    max_deals: int
    batch: int

    def share(self, worker: int, workers: int) -> "Job":
        """Return the part of one worker: every so-many-th game."""
        games = self.games.select(slice(worker, None, workers))
        return replace(self, games=games, batch=-(-self.batch // workers))

    def start(self) -> Lockstep:
        """Start its games in this process."""
        return Lockstep(
            [make_policy(agent) for agent in self.agents],
            self.games,
            self.rules,
            seed=self.seed,
            batch=self.batch,
            max_deals=self.max_deals,
        )


Report = Callable[[NDArray[np.intp], Table, Clock], None]
"""Called with the matches of games that have ended, these games, and the time spent."""


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
        jobs: played one after another by each worker.
        report: called a few times a second, in this process.
        workers: processes; 1 plays in this one.

    Raises:
        ValueError: an agent that is not known, or can't be sent to another process.
        WorkerError: a worker was killed.
        Exception: what an agent raised.
    """
    if workers == 1:
        for job in jobs:
            _play(job, report)
    else:
        _play_apart(jobs, report, workers)


def _play(job: Job, report: Report) -> None:
    """Play a job in this process."""
    if not len(job.games):
        return
    lockstep = job.start()
    due = monotonic() + REPORT_SECONDS
    while lockstep.running:
        lockstep.step()
        if monotonic() >= due:
            # Also without games: a worker so learns that nobody is listening any more.
            report(*lockstep.collect())
            due = monotonic() + REPORT_SECONDS
    report(*lockstep.collect())


def _play_apart(jobs: Sequence[Job], report: Report, workers: int) -> None:
    shares = [[job.share(worker, workers) for job in jobs] for worker in range(workers)]
    run_apart(_play_all, shares, lambda message: report(*message))


def _play_all(jobs: list[Job], send: Callable[[Any], None]) -> None:
    """Play a worker's shares of all jobs."""
    for job in jobs:
        _play(job, lambda *message: send(message))


Work = Callable[[Any, Callable[[Any], None]], None]
"""A function of a module, called with a share and with what sends something back."""


def run_apart(work: Work, shares: Sequence[Any], receive: Callable[[Any], None]) -> None:
    """Do work in processes of one core each, one a share.

    Args:
        work: what each process does with its share.
        shares: one a process; can be pickled.
        receive: called here with all that is sent back, as it comes.

    Raises:
        ValueError: a share that can't be sent to another process.
        WorkerError: a process was killed.
        Exception: what the work raised; the other processes are ended.
    """
    context = multiprocessing.get_context("spawn")
    processes: list[SpawnProcess] = []
    open_ends: dict[Connection, SpawnProcess] = {}
    try:
        with quiet_start():
            for share in shares:
                mine, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(theirs, work, share), daemon=True)
                try:
                    process.start()
                except (TypeError, AttributeError, pickle.PicklingError) as error:
                    raise ValueError(
                        f"an agent can't be sent to another process, use workers=1: {error}"
                    ) from error
                theirs.close()
                processes.append(process)
                open_ends[mine] = process
        while open_ends:
            for end in wait(list(open_ends)):
                assert isinstance(end, Connection)
                _receive(end, open_ends, receive)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _receive(
    end: Connection, open_ends: dict[Connection, SpawnProcess], receive: Callable[[Any], None]
) -> None:
    """Take one message from a worker."""
    try:
        kind, content = end.recv()
    except EOFError:
        process = open_ends.pop(end)
        process.join()
        raise WorkerError(
            f"a worker process ended unexpectedly (exit code {process.exitcode})"
        ) from None
    if kind == "done":
        del open_ends[end]
    elif kind == "error":
        content.reraise()
    else:
        receive(content)


@contextmanager
def quiet_start() -> Iterator[None]:
    """Start processes that use one core each and leave Ctrl-C to this one."""
    threads = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    os.environ.update(dict.fromkeys(threads, "1"))
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
        for name, value in threads.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(end: Connection, work: Work, share: Any) -> None:
    """Do a share in a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        work(share, lambda content: end.send(("sent", content)))
        end.send(("done", None))
    except BrokenPipeError:
        return  # whoever asked is gone
    except Exception as error:
        end.send(("error", Failure.of(error)))
