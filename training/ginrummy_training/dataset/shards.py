"""Positions and games as Parquet: a folder of shards with a data card, written whole, read back.

What stands in a folder::

    card.json                 what it is: agents, rules, seed, versions, columns
    positions/00000.parquet   every decision of the games of shard 0
    games/00000.parquet       a line a game; written last: a shard that has it is whole

pyarrow is imported here alone, and only when a file is touched.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import NO_ACTION
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.view import View
from ginrummy_training.dataset.schema import COLUMNS, NAMES, VIEW_COLUMNS, Columns, view_of
from ginrummy_training.evaluation.game_table import GAME, Table
from ginrummy_training.storage import ResultError, read_json

FORMAT = 1
"""Of the folders; another number, and they are read no more."""

CARD, POSITIONS, GAMES = "card.json", "positions", "games"

NEEDED = "pip install 'ginrummy_env[data]'"

MARK = b"ginrummy"
"""Key of a file's own description: which games are in it."""

GAME_COLUMNS: tuple[tuple[str, str], ...] = (
    ("agent_a", "dictionary"),
    ("agent_b", "dictionary"),
    *((name, str(GAME[name])) for name in GAME.names or () if name != "done"),
)
"""Columns of the games and their types: the agents, then those of `table.GAME`."""


def arrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet.

    Raises:
        RuntimeError: it is not installed; says what brings it.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is missing: {NEEDED}") from error
    return pyarrow, pyarrow.parquet


@dataclass(frozen=True, slots=True)
class Values:
    """What agents think, in rows of unequal length one behind the other."""

    counts: NDArray[np.int64]  # [N] how many values each row has
    actions: NDArray[np.uint8]  # [sum of counts]
    values: NDArray[np.float32]  # [sum of counts]

    def select(self, order: NDArray[np.intp]) -> "Values":
        """Return the rows in another order."""
        counts = self.counts[order]
        starts = np.cumsum(self.counts) - self.counts
        first = np.repeat(starts[order] - (np.cumsum(counts) - counts), counts)
        places = first + np.arange(len(first))
        return Values(counts, self.actions[places], self.values[places])


@dataclass(frozen=True, slots=True)
class Shard:
    """The two files of a shard, as bytes."""

    number: int
    positions: bytes
    games: bytes


def positions_file(
    columns: Columns, values: Values, agents: Sequence[str], about: dict[str, Any]
) -> bytes:
    """Return rows as a Parquet file.

    Args:
        columns: those of `COLUMNS` but the values; ``agent`` is a number of ``agents``.
        values: of the same rows.
        agents: their names.
        about: which games these are.
    """
    pa, _ = arrow()
    lists = {
        "value_actions": _lists(values.counts, values.actions),
        "values": _lists(values.counts, values.values),
    }
    arrays = []
    for column in COLUMNS:
        if column.name in lists:
            arrays.append(lists[column.name])
        elif column.name == "agent":
            arrays.append(_names(columns["agent"], agents))
        elif column.name == "history":
            arrays.append(_histories(columns["history"], columns["step"]))
        else:
            arrays.append(pa.array(columns[column.name]))
    return _file(arrays, NAMES, about)


def games_file(
    table: Table, pairs: NDArray[np.integer], agents: Sequence[str], about: dict[str, Any]
) -> bytes:
    """Return a table of games as a Parquet file.

    Args:
        table: rows of `table.GAME`.
        pairs: [G, 2] which of the agents A and B are in each.
        agents: their names.
        about: which games these are.
    """
    pa, _ = arrow()
    arrays = [_names(pairs[:, side], agents) for side in range(2)]
    arrays += [pa.array(np.ascontiguousarray(table[name])) for name, _ in GAME_COLUMNS[2:]]
    return _file(arrays, [name for name, _ in GAME_COLUMNS], about)


def _file(arrays: list[Any], names: Sequence[str], about: dict[str, Any]) -> bytes:
    pa, parquet = arrow()
    table = pa.table(arrays, names=list(names))
    file = io.BytesIO()
    table = table.replace_schema_metadata({MARK: json.dumps(about)})
    parquet.write_table(table, file, compression="zstd", compression_level=COMPRESSION)
    return file.getvalue()


COMPRESSION = 6
"""Level of zstd."""


def _names(numbers: NDArray[np.integer], names: Sequence[str]) -> Any:
    pa, _ = arrow()
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int8)), pa.array(names))


def _lists(counts: NDArray[np.int64], content: NDArray[Any]) -> Any:
    """Return rows of unequal length; none where there is nothing."""
    pa, _ = arrow()
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    none = pa.array(counts == 0)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(content), mask=none)


def _histories(history: NDArray[np.uint8], steps: NDArray[np.int16]) -> Any:
    """Return the actions of each row as bytes."""
    pa, _ = arrow()
    inside = np.arange(history.shape[1]) < steps[:, None]
    offsets = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(history[inside].tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(steps), buffers)


def _history_array(column: Any, count: int) -> NDArray[np.uint8]:
    """Return histories as [N, H] uint8, NO_ACTION behind their ends."""
    _, offsets, content = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + count + 1]
    lengths = np.diff(ends)
    history = np.full((count, int(lengths.max(initial=0))), NO_ACTION, dtype=np.uint8)
    actions = np.frombuffer(content, dtype=np.uint8) if content else np.zeros(0, dtype=np.uint8)
    inside = np.arange(history.shape[1]) < lengths[:, None]
    if count:
        history[inside] = actions[ends[0] : ends[-1]]
    return history


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"{number:05d}.parquet"


