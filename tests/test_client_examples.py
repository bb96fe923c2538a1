"""The examples for other libraries run, on tiny settings, where the library is installed."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.clients import CLIENTS, MARKS, PAGE, glue, table

ROOT = Path(__file__).parents[1]
TINY = {
    "sb3": 16_384,
    "cleanrl": 16_384,
    "selfplay": 10,  # updates: it reports every ten
    "pettingzoo": 2_048,
    "torchrl": 16_384,
    "tianshou": 1_000,
    "rllib": 512,
    "agilerl": 800,
    "rlcard": 200,
    "openspiel": 4,  # iterations of CFR+
}


@pytest.mark.parametrize("name", CLIENTS)
def test_the_example_runs(name):
    """What it prints last says what it reached; the time in the environment is a share."""
    client = CLIENTS[name]
    if not find_spec(client.module):
        pytest.skip(f"{client.package} is not installed here: make test-clients")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.clients", name]
    command += ["--steps", str(TINY[name])]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.partition(": ")[2])
    assert "points a deal" in found["reached"]
    assert 0 < found["share"] < 1
    assert found["decisions"] >= min(TINY[name], 200)


def test_every_example_is_a_row_of_the_table():
    scripts = {f"{client.script}.py" for client in CLIENTS.values()}
    written = {path.name for path in (ROOT / "examples").glob("*_*.py")}
    assert scripts <= written
    page = PAGE.read_text(encoding="utf-8")
    assert f"{MARKS[0]}\n{table()}\n{MARKS[1]}" in page, "python -m benchmarks.clients --table"
    assert all(glue(client.script) <= 3 for client in CLIENTS.values())
