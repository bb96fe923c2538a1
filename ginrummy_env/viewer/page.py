"""A record as one page: style, script and data in one file, which needs no network."""

import json
import os
from html import escape
from importlib.resources import files
from typing import Any

from ginrummy_env.core.actions import BIG_GIN, DRAW_STOCK, KNOCK, TAKE_UPCARD
from ginrummy_env.core.cards import NO_CARD
from ginrummy_env.core.checks import real, whole
from ginrummy_env.core.rules import rules_name
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.view import make_view
from ginrummy_env.files import write_whole
from ginrummy_env.records.recorder import DealRecord, GameRecord, complete, replay
from ginrummy_env.render.reading import read_position
from ginrummy_env.render.text import sign_name
from ginrummy_env.viewer.scene import CARD_NAMES, Json, action_words, decision, frame, sheet

MARGIN = 0.02
"""A decision worth so much less than the best candidate counts as a mistake, unless
changed; the page lets one change it. In the unit of the record's values."""

FRAME_HEIGHT = 760


class Replay:
    """A recorded game to look at: notebooks show it, `save` writes it.

    Args:
        record: a game or a part of one.
        viewer: 0 or 1: the page holds only what this player sees. None: both hands, and the page
            can be switched to one player's view.
        margin: see `MARGIN`.

    Raises:
        RecordError: the rules do not allow the record.
        ValueError: an invalid viewer, a margin below 0.
    """

    def __init__(
        self, record: GameRecord, *, viewer: int | None = None, margin: float = MARGIN
    ) -> None:
        viewer = None if viewer is None else whole("viewer", viewer, 0, 1, or_="None")
        margin = real("margin", margin, 0)
        (self.record,) = complete([record])
        self.viewer, self.margin = viewer, margin
        self.names = _distinct(self.record.players or ("player 0", "player 1"))

    @property
    def data(self) -> Json:
        """What the page shows, as plain values."""
        frames: list[Json] = []
        sums: dict[int, str] = {}
        for deal, states in zip(self.record.deals, replay(self.record), strict=True):
            frames += self._frames(deal, states, sums)
        return {
            "names": list(self.names),
            "rules": rules_name(self.record.rules),
            "viewer": self.viewer,
            "margin": self.margin,
            "cards": CARD_NAMES,
            "frames": frames,
            "sheet": sheet(self.record, self.names, sums),
        }

    @property
    def html(self) -> str:
        """The page."""
        title = f"{self.names[0]} – {self.names[1]}"
        return _page("replay.html", ("table.js", "replay.js"), self.data, title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, which is replaced as a whole or not at all."""
        write_whole(path, self.html)

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that its style does not touch the notebook."""
        return (
            f'<iframe title="Gin rummy: replay" sandbox="allow-scripts" '
            f'style="width:100%;height:{FRAME_HEIGHT}px;border:0" srcdoc="{escape(self.html)}">'
            "</iframe>"
        )

    def __repr__(self) -> str:
        """Return it in a line, for where no page can be shown."""
        deals = len(self.record.deals)
        return f"<Replay of {self.names[0]} – {self.names[1]}, {deals} deals>"

    def _frames(self, deal: DealRecord, states: BatchState, sums: dict[int, str]) -> list[Json]:
        """Return the positions of a deal; puts how its points add up into ``sums``."""
        rules = self.record.rules
        players = (0, 1) if self.viewer is None else (self.viewer,)
        views = {player: make_view(states, rules, player) for player in players}
        annotations = {annotation.step: annotation for annotation in deal.annotations}
        drawn = states.drawn_card.tolist()
        frames = []
        for row, action in enumerate((*deal.actions, None)):
            positions = {
                player: read_position(view, row, names=(self.names[player], self.names[1 - player]))
                for player, view in views.items()
            }
            entry = frame(positions)
            entry["step"] = row
            mover = int(states.player[row])
            upcard = int(states.upcard[row])
            if self.viewer is None:
                entry["say"]["open"] = list(entry["say"][str(mover if action is not None else 0)])
                if row and not entry["over"]:
                    before = int(states.player[row - 1])
                    done = self._deed(deal.actions[row - 1], drawn[row], states, row - 1)
                    entry["say"]["open"][0] = f"{self.names[before]}: {done}."
            if action is not None:
                entry["knock"] = KNOCK <= action < DRAW_STOCK or action == BIG_GIN
                if row in annotations and mover in players:
                    entry["decision"] = decision(annotations[row], action, upcard)
                    entry["decision"]["player"] = mover
            else:
                one = next(iter(positions.values()))
                if deal.end is not None:
                    sums[deal.number] = one.sum_words()
            frames.append(entry)
        return frames

    def _deed(self, action: int, drawn: int, states: BatchState, row: int) -> str:
        """Return what was done, with the card that came."""
        if action == DRAW_STOCK and drawn != NO_CARD:
            return f"draws {sign_name(drawn)} from the stock"
        if action == TAKE_UPCARD:
            return f"takes {sign_name(int(states.upcard[row]))}"
        if action == BIG_GIN:
            return "lays down big gin"
        verb, _, rest = action_words(action).partition(" ")
        return f"{verb}{'es' if verb == 'pass' else 's'} {rest}".rstrip()


def _distinct(names: tuple[str, str]) -> tuple[str, str]:
    """Return names of which the parts that sentences show differ.

    >>> _distinct(("simple", "simple"))
    ('0 simple', '1 simple')
    """
    first, second = names
    alike = first[:SHOWN] == second[:SHOWN]
    return (f"0 {first}", f"1 {second}") if alike else names


SHOWN = 15
"""Letters of a name that are left where it is cut short."""


def static(name: str) -> str:
    """Return a file of the pages: style, script or markup."""
    return files("ginrummy_env.viewer").joinpath("static", name).read_text(encoding="utf-8")


def embed(data: Any) -> str:
    r"""Return plain values as JSON that is safe inside a script element.

    >>> embed({"name": "</script>"})
    '{"name":"\\u003c/script>"}'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _page(markup: str, scripts: tuple[str, ...], data: Json, title: str) -> str:
    """Return markup with everything that it needs inside."""
    parts = {
        "title": escape(title),
        "style": static("viewer.css"),
        "data": embed(data),
        "script": "\n".join(map(static, scripts)),
    }
    first, *pieces = static(markup).split("{{")
    page = [first]
    for piece in pieces:
        name, _, rest = piece.partition("}}")
        page += [parts[name], rest]
    return "".join(page)
