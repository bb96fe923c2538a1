"""A position as text: a page for a person, a line for a log."""

from collections.abc import Sequence
from dataclasses import replace

from ginrummy_env.core.cards import NO_CARD, RANK_LETTERS, SUIT_LETTERS, format_card
from ginrummy_env.core.view import View
from ginrummy_env.render.position import NAMES, Group, Position, Side
from ginrummy_env.render.reading import read_position

WIDTH = 80
SUIT_SIGNS = "♠♥♦♣"
_PILE_SHOWN = 12

_RED, _BOLD, _FAINT, _MARKED = "31", "1", "2", "4"
"""Codes of the terminal: red, bold, faint, underlined."""


def position_text(
    view: View,
    row: int = 0,
    *,
    opponent: View | None = None,
    names: Sequence[str] = NAMES,
    color: bool = False,
    ascii: bool = False,
) -> str:
    """Return a position as a page of text, at most 80 columns wide.

    Args:
        view: N rows; only what this player may see is shown.
        row: which row of the view.
        opponent: the opponent's view of the same games: then their cards are shown too.
        names: what the viewer and the opponent are called.
        color: with the colours of a terminal (ANSI escape codes).
        ascii: letters for the suits, and no other sign beyond ASCII.

    Raises:
        ValueError: no such row, or an ``opponent`` of another game.
    """
    position = read_position(view, row, opponent=opponent, names=names)
    text = _Page(position, color).text()
    return _to_ascii(text) if ascii else text


def position_line(
    view: View, row: int = 0, *, opponent: View | None = None, names: Sequence[str] = NAMES
) -> str:
    """Return a position in one line of ASCII, for logs; the arguments of `position_text`."""
    position = read_position(view, row, opponent=opponent, names=names)
    me, other = position.sides
    upcard = format_card(position.pile[-1] if position.pile else NO_CARD)
    hand = [f"{other.unseen} unseen"] if other.unseen else []
    hand += map(_group_line, other.groups)
    parts = [
        f"deal {position.deal} turn {position.turn}",
        f"{me.score}:{other.score}",
        f"limit {position.knock_limit}",
        f"stock {position.stock_count} upcard {upcard}",
        f"{me.name}: {' / '.join(map(_group_line, me.groups))}",
        f"{other.name}: {' / '.join(hand)}",
        position.to_do(format_card),
    ]
    return _to_ascii(" | ".join(parts))


def _group_line(group: Group) -> str:
    cards = " ".join(map(format_card, group.cards))
    return cards if group.kind in ("run", "set") else f"{group.label} {cards}"


