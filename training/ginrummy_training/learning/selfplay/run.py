"""A run of the self-play learner: laps, workers, opponents, checkpoints, evaluations."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import ginrummy_env
from ginrummy_agents.learned.policy import Network, NetworkPolicy, load_network
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.learning.opponent_pool import assign
from ginrummy_training.learning.run_folder import FORMAT, LAST, Run, Stopwatch
from ginrummy_training.learning.selfplay.learner import Learner
from ginrummy_training.learning.selfplay.network import actor_arrays
from ginrummy_training.learning.selfplay.settings import POOL, SCRATCH, SELF, SelfPlaySettings
from ginrummy_training.learning.train import evaluate, finish
from ginrummy_training.progress import Progress, no_progress
from ginrummy_training.provenance import fingerprints

Report = Callable[[str], None]

CODE = (
    "ginrummy_agents.learned.advice",
    "ginrummy_agents.learned.scaling",
    "ginrummy_training.learning.selfplay.learner",
    "ginrummy_training.learning.selfplay.games",
    "ginrummy_training.learning.selfplay.network",
)
"""What gives a checkpoint its meaning, besides the rules and the agents."""

MEETING = ".workers"
"""A file through which the workers of a run find each other."""
PATIENCE = timedelta(hours=2)
"""How long workers wait for each other, evaluations included."""
POOL_DRAWS = 2
"""Policies of the pool that play in a lap."""


class SelfPlayRun(Run):
    """The folder of a self-play run: as that of `ginrummy train`, with this learner's settings."""

    defaults = SCRATCH
    learner = "selfplay"

    @staticmethod
    def provenance(settings: SelfPlaySettings) -> dict[str, Any]:
        """Return what decides a run besides its settings: agents and code."""
        names = {*settings.eval_opponents, *(name for name, _ in settings.opponents)}
        made_by = fingerprints(sorted((names | {settings.expert}) - {SELF, POOL, ""}), also=CODE)
        return {"format": FORMAT, "made_by": made_by}

    def network(self, policy: Learner) -> Network:
        """Return the current policy, playable with NumPy alone."""
        settings = self.settings
        about = {
            "derived": settings.derived,
            "ahead": settings.ahead,
            "units": settings.units,
            "advice": settings.advice,
            "hold": settings.hold,
            "hold_from": settings.hold_from,
            "rules": settings.rules,
            "steps": self.progress.steps,
            "seed": settings.seed,
            "ginrummy_env": ginrummy_env.__version__,
        }
        return Network(actor_arrays(policy.actor), about)

    def save(self, policy: Learner) -> None:
        """Write a checkpoint: whole or not at all."""
        self.write_checkpoint(policy.state())


