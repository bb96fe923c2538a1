"""Files of results: JSON, CSV and arrays, with clear errors for corrupt ones."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.files import write_whole


class ResultError(ValueError):
    """A file of results that can't be used. The message names it and gives the reason."""


def write_json(path: Path, content: Any) -> None:
    """Write JSON that a person can read too."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(path, f"{text}\n")


def read_json(path: Path) -> Any:
    """Return what a JSON file holds.

    Raises:
        ResultError: it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path}: corrupt, this is not JSON ({error})") from error


def read_checked(path: Path, name: str, form: Any, what: str, check: Callable[[Any], None]) -> Any:
    """Return a result that was written as JSON, once it has been checked.

    Args:
        path: of the file, or of its folder.
        name: of the file in the folder.
        form: what its ``"format"`` has to be.
        what: what it is, for errors.
        check: raises KeyError, TypeError, ValueError or AttributeError if something is missing or
            wrong.

    Raises:
        ResultError: of another format, corrupt, or something else.
    """
    file = path / name if path.is_dir() else path
    found = read_json(file)
    try:
        stated = found["format"]
        if stated == form:
            check(found)
            return found
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ResultError(
            f"{file}: not {what}, or corrupt ({type(error).__name__}: {error})"
        ) from error
    raise ResultError(f"{file}: {what} of format {stated!r}, this is {form}")


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table with a line of names at its top."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    write_whole(path, text.getvalue())


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
    """Write named arrays and a description (JSON) as .npz."""
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)
    write_whole(path, file.getvalue())


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return what `write_arrays` wrote.

    Raises:
        ResultError: it is corrupt, or something else.
    """
    try:
        # By way of memory: of a corrupt file numpy would leave the handle open.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
    except FileNotFoundError:
        raise
    except Exception as error:  # damaged bytes make zipfile and numpy raise nearly anything
        raise ResultError(f"{path}: corrupt, or not a file of results ({error})") from error
    if not isinstance(about, dict):
        raise ResultError(f"{path}: corrupt, its description is not a table")
    return arrays, about
