"""The files of a match and of a tournament, and what may be overwritten.

Results of other games, agents, rules or seeds are never overwritten unless that is asked for:
`require_match_folder` and `require_tournament_folder` are called before anything is played.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ginrummy_env.core.rules import Rules
from ginrummy_env.files import require_free
from ginrummy_env.policy import Policy
from ginrummy_env.records.recorder import save
from ginrummy_training.evaluation.game_table import GAME, KNOCKER_OUTCOMES, SIDES
from ginrummy_training.evaluation.match import match_records
from ginrummy_training.evaluation.match_result import EXACT, Match, MatchResult
from ginrummy_training.evaluation.match_summary import Summary, summarise, won_by_pair
from ginrummy_training.evaluation.tournament import Tournament
from ginrummy_training.provenance import OVERWRITE, fingerprints, require_same
from ginrummy_training.storage import ResultError, read_json, write_csv, write_json

GAMES, MATCH = "games.npz", "match.json"
MATCH_FILES = ("games.csv", "records.txt")
TOURNAMENT = "tournament.json"
TOURNAMENT_TABLES = ("ratings.csv", "pairings.csv", "cross_table.csv")
TOURNAMENT_FIGURES = ("cross_table.png", "ratings.png", "endings.png")


def require_match_folder(
    folder: Path,
    match: Match,
    games: int,
    policies: Mapping[str, str | Policy] | None = None,
    force: bool = False,
) -> None:
    """Raise ResultError if writing a match into a folder would overwrite another one's results.

    Args:
        folder: may be missing.
        match: that is going to be played.
        games: of it. A stored match with more games is not overwritten.
        policies: behind the names of the agents; the registered ones if they are not here.
        force: whether results may be overwritten.
    """
    if force:
        return
    stored = _stored(folder, MATCH, MATCH_FILES)
    if stored is None:
        return
    behind = policies or {}
    made_by = fingerprints({name: behind.get(name, name) for name in match.agents})
    there = stored.get("match")
    there = {**(there if isinstance(there, dict) else {}), "made_by": stored.get("made_by")}
    there.setdefault("settlement", EXACT)
    require_same(folder / MATCH, "match", {**match.to_dict(), "made_by": made_by}, there, OVERWRITE)
    _require_no_fewer(folder / MATCH, games, stored)


def require_tournament_folder(
    folder: Path,
    agents: Sequence[str] | Mapping[str, str | Policy],
    rules: Rules,
    seed: int,
    max_deals: int,
    games: int,
    force: bool = False,
) -> None:
    """Raise ResultError if a tournament would overwrite another one's results, or lose agents.

    Args:
        folder: may be missing.
        agents: that are going to play; what plays under each name, if that is not its text form.
        rules: of the games.
        seed: of decks and agents.
        max_deals: after which a game is stopped.
        games: of each pairing.
        force: whether results may be overwritten.
    """
    stored = None if force else _stored(folder, TOURNAMENT, TOURNAMENT_TABLES + TOURNAMENT_FIGURES)
    if stored is None:
        return
    here = {
        "settings": rules.to_dict(),
        "seed": seed,
        "max_deals": max_deals,
        "made_by": fingerprints(agents),
    }
    require_same(folder / TOURNAMENT, "tournament", here, stored, OVERWRITE)
    left_out = [each["name"] for each in stored["agents"] if each["name"] not in agents]
    if left_out:
        raise ResultError(f"{folder / TOURNAMENT} has {', '.join(left_out)} too; {OVERWRITE}")
    _require_no_fewer(folder / TOURNAMENT, games, stored)


def _stored(folder: Path, name: str, others: Sequence[str]) -> dict[str, Any] | None:
    """Return the summary of the results in a folder; None if nothing would be overwritten."""
    if (folder / name).exists():
        stored = read_json(folder / name)
        if not isinstance(stored, dict):
            raise ResultError(f"{folder / name}: corrupt; {OVERWRITE}")
        return stored
    for other in others:
        require_free(folder / other)
    return None


def _require_no_fewer(path: Path, games: int, stored: Mapping[str, Any]) -> None:
    if games < stored["games"]:
        raise ResultError(
            f"{path} holds {stored['games']:,} games, more than {games:,}; {OVERWRITE}"
        )


def write_match(result: MatchResult, folder: Path, records: int = 0) -> Summary:
    """Write a complete match: match.json, games.csv, and records.txt if any are wanted.

    Args:
        result: the match.
        folder: for the files.
        records: how many of the first games are written move by move.

    Returns:
        What match.json holds.
    """
    summary = summarise(result)
    write_json(folder / MATCH, summary)
    write_games(result, folder / "games.csv")
    if records:
        save(folder / "records.txt", match_records(result, records))
    return summary


def write_games(result: MatchResult, path: Path) -> None:
    """Write a match's games as CSV, one line per game; those of a pair follow each other."""
    pairs = (result.table["game"] // 2).tolist()
    rows = ([pair, *row] for pair, row in zip(pairs, result.table.tolist(), strict=True))
    write_csv(path, ["pair", *(GAME.names or ())], rows)


def write_tournament(tournament: Tournament, out: Path) -> Summary:
    """Write a tournament's results.

    Args:
        tournament: it.
        out: a folder; gets tournament.json (all there is), ratings.csv, pairings.csv and
            cross_table.csv.

    Returns:
        What tournament.json holds.
    """
    summary = tournament.summary()
    write_json(out / TOURNAMENT, summary)
    source = [summary["rules"], summary["seed"], summary["games"], summary["command"]]
    source += summary["versions"].values()
    where = ["rules", "seed", "games_a_pairing", "command", *summary["versions"]]
    numbers = ["rating", "games_won", "deals_won", "net_points_a_deal"]
    write_csv(
        out / "ratings.csv",
        ["agent", *_columns(numbers), "microseconds_a_decision", *where],
        [
            [
                agent["name"],
                *_cells(agent, numbers),
                agent["microseconds_a_decision"],
                *source,
            ]
            for agent in summary["agents"]
        ],
    )
    shares = ["games_won", "deals_won", "points_a_deal", "final_score"]
    write_csv(
        out / "pairings.csv",
        [
            "agent",
            "opponent",
            *_columns(shares),
            "deals",
            *KNOCKER_OUTCOMES.values(),
            "void",
            "turns",
            *where,
        ],
        [
            [
                *(pairing["agents"] if side == "a" else pairing["agents"][::-1]),
                *_cells({name: pairing[name][side] for name in shares}, shares),
                pairing["deals"],
                *(pairing["endings"][name][side] for name in KNOCKER_OUTCOMES.values()),
                pairing["endings"]["void"],
                pairing["turns"]["mean"]["value"],
                *source,
            ]
            for pairing in summary["pairings"]
            for side in SIDES
        ],
    )
    names = tournament.names
    write_csv(
        out / "cross_table.csv",
        ["agent", *names],
        [
            [
                name,
                *(
                    "" if i == j else float(won_by_pair(tournament.results[i, j]).mean() / 2)
                    for j in range(len(names))
                ),
            ]
            for i, name in enumerate(names)
        ],
    )
    return summary


def _columns(names: Sequence[str]) -> list[str]:
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def _cells(numbers: dict[str, Any], names: Sequence[str]) -> list[float | None]:
    return [numbers[name][key] for name in names for key in ("value", "low", "high")]
