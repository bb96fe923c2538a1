"""Measure what `cost` needs: what games and ranges cost, here, and what Ray adds.

    ginrummy cluster measure --out runs/scale

CPU seconds are the processor's, so that what else runs on the machine hardly moves them.
"""

import argparse
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ginrummy_env.files import require_free
from ginrummy_training.cluster.ray_runner import AHEAD, LOCAL, RayRunner, connected, play_ranges
from ginrummy_training.evaluation.game_table import empty_table
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_result import MatchResult
from ginrummy_training.evaluation.match_summary import won_by_pair
from ginrummy_training.evaluation.processes import Report
from ginrummy_training.evaluation.ranges import Job, Ranges, by_pairing
from ginrummy_training.provenance import versions
from ginrummy_training.storage import read_json, write_json

AGENTS: dict[str, tuple[int, int, int]] = {
    "simple": (400, 6400, 25_600),
    "lookahead": (400, 1600, 6400),
    "champion": (200, 800, 4000),
    "search:64": (2, 6, 18),
}
"""Agents of the table, and the sizes of range at which each is timed against simple."""

ENOUGH_PAIRS = 500
"""From fewer the spread between pairs is not taken: a search's games take too long."""

RANGE_SIZES = (1, 8, 64)
RANGES = 10  # of each size


def costs_of(agent: str) -> dict[str, Any]:
    """Return what a range of an agent's games against simple costs: overhead and a game's share."""
    sizes, seconds, results = AGENTS[agent], [], []
    for number, games in enumerate(sizes):
        start = process_time()
        results.append(play_match(agent, "simple", games=games, seed=number, rules="eaai"))
        seconds.append(process_time() - start)
    slope, overhead = fit(sizes, seconds)
    won = np.concatenate([won_by_pair(result) / 2 for result in results])
    return {
        "against": "simple",
        "rules": "eaai",
        "games": list(sizes),
        "cpu_seconds": seconds,
        "overhead": max(overhead, 0.0),
        "seconds_a_game": slope,
        "pair_deviation": float(won.std(ddof=1)) if len(won) >= ENOUGH_PAIRS else None,
        "pairs": len(won),
    }


def fit(sizes: Any, seconds: Any) -> tuple[float, float]:
    """Return (seconds a game, seconds a range), the line with the least relative errors."""
    weights = 1 / np.asarray(seconds)
    slope, start = np.polyfit(np.asarray(sizes, float), np.asarray(seconds), 1, w=weights)
    return float(slope), float(start)


def overhead_of_ray() -> list[dict[str, float]]:
    """Return the overhead of ranges of several sizes, with one worker."""
    rows = []
    with connected(LOCAL, 1) as ray:
        for games in (RANGE_SIZES[-1], *RANGE_SIZES):  # the first one starts the worker
            ranges = Timed.of(jobs_of(games * RANGES, seed=games), games)
            start, driver = perf_counter(), process_time()
            play_ranges(ray, ranges, lambda *_: None, lambda _: (1, AHEAD))
            rows.append(
                {
                    "games": games,
                    "seconds_a_range": sum(ranges.took) / RANGES,
                    "beside_it": (perf_counter() - start - sum(ranges.took)) / RANGES,
                    "driver_cpu": (process_time() - driver) / RANGES,
                }
            )
    return rows[1:]


def merging_a_game(games: int = 20_000) -> float:
    """Return the driver's CPU seconds on each game of a large range: to unpack it and file it."""
    result = play_match("simple", "gold", games=200, rules="eaai")
    ended = np.resize(result.table, games)
    ended["game"] = np.random.default_rng(0).permutation(games)
    kept = empty_table(50 * games)
    packed = pickle.dumps(ended, protocol=5)
    start = process_time()
    for _ in range(20):
        arrived = pickle.loads(packed)
        mine = arrived[np.zeros(games, dtype=np.intp) == 0]
        kept[mine["game"]] = mine
    return (process_time() - start) / 20 / games


class Timed(Ranges):
    """Ranges that remember what they took."""

    took: list[float]

    @classmethod
    def of(cls, jobs: Any, size: int | None = None) -> "Timed":
        """See `Ranges.of`."""
        made = cls(size, super().of(jobs, size).waiting)
        made.took = []
        return made

    def timed(self, part: Any, seconds: float) -> None:
        """See `Ranges.timed`."""
        self.took.append(seconds)


def jobs_of(games: int, seed: int) -> list[Job]:
    """Return the games of a match between simple and gold."""
    caught: list[Job] = []

    def catch(jobs: Any, report: Report) -> None:
        caught.extend(part for job in jobs for part in by_pairing(job))

    play_match("simple", "gold", games=games, seed=seed, rules="eaai", runner=catch)
    return caught


def throughput(games: int, rounds: int) -> list[dict[str, Any]]:
    """Return what a match takes in this process, in two and on Ray, in turn, some times over."""
    rows = []
    for _ in range(rounds):
        rows += [timed("one process", games), timed("two processes", games, workers=2)]
        for workers in (1, 2):
            start = perf_counter()
            with connected(LOCAL, workers):
                play(8 * workers, runner=RayRunner(games=4))  # starts the workers
                ready = perf_counter() - start
                row = timed(f"Ray, {workers} CPU", games, runner=RayRunner(games=games // 8))
            rows.append({**row, "start": ready})
    return rows


def play(games: int, **how: Any) -> MatchResult:
    """Play the match that throughput is measured with."""
    return play_match("champion", "simple", games=games, seed=1, rules="eaai", **how)


def timed(way: str, games: int, **how: Any) -> dict[str, Any]:
    """Return how fast the match is played in some way, and how busy the machine was."""
    start = perf_counter()
    play(games, **how)
    seconds = perf_counter() - start
    return {
        "way": way,
        "games": games,
        "games_a_second": games / seconds,
        "load": os.getloadavg()[0],
    }


def main() -> None:
    """Measure, and write measured.json."""
    parser = argparse.ArgumentParser(
        prog="ginrummy cluster measure", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("results/scale"), help="a folder")
    parser.add_argument("--games", type=int, default=3000, help="of the match that is timed (3000)")
    parser.add_argument("--rounds", type=int, default=2, help="how often it is (2)")
    parser.add_argument("--only", choices=("agents", "ranges", "merge_a_game", "throughput"),
                        action="append",
                        help="measure this alone, and keep what else the file has")  # fmt: skip
    parser.add_argument("--force", action="store_true", help="overwrite what was measured before")
    given = parser.parse_args()
    require_free(given.out / "measured.json", given.force)
    play(4)  # what is computed once
    file = given.out / "measured.json"
    found: dict[str, Any] = read_json(file) if given.only else {"versions": versions()}
    parts: dict[str, Callable[[], Any]] = {
        "agents": lambda: {agent: costs_of(agent) for agent in AGENTS},
        "ranges": overhead_of_ray,
        "merge_a_game": merging_a_game,
        "throughput": lambda: throughput(given.games, given.rounds),
    }
    for name in given.only or parts:
        found[name] = parts[name]()
        write_json(file, found)


if __name__ == "__main__":
    main()
