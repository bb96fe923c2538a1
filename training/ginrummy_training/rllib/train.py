"""PPO by self-play on RLlib: train, checkpoint, resume, measure, export.

    ginrummy rllib runs/rllib --rules eaai --iterations 100
    ginrummy rllib runs/rllib --resume --iterations 200
    ginrummy match ppo:runs/rllib/policy.npz simple --rules eaai

One module decides for both players and learns from the decisions of both. What is exported is the
same kind of file that `ginrummy train` writes.
"""

import csv
import io
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPO

from ginrummy_agents.learned.policy import Network, NetworkPolicy
from ginrummy_env.core.rules import Rules
from ginrummy_env.files import write_whole
from ginrummy_env.policy import make_policy
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_summary import games_won
from ginrummy_training.learning.run_folder import versions
from ginrummy_training.learning.win_chance import WinChance, deal_points
from ginrummy_training.provenance import typed_command
from ginrummy_training.rllib.config import MODULE, RLlibSettings, ppo_config
from ginrummy_training.rllib.env import register
from ginrummy_training.rllib.module import SuitModule
from ginrummy_training.rllib.start import start
from ginrummy_training.storage import ResultError, read_json, write_json

SETTINGS, LOG, POLICY, BEST, CHECKPOINT = (
    "settings.json", "log.csv", "policy.npz", "best.npz", "checkpoint",
)  # fmt: skip

EVAL_SEED = 3_000_003
"""Decks of the evaluations; no training has decks of matches."""

CHANCE_DEALS = 4_000
"""Deals of `simple` from which the chance of winning is worked out."""

Say = Callable[[str], None]


class RLlibRun:
    """The folder of a run.

    Attributes:
        folder: where it is.
        settings: of the run.
        rows: the log.
        algorithm: RLlib's.
    """

    def __init__(self, folder: Path, settings: RLlibSettings | None) -> None:
        """Begin a run, or take one up if no settings are given.

        Raises:
            ValueError: the folder holds a run already, or bad settings.
            ResultError: nothing to resume, or damaged.
        """
        self.folder = folder
        self.rows: list[dict[str, Any]] = []
        path = folder / SETTINGS
        if settings is not None:
            if path.exists():
                raise ValueError(f"{folder} holds a run: go on with --resume, or name another")
            self.settings = settings
            self.algorithm = self._new()
            about = {"settings": settings.to_dict(), "command": typed_command(), **versions()}
            write_json(path, about)
        else:
            self.settings = settings_in(folder)
            self.algorithm = self._resumed()

    @property
    def rules(self) -> Rules:
        """The rules of its games."""
        return self.settings.parsed_rules()

    @property
    def module(self) -> SuitModule:
        """The module that plays and learns."""
        return self.algorithm.get_module(MODULE)

    @property
    def iteration(self) -> int:
        """How many iterations have been done."""
        return int(self.algorithm.iteration)

    def _new(self) -> Any:
        settings, chance = self.settings, None
        if settings.reward == "chance":
            points = deal_points(make_policy("simple"), self.rules, CHANCE_DEALS, settings.seed)
            chance = WinChance.of_points(points, self.rules.target)
        torch.manual_seed(settings.seed)  # of the first weights
        algorithm = ppo_config(settings, chance).build_algo()
        if settings.start:
            start(algorithm, settings.start, self.rules)
        return algorithm

    def _resumed(self) -> Any:
        path = self.folder / CHECKPOINT
        if not path.exists():
            return self._new()  # it was stopped before its first checkpoint
        register()
        try:
            algorithm = PPO.from_checkpoint(str(path.resolve()))
        except Exception as error:  # whatever RLlib and pickle raise for damaged files
            raise ResultError(f"{path}: damaged ({type(error).__name__}: {error})") from error
        log = self.folder / LOG
        if log.exists():
            done = int(algorithm.iteration)
            rows = csv.DictReader(log.read_text(encoding="utf-8").splitlines())
            self.rows = [dict(row) for row in rows if int(row["iteration"]) <= done]
        return algorithm

    def step(self) -> dict[str, Any]:
        """Play and learn one iteration; return its row of the log."""
        begun, worked = perf_counter(), process_time()
        result = self.algorithm.train()
        learned = result["learners"][MODULE]
        row = {
            "iteration": self.iteration,
            "decisions": int(result["num_env_steps_sampled_lifetime"]),
            "seconds": round(perf_counter() - begun, 2),
            "processor": round(process_time() - worked, 2),  # seconds, of this process alone
            "policy_loss": round(float(learned["policy_loss"]), 6),
            "value_loss": round(float(learned["vf_loss"]), 6),
            "value_explains": round(float(learned["vf_explained_var"]), 4),
            "entropy": round(float(learned["entropy"]), 4),
            "deal_length": _number(result["env_runners"].get("episode_len_mean")),
        }
        self.rows.append(row)
        return row

    def network(self) -> Network:
        """Return the policy as it is now, to be played with NumPy."""
        return self.module.network(
            {
                "rules": self.settings.rules,
                "seed": self.settings.seed,
                "iterations": self.iteration,
                "trained": "PPO by self-play on RLlib",
            }
        )

    def save(self) -> None:
        """Write the checkpoint, whole or not at all, the policy and the log."""
        path = self.folder / CHECKPOINT
        new = path.with_name(f".{CHECKPOINT}.new")
        shutil.rmtree(new, ignore_errors=True)
        self.algorithm.save_to_path(str(new.resolve()))
        old = path.with_name(f".{CHECKPOINT}.old")
        shutil.rmtree(old, ignore_errors=True)
        if path.exists():
            os.replace(path, old)
        os.replace(new, path)
        shutil.rmtree(old, ignore_errors=True)
        write_whole(self.folder / POLICY, self.network().to_bytes())
        self.write_log()

    def write_log(self) -> None:
        """Write everything logged as CSV."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_whole(self.folder / LOG, text.getvalue().encode())

    def evaluate(self, opponent: str, games: int) -> dict[str, float]:
        """Return the share of full games that the policy wins, with its interval; log it."""
        result = play_match(
            NetworkPolicy(self.network()),
            opponent,
            games=games,
            seed=EVAL_SEED,
            rules=self.rules,
            max_deals=self.settings.max_deals,
        )
        share = games_won(result)
        if self.rows:
            self.rows[-1] |= {
                f"{opponent}_{name}" if name != "value" else opponent: round(number, 5)
                for name, number in (
                    ("value", share.value), ("low", share.low), ("high", share.high),
                )
            }  # fmt: skip
        return {"value": share.value, "low": share.low, "high": share.high}

    def close(self) -> None:
        """End RLlib's processes."""
        self.algorithm.stop()


