"""Imitation: the network learns to act as an expert (a rule or search agent) does, before PPO.

The expert plays many games at once and chooses an action in every position; the network learns
these actions (masked cross-entropy) and what the deal paid (its value). No sample is stored or used
twice: playing positions is faster than learning them.

With recorded data (`recorded`) the samples are decisions that `ginrummy selfplay` has written, so
that a slow expert is asked only once for many runs.

Three kinds of games run side by side: expert against expert, expert against another agent, and,
after a while, the network against either, in which the expert only labels the positions. Without
these the network would never see the positions that its own mistakes lead to (Ross, Gordon and
Bagnell, "DAgger", 2011).
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
from ginrummy_env.core.chance import FirstGame, Purpose, RowRandom, policy_keys
from ginrummy_env.core.game import new_games, next_deals, restart
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.dataset.reader import load
from ginrummy_training.learning.network import SuitPolicy
from ginrummy_training.learning.run_folder import Run, Stopwatch
from ginrummy_training.learning.settings import TrainSettings
from ginrummy_training.learning.win_chance import WinChance
from ginrummy_training.progress import progress_bar

EXPERT, OTHER, LEARNER = 0, 1, 2
"""Who decides for a player."""

SEATS = np.array(
    [(EXPERT, EXPERT), (EXPERT, OTHER), (OTHER, EXPERT), (LEARNER, OTHER),
     (OTHER, LEARNER), (LEARNER, EXPERT), (EXPERT, LEARNER), (EXPERT, EXPERT)],
    dtype=np.int8,
)  # fmt: skip
"""Who plays which seat: row i of the games has line i mod 8."""


@dataclass(slots=True)
class Samples:
    """Positions, the expert's action in each, and what the deal paid."""

    observations: NDArray[np.float32]  # [P, size]
    masks: NDArray[np.bool_]  # [P, 108]
    actions: NDArray[np.int64]  # [P] the expert's
    values: NDArray[np.float32]  # [P] the mover's pay for the deal; NaN: it is not over

    def __len__(self) -> int:
        """Return P."""
        return len(self.actions)


