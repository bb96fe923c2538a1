"""Training from one command: imitation, then MaskablePPO; safe to kill at any time.

    ginrummy train runs/first --preset quick --rules eaai

In order: the network imitates an expert (`imitate`); the result is evaluated; MaskablePPO improves
it against the opponents of its schedule; at intervals it is evaluated on full games against fixed
eval opponents and the best checkpoint is kept; at the end that one is evaluated again on fresh
decks, as the best of many measurements is partly luck.

PPO learns from the learner's decisions only: the opponent's actions do not come from the policy
that PPO updates.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat

from ginrummy_agents.learned.policy import Network, NetworkPolicy
from ginrummy_env.policy import make_policy
from ginrummy_training.dataset.reader import recorded_points
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_summary import games_won
from ginrummy_training.learning.curves import draw_curves
from ginrummy_training.learning.env import LearningEnv
from ginrummy_training.learning.imitation import imitate
from ginrummy_training.learning.network import SuitPolicy
from ginrummy_training.learning.opponent_pool import Pool, opponents_of, shares_at
from ginrummy_training.learning.run_folder import (
    BEST,
    IMITATION,
    LAST,
    RESULT,
    Run,
    RunLog,
    Stopwatch,
)
from ginrummy_training.learning.settings import POOL, TrainSettings
from ginrummy_training.learning.win_chance import WinChance, deal_points
from ginrummy_training.storage import write_json

EVAL_SEED = 1_000_003
"""Decks of the evaluations during a run."""
RETEST_SEED = 2_000_003
"""Decks of the final test of the best checkpoint; no evaluation uses them."""
CHANCE_DEALS = 4_000
"""Deals from which the chance of winning is computed."""

Report = Callable[[str], None]


def train(
    folder: Path,
    settings: TrainSettings | None = None,
    *,
    resume: bool = False,
    previous: bool = False,
    progress_bar: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Start a training run, or resume one.

    Args:
        folder: of the run.
        settings: of a new run; a resumed one has its own.
        resume: continue from the last checkpoint.
        previous: with ``resume``: from the checkpoint before the last one.
        progress_bar: whether to show one.
        report: called with a line of text for each event.

    Returns:
        The content of ``result.json``: shares of games won after the imitation, and by the best
        checkpoint on fresh decks.

    Raises:
        SettingError: bad settings; nothing has been written.
        ValueError: the folder holds a run already.
        ResultError: nothing to resume, or a corrupt file.
    """
    if resume:
        run, saved = Run.resume(folder, previous=previous)
    else:
        settings = settings or TrainSettings()
        settings.check()
        run, saved = Run.start(folder, settings), None
    torch.set_num_threads(1)  # the layers are small: more threads wait for each other
    settings, progress = run.settings, run.progress
    rules = settings.parsed_rules()
    chance = None
    if settings.reward == "chance":
        if settings.data:
            points = recorded_points(Path(settings.data), CHANCE_DEALS)
        else:
            player = make_policy(settings.expert or "simple")
            points = deal_points(player, rules, CHANCE_DEALS, settings.seed)
        chance = WinChance.of_points(points, rules.target)
    env = LearningEnv(settings, rules, chance)
    model = make_model(settings, env)
    policy = policy_of(model)
    if saved is not None:
        run.load(policy, saved)
        model.num_timesteps, model._n_updates = progress.steps, progress.updates
        report(f"resuming after {progress.samples:,} samples and {progress.steps:,} steps")
    clock = Stopwatch(run)
    if settings.expert and progress.samples < settings.imitation_samples:
        imitate(run, policy, rules, chance, clock, report=report, progress_bar=progress_bar)
        policy.new_optimizer(settings.learning_rate)
        run.export(IMITATION, policy)
        progress.imitation = evaluate(run, policy, report)
        run.save(policy)
        clock.note("evaluation")
    if progress.steps < settings.steps:
        writers: list[KVWriter] = [RunLog(run)]
        if settings.tensorboard:
            writers.append(TensorBoardOutputFormat(str(folder / "tensorboard")))
        model.set_logger(Logger(str(folder), writers))
        watch = Watch(run, env, clock, report)
        env.seed(run.deck_seed())
        model.learn(
            settings.steps - progress.steps,
            watch,
            reset_num_timesteps=False,
            progress_bar=progress_bar,
        )
        model.logger.close()
        watch.finish()
    return finish(run, policy, clock, report)


