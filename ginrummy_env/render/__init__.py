"""A position for people: as text, as pixels, and for notebooks.

Everything here is drawn from a row of a `View`, so what the player may not see cannot show. Both
hands are drawn only where the opponent's view of the same game is handed over too (``opponent=``).
Importing this package loads nothing heavy: pygame is loaded by the first `PixelRenderer`.

``ginrummy render --help`` draws positions from the command line.
"""

from ginrummy_env.render.html import Picture, position_html, position_svg
from ginrummy_env.render.pixels import PixelRenderer
from ginrummy_env.render.text import position_line, position_text

__all__ = [
    "Picture",
    "PixelRenderer",
    "position_html",
    "position_line",
    "position_svg",
    "position_text",
]
