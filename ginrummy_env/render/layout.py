"""Where everything of a picture goes: a list of boxes, cards and texts in a field of 900 by 600.

`pixels` paints the list, `html` writes it as SVG, so the two pictures are the same.
"""

from dataclasses import dataclass
from typing import Literal

from ginrummy_env.core.cards import NO_CARD, NUM_RANKS, RANK_LETTERS
from ginrummy_env.render.position import Group, Position, Side
from ginrummy_env.render.text import sign_name

WIDTH, HEIGHT = 900, 600
CARD_WIDTH, CARD_HEIGHT = 80, 112

FELT, PANEL, PLATE = "#1c5a48", "#143f33", "#174b3c"
INK, FAINT_INK, GOLD = "#f6f1e3", "#b4cfc3", "#f2c14e"
FACE, EDGE, BLACK, RED = "#fdfcf7", "#8f9a94", "#1d2430", "#c8202f"
BACK, BACK_LINE = "#31507f", "#9db4d6"

SUIT_PATHS = (
    "M 50 4 C 58 24 92 42 92 66 C 92 88 66 92 55 76 C 56 86 60 92 68 96 L 32 96 "
    "C 40 92 44 86 45 76 C 34 92 8 88 8 66 C 8 42 42 24 50 4 Z",
    "M 50 96 C 42 76 6 56 6 30 C 6 12 18 4 29 4 C 40 4 47 12 50 22 "
    "C 53 12 60 4 71 4 C 82 4 94 12 94 30 C 94 56 58 76 50 96 Z",
    "M 50 2 C 58 20 70 36 86 50 C 70 64 58 80 50 98 C 42 80 30 64 14 50 C 30 36 42 20 50 2 Z",
    "M 50 4 C 64 4 74 15 74 27 C 74 34 71 40 66 45 C 80 40 96 48 96 64 C 96 88 62 92 55 70 "
    "C 56 84 60 92 68 96 L 32 96 C 40 92 44 84 45 70 C 38 92 4 88 4 64 C 4 48 20 40 34 45 "
    "C 29 40 26 34 26 27 C 26 15 36 4 50 4 Z",
)
"""Spade, heart, diamond, club in a field of 100 by 100: M, L, C and Z, absolute."""


Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with round corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0
    stroke: str = ""
    line: float = 2
    """Width of the stroke."""


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text; y is where its letters stand. Suit signs in it are drawn as shapes."""

    x: float
    y: float
    text: str
    size: float
    color: str = INK
    anchor: Anchor = "start"


@dataclass(frozen=True, slots=True)
class Card:
    """A card, or its back (NO_CARD)."""

    x: float
    y: float
    card: int = NO_CARD
    bright: bool = False
    """With a golden edge."""
    dot: bool = False
    """With the dot of a card that the other player knows."""
    covered: bool = False
    """Whether the next card lies on its right half."""
    words: str = ""
    """What to say of it besides its name."""


@dataclass(frozen=True, slots=True)
class Suit:
    """The shape of a suit around a place."""

    x: float
    y: float
    suit: int
    size: float
    color: str


Item = Box | Text | Suit | Card

_LEFT, _CARDS, _RIGHT = 20, 196, WIDTH - 20
_GAP = 20


def lay_out(position: Position) -> list[Item]:
    """Return what to draw of a position, in this order."""
    items: list[Item] = [Box(0, 0, WIDTH, HEIGHT, FELT)]
    items += _header(position)
    items += _side(position, position.opponent, 62)
    items += _table(position, 218)
    items += _side(position, position.me, 374)
    items += _footer(position)
    return items


def _header(position: Position) -> list[Item]:
    limit = position.limit_words.capitalize()
    return [
        Box(0, 0, WIDTH, 46, PANEL),
        Text(_LEFT, 30, f"Deal {position.deal}, turn {position.turn}", 20),
        Box(WIDTH / 2 - 115, 8, 230, 30, GOLD, radius=15),
        Text(WIDTH / 2, 29, limit, 17, BLACK, "middle"),
        Text(_RIGHT, 29, f"{position.rules} to {position.target}", 17, FAINT_INK, "end"),
    ]


def _side(position: Position, side: Side, y: float) -> list[Item]:
    """Return a player's plate and cards."""
    bright = side.to_move or side.won_deal
    color = GOLD if bright else INK
    won = f"{side.deals_won} deal{'s' * (side.deals_won != 1)} won"
    items: list[Item] = [
        Box(_LEFT, y, 156, CARD_HEIGHT, PLATE, radius=10, stroke=GOLD if bright else PLATE),
        Text(_LEFT + 14, y + 28, side.name, 19 if len(side.name) < 11 else 14, color),
        Text(_LEFT + 14, y + 64, f"{side.score}", 30),
        Text(_LEFT + 14, y + 92, won, 14, FAINT_INK),
    ]
    if side.final_score is not None:
        items.append(Text(_LEFT + 142, y + 64, f"final {side.final_score}", 13, color, "end"))
    elif side.is_dealer:
        items.append(Text(_LEFT + 142, y + 64, "dealer", 14, FAINT_INK, "end"))
    items += _hand(position, side, y)
    if side is position.me and side.known and not position.over:
        known = f"known to {position.opponent.name}"
        items += [
            Box(_LEFT, y + CARD_HEIGHT + 10, 9, 9, GOLD, radius=4.5),
            Text(_LEFT + 14, y + CARD_HEIGHT + 19, known, 13, FAINT_INK),
        ]
    return items


