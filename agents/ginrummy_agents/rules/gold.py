"""The greedy agent: least deadwood now, knock at once."""

from dataclasses import dataclass

import numpy as np

from ginrummy_agents.parameters import parameter
from ginrummy_agents.rules.base import ANY_DEADWOOD, RuleAgent, lowers_deadwood, staying
from ginrummy_agents.rules.work_lists import dearest, least_discards, lowest
from ginrummy_env.core.types import Cards, Flags, Points, Rows, Uniforms
from ginrummy_env.core.view import View


@dataclass(frozen=True)
class Gold(RuleAgent):
    """Takes what lowers its deadwood at once, keeps what leaves least, knocks when it can.

    - Draw: the upcard iff some legal discard afterwards leaves less deadwood than there is now.
    - Discard: least deadwood; then the dearest card; then the lowest number.
    - Knock: at the first chance with ``knock`` or less.

    Source: "gold" of arXiv 2607.06854 (2026).

    Games won against `simple`: 46.9 % under EAAI, 45.6 % under CLASSIC (docs/AGENTS.md).
    """

    knock: int = parameter(
        ANY_DEADWOOD, "most deadwood to knock with; 0: gin only", 0, ANY_DEADWOOD
    )

    def takes(self, view: View, rows: Rows) -> Flags:
        """Take what lowers deadwood."""
        return lowers_deadwood(view, rows)

    def discards(self, view: View, rows: Rows, uniforms: Uniforms) -> Cards:
        """Discard to least deadwood, the dearest card first."""
        _, cards = least_discards(view.hand[rows], staying(view, rows))
        return lowest(dearest(cards))

    def limits(self, view: View, rows: Rows) -> Points:
        """Knock with ``knock`` or less."""
        return np.full(len(rows), self.knock, dtype=np.int16)
