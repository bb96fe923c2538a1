"""Self-play: games of any agents as data, one row per decision, in Parquet shards.

    ginrummy selfplay lookahead --games 10000 --rules eaai --out data/lookahead

A shard depends only on the plan and on the numbers of its games. So it has the same bytes whichever
process or machine makes it, existing shards are not made again, and games can be added later.
`shard_games` plays a shard, `shards` writes the files, `reader` reads them, `schema` defines a row.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ginrummy_env
from ginrummy_agents.explain import explain
from ginrummy_env.core.chance import FirstGame, RowRandom, keys
from ginrummy_env.core.checks import whole
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import rules_name
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_training.dataset.reader import load
from ginrummy_training.dataset.schema import COLUMNS
from ginrummy_training.dataset.shard_games import MOST_GAMES, Plan, Report, make_shard, plan_of
from ginrummy_training.dataset.shards import (
    CARD,
    FORMAT,
    GAME_COLUMNS,
    GAMES,
    MANIFEST,
    PARTS,
    POSITIONS,
    Shard,
    arrow,
    data_id,
    read_card,
    read_entries,
    whole_entries,
    write_shard,
)
from ginrummy_training.evaluation.processes import run_apart
from ginrummy_training.provenance import require_same, typed_command, versions
from ginrummy_training.storage import ResultError, write_json

__all__ = ["Plan", "load", "make_shard", "plan_of", "selfplay"]


@dataclass(slots=True)
class GameCount:
    """Counts the games that have ended, and reports the count."""

    games: int
    """In all."""
    done: int = 0
    """Games that have ended."""
    report: Callable[[int, int], None] = field(default=lambda done, games: None)

    def __call__(self, more: int) -> None:
        """Count further games that have ended."""
        self.done += more
        self.report(self.done, self.games)


Maker = Callable[[Plan, Sequence[int], int, Report], Iterable[Shard]]
"""Makes the shards of these numbers, in any order, of a given number of games in all."""


def selfplay(
    folder: Path,
    plan: Plan,
    games: int,
    *,
    workers: int = 1,
    maker: Maker | None = None,
    report: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Play games and store them; only shards that are missing or damaged are made.

    Args:
        folder: for the shards and the data card.
        plan: what is played; a folder that holds data must hold data of this plan.
        games: total, an even number. A folder with fewer is extended.
        workers: processes. They change the speed, never a byte.
        maker: makes the shards elsewhere, in place of these processes.
        report: called with the number of games played and the total.

    Returns:
        The data card.

    Raises:
        ValueError: a bad number.
        ResultError: the folder holds data of another plan, of changed agents or code, or a corrupt
            data card; nothing has been written.
    """
    arrow()  # found missing at once
    games = whole("games", games, 2, MOST_GAMES)
    if games % 2:
        raise ValueError(f"games={games}: an even number is needed, games are in pairs")
    workers = whole("workers", workers, 1, 4_096)
    card = _begin(folder, plan, games)
    data = data_id(card)
    complete = {entry.number: entry.games for entry in whole_entries(folder, data)}
    missing = [
        number
        for number in range(-(-games // plan.shard_games))
        if complete.get(number, 0) < len(plan.range_of(number, games))
    ]
    progress = GameCount(games, report=report or (lambda done, games: None))
    progress(games - sum(len(plan.range_of(number, games)) for number in missing))
    if maker is not None:
        for shard in maker(plan, missing, games, progress):
            write_shard(folder, shard, data)
    elif workers == 1 or len(missing) < 2:
        for number in missing:
            write_shard(folder, make_shard(plan, number, games, progress), data)
    else:
        tasks = [(folder, data, plan, number, games) for number in missing]
        run_apart(_work, tasks, lambda task, done: progress(done), min(workers, len(missing)))
    return _finish(folder, card)


def _work(task: tuple[Path, str, Plan, int, int]) -> int:
    """Make and write a shard; return how many games it has."""
    folder, data, plan, number, games = task
    write_shard(folder, make_shard(plan, number, games), data)
    return len(plan.range_of(number, games))


def _begin(folder: Path, plan: Plan, games: int) -> dict[str, Any]:
    """Return the folder's data card, a new one if it has none.

    Raises:
        ResultError: the folder holds something else.
    """
    settings, made_by = plan.settings(), plan.made_by()
    here = {**settings, "ginrummy_env": ginrummy_env.__version__, "made_by": made_by}
    if (folder / CARD).exists():
        card = read_card(folder)
        version = card["versions"].get("ginrummy_env")
        there = {**card["settings"], "ginrummy_env": version, "made_by": card["made_by"]}
        require_same(folder, "data set", here, there, "name another folder")
        return card
    if any((folder / part).exists() for part in (POSITIONS, GAMES, MANIFEST)):
        raise ResultError(f"{folder}: shards without a {CARD}; name another folder")
    pyarrow, _ = arrow()
    card = {
        "format": FORMAT,
        "about": "Gin rummy: every decision of the games that agents played, and the games. "
        "docs/DATA.md of ginrummy_env explains each column.",
        "rules": rules_name(plan.rules),
        "settings": settings,
        "made_by": made_by,
        "units": dict(zip(plan.names, _units(plan), strict=True)),
        "command": typed_command(),
        "versions": {**versions(), "pyarrow": pyarrow.__version__},
        "games": 0,
        "positions": 0,
        "bytes": 0,
        "schema": {
            POSITIONS: [
                {"name": each.name, "type": each.dtype, "who": each.who, "about": each.text}
                for each in COLUMNS
            ],
            GAMES: [{"name": name, "type": kind} for name, kind in GAME_COLUMNS],
        },
    }
    write_json(folder / CARD, card)
    return card


def _units(plan: Plan) -> list[str | None]:
    """Return the unit of each agent's values, None for agents that report none."""
    if not plan.values:
        return [None] * len(plan.agents)
    games = np.array([FirstGame.LEARNING], dtype=np.uint64)
    view = make_view(new_games(np.uint64(plan.seed), games, plan.rules), plan.rules)
    explained = [explain(make_policy(agent), view, RowRandom(keys([0]))) for agent in plan.agents]
    return [each.unit if each is not None else None for each in explained]


def _finish(folder: Path, card: dict[str, Any]) -> dict[str, Any]:
    """Count what there is and write the data card."""
    entries = read_entries(folder, data_id(card))
    card["games"] = sum(entry.games for entry in entries)
    card["positions"] = sum(entry.positions for entry in entries)
    card["bytes"] = sum(entry.file(name).stat().st_size for entry in entries for name in PARTS)
    write_json(folder / CARD, card)
    return card
