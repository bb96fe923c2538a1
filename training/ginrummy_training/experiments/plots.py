"""The experiments as pictures; print is hollow, ours is filled, so that grey is enough."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, ScalarFormatter

from ginrummy_training.experiments.report import compared
from ginrummy_training.experiments.rows import Row
from ginrummy_training.plotting import FILLS, LINES, Picture, new_figure, styled

PRINT: dict[str, Any] = {
    "marker": "o", "markerfacecolor": "white", "color": "#c8641b", "linestyle": "none",
    "markersize": 8, "zorder": 2,
}  # fmt: skip
CHECK: dict[str, Any] = {
    "marker": "x", "color": "#444444", "linestyle": "none", "markersize": 7, "zorder": 3,
    "markeredgewidth": 1.6,
}  # fmt: skip
WIDEST = 8.0
"""Half widths at which the overview ends; what lies farther out is drawn there, as an arrow."""


def of(rows: Sequence[Row], experiment: str, series: str | None = None) -> list[Row]:
    """Return the lines of an experiment, of one series of it if that is named."""
    return [
        row
        for row in rows
        if row.experiment == experiment and (series is None or row.series == series)
    ]


def _ours(axes: Axes, rows: Sequence[Row], look: int = 0, label: str = "ours") -> None:
    """Draw our numbers over x, with their intervals."""
    x = [0.0 if row.x is None else row.x for row in rows]
    below = [row.ours - row.low for row in rows]
    above = [row.high - row.ours for row in rows]
    values = [row.ours for row in rows]
    axes.errorbar(x, values, yerr=[below, above], capsize=3, label=label, **LINES[look])


def _theirs(axes: Axes, rows: Sequence[Row], words: bool = True) -> None:
    """Draw what was published over x: print hollow, the independent check as a cross."""
    for name, look, label in (
        ("published", PRINT, "print"), ("check", CHECK, "independent check"),
    ):  # fmt: skip
        points = [(row.x, getattr(row, name)) for row in rows if getattr(row, name) is not None]
        if points:
            x, y = zip(*points, strict=True)
            axes.plot(x, y, label=label if words else None, **look)


@styled
def curve(
    rows: Sequence[Row], experiment: str, x: str, title: str, *, won: str = "", level: bool = True
) -> Picture:
    """Return games won in the series of an experiment as lines, with the published numbers.

    Args:
        rows: of all experiments.
        experiment: its number.
        x: what changes from left to right.
        title: what plays.
        won: which agent's games are counted, if the title leaves that open.
        level: whether there is a line at 50 %.
    """
    figure, axes = new_figure(3.9)
    mine = of(rows, experiment)
    names = list(dict.fromkeys(row.series for row in mine))
    for look, name in enumerate(names):
        _ours(axes, of(mine, experiment, name), look, f"ours, {name}" if name else "ours")
    _theirs(axes, mine)
    axes.set_xlabel(x)
    axes.set_ylabel(f"% of games won{won}")
    axes.set_title(f"{experiment}: {title}")
    axes.grid(axis="y")
    axes.legend()
    if level:
        axes.axhline(50, color="#888888", linewidth=0.9)
    return figure


def ways_to_meld(rows: Sequence[Row]) -> Picture:
    """Return E4: games won by hein, by the weight of ways to meld."""
    return curve(rows, "E4", "weight of ways to meld, alpha", "hein against simple", level=False)


def knock_limits(rows: Sequence[Row]) -> Picture:
    """Return E9: games won by simple with a knock limit, under two sets of rules."""
    return curve(rows, "E9", "most deadwood to knock with", "simple with a limit against simple")


def bonuses(rows: Sequence[Row]) -> Picture:
    """Return E10: games won by waiting for gin, by the bonuses."""
    title = "gin only against knock at once"
    return curve(rows, "E10", "points for an undercut", title, won=" by gin only")


def worlds(rows: Sequence[Row]) -> Picture:
    """Return E12: games won by the search, by its number of worlds."""
    figure = curve(rows, "E12", "sampled worlds a decision", "search against lookahead")
    axes = figure.axes[0]
    axes.set_xscale("log", base=2)
    axes.set_xticks([row.x for row in of(rows, "E12") if row.x is not None])
    axes.xaxis.set_major_formatter(ScalarFormatter())
    return figure


@styled
def by_hand(rows: Sequence[Row]) -> Picture:
    """Return E5: the mean score of a deal by the own melds and by the own deadwood at its end."""
    figure, both = new_figure(7.0, rows=2)
    for axes, names, label in zip(
        both,
        (("melds", "melds, long runs whole"), ("deadwood",)),
        ("own melds", "own deadwood, points"),
        strict=True,
    ):
        width = 0.8 / len(names)
        for place, series in enumerate(names):
            mine = of(rows, "E5", series)
            shift = (place - (len(names) - 1) / 2) * width
            x = [shift + (row.x or 0) for row in mine]
            words = {"melds": "ours", "deadwood": "ours"}.get(series, "ours, a run of six is one")
            axes.bar(x, [row.ours for row in mine], width, label=words, **FILLS[(3, 1)[place]])
            moved = [replace(row, x=at) for row, at in zip(mine, x, strict=True)]
            _theirs(axes, moved, words=axes is both[1])
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xlabel(f"{label} at the end of the deal")
        axes.set_ylabel("mean points of the deal")
        axes.set_xticks([row.x or 0 for row in of(rows, "E5", names[0])])
        axes.grid(axis="y")
        axes.legend()
    both[0].set_title("E5: simple against simple, one seat")
    return figure


@styled
def balance(rows: Sequence[Row]) -> Picture:
    """Return E11: mean pay of both players over the pay for a knock, and where they meet."""
    figure, (pay, equal) = new_figure(5.6, rows=2, height_ratios=(3, 1.4), sharex=True)
    mine = of(rows, "E11")
    number = {row.series: row.ours for row in mine}
    ends = np.array([-0.3, 1.0])
    knocks = number["pay of simple without r"] + ends * number["knocks of simple a deal"]
    waits = number["pay of simple, gin only"]
    for y, words, look in (
        (knocks, "simple, knocks at once", LINES[0]),
        (np.array([waits, waits]), "simple, gin only", LINES[1]),
    ):
        pay.plot(ends, y, label=words, **look | {"marker": ""})
    wanted = [row for row in mine if row.series.startswith("r that balances, ")]
    for place, row in enumerate(wanted[::-1]):
        equal.errorbar(row.ours, place, xerr=[[row.ours - row.low], [row.high - row.ours]],
                       capsize=4, **LINES[0] | {"linestyle": "none"})  # fmt: skip
        if row.check is not None:
            equal.plot(row.check, place - 0.25, label="independent check", **CHECK)
    names = [row.series.removeprefix("r that balances, ") for row in wanted]
    equal.set_yticks(range(len(names)), names[::-1])
    equal.margins(y=0.3)
    for axes in (pay, equal):
        axes.axvspan(0, 1, color="#e9e4d8", zorder=0, label="r from 0 to 1: print")
        axes.grid(axis="x")
    pay.axhline(0, color="#888888", linewidth=0.8)
    pay.set_ylabel("mean pay a deal")
    pay.set_title("E11: pay under RLCard's rules")
    equal.set_title("r at which both are paid the same", fontsize=11)
    equal.set_xlabel("pay for a knock, r")
    pay.legend()
    return figure


@styled
def every_hand(rows: Sequence[Row]) -> Picture:
    """Return the census: hands by deadwood, all of them and those with little."""
    figure, (whole, low) = new_figure(6.4, rows=2)
    mine = of(rows, "census", "hands with deadwood")
    x = np.array([row.x for row in mine], dtype=np.float64)
    hands = np.array([row.ours for row in mine])
    whole.bar(x, hands / 1e6, width=1.0, **FILLS[0])
    whole.set_xlim(-1, x[hands > 0].max() + 1)
    whole.set_xlabel("deadwood, points")
    whole.set_ylabel("million hands")
    cards = "ten" if hands.sum() > 1e10 else "five"
    whole.set_title(f"All {int(hands.sum()):,} hands of {cards} cards")
    part = x <= 12
    low.bar(x[part], hands[part] / 1e3, label="ours", **FILLS[3])
    _theirs_in_thousands(low, [row for row in mine if row.x is not None and row.x <= 12])
    low.set_xlabel("deadwood, points: those with 12 or less")
    low.set_ylabel("thousand hands")
    low.set_xticks(range(13))
    for axes in (whole, low):
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.grid(axis="y")
    low.legend()
    return figure


def _theirs_in_thousands(axes: Axes, rows: Sequence[Row]) -> None:
    known = [(row.x, row.published / 1e3) for row in rows if row.published is not None]
    if known:
        x, y = zip(*known, strict=True)
        axes.plot(x, y, label="print", **PRINT)


@styled
def overview(rows: Sequence[Row]) -> Picture:
    """Return all numbers at once: how far ours lie from print, in half widths of the interval.

    Between the lines at -1 and 1 the interval of the difference holds 0.
    """
    chosen = [row for row in compared(rows) if row.experiment != "census"]
    names = list(dict.fromkeys(row.experiment for row in chosen))
    figure, axes = new_figure(1.6 + 0.42 * len(names))
    axes.axvspan(-1, 1, color="#e9e4d8", zorder=0)
    for reference, look, shift in (("print", PRINT, 0.16), ("check", CHECK, -0.16)):
        points = [
            (distance, names.index(row.experiment))
            for row in chosen
            if (distance := _distance(row, reference)) is not None
        ]
        if points:
            x = np.clip([distance for distance, _ in points], -WIDEST, WIDEST)
            y = np.array([len(names) - 1 - place + shift for _, place in points])
            label = reference if reference == "print" else "independent check"
            axes.plot(x, y, label=label, **look)
    axes.set_yticks(range(len(names)), names[::-1])
    axes.set_xlim(-WIDEST - 0.5, WIDEST + 0.5)
    axes.set_xticks([-8, -4, -1, 1, 4, 8], ["≤ −8", "−4", "−1", "1", "4", "≥ 8"])
    axes.set_xlabel("ours less theirs, in half widths of its 95 % interval")
    axes.set_title("Shaded: reproduced")
    figure.legend(loc="outside lower center", ncols=2)
    axes.grid(axis="y")
    return figure


def _distance(row: Row, reference: str) -> float | None:
    """Return the difference to print or check in half widths of the difference's interval."""
    value = row.published if reference == "print" else row.check
    half = row.published_half if reference == "print" else row.check_half
    if value is None or half is None:
        return None
    width = float(np.hypot((row.high - row.low) / 2, half))
    return (row.ours - value) / width if width else 0.0


