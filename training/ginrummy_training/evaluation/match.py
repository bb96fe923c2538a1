"""Matches: two agents, thousands of full games, each pair of games on the same decks.

>>> result = play_match("simple", "gold", games=20, seed=7, rules="eaai")
>>> int(result.games_won("a") + result.games_won("b"))
20
"""

import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ginrummy_env
from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.rules import Rules, as_rules, rules_name
from ginrummy_env.policy import Policy, make_policy
from ginrummy_env.records.data import MAX_NAME
from ginrummy_env.records.recorder import GameRecord, Recorder
from ginrummy_training.evaluation.game_table import GAME, Table, empty_table
from ginrummy_training.evaluation.lockstep import BATCH, Clock, Games, Lockstep
from ginrummy_training.evaluation.processes import Job, Report, play_jobs
from ginrummy_training.storage import ResultError, read_arrays, write_arrays

FORMAT = 1
"""Of the files that hold games; another number, and they are read no more."""

SAVE_SECONDS = 2.0
"""How often games that have ended are saved while others are played."""


@dataclass(frozen=True, slots=True)
class Match:
    """What is played. Two matches that are equal have the same games, to the last card."""

    agents: tuple[str, str]
    rules: Rules
    seed: int
    max_deals: int = 1000
    """A game of so many deals ends without a winner: some agents never lay down."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "agents": list(self.agents),
            "rules": rules_name(self.rules),
            "settings": self.rules.to_dict(),
            "seed": self.seed,
            "max_deals": self.max_deals,
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Match":
        """Return the match that `to_dict` wrote."""
        a, b = given["agents"]
        rules = Rules.from_dict(given["settings"])
        return cls((str(a), str(b)), rules, int(given["seed"]), int(given["max_deals"]))


@dataclass(slots=True)
class MatchResult:
    """The games of a match, as many as have been played."""

    match: Match
    table: Table
    """A row a game, in order; see `table.GAME`."""
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2))
    """Spent deciding, by A and B."""
    decisions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    """Made by A and B."""
    command: str = ""
    """What was typed to make it."""

    @property
    def complete(self) -> bool:
        """Whether all games have been played."""
        return bool(self.table["done"].all())

    def games_won(self, side: str) -> int:
        """Return how many games A (``"a"``) or B (``"b"``) has won."""
        return int((self.table["winner"][self.table["done"]] == "ab".index(side)).sum())

    def pairs(self, column: str) -> NDArray[np.int64]:
        """Return a column's sum over the two games of each pair, [P]."""
        return self.table[column].astype(np.int64).reshape(-1, 2).sum(axis=1)

    def other_way(self) -> "MatchResult":
        """Return the same match with B named first. Game numbers stay as they were played."""
        a, b = self.match.agents
        table = self.table.copy()
        for name in GAME.names or ():
            if name.endswith("_a") and name != "seat_a":
                other = f"{name[:-1]}b"
                table[name], table[other] = self.table[other], self.table[name]
        table["seat_a"] = 1 - self.table["seat_a"]
        table["first_dealer"] = 1 - self.table["first_dealer"]
        decided = self.table["winner"] >= 0
        table["winner"] = np.where(decided, 1 - self.table["winner"], -1)
        table[~self.table["done"]] = self.table[~self.table["done"]]
        match = replace(self.match, agents=(b, a))
        return MatchResult(match, table, self.seconds[::-1], self.decisions[::-1], self.command)

    def save(self, path: Path) -> None:
        """Write the games played so far as .npz."""
        played = self.table[self.table["done"]]
        about = {
            "format": FORMAT,
            "match": self.match.to_dict(),
            "versions": versions(),
            "command": self.command,
            "seconds": self.seconds.tolist(),
            "decisions": self.decisions.tolist(),
        }
        write_arrays(path, {name: played[name] for name in GAME.names or ()}, about)

    @classmethod
    def load(cls, path: Path, games: int | None = None) -> "MatchResult":
        """Return the games that a file holds.

        Args:
            path: written by `save`.
            games: how many rows the table is to have; up to the last game played if None.

        Raises:
            ResultError: it is damaged, or of another version.
        """
        arrays, about = read_arrays(path)
        if about.get("format") != FORMAT:
            raise ResultError(f"{path}: no games of a match, or written by another version")
        try:
            match = Match.from_dict(about["match"])
            played = np.zeros(len(arrays["game"]), dtype=GAME)
            for name in GAME.names or ():
                played[name] = arrays[name]
            seconds = np.array(about["seconds"], dtype=np.float64).reshape(2)
            decisions = np.array(about["decisions"], dtype=np.int64).reshape(2)
            command = str(about["command"])
            version = about["versions"]["ginrummy_env"]
        except (KeyError, TypeError, ValueError) as error:
            raise ResultError(f"{path}: damaged ({type(error).__name__}: {error})") from error
        if version != ginrummy_env.__version__:
            raise ResultError(
                f"{path}: played with ginrummy_env {version}, this is {ginrummy_env.__version__}"
            )
        numbers = played["game"]
        if not played["done"].all() or len(np.unique(numbers)) != len(numbers):
            raise ResultError(f"{path}: damaged, a game that is not over or stands there twice")
        if numbers.size and numbers.min() < 0:
            raise ResultError(f"{path}: damaged, a game with a number below 0")
        if games is None:
            games = int(numbers.max(initial=-1)) + 1
            games += games % 2
        table = empty_table(games)
        wanted = played[numbers < games]
        table[wanted["game"]] = wanted
        return cls(match, table, seconds, decisions, command)


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    return {
        "ginrummy_env": ginrummy_env.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def typed_command() -> str:
    """Return the command that runs this process, paths of the program left out."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    return shlex.join([program, *sys.argv[1:]])


def agent_name(agent: str | Policy) -> str:
    """Return what an agent is called: its text form, or its ``name``, or its class."""
    if isinstance(agent, str):
        return agent.strip()
    return str(getattr(agent, "name", type(agent).__name__))


def require_games(games: int) -> int:
    """Return the number of games, or raise ValueError if they make no pairs."""
    if isinstance(games, bool) or not isinstance(games, int) or games < 2 or games % 2:
        raise ValueError(
            f"games={games!r}: an even number is needed, games are played in pairs with the seats "
            "swapped"
        )
    return games


Progress = Callable[[int, int], None]
"""Called now and then with the number of a match and how many of its games have been played."""

Runner = Callable[[Sequence[Job], Report], None]
"""Plays all games of all jobs, wherever that is, and reports them in this process."""


def play_match(
    a: str | Policy,
    b: str | Policy,
    *,
    games: int = 10_000,
    seed: int = 0,
    rules: str | Rules | dict[str, Any] = "classic",
    workers: int = 1,
    batch: int = BATCH,
    max_deals: int = 1000,
    out: Path | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> MatchResult:
    """Play a match, or what is missing of it.

    Args:
        a: an agent, such as ``"simple"`` or ``"gold:knock=4"``, or a policy. A policy is called by
            its ``name``, if it has one, else by its class.
        b: the other one.
        games: an even number: games 2k and 2k + 1 have the same decks, seats swapped.
        seed: of decks and agents; with the number of a game it decides everything in it.
        rules: a preset's name, settings or Rules.
        workers: processes. Like ``batch`` it changes the speed, never a game.
        batch: games at once, over all workers.
        max_deals: a game of so many deals ends without a winner.
        out: a file (.npz) that keeps the games. If it exists, only games that it lacks are played.
        progress: called as games end.
        runner: plays the games in place of ``workers``, such as `cluster.ray_runner.RayRunner`.

    Raises:
        ValueError: no such agent or rules, or a bad number.
        ResultError: ``out`` is damaged, or holds another match.
        IllegalActionError: an agent did what it may not.
    """
    match = Match((agent_name(a), agent_name(b)), as_rules(rules), require_seed(seed), max_deals)
    if match.agents[0] == match.agents[1] and a is not b and not (a == b and isinstance(a, str)):
        raise ValueError(f"two agents are called {match.agents[0]}: give them a `name`")
    return play_matches(
        [match],
        games=games,
        workers=workers,
        batch=batch,
        files=[out],
        policies={agent_name(x): x for x in (a, b)},
        progress=progress,
        runner=runner,
    )[0]


def record_games(
    match: Match, games: int, policies: dict[str, str | Policy] | None = None
) -> list[GameRecord]:
    """Play the first games of a match again and return their records, in order.

    Args:
        match: it.
        games: how many.
        policies: what stands behind a name; the registered agent if it is not here.
    """
    behind = policies or {}
    a, b = (make_policy(behind.get(name, name)) for name in match.agents)
    records: list[GameRecord] = []
    for seat in range(2):  # of A; a recorder has one name a seat
        names = match.agents if seat == 0 else match.agents[::-1]
        recorder = Recorder(match.rules, players=(names[0][:MAX_NAME], names[1][:MAX_NAME]))
        numbers = np.arange(seat, games, 2)
        lockstep = Lockstep(
            (a, b),
            Games(
                np.zeros(len(numbers), dtype=np.intp),
                numbers,
                np.array([[0, 1]] * len(numbers), dtype=np.int8),
            ),
            match.rules,
            seed=match.seed,
            max_deals=match.max_deals,
            recorder=recorder,
        )
        while lockstep.running:
            lockstep.step()
        ended = recorder.take() + recorder.unfinished()
        records += sorted(ended, key=lambda record: record.game_number or 0)
    half = (games + 1) // 2
    return [records[number // 2 + half * (number % 2)] for number in range(games)]


def play_matches(
    matches: Sequence[Match],
    *,
    games: int,
    workers: int = 1,
    batch: int = BATCH,
    files: Sequence[Path | None] | None = None,
    policies: dict[str, str | Policy] | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> list[MatchResult]:
    """Play several matches of so many games each; see `play_match`.

    Args:
        matches: played in this order.
        games: of each match.
        workers: processes; each plays a share of every match.
        batch: games at once.
        files: where each match is kept.
        policies: what stands behind a name; the registered agent if it is not here.
        progress: called as games end.
        runner: plays the games in place of ``workers``.
    """
    require_games(games)
    for name, number in (("workers", workers), ("batch", batch)):
        if number < 1:
            raise ValueError(f"{name}={number}: at least 1 is needed")
    behind = policies or {}
    for name in dict.fromkeys(name for match in matches for name in match.agents):
        make_policy(behind.get(name, name))  # an unknown agent is found out before anything starts
    kept = list(files) if files is not None else [None] * len(matches)
    command = typed_command()
    results = [
        _begin(match, games, path, command) for match, path in zip(matches, kept, strict=True)
    ]
    say = progress or (lambda number, done: None)
    played = [int(result.table["done"].sum()) for result in results]
    for number, done in enumerate(played):
        say(number, done)
    store = _Store(results, kept)

    def report(numbers: NDArray[np.intp], ended: Table, clock: Clock) -> None:
        for number in np.flatnonzero(clock.decisions.any(axis=1)).tolist():
            results[number].seconds += clock.seconds[number]
            results[number].decisions += clock.decisions[number]
        for number in np.unique(numbers).tolist():
            mine = ended[numbers == number]
            results[number].table[mine["game"]] = mine
            played[number] += len(mine)
            store.changed(number)
            say(number, played[number])

    play = runner or partial(play_jobs, workers=workers)
    try:
        play(_jobs(results, behind, batch), report)
    finally:
        store.save()
    return results


def _jobs(results: Sequence[MatchResult], behind: dict[str, str | Policy], batch: int) -> list[Job]:
    """Return the games that are missing, those under the same rules together."""
    kinds: dict[tuple[Rules, int, int], list[int]] = {}
    for number, result in enumerate(results):
        match = result.match
        kinds.setdefault((match.rules, match.seed, match.max_deals), []).append(number)
    jobs = []
    for (rules, seed, max_deals), numbers in kinds.items():
        names = list(dict.fromkeys(x for number in numbers for x in results[number].match.agents))
        missing = [np.flatnonzero(~results[number].table["done"]) for number in numbers]
        counts = [len(games) for games in missing]
        pairs = [[names.index(x) for x in results[number].match.agents] for number in numbers]
        games = Games(
            np.repeat(numbers, counts),
            np.concatenate(missing),
            np.repeat(np.array(pairs, dtype=np.int8), counts, axis=0),
        )
        agents = tuple(behind.get(name, name) for name in names)
        jobs.append(Job(agents, games, rules, seed, max_deals, batch))
    return jobs


def _begin(match: Match, games: int, path: Path | None, command: str) -> MatchResult:
    """Return what has been played of a match."""
    if path is None or not path.exists():
        return MatchResult(match, empty_table(games), command=command)
    result = MatchResult.load(path, games)
    if result.match != match:
        here, there = match.to_dict(), result.match.to_dict()
        what = next(key for key in here if here[key] != there[key])
        raise ResultError(
            f"{path} holds another match: {what} is {there[what]!r} there and {here[what]!r} here"
        )
    return result


class _Store:
    """Saves results that have changed, every few seconds."""

    def __init__(self, results: Sequence[MatchResult], files: Sequence[Path | None]) -> None:
        self._results, self._files = results, files
        self._unsaved: set[int] = set()
        self._due = monotonic() + SAVE_SECONDS

    def changed(self, number: int) -> None:
        self._unsaved.add(number)
        if monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        start = monotonic()
        for number in sorted(self._unsaved):
            path = self._files[number]
            if path is not None:
                self._results[number].save(path)
        self._unsaved.clear()
        # Saving may not take more than a small part of the time.
        self._due = monotonic() + max(SAVE_SECONDS, 20 * (monotonic() - start))
