"""A position for notebooks and pages: SVG, and HTML around it.

Both hold all they need and bring their own background, so they can be read on dark and light pages.
Each card says its name to those who do not see it.
"""

from collections.abc import Sequence
from html import escape

from ginrummy_env.core.cards import NO_CARD, NUM_RANKS, SUIT_NAMES
from ginrummy_env.core.view import View
from ginrummy_env.render.layout import (
    HEIGHT,
    SUIT_PATHS,
    WIDTH,
    Box,
    Card,
    Item,
    Suit,
    card_items,
    lay_out,
)
from ginrummy_env.render.position import NAMES, Position
from ginrummy_env.render.reading import read_position
from ginrummy_env.render.text import SUIT_SIGNS, position_text

_RANK_WORDS = (
    "ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack",
    "queen", "king",
)  # fmt: skip
_FONT = "font-family:Arial,'Liberation Sans',Helvetica,system-ui,sans-serif;font-weight:600"
_PLAIN = "\ufe0e"
"""After a suit sign: as a letter, not as a coloured picture."""


def spoken_name(card: int) -> str:
    """Return a card in words.

    >>> spoken_name(22)
    'ten of hearts'
    """
    if card == NO_CARD:
        return "face-down card"
    return f"{_RANK_WORDS[card % NUM_RANKS]} of {SUIT_NAMES[card // NUM_RANKS]}"


def position_svg(
    view: View, row: int = 0, *, opponent: View | None = None, names: Sequence[str] = NAMES
) -> str:
    """Return a position as one self-contained SVG; the arguments of `text.position_text`."""
    return _svg(read_position(view, row, opponent=opponent, names=names))


def _svg(position: Position) -> str:
    title = f"Gin rummy, deal {position.deal}, turn {position.turn}. {position.to_do(spoken_name)}"
    body = "".join(map(_element, lay_out(position)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="group" aria-label="{escape(title)}" '
        f'style="max-width:100%;height:auto;border-radius:10px;{_FONT}">{body}</svg>'
    )


def position_html(
    view: View, row: int = 0, *, opponent: View | None = None, names: Sequence[str] = NAMES
) -> str:
    """Return a position as self-contained HTML; the arguments of `text.position_text`.

    It is the picture, and below it the same as text, folded up.
    """
    picture = position_svg(view, row, opponent=opponent, names=names)
    text = escape(position_text(view, row, opponent=opponent, names=names))
    return (
        f'<div class="ginrummy-position">{picture}<details><summary>as text</summary>'
        f'<pre style="line-height:1.25">{text}</pre></details></div>'
    )


def _element(item: Item) -> str:
    if isinstance(item, Card):
        name = escape(spoken_name(item.card) + (f", {item.words}" if item.words else ""))
        shapes = "".join(map(_element, card_items(item)))
        return f'<g role="img" aria-label="{name}"><title>{name}</title>{shapes}</g>'
    if isinstance(item, Box):
        stroke = f' stroke="{item.stroke}" stroke-width="{item.line:g}"' if item.stroke else ""
        radius = f' rx="{item.radius:g}"' if item.radius else ""
        return (
            f'<rect x="{item.x:.5g}" y="{item.y:.5g}" width="{item.width:g}" '
            f'height="{item.height:g}" fill="{item.fill}"{radius}{stroke}/>'
        )
    if isinstance(item, Suit):
        corner = f"{item.x - item.size / 2:.5g} {item.y - item.size / 2:.5g}"
        return (
            f'<path d="{SUIT_PATHS[item.suit]}" fill="{item.color}" '
            f'transform="translate({corner}) scale({item.size / 100:g})"/>'
        )
    if not item.text:
        return ""
    words = escape(item.text)
    for sign in SUIT_SIGNS:
        words = words.replace(sign, sign + _PLAIN)
    anchor = "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
    return (
        f'<text x="{item.x:.5g}" y="{item.y:.5g}" font-size="{item.size:g}" '
        f'fill="{item.color}"{anchor}>{words}</text>'
    )


class Picture:
    """A position that notebooks show as a picture and terminals as text.

    Args:
        view: N rows; only what this player may see is shown.
        row: which row of the view.
        opponent: the opponent's view of the same games: then their cards are shown too.
        names: what the viewer and the opponent are called.
    """

    def __init__(
        self,
        view: View,
        row: int = 0,
        *,
        opponent: View | None = None,
        names: Sequence[str] = NAMES,
    ) -> None:
        self._html = position_html(view, row, opponent=opponent, names=names)
        self._text = position_text(view, row, opponent=opponent, names=names)

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text
