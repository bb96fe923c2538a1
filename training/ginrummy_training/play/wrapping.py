"""Text for a terminal of some width: lines are broken between words, below the words before."""

import re

_CODES = re.compile(r"\x1b\[[0-9;]*m")
"""Colours, which take no room."""

_RULES = "─-═="


def shown_width(text: str) -> int:
    r"""Return how many columns a text takes.

    >>> shown_width("\x1b[31mK♥\x1b[0m")
    2
    """
    return len(_CODES.sub("", text))


def wrapped(text: str, width: int) -> str:
    """Return a text whose lines take at most ``columns`` columns.

    What is broken goes on below where the words after a gap of two spaces began, else below the
    first word; a rule across the page is cut. A word that is longer than a line stays whole.

    >>> print(wrapped("  draw    take the top card of the stock", 24))
      draw    take the top
              card of the
              stock
    """
    return "\n".join(part for line in text.split("\n") for part in _parts(line, width))


def _parts(line: str, width: int) -> list[str]:
    if shown_width(line) <= width:
        return [line]
    bare = _CODES.sub("", line).strip()
    if set(bare) <= set(_RULES):
        return [line.replace(bare, bare[: width - shown_width(line)])]
    start = re.match(r"\s*", _CODES.sub("", line))
    begun = re.match(r"\s*\S+(?: \S+)?\s{2,}", _CODES.sub("", line))
    hang = len(start[0]) if start else 0
    if begun and len(begun[0]) <= width // 2:
        hang = len(begun[0])
    parts, now, gap = [], "", ""
    for piece in re.split(r"(\s+)", line):
        if piece.isspace() or not piece:
            gap += piece
        elif now.strip() and shown_width(now + gap + piece) > width:
            parts.append(now)
            now, gap = " " * hang + piece, ""
        else:
            now, gap = now + gap + piece, ""
    return [*parts, now]
