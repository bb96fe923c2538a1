"""Pictures of what an agent is given: the observation plane by plane, the mask, and how fast."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ginrummy_env.core.actions import DISCARD, DRAW_STOCK, KNOCK, NUM_ACTIONS, format_action
from ginrummy_env.core.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, RANK_LETTERS
from ginrummy_env.core.observation import layout, observation_size, planes
from ginrummy_env.render.text import SUIT_SIGNS
from ginrummy_training.plotting import LINES, Picture, new_figure, styled


@styled
def observation_picture(observation: NDArray[np.float32]) -> Picture:
    """Return the card planes of one observation, each a small board: suits down, ranks across.

    White is 0 and black is 1; what lies between has its number of hundredths written in.

    Args:
        observation: [size] float32, with or without derived planes.

    Raises:
        ValueError: a size that no layout has.
    """
    boards = planes(observation)
    derived = len(observation) == observation_size(True)
    names = [entry.name for entry in layout(derived) if entry.is_plane]
    rows = -(-len(names) // 2)
    figure, grid = new_figure(1.17 * rows + 0.3, rows=rows, columns=2)
    for axes, name, board in zip(grid.flat, names, boards, strict=False):
        _board(axes, board, name)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    return figure


def _board(axes: Axes, board: NDArray[np.float32], title: str) -> None:
    """Draw 52 numbers as suits and ranks."""
    axes.imshow(board, cmap="Greys", vmin=0, vmax=1, aspect="auto")
    for (suit, rank), number in np.ndenumerate(board):
        if 0 < number < 1:
            color = "white" if number > 0.5 else "black"
            axes.text(
                rank, suit, f"{100 * number:.0f}", ha="center", va="center", fontsize=7, color=color
            )
    axes.set_title(title, fontsize=11)
    axes.set_xticks(range(NUM_RANKS), list(RANK_LETTERS), fontsize=9)
    axes.set_yticks(range(NUM_SUITS), list(SUIT_SIGNS), fontsize=10)
    axes.tick_params(length=0, pad=2)
    axes.set_xticks(np.arange(NUM_RANKS + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(NUM_SUITS + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#cccccc", alpha=1, linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    for side in axes.spines.values():
        side.set(visible=True, color="#888888")


@styled
def mask_picture(mask: NDArray[Any]) -> Picture:
    """Return the mask of one position: what may be done is black.

    Args:
        mask: [108] of any type.
    """
    flags = np.asarray(mask).astype(np.float32)
    figure, (discards, knocks, others) = new_figure(
        4.2, rows=3, height_ratios=(NUM_SUITS, NUM_SUITS, 1)
    )
    for axes, first, words in (
        (discards, DISCARD, "discard"),
        (knocks, KNOCK, "knock and discard"),
    ):
        cards = flags[first : first + NUM_CARDS].reshape(NUM_SUITS, NUM_RANKS)
        _board(axes, cards, f"{first} – {first + NUM_CARDS - 1}: {words}")
    rest = range(DRAW_STOCK, NUM_ACTIONS)
    others.imshow(flags[None, DRAW_STOCK:], cmap="Greys", vmin=0, vmax=1, aspect="auto")
    others.set_title(f"{rest[0]} – {rest[-1]}: the rest", fontsize=11)
    others.set_xticks(range(len(rest)), [format_action(action) for action in rest], fontsize=10)
    others.set_yticks([])
    others.set_xticks(np.arange(len(rest) + 1) - 0.5, minor=True)
    others.grid(which="minor", color="#cccccc", alpha=1, linewidth=0.6)
    others.tick_params(which="both", length=0)
    for side in others.spines.values():
        side.set(visible=True, color="#888888")
    return figure


@styled
def speed_picture(rates: Mapping[str, Sequence[tuple[int, float]]]) -> Picture:
    """Return decisions a second over the number of games at once, both on logarithmic scales.

    Args:
        rates: (games at once, decisions a second) for each name.
    """
    figure, axes = new_figure(3.6)
    for look, (name, points) in zip(LINES, rates.items(), strict=False):
        sizes, speeds = zip(*points, strict=True)
        axes.plot(sizes, speeds, label=name, **look)
    axes.set_xscale("log", base=4)
    axes.set_yscale("log")
    every = sorted({size for points in rates.values() for size, _ in points})
    axes.set_xticks(every, [f"{size:,}" for size in every])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("games at once")
    axes.set_title("decisions a second, one core")
    axes.grid()
    axes.legend()
    return figure
