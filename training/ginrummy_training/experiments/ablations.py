"""What each part of a training is worth: runs that differ from a base in one thing.

    ginrummy ablations runs/a --rules classic eaai --seeds 2 3

Each run is a folder that `learning.train` makes; what is there already is not made again, and what
was interrupted resumes. The policies at their end (``last.npz``; the best of a run may be what was
imitated) then play the same decks against one opponent, so that the difference to the base is less
noisy than the two shares are. Its interval is that of the games: it does not show how a second
training with another seed would have come out, which is what several seeds are for.
"""

import csv
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ginrummy_agents.learned.policy import Network, NetworkPolicy
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_result import MatchResult
from ginrummy_training.evaluation.match_summary import games_won, won_by_pair
from ginrummy_training.learning.run_folder import LAST, RESULT, SETTINGS, Run
from ginrummy_training.learning.settings import TrainSettings
from ginrummy_training.learning.train import train
from ginrummy_training.provenance import OVERWRITE
from ginrummy_training.statistics import Estimate, mean
from ginrummy_training.storage import ResultError, read_json, write_csv

BASE: dict[str, Any] = {
    "steps": 524_288, "eval_opponents": ["simple"], "eval_every": 131_072,
    "checkpoint_every": 131_072, "retest_games": 1_000,
}  # fmt: skip
"""What all runs have in common besides the defaults of `TrainSettings`."""

OF_RULES: dict[str, dict[str, Any]] = {
    "classic": {"expert": "lookahead:knock_turns=7"},
    "eaai": {"learning_rate": 1e-3},
}
"""What the shipped policy of each rules was trained with."""

VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "no imitation": {"expert": ""},
    "champion as expert": {"expert": "champion"},
    "no derived planes": {"derived": False},
    "no planes ahead": {"ahead": False},
    "points": {"reward": "points"},
    "win": {"reward": "win", "episode": "game"},
    "fixed opponents": {"opponents": {"simple": 0.8, "lookahead": 0.2}},
    "pool only": {"opponents": {"pool": 1}},
    "convolution": {"convolutions": 1},
    "no imitation, 2 M": {"expert": "", "steps": 2_097_152, "eval_every": 262_144},
}
"""What each variant sets; the base has the change in the chance of winning as its reward, and
`simple`, `lookahead` and its own past as opponents."""

OPPONENT, GAMES, SEED = "simple", 6_000, 7001


@dataclass(frozen=True)
class RunRow:
    """A run in the table. Shares and differences are of full games; low and high their interval."""

    rules: str
    variant: str
    settings: str
    seed: int
    steps: int
    games: int
    won: float
    low: float
    high: float
    to_base: float | None
    """What it wins more than the base of its seed; None for the base."""
    to_base_low: float | None
    to_base_high: float | None
    best_at: int
    """Steps of the best policy by the run's evaluations; 0: before PPO."""
    seconds: float
    command: str


def ablate(
    folder: Path,
    rules: str,
    seed: int,
    variants: Sequence[str] = tuple(VARIANTS),
    *,
    games: int = GAMES,
    base: dict[str, Any] | None = None,
) -> list[RunRow]:
    """Train what is missing, play, and return a row for each variant, the base first.

    Args:
        folder: of the runs.
        rules: a key of `OF_RULES`.
        seed: of the runs.
        variants: keys of `VARIANTS`; the base comes along.
        games: against `OPPONENT`, an even number.
        base: in the place of `BASE`.

    Raises:
        ResultError: a run in the folder that was made with other settings.
    """
    rows: list[RunRow] = []
    ended = None
    for variant in dict.fromkeys(["base", *variants]):
        given = {
            "rules": rules,
            "seed": seed,
            **(BASE if base is None else base),
            **OF_RULES[rules],
            **VARIANTS[variant],
        }
        run = folder / f"{rules}-{variant.replace(',', '').replace(' ', '-')}-seed{seed}"
        trained(run, TrainSettings().changed(given))
        match = played(run, rules, games)
        if ended is None:
            ended = match
        row = _row(run, variant, given, match, ended)
        rows.append(row)
        print(f"{rules:8s} {variant:18s} {row.won:7.2%} ({row.low:.2%} to {row.high:.2%})")
    return rows


