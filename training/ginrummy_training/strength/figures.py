"""Cards and best responses as pictures: who wins how much, with intervals; who is safe."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from ginrummy_training.plotting import LINES, Picture, new_figure, styled
from ginrummy_training.strength.response_table import HALF, by_safety, rules_of

Card = Mapping[str, Any]
Result = Mapping[str, Any]
TITLE_WIDTH = 46


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
    axes.set_xlim(0, 101)
    axes.set_yticks(places, names)
    axes.margins(y=0.15)
    axes.grid(axis="x")
    axes.set_title(fill(f"{card['agent']['name']}: games won, %", TITLE_WIDTH))
    axes.set_xlabel(f"protocol {protocol['name']}, 95 % intervals")
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
    axes.set_xlim(0, 101)
    axes.set_yticks(places, names)
    axes.grid(axis="x")
    axes.set_title(f"{rules}: games won, %")
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(3, len(opponents))
    )
    return figure


@styled
def responses_picture(results: Sequence[Result]) -> Picture:
    """Return what the best response found wins of each policy, one mark a rules."""
    names = by_safety(results)[::-1]
    rules = rules_of(results)
    figure, axes = new_figure(1.5 + 0.42 * len(names))
    for number, (name, look) in enumerate(zip(rules, LINES, strict=False)):
        rows = [each for each in results if each["rules"] == name]
        places = np.array([names.index(each["policy"]) for each in rows], dtype=np.float64)
        shift = 0.2 * (number - (len(rules) - 1) / 2)
        axes.errorbar(*_bars([each["games_won"] for each in rows], places - shift),
                      fmt=look["marker"], color=look["color"], capsize=3, label=name)  # fmt: skip
    axes.axvline(100 * HALF, color="#888888", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.grid(axis="x")
    axes.set_xlabel("games that the best response found wins, %")
    axes.legend(loc="best")
    return figure


@styled
def safety_picture(cards: Sequence[Card], results: Sequence[Result], rules: str) -> Picture:
    """Return who is strong and who is safe: the score, and what the best response found wins.

    Args:
        cards: of one protocol.
        results: best responses; agents without one are left out.
        rules: which of the rules.
    """
    lost = {
        each["policy"]: each["games_won"]["value"] for each in results if each["rules"] == rules
    }
    figure, axes = new_figure(4.2)
    places = {
        name: (100 * card["score"][rules]["value"], 100 * lost[name])
        for card in cards
        if (name := card["agent"]["policy"]) in lost
    }
    for name, (x, y) in places.items():
        axes.plot(x, y, marker="o", color=LINES[0]["color"])
        # A name stands on the right; on the left if it would meet another there; below if on both.
        gaps = [(u - x, abs(y - v)) for n, (u, v) in places.items() if n != name]
        right = any(0 <= across < 8 and up < 3 for across, up in gaps)
        left = any(-8 < across < 0 and up < 1.5 for across, up in gaps)
        where = (0, -12) if right and left else (-7 if right else 7, 0)
        side = "center" if right and left else "right" if right else "left"
        axes.annotate(name, (x, y), xytext=where, textcoords="offset points", ha=side,
                      va="center", fontsize=10)  # fmt: skip
    axes.axhline(100 * HALF, color="#888888", linewidth=0.8)
    axes.margins(0.18, 0.1)
    axes.grid()
    axes.set_xlabel("score of the card: games won, %")
    axes.set_title(f"{rules}: games that the best response found wins, %")
    return figure


def _bars(numbers: Sequence[Mapping[str, float]], places: Any) -> tuple[Any, Any, Any, Any]:
    """Return x, y, and the errors of y (none) and x, as `Axes.errorbar` takes them, in %."""
    values = 100 * np.array([each["value"] for each in numbers])
    low = values - 100 * np.array([each["low"] for each in numbers])
    high = 100 * np.array([each["high"] for each in numbers]) - values
    return values, places, None, [np.maximum(low, 0), np.maximum(high, 0)]