def sign_name(card: int) -> str:
    """Return a card with the sign of its suit.

    >>> sign_name(22)
    'T♥'
    """
    if card == NO_CARD:
        return "--"
    return RANK_LETTERS[card % 13] + SUIT_SIGNS[card // 13]


_ASCII = str.maketrans(
    dict(zip(SUIT_SIGNS, SUIT_LETTERS, strict=True))
    | {"─": "-", "│": "|", "░": "#", "…": "..", "−": "-", "×": "x", "·": "-"}
)


def _to_ascii(text: str) -> str:
    return text.translate(_ASCII).encode("ascii", "replace").decode()


def _layoffs_together(groups: Sequence[Group]) -> list[Group]:
    """Return the groups with all lay-offs in one: they would be too wide side by side."""
    together: list[Group] = []
    for group in groups:
        if group.onto and together and together[-1].onto:
            before = together.pop()
            together.append(replace(before, cards=before.cards + group.cards))
        else:
            together.append(group)
    return together


class _Page:
    """Writes one position."""

    def __init__(self, position: Position, color: bool) -> None:
        self.position = position
        self.color = color
        self.indent = 2 + max(len("Stock"), *(len(side.name) for side in position.sides)) + 1

    def text(self) -> str:
        position = self.position
        me, other = position.sides
        lines = [*self.head(), "", *self.table(), ""]
        lines += [*self.hand(other), "", self.stock(), self.pile(), "", *self.hand(me)]
        lines += ["", *self.foot()]
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def style(self, text: str, code: str) -> str:
        if not self.color or not text:
            return text
        # A card's colour within the text ends in a reset: go on in the style of the text then.
        return f"\x1b[{code}m" + text.replace("\x1b[0m", f"\x1b[0;{code}m") + "\x1b[0m"

    def card(self, card: int) -> str:
        codes = [_RED] if card // 13 in (1, 2) else []
        if card == self.position.drawn:
            codes.append(_MARKED)
        return self.style(sign_name(card), ";".join(codes)) if codes else sign_name(card)

    def head(self) -> list[str]:
        position = self.position
        left = f" Deal {position.deal}, turn {position.turn}"
        right = f"{position.rules} to {position.target} · {position.limit_words}"
        space = max(1, WIDTH - 1 - len(left) - len(right))
        return [
            self.style(left, _BOLD) + " " * space + right,
            self.style(" " + "─" * (WIDTH - 2), _FAINT),
        ]

    def table(self) -> list[str]:
        sides = self.position.sides
        finals = any(side.final_score is not None for side in sides)
        heads = ["points", "deals won", *(["with bonuses"] * finals)]
        lines = [" " * self.indent + self.style("".join(f"{h:>14}" for h in heads), _FAINT)]
        for side in sides:
            numbers = [side.score, side.deals_won, *([side.final_score] * finals)]
            line = f"  {side.name}".ljust(self.indent) + "".join(f"{n:>14}" for n in numbers)
            lines.append(line + ("   dealer" if side.is_dealer else ""))
        return lines

    def hand(self, side: Side) -> list[str]:
        """Write a hand as groups, with what each is below it."""
        cells: list[tuple[str, int, str]] = []  # cards, their width, label
        if side.unseen:
            backs = " ".join(["░░"] * side.unseen)
            cells.append((self.style(backs, _FAINT), len(backs), f"{side.unseen} unseen"))
        for group in _layoffs_together(side.groups):
            cards = " ".join(map(self.card, group.cards))
            cells.append((cards, 3 * len(group.cards) - 1, group.label))
        above, below = f"  {side.name}".ljust(self.indent), " " * self.indent
        for place, (cards, width, label) in enumerate(cells):
            if place:
                above += self.style(" │ ", _FAINT)
                below += "   "
            above += cards + " " * (len(label) - width)
            below += self.style(label, _FAINT) + " " * (width - len(label))
        return [above, below]

    def stock(self) -> str:
        count = self.position.stock_count
        return "  Stock".ljust(self.indent) + f"{count} card{'s' * (count != 1)}"

    def pile(self) -> str:
        pile = self.position.pile
        line = "  Pile".ljust(self.indent)
        if not pile:
            return line + "empty"
        shown = [self.card(card) for card in pile[-_PILE_SHOWN:-1]]
        if len(pile) > _PILE_SHOWN:
            shown.insert(0, "…")
        shown.append(self.style("[", _BOLD) + self.card(pile[-1]) + self.style("]", _BOLD))
        return line + " ".join(shown)

    def foot(self) -> list[str]:
        position = self.position
        lines: list[str] = []
        if position.over:
            for side in position.sides:
                lines += [
                    f" {side.name} laid off {' '.join(map(self.card, group.cards))} "
                    f"on {' '.join(map(self.card, group.onto))}."
                    for group in side.groups
                    if group.onto
                ]
        else:
            if position.me.known:
                known = " ".join(map(self.card, position.me.known))
                lines.append(f" Known to {position.opponent.name}: {known}.")
            lines.append(f" {position.last_turn(self.card)}")
        last = [position.to_do(self.card), position.sum_words(), position.game_result()]
        return lines + [" " + self.style(line, _BOLD) for line in last if line]
