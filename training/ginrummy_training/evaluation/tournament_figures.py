"""A tournament as tables and figures, for its folder and for notebooks.

All take what `Tournament.summary` returns and `tournament.json` holds.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ginrummy_env.core.rules import PRESETS
from ginrummy_training.evaluation.match_summary import Summary
from ginrummy_training.plotting import (
    FILLS,
    LINES,
    Picture,
    crowd,
    intervals,
    new_figure,
    styled,
    write_in,
)
from ginrummy_training.statistics import Estimate

WAYS = {"gin": ("gin", "big_gin"), "knock": ("knock",), "undercut": ("undercut",)}
"""How a deal is won, and the ways to end that are counted as such; of the others nobody wins."""


TITLE_WIDTH = 60
"""Characters of a title's line: rules other than a preset are a long text."""


def save_figures(summary: Summary, out: Path) -> list[Path]:
    """Write cross_table.png, ratings.png and endings.png into a folder; return their paths."""
    drawn = {
        "cross_table.png": cross_picture(summary),
        "ratings.png": ratings_picture({summary["rules"]: summary}),
        "endings.png": endings_picture(summary),
    }
    for name, picture in drawn.items():
        picture.save(out / name)
    return [out / name for name in drawn]


def _called(rules: str) -> str:
    """Return rules as a title has them: a preset in capitals, others as they are."""
    return rules.upper() if rules in PRESETS else rules


def by_rating(summary: Summary) -> list[str]:
    """Return the agents, the best first."""
    agents = sorted(summary["agents"], key=lambda agent: -agent["rating"]["value"])
    return [agent["name"] for agent in agents]


def ladder_table(summary: Summary) -> pd.DataFrame:
    """Return one row per agent, the best first: ratings, and how its games and deals went.

    Points won and lost are means of the deals that it won and lost, all bonuses of a deal included.
    """
    by_name = {agent["name"]: agent for agent in summary["agents"]}
    rows = []
    for name in by_rating(summary):
        agent, deals = by_name[name], _deals(summary, name)
        rating = agent["rating"]
        rows.append(
            {
                "agent": name,
                "rating": round(rating["value"]),
                "±": round((rating["high"] - rating["low"]) / 2),
                "games won %": round(100 * agent["games_won"]["value"], 1),
                "deals won %": round(100 * agent["deals_won"]["value"], 1),
                "points a deal won": round(deals["points won"] / max(deals["won"], 1), 1),
                "points a deal lost": round(deals["points lost"] / max(deals["lost"], 1), 1),
            }
        )
    return pd.DataFrame(rows).set_index("agent")


def endings_table(summary: Summary) -> pd.DataFrame:
    """Return how each agent's deals end, in % of all: won and lost by each way, or by nobody."""
    rows = {}
    for name in by_rating(summary):
        deals = _deals(summary, name)
        rows[name] = {
            f"{side} by {way}": 100 * deals[f"{side} by {way}"] / deals["deals"]
            for side in ("won", "lost")
            for way in WAYS
        } | {"nobody": 100 * (1 - (deals["won"] + deals["lost"]) / deals["deals"])}
    return pd.DataFrame.from_dict(rows, orient="index").round(1)


