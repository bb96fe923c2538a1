"""A match and its games: what was played, the table, and the file that keeps it."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.checks import whole
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.policy import Policy, make_policy
from ginrummy_env.records.recorder import GameRecord
from ginrummy_training.evaluation.game_table import GAME, Table, empty_table, flaw
from ginrummy_training.evaluation.lockstep import settles_by_own_melds
from ginrummy_training.provenance import OVERWRITE, require_same, typed_command, versions
from ginrummy_training.storage import ResultError, read_arrays, write_arrays

FORMAT = 2
"""Version of the files that hold games; files of another version are not read."""

EXACT, OWN_MELDS = "exact", "own melds, greedy lay-off"
"""How deals are settled: by the rules, or as the AAAI-21 challenge does it (`own_melds`)."""

MOST_GAMES = 100_000_000
"""Of a match: their table takes 14 GB."""


def settlement_of(*agents: str | Policy) -> str:
    """Return how deals between these agents are settled."""
    return OWN_MELDS if any(settles_by_own_melds(make_policy(x)) for x in agents) else EXACT


@dataclass(frozen=True, slots=True)
class Match:
    """What is played. Equal matches have the same games, to the last card."""

    agents: tuple[str, str]
    rules: Rules
    seed: int
    max_deals: int = 1000
    """A game is stopped after this many deals and has no winner: some agents never lay down."""
    settlement: str = EXACT
    """EXACT, or OWN_MELDS if an agent lays down melds of its own choice; see `settlement_of`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", require_seed(self.seed))
        object.__setattr__(self, "max_deals", whole("max_deals", self.max_deals, 1))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "agents": list(self.agents),
            "rules": rules_name(self.rules),
            "settings": self.rules.to_dict(),
            "seed": self.seed,
            "max_deals": self.max_deals,
            "settlement": self.settlement,
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Match":
        """Return the match that `to_dict` wrote."""
        a, b = given["agents"]
        rules = Rules.from_dict(given["settings"])
        return cls(
            (str(a), str(b)),
            rules,
            int(given["seed"]),
            int(given["max_deals"]),
            str(given.get("settlement", EXACT)),
        )


@dataclass(slots=True)
class MatchResult:
    """The games of a match, as many as have been played."""

    match: Match
    table: Table
    """One row per game, in order; see `game_table.GAME`."""
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2))
    """Spent deciding, by A and B."""
    decisions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    """Made by A and B."""
    command: str = ""
    """The command that made it."""
    made_by: dict[str, Any] = field(default_factory=dict)
    """See `provenance.fingerprints`."""
    records: dict[int, GameRecord] = field(default_factory=dict)
    """Games that were written down while they were played, by their number."""

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
        """Return the same match with B named first. Game numbers stay the same."""
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
        return MatchResult(
            match, table, self.seconds[::-1], self.decisions[::-1], self.command, self.made_by
        )

    def save(self, path: Path) -> None:
        """Write the games played so far as .npz."""
        played = self.table[self.table["done"]]
        about = {
            "format": FORMAT,
            "match": self.match.to_dict(),
            "made_by": self.made_by,
            "versions": versions(),
            "command": self.command,
            "games": len(self.table),
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
            ResultError: it is corrupt, or of another version.
        """
        arrays, about = read_arrays(path)
        if about.get("format") != FORMAT:
            raise ResultError(
                f"{path}: not the games of a match, or of format {about.get('format')!r} "
                f"(this is {FORMAT})"
            )
        try:
            match = Match.from_dict(about["match"])
            made_by = dict(about["made_by"])
            planned = int(about["games"])
            seconds = np.array(about["seconds"], dtype=np.float64).reshape(2)
            decisions = np.array(about["decisions"], dtype=np.int64).reshape(2)
            command = str(about["command"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ResultError(f"{path}: corrupt ({type(error).__name__}: {error})") from error
        found = flaw(arrays, match.rules, match.max_deals, min(planned, MOST_GAMES))
        if not found and not (np.isfinite(seconds).all() and (seconds >= 0).all()):
            found = "a negative or infinite time"
        if found or (decisions < 0).any():
            raise ResultError(f"{path}: corrupt ({found or 'decisions below 0'})")
        played = np.zeros(len(arrays["game"]), dtype=GAME)
        for name in GAME.names or ():
            played[name] = arrays[name]
        numbers = played["game"]
        if games is None:
            games = int(numbers.max(initial=-1)) + 1
            games += games % 2
        table = empty_table(games)
        wanted = played[numbers < games]
        table[wanted["game"]] = wanted
        return cls(match, table, seconds, decisions, command, made_by)


def resumed(
    match: Match, games: int, made_by: dict[str, Any], path: Path | None, force: bool = False
) -> MatchResult:
    """Return what has been played of a match: nothing if there is no file.

    Args:
        match: that is going to be played.
        games: of it.
        made_by: fingerprints of what plays.
        path: of the file that keeps its games.
        force: whether to start again where the games in the file are not of this match.

    Raises:
        ResultError: the file is corrupt, or something else made its games.
    """
    begun = MatchResult(match, empty_table(games), command=typed_command(), made_by=made_by)
    if path is None or not path.exists():
        return begun
    here = {**match.to_dict(), "made_by": made_by}
    try:
        result = MatchResult.load(path, games)
        there = {**result.match.to_dict(), "made_by": result.made_by}
        require_same(path, "match", here, there, OVERWRITE)
    except ResultError:
        if force:
            return begun
        raise
    return result
