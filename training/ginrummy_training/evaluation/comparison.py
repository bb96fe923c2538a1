"""Several agents against the same opponents on the same decks, and an agent's view of a deal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ginrummy_env.core.actions import format_action
from ginrummy_env.core.cards import format_card, format_hand
from ginrummy_env.core.rules import Rules
from ginrummy_env.policy import Policy
from ginrummy_env.records.recorder import GameRecord, replay
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_summary import summarise
from ginrummy_training.plotting import LINES, Picture, new_figure, styled
from ginrummy_training.progress import Progress, no_progress, part_of


def compare(
    agents: Mapping[str, str | Policy] | Sequence[str],
    opponents: Sequence[str],
    *,
    rules: str | Rules,
    games: int,
    seed: int,
    max_deals: int = 1000,
    workers: int = 1,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Play every agent against every opponent and return one row per match.

    All play the same decks, so their differences are less noisy than their intervals suggest. If
    many are compared, confirm the best on another seed.

    Args:
        agents: by the names that the rows give them, or text forms.
        opponents: text forms of agents.
        rules: a preset's name or Rules.
        games: of each match; even.
        seed: of decks and agents.
        max_deals: a game is stopped after this many deals; it counts as a draw.
        workers: processes; they change the speed, never a game.
        progress: called as games end.

    Returns:
        Columns ``agent``, ``against``, ``games won %`` with ``low`` and ``high``, ``deals won %``,
        ``points a deal``, ``of opponent``, ``ms a decision`` (in a batch, on this machine).
    """
    named = agents if isinstance(agents, Mapping) else {agent: agent for agent in agents}
    total = games * len(named) * len(opponents)
    rows: list[dict[str, Any]] = []
    for opponent in opponents:
        for name, agent in named.items():
            summary = summarise(
                play_match(
                    agent,
                    opponent,
                    games=games,
                    seed=seed,
                    rules=rules,
                    max_deals=max_deals,
                    workers=workers,
                    progress=part_of(progress or no_progress, games * len(rows), total),
                )
            )
            won, points = summary["games_won"]["a"], summary["points_a_deal"]
            rows.append(
                {
                    "agent": name,
                    "against": opponent,
                    "games won %": 100 * won["value"],
                    "low": 100 * won["low"],
                    "high": 100 * won["high"],
                    "deals won %": 100 * (summary["deals_won"]["a"]["value"] or 0),
                    "points a deal": points["a"]["value"],
                    "of opponent": points["b"]["value"],
                    "ms a decision": summary["microseconds_a_decision"]["a"] / 1000,
                }
            )
    return pd.DataFrame(rows).round(3)


@styled
def rates_picture(table: pd.DataFrame, title: str = "games won, %") -> Picture:
    """Return the rates of `compare` with their intervals; the marks show the opponents."""
    names = list(dict.fromkeys(table["agent"]))
    against = list(dict.fromkeys(table["against"]))
    figure, axes = new_figure(1.5 + 0.5 * len(names))
    places = {name: len(names) - 1 - number for number, name in enumerate(names)}
    for number, (opponent, look) in enumerate(zip(against, LINES, strict=False)):
        rows = table[table["against"] == opponent]
        values = rows["games won %"].to_numpy()
        shift = 0.2 * (number - (len(against) - 1) / 2)
        axes.errorbar(
            values,
            [places[name] - shift for name in rows["agent"]],
            xerr=[values - rows["low"], rows["high"] - values],
            fmt=look["marker"],
            color=look["color"],
            capsize=3,
            label=f"against {opponent}",
        )
    axes.axvline(50, color="#888888", linewidth=0.8)
    axes.set_yticks(list(places.values()), list(places))
    axes.margins(y=0.15)
    axes.grid(axis="x")
    axes.set_title(title)
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(2, len(against))
    )
    return figure


def decisions(record: GameRecord, deal: int, player: int) -> pd.DataFrame:
    """Return a player's decisions in a deal, with the values that they reported.

    Args:
        record: a game with values, as `annotate.record_match` makes them.
        deal: its place in the record.
        player: 0 or 1.

    Returns:
        One row per decision that has values: ``hand``, ``upcard``, the action (``does``) with its
        ``value``, and the best other action (``or``) with its value.
    """
    played = record.deals[deal]
    states = replay(record)[deal]
    rows = []
    for remark in played.annotations:
        step = remark.step
        if states.player[step] != player or not remark.values:
            continue
        values, action = dict(remark.values), played.actions[step]
        others = [each for each in values if each != action]
        other = max(others, key=lambda each: values[each]) if others else None
        rows.append(
            {
                "hand": format_hand(states.hands[step, player]),
                "upcard": format_card(states.upcard[step]),
                "does": format_action(action),
                "value": values.get(action, np.nan),
                "or": "" if other is None else format_action(other),
                "its value": np.nan if other is None else values[other],
            }
        )
    return pd.DataFrame(rows)
