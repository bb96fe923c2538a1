"""What a node of the cluster does: play a range of games and return them."""

import hashlib
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import ginrummy_agents
import ginrummy_env.core
from ginrummy_training.evaluation import game_table as table
from ginrummy_training.evaluation import lockstep
from ginrummy_training.evaluation.game_table import Table
from ginrummy_training.evaluation.lockstep import Clock
from ginrummy_training.evaluation.match import versions
from ginrummy_training.evaluation.processes import Failure, Job, WorkerError

Played = tuple[NDArray[np.intp], Table, Clock]
"""What `Lockstep.collect` returns: matches, games, the time spent deciding."""


@cache
def build() -> dict[str, str]:
    """Return what decides a game beside its match: versions, and a digest of the code itself."""
    digest = hashlib.sha256()
    folders = (
        Path(package.__file__ or "").parent for package in (ginrummy_env.core, ginrummy_agents)
    )
    files = [file for folder in folders for file in sorted(folder.rglob("*"))]
    files += [Path(module.__file__ or "") for module in (lockstep, table)]
    for file in files:
        if file.suffix in (".py", ".npz", ".json"):
            digest.update(file.name.encode() + file.read_bytes())
    made = versions()
    return {
        "ginrummy_env": made["ginrummy_env"],
        "numpy": made["numpy"],
        "code": digest.hexdigest()[:12],
    }


def play_range(job: Job, asked_by: dict[str, str]) -> tuple[float, Played] | Failure:
    """Play the games of a job.

    Args:
        job: not empty.
        asked_by: `build` of the process that asks. Another one here would play other games.

    Returns:
        (seconds it took, the games), or what went wrong.
    """
    start = perf_counter()
    try:
        if build() != asked_by:
            here, there = (
                ", ".join(f"{name} {what}" for name, what in made.items())
                for made in (build(), asked_by)
            )
            raise WorkerError(f"a node has {here}; this is {there}: install the same on all nodes")
        games = job.start()
        while games.running:
            games.step()
        return perf_counter() - start, games.collect()
    except Exception as error:
        return Failure.of(error)
