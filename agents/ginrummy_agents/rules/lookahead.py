"""One draw ahead, with an eye on what the opponent needs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.parameters import parameter
from ginrummy_agents.rules.base import ANY_DEADWOOD, RuleAgent, lowers_deadwood, staying
from ginrummy_agents.rules.next_draw import (
    around,
    compiled_draws,
    least_after_each_draw,
    loose_cards,
)
from ginrummy_agents.rules.work_lists import (
    Left,
    cards_listed,
    group_starts,
    least_discards,
    least_valued,
    pick_one,
    ranks,
)
from ginrummy_agents.tables import WORTH
from ginrummy_env.core.cards import CARD_BIT, DEAREST
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.melds import EVERY_SUIT
from ginrummy_env.core.types import Cards, Flags, Hands, Points, Rows, Uniforms
from ginrummy_env.core.view import OPPONENT, View

MOST_LEFT = 5
"""Points that a candidate may leave above the best."""

CHUNK = 4096
"""Candidates that are looked at together: [CHUNK, 52] arrays stay within the cache."""


@dataclass(frozen=True)
class Lookahead(RuleAgent):
    """Throws what leaves the best hand after one more draw and helps the opponent least.

    - Draw: the upcard iff it lies in an arrangement of least deadwood of the eleven cards and the
      best discard then leaves less deadwood than there is now.
    - Candidates for the discard: cards loose in some arrangement of least deadwood, not the card
      just taken, at most 5 points cheaper than the dearest of them; of these none that leaves more
      than 5 above the best. Without any, all legal cards. A discard that leaves gin is thrown.
    - Discard: the candidate with least deadwood left + ``weight × decay^(turn − 1)`` × F +
      ``danger`` × D, at random among equals. F is the mean of the ``outs`` lowest values that the
      next draw could leave, D how well the card fits the opponent (`fit_for_opponent`); turns are
      one's own, from 1.
    - Knock: with ``knock`` or less in the first ``knock_turns`` turns, then with ``later`` or less
      (0: gin).

    Source: Ahmed et al., "A Heuristic Evaluation Function for Hand Strength Estimation in Gin
    Rummy" (AAAI-21), the challenge winner's team, and its repository.

    Games won against `simple`: 76.3 % under EAAI, 59.6 % under CLASSIC, where
    ``lookahead:7`` wins 63.8 % (docs/AGENTS.md).
    """

    knock_turns: int = parameter(3, "own turns in which to knock with up to `knock`", 0, 10000)
    knock: int = parameter(ANY_DEADWOOD, "most deadwood to knock with in these", 0, ANY_DEADWOOD)
    later: int = parameter(
        0, "most deadwood to knock with afterwards; 0: gin only", 0, ANY_DEADWOOD
    )
    danger: float = parameter(1.0, "weight of what the discard gives the opponent", -100, 100)
    weight: float = parameter(18.0, "weight of the next draw in the first turn", 0, 1000)
    decay: float = parameter(0.9, "what is left of that weight from turn to turn", 0, 2)
    outs: int = parameter(7, "how many of the best draws are averaged", 1, 52)

    def takes(self, view: View, rows: Rows) -> Flags:
        """Take what is melded at once and lowers deadwood."""
        upcards = CARD_BIT[view.upcard[rows]]
        melded = (loose_cards(view.hand[rows] | upcards) & upcards) == 0
        return melded & lowers_deadwood(view, rows)

    def discards(self, view: View, rows: Rows, uniforms: Uniforms) -> Cards:
        """Discard the candidate of least value."""
        hands = view.hand[rows]
        chosen = candidates(hands, CARD_BIT[view.taken_card[rows]], staying(view, rows))
        several = np.flatnonzero(np.bitwise_count(chosen) > 1)
        if several.size:
            places, cards = cards_listed(chosen[several])
            values = self.values(view, rows[several][places], cards)
            chosen[several] = least_valued(places, cards, values)
        return pick_one(chosen, uniforms)

    def values(self, view: View, rows: Rows, cards: Cards) -> NDArray[np.float64]:
        """Return the value of throwing each card, [P]; least is best.

        Args:
            view: N rows.
            rows: [P] row numbers.
            cards: [P] the card in question.
        """
        hands, unseen = view.hand[rows] & ~CARD_BIT[cards], view.unseen[rows]
        left = deadwood(hands)
        ahead = np.empty(len(rows))
        for start in range(0, len(rows), CHUNK):
            part = slice(start, start + CHUNK)
            ahead[part] = self.outlook(hands[part], left[part].astype(np.uint8), unseen[part])
        weight = self.weight * self.decay ** (own_turns(view, rows) - 1.0)
        fit = fit_for_opponent(cards, view.known[rows, OPPONENT], unseen)
        return left + weight * ahead + self.danger * fit

    def outlook(self, hands: Hands, left: Left, unseen: Hands) -> NDArray[np.float64]:
        """Return the mean of the ``outs`` lowest values that the next draw could leave, [P]."""
        count = np.minimum(np.bitwise_count(unseen), self.outs)
        sums = compiled_draws(hands, left, unseen, self.outs)
        if sums is not None:
            return sums[:, 1] / np.maximum(count, 1)
        after = least_after_each_draw(hands, left, unseen)
        after.sort(axis=1)
        counted = np.arange(self.outs) < count[:, None]
        lowest = after[:, : self.outs]
        return np.where(counted, lowest, 0).sum(axis=1) / np.maximum(count, 1)

    def limits(self, view: View, rows: Rows) -> Points:
        """Knock in the first turns, later wait for gin."""
        early = own_turns(view, rows) <= self.knock_turns
        return np.where(early, self.knock, self.later).astype(np.int16)


def own_turns(view: View, rows: Rows) -> Points:
    """Return the number of the player's own turn in this deal, from 1, [K] int16.

    Discards alternate between the players, so half of those made are the player's.
    """
    return (view.turn[rows] // 2 + 1).astype(np.int16)


def candidates(hands: Hands, taken: Hands, stays: Hands) -> Hands:
    """Return the candidate discards (see `Lookahead`), [K] uint64, at least one card per row.

    Args:
        hands, taken, stays: as for `candidates_listed`.
    """
    rows, cards, _ = candidates_listed(hands, taken, stays)
    return np.bitwise_or.reduceat(CARD_BIT[cards], group_starts(rows))


def candidates_listed(hands: Hands, taken: Hands, stays: Hands) -> tuple[Rows, Cards, Points]:
    """Return the candidate discards (see `Lookahead`) with the deadwood that each leaves.

    Args:
        hands: [K] uint64, eleven cards.
        taken: [K] uint64, the upcard taken this turn, or 0.
        stays: [K] uint64, the card that may not go, or 0.

    Returns:
        (rows [P] ascending, each of the K at least once; cards [P] ascending within a row;
        deadwood left [P]).
    """
    legal = hands & ~stays
    loose = loose_cards(hands) & ~taken
    # As ranks go by points, those within 5 points of the dearest are those above some rank.
    loose &= NOT_BELOW[np.maximum(DEAREST.take(ranks(loose)), 5) - 5]
    chosen = np.where(loose, loose, legal)
    least, best = least_discards(hands, stays)
    chosen = np.where(least == 0, best, chosen)
    rows, cards = cards_listed(chosen)
    left = deadwood(hands[rows] & ~CARD_BIT[cards])
    close = left <= np.minimum.reduceat(left, group_starts(rows))[rows] + MOST_LEFT
    return rows[close], cards[close], left[close]


NOT_BELOW = np.bitwise_or.accumulate(WORTH[::-1])[::-1]
"""[11] uint64, the cards worth 0, 1, ... 10 points or more."""


def fit_for_opponent(cards: Cards, theirs: Hands, unseen: Hands) -> NDArray[np.int16]:
    """Return how well each card fits what the opponent may hold: D of `Lookahead`.

    A card is *gone* if it is neither unseen nor known to be the opponent's; so are the places
    beyond a suit's ends. Of the suit: −10 if no run with the card is left, else −5 for each
    neighbour gone and −3 for each card two away gone; 20 if two of theirs make a run with it, else
    5 for each neighbour of theirs, 3 for each card of theirs two away. Of the rank: −10 if two or
    more others are gone, −4 if one; 20 if two or more are theirs, 4 if one.

    Args:
        cards: [P] the card to be thrown.
        theirs: [P] uint64, the cards that the opponent is known to hold.
        unseen: [P] uint64.

    Returns:
        [P] int16.
    """
    bits = CARD_BIT[cards]
    gone = ~(unseen | theirs)

    down2, down1, up1, up2 = around(gone, bits, beyond=True)
    blocked = (up1 & (down1 | down2)) | (down1 & (up1 | up2))
    value = np.where(blocked, -10, -5 * (down1 * 1 + up1) - 3 * (down2 * 1 + up2))
    down2, down1, up1, up2 = around(theirs, bits)
    run = (down2 & down1) | (down1 & up1) | (up1 & up2)
    value += np.where(run, 20, 5 * (down1 * 1 + up1) + 3 * (down2 * 1 + up2))
    others = (EVERY_SUIT << (cards % 13).astype(np.uint64)) & ~bits
    value += (
        _RANK_GONE[np.bitwise_count(gone & others)]
        + _RANK_THEIRS[np.bitwise_count(theirs & others)]
    )
    return value.astype(np.int16)


_RANK_GONE = np.array([0, -4, -10, -10])
_RANK_THEIRS = np.array([0, 4, 20, 20])
