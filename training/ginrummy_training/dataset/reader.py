"""Reading a folder of self-play: every file checked against the manifest before it is used."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import NO_ACTION
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.view import View
from ginrummy_training.dataset.schema import NAMES, VIEW_COLUMNS, Columns, view_of
from ginrummy_training.dataset.shards import (
    CARD,
    POSITIONS,
    Entry,
    arrow,
    data_id,
    read_card,
    read_entries,
)
from ginrummy_training.storage import ResultError


class Data:
    """A folder of shards.

    Attributes:
        folder: of the data.
        card: its data card.
        rules: of the games.
        agents: their names.
        entries: the complete shards, in order.
    """

    def __init__(self, folder: Path) -> None:
        """Open a folder.

        Raises:
            ResultError: the data card or the manifest is missing, corrupt or of another version,
                or no shard is complete.
        """
        self.folder = folder
        self.card = read_card(folder)
        try:
            self.rules = Rules.from_dict(self.card["settings"]["rules"])
            self.agents = [str(name) for name in self.card["settings"]["agents"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ResultError(f"{folder / CARD}: corrupt ({error})") from error
        self.entries = read_entries(folder, data_id(self.card))
        if not self.entries:
            raise ResultError(f"{folder}: no shard is complete yet")

    def read(self, entry: Entry, columns: Sequence[str] = VIEW_COLUMNS) -> Columns:
        """Return columns of a shard as arrays; ``agent`` as indices of `agents`.

        Args:
            entry: of `entries`.
            columns: which; not the lists of values, for which pandas or pyarrow serve.

        Raises:
            ResultError: the file is missing, corrupt, or another one.
        """
        pa, parquet = arrow()
        content = entry.content(POSITIONS)
        try:
            table = parquet.read_table(
                pa.BufferReader(content), columns=list(columns), page_checksum_verification=True
            ).combine_chunks()
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
            raise ResultError(f"{entry.path}: not a file of positions ({error})") from error
        return found


def _history_array(column: Any, count: int) -> NDArray[np.uint8]:
    """Return histories as [N, H] uint8, padded with NO_ACTION."""
    _, offsets, content = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + count + 1]
    lengths = np.diff(ends)
    history = np.full((count, int(lengths.max(initial=0))), NO_ACTION, dtype=np.uint8)
    actions = np.frombuffer(content, dtype=np.uint8) if content else np.zeros(0, dtype=np.uint8)
    inside = np.arange(history.shape[1]) < lengths[:, None]
    if count:
        history[inside] = actions[ends[0] : ends[-1]]
    return history


@dataclass(frozen=True, slots=True)
class Batch:
    """Decisions read from a folder."""

    view: View
    """[N] what the movers saw."""
    actions: NDArray[np.int16]
    """[N] what they did."""
    later: Columns
    """[N] each: the outcome, the columns ``result_...``."""

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
    """Yield the decisions of a folder in batches; `observe(batch.view)` turns them into arrays.

    Args:
        folder: written by `ginrummy selfplay`.
        agent: only this agent's decisions; all if None.
        batch: most rows at once; a batch never spans two shards.
        rng: shuffles the shards, and the rows within each; as written if None.

    Raises:
        ResultError: no such data, or a corrupt file.
        ValueError: an agent that did not play there, or a bad number.
    """
    if batch < 1:
        raise ValueError(f"batch={batch}: at least 1 is needed")
    data = Data(Path(folder))
    if agent is not None and agent not in data.agents:
        raise ValueError(
            f"{folder}: {agent!r} did not play there; {', '.join(map(repr, data.agents))} did"
        )
    return _batches(data, agent, batch, rng)


def _batches(
    data: Data, agent: str | None, batch: int, rng: np.random.Generator | None
) -> Iterator[Batch]:
    order = np.arange(len(data.entries)) if rng is None else rng.permutation(len(data.entries))
    for number in order.tolist():
        columns = data.read(
            data.entries[number], (*VIEW_COLUMNS, "agent", "action", *LATER_COLUMNS)
        )
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
    """Return what the first deals of a folder paid the player who moved first, [K] int16.

    Args:
        folder: written by `ginrummy selfplay`.
        deals: most deals to read; K is this, or all there are.

    Raises:
        ResultError: no such data, or a corrupt file.
    """
    data = Data(folder)
    found: list[NDArray[np.int16]] = []
    for entry in data.entries:
        columns = data.read(entry, ("step", "result_points"))
        found.append(columns["result_points"][columns["step"] == 0])
        if sum(map(len, found)) >= deals:
            break
    return np.concatenate(found)[:deals]
