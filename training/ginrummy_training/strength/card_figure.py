"""A benchmark card as a picture: games won against each opponent, with intervals."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from ginrummy_training.plotting import LINES, Picture, new_figure, styled

Card = Mapping[str, Any]
TITLE_WIDTH = 52


@styled
def card_picture(card: Card) -> Picture:
    """Return a card's games won: one line an opponent and one for the score, one mark a rules."""
    protocol = card["protocol"]
    names = [f"against {name}" for name in protocol["opponents"]] + ["score"]
    figure, axes = new_figure(1.4 + 0.5 * len(names))
    places = np.arange(len(names))[::-1]
    for number, (rules, look) in enumerate(zip(protocol["rules"], LINES, strict=False)):
        cells = card["matches"][rules].values()
        numbers = [cell["games_won"] for cell in cells] + [card["score"][rules]]
        shift = 0.2 * (number - (len(protocol["rules"]) - 1) / 2)
        axes.errorbar(*_bars(numbers, places - shift), fmt=look["marker"], color=look["color"],
                      capsize=3, label=rules)  # fmt: skip
    axes.axvline(50, color="#888888", linewidth=0.8)
    axes.set_xlim(0, 100)
    axes.set_yticks(places, names)
    axes.margins(y=0.15)
    axes.grid(axis="x")
    axes.set_title(fill(f"{card['agent']['name']}: games won, % ({protocol['name']})", TITLE_WIDTH))
    axes.legend(loc="best")
    return figure


@styled
def ladder_picture(cards: Sequence[Card], rules: str) -> Picture:
    """Return cards of one protocol under one set of rules: the score and each opponent."""
    ordered = sorted(cards, key=lambda card: card["score"][rules]["value"])
    names = [card["agent"]["name"] for card in ordered]
    opponents = list(cards[0]["protocol"]["opponents"])
    figure, axes = new_figure(1.6 + 0.42 * len(names))
    places = np.arange(len(names))
    shift = {name: 0.18 * (1 - number) for number, name in enumerate(opponents)}
    for opponent, look in zip(opponents, LINES, strict=False):
        numbers = [card["matches"][rules][opponent]["games_won"] for card in ordered]
        axes.errorbar(*_bars(numbers, places + shift[opponent]), fmt=look["marker"],
                      color=look["color"], capsize=3, label=f"against {opponent}")  # fmt: skip
    axes.axvline(50, color="#888888", linewidth=0.8)
    axes.set_xlim(0, 100)
    axes.set_yticks(places, names)
    axes.grid(axis="x")
    axes.set_title(f"{rules}: games won, %")
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(3, len(opponents))
    )
    return figure


def _bars(numbers: Sequence[Mapping[str, float]], places: Any) -> tuple[Any, Any, Any, Any]:
    """Return x, y, and the errors of y (none) and x, as `Axes.errorbar` takes them, in %."""
    values = 100 * np.array([each["value"] for each in numbers])
    low = values - 100 * np.array([each["low"] for each in numbers])
    high = 100 * np.array([each["high"] for each in numbers]) - values
    return values, places, None, [np.maximum(low, 0), np.maximum(high, 0)]
