"""How figures look: readable in grey, and on a phone.

Lines and bars differ in marker, dashes or hatching as well as in lightness,
never in hue alone. A figure is as wide as a column of text, so that on a phone its letters are as
large as those around it; what needs more room gets taller.
"""

import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ginrummy_env.files import write_whole
from ginrummy_training.statistics import Estimate

WIDTH = 5.6
"""Inches; at `DPI` some 780 pixels, twice those of a phone held upright."""
DPI = 140

STYLE: Any = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "legend.fontsize": 10,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "grid.alpha": 0.35,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "axes.titlelocation": "left",
}

styled = mpl.rc_context(STYLE)
"""Decorator of functions that draw: what they make has the house's sizes."""

LINES: tuple[dict[str, Any], ...] = (
    {"color": "#0b2545", "marker": "o", "linestyle": "-"},
    {"color": "#c8641b", "marker": "s", "linestyle": "--"},
    {"color": "#2f8f83", "marker": "^", "linestyle": "-."},
    {"color": "#8e3b6d", "marker": "D", "linestyle": ":"},
    {"color": "#6f7f8f", "marker": "v", "linestyle": "-"},
    {"color": "#e0a526", "marker": "P", "linestyle": "--"},
)
"""Lines that differ in marker and dashes too: ``axes.plot(x, y, **LINES[0])``."""

FILLS: tuple[dict[str, Any], ...] = (
    {"facecolor": "#0b2545", "edgecolor": "white"},
    {"facecolor": "#f2c14e", "edgecolor": "#5a4a1a", "hatch": "//"},
    {"facecolor": "#4f8a8b", "edgecolor": "white"},
    {"facecolor": "#e9e4d8", "edgecolor": "#555555", "hatch": ".."},
    {"facecolor": "#a44a3f", "edgecolor": "white", "hatch": "\\\\"},
    {"facecolor": "#ffffff", "edgecolor": "#333333", "hatch": "xx"},
)
"""Bars that differ in lightness and hatching: ``axes.bar(x, y, **FILLS[0])``."""


KINDS: dict[str, dict[str, Any]] = {
    # Without dates and versions of matplotlib: the same figure gives the same bytes.
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats of pictures, with what else is written into the file."""


class Picture(Figure):
    """A figure that a notebook shows if a cell ends with it."""

    def png(self) -> bytes:
        """Return it as PNG."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=DPI, metadata=KINDS["png"])
        return file.getvalue()

    def save(self, path: Path) -> None:
        """Write it whole or not at all, as what the name ends with: png, svg or pdf.

        Raises:
            ValueError: another ending.
        """
        kind = path.suffix.removeprefix(".").lower()
        if kind not in KINDS:
            raise ValueError(f"{path}: a picture's name ends with .{', .'.join(KINDS)}")
        file = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "ginrummy"}):
            self.savefig(file, format=kind, dpi=DPI, metadata=KINDS[kind])
        write_whole(path, file.getvalue())

    def _repr_png_(self) -> bytes:
        return self.png()


def new_figure(
    height: float = 3.4, width: float = WIDTH, rows: int = 1, columns: int = 1, **subplots: Any
) -> tuple[Picture, Any]:
    """Return a figure and its axes, as `matplotlib.figure.Figure.subplots` gives them.

    To be called within a function that is `styled`.

    Args:
        height: inches.
        width: inches.
        rows: of axes.
        columns: of axes.
        subplots: further arguments, such as ``sharex=True``.
    """
    figure = Picture(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **subplots)


def write_in(
    axes: Axes, numbers: NDArray[np.floating[Any]], form: str = "{:.0f}", size: float = 10
) -> None:
    """Write the numbers of a heat map (its last image) into its fields, dark on light ones.

    Args:
        axes: those of the map.
        numbers: [rows, columns]; nothing is written where one is NaN.
        form: how a number is written.
        size: of the letters.
    """
    image = axes.images[-1]
    for (row, column), number in np.ndenumerate(numbers):
        if np.isnan(number):
            continue
        red, green, blue, _ = image.cmap(image.norm(number))
        light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.55
        axes.text(
            column,
            row,
            form.format(number),
            ha="center",
            va="center",
            fontsize=size,
            color="black" if light else "white",
        )


