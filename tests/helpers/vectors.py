"""The vector files: positions, deals and games with their right answers (see README.md)."""

import gzip
import json
from functools import cache
from pathlib import Path

FILES = ("deadwood", "layoff", "hands", "games")


@cache
def load(name: str) -> list[dict]:
    """Return the records of ``<name>.jsonl.gz``, one dict a record; do not change them."""
    path = Path(__file__).parents[1] / "vectors" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
