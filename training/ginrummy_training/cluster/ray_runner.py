"""Matches and tournaments on a Ray cluster: the same games as in one process.

>>> from ginrummy_training.evaluation.match import play_match
>>> play_match("simple", "gold", games=20, runner=RayRunner())  # doctest: +SKIP
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ginrummy_training.cluster.ray_task import play_range
from ginrummy_training.evaluation.processes import Failure, Report, WorkerError, quiet_start
from ginrummy_training.evaluation.ranges import Job, Range, Ranges
from ginrummy_training.provenance import environment

log = logging.getLogger(__name__)

LOCAL = "local"
"""The address of a cluster on this machine, for this run alone."""

AHEAD = 2
"""Ranges that are handed out at once for each CPU: a node always has a next one."""

LOSSES = 5
"""A range that is lost so often with its worker is taken to be the cause."""

OBJECT_STORE = 200 << 20
"""Bytes of a local cluster's object store. A range's games are half a megabyte at most."""


@dataclass(frozen=True, slots=True)
class RayRunner:
    """Plays jobs on a Ray cluster; see `ginrummy_training.evaluation.match.Runner`."""

    address: str = LOCAL
    """Of a cluster's head (``host:port``), ``"auto"`` for the one that this machine is a node of,
    or ``"local"``. If this process is connected to a cluster already, that one is used."""
    games: int | None = None
    """Of a range; by default what takes `ranges.RANGE_SECONDS`. It changes the speed, never a
    game."""
    workers: int | None = None
    """CPUs of a local cluster, ranges at once on another; by default all that there are."""

    def __post_init__(self) -> None:
        for name in ("games", "workers"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ValueError(f"{name}={number}: at least 1 is needed")

    def __call__(self, jobs: Sequence[Job], report: Report) -> None:
        """Play all games of all jobs.

        Args:
            jobs: played in order; a task plays one range of one pairing.
            report: called as ranges end, in this process.

        Raises:
            ValueError: Ray is not installed, there is no such cluster, or an agent can't be sent.
            WorkerError: a range was lost `LOSSES` times, or a node has another version.
            Exception: what an agent raised.
        """
        ranges = Ranges.of(jobs, self.games)
        if not ranges.waiting:
            return
        with connected(self.address, self.workers) as ray:
            play_ranges(ray, ranges, report, self._room)

    def _room(self, ray: Any) -> tuple[int, int]:
        """Return how many CPUs there are to play on now, and how many ranges may be handed out."""
        cpus = int(ray.cluster_resources().get("CPU", 0))
        if not cpus:
            log.warning("the cluster has no CPUs at the moment: waiting for a node")
        if self.workers is not None:
            return self.workers, self.workers
        return max(cpus, 1), AHEAD * max(cpus, 1)


def play_ranges(
    ray: Any, ranges: Ranges, report: Report, room: Callable[[Any], tuple[int, int]]
) -> None:
    """Hand out ranges as long as there are any, and report what comes back.

    When something is raised, ranges that are out end with the connection; if it is the caller's
    own, they are played to their end, for nothing. They are not cancelled: a task that ends while
    it is cancelled makes Ray abort the process (ray-project/ray#54846).

    Args:
        ray: the module, connected to a cluster.
        ranges: what is to be played.
        report: called as ranges end.
        room: returns how many CPUs there are now, and how many ranges may be out at once.
    """
    lost = _lost(ray)
    # Ray gives BLAS and torch as many threads as a task has CPUs, unless the node sets them.
    task = ray.remote(num_cpus=1, max_retries=0)(play_range)
    out: dict[Any, Range] = {}
    while True:
        cpus, places = room(ray)
        while len(out) < places and (part := ranges.cut(cpus)) is not None:
            out[_send(task, part)] = part
        if not out:
            return
        (done,), _ = ray.wait(list(out))
        part = out.pop(done)
        try:
            result = ray.get(done)
        except lost as error:
            _again(ranges, part, error)
            continue
        except ray.exceptions.RayError as error:
            raise WorkerError(f"{part}: {line(error)}") from error
        if isinstance(result, Failure):
            result.reraise()
        seconds, played = result
        ranges.timed(part, seconds)
        report(*played)


def _send(task: Any, part: Range) -> Any:
    try:
        return task.remote(part.job, environment())
    except TypeError as error:  # Ray's word for what cloudpickle refuses
        raise ValueError(f"an agent can't be sent to another machine: {line(error)}") from error


def _again(ranges: Ranges, part: Range, error: Exception) -> None:
    """Put a range back that was lost with its worker."""
    part.lost += 1
    if part.lost >= LOSSES:
        raise WorkerError(f"{part} were lost {part.lost} times with the worker: {line(error)}")
    log.warning("%s are played again: %s", part, type(error).__name__)
    ranges.lost.append(part)


def _lost(ray: Any) -> tuple[type[Exception], ...]:
    """Return the errors of a worker or node that is gone, in contrast to errors in a game."""
    errors = ray.exceptions
    return (
        errors.WorkerCrashedError,
        errors.NodeDiedError,
        errors.OutOfMemoryError,
        errors.ObjectLostError,
    )


def line(error: Exception) -> str:
    """Return the first lines of an error as one."""
    return " ".join(str(error).split())[:300]


@contextmanager
def connected(address: str, workers: int | None) -> Iterator[Any]:
    """Connect to a cluster, and leave it; one that was started here is shut down."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray reads this once. Its 30 seconds would be 40 before an address turns out to be wrong.
    os.environ.setdefault("RAY_py_gcs_connect_timeout_s", "5")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ValueError(f"{error.name} is missing: pip install -e '.[scale]'") from error
    if ray.is_initialized():
        yield ray
        return
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == LOCAL:
        settings |= {
            "num_cpus": workers,
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE,
        }
    else:
        _require_cluster(ray, address)
    try:
        with quiet_start():
            ray.init(address=address, **settings)
    except (OSError, ValueError, RuntimeError) as error:
        raise ValueError(f"Ray at {address!r}: {line(error)}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _require_cluster(ray: Any, address: str) -> None:
    """Raise ValueError if nothing answers: `ray.init` would try for ten minutes."""
    from ray._private.authentication import authentication_token_setup as tokens
    from ray._private.services import canonicalize_bootstrap_address

    logging.getLogger("ray").setLevel(logging.ERROR)
    tokens.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)  # as `ray.init` does
    try:
        ray._raylet.GcsClient(address=canonicalize_bootstrap_address(address))
    except (OSError, ValueError, ray.exceptions.RayError) as error:
        raise ValueError(f"no Ray cluster at {address!r}: {line(error)}") from error
