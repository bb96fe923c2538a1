"""Imitation: a network learns to act as a rule or search agent does, before it learns by itself.

The teacher plays thousands of games at once and is asked for its action in every position; the
network learns these (masked cross-entropy) and the outcome of the deal (its value). Nothing is
stored and nothing is seen twice: positions are played faster than they are learned.

Or the lessons are decisions that `selfplay` has kept (`recorded`): a slow teacher is then asked
once for many runs.

Three kinds of games are played side by side: teacher against teacher, teacher against another
agent, and, once the network has learned something, the network against either, where the teacher
only says what it would have done. Without the last the network would know no position into which
its own mistakes lead (Ross, Gordon and Bagnell, "DAgger", 2011).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import cos, pi
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ginrummy_agents.learned.inputs import features
from ginrummy_env.core.chance import Purpose, RowRandom, policy_keys
from ginrummy_env.core.game import new_games, next_deals, restart
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.dataset.shards import Data, load
from ginrummy_training.learning.network import SuitPolicy
from ginrummy_training.learning.run_folder import Run, Stopwatch
from ginrummy_training.learning.settings import TrainSettings
from ginrummy_training.learning.win_chance import TEACHING_GAMES, WinChance

TEACHER, OTHER, STUDENT = 0, 1, 2
"""Who decides for a player."""

SEATS = np.array(
    [(TEACHER, TEACHER), (TEACHER, OTHER), (OTHER, TEACHER), (STUDENT, OTHER),
     (OTHER, STUDENT), (STUDENT, TEACHER), (TEACHER, STUDENT), (TEACHER, TEACHER)],
    dtype=np.int8,
)  # fmt: skip
"""Who sits where: row i of the games has line i mod 8."""


@dataclass(slots=True)
class Lessons:
    """Positions, what the teacher does in them, and how the deal ended."""

    observations: NDArray[np.float32]  # [P, size]
    masks: NDArray[np.bool_]  # [P, 108]
    actions: NDArray[np.int64]  # [P] the teacher's
    values: NDArray[np.float32]  # [P] what the deal paid the player to move; NaN: not over yet

    def __len__(self) -> int:
        """Return P."""
        return len(self.actions)


class Classroom:
    """Games in which the teacher is asked for its action, wherever it or the network decides."""

    def __init__(
        self,
        policy: SuitPolicy,
        teacher: str | Policy,
        other: str | Policy,
        rules: Rules,
        *,
        derived: bool = True,
        ahead: bool = True,
        games: int = 512,
        seed: int = 0,
        chance: WinChance | None = None,
    ) -> None:
        """Start the games.

        Args:
            policy: the network that learns.
            teacher: whom it imitates.
            other: who plays against the teacher and the network in half of the games.
            rules: the settings.
            derived, ahead: which planes the network sees.
            games: how many are played at once.
            seed: of decks and agents.
            chance: values are the change in the chance of winning; points / 100 if None.
        """
        self.policy, self.rules = policy, rules
        self.derived, self.ahead = derived, ahead
        self.teacher, self.other = make_policy(teacher), make_policy(other)
        self.chance = chance
        numbers = np.arange(games, dtype=np.uint64) + np.uint64(TEACHING_GAMES)
        self._next_number = TEACHING_GAMES + games
        self.state = new_games(seed, numbers, rules)
        self.seats = SEATS[np.arange(games) % len(SEATS)]
        self.student_plays = False

    def lessons(self, steps: int) -> Lessons:
        """Play so many steps in every game and return the positions in which there was a choice."""
        state, count = self.state, len(self.state)
        every = np.arange(count)
        seen: list[tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.int64]]] = []
        who: list[tuple[NDArray[np.int64], NDArray[np.int8]]] = []  # their deals and players
        deal = every.copy()  # the number of each row's deal, in this part
        deals = count
        paid = np.full(count * (steps + 1), np.nan)  # by deal, to player 0
        for _ in range(steps):
            view = make_view(state, self.rules)
            seats = self.seats[every, state.player]
            moments = policy_keys(
                Purpose.IMITATION,
                state.seed,
                state.game_number,
                state.deal_number,
                state.step_count,
            )
            actions = np.empty(count, dtype=np.int16)
            others = np.flatnonzero(seats == OTHER)
            actions[others] = self.other.act(view.select(others), RowRandom(moments[others]))
            rows = np.flatnonzero(seats != OTHER)
            mine = view.select(rows)
            observations, masks = features(mine, self.derived, self.ahead), mine.action_masks()
            taught = self.teacher.act(mine, RowRandom(moments[rows]))
            actions[rows] = taught
            own = np.flatnonzero(seats[rows] == STUDENT)
            if self.student_plays and own.size:
                actions[rows[own]] = best_actions(self.policy, observations[own], masks[own])
            choice = masks.sum(axis=1) > 1
            seen.append((observations[choice], masks[choice], taught[choice].astype(np.int64)))
            who.append((deal[rows[choice]], state.player[rows[choice]]))
            before = state.scores.copy()
            step(state, actions, self.rules)
            ended = np.flatnonzero(state.over)
            if ended.size:
                paid[deal[ended]] = self._pay(ended, before[ended])
                deal[ended] = np.arange(deals, deals + len(ended))
                deals += len(ended)
                self._deal_on(ended)
        values = [paid[numbers] * (1.0 - 2.0 * players) for numbers, players in who]
        return Lessons(
            np.concatenate([part[0] for part in seen]),
            np.concatenate([part[1] for part in seen]),
            np.concatenate([part[2] for part in seen]),
            np.concatenate(values).astype(np.float32),
        )

    def _pay(self, rows: NDArray[np.intp], before: NDArray[np.int16]) -> NDArray[np.float64]:
        """Return what the deals that have ended paid player 0."""
        state = self.state
        if self.chance is not None:
            return 2 * (self.chance(state.scores[rows]) - self.chance(before))
        winner = state.winner[rows]
        sign = np.where(winner == NOBODY, 0.0, 1.0 - 2.0 * winner)
        return sign * state.points[rows] / 100

    def _deal_on(self, rows: NDArray[np.intp]) -> None:
        """Deal the next deal, or start the next game."""
        state = self.state
        over = rows[state.phase[rows] == Phase.GAME_OVER]
        next_deals(state, self.rules, rows[state.phase[rows] == Phase.DEAL_OVER])
        if over.size:
            numbers = np.arange(len(over), dtype=np.uint64) + np.uint64(self._next_number)
            self._next_number += len(over)
            restart(state, over, state.seed[over], numbers, self.rules)


RECORDED_LESSONS = 16_384
"""Lessons of a portion that come from a folder, at most."""


def recorded(
    settings: TrainSettings, rules: Rules, chance: WinChance | None, rng: np.random.Generator
) -> Iterator[Lessons]:
    """Yield the teacher's decisions in a folder of self-play, round after round, in new orders.

    Args:
        settings: which folder, whose decisions, which planes.
        rules: of the run; the folder's must be the same.
        chance: what deals pay, see `Classroom`.
        rng: for the order.

    Raises:
        ValueError: games under other rules, or none of the teacher.
        ResultError: no such data, or damaged.
    """
    folder = Path(settings.data)
    if Data(folder).rules != rules:
        raise ValueError(f"{folder}: games under other rules than rules={settings.rules!r}")
    size = min(RECORDED_LESSONS, max(settings.lesson_batch, settings.lessons // 16))
    while True:
        found = 0
        for batch in load(folder, agent=settings.teacher, batch=size, rng=rng):
            choice = np.flatnonzero(batch.view.action_masks().sum(axis=1) > 1)
            found += len(choice)
            view = batch.view.select(choice)
            points = batch.later["result_points"][choice]
            if chance is None:
                paid = points / 100
            else:
                won = np.stack([np.maximum(points, 0), np.maximum(-points, 0)], axis=1)
                paid = 2 * (chance(view.scores + won) - chance(view.scores))
            yield Lessons(
                features(view, settings.derived, settings.ahead),
                view.action_masks(),
                batch.actions[choice].astype(np.int64),
                paid.astype(np.float32),
            )
        if not found:
            raise ValueError(f"{folder}: no decision of {settings.teacher!r} is there to learn")


def played(room: Classroom, run: Run) -> Iterator[Lessons]:
    """Yield what the teacher says in games without end; the network plays too, after a while."""
    while True:
        room.student_plays = run.progress.lessons / run.settings.lessons > PLAY_AFTER
        yield room.lessons(CHUNK_STEPS)


def best_actions(
    policy: SuitPolicy, observations: NDArray[np.float32], masks: NDArray[np.bool_]
) -> NDArray[np.int16]:
    """Return the network's legal action with the highest logit, [N] int16."""
    with torch.no_grad():
        features = policy.extract_features(torch.from_numpy(observations))
        logits = policy.action_net(features).numpy()
    return np.where(masks, logits, -np.inf).argmax(axis=1).astype(np.int16)


