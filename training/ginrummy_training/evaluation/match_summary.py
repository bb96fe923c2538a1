"""Match summary: shares and means with intervals clustered by pair, and how deals ended."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.rules import rules_name
from ginrummy_env.policy import Forfeit
from ginrummy_training.evaluation.game_table import KNOCKER_OUTCOMES, SIDES
from ginrummy_training.evaluation.match_result import MatchResult
from ginrummy_training.provenance import versions
from ginrummy_training.statistics import Estimate, mean, share

Summary = dict[str, Any]


def games_won(result: MatchResult) -> Estimate:
    """Return the share of games that A has won; a game without a winner counts half.

    Raises:
        ValueError: the match is not complete; a part of it is biased, since short games end first.
    """
    require_complete(result)
    return share(won_by_pair(result), np.full(len(result.table) // 2, 2))


def won_by_pair(result: MatchResult) -> NDArray[np.float64]:
    """Return how many games of each pair A has won, [P]: 0 to 2; half if nobody has."""
    points = np.array([1.0, 0.0, 0.5])  # by winner 0, 1, -1
    return points[result.table["winner"]].reshape(-1, 2).sum(axis=1)


def require_complete(result: MatchResult) -> None:
    """Raise ValueError if games are missing."""
    if not result.complete:
        raise ValueError(
            f"{int(result.table['done'].sum())} of {len(result.table)} games have been played; "
            "part of a match is biased, since short games end first"
        )


def summarise(result: MatchResult) -> Summary:
    """Return the summary of a complete match, as JSON can hold it.

    Shares and means are ``{"value", "low", "high"}``, null where nothing was counted; what there is
    of both agents is ``{"a", "b"}``. Shares of ways to end are of all deals.

    Raises:
        ValueError: the match is not complete.
    """
    won = games_won(result)
    of = result.pairs
    deals, decided, laid = of("deals"), of("decided"), of("knocks")
    games = np.full(len(deals), 2)
    total = int(deals.sum())
    deals_won = share(of("deals_won_a"), decided)
    taken = {
        side: share(of(f"opening_takes_{side}"), of(f"opening_offers_{side}")) for side in SIDES
    }
    takes = of("opening_takes_a") + of("opening_takes_b")
    return {
        "match": result.match.to_dict(),
        "rules": rules_name(result.match.rules),
        "made_by": result.made_by,
        "versions": versions(),
        "command": result.command,
        "games": len(result.table),
        "pairs": len(deals),
        "games_won": _both(won, won.other_side()),
        "games_without_winner": int((result.table["winner"] < 0).sum()),
        "forfeits": {side: _forfeits(result.table[f"forfeit_{side}"]) for side in SIDES},
        "deals": total,
        "deals_a_game": mean(deals, games).to_dict(),
        "deals_won": _both(deals_won, deals_won.other_side()),
        "points_a_deal": _both(*(mean(of(f"points_{side}"), deals) for side in SIDES)),
        "net_points_a_deal": mean(of("points_a") - of("points_b"), deals).to_dict(),
        "points_a_game": _both(*(mean(of(f"points_{side}"), games) for side in SIDES)),
        "final_score": _both(*(mean(of(f"final_{side}"), games) for side in SIDES)),
        "net_final_score": mean(of("final_a") - of("final_b"), games).to_dict(),
        "endings": {
            **{
                name: {side: int(of(f"{name}_{side}").sum()) for side in SIDES}
                for name in KNOCKER_OUTCOMES.values()
            },
            "void": int(of("void").sum()),
        },
        "turns": _turns(result, "knock_turns"),
        "turns_and_passes": _turns(result, "knock_moves"),
        "deadwood": {
            "knocker": mean(of("knocker_deadwood"), laid).to_dict(),
            "defender": mean(of("defender_deadwood"), laid).to_dict(),
        },
        "opening_taken": {
            **_both(*taken.values()),
            "deals": share(takes, deals).to_dict(),
        },
        "starter_won": share(of("starter_won"), decided).to_dict(),
        "microseconds_a_decision": {
            side: 1e6 * seconds / decisions if decisions else None
            for side, seconds, decisions in zip(
                SIDES, result.seconds, result.decisions, strict=True
            )
        },
    }


def _both(a: Estimate, b: Estimate) -> dict[str, dict[str, float | None]]:
    return {"a": a.to_dict(), "b": b.to_dict()}


def _turns(result: MatchResult, column: str) -> dict[str, Any]:
    """Return mean and standard deviation of the turns of deals that ended with cards laid down."""
    count, total, squares = (
        int(result.table[name].sum(dtype=np.int64))
        for name in ("knocks", column, f"{column}_squared")
    )
    deviation = float(np.sqrt((squares - total**2 / count) / (count - 1))) if count > 1 else None
    turns = mean(result.pairs(column), result.pairs("knocks"))
    return {"mean": turns.to_dict(), "sd": deviation}


def _forfeits(column: NDArray[np.int8]) -> dict[str, int]:
    """Return how many games one side has forfeited, by the kind of fault."""
    counts = {kind.name.lower(): int((column == kind).sum()) for kind in Forfeit}
    return {kind: count for kind, count in counts.items() if count}
