"""The best rule agent here: every choice is weighed by the points that it is worth."""

from dataclasses import dataclass

import numpy as np

from ginrummy_agents.rules.base import RuleAgent, lowers_deadwood, makes_meld, staying
from ginrummy_agents.rules.champion_features import (
    Features,
    Weights,
    estimate,
    keep_features,
    knock_features,
    stock_features,
    take_features,
    weights_of,
)
from ginrummy_agents.rules.lookahead import CHUNK, candidates
from ginrummy_agents.rules.work_lists import cards_listed, least_valued, pick_one
from ginrummy_env.core.cards import CARD_BIT
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.types import Cards, Flags, Hands, Points, Rows, Uniforms
from ginrummy_env.core.view import View


@dataclass(frozen=True)
class Champion(RuleAgent):
    """Weighs each choice by a linear estimate of the points that the deal is then worth.

    - Draw: where the upcard is in a meld or lowers deadwood, it is taken iff that is worth more
      than the stock; other upcards are left.
    - Discard: the candidate of `Lookahead` whose ten cards are worth most.
    - Knock: iff that is worth more than to keep the ten cards. So it knocks early, with much
      deadwood, while the opponent has taken nothing; with little deadwood it waits for gin and is
      safe from an undercut all the while.

    The estimates are in `worth`: deadwood, what the next draw can make of the hand, what the thrown
    card gives the opponent, what they have taken, and the turn. Their weights were fitted
    to the results of deals with the tuning seeds (``ginrummy fit
    champion``), a set each for rules like EAAI and like CLASSIC.

    Games won against `simple`: 79.3 % under EAAI, 67.5 % under CLASSIC (docs/AGENTS.md).
    """

    def weights(self, view: View) -> Weights:
        """Return the weights for the view's rules."""
        return weights_of(view.rules)

    def takes(self, view: View, rows: Rows) -> Flags:
        """Take the upcard where that is worth more."""
        taken = np.zeros(len(rows), dtype=np.bool_)
        places = open_to_taking(view, rows)
        if places.size:
            take, stock = self.draw_options(view, rows[places])
            weights = self.weights(view)
            taken[places] = estimate(take, weights.take) > estimate(stock, weights.stock)
        return taken

    def draw_options(self, view: View, rows: Rows) -> tuple[Features, Features]:
        """Return the features of taking the upcard and of drawing from the stock."""
        upcards = CARD_BIT[view.upcard[rows]]
        hands = view.hand[rows] | upcards
        stays = np.zeros_like(upcards) if view.rules.discard_taken_upcard else upcards
        places, cards = cards_listed(candidates(hands, upcards, stays))
        worth = self.worth_of_keeping(view, rows[places], hands[places] & ~CARD_BIT[cards], cards)
        left = deadwood(hands[places] & ~CARD_BIT[cards])
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        best, least = np.maximum.reduceat(worth, starts), np.minimum.reduceat(left, starts)
        return take_features(view, rows, best, least), stock_features(view, rows)

    def worth_of_keeping(self, view: View, rows: Rows, hands: Hands, cards: Cards) -> Features:
        """Return the estimate for keeping ten cards and throwing one, [P], in pieces."""
        weights = self.weights(view).keep
        worth = np.empty(len(rows))
        for start in range(0, len(rows), CHUNK):
            part = slice(start, start + CHUNK)
            features = keep_features(view, rows[part], hands[part], cards[part])
            worth[part] = estimate(features, weights)
        return worth

    def discards(self, view: View, rows: Rows, uniforms: Uniforms) -> Cards:
        """Throw the candidate whose ten cards are worth most."""
        hands = view.hand[rows]
        chosen = candidates(hands, CARD_BIT[view.taken_card[rows]], staying(view, rows))
        several = np.flatnonzero(np.bitwise_count(chosen) > 1)
        if several.size:
            places, cards = cards_listed(chosen[several])
            kept = hands[several][places] & ~CARD_BIT[cards]
            worth = self.worth_of_keeping(view, rows[several][places], kept, cards)
            chosen[several] = least_valued(places, cards, -worth)
        return pick_one(chosen, uniforms)

    def knocks(self, view: View, rows: Rows, cards: Cards, left: Points) -> Flags:
        """Knock where that is worth more than to keep the ten cards; always with gin."""
        knocked = left == 0
        places = np.flatnonzero((left <= view.knock_limit[rows]) & ~knocked)
        if places.size:
            some, thrown = rows[places], cards[places]
            kept = view.hand[some] & ~CARD_BIT[thrown]
            waiting = self.worth_of_keeping(view, some, kept, thrown)
            features = knock_features(view, some, left[places])
            knocking = estimate(features, self.weights(view).knock)
            knocked[places] = knocking > waiting
        return knocked


def open_to_taking(view: View, rows: Rows) -> Rows:
    """Return the places of the rows in which the upcard is in a meld or lowers deadwood."""
    melds = makes_meld(view.hand[rows], view.upcard[rows])
    return np.flatnonzero(melds | lowers_deadwood(view, rows))
