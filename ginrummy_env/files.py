"""Files that are written whole or not at all: the one place that writes results and records."""

import itertools
import os
import platform
import re
import time
from contextlib import suppress
from pathlib import Path

LEFTOVER_SECONDS = 24 * 3600
"""A temporary file of another machine that is older than this was left behind by a killed run."""

_numbers = itertools.count()
_cleaned: set[Path] = set()
_TEMPORARY = re.compile(r"\..*\.(?P<machine>[^.]*)\.(?P<process>\d+)\.\d+\.part")


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file by way of a temporary one that takes its place once it is on the disk.

    An interrupted or killed process leaves the old file as it was. What it had written so far of
    the new one is removed the next time that a process writes into the folder.

    Args:
        path: a link is followed; folders that are missing are made.
        content: text is written as UTF-8, lines end as they are.

    Raises:
        OSError: the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.parent not in _cleaned:
        remove_leftovers(target.parent)
        _cleaned.add(target.parent)
    name = f".{target.name[:100]}.{_machine()}.{os.getpid()}.{next(_numbers)}.part"
    temporary = target.with_name(name)
    try:
        with temporary.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files in a folder whose processes are gone."""
    for path in folder.glob(".*.part"):
        found = _TEMPORARY.fullmatch(path.name)
        if found is not None and _left_behind(path, found["machine"], int(found["process"])):
            path.unlink(missing_ok=True)


def require_free(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise FileExistsError if a file would be overwritten without having been asked for.

    Args:
        path: of the file that is going to be written.
        force: whether it may be overwritten.
    """
    if not force and os.path.lexists(path):
        raise FileExistsError(f"{path} exists: name another file, or use --force to overwrite it")


def _machine() -> str:
    """Return this machine's name without dots: containers have names of their own."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", platform.node()[:40])


def _left_behind(path: Path, machine: str, process: int) -> bool:
    """Return whether nobody writes a temporary file any more."""
    if machine == _machine() and os.name == "posix":
        try:
            os.kill(process, 0)  # asks only whether there is such a process
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False
    with suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime > LEFTOVER_SECONDS
    return False


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk too, where a folder can be opened for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
