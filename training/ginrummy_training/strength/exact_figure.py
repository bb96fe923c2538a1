"""The picture of exact results: solvers by iteration, and how exploitable the agents are."""

import re
from collections.abc import Mapping
from typing import Any

from ginrummy_env.core.rules import PRESETS
from ginrummy_training.plotting import FILLS, LINES, Picture, new_figure, styled


@styled
def exact_picture(found: Mapping[str, Any]) -> Picture:
    """Return the picture of what `exact.exact` has found."""
    agents = sorted(found["agents"].items(), key=lambda item: -item[1]["exploitability"])
    below = 0.9 + 0.36 * len(agents)
    if agents:
        figure, (curves, bars) = new_figure(3.4 + below, rows=2, height_ratios=[3.4, below])
    else:
        figure, curves = new_figure()
        bars = None
    solvers = dict.fromkeys(each["solver"] for each in found["solvers"])
    for name, look in zip(solvers, LINES, strict=False):
        points = [each for each in found["solvers"] if each["solver"] == name]
        curves.plot(
            [each["iterations"] for each in points],
            [each["exploitability"] for each in points],
            label=name,
            **look,
        )
    curves.set_xscale("log")
    curves.set_yscale("log")
    curves.set_xlabel("iterations")
    rules = f", {found['rules']}" if found["rules"] in PRESETS else ""
    curves.set_title(f"Exploitability, points per deal{rules}")
    curves.grid()
    curves.legend()
    if bars is not None:
        values = [each["exploitability"] for _, each in agents]
        # Of a path only the name of the file: the rest would take the room of the bars.
        names = [re.sub(r":.*/", ":", name) for name, _ in agents]
        bars.barh(names, values, **FILLS[0])
        for row, value in enumerate(values):
            bars.annotate(
                f"{value:.2f}", (value, row), xytext=(4, 0), textcoords="offset points", va="center"
            )
        bars.set_xlim(0, 1.15 * max(values))
        bars.set_title("What a best response wins from each")
    return figure
