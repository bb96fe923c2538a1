"""Files of arrays (.npz) that may come from elsewhere: checked before they are read."""

import zipfile
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

LARGEST_FILE = 1 << 28
"""Most bytes that the arrays of one file may take in memory: 256 MB."""


def read_arrays(path: Path | Traversable, largest: int = LARGEST_FILE) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file. Nothing is unpickled.

    The sizes that the headers state are checked before any array is read, so that a small file
    that unpacks to gigabytes, or claims to, costs nothing.

    Args:
        path: the file, or a resource of a package.
        largest: most bytes of all arrays together.

    Raises:
        ValueError: the arrays are too large, or larger than what the file holds of them.
        OSError: the file cannot be read; damaged bytes raise other exceptions, too.
    """
    with path.open("rb") as file:
        with zipfile.ZipFile(file) as packed:
            sizes = {each.filename: each.file_size for each in packed.infolist()}
            if sum(sizes.values()) > largest:
                raise ValueError(f"its arrays take more than {largest >> 20} MB")
            for name, size in sizes.items():
                with packed.open(name) as entry:
                    if _stated_size(entry) > size:
                        raise ValueError(f"{name} declares more values than the file holds")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            return {name: np.asarray(arrays[name]) for name in arrays.files}


def _stated_size(entry: IO[bytes]) -> int:
    """Return the bytes of the values that an array's header states."""
    version = npy.read_magic(entry)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(entry)
    size = dtype.itemsize
    for length in shape:
        size *= int(length)
    return size


def require_finite(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError, naming the array, if one has other values than finite numbers."""
    for name, array in arrays.items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ValueError(f"{name} has values that are not finite numbers")