def misfit_table(summaries: Mapping[str, Summary]) -> pd.DataFrame:
    """Return the pairing that differs most from what the ratings expect, for each set of rules.

    A row is empty if none differs by more than its interval.
    """
    rows = {}
    for rules, summary in summaries.items():
        found = summary["misfit"]
        rows[rules] = {
            "pairing": " – ".join(found["agents"]) if found else "none",
            "won %": round(100 * found["played"], 1) if found else None,
            "expected %": round(100 * found["expected"], 1) if found else None,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _mine(summary: Summary, name: str) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Yield an agent's pairings, which side it is in each, and which the other."""
    for pairing in summary["pairings"]:
        if name in pairing["agents"]:
            side = "ab"[pairing["agents"].index(name)]
            yield pairing, side, "ba"["ab".index(side)]


def _deals(summary: Summary, name: str) -> dict[str, float]:
    """Return sums over all deals of an agent."""
    sums = dict.fromkeys(("deals", "won", "lost", "points won", "points lost"), 0.0)
    sums |= {f"{side} by {way}": 0.0 for side in ("won", "lost") for way in WAYS}
    for pairing, side, other in _mine(summary, name):
        deals = pairing["deals"]
        sums["deals"] += deals
        for words, who in (("won", side), ("lost", other)):
            for way, parts in WAYS.items():
                count = sum(pairing["endings"][part][who] for part in parts)
                sums[f"{words} by {way}"] += count
                sums[words] += count
            sums[f"points {words}"] += deals * pairing["points_a_deal"][who]["value"]
    return sums


@styled
def cross_picture(summary: Summary) -> Picture:
    """Return the cross table: % of games that the row's agent won of the column's."""
    names = by_rating(summary)
    shares = np.full((len(names), len(names)), np.nan)
    for i, name in enumerate(names):
        for pairing, side, _ in _mine(summary, name):
            j = names.index(next(each for each in pairing["agents"] if each != name))
            shares[i, j] = 100 * pairing["games_won"][side]["value"]
    figure, axes = new_figure(1.5 + 0.42 * len(names))
    axes.set_facecolor("#dddddd")  # nobody plays against themselves
    axes.imshow(shares, cmap="PuOr", vmin=10, vmax=90, aspect="auto")
    write_in(axes, shares)
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.set_ylabel("agent")
    axes.set_xlabel("against")
    title = f"{_called(summary['rules'])}: games won, %, by the agent of the row"
    axes.set_title(fill(title, TITLE_WIDTH))
    return figure


@styled
def ratings_picture(summaries: Mapping[str, Summary]) -> Picture:
    """Return ratings with 95 % intervals under one or more sets of rules, in the first's order.

    An agent far below all others is an arrow at the edge, so that the others stay readable.
    """
    first = next(iter(summaries.values()))
    names = by_rating(first)
    figure, axes = new_figure(1.3 + 0.42 * len(names))
    places = np.arange(len(names))[::-1]
    tables = [{agent["name"]: _rating(agent) for agent in each["agents"]}
              for each in summaries.values()]  # fmt: skip
    scale = crowd([rating.value for table in tables for rating in table.values()])
    for number, (rules, table) in enumerate(zip(summaries, tables, strict=True)):
        intervals(
            axes,
            (places - 0.22 * (number - (len(summaries) - 1) / 2)).tolist(),
            [table[name] for name in names],
            LINES[number],
            label=fill(_called(rules), TITLE_WIDTH // 2),
            scale=scale,
            form="{:+.0f}",
        )
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_yticks(places, names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(axis="x")
    axes.set_xlabel(f"rating (400 points: odds of ten to one; {first['anchor']} is 0)")
    if len(summaries) == 1:
        axes.set_title(
            fill(f"{_called(next(iter(summaries)))}: ratings, 95 % intervals", TITLE_WIDTH)
        )
    else:
        axes.set_title("ratings, 95 % intervals")
        axes.legend(loc="lower right")
    return figure


def _rating(agent: Mapping[str, Any]) -> Estimate:
    return Estimate(*(agent["rating"][key] for key in ("value", "low", "high")))


@styled
def endings_picture(summary: Summary) -> Picture:
    """Return how each agent's deals end: deals won to the right, deals lost to the left."""
    table = endings_table(summary)
    figure, axes = new_figure(1.7 + 0.42 * len(table))
    places = np.arange(len(table))[::-1]
    for sign, side in ((1, "won"), (-1, "lost")):
        start = np.zeros(len(table))
        for way, look in zip(WAYS, FILLS, strict=False):
            width = table[f"{side} by {way}"].to_numpy()
            axes.barh(places, sign * width, left=sign * start, height=0.72, **look)
            for place, left, wide in zip(places, start, width, strict=True):
                if wide >= 6:
                    _write_on(axes, sign * (left + wide / 2), place, wide, look)
            start += width
    axes.axvline(0, color="black", linewidth=1)
    axes.set_yticks(places, table.index)
    ticks = range(-100, 101, 25)
    axes.set_xticks(ticks, [str(abs(tick)) for tick in ticks])
    axes.set_xlabel("← lost        % of deals        won →")
    axes.set_title(fill(f"{_called(summary['rules'])}: how deals end", TITLE_WIDTH))
    handles = [Patch(label=way, **look) for way, look in zip(WAYS, FILLS, strict=False)]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _write_on(axes: Axes, x: float, y: float, number: float, look: Mapping[str, Any]) -> None:
    """Write a number on a bar, on a patch of its colour where the bar is hatched."""
    dark = look["facecolor"] in ("#0b2545", "#4f8a8b", "#a44a3f")
    text = axes.text(
        x, y, f"{number:.0f}", ha="center", va="center", fontsize=9,
        color="white" if dark else "black",
    )  # fmt: skip
    if "hatch" in look:
        text.set_bbox({"facecolor": look["facecolor"], "edgecolor": "none", "pad": 1})


@styled
def deals_and_games_picture(summaries: Mapping[str, Summary]) -> Picture:
    """Return the agents by deals won and by games won, one panel per set of rules."""
    figure, panels = new_figure(3.5 * len(summaries), rows=len(summaries), squeeze=False)
    for axes, (rules, summary) in zip(panels.flat, summaries.items(), strict=True):
        axes.axhline(50, color="#888888", linewidth=0.8)
        axes.axvline(50, color="#888888", linewidth=0.8)
        places = {
            agent["name"]: (100 * agent["deals_won"]["value"], 100 * agent["games_won"]["value"])
            for agent in summary["agents"]
        }
        for name, (x, y) in places.items():
            axes.plot(x, y, marker="o", color=LINES[0]["color"])
            # Of two next to each other, the left one has its name on the left.
            left = any(0 < u - x < 6 and abs(y - v) < 3.5 for u, v in places.values())
            axes.annotate(
                name,
                (x, y),
                xytext=(-7 if left else 7, 0),
                textcoords="offset points",
                ha="right" if left else "left",
                va="center",
                fontsize=10,
            )
        axes.margins(0.16, 0.1)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel("deals won, %")
        axes.set_title(fill(f"{_called(rules)}: games won, %", TITLE_WIDTH))
        axes.grid()
    return figure