def settings_in(folder: Path) -> RLlibSettings:
    """Return the settings of a run.

    Raises:
        ResultError: no run, or damaged.
    """
    path = folder / SETTINGS
    if not path.exists():
        raise ResultError(f"{folder}: no run to resume, {SETTINGS} is missing")
    try:
        return RLlibSettings(**read_json(path)["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise ResultError(f"{path}: damaged ({error})") from error


def _number(value: Any) -> float | str:
    """Return a number for the log; nothing for one that there is not yet."""
    return "" if value is None or np.isnan(value) else round(float(value), 2)


def train(
    folder: Path,
    settings: RLlibSettings | None,
    iterations: int,
    *,
    checkpoint_every: int = 10,
    eval_every: int = 10,
    eval_games: int = 1_000,
    opponents: Sequence[str] = ("simple",),
    say: Say = print,
) -> dict[str, Any]:
    """Train, or go on with a run, until so many iterations are done.

    Args:
        folder: of the run.
        settings: of a new run; None: the folder's run goes on.
        iterations: in all.
        checkpoint_every, eval_every: iterations between them; both are done at the end.
        eval_games: full games against each opponent.
        opponents: of the evaluations; the best policy is best in their mean.
        say: is told how it goes.

    Returns:
        What is in ``result.json``.

    Raises:
        ValueError: bad settings, or a folder that holds a run already.
        ResultError: nothing to resume, or damaged.
    """
    torch.set_num_threads(1)  # the layers are small: more threads wait for each other
    run = RLlibRun(folder, settings)
    try:
        if run.iteration:
            say(f"going on after {run.iteration} iterations")
        tested: dict[str, Any] = {}
        while run.iteration < iterations:
            row = run.step()
            done = run.iteration
            say(
                f"iteration {done}: {row['decisions']:,} decisions, {row['seconds']} s, "
                f"entropy {row['entropy']}, value explains {row['value_explains']}"
            )
            if done % eval_every == 0 or done == iterations:
                tested = _evaluate(run, opponents, eval_games, say)
            if done % checkpoint_every == 0 or done == iterations:
                run.save()
        seconds = sum(float(row["seconds"]) for row in run.rows)
        last = run.rows[-1] if run.rows else {"decisions": 0}
        result = {
            "rules": run.settings.rules,
            "seed": run.settings.seed,
            "iterations": run.iteration,
            "decisions": int(last["decisions"]),
            "seconds": round(seconds, 1),
            "decisions_a_second": round(int(last["decisions"]) / seconds, 1) if seconds else None,
            "won": tested,
        }
        write_json(folder / "result.json", result)
        return result
    finally:
        run.close()


def _evaluate(
    run: RLlibRun, opponents: Sequence[str], games: int, say: Say
) -> dict[str, dict[str, float]]:
    """Measure the policy, and keep it if it is the best."""
    told = [row for row in run.rows if all(row.get(each) not in (None, "") for each in opponents)]
    before = [sum(float(row[each]) for each in opponents) for row in told]
    tested = {opponent: run.evaluate(opponent, games) for opponent in opponents}
    for opponent, share in tested.items():
        low, high = 100 * share["low"], 100 * share["high"]
        say(f"  {100 * share['value']:.1f} % ({low:.1f} to {high:.1f}) vs {opponent}")
    if sum(share["value"] for share in tested.values()) >= max(before, default=0.0):
        write_whole(run.folder / BEST, run.network().to_bytes())
    return tested
