"""Executes the notebooks: ``make notebooks``.

Each is run from top to bottom by this interpreter, whatever kernels the machine has, and written
whole once its last cell has run. Results that take long are kept by the notebooks themselves
(`ginrummy_training.analysis.notebook_cache`), so an interrupted run resumes.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import ginrummy_env
from ginrummy_env.files import write_whole
from ginrummy_training.analysis.notebook_cache import SMALL_VARIABLE
from ginrummy_training.storage import ResultError

CELL_SECONDS = 3_600
"""A cell that takes longer is stopped."""

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


class NotebookError(RuntimeError):
    """A cell that failed. The message says which, and what it said."""


def execute(path: Path, folder: Path, *, fast: bool = False, say: Any = None) -> Any:
    """Return a notebook (an nbformat node) with the outputs of all its cells.

    Args:
        path: the notebook.
        folder: where its kernel works.
        fast: on small settings.
        say: is told, in a line of text, what runs.

    Raises:
        NotebookError: a cell that failed, or took too long.
        ResultError: no notebook, or a corrupt one.
        KeyboardInterrupt: Ctrl-C; the kernel has been stopped.
    """
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    try:
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise ResultError(f"{path}: not a notebook, or corrupt ({error})") from error
    code = [number for number, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    start = perf_counter()

    def on_start(cell: Any, cell_index: int) -> None:
        if say is not None and cell_index in code:
            head = cell.source.strip().splitlines()[0] if cell.source.strip() else ""
            number, seconds = code.index(cell_index) + 1, perf_counter() - start
            say(f"{path.stem}  {seconds:5.0f} s  cell {number} of {len(code)}: {head}")

    kernel = AsyncKernelManager(kernel_name=KERNEL["name"], kernel_spec_manager=_specs())
    client = NotebookClient(
        notebook,
        km=kernel,
        resources={"metadata": {"path": str(folder)}},
        timeout=CELL_SECONDS,
        record_timing=False,
        on_cell_start=on_start,
    )
    changed = {SMALL_VARIABLE: "1" if fast else "0", "OMP_NUM_THREADS": "1"}
    try:
        with tempfile.TemporaryDirectory() as sockets:
            if os.name == "posix":  # then nobody else can listen in, and no port is taken
                kernel.transport, kernel.ip = "ipc", str(Path(sockets) / "kernel")
            client.execute(cleanup_kc=True, env={**os.environ, **changed})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise NotebookError(f"{path.name}: {error}") from error
    except AssertionError:
        if client.km is not None:
            raise
        # On Ctrl-C nbclient stops the kernel, and then finds none to stop.
        raise KeyboardInterrupt from None
    strip(notebook)
    notebook.metadata["ginrummy_env"] = {
        "version": ginrummy_env.__version__,
        "settings": "small" if fast else "full",
        "cells": sources_mark(notebook),
    }
    return notebook


def _specs() -> Any:
    """Return what says which kernels there are: one, this interpreter."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    class ThisInterpreter(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=launch, display_name=KERNEL["display_name"], language="python")

    return ThisInterpreter()


def strip(notebook: Any) -> None:
    """Take out of a notebook all that differs from run to run and machine to machine."""
    tidy = notebook.metadata
    for name in list(tidy):
        del tidy[name]
    tidy["kernelspec"] = dict(KERNEL)
    tidy["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata.clear()
        if tags:
            cell.metadata["tags"] = tags


def sources_mark(notebook: Any) -> str:
    """Return a sign of the code cells: outputs are of this code if it is the one noted."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()[:16]


def chosen(folder: Path, only: Sequence[str]) -> list[Path]:
    """Return the notebooks of a folder whose names begin with one of the given beginnings.

    Raises:
        ValueError: there are none.
    """
    paths = sorted(folder.glob("*.ipynb"))
    wanted = [path for path in paths if not only or path.stem.startswith(tuple(only))]
    if not wanted:
        names = ", ".join(path.stem for path in paths) or "none"
        raise ValueError(f"no such notebook in {folder}; there are: {names}")
    return wanted


def write_notebook(notebook: Any, path: Path) -> None:
    """Write a notebook whole, with the indentation and the order of keys that Jupyter uses."""
    import nbformat

    text = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    write_whole(path, (text.rstrip("\n") + "\n").encode())
