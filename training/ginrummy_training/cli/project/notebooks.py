"""``ginrummy notebooks``: runs the notebooks."""

import argparse
import os
import shutil
import sys
from pathlib import Path
from time import perf_counter

from ginrummy_training.cli.arguments import add_force

HELP = """\
Runs notebooks from top to bottom and writes them with their outputs. Results that take long are
cached in build/notebooks: an interrupted run resumes from them.

examples:
  ginrummy notebooks --force                         all of notebooks/, in under an hour
  ginrummy notebooks --only 01 03 --fast --out /tmp/mine
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--only", nargs="+", action="extend", default=[], metavar="NAME",
                        help="notebooks whose names begin like this")  # fmt: skip
    parser.add_argument("--fast", action="store_true", help="small settings: seconds, not minutes")
    parser.add_argument("--folder", type=Path, default=Path("notebooks"), help="(notebooks)")
    parser.add_argument("--out", type=Path, metavar="FOLDER",
                        help="write them here instead of in place")  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="forget cached results")
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run notebooks."""
    from ginrummy_env.files import require_free
    from ginrummy_training.analysis.notebook_cache import FOLDER_VARIABLE, kept_root
    from ginrummy_training.analysis.notebook_runner import (
        NotebookError,
        chosen,
        execute,
        write_notebook,
    )
    from ginrummy_training.cli.console import log

    paths = chosen(options.folder, options.only)
    if options.fast and options.out is None:
        raise ValueError("--fast needs --out: the notebooks in place were run on full settings")
    root = kept_root().resolve()
    os.environ[FOLDER_VARIABLE] = str(root)
    if options.fresh:
        shutil.rmtree(root, ignore_errors=True)
    out: Path = options.out or options.folder
    for path in paths:
        require_free(out / path.name, options.force)
    start = perf_counter()
    for path in paths:
        begun = perf_counter()
        try:
            notebook = execute(
                path, options.folder, fast=options.fast, say=lambda text: print(text, flush=True)
            )
        except NotebookError as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            log(f"\ninterrupted; results are cached in {root}; run the same command to resume")
            return 130
        write_notebook(notebook, out / path.name)
        print(f"{out / path.name}: written after {perf_counter() - begun:.0f} s", flush=True)
    print(f"{len(paths)} notebooks, {perf_counter() - start:.0f} s")
    return 0