@styled
def pairings(rows: Sequence[Row]) -> Picture:
    """Return the shares of games of E1 to E3, E6 and E7 with the published ones."""
    chosen = [
        row
        for row in compared(rows)
        if row.experiment in ("E1", "E2", "E3", "E6", "E7") and "points" not in row.series
    ]
    figure, axes = new_figure(1.5 + 0.62 * len(chosen))
    for place, row in enumerate(chosen[::-1]):
        axes.errorbar(row.ours, place, xerr=[[row.ours - row.low], [row.high - row.ours]],
                      capsize=4, **LINES[0] | {"linestyle": "none"})  # fmt: skip
        for value, half, look, shift in (
            (row.published, row.published_half, PRINT, 0.22),
            (row.check, row.check_half, CHECK, -0.22),
        ):
            if value is not None:
                axes.errorbar(value, place + shift, xerr=half, capsize=4, **look)
    words = [f"{row.experiment} {row.series.removesuffix(', games won %')}" for row in chosen]
    axes.set_yticks(range(len(chosen)), [_broken(word) for word in words[::-1]])
    axes.set_xlabel("% of games won")
    axes.set_title("● ours   ○ print   × independent check")
    axes.margins(y=0.12)
    axes.grid(axis="x")
    return figure


def _broken(text: str) -> str:
    """Return a text in two lines if it is long, so that it leaves room on a phone."""
    before, dash, after = text.partition(" – ")
    if dash:
        return f"{before}\n– {after}"
    before, comma, after = text.partition(", ")
    return f"{before},\n{after}" if comma else text


PICTURES: dict[str, tuple[str, Callable[[Sequence[Row]], Picture]]] = {
    "overview": ("", overview),
    "census": ("census", every_hand),
    "pairings": ("E1", pairings),
    "E4": ("E4", ways_to_meld),
    "E5": ("E5", by_hand),
    "E9": ("E9", knock_limits),
    "E10": ("E10", bonuses),
    "E11": ("E11", balance),
    "E12": ("E12", worlds),
}
"""By file name: the experiment that it needs, and what draws it."""


def pictures(rows: Sequence[Row]) -> dict[str, Picture]:
    """Return all pictures that can be drawn of these lines, by name."""
    done = {row.experiment for row in rows}
    return {
        name: draw(rows) for name, (needs, draw) in PICTURES.items() if not needs or needs in done
    }
