"""Clusters that are started, connected to, left and missed."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import ray

from ginrummy_training.cli.main import main
from ginrummy_training.cluster.ray_runner import RayRunner
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_result import MatchResult

ROOT = Path(__file__).parents[2]
SETTINGS = {"seed": 4, "rules": "eaai,target=30"}


@pytest.fixture(scope="module")
def match_alone():
    return play_match("simple", "gold", games=120, **SETTINGS)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere"])
def test_an_address_without_a_cluster_is_an_error(address):
    with pytest.raises(ValueError, match=f"no Ray cluster at '{address}'"):
        play_match("simple", "gold", games=4, runner=RayRunner(address))


def test_a_cluster_is_left_as_it_was(cluster, match_alone):
    runner = RayRunner(cluster.address)
    played = play_match("simple", "gold", games=40, **SETTINGS, runner=runner)
    assert played.table.tobytes() == match_alone.table[:40].tobytes()
    assert not ray.is_initialized()
    assert not cluster.head_node.dead_processes()


def drive(out, *where):
    """Start a match in a process of its own, and return it once games are on file."""
    command = [
        sys.executable,
        "-m",
        "ginrummy_training",
        "match",
        "simple",
        "gold",
        "--games",
        "60000",
    ]
    command += [
        "--seed",
        "4",
        "--rules",
        SETTINGS["rules"],
        "--out",
        str(out),
        "--range",
        "40",
        "--ray",
    ]
    # It has a token and is not told that one is needed.
    environment = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_MODE"}
    driver = subprocess.Popen(
        [*command, *where], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 600
    while not (out / "games.npz").exists() and time.monotonic() < deadline:
        assert driver.poll() is None, driver.stderr.read()
        time.sleep(0.05)
    kept = MatchResult.load(out / "games.npz", 60_000).table["done"].sum()
    assert 0 < kept < 60_000
    return driver


def processes(of):
    return set(psutil.Process(of).children(recursive=True))


def is_worker(process):
    """Whether it is a worker, idle ones of which the tests' own cluster keeps."""
    with suppress(psutil.NoSuchProcess):
        return any(word.startswith("ray::") for word in process.cmdline())
    return False


def left(started):
    """Those that have not ended after a while."""
    return psutil.wait_procs(started, timeout=600)[1]


def goes_on(out, cluster, match_alone):
    """Whether a match goes on to the games that it has when nothing happens."""
    settings = {**SETTINGS, "runner": RayRunner(cluster.address), "out": out / "games.npz"}
    rest = play_match("simple", "gold", games=120, **settings)
    return rest.table.tobytes() == match_alone.table.tobytes()


def test_a_killed_driver_leaves_no_task_and_goes_on(cluster, match_alone, tmp_path):
    before = processes(os.getpid())
    driver = drive(tmp_path, cluster.address)
    started = processes(os.getpid()) - before
    assert any(process.name().startswith("ray::") for process in started)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    assert not left(started)
    assert goes_on(tmp_path, cluster, match_alone)


def test_an_interrupted_driver_ends_its_own_cluster_and_goes_on(cluster, match_alone, tmp_path):
    driver = drive(tmp_path, "--workers", "1")
    started = processes(driver.pid)
    assert any("raylet" in process.name() for process in started)
    driver.send_signal(signal.SIGINT)
    assert "run the same command to resume" in driver.communicate(timeout=600)[1]
    assert driver.returncode == 130
    assert not left(started)
    assert not cluster.head_node.dead_processes()
    assert goes_on(tmp_path, cluster, match_alone)


def test_the_page_runs_as_written(cluster, tmp_path, monkeypatch):
    text = (ROOT / "docs" / "SCALE.md").read_text(encoding="utf-8")
    section = text.partition("## Use a cluster\n")[2].partition("\n## ")[0]
    commands = re.findall(r"^    ginrummy ((?:match|tournament) [^#\n]+)", section, re.MULTILINE)
    commands = [command for command in commands if "HEAD" not in command]
    assert [re.findall(r"--ray(?: auto)?", command) for command in commands] == [
        [], ["--ray"], ["--ray auto"],
    ]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    before = processes(os.getpid())
    for command in commands:
        assert main(shlex.split(command)) == 0
    started = processes(os.getpid()) - before
    assert not left({each for each in started if not is_worker(each)})
    here, there = (
        [MatchResult.load(path).table.tobytes() for path in sorted(Path(out).glob("*.npz"))]
        for out in ("runs/here", "runs/ray")
    )
    assert here == there
    assert len(here) == 3
