"""Results as pictures: cross table, ratings, how deals end."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ginrummy_env.files import write_whole
from ginrummy_training.evaluation.console_tables import ENDINGS
from ginrummy_training.evaluation.match_summary import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = {
    "gin": "#1b7837",
    "big_gin": "#00441b",
    "knock": "#5aae61",
    "undercut": "#e08214",
    "equal": "#fdb863",
    "gin_answered": "#b35806",
    "void": "#bdbdbd",
}


def save_plots(summary: Summary, out: Path) -> list[Path]:
    """Draw a tournament; write PNG files into a folder and return their paths."""
    order = sorted(summary["agents"], key=lambda agent: -agent["rating"]["value"])
    names = [agent["name"] for agent in order]
    drawn = {
        "cross_table.png": cross_table(summary, names),
        "ratings.png": ratings(summary, names),
        "endings.png": endings(summary, names),
    }
    paths = []
    for name, figure in drawn.items():
        save_figure(figure, out / name)
        paths.append(out / name)
    return paths


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of so many inches."""
    # Figure itself, not pyplot: no window, no state, no backend to choose.
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure as PNG."""
    import io

    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=130)
    write_whole(path, file.getvalue())


def _title(what: str, summary: Summary) -> str:
    return (
        f"{what}\n{summary['rules']}, {summary['games']:,} games a pairing, seed {summary['seed']}"
    )


def cross_table(summary: Summary, names: list[str]) -> "Figure":
    """Return the cross table as a heat map: % of games that the line's agent won."""
    count = len(names)
    shares = np.full((count, count), np.nan)
    halves = np.full((count, count), np.nan)
    for pairing in summary["pairings"]:
        a, b = (names.index(name) for name in pairing["agents"])
        for i, j, side in ((a, b, "a"), (b, a, "b")):
            won = pairing["games_won"][side]
            shares[i, j] = 100 * won["value"]
            halves[i, j] = 50 * (won["high"] - won["low"])
    size = 2.6 + 0.95 * count
    figure = new_figure(size + 1.2, size)
    axes = figure.add_subplot()
    image = axes.imshow(shares, cmap="RdYlGn", vmin=0, vmax=100)
    for i in range(count):
        for j in range(count):
            if i == j:
                axes.text(j, i, "·", ha="center", va="center", color="gray")
                continue
            pale = 12 < shares[i, j] < 88
            axes.text(
                j,
                i,
                f"{shares[i, j]:.1f}\n± {halves[i, j]:.1f}",
                ha="center",
                va="center",
                fontsize=9,
                color="black" if pale else "white",
            )
    axes.set_xticks(range(count), names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(count), names)
    axes.set_xlabel("against")
    axes.set_title(_title("Games won by the agent of the line, %", summary), fontsize=11)
    figure.colorbar(image, ax=axes, shrink=0.7, label="% of games")
    return figure


def ratings(summary: Summary, names: list[str]) -> "Figure":
    """Return the ratings with their intervals."""
    by_name = {agent["name"]: agent["rating"] for agent in summary["agents"]}
    figure = new_figure(7.5, 1.6 + 0.42 * len(names))
    axes = figure.add_subplot()
    places = np.arange(len(names))[::-1]
    values = [by_name[name]["value"] for name in names]
    below = [by_name[name]["value"] - by_name[name]["low"] for name in names]
    above = [by_name[name]["high"] - by_name[name]["value"] for name in names]
    axes.errorbar(values, places, xerr=[below, above], fmt="o", color="#1f4e79", capsize=4)
    for value, place, upper in zip(values, places, above, strict=True):
        axes.annotate(
            f"{value:+.0f}" if value else "0",
            (value + upper, place),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axes.axvline(0, color="gray", linewidth=0.8)
    axes.set_yticks(places, names)
    axes.margins(x=0.12, y=0.08)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel(f"rating: 400 points are odds of ten to one, {summary['anchor']} is 0")
    axes.set_title(_title("Bradley–Terry ratings with 95 % intervals", summary), fontsize=11)
    return figure


def endings(summary: Summary, names: list[str]) -> "Figure":
    """Return how each agent's deals end: to the right what it won, to the left what it lost."""
    from matplotlib.patches import Patch

    figure = new_figure(9, 2.0 + 0.45 * len(names))
    axes = figure.add_subplot()
    places = np.arange(len(names))[::-1]
    used = set()
    for name, place in zip(names, places, strict=True):
        won, lost, void = _ways(summary, name)
        left = 50 * void
        used |= {"void"} if void else set()
        axes.barh(place, 2 * left, left=-left, color=COLORS["void"], height=0.7)
        for sign, part in ((1, won), (-1, lost)):
            start = left
            for way, amount in part.items():
                if not amount:
                    continue
                used.add(way)
                width = 100 * amount
                axes.barh(place, sign * width, left=sign * start, color=COLORS[way], height=0.7)
                if width > 4:
                    middle = sign * (start + width / 2)
                    axes.text(middle, place, f"{width:.0f}", ha="center", va="center", fontsize=8)
                start += width
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(places, names)
    axes.set_xlim(-100, 100)
    axes.set_xticks(range(-100, 101, 25), [str(abs(x)) for x in range(-100, 101, 25)])
    axes.set_xlabel("% of deals:  ← lost    won →")
    words = {**ENDINGS, "void": "void"}
    handles = [Patch(color=COLORS[way], label=words[way]) for way in COLORS if way in used]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    axes.set_title(_title("How deals end, against all others together", summary), fontsize=11)
    return figure


def _ways(
    summary: Mapping[str, Any], name: str
) -> tuple[dict[str, float], dict[str, float], float]:
    """Return the shares of an agent's deals by way to end: won, lost, and void."""
    won = dict.fromkeys(ENDINGS, 0)
    lost = dict.fromkeys(ENDINGS, 0)
    deals = void = 0
    for pairing in summary["pairings"]:
        if name not in pairing["agents"]:
            continue
        mine = "ab"[pairing["agents"].index(name)]
        other = "ab"[1 - "ab".index(mine)]
        deals += pairing["deals"]
        void += pairing["endings"]["void"]
        for way in ENDINGS:
            won[way] += pairing["endings"][way][mine]
            lost[way] += pairing["endings"][way][other]
    return (
        {way: count / deals for way, count in won.items()},
        {way: count / deals for way, count in lost.items()},
        void / deals,
    )
