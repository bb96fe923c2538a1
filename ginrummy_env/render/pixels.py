"""A position as pixels, drawn with pygame (the extra ``render``)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.view import View
from ginrummy_env.render.position import NAMES

SIZE = (900, 600)


class PixelRenderer:
    """Draws positions, into arrays or into a window.

    Args:
        width: of the picture in pixels; the height is two thirds of it.

    Raises:
        ImportError: pygame is missing; names the extra that brings it.
    """

    def __init__(self, width: int = SIZE[0]) -> None:
        self.size = (width, width * SIZE[1] // SIZE[0])

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
        raise NotImplementedError

    def show(
        self,
        view: View,
        row: int = 0,
        *,
        opponent: View | None = None,
        names: Sequence[str] = NAMES,
        fps: float | None = None,
    ) -> None:
        """Show a position in a window, which the first call opens."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the window, if there is one. May be called twice."""

    def __enter__(self) -> "PixelRenderer":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
