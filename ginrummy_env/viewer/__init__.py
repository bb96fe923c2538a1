"""Games to look at: a record as one page that needs nothing else, in a browser or a notebook.

>>> from ginrummy_env.core.game import new_games
>>> from ginrummy_env.records.recorder import record_of
>>> from ginrummy_env.core.rules import CLASSIC
>>> page = Replay(record_of(new_games(5, 1, CLASSIC), 0, CLASSIC)).html
>>> page.startswith("<!doctype html>")
True
"""

from ginrummy_env.viewer.page import MARGIN, Replay

__all__ = ["MARGIN", "Replay"]
