"""Matches: two agents, thousands of full games, each pair of games on the same decks.

>>> result = play_match("simple", "gold", games=20, seed=7, rules="eaai")
>>> int(result.games_won("a") + result.games_won("b"))
20
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.checks import whole
from ginrummy_env.core.rules import Rules, as_rules
from ginrummy_env.policy import Policy, make_policy
from ginrummy_env.records.data import MAX_NAME
from ginrummy_env.records.recorder import GameRecord, Recorder
from ginrummy_training.evaluation.game_table import Table, empty_table
from ginrummy_training.evaluation.lockstep import BATCH, Clock, Games
from ginrummy_training.evaluation.match_result import (
    EXACT,
    MOST_GAMES,
    Match,
    MatchResult,
    resumed,
    settlement_of,
)
from ginrummy_training.evaluation.processes import Report, play_here, play_jobs
from ginrummy_training.evaluation.ranges import Job
from ginrummy_training.progress import Progress, no_progress
from ginrummy_training.provenance import agent_name, difference, fingerprints
from ginrummy_training.storage import ResultError

SAVE_SECONDS = 2.0
"""How often games that have ended are saved while others are played."""


def require_games(games: int) -> int:
    """Return the number of games, or raise ValueError if they make no pairs."""
    games = whole("games", games, 0)
    if games < 2 or games % 2:
        raise ValueError(
            f"games={games}: an even number is needed, games are played in pairs with the seats "
            "swapped"
        )
    if games > MOST_GAMES:
        raise ValueError(f"games={games}: at most {MOST_GAMES:,}; play matches of several seeds")
    return games


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
    records: int = 0,
    force: bool = False,
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
        max_deals: a game is stopped after this many deals; it counts as a draw.
        out: a file (.npz) that keeps the games. If it exists, only games that it lacks are played.
        progress: called as games end.
        runner: plays the games in place of ``workers``, such as `cluster.ray_runner.RayRunner`.
        records: how many of the first games are written down, into `MatchResult.records`; they are
            played in this process.
        force: whether games in ``out`` that are not of this match are overwritten.

    Raises:
        ValueError: no such agent or rules, or a bad number.
        ResultError: ``out`` is corrupt, or holds another match.
        IllegalActionError: an agent's action is not legal.
    """
    match = Match(
        (agent_name(a), agent_name(b)),
        as_rules(rules),
        require_seed(seed),
        max_deals,
        settlement_of(a, b),
    )
    if match.agents[0] == match.agents[1] and a is not b and not (a == b and isinstance(a, str)):
        raise ValueError(f"two agents are called {match.agents[0]}: give them a `name`")
    recording = None
    if records:
        require_exact(match)
        recording = Recording(match.agents, records, runner or partial(play_jobs, workers=workers))
    (result,) = play_matches(
        [match],
        games=games,
        workers=workers,
        batch=batch,
        files=[out],
        policies={agent_name(x): x for x in (a, b)},
        progress=progress,
        runner=recording or runner,
        force=force,
    )
    if recording is not None:
        result.records = recording.records
    return result


@dataclass(slots=True)
class Recording:
    """A runner that writes games down as they are played, and leaves the others to a runner."""

    agents: tuple[str, str]
    """The names of the match's agents."""
    games: int
    """How many of its first games."""
    runner: Runner
    records: dict[int, GameRecord] = field(default_factory=dict)
    """By the number of the game."""

    def __call__(self, jobs: Sequence[Job], report: Report) -> None:
        """Play all games of all jobs, which are of one match."""
        for job in jobs:
            number = job.games.number
            for seat in range(2):  # of A; a recorder has one name a seat
                part = job.games.select((number < self.games) & (number % 2 == seat))
                a, b = (name[:MAX_NAME] for name in self.agents)
                recorder = Recorder(job.rules, players=(a, b) if seat == 0 else (b, a))
                play_here(replace(job, games=part), report, recorder)
                for record in recorder.take() + recorder.unfinished():
                    self.records[2 * (record.game_number or 0) + seat] = record
        self.runner(
            [replace(job, games=job.games.select(job.games.number >= self.games)) for job in jobs],
            report,
        )


def record_games(
    match: Match, games: int, policies: dict[str, str | Policy] | None = None
) -> list[GameRecord]:
    """Play the first games of a match again and return their records, in order.

    They are the games of the match if its agents have no chance of their own, as programs may.
    `play_match` with ``records`` writes games down as they are played.

    Args:
        match: whose games.
        games: how many.
        policies: by name; the registered agent if a name is not here.

    Raises:
        ValueError: the match is settled by the players' own melds.
    """
    require_exact(match)
    behind = policies or {}
    recording = Recording(match.agents, games, lambda jobs, report: None)
    planned = MatchResult(match, empty_table(games + games % 2)[:games])
    recording(_jobs([planned], behind, BATCH), lambda numbers, ended, clock: None)
    return [recording.records[number] for number in range(games)]


