"""What a node of the cluster does: play a range of games and return them."""

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ginrummy_training.evaluation.game_table import Table
from ginrummy_training.evaluation.lockstep import Clock
from ginrummy_training.evaluation.processes import Failure, Job, WorkerError
from ginrummy_training.provenance import environment

Played = tuple[NDArray[np.intp], Table, Clock]
"""What `Lockstep.collect` returns: matches, games, the time spent deciding."""


def play_range(job: Job, asked_by: dict[str, str]) -> tuple[float, Played] | Failure:
    """Play the games of a job.

    Args:
        job: not empty.
        asked_by: `environment` of the process that asks. Another one here would play other games.

    Returns:
        (seconds it took, the games), or what went wrong.
    """
    start = perf_counter()
    try:
        if environment() != asked_by:
            here, there = (
                ", ".join(f"{name} {what}" for name, what in made.items())
                for made in (environment(), asked_by)
            )
            raise WorkerError(f"a node has {here}; this is {there}: install the same on all nodes")
        games = job.start()
        while games.running:
            games.step()
        return perf_counter() - start, games.collect()
    except Exception as error:
        return Failure.of(error)