def losses(
    policy: SuitPolicy, lessons: Lessons, rows: NDArray[np.intp]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the masked cross-entropy, the squared error of the value, and how often it agrees."""
    features = policy.extract_features(torch.from_numpy(lessons.observations[rows]))
    logits = policy.action_net(features)
    logits = logits.masked_fill(torch.from_numpy(~lessons.masks[rows]), -1e8)
    actions = torch.from_numpy(lessons.actions[rows])
    agree = (logits.argmax(1) == actions).float().mean()
    paid = torch.from_numpy(lessons.values[rows])
    known = ~torch.isnan(paid)
    error = (policy.value_net(features).flatten() - paid)[known].square()
    return nn.functional.cross_entropy(logits, actions), error.sum() / len(rows), agree


CHUNK_STEPS = 64
"""Steps of all games that make a portion of lessons; deals in play at its end have no value yet."""

PLAY_AFTER = 0.1
"""The share of the lessons after which the network plays some of the games itself."""

VALUE_WEIGHT = 0.5
"""Of the value's error beside the cross-entropy."""

SAVE_SECONDS = 60.0


def imitate(
    run: Run,
    policy: SuitPolicy,
    rules: Rules,
    chance: WinChance | None,
    clock: Stopwatch,
    *,
    games: int = 512,
    say: Callable[[str], None] = print,
    progress_bar: bool = False,
) -> None:
    """Teach the network what the run's teacher does, as many lessons as its settings say.

    A run that is taken up goes on with new games, or with a new order of those that are recorded.

    Args:
        run: its settings and progress; the log and checkpoints are written as it goes.
        policy: changed in place.
        rules: the settings of the games.
        chance: what deals pay, see `Classroom`.
        clock: is told what the time goes into.
        games: how many are played at once.
        say: is told how it goes.
        progress_bar: show one.
    """
    settings, progress = run.settings, run.progress
    rng = np.random.default_rng((settings.seed, progress.lessons))
    if settings.data:
        source = recorded(settings, rules, chance, rng)
    else:
        room = Classroom(
            policy,
            settings.teacher,
            "simple",
            rules,
            derived=settings.derived,
            ahead=settings.ahead,
            games=min(games, max(16, settings.lessons // 512)),
            seed=settings.seed + 1_000_000 * progress.restarts,
            chance=chance,
        )
        source = played(room, run)
    saved, told = perf_counter(), 0.0
    with lessons_bar(progress_bar, settings.lessons) as advance:
        while progress.lessons < settings.lessons:
            done = progress.lessons / settings.lessons
            lessons = next(source)
            rate = settings.lesson_rate * (0.02 + 0.98 * (1 + cos(pi * done)) / 2)
            learned = learn(policy, lessons, rate, settings.lesson_batch, rng)
            progress.lessons += len(lessons)
            advance(progress.lessons)
            clock.note("imitation")
            progress.rows.append(
                {
                    "steps": 0,
                    "lessons": progress.lessons,
                    "seconds": round(progress.seconds, 1),
                    "imitation/loss": round(learned[0], 5),
                    "imitation/value_error": round(learned[1], 5),
                    "imitation/agrees": round(learned[2], 5),
                }
            )
            if perf_counter() - saved > SAVE_SECONDS:
                run.save(policy)
                saved = perf_counter()
            if done >= told:
                say(
                    f"{progress.seconds:6.0f} s  {progress.lessons:,} lessons  "
                    f"loss {learned[0]:.3f}, agrees {100 * learned[2]:.1f} %"
                )
                told += 0.1


def learn(
    policy: SuitPolicy, lessons: Lessons, rate: float, batch: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Learn lessons once, in random order; return the means of loss, value error, agreement."""
    for group in policy.optimizer.param_groups:
        group["lr"] = rate
    policy.set_training_mode(True)
    order = rng.permutation(len(lessons))
    told = []
    for rows in np.array_split(order, max(1, len(order) // batch)):
        loss, error, agree = losses(policy, lessons, rows)
        policy.optimizer.zero_grad()
        (loss + VALUE_WEIGHT * error).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        policy.optimizer.step()
        told.append((loss.item(), error.item(), agree.item()))
    loss_mean, error_mean, agree_mean = np.mean(told, axis=0)
    return float(loss_mean), float(error_mean), float(agree_mean)


@contextmanager
def lessons_bar(show: bool, total: int) -> Iterator[Callable[[int], None]]:
    """Show how many lessons have been learned, if asked to."""
    if not show:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("imitation", total=total)
        yield lambda done: bar.update(task, completed=done)
