"""Deadwood now, less what the next card is likely to meld."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.parameters import parameter
from ginrummy_agents.rules.base import ANY_DEADWOOD, RuleAgent, staying
from ginrummy_agents.rules.heuristic import danger_of
from ginrummy_agents.rules.next_draw import deadwood_cards
from ginrummy_agents.rules.work_lists import cards_listed, least_valued, pick_one, ranks
from ginrummy_env.core.cards import CARD_BIT, hand_points
from ginrummy_env.core.melds import EVERY_SUIT, cards_in_runs, ranks_in_pairs
from ginrummy_env.core.types import Cards, Flags, Hands, Points, Rows, Uniforms
from ginrummy_env.core.view import View

CHUNK = 128
"""Positions of the draw that are looked at together: each takes some 340 evaluations."""

_1, _2 = np.uint64(1), np.uint64(2)


@dataclass(frozen=True)
class Myopic(RuleAgent):
    """Values a hand by its deadwood less what one more card is likely to meld of it.

    - Value of ten cards: deadwood − ``hope`` × the sum over its deadwood cards of
      points × unseen cards that would meld it / unseen cards (`expected_melded`). Low is good.
    - Draw: the upcard iff the best value with it is below the mean best value over unseen cards.
    - Discard: to the best value, plus ``danger`` × the danger of the card (`heuristic.danger_of`);
      at random among equals.
    - Knock: at the first chance with ``knock`` or less.

    Source: the myopic meld distance described with the EAAI-21 challenge's agents. Its term for the
    opponent is not given there: ``danger`` stands for it.

    Games won against `simple`: 59.6 % under EAAI, 59.9 % under CLASSIC (docs/AGENTS.md).
    """

    hope: float = parameter(0.85, "weight of what the next card may meld", 0, 10)
    danger: float = parameter(0.0, "weight of what the discard gives the opponent", -100, 100)
    knock: int = parameter(
        ANY_DEADWOOD, "most deadwood to knock with; 0: gin only", 0, ANY_DEADWOOD
    )

    def takes(self, view: View, rows: Rows) -> Flags:
        """Take what is better than the average card of the stock."""
        better = np.empty(len(rows), dtype=np.bool_)
        for start in range(0, len(rows), CHUNK):
            part = slice(start, start + CHUNK)
            better[part] = self._better(view, rows[part])
        return better

    def _better(self, view: View, rows: Rows) -> Flags:
        """Return whether the upcard is better than the average unseen card, [K] bool."""
        hands, unseen = view.hand[rows], view.unseen[rows]
        upcards = CARD_BIT[view.upcard[rows]]
        forbidden = np.uint64(0) if view.rules.discard_taken_upcard else upcards
        taken = self._best(hands | upcards, unseen, forbidden)
        places, cards = cards_listed(unseen)
        bits = CARD_BIT[cards]
        drawn = self._best(hands[places] | bits, unseen[places] & ~bits, np.uint64(0))
        return taken < np.bincount(places, drawn, len(rows)) / np.bincount(places, None, len(rows))

    def _best(
        self, hands: Hands, unseen: Hands, forbidden: Hands | np.uint64
    ) -> NDArray[np.float64]:
        """Return the best value that a discard of eleven cards leaves, [Q]."""
        places, cards = cards_listed(hands & ~forbidden)
        values = self.values(hands[places] & ~CARD_BIT[cards], unseen[places])
        return np.minimum.reduceat(values, np.flatnonzero(np.diff(places, prepend=-1)))

    def values(self, hands: Hands, unseen: Hands) -> NDArray[np.float64]:
        """Return the value of ten cards each, [P]."""
        loose = deadwood_cards(hands)
        hoped = expected_melded(hands, loose, unseen)
        return hand_points(loose) - self.hope * hoped

    def discards(self, view: View, rows: Rows, uniforms: Uniforms) -> Cards:
        """Discard to the best value."""
        hands = view.hand[rows]
        places, cards = cards_listed(hands & ~staying(view, rows))
        values = self.values(hands[places] & ~CARD_BIT[cards], view.unseen[rows][places])
        if self.danger:
            values += self.danger * danger_of(view, rows[places], cards)
        return pick_one(least_valued(places, cards, values), uniforms)

    def limits(self, view: View, rows: Rows) -> Points:
        """Knock with ``knock`` or less."""
        return np.full(len(rows), self.knock, dtype=np.int16)


def expected_melded(hands: Hands, loose: Hands, unseen: Hands) -> NDArray[np.float64]:
    """Return the sum over loose cards of points × unseen cards that would meld it / unseen cards.

    A card is melded by a set with another loose card, or by a run with loose cards and runs held.

    Args:
        hands: [P] uint64.
        loose: [P] uint64, the cards of each hand that are in none of its melds.
        unseen: [P] uint64.

    Returns:
        [P] points.
    """
    line = loose | cards_in_runs(hands & ~loose)
    up1, up2, down1, down2 = line >> _1, line >> _2, line << _1, line << _2
    # For each loose card, whether the card one up, one down, two up, two down would meld it.
    by_run = (
        (unseen >> _1) & (up2 | down1),
        (unseen << _1) & (down2 | up1),
        (unseen >> _2) & up1,
        (unseen << _2) & down1,
    )
    paired = ranks_in_pairs(loose)
    by_set = ((paired & ranks(unseen)) * EVERY_SUIT, (paired & ranks_in_pairs(unseen)) * EVERY_SUIT)
    points = sum((hand_points(loose & cards) for cards in (*by_run, *by_set)), np.int16(0))
    return points / np.maximum(np.bitwise_count(unseen), 1)
