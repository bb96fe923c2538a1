"""What the environments' ``render()`` does: text, pixels or a window."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.checks import flag, one_of
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.view import make_view

RENDER_MODES = ["ansi", "rgb_array", "human"]
RENDER_FPS = 2


class Screen:
    """Shows one row of a state as its player sees it.

    Args:
        mode: "ansi" (text), "rgb_array" (pixels), "human" (a window) or None (nothing).
        open_cards: whether the opponent's cards are shown too; off, nothing hidden is.

    Raises:
        ValueError: another mode.
    """

    def __init__(self, mode: str | None, open_cards: bool = False) -> None:
        if mode is not None:
            one_of("render_mode", mode, RENDER_MODES)
        self.mode = mode
        self.open_cards = flag("open_cards", open_cards)
        self._pixels: Any = None

    def show(self, state: BatchState, rules: Rules, row: int, player: int) -> Any:
        """Return text ("ansi") or [H, W, 3] uint8 ("rgb_array"), or show a window ("human").

        Args:
            state: N games.
            rules: their settings.
            row: which of them.
            player: whose view is shown.
        """
        one = state.select([row])
        view = make_view(one, rules, [player])
        other = make_view(one, rules, [1 - player]) if self.open_cards else None
        if self.mode == "ansi":
            from ginrummy_env.render import position_text

            return position_text(view, opponent=other)
        if self.mode is None:
            gymnasium.logger.warn("render() shows nothing without a render_mode")
            return None
        if self._pixels is None:
            from ginrummy_env.render import PixelRenderer

            self._pixels = PixelRenderer()
        if self.mode == "human":
            self._pixels.show(view, opponent=other, fps=RENDER_FPS)
            return None
        pixels: NDArray[np.uint8] = self._pixels.draw(view, opponent=other)
        return pixels

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._pixels is not None:
            self._pixels.close()
            self._pixels = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the window out: a copy opens its own."""
        return {**self.__dict__, "_pixels": None}
