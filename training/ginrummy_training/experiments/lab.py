"""Where experiments run: what is stored between runs, and what every experiment needs."""

import json
import os
import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from ginrummy_training.evaluation.match import play_matches
from ginrummy_training.evaluation.match_result import Match, MatchResult
from ginrummy_training.evaluation.tournament import file_name
from ginrummy_training.experiments.rows import Measured
from ginrummy_training.progress import Progress, no_progress, part_of
from ginrummy_training.provenance import OVERWRITE, require_same, versions
from ginrummy_training.storage import ResultError, read_json, write_json

SEED = 400
"""Added to an experiment's number: its decks are those of no other measurement of the project."""


@dataclass
class Lab:
    """How experiments are done. None of it but ``fast`` and ``seed`` changes a result."""

    out: Path | None = None
    """A folder that keeps results and the games of what was interrupted."""
    fast: bool = False
    """Whether only to try things out: few games, few points of each sweep."""
    seed: int = SEED
    workers: int = 1
    force: bool = False
    """Whether stored results of other settings or another version are replaced."""
    progress: Progress = no_progress
    say: Callable[[str], None] = print
    """Called with what was replaced."""
    _folder: Path | None = field(default=None, init=False)

    def kept(
        self, name: str, settings: dict[str, Any], make: Callable[[], list[Measured]]
    ) -> list[Measured]:
        """Return an experiment's numbers: the stored ones if the settings are the same.

        Args:
            name: of the experiment and its file.
            settings: all that the numbers depend on, as JSON can hold it; ``made_by`` holds
                `provenance.fingerprints`.
            make: measures them.

        Raises:
            ResultError: what is stored is corrupt or of other settings. With ``force`` it is
                measured again, which is reported.
        """
        full = json.loads(json.dumps(settings))
        path = None if self.out is None else self.out / f"{name}.json"
        if path is not None and path.exists():
            try:
                return read_measured(path, full)
            except ResultError as error:
                if not self.force:
                    raise
                self.say(f"{error}; {name} is measured again")
        start, busy = perf_counter(), _processor_seconds()
        sign = zlib.crc32(json.dumps(full, sort_keys=True).encode())
        self._folder = None if self.out is None else self.out / "games" / f"{name}-{sign:08x}"
        try:
            measured = make()
            if path is not None:
                about = {
                    "settings": full,
                    "seconds": round(perf_counter() - start, 1),
                    "processor_seconds": round(_processor_seconds() - busy, 1),
                    "workers": self.workers,
                    "command": self.command(name),
                    "versions": versions(),
                    "measured": [asdict(each) for each in measured],
                }
                write_json(path, about)
                if self._folder is not None:
                    shutil.rmtree(self._folder, ignore_errors=True)
        finally:
            self._folder = None
        return measured

    def took(self, experiment: str) -> dict[str, Any]:
        """Return how long an experiment took when it was measured.

        Returns:
            seconds; processor_seconds, of all processes together: what it costs on a
            machine that has nothing else to do; workers. Of the run that finished it.

        Raises:
            ResultError: nothing of it is kept, or it is corrupt.
        """
        if self.out is None or not (self.out / f"{experiment}.json").exists():
            raise ResultError(f"{experiment}: nothing of it is kept")
        found = read_json(self.out / f"{experiment}.json")
        return {name: found.get(name) for name in ("seconds", "processor_seconds", "workers")}

    def command(self, name: str) -> str:
        """Return the command that gives an experiment's numbers again."""
        fast = " --fast" if self.fast else ""
        return f"ginrummy experiments --only {name} --seed {self.seed}{fast}"

    def partial(self, name: str) -> Path | None:
        """Return the file for what is done of the experiment under way, None if nothing is kept."""
        return None if self._folder is None else self._folder / name

    def play(self, name: str, matches: Sequence[Match], games: Sequence[int]) -> list[MatchResult]:
        """Play matches, going on with what was interrupted.

        Args:
            name: of the experiment.
            matches: those under the same rules are played together.
            games: of each.
        """
        total = sum(games)
        results: dict[int, MatchResult] = {}
        before = 0
        for count in dict.fromkeys(games):
            places = [place for place, each in enumerate(games) if each == count]
            chosen = [matches[place] for place in places]
            files = [self.partial(_file_name(match, count)) for match in chosen]
            played = play_matches(
                chosen,
                games=count,
                workers=self.workers,
                files=files,
                progress=part_of(self.progress, before, total, name),
            )
            results.update(zip(places, played, strict=True))
            before += count * len(places)
        return [results[place] for place in range(len(matches))]


def _processor_seconds() -> float:
    """Return the time that processors have worked for this process and those it has waited for."""
    return sum(os.times()[:4])


def _file_name(match: Match, games: int) -> str:
    """Return a name that no other match has."""
    exact = zlib.crc32(json.dumps(match.to_dict(), sort_keys=True).encode())
    return f"{exact:08x}-{games}-{file_name(match)}"


def read_measured(path: Path, settings: dict[str, Any] | None = None) -> list[Measured]:
    """Return the numbers that a file keeps.

    Args:
        path: written by `Lab.kept`.
        settings: those that it must have been made with; any if None.

    Raises:
        ResultError: it is corrupt, or made with other settings; names them.
    """
    found = read_json(path)
    try:
        there = found["settings"]
        measured = [Measured(**each) for each in found["measured"]]
    except (KeyError, TypeError) as error:
        raise ResultError(f"{path}: corrupt ({type(error).__name__}: {error})") from error
    if settings is not None:
        require_same(path, "experiment", settings, there, OVERWRITE)
    return measured
