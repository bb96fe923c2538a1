"""A position for notebooks and pages: SVG, and HTML around it."""

from collections.abc import Sequence

from ginrummy_env.core.view import View
from ginrummy_env.render.position import NAMES
from ginrummy_env.render.text import position_text


def position_svg(
    view: View, row: int = 0, *, opponent: View | None = None, names: Sequence[str] = NAMES
) -> str:
    """Return a position as one self-contained SVG; the arguments of `text.position_text`."""
    raise NotImplementedError


def position_html(
    view: View, row: int = 0, *, opponent: View | None = None, names: Sequence[str] = NAMES
) -> str:
    """Return a position as self-contained HTML; the arguments of `text.position_text`."""
    raise NotImplementedError


class Picture:
    """A position that notebooks show as a picture and terminals as text.

    Args:
        view: N rows; only what this player may see is shown.
        row: which row of the view.
        opponent: the opponent's view of the same games: then his cards are shown too.
        names: what the viewer and his opponent are called.
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
