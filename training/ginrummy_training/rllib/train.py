"""PPO by self-play on RLlib: train, checkpoint, resume, evaluate, export.

    ginrummy rllib runs/rllib --rules eaai --iterations 100
    ginrummy rllib runs/rllib --resume --iterations 200
    ginrummy match ppo:runs/rllib/policy.npz simple --rules eaai

One module decides for both players and learns from the decisions of both. The exported policy is
the same kind of file that `ginrummy train` writes.
"""

import csv
import io
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
from ginrummy_training.learning.checkpoints import INDEX, Checkpoints
from ginrummy_training.learning.run_folder import CODE, FORMAT, versions
from ginrummy_training.learning.setting_fields import check_policies
from ginrummy_training.learning.win_chance import WinChance, deal_points
from ginrummy_training.provenance import fingerprints, require_same, typed_command
from ginrummy_training.rllib.config import MODULE, RLlibSettings, ppo_config
from ginrummy_training.rllib.env import register
from ginrummy_training.rllib.module import SuitModule
from ginrummy_training.rllib.start import start
from ginrummy_training.storage import ResultError, read_json, write_json

SETTINGS, LOG, POLICY, BEST, RESULT = (
    "settings.json", "log.csv", "policy.npz", "best.npz", "result.json",
)  # fmt: skip

EVAL_SEED = 3_000_003
"""Decks of the evaluations; no training has decks of matches."""

CHANCE_DEALS = 4_000
"""Deals of `simple` from which the chance of winning is computed."""

Report = Callable[[str], None]