def selfplay_train(
    folder: Path,
    settings: SelfPlaySettings | None = None,
    *,
    resume: bool = False,
    previous: bool = False,
    report: Report = print,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Train by self-play, or resume a run.

    Args:
        folder: of the run.
        settings: of a new run; a resumed one has its own.
        resume: continue from the last checkpoint.
        previous: from the checkpoint before it instead.
        report: called with lines of text: evaluations, and where it resumes.
        progress: called after each update, with the decisions made so far.

    Returns:
        What is in ``result.json``: games won by the best checkpoint on fresh decks.

    Raises:
        ValueError: bad settings, or a folder that holds a run already.
        ResultError: nothing to resume, or corrupt.
    """
    if resume:
        run, saved = SelfPlayRun.resume(folder, previous=previous)
    else:
        settings = settings or SCRATCH
        settings.check()
        run, saved = SelfPlayRun.start(folder, settings), None
    torch.set_num_threads(1)  # the layers are small: more threads wait for each other
    with _workers(run.settings, folder, previous):
        learner = Learner(run.settings)
        if saved is not None:
            learner.restore(saved)
            report(f"resuming after {run.progress.steps:,} decisions")
        clock = Stopwatch(run)
        watch = _Watch(run, learner, clock, report, progress)
        _laps(learner, folder, run.progress.steps, watch)
        watch.close()
        return finish(run, learner, clock, report)


def _laps(learner: Learner, folder: Path, steps: int, watch: "_Watch | None" = None) -> None:
    """Learn, lap after lap: the same in every worker, and in a run that was resumed.

    Args:
        learner: this worker's.
        folder: of the run.
        steps: decisions made before.
        watch: what the first worker does besides.
    """
    settings = learner.settings
    each = settings.num_envs * settings.num_steps
    lap = max(1, round(settings.checkpoint_every / each)) * each
    while steps < settings.steps:
        if watch is not None:
            watch.join_pool(steps - steps % _pool_interval(settings, lap))
        if settings.workers > 1:
            dist.barrier()
        learner.begin(steps)
        learner.table.invite(*_opponents(learner, folder, steps, lap))
        for _ in range(lap // each):
            logged = learner.update(steps)
            steps += each
            if watch is not None:
                watch.updated(steps, logged)
            if steps >= settings.steps:
                break
        if watch is not None:
            watch.lap_done()


def _pool_interval(settings: SelfPlaySettings, lap: int) -> int:
    return max(1, round(settings.pool_every / lap)) * lap


def pool_name(steps: int) -> str:
    """Return the file of the learner as it was after ``steps`` decisions."""
    return f"pool-{steps:012d}.npz"


def _opponents(learner: Learner, folder: Path, steps: int, lap: int) -> tuple[list[Policy], Any]:
    """Return who plays in which of a worker's games, -1 where the learner plays itself."""
    settings = learner.settings
    rng = np.random.default_rng((settings.seed, steps, learner.rank))
    names, assignment = assign(dict(settings.opponents), learner.table.env.num_envs)
    policies: list[Policy] = []
    found = np.full(len(assignment), -1)
    for number, name in enumerate(names):
        rows = np.flatnonzero(assignment == number)
        if name == SELF:
            continue
        if name == POOL:
            every = _pool_interval(settings, lap)
            ages = range(steps - steps % every, -1, -every)[: settings.pool_size]
            drawn = rng.choice(list(ages), POOL_DRAWS)
            members = [load_network(folder / pool_name(int(age))) for age in drawn]
            chosen: list[Policy] = [NetworkPolicy(member, 1.0) for member in members]
        else:
            chosen = [make_policy(name)]
        # Neighbours are of both seats: pairs of games with each.
        found[rows] = len(policies) + np.arange(len(rows)) // 2 % len(chosen)
        policies += chosen
    return policies, found


class _Watch:
    """What the first worker does besides: the log, the pool, evaluations, checkpoints."""

    def __init__(
        self,
        run: SelfPlayRun,
        learner: Learner,
        clock: Stopwatch,
        report: Report,
        progress: Progress,
    ) -> None:
        self.run, self.learner, self.clock = run, learner, clock
        self.report, self.progress = report, progress
        self.board = None
        if run.settings.tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            self.board = SummaryWriter(str(run.folder / "tensorboard"))

    def updated(self, steps: int, logged: dict[str, float]) -> None:
        """Log an update, and measure the policy if it is time."""
        progress, settings = self.run.progress, self.run.settings
        before, progress.steps = progress.steps, steps
        progress.updates += 1
        self.progress("training", steps, settings.steps)
        self.clock.note("updates")
        endings = self.learner.table.endings
        deals = max(1, endings["deals"])
        row = {**logged, "deals": deals, "deals_won": endings["won"] / deals}
        endings.clear()
        progress.rows.append(
            {"steps": steps, **{f"train/{name}": round(float(v), 6) for name, v in row.items()}}
        )
        if self.board is not None:
            for name, value in row.items():
                self.board.add_scalar(f"train/{name}", value, steps)
        if steps // settings.eval_every > before // settings.eval_every or steps >= settings.steps:
            won = evaluate(self.run, self.learner, self.report)
            if self.board is not None:
                for name, share in won.items():
                    self.board.add_scalar(f"eval/{name}", share, steps)
            self.clock.note("evaluation")

    def join_pool(self, steps: int) -> None:
        """Add a copy of the learner to the pool of opponents, named by its decisions.

        A run that ended within a lap and learns on passes those places a little later.
        """
        name = pool_name(steps)
        if POOL in dict(self.run.settings.opponents) and not (self.run.folder / name).exists():
            self.run.export(name, self.learner)

    def lap_done(self) -> None:
        """Write a checkpoint."""
        self.run.save(self.learner)
        self.run.export(LAST, self.learner)
        self.clock.note("checkpoints")

    def close(self) -> None:
        """Close what is open."""
        if self.board is not None:
            self.board.close()


@contextmanager
def _workers(settings: SelfPlaySettings, folder: Path, previous: bool) -> Iterator[None]:
    """Start the other workers of a run, and end them with it."""
    if settings.workers == 1:
        yield
        return
    (folder / MEETING).unlink(missing_ok=True)
    context = multiprocessing.get_context("spawn")
    others = [
        context.Process(target=_follow, args=(folder, rank, previous), daemon=True)
        for rank in range(1, settings.workers)
    ]
    for other in others:
        other.start()
    try:
        _meet(settings, folder, 0)
        yield
        for other in others:
            other.join()
    finally:
        for other in others:
            other.terminate()
        if dist.is_initialized():
            dist.destroy_process_group()
        (folder / MEETING).unlink(missing_ok=True)


def _meet(settings: SelfPlaySettings, folder: Path, rank: int) -> None:
    dist.init_process_group(
        "gloo",
        init_method=f"file://{(folder / MEETING).absolute()}",
        rank=rank,
        world_size=settings.workers,
        timeout=PATIENCE,
    )


def _follow(folder: Path, rank: int, previous: bool) -> None:
    """Learn as another worker than the first: it keeps no files."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first worker ends the others
    torch.set_num_threads(1)
    run, saved = SelfPlayRun.resume(folder, previous=previous)
    _meet(run.settings, folder, rank)
    learner = Learner(run.settings, rank)
    if saved is not None:
        learner.restore(saved)
    _laps(learner, folder, run.progress.steps)
    dist.destroy_process_group()