def _hand(position: Position, side: Side, y: float) -> list[Item]:
    """Return the cards of a hand, group by group, as close together as the width asks for."""
    groups = list(side.groups)
    if side.unseen:
        groups.insert(0, Group("unseen", (NO_CARD,) * side.unseen))
    step = 44.0
    while sum(_width(group, step) + _GAP for group in groups) - _GAP > _RIGHT - _CARDS:
        step -= 1
    items: list[Item] = []
    x: float = _CARDS
    for group in groups:
        last = len(group.cards) - 1
        for place, card in enumerate(group.cards):
            drawn = card == position.drawn != NO_CARD
            items.append(
                Card(
                    x + place * _step(group, step),
                    y - 10 * drawn,
                    card,
                    bright=drawn,
                    dot=side is position.me and not position.over and card in side.known,
                    covered=place < last,
                    words=_words(group, drawn),
                )
            )
        items.append(Text(x, y + CARD_HEIGHT + 19, _label(group), 14, FAINT_INK))
        x += _width(group, step) + _GAP
    return items


def _step(group: Group, step: float) -> float:
    return min(step, 28.0) if group.kind == "unseen" else step


def _width(group: Group, step: float) -> float:
    """Return the width of a group and of its label (about, as fonts differ)."""
    cards = (len(group.cards) - 1) * _step(group, step) + CARD_WIDTH
    return max(cards, 7.5 * len(_label(group)))


def _label(group: Group) -> str:
    if group.kind == "unseen":
        return f"{len(group.cards)} unseen"
    if not group.onto:
        return group.label
    first, last = group.onto[0], group.onto[-1]
    low, high = RANK_LETTERS[first % NUM_RANKS], card_sign(last)
    return f"laid on {low}s" if first % NUM_RANKS == last % NUM_RANKS else f"laid on {low}–{high}"


def _words(group: Group, drawn: bool) -> str:
    onto = f" on {' '.join(map(card_sign, group.onto))}" if group.onto else ""
    return f"{group.kind}{onto}{', drawn' if drawn else ''}"


def _table(position: Position, y: float) -> list[Item]:
    """Return the stock and the discard pile."""
    count, pile = position.stock_count, position.pile
    cards = f"{count} card{'s' * (count != 1)}"
    items: list[Item] = [Text(_CARDS, y + 4 + CARD_HEIGHT + 19, f"stock {count}", 14, FAINT_INK)]
    for place in range(min(4, -(-count // 8))):
        items.append(Card(_CARDS + 3 * place, y + 4 - 3 * place, words=f"stock, {cards}"))
    if not count:
        items.append(Box(_CARDS, y + 4, CARD_WIDTH, CARD_HEIGHT, FELT, 8, FAINT_INK))
    x = _CARDS + CARD_WIDTH + 44.0
    if not pile:
        return [*items, Box(x, y + 4, CARD_WIDTH, CARD_HEIGHT, FELT, 8, FAINT_INK)]
    shown = pile[-15:]
    step = min(34.0, (_RIGHT - x - CARD_WIDTH) / max(1, len(shown) - 1))
    for place, card in enumerate(shown):
        top = place == len(shown) - 1
        words = "upcard" if top else "discard pile"
        items.append(Card(x + place * step, y + 4, card, covered=not top, words=words))
    label = f"discard pile {len(pile)}"
    return [*items, Text(x, y + 4 + CARD_HEIGHT + 19, label, 14, FAINT_INK)]


def _footer(position: Position) -> list[Item]:
    if position.over:
        result, points = position.result(card_sign), position.sum_words()
        first, second = position.game_result(), f"{result}  {points}"
        if not first:
            first, second = result, points
    else:
        first, second = position.to_do(card_sign), position.last_turn(card_sign)
    return [
        Box(0, HEIGHT - 70, WIDTH, 70, PANEL),
        Text(_LEFT, HEIGHT - 41, first, 20, GOLD),
        Text(_LEFT, HEIGHT - 15, second, 15, FAINT_INK),
    ]


def card_sign(card: int) -> str:
    """Return a card as sentences in a picture write it.

    >>> card_sign(22)
    'T♥'
    """
    return "–" if card == NO_CARD else sign_name(card)


def card_items(card: Card) -> list[Box | Text | Suit]:
    """Return what a card is drawn of."""
    x, y = card.x, card.y
    edge, line = (GOLD, 4.0) if card.bright else (EDGE, 1.0)
    items: list[Box | Text | Suit] = [Box(x, y, CARD_WIDTH, CARD_HEIGHT, FACE, 8, edge, line)]
    if card.card == NO_CARD:
        items.append(Box(x + 5, y + 5, CARD_WIDTH - 10, CARD_HEIGHT - 10, BACK, 5))
        items.append(
            Box(x + 11, y + 11, CARD_WIDTH - 22, CARD_HEIGHT - 22, BACK, 4, BACK_LINE, 1.5)
        )
        items.append(Suit(x + CARD_WIDTH / 2, y + CARD_HEIGHT / 2, 2, 26, BACK_LINE))
        return items
    suit, rank = card.card // NUM_RANKS, RANK_LETTERS[card.card % NUM_RANKS]
    color = RED if suit in (1, 2) else BLACK
    items += [
        Text(x + 16, y + 28, rank, 25, color, "middle"),
        Suit(x + 16, y + 44, suit, 19, color),
    ]
    if not card.covered:
        items.append(Suit(x + 50, y + 74, suit, 44, color))
    if card.dot:
        items.append(Box(x + 10, y + CARD_HEIGHT - 20, 10, 10, GOLD, 5))
    return items
