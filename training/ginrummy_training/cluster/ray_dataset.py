"""Self-play on a Ray cluster: a shard a task, the same bytes as here.

The shards come back and are written by the process that asked, so the nodes need no common disk.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ginrummy_training.cluster.ray_runner import AHEAD, LOCAL, LOSSES, connected, line
from ginrummy_training.dataset.shard_games import Plan, Report, make_shard
from ginrummy_training.dataset.shards import Shard, arrow
from ginrummy_training.evaluation.processes import Failure, WorkerError
from ginrummy_training.provenance import difference, environment


@dataclass(frozen=True, slots=True)
class RayMaker:
    """Makes shards on a Ray cluster; see `ginrummy_training.dataset.generate.Maker`."""

    address: str = LOCAL
    """See `ginrummy_training.cluster.ray_runner.RayRunner`, as for the next."""
    workers: int | None = None

    def __call__(
        self, plan: Plan, numbers: Sequence[int], games: int, report: Report
    ) -> Iterator[Shard]:
        """Yield the shards of these numbers as they are made.

        Args:
            plan: what is played.
            numbers: of the shards.
            games: total of all shards.
            report: called with the number of games of each shard, once it is made.

        Raises:
            ValueError: Ray is not installed, there is no such cluster, or an agent can't be sent.
            WorkerError: a shard was lost with its worker again and again.
            Exception: what an agent raised.
        """
        if not numbers:
            return
        with connected(self.address, self.workers) as ray:
            # A shard is a function of what it is given, so Ray itself may do it again.
            task = ray.remote(num_cpus=1, max_retries=LOSSES)(_make)
            cpus = int(ray.cluster_resources().get("CPU", 1))
            room = self.workers or AHEAD * max(cpus, 1)
            waiting = list(numbers)
            out: dict[Any, int] = {}
            # Shards that are out when something is raised are not cancelled: see `play_ranges`.
            while waiting or out:
                while waiting and len(out) < room:
                    number = waiting.pop(0)
                    try:
                        out[task.remote(plan, number, games, _surroundings(plan))] = number
                    except TypeError as error:  # Ray's word for what cloudpickle refuses
                        raise ValueError(
                            f"an agent can't be sent to another machine: {line(error)}"
                        ) from error
                (done,), _ = ray.wait(list(out))
                number = out.pop(done)
                try:
                    shard = ray.get(done)
                except ray.exceptions.RayError as error:
                    raise WorkerError(f"shard {number}: {line(error)}") from error
                if isinstance(shard, Failure):
                    shard.reraise()
                report(len(plan.range_of(number, games)))
                yield shard


def _surroundings(plan: Plan) -> dict[str, Any]:
    """Return what decides a shard besides its plan: versions, code, and files of policies."""
    return {**environment(), "pyarrow": arrow()[0].__version__, "made_by": plan.made_by()}


def _make(plan: Plan, number: int, games: int, asked_by: dict[str, Any]) -> Any:
    """Return a shard, or what went wrong."""
    try:
        here = _surroundings(plan)
        for name, there in asked_by.items():
            if here[name] != there:
                differs = f"{name} is {here[name]} on a node and {there} here"
                if name == "made_by":
                    differs = f"on a node {difference(here[name], there)}"
                raise WorkerError(f"{differs}: all nodes need the same")
        return make_shard(plan, number, games)
    except Exception as error:
        return Failure.of(error)
