"""The best rule agent here, for each preset: one draw ahead, tuned, and quick to end a won game."""

from dataclasses import dataclass

import numpy as np

from agents.common import ANY_DEADWOOD, parameter
from agents.lookahead import Lookahead, own_turns
from ginrummy_env.core.cards import Points, Rows
from ginrummy_env.core.view import ME, View

BY_THE_RULES = -1
DEAR_UNDERCUT = 15
"""Undercut bonus from which waiting for gin pays against one who knocks at once."""


@dataclass(frozen=True)
class Champion(Lookahead):
    """Plays as `Lookahead` does, with settings found by sweeps, and knows the score.

    - Knock: in the first own turns with all that the rules allow (3 turns where an undercut is
      worth 15 or more, else 7), later with gin only; and whenever at most ``closing`` points are
      missing to the target, since then most won deals win the game.
    - Discard: what it gives the opponent weighs more than in `Lookahead`, the next draw less.

    Settings were compared against `simple` on the same decks (``python -m training.sweep``, tables
    in ``docs/AGENTS.md``) and confirmed on other seeds.
    """

    knock_turns: int = parameter(
        BY_THE_RULES, "own turns of knocking; -1: by the undercut bonus", BY_THE_RULES, 10000
    )
    danger: float = parameter(1.5, "weight of what the discard gives the opponent", -100, 100)
    weight: float = parameter(14.0, "weight of the next draw in the first turn", 0, 1000)
    closing: int = parameter(10, "points to go from which any knock is taken", 0, 10000)

    def limits(self, view: View, rows: Rows) -> Points:
        """Knock in the first turns and where it may win the game; else wait for gin."""
        turns = self.knock_turns
        if turns == BY_THE_RULES:
            turns = 3 if view.rules.undercut_bonus >= DEAR_UNDERCUT else 7
        early = own_turns(view, rows) <= turns
        to_go = view.rules.target - view.scores[rows, ME]
        limits = np.where(early, self.knock, self.later)
        return np.where(to_go <= self.closing, ANY_DEADWOOD, limits).astype(np.int16)
