"""Self-play: games of any agents as data, every decision a row, in Parquet shards.

    ginrummy selfplay lookahead --games 10000 --rules eaai --out data/lookahead

A shard is a function of the plan and of the numbers of its games alone. So it is the same to the
last byte whichever process or machine makes it, one that is there already is not made again, and
more games may be added later. `selfplay_games` plays a shard, `shards` writes and reads
the files, `positions` says what a row is.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ginrummy_env
from ginrummy_agents.explain import explain
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import rules_name
from ginrummy_env.core.view import make_view
from ginrummy_env.files import write_whole
from ginrummy_env.policy import make_policy
from ginrummy_training.dataset.schema import COLUMNS
from ginrummy_training.dataset.shard_games import Plan, Say, make_shard, plan_of
from ginrummy_training.dataset.shards import (
    CARD,
    FORMAT,
    GAME_COLUMNS,
    GAMES,
    POSITIONS,
    Shard,
    arrow,
    games_in,
    load,
    read_card,
    shard_name,
)
from ginrummy_training.evaluation.processes import run_apart
from ginrummy_training.learning.win_chance import TEACHING_GAMES
from ginrummy_training.provenance import typed_command, versions
from ginrummy_training.storage import ResultError, write_json

__all__ = ["Plan", "load", "make_shard", "plan_of", "selfplay"]


def write_shard(folder: Path, shard: Shard) -> None:
    """Write a shard, each file whole, that of the games last."""
    name = shard_name(shard.number)
    write_whole(folder / POSITIONS / name, shard.positions)
    write_whole(folder / GAMES / name, shard.games)


@dataclass(slots=True)
class Progress:
    """How far self-play has come; called, it tells `tell` so."""

    games: int
    """In all."""
    done: int = 0
    """Games that have ended."""
    tell: Callable[[int, int], None] = field(default=lambda done, games: None)

    def __call__(self, more: int) -> None:
        """So many further games have ended."""
        self.done += more
        self.tell(self.done, self.games)


Maker = Callable[[Plan, Sequence[int], int, Say], Iterable[Shard]]
"""What makes the shards of these numbers, in any order, if there are so many games in all."""


def selfplay(
    folder: Path,
    plan: Plan,
    games: int,
    *,
    workers: int = 1,
    maker: Maker | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Play games and keep them, or those that are missing.

    Args:
        folder: for the shards and the data card.
        plan: what is played; a folder that holds something keeps its own.
        games: how many in all, an even number. A folder with fewer is added to.
        workers: processes. They change the speed, never a byte.
        maker: makes the shards in their place, somewhere else.
        tell: is told how many games of how many have been played.

    Returns:
        The data card.

    Raises:
        ValueError: a bad number, or a plan that is not the folder's.
        ResultError: the folder is damaged.
    """
    arrow()  # found missing at once
    if games < 2 or games % 2:
        raise ValueError(f"games={games}: an even number is needed, games are in pairs")
    if workers < 1:
        raise ValueError(f"workers={workers}: at least 1 is needed")
    card = _begin(folder, plan, games)
    numbers = range(-(-games // plan.shard_games))
    missing = [
        number
        for number in numbers
        if min(_games_kept(folder, number)) < len(plan.range_of(number, games))
    ]
    progress = Progress(games, tell=tell or (lambda done, games: None))
    progress(games - sum(len(plan.range_of(number, games)) for number in missing))
    if maker is not None:
        for shard in maker(plan, missing, games, progress):
            write_shard(folder, shard)
    elif workers == 1 or len(missing) < 2:
        for number in missing:
            write_shard(folder, make_shard(plan, number, games, progress))
    else:
        tasks = [(folder, plan, number, games) for number in missing]
        run_apart(_work, tasks, lambda task, done: progress(done), min(workers, len(missing)))
    return _finish(folder, card)


def _work(task: tuple[Path, Plan, int, int]) -> int:
    """Make and write a shard; return how many games it has."""
    folder, plan, number, games = task
    write_shard(folder, make_shard(plan, number, games))
    return len(plan.range_of(number, games))


def _games_kept(folder: Path, number: int) -> tuple[int, int]:
    """Return how many games the two files of a shard are of."""
    name = shard_name(number)
    return games_in(folder / POSITIONS / name), games_in(folder / GAMES / name)


def _begin(folder: Path, plan: Plan, games: int) -> dict[str, Any]:
    """Return the folder's data card, a new one if it has none.

    Raises:
        ValueError: the folder holds something else.
    """
    here = plan.settings()
    if (folder / CARD).exists():
        card = read_card(folder)
        there = card["settings"]
        for name in here:
            if here[name] != there.get(name):
                raise ValueError(
                    f"{folder} holds other data: {name} is {there.get(name)!r} there and "
                    f"{here[name]!r} here; name another folder"
                )
        version = card["versions"].get("ginrummy_env")
        if version != ginrummy_env.__version__:
            raise ValueError(
                f"{folder} was played with ginrummy_env {version}, this is "
                f"{ginrummy_env.__version__}; name another folder"
            )
        return card
    if any((folder / part).exists() for part in (POSITIONS, GAMES)):
        raise ResultError(f"{folder}: shards without a {CARD}; name another folder")
    pyarrow, _ = arrow()
    card = {
        "format": FORMAT,
        "about": "Gin rummy: every decision of the games that agents played, and the games. "
        "docs/DATA.md of ginrummy_env says what each column means.",
        "rules": rules_name(plan.rules),
        "settings": here,
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
    """Return what each agent's values are, None for those that tell nothing."""
    if not plan.values:
        return [None] * len(plan.agents)
    games = np.array([TEACHING_GAMES], dtype=np.uint64)
    view = make_view(new_games(np.uint64(plan.seed), games, plan.rules), plan.rules)
    told = [explain(make_policy(agent), view, RowRandom(keys([0]))) for agent in plan.agents]
    return [each.unit if each is not None else None for each in told]


def _finish(folder: Path, card: dict[str, Any]) -> dict[str, Any]:
    """Count what is there and write the data card."""
    _, parquet = arrow()
    positions = sorted((folder / POSITIONS).glob("[0-9]*.parquet"))
    games = sorted((folder / GAMES).glob("[0-9]*.parquet"))
    card["games"] = sum(parquet.read_metadata(path).num_rows for path in games)
    card["positions"] = sum(parquet.read_metadata(path).num_rows for path in positions)
    card["bytes"] = sum(path.stat().st_size for path in (*positions, *games))
    write_json(folder / CARD, card)
    return card