def trained(run: Path, settings: TrainSettings) -> None:
    """Make a run, or what is missing of it.

    Raises:
        ResultError: it was made with other settings.
    """
    begun = (run / SETTINGS).exists()
    if begun and Run.open(run)[0].settings != settings:
        raise ResultError(f"{run}: made with other settings; name another folder")
    if not (run / RESULT).exists() or not (run / LAST).exists():
        train(run, settings, resume=begun)


def played(run: Path, rules: str, games: int) -> MatchResult:
    """Return the games of a run's last policy; they are saved in its folder."""
    policy = NetworkPolicy(Network.load(run / LAST), name="ppo")
    kept = run / "games-last.npz"
    return play_match(policy, OPPONENT, games=games, seed=SEED, rules=rules, out=kept)


def difference(one: MatchResult, other: MatchResult) -> Estimate:
    """Return what one wins more of full games than the other, who has had the same decks."""
    more = won_by_pair(one) - won_by_pair(other)
    return mean(more, [2.0] * len(more))


def _row(
    run: Path, variant: str, given: dict[str, Any], match: MatchResult, base: MatchResult
) -> RunRow:
    result, won = read_json(run / RESULT), games_won(match)
    more = None if match is base else difference(match, base)
    changes = VARIANTS[variant].items()
    options = [f"{name}={_toml(value)}" for name, value in given.items()]
    command = ["ginrummy", "train", f"runs/{run.name}"]
    return RunRow(
        rules=given["rules"],
        variant=variant,
        settings=", ".join(f"{name} = {_toml(value)}" for name, value in changes),
        seed=given["seed"],
        steps=result["steps"],
        games=len(match.table),
        won=round(won.value, 5),
        low=round(won.low, 5),
        high=round(won.high, 5),
        to_base=None if more is None else round(more.value, 5),
        to_base_low=None if more is None else round(more.low, 5),
        to_base_high=None if more is None else round(more.high, 5),
        best_at=result["best_at"],
        seconds=result["seconds"],
        command=shlex.join(command + [word for each in options for word in ("--set", each)]),
    )


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(part)}" for name, part in value.items()) + "}"
    return json.dumps(value)


def require_table(path: Path, wanted: Iterable[tuple[str, str, int]], force: bool = False) -> None:
    """Raise ResultError if a table has runs that the one to be written lacks.

    Args:
        path: of the table.
        wanted: rules, variant and seed of each run to come.
        force: whether runs may be lost.
    """
    if force or not path.exists():
        return
    with path.open(newline="", encoding="utf-8") as file:
        there = {(row["rules"], row["variant"], int(row["seed"])) for row in csv.DictReader(file)}
    lost = sorted(there - set(wanted))
    if lost:
        rules, variant, seed = lost[0]
        raise ResultError(f"{path} has {variant} under {rules}, seed {seed}, too; {OVERWRITE}")


def write_rows(rows: Sequence[RunRow], path: Path) -> None:
    """Write the table as CSV."""
    names = [each.name for each in fields(RunRow)]
    write_csv(path, names, [["" if x is None else x for x in asdict(row).values()] for row in rows])


def read_rows(path: Path) -> list[RunRow]:
    """Return a table that `write_rows` wrote.

    Raises:
        ResultError: not such a table.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [_parsed(row) for row in csv.DictReader(file)]
    except (KeyError, TypeError, ValueError) as error:
        raise ResultError(f"{path}: not a table of ablations ({error})") from error


def _parsed(row: dict[str, str]) -> RunRow:
    whole, optional = {"seed", "steps", "games", "best_at"}, {"to_base", "to_base_low"}
    values: dict[str, Any] = {}
    for name in (each.name for each in fields(RunRow)):
        text = row[name]
        if name in ("rules", "variant", "settings", "command"):
            values[name] = text
        elif name in whole:
            values[name] = int(text)
        else:
            values[name] = None if name in optional | {"to_base_high"} and not text else float(text)
    return RunRow(**values)
