"""The arena: what it costs to ask a program rather than a policy."""

import functools
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.registry import Entry, Goal, Measured, Measurement, MissingExtraError
from ginrummy_agents.external import ExternalPolicy
from ginrummy_agents.external.java_bridge import bridge_agent, compile_bridge
from ginrummy_env.core.chance import Random
from ginrummy_env.core.rules import EAAI
from ginrummy_env.core.view import View
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.evaluation.lockstep import Games, Lockstep

GAMES, STEPS, ROUNDS = 256, 150, 7
BASELINE_GAMES = 1_000

PLAYER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif message["type"] == "move":
        print('{"game": %d, "action": %d}' % (message["game"], message["legal"][-1]), flush=True)
"""
"""Plays the last legal action: it knocks when it can."""


class LastLegal:
    """The same as a policy."""

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return the last legal action of each row."""
        return (view.action_masks().shape[1] - 1 - view.action_masks()[:, ::-1].argmax(1)).astype(
            np.int16
        )


def asked(policy: Policy, seed: int) -> tuple[float, int]:
    """Play some steps of 256 games in both seats; return CPU seconds here, and decisions."""
    numbers = np.arange(2 * GAMES)
    games = Games(np.zeros_like(numbers), numbers, np.zeros((len(numbers), 2), dtype=np.int8))
    lockstep = Lockstep([policy], games, EAAI, seed=seed, batch=GAMES)
    lockstep.step()  # the program has been started then
    start, before = time.process_time(), lockstep.clock.decisions.sum()
    for _ in range(STEPS):
        lockstep.step()
    return time.process_time() - start, int(lockstep.clock.decisions.sum() - before)


def group_seconds(leader: int) -> float:
    """Return the CPU seconds of a process group; NaN where there is no /proc."""
    if not Path("/proc").is_dir():
        return float("nan")
    ticks = 0
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # not a process, or one that has just ended
            continue
        if int(fields[2]) == leader:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def protocol_cost(seed: int) -> Measured:
    """Return microseconds of this process's CPU time that the protocol costs a decision.

    The same games are played by a program and by a policy in turn; what differs is the protocol.
    """
    costs, theirs = [], []
    with ExternalPolicy([sys.executable, "-I", "-c", PLAYER]) as program:
        for _ in range(ROUNDS):
            direct, decisions = asked(LastLegal(), seed)
            session = program._session
            before = group_seconds(session.program.group) if session is not None else 0.0
            outside, same = asked(program, seed)
            assert same == decisions
            costs.append(1e6 * (outside - direct) / decisions)
            session = program._session
            assert session is not None
            theirs.append(1e6 * (group_seconds(session.program.group) - before) / decisions)
    low, high = min(costs), max(costs)
    return Measured(
        statistics.median(costs),
        (
            f"protocol, {ROUNDS} rounds: {low:.1f} to {high:.1f} µs a decision; the program's own "
            f"processes take another {statistics.median(theirs):.1f} µs",
        ),
    )


def baseline_games(seed: int, shared: bool = False, own_melds: bool = False) -> Measured:
    """Return full EAAI games a CPU second of both processes: the challenge's baseline, `simple`.

    Raises:
        MissingExtraError: the challenge's classes or a JDK are not here.
    """
    jar = os.environ.get("EAAI_JAR", "")
    if not Path(jar).is_file() or shutil.which("javac") is None:
        raise MissingExtraError("a JDK and $EAAI_JAR, the AAAI-21 challenge's classes, are needed")
    numbers = np.arange(BASELINE_GAMES)
    sides = np.tile(np.array([0, 1], dtype=np.int8), (len(numbers), 1))
    games = Games(np.zeros_like(numbers), numbers, sides)
    with tempfile.TemporaryDirectory() as folder:
        compile_bridge(Path(folder))
        player = "ginrummy.SimpleGinRummyPlayer"
        text = bridge_agent(Path(folder), jar, player, shared=shared, own_melds=own_melds)
        with ExternalPolicy.parse(text.removeprefix("exec:")) as program:
            start = time.process_time()
            lockstep = Lockstep([program, make_policy("simple")], games, EAAI, seed=seed, batch=256)
            while lockstep.running:
                lockstep.step()
            ours = time.process_time() - start
            assert program._session is not None
            theirs = group_seconds(program._session.program.group)
    return Measured(
        len(numbers) / (ours + theirs),
        (f"{len(numbers):,} games: {ours:.1f} CPU s here, {theirs:.1f} CPU s in Java",),
    )


BENCHMARKS: list[Entry] = [
    Measurement(
        name=f"protocol/{GAMES}",
        track="arena",
        unit="µs a decision",
        work_out=protocol_cost,
        goals=(Goal(value=20, at_most=True),),
    ),
    Measurement(
        name="challenge's baseline",
        track="arena",
        unit="games a CPU s",
        work_out=baseline_games,
        goals=(Goal(value=40),),
    ),
    Measurement(
        name="challenge's baseline, shared",
        track="arena",
        unit="games a CPU s",
        work_out=functools.partial(baseline_games, shared=True),
    ),
    Measurement(
        name="challenge's baseline, own melds",
        track="arena",
        unit="games a CPU s",
        work_out=functools.partial(baseline_games, own_melds=True),
        goals=(Goal(value=40),),
    ),
]