def match_records(
    result: MatchResult, games: int, policies: dict[str, str | Policy] | None = None
) -> list[GameRecord]:
    """Return the records of the first games of a match that has been played.

    Games that nobody wrote down, since they were played before, are played again.

    Args:
        result: the match.
        games: how many.
        policies: by name; the registered agent if a name is not here.

    Raises:
        ResultError: a game that is played again is not the game of the match.
    """
    games = min(games, len(result.table))
    if all(number in result.records for number in range(games)):
        return [result.records[number] for number in range(games)]
    records = record_games(result.match, games, policies)
    for number, record in enumerate(records):
        if number in result.records:
            continue
        row = result.table[number]
        points = [int(row[f"points_{side}"]) for side in ("ab" if number % 2 == 0 else "ba")]
        forfeited = bool(row["forfeit_a"] or row["forfeit_b"])
        if record.scores != tuple(points) or len(record.deals) != row["deals"] + forfeited:
            raise ResultError(
                f"game {number} was played before, and comes out differently when it is played "
                "again: an agent has chance of its own. Records are written with the games: play "
                f"the match again with records in another folder, or here with --force"
            )
    return [result.records.get(number, record) for number, record in enumerate(records)]


def require_exact(match: Match) -> None:
    """Raise ValueError if a match's games cannot be written as records."""
    if match.settlement != EXACT:
        raise ValueError(
            f"games that are settled by {match.settlement} cannot be recorded: a record's deals "
            "are settled by the rules when it is read. Leave out melds=own"
        )


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
    force: bool = False,
) -> list[MatchResult]:
    """Play several matches of ``games`` games each; see `play_match`.

    Args:
        matches: played in this order.
        games: of each match.
        workers: processes; each plays a share of every match.
        batch: games at once.
        files: where each match is kept.
        policies: by name; the registered agent if a name is not here.
        progress: called as games end.
        runner: plays the games in place of ``workers``.
        force: whether games in ``files`` that are not of their match are overwritten.
    """
    games = require_games(games)
    workers, batch = whole("workers", workers, 1), whole("batch", batch, 1)
    behind = policies or {}
    names = dict.fromkeys(name for match in matches for name in match.agents)
    for name in names:
        make_policy(behind.get(name, name))  # an unknown agent is an error before anything starts
    for match in matches:
        settlement = settlement_of(*(behind.get(name, name) for name in match.agents))
        if match.settlement != settlement:
            raise ValueError(f"{match.agents}: settled by {settlement}, not {match.settlement}")
    kept = list(files) if files is not None else [None] * len(matches)
    results = []
    for match, path in zip(matches, kept, strict=True):
        agents = {name: behind.get(name, name) for name in match.agents}
        made_by = {} if path is None else fingerprints(agents)
        results.append(resumed(match, games, made_by, path, force))
    show = progress or no_progress
    played = sum(int(result.table["done"].sum()) for result in results)
    total = games * len(results)
    show("", played, total)
    store = _Store(results, kept, behind)

    def report(numbers: NDArray[np.intp], ended: Table, clock: Clock) -> None:
        nonlocal played
        for number in np.flatnonzero(clock.decisions.any(axis=1)).tolist():
            results[number].seconds += clock.seconds[number]
            results[number].decisions += clock.decisions[number]
        for number in np.unique(numbers).tolist():
            mine = ended[numbers == number]
            results[number].table[mine["game"]] = mine
            played += len(mine)
            store.changed(number)
            show(" – ".join(matches[number].agents), played, total)

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


class _Store:
    """Saves results that have changed, every few seconds."""

    def __init__(
        self,
        results: Sequence[MatchResult],
        files: Sequence[Path | None],
        policies: Mapping[str, str | Policy],
    ) -> None:
        self._results, self._files, self._policies = results, files, policies
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
                self._require_unchanged(path, self._results[number])
                self._results[number].save(path)
        self._unsaved.clear()
        # Saving may not take more than a small part of the time.
        self._due = monotonic() + max(SAVE_SECONDS, 20 * (monotonic() - start))

    def _require_unchanged(self, path: Path, result: MatchResult) -> None:
        """Raise ResultError if an agent's file was written to while it played."""
        named = {name: self._policies.get(name, name) for name in result.match.agents}
        texts = {name: policy for name, policy in named.items() if isinstance(policy, str)}
        reason = difference(fingerprints(texts), result.made_by)
        if reason:
            self._unsaved.clear()
            raise ResultError(f"{path}: games since the last save are lost, {reason}")
