"""Games to be played, and their division into ranges: games of one pairing played by one task.

Which range a game is in changes nothing in it (see `lockstep`), so ranges can be cut as the run
goes: by how fast the pairing has turned out to be, and smaller towards the end.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ginrummy_env.core.rules import Rules
from ginrummy_env.policy import Policy, make_policy
from ginrummy_env.records.recorder import Recorder
from ginrummy_training.evaluation.lockstep import Games, Lockstep

RANGE_SECONDS = 20.0
"""Target duration of a range, as `processes.play_games` counts it: long compared with a task's
overhead, short compared with the run."""

FIRST_GAMES = 100
"""Size of a pairing's ranges until one has been timed, and of the smallest at the end: lockstep
plays that many rule agents' games in hardly more time than one."""


@dataclass(frozen=True, slots=True)
class Job:
    """Games that are to be played, of matches under one set of rules."""

    agents: tuple[str | Policy, ...]
    games: Games
    rules: Rules
    seed: int
    max_deals: int
    batch: int

    def start(
        self, made: dict[str, Policy] | None = None, recorder: Recorder | None = None
    ) -> Lockstep:
        """Start its games in this process.

        Args:
            made: policies made before, by their text; gets those that are missing. A program that
                is in it keeps playing: starting one for each range would cost more than playing.
            recorder: is given every deal that ends; see `Lockstep`.
        """
        return Lockstep(
            [_made(agent, made) for agent in self.agents],
            self.games,
            self.rules,
            seed=self.seed,
            batch=self.batch,
            max_deals=self.max_deals,
            recorder=recorder,
        )


def _made(agent: str | Policy, made: dict[str, Policy] | None) -> Policy:
    if made is None or not isinstance(agent, str):
        return make_policy(agent)
    if agent not in made:
        made[agent] = make_policy(agent)
    return made[agent]


@dataclass(slots=True)
class Range:
    """Games of one pairing that are played together."""

    job: Job
    lost: int = 0
    """How often a worker was lost that played it."""

    @property
    def match(self) -> int:
        """The number of its match."""
        return int(self.job.games.match[0])

    def __str__(self) -> str:
        """Return what a message calls it."""
        numbers = self.job.games.number
        return f"games {numbers.min()} to {numbers.max()} of match {self.match}"


@dataclass(slots=True)
class Ranges:
    """Cuts jobs into ranges.

    >>> import numpy as np
    >>> from ginrummy_env.core.rules import EAAI
    >>> from ginrummy_training.evaluation.lockstep import Games
    >>> games = Games(np.zeros(6, int), np.arange(6), np.zeros((6, 2), np.int8))
    >>> ranges = Ranges.of([Job(("simple",), games, EAAI, 0, 1000, 4096)], size=4)
    >>> [len(ranges.cut(workers=2).job.games) for _ in range(2)]
    [4, 2]
    """

    size: int | None
    """Games of a range; None: what takes `RANGE_SECONDS`."""
    waiting: deque[Job]
    """What has not been cut yet, one job per pairing."""
    lost: deque[Range] = field(default_factory=deque)
    speed: dict[int, float] = field(default_factory=dict)
    """Games a second of the match's last range."""

    @classmethod
    def of(cls, jobs: Sequence[Job], size: int | None = None) -> "Ranges":
        """Return the ranges of all games of all jobs, in order."""
        return cls(size, deque(pairing for job in jobs for pairing in by_pairing(job)))

    def cut(self, workers: int) -> Range | None:
        """Return the next range, or None if all have been cut; workers: that share what is left."""
        if self.lost:
            return self.lost.popleft()
        if not self.waiting:
            return None
        job = self.waiting.popleft()
        games = self._games(job, workers)
        if games < len(job.games):
            rest = job.games.select(slice(games, None))
            self.waiting.appendleft(replace(job, games=rest))
        return Range(replace(job, games=job.games.select(slice(games))))

    def _games(self, job: Job, workers: int) -> int:
        """Return how many games the next range has."""
        if self.size is not None:
            return self.size
        speed = self.speed.get(int(job.games.match[0]))
        if speed is None:
            return FIRST_GAMES
        fair = sum(len(other.games) for other in (job, *self.waiting)) / workers
        # At the end no worker should have a long range while the others have nothing to do.
        return max(round(min(speed * RANGE_SECONDS, max(fair, FIRST_GAMES))), 1)

    def timed(self, part: Range, seconds: float) -> None:
        """Note how long a range took."""
        self.speed[part.match] = len(part.job.games) / seconds


def by_pairing(job: Job) -> list[Job]:
    """Return a job's games as one job per pairing, which names its two agents only."""
    jobs = []
    for match in np.unique(job.games.match):
        games = job.games.select(job.games.match == match)
        pair = games.agents[0]
        two = np.broadcast_to(np.array([0, 1], dtype=np.int8), games.agents.shape)
        jobs.append(
            replace(
                job,
                agents=tuple(job.agents[number] for number in pair.tolist()),
                games=replace(games, agents=two),
            )
        )
    return jobs
