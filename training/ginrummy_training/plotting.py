"""How figures look: readable in grey, and on a phone.

Lines and bars differ in marker, dashes or hatching as well as in lightness,
never in hue alone. A figure is as wide as a column of text, so that on a phone its letters are as
large as those around it; what needs more room gets taller.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

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


class Picture(Figure):
    """A figure that a notebook shows if a cell ends with it."""

    def png(self) -> bytes:
        """Return it as PNG."""
        file = io.BytesIO()
        # Without the version of matplotlib in it: the same figure gives the same bytes.
        self.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
        return file.getvalue()

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
        series: the lines, six at most.
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
    for (name, points), look in zip(series.items(), LINES, strict=False):
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
        axes.legend()
    return figure