def policy_of(model: BaseAlgorithm) -> SuitPolicy:
    """Return the model's policy."""
    assert isinstance(model.policy, SuitPolicy)
    return model.policy


def seed_of_32_bits(seed: int) -> int:
    """Return a seed for Stable-Baselines3, which takes 32 bits: itself if it fits, else a hash."""
    return seed if seed < 1 << 32 else int(np.random.SeedSequence(seed).generate_state(1)[0])


def make_model(settings: TrainSettings, env: LearningEnv) -> MaskablePPO:
    """Return MaskablePPO with its initial weights."""
    first, last = settings.learning_rate, settings.final_learning_rate
    return MaskablePPO(
        SuitPolicy,
        env,
        learning_rate=lambda remaining: last + (first - last) * remaining,
        n_steps=settings.num_steps,
        batch_size=settings.batch,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        ent_coef=settings.entropy,
        vf_coef=settings.value_weight,
        max_grad_norm=settings.max_grad_norm,
        target_kl=settings.target_kl,
        policy_kwargs={
            "derived": settings.derived,
            "ahead": settings.ahead,
            "width": settings.width,
            "layers": settings.layers,
            "convolutions": settings.convolutions,
            "filters": settings.filters,
        },
        seed=seed_of_32_bits(settings.seed),
        stats_window_size=2_000,  # episodes, that is deals: their results vary widely
        device="cpu",
    )


