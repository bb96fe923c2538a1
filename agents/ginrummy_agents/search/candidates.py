"""Which actions a search weighs: the base policy's, and the few others that may be better."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.rules.base import lowers_deadwood, staying
from ginrummy_agents.rules.lookahead import Lookahead
from ginrummy_agents.rules.work_lists import cards_listed, dearest, least_discards, lowest
from ginrummy_agents.search.rollout import melds
from ginrummy_env.core.actions import BIG_GIN, DRAW_STOCK, KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Hands, Rows
from ginrummy_env.core.view import View

WITHIN = 6
"""Discards that leave more points than the best by this many are not weighed."""


@dataclass(slots=True)
class Candidates:
    """The actions weighed in each of N positions, those of one side by side, the base's first."""

    rows: Rows  # [C] ascending
    actions: NDArray[np.int16]  # [C]
    starts: Rows  # [N]

    def select(self, rows: Rows) -> "Candidates":
        """Return the candidates of these positions, which ascend."""
        place = np.full(len(self.starts), -1)
        place[rows] = np.arange(len(rows))
        kept = np.flatnonzero(place[self.rows] >= 0)
        new = place[self.rows[kept]]
        return Candidates(new, self.actions[kept], np.searchsorted(new, np.arange(len(rows))))


def candidates_of(view: View, base: NDArray[np.int16], discards: int) -> Candidates:
    """Return what is weighed in each position.

    - Draw: the upcard if it melds or lowers the deadwood, and the other choice.
    - Discard: the base's, and of those that leave at most `WITHIN` points more than the best the
      ones that `Lookahead` likes best, ``discards`` in all. Gin is not weighed but done.
    - Knock: with the discard that leaves least, the dearest of these; if the base policy knocks,
      a discard without a knock too.

    Args:
        view: N rows, the viewers to move in phase OPENING, DRAW or DISCARD.
        base: [N] the base policy's actions.
        discards: most discards weighed.
    """
    rows = [np.arange(len(view))]
    actions = [base.astype(np.int16)]
    drawing = np.flatnonzero(view.phase != Phase.DISCARD)
    if drawing.size:
        hands, upcards = view.hand[drawing], CARD_BIT[view.upcard[drawing]]
        takes = base[drawing] == TAKE_UPCARD
        useful = takes | melds(hands, upcards) | lowers_deadwood(view, drawing)
        opening = view.phase[drawing] == Phase.OPENING
        other = np.where(takes, np.where(opening, PASS, DRAW_STOCK), TAKE_UPCARD)
        rows.append(drawing[useful])
        actions.append(other[useful].astype(np.int16))
    discarding = np.flatnonzero(view.phase == Phase.DISCARD)
    if discarding.size:
        least, best = least_discards(view.hand[discarding], staying(view, discarding))
        gin = (least == 0) | (base[discarding] == BIG_GIN)
        actions[0][discarding[(least == 0) & (base[discarding] != BIG_GIN)]] = (
            lowest(best[(least == 0) & (base[discarding] != BIG_GIN)]) + KNOCK
        )
        discarding, least, best = discarding[~gin], least[~gin], best[~gin]
    if discarding.size:
        knock = lowest(dearest(best)) + KNOCK
        may = (least <= view.knock_limit[discarding]) & (base[discarding] < KNOCK)
        rows.append(discarding[may])
        actions.append(knock[may].astype(np.int16))
        others, cards = _discards(view, discarding, base[discarding], least, discards)
        rows.append(others)
        actions.append(cards)
    every, acts = np.concatenate(rows), np.concatenate(actions)
    order = np.argsort(every, kind="stable")
    every = every[order]
    return Candidates(every, acts[order], np.searchsorted(every, np.arange(len(view))))


def _discards(
    view: View,
    rows: Rows,
    base: NDArray[np.int16],
    least: NDArray[np.uint8],
    most: int,
) -> tuple[Rows, NDArray[np.int16]]:
    """Return the discards that `Lookahead` likes best, without the base's."""
    hands = view.hand[rows]
    allowed: Hands = hands & ~staying(view, rows)
    places, cards = cards_listed(allowed)
    left = deadwood(hands[places] & ~CARD_BIT[cards])
    near = left <= least[places].astype(np.int16) + WITHIN
    places, cards = places[near], cards[near]
    values = Lookahead().values(view, rows[places], cards)
    values[cards == base[places]] = -np.inf
    order = np.lexsort((cards, values, places))
    places, cards = places[order], cards[order]
    rank = np.arange(len(places)) - np.searchsorted(places, places)
    kept = (rank < most) & (cards != base[places])
    return rows[places[kept]], cards[kept].astype(np.int16)
