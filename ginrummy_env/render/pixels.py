"""A position as pixels, drawn with pygame (the extra ``render``)."""

import os
import re
from collections.abc import Sequence
from os import PathLike
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.checks import whole
from ginrummy_env.core.view import View
from ginrummy_env.render import layout
from ginrummy_env.render.layout import Box, Card, Item, Suit, Text, card_items, lay_out
from ginrummy_env.render.position import NAMES
from ginrummy_env.render.reading import read_position
from ginrummy_env.render.text import SUIT_SIGNS

_FINE = 3
"""Everything is painted this many times as large and then made smaller, for smooth edges."""

_FONT = 1.4
"""pygame counts a font's size by the height of its lines, SVG by that of its letters' body."""

Surface = Any
"""pygame.Surface, whose module is loaded only when there is something to draw."""


def _load_pygame() -> ModuleType:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
        import pygame.font
    except ImportError as error:
        raise ImportError(
            "pixels are drawn by pygame-ce, which the extra 'render' brings: "
            "pip install -e '.[render]'"
        ) from error
    return pygame


class PixelRenderer:
    """Draws positions, into arrays or into a window.

    Args:
        width: of the picture in pixels; the height is two thirds of it.

    Raises:
        ImportError: pygame is missing; names the extra that brings it.
        ValueError: a width below 90.
    """

    def __init__(self, width: int = layout.WIDTH) -> None:
        width = whole("width", width, 90)
        self.size = (width, width * layout.HEIGHT // layout.WIDTH)
        self.closed = False
        """Whether the window was there and has been closed, by `close` or by the person."""
        self._pygame = _load_pygame()
        self._pygame.font.init()
        self._large = self._pygame.Surface([_FINE * pixels for pixels in self.size], depth=32)
        self._scale = _FINE * width / layout.WIDTH
        self._fonts: dict[int, Any] = {}
        self._window: Surface | None = None
        self._clock: Any = None

    def draw(
        self,
        view: View,
        row: int = 0,
        *,
        opponent: View | None = None,
        names: Sequence[str] = NAMES,
    ) -> NDArray[np.uint8]:
        """Return a position as [H, W, 3] uint8; no window is opened.

        The arguments are those of `text.position_text`.
        """
        surface = self._paint(view, row, opponent, names)
        buffer = self._pygame.image.tobytes(surface, "RGB")
        width, height = self.size
        return np.frombuffer(buffer, dtype=np.uint8).reshape(height, width, 3).copy()

    def save(
        self,
        path: str | PathLike[str],
        view: View,
        row: int = 0,
        *,
        opponent: View | None = None,
        names: Sequence[str] = NAMES,
    ) -> None:
        """Write a position to an image file; its suffix says which kind (.png, .jpg, .bmp)."""
        surface = self._paint(view, row, opponent, names)
        self._pygame.image.save(surface, os.fspath(path))

    def show(
        self,
        view: View,
        row: int = 0,
        *,
        opponent: View | None = None,
        names: Sequence[str] = NAMES,
        fps: float | None = None,
    ) -> None:
        """Show a position in a window, which the first call opens.

        Does nothing once the person has closed the window.

        Args:
            view: N rows; this and the others as in `text.position_text`.
            row: which of them.
            opponent: the opponent's view, to show their cards too.
            names: what the two are called.
            fps: wait so that no more pictures a second are shown; no waiting if None.
        """
        if self.closed:
            return
        pygame = self._pygame
        if self._window is None:
            pygame.display.init()
            pygame.display.set_caption("Gin rummy")
            self._window = pygame.display.set_mode(self.size)
            self._clock = pygame.time.Clock()
        self._window.blit(self._paint(view, row, opponent, names), (0, 0))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
        elif fps is not None:
            self._clock.tick(fps)

    def close(self) -> None:
        """Close the window, if there is one. May be called twice."""
        if self._window is not None:
            self._pygame.display.quit()
            self._window = None
            self.closed = True

    def __reduce__(self) -> tuple[type, tuple[int]]:
        """Copy and pickle as a renderer of the same size, without the window."""
        return type(self), (self.size[0],)

    def __enter__(self) -> "PixelRenderer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _paint(self, view: View, row: int, opponent: View | None, names: Sequence[str]) -> Surface:
        position = read_position(view, row, opponent=opponent, names=names)
        for item in lay_out(position):
            self._item(self._large, item)
        return self._pygame.transform.smoothscale(self._large, self.size)

    def _box(self, large: Surface, box: Box) -> None:
        s = self._scale
        rect = self._pygame.Rect(
            round(box.x * s), round(box.y * s), round(box.width * s), round(box.height * s)
        )
        radius = round(box.radius * s)
        self._pygame.draw.rect(large, box.fill, rect, border_radius=radius)
        if box.stroke:
            line = max(1, round(box.line * s))
            self._pygame.draw.rect(large, box.stroke, rect, line, border_radius=radius)

    def _text(self, large: Surface, text: Text) -> None:
        """Write a line; the font has no suits, so these are drawn as shapes."""
        size = round(text.size * self._scale * _FONT)
        if size not in self._fonts:
            self._fonts[size] = self._pygame.font.Font(None, size)
        font = self._fonts[size]
        parts = [
            part if part in SUIT_SIGNS else font.render(part, True, text.color)
            for part in re.split(f"([{SUIT_SIGNS}])", text.text)
            if part
        ]
        widths = [size * 0.6 if isinstance(part, str) else part.get_width() for part in parts]
        x = text.x * self._scale - {"start": 0, "middle": 0.5, "end": 1}[text.anchor] * sum(widths)
        base = text.y * self._scale
        for part, width in zip(parts, widths, strict=True):
            if isinstance(part, str):
                high = size * 0.52
                suit = SUIT_SIGNS.index(part)
                self._suit(large, suit, x + width / 2, base - high * 0.47, high, text.color)
            else:
                large.blit(part, (round(x), round(base - font.get_ascent())))
            x += width

    def _suit(self, large: Surface, suit: int, x: float, y: float, size: float, color: str) -> None:
        """Draw a suit around a place of the large picture."""
        points = (_OUTLINES[suit] - 50) * (size / 100) + (x, y)
        self._pygame.draw.polygon(large, color, points.tolist())

    def _item(self, large: Surface, item: Item) -> None:
        if isinstance(item, Card):
            for part in card_items(item):
                self._item(large, part)
        elif isinstance(item, Suit):
            s = self._scale
            self._suit(large, item.suit, item.x * s, item.y * s, item.size * s, item.color)
        elif isinstance(item, Box):
            self._box(large, item)
        else:
            self._text(large, item)


def _outline(path: str) -> NDArray[np.float64]:
    """Return the corners of a path of M, L, C and Z as [K, 2], its curves cut into short lines."""
    words = path.split()
    points: list[tuple[float, float]] = []
    place = 0
    steps = np.linspace(0, 1, 13)[1:, None]
    while words[place] != "Z":
        count = 3 if words[place] == "C" else 1
        numbers = np.array(words[place + 1 : place + 1 + 2 * count], dtype=float).reshape(-1, 2)
        place += 1 + 2 * count
        if count == 1:
            points.append(tuple(numbers[0]))
            continue
        a, (b, c, d) = np.array(points[-1]), numbers
        t, u = steps, 1 - steps
        curve = u**3 * a + 3 * u**2 * t * b + 3 * u * t**2 * c + t**3 * d
        points.extend(map(tuple, curve))
    return np.array(points)


_OUTLINES = [_outline(path) for path in layout.SUIT_PATHS]