class Watch(BaseCallback):
    """Chooses opponents, evaluates, saves and logs between updates."""

    def __init__(self, run: Run, env: LearningEnv, clock: Stopwatch, report: Report) -> None:
        """Watch a run."""
        super().__init__()
        self.run, self.env, self.clock, self.report = run, env, clock, report
        self.pool = Pool(run.folder, run.settings, run.progress.pool)
        steps, settings = run.progress.steps, run.settings
        self._due = {
            name: (steps // every + 1) * every
            for name, every in (
                ("pool", settings.pool_every),
                ("eval", settings.eval_every),
                ("save", settings.checkpoint_every),
            )
        }

    def _on_rollout_start(self) -> None:
        """After an update: do what is due, then choose opponents."""
        progress, settings = self.run.progress, self.run.settings
        policy = policy_of(self.model)
        self.clock.note("updates")
        progress.steps, progress.updates = self.num_timesteps, self.model._n_updates
        uses_pool = any(POOL in shares for _, shares in settings.opponents)
        if uses_pool and (not self.pool.members() or self._is_due("pool", settings.pool_every)):
            name = f"pool-{progress.steps:09d}.npz"
            self.run.export(name, policy)
            self.pool.add(name)
        if self._is_due("eval", settings.eval_every):
            evaluate(self.run, policy, self.report)
            self.clock.note("evaluation")
        if self._is_due("save", settings.checkpoint_every):
            self.run.save(policy)
        share = progress.steps / max(1, settings.steps)
        rng = np.random.default_rng((settings.seed, progress.steps))
        policies, assignment = opponents_of(
            shares_at(settings, share), self.env.num_envs, self.pool, rng
        )
        self.env.set_opponents(policies, assignment)
        self.clock.note("checkpoints")

    def _on_rollout_end(self) -> None:
        self.clock.note("playing")
        for name, share in self.env.take_endings().items():
            self.logger.record(f"deals/{name}", share)
        spent = self.run.progress.spent
        self.logger.record("time/playing", spent.get("playing", 0.0))
        self.logger.record("time/updates", spent.get("updates", 0.0))

    def _on_step(self) -> bool:
        return True

    def _is_due(self, name: str, every: int) -> bool:
        if self.num_timesteps < self._due[name]:
            return False
        self._due[name] = (self.num_timesteps // every + 1) * every
        return True

    def finish(self) -> None:
        """Evaluate and save the policy after the last update."""
        self.clock.note("updates")
        progress = self.run.progress
        progress.steps, progress.updates = self.num_timesteps, self.model._n_updates
        policy = policy_of(self.model)
        evaluate(self.run, policy, self.report)
        self.clock.note("evaluation")
        self.run.save(policy)


def measure(run: Run, network: Network, games: int, seed: int) -> dict[str, dict[str, float]]:
    """Return the share of full games won against each eval opponent, with its interval."""
    settings = run.settings
    return {
        opponent: games_won(
            play_match(
                NetworkPolicy(network, name="learner"),
                opponent,
                games=games,
                seed=seed,
                rules=settings.parsed_rules(),
                max_deals=settings.max_deals,  # an untrained policy may never end a game
            )
        ).to_dict()  # type: ignore[misc]
        for opponent in settings.eval_opponents
    }


def evaluate(run: Run, policy: Any, report: Report) -> dict[str, float]:
    """Evaluate the policy, log the result, and keep the policy if it is the best so far."""
    progress, settings = run.progress, run.settings
    network = run.network(policy)
    measured = measure(run, network, settings.eval_games, EVAL_SEED)
    won = {opponent: each["value"] for opponent, each in measured.items()}
    row: dict[str, Any] = {"steps": progress.steps, "samples": progress.samples}
    row["seconds"] = round(progress.seconds, 1)
    for opponent, each in measured.items():
        for part, number in each.items():
            name = f"eval/{opponent}" if part == "value" else f"eval/{opponent}_{part}"
            row[name] = round(number, 5)
    progress.rows.append(row)
    run.write_log()
    score = sum(won.values()) / len(won)
    best = score > progress.best_score
    if best:
        run.export(BEST, policy)
        progress.best_score, progress.best_at = score, progress.steps
    text = ", ".join(f"{100 * share:.1f} % vs {opponent}" for opponent, share in won.items())
    report(
        f"{progress.seconds:6.0f} s  {progress.samples:,} samples  {progress.steps:,} steps  {text}"
        + ("  (best)" if best else "")
    )
    return won


def finish(run: Run, policy: Any, clock: Stopwatch, report: Report) -> dict[str, Any]:
    """Test the best checkpoint on fresh decks and write the result."""
    progress, settings = run.progress, run.settings
    if not (run.folder / BEST).exists():
        run.export(BEST, policy)
    run.export(LAST, policy)
    tested = measure(run, Network.load(run.folder / BEST), settings.retest_games, RETEST_SEED)
    clock.note("evaluation")
    run.save(policy)
    for opponent, each in tested.items():
        low, high = 100 * each["low"], 100 * each["high"]
        report(
            f"best ({progress.best_at:,} steps) vs {opponent}: {100 * each['value']:.1f} % "
            f"({low:.1f} to {high:.1f}) of {settings.retest_games:,} games on fresh decks"
        )
    trained = progress.spent.get("playing", 0.0) + progress.spent.get("updates", 0.0)
    result = {
        "rules": settings.rules,
        "seed": settings.seed,
        "samples": progress.samples,
        "steps": progress.steps,
        "imitation": progress.imitation,
        "best_at": progress.best_at,
        "best": tested,
        "games": settings.retest_games,
        "seconds": round(progress.seconds, 1),
        "spent": {name: round(seconds, 1) for name, seconds in progress.spent.items()},
        "steps_per_second": round(progress.steps / trained, 1) if trained else None,
    }
    write_json(run.folder / RESULT, result)
    with suppress(ImportError):  # matplotlib is in another extra
        draw_curves({run.folder.name: run.folder}, (), run.folder / "curve.png")
    return result
