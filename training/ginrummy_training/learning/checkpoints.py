"""Checkpoints of a run: the last two, each with its SHA-256 in an index that is written last.

A folder holds ``checkpoint-000007.pt`` (a file, or a folder of files), the one before it, and
``checkpoint.json``, which names both. A run that is killed while it writes a checkpoint leaves the
index as it was; a checkpoint that does not have its SHA-256 is never used.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from ginrummy_env.files import write_whole
from ginrummy_training.storage import ResultError, read_json, write_json

INDEX = "checkpoint.json"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint as the index has it."""

    name: str
    """Of its file or folder."""
    sha256: str
    about: str
    """How far the run had come, for people."""


class Checkpoints:
    """The checkpoints of a run.

    Attributes:
        folder: of the run.
        current: the one that the run has come from; it stays when another one is written.
    """

    def __init__(self, folder: Path, suffix: str = "") -> None:
        """Use the checkpoints of a folder.

        Args:
            folder: of the run; may be missing.
            suffix: of their names, such as ``".pt"``.
        """
        self.folder, self.suffix = folder, suffix
        self.current: Checkpoint | None = None

    def open(self, previous: bool = False) -> Path | None:
        """Return the last checkpoint, checked; None if there is none yet.

        Args:
            previous: the one before it instead.

        Raises:
            ResultError: it is corrupt or missing (says if the previous one can be used), or the
                index is corrupt.
        """
        if not (self.folder / INDEX).exists():
            if previous:
                raise ResultError(f"{self.folder}: there is no checkpoint yet")
            return None
        last, before = self._index()
        if previous and before is None:
            raise ResultError(f"{self.folder}: there is no checkpoint before the last one")
        wanted = before if previous and before is not None else last
        path = self.folder / wanted.name
        if not self._is_intact(wanted):
            advice = ""
            if not previous and before is not None and self._is_intact(before):
                advice = f"; the previous one ({before.about}) is intact: --resume --previous"
            raise ResultError(
                f"{path}: corrupt or missing: its SHA-256 is not that of {INDEX}{advice}"
            )
        self.current = wanted
        return path

    def write(self, content: bytes | Callable[[Path], None], about: str) -> None:
        """Write a checkpoint and drop all but this one and the one that the run has come from.

        Args:
            content: of its file; or what writes it as a folder at a path.
            about: how far the run has come.
        """
        name = f"checkpoint-{self._next_number():06d}{self.suffix}"
        path = self.folder / name
        if isinstance(content, bytes):
            write_whole(path, content)
        else:
            new = self.folder / f".{name}.new"
            shutil.rmtree(new, ignore_errors=True)
            content(new)
            os.replace(new, path)
        written = Checkpoint(name, _sha256(path), about)
        index = {
            "last": asdict(written),
            "previous": None if self.current is None else asdict(self.current),
        }
        write_json(self.folder / INDEX, index)
        kept = {name} if self.current is None else {name, self.current.name}
        for other in (*self.folder.glob("checkpoint-*"), *self.folder.glob(".checkpoint-*.new")):
            if other.name not in kept:
                _remove(other)
        self.current = written

    def _index(self) -> tuple[Checkpoint, Checkpoint | None]:
        path = self.folder / INDEX
        found = read_json(path)
        try:
            last, before = found["last"], found["previous"]
            index = Checkpoint(**last), None if before is None else Checkpoint(**before)
        except (KeyError, TypeError) as error:
            raise ResultError(f"{path}: corrupt ({error})") from error
        for each in index:
            if each is not None and Path(str(each.name)).name != each.name:
                raise ResultError(f"{path}: corrupt: {each.name!r} is not a name of a checkpoint")
        return index

    def _is_intact(self, checkpoint: Checkpoint) -> bool:
        try:
            return _sha256(self.folder / checkpoint.name) == checkpoint.sha256
        except OSError:
            return False

    def _next_number(self) -> int:
        """Return a number that no checkpoint in the folder has, complete or not."""
        names = (path.name for path in self.folder.glob("checkpoint-*"))
        numbers = [name.removeprefix("checkpoint-").removesuffix(self.suffix) for name in names]
        return max((int(number) for number in numbers if number.isdecimal()), default=0) + 1


def _sha256(path: Path) -> str:
    """Return the digest of a file, or of all files of a folder and their names."""
    if not path.is_dir():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    whole = hashlib.sha256()
    for each in sorted(path.rglob("*")):
        if each.is_file():
            name = each.relative_to(path).as_posix()
            whole.update(f"{name}\0{_sha256(each)}\n".encode())
    return whole.hexdigest()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
