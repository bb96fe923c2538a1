"""Positions and games as Parquet: the files of a folder, written whole and checked when read.

Files of a folder::

    card.json                 the data card: agents, rules, seed, versions, columns
    positions/00000.parquet   every decision of the games of shard 0
    games/00000.parquet       one row per game
    manifest/00000.json       SHA-256 of the two; written last, so a shard with an entry is complete

A shard counts only if its manifest entry belongs to the data card and both files have their
SHA-256. pyarrow is imported only here, when a file is read or written.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.files import write_whole
from ginrummy_training.dataset.schema import COLUMNS, NAMES, Columns
from ginrummy_training.evaluation.game_table import GAME, Table
from ginrummy_training.storage import ResultError, read_json, write_json

FORMAT = 2
"""Version of the folders; others are refused."""

CARD, POSITIONS, GAMES, MANIFEST = "card.json", "positions", "games", "manifest"
PARTS = (POSITIONS, GAMES)
"""The two files of a shard, by folder."""

NEEDED = "pip install -e '.[data]'"

MARK = b"ginrummy"
"""Key of a file's own description: which games it holds."""

GAME_COLUMNS: tuple[tuple[str, str], ...] = (
    ("agent_a", "dictionary"),
    ("agent_b", "dictionary"),
    *((name, str(GAME[name])) for name in GAME.names or () if name != "done"),
)
"""Columns of the games and their types: the agents, then those of `game_table.GAME`."""


def arrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet.

    Raises:
        RuntimeError: it is not installed; says how to install it.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is missing: {NEEDED}") from error
    return pyarrow, pyarrow.parquet


@dataclass(frozen=True, slots=True)
class Values:
    """The agents' values of actions: rows of unequal length, concatenated."""

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
    num_games: int
    num_positions: int
    positions: bytes
    games: bytes

    @property
    def parts(self) -> dict[str, bytes]:
        """The content of each of the `PARTS`."""
        return {POSITIONS: self.positions, GAMES: self.games}


def positions_file(
    columns: Columns, values: Values, agents: Sequence[str], about: dict[str, Any]
) -> bytes:
    """Return rows as a Parquet file.

    Args:
        columns: those of `COLUMNS` except the values; ``agent`` is an index of ``agents``.
        values: of the same rows.
        agents: their names.
        about: which games they are.
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
        pairs: [G, 2] indices of agents A and B in each game.
        agents: their names.
        about: which games they are.
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
    parquet.write_table(
        table, file, compression="zstd", compression_level=COMPRESSION, write_page_checksum=True
    )
    return file.getvalue()


COMPRESSION = 6
"""Level of zstd."""


def _names(numbers: NDArray[np.integer], names: Sequence[str]) -> Any:
    pa, _ = arrow()
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int8)), pa.array(names))


def _lists(counts: NDArray[np.int64], content: NDArray[Any]) -> Any:
    """Return rows of unequal length; null where a row is empty."""
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


def read_card(folder: Path) -> dict[str, Any]:
    """Return a folder's data card.

    Raises:
        ResultError: it is missing, corrupt, or of another version.
    """
    path = folder / CARD
    if not path.exists():
        raise ResultError(f"{folder}: not a folder of `ginrummy selfplay`: {CARD} is missing")
    card = read_json(path)
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ResultError(f"{path}: not a data card, or written by another version")
    if not all(isinstance(card.get(part), dict) for part in ("settings", "made_by", "versions")):
        raise ResultError(f"{path}: corrupt: settings, made_by or versions are missing")
    return card


def data_id(card: dict[str, Any]) -> str:
    """Return the identity of a folder's data: a digest of what made it."""
    text = json.dumps([card[part] for part in ("format", "settings", "made_by")], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """A complete shard, as the manifest describes it."""

    path: Path
    """Of the manifest's file."""
    number: int
    games: int
    positions: int
    sha256: dict[str, str]
    """Of each of the `PARTS`."""

    def file(self, part: str) -> Path:
        """Return the path of one of the two files."""
        return self.path.parents[1] / part / f"{self.number:05d}.parquet"

    def content(self, part: str) -> bytes:
        """Return the bytes of one of the two files, once they are checked.

        Args:
            part: POSITIONS or GAMES.

        Raises:
            ResultError: the file is missing, corrupt, or another one.
        """
        file = self.file(part)
        try:
            content = file.read_bytes()
        except OSError as error:
            raise ResultError(f"{file}: {error.strerror}, but {self.path} names it") from error
        if hashlib.sha256(content).hexdigest() != self.sha256[part]:
            raise ResultError(
                f"{file}: corrupt or replaced: its SHA-256 is not that of {self.path}; "
                "the command that made the folder makes it again"
            )
        return content


def write_shard(folder: Path, shard: Shard, data: str) -> None:
    """Write a shard: each file whole, the manifest's entry last.

    Args:
        folder: of the data.
        shard: its files.
        data: see `data_id`.
    """
    entry = folder / MANIFEST / f"{shard.number:05d}.json"
    entry.unlink(missing_ok=True)  # the shard may grow: until it is complete it does not count
    for part, content in shard.parts.items():
        write_whole(folder / part / f"{shard.number:05d}.parquet", content)
    digests = {part: hashlib.sha256(content).hexdigest() for part, content in shard.parts.items()}
    write_json(
        entry,
        {
            "data": data,
            "shard": shard.number,
            "games": shard.num_games,
            "positions": shard.num_positions,
            "sha256": digests,
        },
    )


def read_entries(folder: Path, data: str) -> list[Entry]:
    """Return the manifest: the complete shards of a folder, in order.

    Args:
        folder: of the data.
        data: see `data_id`.

    Raises:
        ResultError: an entry is corrupt, or belongs to other data.
    """
    return [_entry(path, data) for path in sorted((folder / MANIFEST).glob("[0-9]*.json"))]


def whole_entries(folder: Path, data: str) -> Iterator[Entry]:
    """Yield the shards of a folder that are complete and undamaged: all others are made again."""
    for path in sorted((folder / MANIFEST).glob("[0-9]*.json")):
        with suppress(ResultError):
            entry = _entry(path, data)
            for part in PARTS:
                entry.content(part)
            yield entry


def _entry(path: Path, data: str) -> Entry:
    found = read_json(path)
    try:
        number, games, positions = (int(found[name]) for name in ("shard", "games", "positions"))
        sha256 = {part: str(found["sha256"][part]) for part in PARTS}
        other = found["data"] != data
    except (KeyError, TypeError, ValueError) as error:
        raise ResultError(f"{path}: corrupt ({type(error).__name__}: {error})") from error
    if other or path.stem != f"{number:05d}":
        raise ResultError(
            f"{path}: belongs to other data than {path.parents[1] / CARD}, or misnamed"
        )
    return Entry(path, number, games, positions, sha256)
