"""What the rule agents share: dispatch by phase.

A rule agent answers three questions, each for many positions at once: does it take the upcard,
which card does it discard, and with how much deadwood does it knock. `RuleAgent.act` asks them
where they arise and turns the answers into actions that are legal under any rules.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.parameters import Parametrized
from ginrummy_agents.rules.work_lists import least_discards, lowest
from ginrummy_env.core.actions import BIG_GIN, DRAW_STOCK, KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT
from ginrummy_env.core.chance import Random
from ginrummy_env.core.deadwood import deadwood, least_after_discard
from ginrummy_env.core.legal import can_take_at_wall, forbidden_cards
from ginrummy_env.core.melds import cards_in_runs, suits_of_rank
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Cards, Flags, Hands, Int8, Points, Rows, Uniforms
from ginrummy_env.core.view import View

ANY_DEADWOOD = 98
"""No ten cards have more: a player who knocks with this much knocks as soon as the rules allow."""


@dataclass(frozen=True)
class RuleAgent(Parametrized, ABC):
    """A policy that is asked three questions. Its dataclass fields are its parameters.

    It has no memory: what it does is a function of the view and of one uniform number per row, so a
    game does not depend on the batch around it.
    """

    @abstractmethod
    def takes(self, view: View, rows: Rows) -> Flags:
        """Return whether the upcard is taken in each of the rows, [K] bool."""

    @abstractmethod
    def discards(self, view: View, rows: Rows, uniforms: Uniforms) -> Cards:
        """Return the card that goes in each of the rows, [K] integers.

        Args:
            view: N rows.
            rows: [K] rows in which eleven cards are held.
            uniforms: [K] one random number a row, to choose among equals.
        """

    def limits(self, view: View, rows: Rows) -> Points:
        """Return the most deadwood to knock with in each of the rows; negative: no knock at all.

        The rules' own limit holds, too.
        """
        return np.full(len(rows), ANY_DEADWOOD, dtype=np.int16)

    def knocks(self, view: View, rows: Rows, cards: Cards, left: Points) -> Flags:
        """Return whether it knocks with the card that goes, [K] bool, within the rules' limit.

        Args:
            view: N rows.
            rows: [K] row numbers.
            cards: [K] the card that goes.
            left: [K] the deadwood that it leaves.
        """
        return left <= self.limits(view, rows)

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row, -1 where it is not the viewer's move.

        Args:
            view: N rows.
            rng: one number per row is drawn from it.
        """
        uniforms = rng.random((len(view),))
        phases = np.where(view.to_move, view.phase, np.int8(Phase.DEAL_OVER))
        actions = _ACTION_OF_PHASE[phases]
        rows = _OFFERS_UPCARD[phases].nonzero()[0]
        if rows.size:
            actions[rows[self.takes(view, rows)]] = TAKE_UPCARD
        if view.rules.at_void_stock == "knock_with_discard":
            # Whoever takes the upcard at the wall has to knock: all take what lets them.
            rows = (phases == Phase.WALL).nonzero()[0]
            limits = view.knock_limit[rows]
            able = can_take_at_wall(view.hand[rows], view.upcard[rows], limits, view.rules)
            actions[rows] = np.where(able, TAKE_UPCARD, PASS)
        rows = (phases == Phase.DISCARD).nonzero()[0]
        if rows.size:
            actions[rows] = self._discard_or_knock(view, rows, uniforms[rows])
        return actions

    def _discard_or_knock(self, view: View, rows: Rows, uniforms: Uniforms) -> NDArray[np.int16]:
        """Return a discard, a knock with that discard, or big gin."""
        hands = view.hand[rows]
        cards = self.discards(view, rows, uniforms)
        left = deadwood(hands & ~CARD_BIT[cards])
        knocks = self.knocks(view, rows, cards, left) & (left <= view.knock_limit[rows])
        if view.rules.at_void_stock == "knock_with_discard":
            bound = (view.stock_count[rows] <= view.rules.void_stock) & (view.taken_card[rows] >= 0)
            some = bound.nonzero()[0]
            if some.size:
                cards = cards.copy()
                cards[some] = lowest(least_discards(hands[some], staying(view, rows[some]))[1])
                knocks |= bound
        actions = cards.astype(np.int16)
        actions[knocks] += KNOCK
        if view.rules.big_gin:
            actions[deadwood(hands) == 0] = BIG_GIN
        return actions


# What is done in each phase without taking the upcard; -1: no move, or still to be found.
_ACTION_OF_PHASE = np.full(len(Phase), -1, dtype=np.int16)
_ACTION_OF_PHASE[[Phase.OPENING, Phase.WALL]] = PASS
_ACTION_OF_PHASE[[Phase.FIRST_DRAW, Phase.DRAW]] = DRAW_STOCK
_OFFERS_UPCARD = np.isin(np.arange(len(Phase)), [Phase.OPENING, Phase.DRAW, Phase.WALL])


def staying(view: View, rows: Rows) -> Hands:
    """Return the card that may not be discarded as a mask, [K] uint64; 0 where all may."""
    return CARD_BIT[forbidden_cards(view.taken_card[rows], view.rules)]


def lowers_deadwood(view: View, rows: Rows) -> Flags:
    """Return whether some discard after taking the upcard leaves less deadwood, [K] bool."""
    hands, upcards = view.hand[rows], view.upcard[rows]
    taken = least_after_discard(hands | CARD_BIT[upcards], forbidden_cards(upcards, view.rules))
    return taken < deadwood(hands)


def makes_meld(hands: Hands, cards: Int8) -> Flags:
    """Return whether each card is in some meld of itself and the hand, useful or not.

    Args:
        hands: [K] uint64, without the card.
        cards: [K] int8.

    Returns:
        [K] bool.
    """
    bits = CARD_BIT[cards]
    others = np.bitwise_count(suits_of_rank(hands, cards % 13))
    return ((cards_in_runs(hands | bits) & bits) != 0) | (others >= 2)
