"""Pictures of what a search does: the candidates of a move, and gains over the base policy."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from ginrummy_agents.search.reasons import HALF
from ginrummy_agents.search.trial import ENDINGS
from ginrummy_env.core.actions import format_action
from ginrummy_training.analysis.position import Weighing
from ginrummy_training.plotting import LINES, Picture, intervals, new_figure, styled
from ginrummy_training.statistics import Estimate
from ginrummy_training.storage import write_json

TITLE_WIDTH = 74


@styled
def gain_picture(found: Mapping[str, Any]) -> Picture:
    """Return what variants of a search gain, from what `search_gain.measure` returns."""
    variants = found["variants"]
    figure, axes = new_figure(1.7 + 0.42 * len(variants))
    places = list(range(len(variants)))[::-1]
    gains = [
        Estimate(each["gain"], each["gain"] - each["half"], each["gain"] + each["half"])
        for each in variants
    ]
    intervals(axes, places, gains, LINES[0])
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_yticks(places, [each["search"].replace(",", ",\n") for each in variants])
    axes.set_ylim(-0.6, len(variants) - 0.4)
    axes.grid(axis="x")
    axes.set_xlabel(
        f"% of games gained over {found['base']} in a hundred decisions,\n95 % intervals; "
        f"{found['decisions']:,} decisions, seed {found['seed']}"
    )
    rules = found["rules"]
    rules = rules.upper() if rules.isalpha() else rules
    title = f"{rules}, against {found['against']}: what the search gains"
    axes.set_title(fill(title, TITLE_WIDTH))
    return figure


@styled
def candidates_picture(found: Weighing, title: str) -> Picture:
    """Return the candidates of a move: what each is worth, and below how its deals ended.

    Args:
        found: the candidates.
        title: of the picture: the position.
    """
    candidates, win = found.candidates, found.search.value == "win"
    scale, count = (100 if win else 1), len(candidates)
    figure, (values, ends) = new_figure(3.2 + 0.72 * count, rows=2)
    places = list(range(count))[::-1]
    names = [
        format_action(each.action) + " ✓" * (each.action == found.chosen) for each in candidates
    ]
    worth = [
        Estimate(*(scale * x for x in (each.value, each.value - half, each.value + half)))
        for each in candidates
        for half in [HALF * each.error]
    ]
    intervals(values, places, worth, LINES[0])
    values.set_yticks(places, names)
    values.set_ylim(-0.6, count - 0.4)
    values.set_xlabel(("chance of winning the game, %" if win else "points of the deal")
                      + ", 95 % intervals")  # fmt: skip
    values.grid(axis="x")
    start = np.zeros(count)
    for number, name in enumerate(ENDINGS):
        shares = np.array([100 * each.endings[number] for each in candidates])
        ends.barh(places, shares, left=start, height=0.72, label=name, **ENDING_FILLS[number])
        start += shares
    ends.set_yticks(places, names)
    ends.set_ylim(-0.6, count - 0.4)
    ends.set_xlabel("how the deals ended, %")
    ends.set_xlim(0, 100)
    figure.legend(*ends.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle(fill(title, TITLE_WIDTH), fontsize=10, x=0.02, ha="left")
    return figure


def write(out: Path, found: Weighing, title: str) -> None:
    """Write the picture (png, svg, pdf), or the numbers (json)."""
    if out.suffix == ".json":
        write_json(
            out,
            {
                "position": title,
                "candidates": [each.to_dict() for each in found.candidates],
                "base": format_action(found.base),
                "chosen": format_action(found.chosen),
                "why": found.sentences(),
            },
        )
    else:
        candidates_picture(found, title).save(out)


ENDING_FILLS: tuple[dict[str, Any], ...] = (
    {"facecolor": "#0b2545", "edgecolor": "white"},
    {"facecolor": "#2f8f83", "edgecolor": "white"},
    {"facecolor": "#a9d3cc", "edgecolor": "white"},
    {"facecolor": "#c8641b", "edgecolor": "white", "hatch": "//"},
    {"facecolor": "#f2c14e", "edgecolor": "#5a4a1a", "hatch": "//"},
    {"facecolor": "#fbe7b8", "edgecolor": "#5a4a1a", "hatch": "//"},
    {"facecolor": "#dddddd", "edgecolor": "white"},
)
"""By the ways a deal ends: the player's in blue and plain, the opponent's in gold and hatched."""
