"""Pictures of how an agent plays, from the tables of `ginrummy_training.analysis.behaviour`."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ginrummy_env.core.cards import RANK_LETTERS
from ginrummy_training.analysis.behaviour import LEADS, TURNS, UPCARDS, WHATS, shares
from ginrummy_training.plotting import LINES, Picture, new_figure, styled, write_in

LEAST = 30
"""Chances from which on a share is drawn; with fewer it means little (half an interval is 18 %)."""

_TURN_NAMES = [str(turn) for turn in range(1, TURNS)] + [f"{TURNS}+"]


def _lines(
    axes: Axes, tables: Mapping[str, pd.DataFrame], by: str, order: Sequence[int | str]
) -> None:
    """Draw the share of chances to knock that were used, a line a table; gin is left out."""
    for look, (name, table) in zip(LINES, tables.items(), strict=False):
        found = shares(table[table["what"] != "0"], "knock", [by], LEAST)
        places = [order.index(value) for value in found[by]]
        line = sorted(zip(places, found["share"], strict=True))
        axes.plot([x for x, _ in line], [y for _, y in line], label=name, **look)
    axes.set_ylim(-4, 104)
    axes.grid()


@styled
def knock_picture(tables: Mapping[str, pd.DataFrame]) -> Picture:
    """Return how often agents knock when they can, without gin: by turn (above) and by the score.

    Args:
        tables: of `habits`, by what the lines are called; six at most.
    """
    figure, (by_turn, by_lead) = new_figure(6.6, rows=2)
    _lines(by_turn, tables, "turn", list(range(1, TURNS + 1)))
    by_turn.set_xticks(range(TURNS), _TURN_NAMES)
    by_turn.set_xlim(-0.4, TURNS - 0.6)
    by_turn.set_xlabel("own turn of the deal")
    by_turn.set_title("knocks, % of the chances to (without gin)")
    _lines(by_lead, tables, "lead", list(LEADS))
    by_lead.set_xticks(range(len(LEADS)), [lead.replace(" ", "\n", 1) for lead in LEADS])
    by_lead.set_xlim(-0.4, len(LEADS) - 0.6)
    by_lead.set_xlabel("points of the game")
    figure.legend(
        *by_turn.get_legend_handles_labels(), loc="outside lower center", ncols=min(2, len(tables))
    )
    return figure


@styled
def knock_map(table: pd.DataFrame, title: str) -> Picture:
    """Return how often an agent knocks, by its turn and by the deadwood that it would knock with.

    Fields with few chances are left white.
    """
    whats = WHATS["knock"]
    found = shares(table, "knock", ["turn", "what"], LEAST)
    board = _board(found, "what", whats)
    figure, axes = new_figure(4.0)
    axes.imshow(board, cmap="cividis", vmin=0, vmax=100, aspect="auto", origin="lower")
    write_in(axes, board, size=9)
    axes.set_xticks(range(TURNS), _TURN_NAMES)
    axes.set_yticks(range(len(whats)), ["gin", *whats[1:]])
    axes.tick_params(length=0)
    axes.set_xlabel("own turn of the deal")
    axes.set_ylabel("deadwood it can knock with")
    axes.set_title(title)
    return figure


@styled
def take_picture(tables: Mapping[str, pd.DataFrame]) -> Picture:
    """Return how often upcards are taken, by turn and by what they do; a panel for each agent."""
    figure, panels = new_figure(
        0.8 + 2.5 * len(tables), rows=len(tables), squeeze=False, sharex=True
    )
    for axes, (name, table) in zip(panels.flat, tables.items(), strict=True):
        for look, what in zip(LINES, UPCARDS, strict=False):
            found = shares(table[table["what"] == what], "take", ["turn"], LEAST)
            axes.plot(found["turn"] - 1, found["share"], label=what, **look)
        axes.set_xticks(range(TURNS), _TURN_NAMES)
        axes.set_xlim(-0.4, TURNS - 0.6)
        axes.set_ylim(-4, 104)
        axes.set_title(f"{name}: upcards taken, %")
        axes.grid()
    panels[-1, 0].set_xlabel("own turn of the deal")
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=1, title="an upcard that")
    return figure


@styled
def throw_map(tables: Mapping[str, pd.DataFrame]) -> Picture:
    """Return how often a loose card of each rank is thrown, by turn; a panel for each agent."""
    figure, panels = new_figure(0.6 + 3.2 * len(tables), rows=len(tables), squeeze=False)
    for axes, (name, table) in zip(panels.flat, tables.items(), strict=True):
        found = shares(table, "throw", ["turn", "what"], LEAST)
        board = _board(found, "what", WHATS["throw"]).T
        axes.imshow(board, cmap="Greys", vmin=0, vmax=70, aspect="auto")
        write_in(axes, board, size=8.5)
        axes.set_xticks(range(len(RANK_LETTERS)), list(RANK_LETTERS))
        axes.set_yticks(range(TURNS), _TURN_NAMES)
        axes.tick_params(length=0)
        axes.set_ylabel("own turn")
        axes.set_title(f"{name}: thrown, % of times held in no meld")
    return figure


def _board(found: pd.DataFrame, column: str, order: tuple[str, ...]) -> NDArray[np.float64]:
    """Return shares as [len(order), TURNS], NaN where there are none."""
    wide = found.pivot(index=column, columns="turn", values="share")
    return (
        wide.reindex(index=list(order), columns=list(range(1, TURNS + 1)))
        .to_numpy(dtype=np.float64)
        .copy()
    )