class ExpertGames:
    """Games in which the expert labels every position that it or the network decides."""

    def __init__(
        self,
        policy: SuitPolicy,
        expert: str | Policy,
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
            expert: the agent to imitate.
            other: plays against the expert and the network in half of the games.
            rules: of the games.
            derived, ahead: which planes the network sees.
            games: games at once.
            seed: of decks and agents.
            chance: makes values the change in the chance of winning; points / 100 if None.
        """
        self.policy, self.rules = policy, rules
        self.derived, self.ahead = derived, ahead
        self.expert, self.other = make_policy(expert), make_policy(other)
        self.chance = chance
        numbers = np.arange(games, dtype=np.uint64) + np.uint64(FirstGame.LEARNING)
        self._next_number = FirstGame.LEARNING + games
        self.state = new_games(seed, numbers, rules)
        self.seats = SEATS[np.arange(games) % len(SEATS)]
        self.learner_plays = False

    def samples(self, steps: int) -> Samples:
        """Play ``steps`` steps in every game; return the positions that left a choice."""
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
            wanted = self.expert.act(mine, RowRandom(moments[rows]))
            actions[rows] = wanted
            own = np.flatnonzero(seats[rows] == LEARNER)
            if self.learner_plays and own.size:
                actions[rows[own]] = best_actions(self.policy, observations[own], masks[own])
            choice = masks.sum(axis=1) > 1
            seen.append((observations[choice], masks[choice], wanted[choice].astype(np.int64)))
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
        return Samples(
            np.concatenate([part[0] for part in seen]),
            np.concatenate([part[1] for part in seen]),
            np.concatenate([part[2] for part in seen]),
            np.concatenate(values).astype(np.float32),
        )

    def _pay(self, rows: NDArray[np.intp], before: NDArray[np.int16]) -> NDArray[np.float64]:
        """Return what the deals that have ended paid player 0, [E]."""
        state = self.state
        if self.chance is not None:
            return 2 * (self.chance(state.scores[rows]) - self.chance(before))
        winner = state.winner[rows]
        sign = np.where(winner == NOBODY, 0.0, 1.0 - 2.0 * winner)
        return sign * state.points[rows] / 100

    def _deal_on(self, rows: NDArray[np.intp]) -> None:
        """Deal the next deal of a game, or start another game."""
        state = self.state
        over = rows[state.phase[rows] == Phase.GAME_OVER]
        next_deals(state, self.rules, rows[state.phase[rows] == Phase.DEAL_OVER])
        if over.size:
            numbers = np.arange(len(over), dtype=np.uint64) + np.uint64(self._next_number)
            self._next_number += len(over)
            restart(state, over, state.seed[over], numbers, self.rules)


RECORDED_SAMPLES = 16_384
"""Most samples read from a folder at once."""


def recorded(
    settings: TrainSettings, chance: WinChance | None, rng: np.random.Generator
) -> Iterator[Samples]:
    """Yield the expert's decisions in a folder of self-play, without end, reshuffled each time.

    Args:
        settings: the folder, the expert and the planes.
        chance: what deals pay, see `ExpertGames`.
        rng: for the order.

    Raises:
        ValueError: the expert made no decision there.
        ResultError: no such data, or corrupt.
    """
    folder = Path(settings.data)
    size = min(RECORDED_SAMPLES, max(settings.imitation_batch, settings.imitation_samples // 16))
    while True:
        found = 0
        for batch in load(folder, agent=settings.expert, batch=size, rng=rng):
            choice = np.flatnonzero(batch.view.action_masks().sum(axis=1) > 1)
            found += len(choice)
            view = batch.view.select(choice)
            points = batch.later["result_points"][choice]
            if chance is None:
                paid = points / 100
            else:
                won = np.stack([np.maximum(points, 0), np.maximum(-points, 0)], axis=1)
                paid = 2 * (chance(view.scores + won) - chance(view.scores))
            yield Samples(
                features(view, settings.derived, settings.ahead),
                view.action_masks(),
                batch.actions[choice].astype(np.int64),
                paid.astype(np.float32),
            )
        if not found:
            raise ValueError(f"{folder}: {settings.expert!r} never had a choice there")


def played(games: ExpertGames, run: Run) -> Iterator[Samples]:
    """Yield samples from games without end; after a while the network plays too."""
    while True:
        done = run.progress.samples / run.settings.imitation_samples
        games.learner_plays = done > PLAY_AFTER
        yield games.samples(CHUNK_STEPS)


def best_actions(
    policy: SuitPolicy, observations: NDArray[np.float32], masks: NDArray[np.bool_]
) -> NDArray[np.int16]:
    """Return the network's legal action with the highest logit, [N] int16."""
    with torch.no_grad():
        features = policy.extract_features(torch.from_numpy(observations))
        logits = policy.action_net(features).numpy()
    return np.where(masks, logits, -np.inf).argmax(axis=1).astype(np.int16)


def losses(
    policy: SuitPolicy, samples: Samples, rows: NDArray[np.intp]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the masked cross-entropy, the value's squared error, and the share that agrees."""
    features = policy.extract_features(torch.from_numpy(samples.observations[rows]))
    logits = policy.action_net(features)
    logits = logits.masked_fill(torch.from_numpy(~samples.masks[rows]), -1e8)
    actions = torch.from_numpy(samples.actions[rows])
    agree = (logits.argmax(1) == actions).float().mean()
    paid = torch.from_numpy(samples.values[rows])
    known = ~torch.isnan(paid)
    error = (policy.value_net(features).flatten() - paid)[known].square()
    return nn.functional.cross_entropy(logits, actions), error.sum() / len(rows), agree


CHUNK_STEPS = 64
"""Steps per game between updates; deals still in play at the end have no value."""

PLAY_AFTER = 0.1
"""Share of the samples after which the network plays some of the games itself."""

VALUE_WEIGHT = 0.5
"""Weight of the value's error; the cross-entropy has weight 1."""

SAVE_SECONDS = 60.0


def imitate(
    run: Run,
    policy: SuitPolicy,
    rules: Rules,
    chance: WinChance | None,
    clock: Stopwatch,
    *,
    games: int = 512,
    report: Callable[[str], None] = print,
    progress_bar: bool = False,
) -> None:
    """Train the network on as many samples of the run's expert as its settings say.

    A resumed run plays new games, or reads recorded ones in a new order.

    Args:
        run: its settings and progress; log and checkpoints are written along the way.
        policy: changed in place.
        rules: of the games.
        chance: what deals pay, see `ExpertGames`.
        clock: records what the time is spent on.
        games: games at once.
        report: called with a line of text now and then.
        progress_bar: whether to show one.
    """
    settings, progress = run.settings, run.progress
    rng = np.random.default_rng((settings.seed, progress.samples))
    if settings.data:
        source = recorded(settings, chance, rng)
    else:
        expert_games = ExpertGames(
            policy,
            settings.expert,
            "simple",
            rules,
            derived=settings.derived,
            ahead=settings.ahead,
            games=min(games, max(16, settings.imitation_samples // 512)),
            seed=run.deck_seed(),
            chance=chance,
        )
        source = played(expert_games, run)
    saved, reported = perf_counter(), 0.0
    with samples_bar(progress_bar, settings.imitation_samples) as advance:
        while progress.samples < settings.imitation_samples:
            done = progress.samples / settings.imitation_samples
            samples = next(source)
            rate = settings.imitation_learning_rate * (0.02 + 0.98 * (1 + cos(pi * done)) / 2)
            learned = learn(policy, samples, rate, settings.imitation_batch, rng)
            progress.samples += len(samples)
            advance(progress.samples)
            clock.note("imitation")
            progress.rows.append(
                {
                    "steps": 0,
                    "samples": progress.samples,
                    "seconds": round(progress.seconds, 1),
                    "imitation/loss": round(learned[0], 5),
                    "imitation/value_error": round(learned[1], 5),
                    "imitation/agrees": round(learned[2], 5),
                }
            )
            if perf_counter() - saved > SAVE_SECONDS:
                run.save(policy)
                saved = perf_counter()
            if done >= reported:
                report(
                    f"{progress.seconds:6.0f} s  {progress.samples:,} samples  "
                    f"loss {learned[0]:.3f}, agrees {100 * learned[2]:.1f} %"
                )
                reported += 0.1


def learn(
    policy: SuitPolicy, samples: Samples, learning_rate: float, batch: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Learn samples once, in random order; return the means of loss, value error, agreement."""
    for group in policy.optimizer.param_groups:
        group["lr"] = learning_rate
    policy.set_training_mode(True)
    order = rng.permutation(len(samples))
    measured = []
    for rows in np.array_split(order, max(1, len(order) // batch)):
        loss, error, agree = losses(policy, samples, rows)
        policy.optimizer.zero_grad()
        (loss + VALUE_WEIGHT * error).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        policy.optimizer.step()
        measured.append((loss.item(), error.item(), agree.item()))
    loss_mean, error_mean, agree_mean = np.mean(measured, axis=0)
    return float(loss_mean), float(error_mean), float(agree_mean)


@contextmanager
def samples_bar(show: bool, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar of the samples, if asked to."""
    if not show:
        yield lambda done: None
        return
    with progress_bar("samples") as progress:
        yield lambda done: progress("imitation", done, total)