def crowd(values: Sequence[float]) -> tuple[float, float]:
    """Return the range that is drawn to scale: the values without a few that lie far away.

    They lie far away if the gap to the others is more than twice what the others span.

    >>> crowd([-844, -31, 0, 109, 226])
    (-31, 226)
    >>> crowd([-31, 0, 109, 226])
    (-31, 226)
    """
    ordered = sorted(values)
    gaps = np.diff(ordered)
    if len(ordered) < 3:
        return ordered[0], ordered[-1]
    cut = int(np.argmax(gaps)) + 1
    most = max(ordered[:cut], ordered[cut:], key=len)
    far = gaps[cut - 1] > 2 * (most[-1] - most[0])
    return (most[0], most[-1]) if far and len(most) > 1 else (ordered[0], ordered[-1])


def intervals(
    axes: Axes,
    places: Sequence[float],
    estimates: Sequence[Estimate],
    look: Mapping[str, Any],
    *,
    label: str | None = None,
    scale: tuple[float, float] | None = None,
    form: str = "{:.0f}",
) -> None:
    """Draw values and their intervals, one above the other.

    Args:
        axes: theirs.
        places: heights.
        estimates: values with their intervals.
        look: one of `LINES`.
        label: in the legend.
        scale: what lies outside is an arrow at the edge, with its number.
        form: how that number is written.
    """
    low, high = (-np.inf, np.inf) if scale is None else scale
    inside = [i for i, each in enumerate(estimates) if low <= each.value <= high]
    values = np.array([estimates[i].value for i in inside])
    lows = np.array([estimates[i].low for i in inside])
    highs = np.array([estimates[i].high for i in inside])
    axes.errorbar(
        values,
        [places[i] for i in inside],
        xerr=[values - lows, highs - values],
        fmt=look["marker"],
        color=look["color"],
        capsize=3,
        label=label,
    )
    edge = 0.14 * (high - low)
    for place, each in zip(places, estimates, strict=True):
        if low <= each.value <= high:
            continue
        below = each.value < low
        at = low - edge if below else high + edge
        axes.plot(at, place, marker="<" if below else ">", color=look["color"], linestyle="none")
        axes.annotate(
            form.format(each.value).replace("-", "−"),
            (at, place),
            xytext=(9 if below else -9, 0),
            textcoords="offset points",
            color=look["color"],
            ha="left" if below else "right",
            va="center",
        )


Series = Mapping[str, Sequence[tuple[float, Estimate]]]
"""Points of lines by their names: x, and y with its interval."""


@styled
def series_picture(
    series: Series,
    *,
    x_label: str,
    title: str,
    published: Mapping[str, Sequence[tuple[float, float, float]]] | None = None,
    level: float | None = None,
    height: float = 3.4,
) -> Picture:
    """Return lines with their intervals as bands.

    Args:
        series: the lines; more than six are hard to tell apart.
        x_label: what x is.
        title: what y is; shown above.
        published: (x, y, half the width of its interval) printed elsewhere, by the name of the
            line; large hollow marks of the line's shape.
        level: a y at which a thin line is drawn.
        height: inches.
    """
    figure, axes = new_figure(height)
    if level is not None:
        axes.axhline(level, color="#888888", linewidth=0.8)
    for (name, points), look in zip(series.items(), cycle(LINES), strict=False):
        order = sorted(points, key=lambda point: point[0])
        xs = [x for x, _ in order]
        axes.plot(xs, [y.value for _, y in order], label=name, **look)
        axes.fill_between(
            xs,
            [y.low for _, y in order],
            [y.high for _, y in order],
            color=look["color"],
            alpha=0.2,
            linewidth=0,
        )
        printed = (published or {}).get(name, ())
        if printed:
            axes.errorbar(
                [x for x, _, _ in printed],
                [y for _, y, _ in printed],
                yerr=[half for _, _, half in printed],
                fmt=look["marker"],
                markersize=11,
                markerfacecolor="none",
                markeredgecolor=look["color"],
                ecolor=look["color"],
                capsize=4,
                linewidth=1,
                label=f"{name}, published",
            )
    if axes.get_xlim()[1] >= 10_000:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel(x_label)
    axes.set_title(title)
    axes.grid()
    if len(series) > 1 or published:
        handles = axes.get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=2)
    return figure
