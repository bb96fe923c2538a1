"""Results of `best_response.exploit` as a table in Markdown and a verdict in words."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ginrummy_training.evaluation.console_tables import plain
from ginrummy_training.strength.card_table import markdown, percents
from ginrummy_training.strength.protocol import LATEST

Result = Mapping[str, Any]

LEARNED = "learned"
"""What the trained candidate is called."""

HALF = 0.5
"""What a policy wins of itself; nobody needs a better response to be sure of it."""


def verdict(result: Result) -> str:
    """Return in words what a result shows.

    >>> won = {"value": 0.56, "low": 0.53, "high": 0.59}
    >>> points = {"value": 1.0, "low": 0.5, "high": 1.5}
    >>> verdict({"games_won": won, "net_points_a_deal": points})
    'loses at least 53.0 % of games'
    """
    low = result["games_won"]["low"]
    if low > HALF:
        return f"loses at least {100 * low:.1f} % of games"
    return "nothing found that beats it"


def responses_markdown(results: Sequence[Result]) -> str:
    """Return one line a policy: the best response found under each rules and what it wins."""
    rules = rules_of(results)
    head = ["policy"]
    for name in rules:
        head += [f"{name}: best response", "wins at least, % of games", "points a deal"]
    found = {(each["policy"], each["rules"]): each for each in results}
    rows = []
    for policy in by_safety(results):
        row = [f"`{policy}`"]
        for name in rules:
            each = found.get((policy, name))
            row += _cells(each) if each else ["", "", ""]
        rows.append(row)
    return markdown(head, rows)


def _cells(result: Result) -> list[str]:
    best = result["best"]
    shown = best if result["training"] is None or best != LEARNED else "trained against it"
    won, points = result["games_won"], result["net_points_a_deal"]
    return [f"`{shown}`" if shown == best else shown, percents(won), plain(points, sign=True)]


def trainings_markdown(results: Sequence[Result]) -> str:
    """Return one line a training: what the network and the best agent won in the choice.

    Returns:
        The table, empty if no result has a training.
    """
    head = ["trained against", "rules", "begun with", "decisions", "network wins, % of games",
            "best agent", "wins, % of games"]  # fmt: skip
    rows = []
    for name in rules_of(results):
        some = {each["policy"]: each for each in results if each["rules"] == name}
        for policy in by_safety(results):
            each = some.get(policy)
            if each is None or each["training"] is None:
                continue
            learned, agents = _by_kind(each["tried"])
            best = max(agents, key=lambda one: one["games_won"]["value"], default=None)
            won = [f"`{best['name']}`", percents(best["games_won"])] if best else ["", ""]
            begun = f"`{each['begin']}`" if each["begin"] else "nothing"
            steps = f"{each['training']['steps']:,}"
            rows.append([f"`{policy}`", name, begun, steps, percents(learned["games_won"]), *won])
    return markdown(head, rows) if rows else ""


def _by_kind(tried: Sequence[Result]) -> tuple[Result, list[Result]]:
    """Return what the trained network won, and what agents did."""
    (learned,) = (each for each in tried if each["name"] == LEARNED)
    return learned, [each for each in tried if each["name"] != LEARNED]


def rules_of(results: Sequence[Result]) -> list[str]:
    """Return the rules of the results, those of the benchmark first."""
    found = dict.fromkeys(each["rules"] for each in results)
    return [
        *(name for name in LATEST.rules if name in found),
        *(name for name in found if name not in LATEST.rules),
    ]


def by_safety(results: Sequence[Result]) -> list[str]:
    """Return the policies, those that lose least first, by the mean over all rules."""
    lost: dict[str, list[float]] = {}
    for each in results:
        lost.setdefault(each["policy"], []).append(each["games_won"]["value"])
    return sorted(lost, key=lambda policy: float(np.mean(lost[policy])))
