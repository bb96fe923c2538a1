"""Keeps the cards with many ways to meld."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.parameters import parameter
from ginrummy_agents.rules.base import ANY_DEADWOOD, RuleAgent, makes_meld, staying
from ginrummy_agents.rules.work_lists import cards_listed, least_valued, pick_one
from ginrummy_env.core.cards import FULL_DECK, NUM_RANKS, NUM_SUITS, card_planes
from ginrummy_env.core.deadwood import deadwood_after_discard
from ginrummy_env.core.types import Cards, Flags, Hands, Points, Rows, Uniforms
from ginrummy_env.core.view import View


@dataclass(frozen=True)
class Hein(RuleAgent):
    """Trades deadwood now for ways to meld.

    - Draw: the upcard iff it is in some meld of hand and upcard, as ``simple``.
    - Discard: the card with least ``alpha × ways + (1 − alpha) × deadwood left``, at random among
      equals; ``ways`` counts the cards that would complete a meld with it (`ways_to_meld`), a card
      that is held already ``held`` times.
    - Knock: at the first chance with ``knock`` or less.

    Source: Hein et al., "Random Forests for Opponent Hand Estimation in Gin Rummy" (AAAI-21), and
    its repository.

    Games won against `simple`: 57.7 % under EAAI, 58.2 % under CLASSIC (docs/AGENTS.md).
    """

    alpha: float = parameter(0.15, "weight of ways to meld against deadwood", 0, 1)
    knock: int = parameter(
        ANY_DEADWOOD, "most deadwood to knock with; 0: gin only", 0, ANY_DEADWOOD
    )
    held: int = parameter(2, "what a third card counts that is held; one that may come: 1", 0, 9)

    def takes(self, view: View, rows: Rows) -> Flags:
        """Take what is in some meld."""
        return makes_meld(view.hand[rows], view.upcard[rows])

    def discards(self, view: View, rows: Rows, uniforms: Uniforms) -> Cards:
        """Discard the card that costs least deadwood and ways."""
        hands = view.hand[rows]
        dead = view.discards[rows] | (FULL_DECK & ~view.rules.full_deck)
        ways = ways_to_meld(hands, dead, self.held)
        places, cards = cards_listed(hands & ~staying(view, rows))
        left = deadwood_after_discard(hands)[places, cards]
        values = self.alpha * ways[places, cards] + (1 - self.alpha) * left
        return pick_one(least_valued(places, cards, values), uniforms)

    def limits(self, view: View, rows: Rows) -> Points:
        """Knock with ``knock`` or less."""
        return np.full(len(rows), self.knock, dtype=np.int16)


def ways_to_meld(hands: Hands, dead: Hands, third: int = 2) -> NDArray[np.int16]:
    """Return in how many ways each card could be melded.

    For each pair of own cards, a card that makes a meld of three with them counts ``third`` if it
    is held and 1 if it is neither held nor dead; both cards of the pair get the sum.

    Args:
        hands: [K] uint64.
        dead: [K] uint64, cards that cannot come.
        third: what a card counts that is held.

    Returns:
        [K, 52] int16; of cards not held, what they would have.
    """
    held = card_planes(hands).reshape(-1, NUM_SUITS, NUM_RANKS).astype(np.int16)
    dead_planes = card_planes(dead).reshape(held.shape)
    weight = 1 + (third - 1) * held - dead_planes  # 0 dead, 1 may come
    # A card with two others x and y: x may be its partner and y complete the meld, or the reverse.
    # Of its rank: the sum over pairs of the others, (sum held) × (sum weight), less x = y.
    others = held.sum(axis=1, keepdims=True) - held
    ways = others * (weight.sum(axis=1, keepdims=True) - weight) - third * others
    pad = ((0, 0), (0, 0), (2, 2))
    held, weight = np.pad(held, pad), np.pad(weight, pad)  # beyond the suit: not held, dead
    for x, y in ((-2, -1), (-1, 1), (1, 2)):
        at_x, at_y = (slice(2 + shift, 2 + shift + NUM_RANKS) for shift in (x, y))
        ways += held[..., at_x] * weight[..., at_y] + held[..., at_y] * weight[..., at_x]
    return ways.reshape(len(hands), -1)