class RLlibRun:
    """The folder of a run.

    Attributes:
        folder: where it is.
        settings: of the run.
        rows: the log.
        checkpoints: the last two.
        algorithm: RLlib's.
    """

    def __init__(
        self, folder: Path, settings: RLlibSettings | None, *, previous: bool = False
    ) -> None:
        """Start a run, or resume one if no settings are given.

        Args:
            folder: of the run.
            settings: of a new run.
            previous: resume from the checkpoint before the last one.

        Raises:
            ValueError: the folder holds a run or files of one, or bad settings.
            ResultError: nothing to resume, a corrupt file, or agents or code have changed.
        """
        self.folder = folder
        self.checkpoints = Checkpoints(folder)
        self.rows: list[dict[str, Any]] = []
        path = folder / SETTINGS
        if settings is not None:
            if path.exists():
                raise ValueError(
                    f"{folder} holds a run: resume it with --resume, or name another folder"
                )
            for name in (LOG, POLICY, BEST, RESULT, INDEX):
                if (folder / name).exists():
                    raise ValueError(f"{folder / name} would be overwritten: name another folder")
            settings.check()
            self.settings = settings
            self.algorithm = self._new()
            about = {"settings": settings.to_dict(), **provenance(), "command": typed_command()}
            write_json(path, {**about, **versions()})
        else:
            self.settings = settings_in(folder)
            require_same(folder, "run", provenance(), read_json(path), "start a new run")
            self.algorithm = self._resumed(previous)

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
        """Number of iterations done."""
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

    def _resumed(self, previous: bool) -> Any:
        path = self.checkpoints.open(previous)
        if path is None:
            return self._new()  # it was stopped before its first checkpoint
        register()
        try:
            algorithm = PPO.from_checkpoint(str(path.resolve()))
        except Exception as error:  # whatever RLlib and pickle raise for damaged files
            raise ResultError(f"{path}: corrupt ({type(error).__name__}: {error})") from error
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
        """Return the current policy, playable with NumPy alone."""
        return self.module.network(
            {
                "rules": self.settings.rules,
                "seed": self.settings.seed,
                "iterations": self.iteration,
                "trained": "PPO by self-play on RLlib",
            }
        )

    def save(self) -> None:
        """Write a checkpoint, whole or not at all, the policy and the log."""
        self.checkpoints.write(
            lambda path: self.algorithm.save_to_path(str(path.resolve())),
            f"{self.iteration} iterations",
        )
        write_whole(self.folder / POLICY, self.network().to_bytes())
        self.write_log()

    def write_log(self) -> None:
        """Write the log as CSV."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_whole(self.folder / LOG, text.getvalue().encode())

    def evaluate(self, opponent: str, games: int) -> dict[str, float]:
        """Return the share of full games that the policy wins, with its interval; log it too."""
        result = play_match(
            NetworkPolicy(self.network(), name="learner"),
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
        ResultError: no run, or corrupt settings.
    """
    path = folder / SETTINGS
    if not path.exists():
        raise ResultError(f"{folder}: no run to resume, {SETTINGS} is missing")
    about = read_json(path)
    try:
        return RLlibSettings.of(about["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise ResultError(f"{path}: corrupt, or written by another version ({error})") from error


def provenance() -> dict[str, Any]:
    """Return what decides a run besides its settings: the code."""
    code = ("ginrummy_training.rllib.games", "ginrummy_training.rllib.module", *CODE)
    return {"format": FORMAT, "made_by": fingerprints(["simple"], also=code)}


def _number(value: Any) -> float | str:
    """Return a number for the log; empty if there is none yet."""
    return "" if value is None or np.isnan(value) else round(float(value), 2)


def train(
    folder: Path,
    settings: RLlibSettings | None,
    iterations: int,
    *,
    previous: bool = False,
    checkpoint_every: int = 10,
    eval_every: int = 10,
    eval_games: int = 1_000,
    opponents: Sequence[str] = ("simple",),
    report: Report = print,
) -> dict[str, Any]:
    """Train a new run or resume one, up to a number of iterations.

    Args:
        folder: of the run.
        settings: of a new run; None resumes the folder's run.
        iterations: in all.
        previous: resume from the checkpoint before the last one.
        checkpoint_every, eval_every: iterations between them; both also happen at the end.
        eval_games: full games against each opponent.
        opponents: of the evaluations; the best policy wins most games on average.
        report: called with a line of text for each event.

    Returns:
        The content of ``result.json``.

    Raises:
        SettingError: bad settings or opponents; nothing has been written.
        ValueError: the folder holds a run already.
        ResultError: nothing to resume, a corrupt file, or agents or code have changed.
    """
    check_policies("opponents", opponents)
    torch.set_num_threads(1)  # the layers are small: more threads wait for each other
    run = RLlibRun(folder, settings, previous=previous)
    try:
        if run.iteration:
            report(f"resuming after {run.iteration} iterations")
        tested: dict[str, Any] = {}
        while run.iteration < iterations:
            row = run.step()
            done = run.iteration
            report(
                f"iteration {done}: {row['decisions']:,} decisions, {row['seconds']} s, "
                f"entropy {row['entropy']}, value explains {row['value_explains']}"
            )
            if done % eval_every == 0 or done == iterations:
                tested = _evaluate(run, opponents, eval_games, report)
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
            "decisions_per_second": round(int(last["decisions"]) / seconds, 1) if seconds else None,
            "won": tested,
        }
        write_json(folder / RESULT, result)
        return result
    finally:
        run.close()


def _evaluate(
    run: RLlibRun, opponents: Sequence[str], games: int, report: Report
) -> dict[str, dict[str, float]]:
    """Evaluate the policy, and keep it if it is the best so far."""
    measured = [
        row for row in run.rows if all(row.get(each) not in (None, "") for each in opponents)
    ]
    before = [sum(float(row[each]) for each in opponents) for row in measured]
    tested = {opponent: run.evaluate(opponent, games) for opponent in opponents}
    for opponent, share in tested.items():
        low, high = 100 * share["low"], 100 * share["high"]
        report(f"  {100 * share['value']:.1f} % ({low:.1f} to {high:.1f}) vs {opponent}")
    if sum(share["value"] for share in tested.values()) >= max(before, default=0.0):
        write_whole(run.folder / BEST, run.network().to_bytes())
    return tested
