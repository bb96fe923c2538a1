"""Files that are there whole or not at all, and clear errors for damaged ones."""

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ResultError(ValueError):
    """A file of results that can't be used. The message names it and says why."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file by way of a temporary one, so that an interrupted run leaves no half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_json(path: Path, content: Any) -> None:
    """Write JSON that a person can read too."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(path, text.encode() + b"\n")


def read_json(path: Path) -> Any:
    """Return what a JSON file holds.

    Raises:
        ResultError: it is no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ResultError(f"{path}: damaged, this is no JSON ({error})") from error


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table with a line of names at its top."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
    """Write named arrays and a description (JSON) as .npz."""
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)
    write_whole(path, file.getvalue())


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return what `write_arrays` wrote.

    Raises:
        ResultError: it is damaged, or something else.
    """
    try:
        # By way of memory: of a damaged file numpy would leave the handle open.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
    except FileNotFoundError:
        raise
    except Exception as error:  # damaged bytes make zipfile and numpy raise nearly anything
        raise ResultError(f"{path}: damaged, or no file of results ({error})") from error
    if not isinstance(about, dict):
        raise ResultError(f"{path}: damaged, its description is no table")
    return arrays, about
