"""The baseline of the AAAI-21 challenge: take what melds, keep what leaves least, knock."""

from dataclasses import dataclass

import numpy as np

from ginrummy_agents.parameters import parameter
from ginrummy_agents.rules.base import ANY_DEADWOOD, RuleAgent, makes_meld, staying
from ginrummy_agents.rules.work_lists import cards_listed, least_discards, least_valued, pick_one
from ginrummy_env.core.actions import KNOCK, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.types import Cards, Flags, Hands, Points, Rows, Uniforms
from ginrummy_env.core.view import ME, View, players_of


@dataclass(frozen=True)
class Simple(RuleAgent):
    """Takes any card that melds, discards to least deadwood at random, knocks when it can.

    - Draw: the upcard iff it is in some meld of hand and upcard (it need not lower deadwood).
    - Discard: at random among the legal cards that leave least deadwood.
    - Never repeats a pair {card drawn, card discarded}, in either order, within a deal, so that
      two of them cannot hand each other the same cards for ever (see `repeated_pairs`).
    - Knock: at the first chance with ``knock`` or less; ``simple:0`` waits for gin.

    Source: ``SimpleGinRummyPlayer`` of the EAAI-21 gin rummy challenge (Gettysburg College).

    Waiting for gin (``simple:0``) wins 67.9 % of games against it under EAAI, 39.9 % under CLASSIC
    (docs/AGENTS.md).
    """

    knock: int = parameter(
        ANY_DEADWOOD, "most deadwood to knock with; 0: gin only", 0, ANY_DEADWOOD
    )

    def takes(self, view: View, rows: Rows) -> Flags:
        """Take what is in some meld."""
        return makes_meld(view.hand[rows], view.upcard[rows])

    def discards(self, view: View, rows: Rows, uniforms: Uniforms) -> Cards:
        """Discard one of the cards that leave least deadwood, but repeat no pair."""
        hands, stays = view.hand[rows], staying(view, rows)
        _, cards = least_discards(hands, stays)
        back = (CARD_BIT[view.taken_card[rows]] & view.discarded[rows, ME]).nonzero()[0]
        if back.size:
            legal = hands[back] & ~stays[back]
            others = legal & ~repeated_pairs(view.select(rows[back]))
            cards[back] = least_of(hands[back], np.where(others, others, legal))
        return pick_one(cards, uniforms)

    def limits(self, view: View, rows: Rows) -> Points:
        """Knock with ``knock`` or less."""
        return np.full(len(rows), self.knock, dtype=np.int16)


def least_of(hands: Hands, allowed: Hands) -> Hands:
    """Return the discards among those allowed that leave least deadwood, [K] uint64."""
    rows, cards = cards_listed(allowed)
    return least_valued(rows, cards, deadwood(hands[rows] & ~CARD_BIT[cards]))


def repeated_pairs(view: View) -> Hands:
    """Return the cards that, discarded now, would repeat a pair {card drawn, card discarded}.

    A card just drawn from the stock has never been in the player's hand, so it is in no pair yet:
    only a taken upcard can repeat one. It then was drawn or discarded in an earlier turn and has
    come back by way of the opponent, so the player has discarded it in this deal.

    Pairs are read from the history, which does not say which card a player drew from the stock: an
    earlier pair counts only if its drawn card was an upcard too. Nothing can go on for ever all the
    same: after a repeat of a pair begun from the stock, that pair is in the history.

    Args:
        view: N rows, an upcard taken in each.

    Returns:
        [N] uint64.
    """
    history = view.history.astype(np.int16)
    drew = (history == TAKE_UPCARD) & (players_of(view) == ME)
    # An upcard is what was discarded just before, or the first one of the deal.
    before = np.full_like(history, -1)
    before[:, 1:] = history[:, :-1]
    drawn = np.where((before >= 0) & (before < KNOCK), before, view.first_upcard[:, None])
    discarded = np.full_like(history, -1)
    discarded[:, :-1] = history[:, 1:]
    drew &= (discarded >= 0) & (discarded < KNOCK)  # this turn's take has no discard yet
    now = view.taken_card[:, None]
    partner = np.where(drawn == now, discarded, np.where(discarded == now, drawn, -1))
    return np.bitwise_or.reduce(CARD_BIT[np.where(drew, partner, -1)], axis=1)
