"""Positions as PNG: what every viewer of notebooks shows, where SVG and HTML may be dropped."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from ginrummy_env.core.view import View, make_view
from ginrummy_env.records.data import GameRecord
from ginrummy_env.records.replay import replay
from ginrummy_env.render import PixelRenderer, position_text
from ginrummy_env.render.position import NAMES

WIDTH = 720
"""Pixels."""


@dataclass(frozen=True)
class Still:
    """A picture that notebooks show, and the same as text for where there are none."""

    png: bytes
    text: str

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return self.text


def position_picture(
    view: View, row: int = 0, *, opponent: View | None = None, names: Sequence[str] = NAMES
) -> Still:
    """Return a position as a picture.

    Args:
        view: N rows; only what this player may see is shown.
        row: which row of the view.
        opponent: the opponent's view of the same games: then their cards are shown too.
        names: what the viewer and the opponent are called.

    Raises:
        ImportError: pygame is missing; names the extra that brings it.
    """
    from PIL import Image

    with PixelRenderer(WIDTH) as renderer:
        pixels = renderer.draw(view, row, opponent=opponent, names=names)
    file = io.BytesIO()
    # A palette of 64 colors: a quarter of the bytes, and no difference to be seen.
    Image.fromarray(pixels).quantize(64, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return Still(file.getvalue(), position_text(view, row, opponent=opponent, names=names))


def last_position(record: GameRecord, names: Sequence[str] = NAMES) -> Still:
    """Return how the last deal of a record ends, both hands open.

    Args:
        record: a game or a part of one.
        names: of player 0, who is shown below, and of player 1.

    Raises:
        RecordError: the rules do not allow the record.
        ImportError: pygame is missing.
    """
    end = replay(record)[-1].select([-1])
    views = [make_view(end, record.rules, player) for player in (0, 1)]
    return position_picture(views[0], opponent=views[1], names=names)