def games_in(path: Path) -> int:
    """Return how many games a shard's file is of; 0 if it is missing, damaged, or of others."""
    pa, parquet = arrow()
    try:
        metadata = parquet.read_schema(path).metadata or {}
        about = json.loads(metadata[MARK])
        return int(about["games"])
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return 0


class Data:
    """A folder of shards.

    Attributes:
        folder: where it is.
        card: its data card.
        rules: under which the games were played.
        shards: the files of positions, in order, of shards that are whole.
    """

    def __init__(self, folder: Path) -> None:
        """Open a folder.

        Raises:
            ResultError: no data card, one of another version, or no shard that is whole.
        """
        self.folder = folder
        self.card = read_card(folder)
        try:
            self.rules = Rules.from_dict(self.card["settings"]["rules"])
            self.agents = [str(agent["name"]) for agent in self.card["settings"]["agents"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ResultError(f"{folder / CARD}: damaged ({error})") from error
        whole = sorted(path.name for path in (folder / GAMES).glob("[0-9]*.parquet"))
        self.shards = [folder / POSITIONS / name for name in whole]
        if not self.shards:
            raise ResultError(f"{folder}: no shard is there yet")

    def read(self, path: Path, columns: Sequence[str] = VIEW_COLUMNS) -> Columns:
        """Return columns of a shard as arrays; ``agent`` as numbers of `agents`.

        Args:
            path: of `shards`.
            columns: which; not the lists of values, for which pandas or pyarrow serve.

        Raises:
            ResultError: the file is damaged.
        """
        pa, parquet = arrow()
        try:
            table = parquet.read_table(path, columns=list(columns)).combine_chunks()
            found: Columns = {}
            for name in columns:
                column = table.column(name)
                column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
                if name == "history":
                    found[name] = _history_array(column, len(column))
                elif name == "agent":
                    known = [self.agents.index(each) for each in column.dictionary.to_pylist()]
                    found[name] = np.array(known)[column.indices.to_numpy()]
                else:
                    found[name] = column.to_numpy(zero_copy_only=False)
        except (OSError, pa.ArrowException, KeyError, ValueError) as error:
            raise ResultError(f"{path}: damaged ({error})") from error
        return found


def read_card(folder: Path) -> dict[str, Any]:
    """Return a folder's data card.

    Raises:
        ResultError: there is none, or it is damaged, or of another version.
    """
    path = folder / CARD
    if not path.exists():
        raise ResultError(f"{folder}: no data of `ginrummy selfplay`, {CARD} is missing")
    card = read_json(path)
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ResultError(f"{path}: no data card, or written by another version")
    if not all(isinstance(card.get(part), dict) for part in ("settings", "versions")):
        raise ResultError(f"{path}: damaged, settings or versions are missing")
    return card


@dataclass(frozen=True, slots=True)
class Batch:
    """Some decisions, as they come out of a folder."""

    view: View
    """[N] what the movers saw."""
    actions: NDArray[np.int16]
    """[N] what they did."""
    later: Columns
    """[N] each: what came of it, the columns ``result_...``."""

    def __len__(self) -> int:
        """Return N."""
        return len(self.actions)


LATER_COLUMNS = tuple(name for name in NAMES if name.startswith("result_"))


def load(
    folder: Path | str,
    *,
    agent: str | None = None,
    batch: int = 16_384,
    rng: np.random.Generator | None = None,
) -> Iterator[Batch]:
    """Return the decisions of a folder, batch by batch; `observe(batch.view)` makes arrays of them.

    Args:
        folder: written by `ginrummy selfplay`.
        agent: only this agent's decisions; everybody's if None.
        batch: rows at once, at most; none goes beyond a shard.
        rng: for another order: of the shards, and of the rows within each; as written if None.

    Raises:
        ResultError: no such data, or damaged.
        ValueError: an agent that is not in it, or a bad number.
    """
    if batch < 1:
        raise ValueError(f"batch={batch}: at least 1 is needed")
    data = Data(Path(folder))
    if agent is not None and agent not in data.agents:
        raise ValueError(f"{folder}: no decision of {agent!r}, but of {', '.join(data.agents)}")
    return _batches(data, agent, batch, rng)


def _batches(
    data: Data, agent: str | None, batch: int, rng: np.random.Generator | None
) -> Iterator[Batch]:
    order = np.arange(len(data.shards)) if rng is None else rng.permutation(len(data.shards))
    for number in order.tolist():
        columns = data.read(data.shards[number], (*VIEW_COLUMNS, "agent", "action", *LATER_COLUMNS))
        rows = np.arange(len(columns["action"]))
        if agent is not None:
            rows = rows[columns["agent"] == data.agents.index(agent)]
        if rng is not None:
            rows = rng.permutation(rows)
        for start in range(0, len(rows), batch):
            some = {name: column[rows[start : start + batch]] for name, column in columns.items()}
            yield Batch(
                view_of(some, data.rules),
                some["action"].astype(np.int16),
                {name: some[name] for name in LATER_COLUMNS},
            )


def recorded_points(folder: Path, deals: int) -> NDArray[np.int16]:
    """Return what deals of a folder brought the player who began, at most so many, [K] int16.

    Raises:
        ResultError: no such data, or damaged.
    """
    data = Data(folder)
    found: list[NDArray[np.int16]] = []
    for path in data.shards:
        columns = data.read(path, ("step", "result_points"))
        found.append(columns["result_points"][columns["step"] == 0])
        if sum(map(len, found)) >= deals:
            break
    return np.concatenate(found)[:deals]
