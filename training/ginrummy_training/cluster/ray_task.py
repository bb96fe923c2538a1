"""The task of a node of the cluster: play a range of games and return them."""

from ginrummy_training.evaluation.processes import Failure, Played, WorkerError, play_games
from ginrummy_training.evaluation.ranges import Job
from ginrummy_training.provenance import environment


def play_range(job: Job, asked_by: dict[str, str]) -> tuple[float, Played] | Failure:
    """Play the games of a job.

    Args:
        job: not empty.
        asked_by: `environment` of the process that asks. Another one here would play other games.

    Returns:
        (seconds it took, the games), or what went wrong.
    """
    try:
        if environment() != asked_by:
            here, there = (
                ", ".join(f"{name} {what}" for name, what in made.items())
                for made in (environment(), asked_by)
            )
            raise WorkerError(f"a node has {here}; this is {there}: install the same on all nodes")
        return play_games(job)
    except Exception as error:
        return Failure.of(error)
