"""An agent of your own, as CONTRIBUTING.md adds one: early it knocks with anything, later it waits.

From this folder: ``ginrummy match my_agent:EarlyBird simple --rules eaai --games 2000``
"""

from dataclasses import dataclass

import numpy as np

from ginrummy_agents.parameters import parameter
from ginrummy_agents.rules.base import ANY_DEADWOOD, RuleAgent, lowers_deadwood, staying
from ginrummy_agents.rules.work_lists import least_discards, pick_one
from ginrummy_env.core.types import Cards, Flags, Points, Rows, Uniforms
from ginrummy_env.core.view import View


@dataclass(frozen=True)
class EarlyBird(RuleAgent):
    """Keeps what leaves least deadwood; knocks at once up to a turn, and with little after it."""

    early: int = parameter(8, "last turn to knock with anything", 0)
    later: int = parameter(4, "most deadwood to knock with after that turn", 0, ANY_DEADWOOD)

    def takes(self, view: View, rows: Rows) -> Flags:
        """Take the upcard where it lowers deadwood."""
        return lowers_deadwood(view, rows)

    def discards(self, view: View, rows: Rows, uniforms: Uniforms) -> Cards:
        """Discard to least deadwood; equal cards are chosen among at random."""
        _, cards = least_discards(view.hand[rows], staying(view, rows))
        return pick_one(cards, uniforms)

    def limits(self, view: View, rows: Rows) -> Points:
        """Knock with anything early, with ``later`` or less afterwards."""
        limits = np.where(view.turn[rows] <= self.early, ANY_DEADWOOD, self.later)
        return limits.astype(np.int16)
