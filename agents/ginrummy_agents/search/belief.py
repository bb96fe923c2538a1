"""What the opponent holds, judged by what they have thrown, left and taken.

Each unseen card's odds of being the opponent's are the odds if their play said nothing, times a
factor for each thing known that bears on the card (`FEATURES`); the factors were fitted to the true
hands of agents of several kinds, by stage of the deal (`ginrummy fit belief`). Cards drawn one by
one by such odds lack the melds of a hand that was played, so of several hands one is kept, the
likelier the less deadwood it has.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.arrays import read_arrays, require_finite
from ginrummy_env.core.cards import (
    FULL_DECK,
    HAND_SIZE,
    NUM_CARDS,
    NUM_RANKS,
    card_planes,
    hand_size,
)
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.types import Float, Hands
from ginrummy_env.core.view import OPPONENT, View

BELIEF = "belief.npz"
"""Made by ``ginrummy fit belief``."""

STAGES = np.array([0, 1, 2, 3, 4, 6, 8, 11])
"""The fewest discards of the opponent at which each stage of a deal starts."""

_1, _2 = np.uint64(1), np.uint64(2)
_RANKS = [f"rank {letter}" for letter in "A23456789TJQK"]
_RELATIONS = ("same rank", "same rank twice", "next in suit", "both sides", "two away")
_MASKS = ("thrown", "declined", "known")
FEATURES = (
    *_RANKS,
    *(f"{relation} {mask}" for mask in _MASKS for relation in _RELATIONS),
    *(f"{count} of rank left" for count in range(3)),
    *(f"{count} runs left" for count in range(3)),
)
"""What may bear on a card. *Known* are cards that the opponent took from the pile and holds;
*left* are cards that the opponent may hold, to make a set or a run of three with this one."""


def stages(view: View) -> NDArray[np.intp]:
    """Return the stage of each row's deal, by the opponent's discards, [N]."""
    thrown = hand_size(view.discarded[:, OPPONENT])
    return np.searchsorted(STAGES, thrown, side="right") - 1


def features(view: View) -> NDArray[np.bool_]:
    """Return which features each card has, [F, N, 52] bool, in the order of FEATURES."""
    count = len(view)
    planes = np.zeros((len(FEATURES), count, NUM_CARDS), dtype=np.bool_)
    ranks = np.arange(NUM_CARDS) % NUM_RANKS
    planes[:NUM_RANKS] = (ranks == np.arange(NUM_RANKS)[:, None])[:, None]
    place = NUM_RANKS
    thrown = view.discarded[:, OPPONENT]
    theirs = view.known[:, OPPONENT]
    for mask in (thrown, view.declined[:, OPPONENT] & ~thrown, theirs):
        same = _of_rank(mask)
        below, above = mask << _1, mask >> _1
        planes[place] = same >= 1
        planes[place + 1] = same >= 2
        planes[place + 2] = _planes(below | above)
        planes[place + 3] = _planes(below & above)
        planes[place + 4] = _planes((mask << _2) | (mask >> _2))
        place += len(_RELATIONS)
    left = view.unseen | theirs
    mates = _of_rank(left) - card_planes(left)
    below, above = left << _1, left >> _1
    runs = (
        _planes(below & (left << _2)).astype(np.int8)
        + _planes(below & above)
        + _planes(above & (left >> _2))
    )
    for values in (mates, runs):
        for number in range(3):
            planes[place] = values == number
            place += 1
    return planes


def _planes(hands: Hands) -> NDArray[np.bool_]:
    """Return the planes of shifted hands, without what was shifted over a suit's end."""
    return card_planes(hands & FULL_DECK)


def _of_rank(hands: Hands) -> NDArray[np.int8]:
    """Return how many cards of each card's rank a hand holds, [N, 52]."""
    by_suit = card_planes(hands).reshape(-1, 4, NUM_RANKS)
    return np.tile(by_suit.sum(axis=1, dtype=np.int8), (1, 4))


@dataclass(frozen=True, slots=True)
class Belief:
    """Fitted factors."""

    factors: Float
    """[S, F] logarithms, by stage and feature."""

    deadwood: Float
    """[S] by how much a point of deadwood lowers the logarithm of a hand's weight."""

    def weights(self, view: View) -> Float:
        """Return how likely each card is to be the opponent's, up to a factor, [N, 52].

        Only those of unseen cards mean something.
        """
        planes = features(view)
        factors = self.factors[stages(view)]
        logits = np.einsum("nf,fnc->nc", factors, planes, optimize=False)
        return np.exp(np.clip(logits, -8.0, 8.0))

    def chances(self, view: View) -> Float:
        """Return the chance of each card to be the opponent's, [N, 52]; 0 for cards not there.

        Those of the unseen cards add up to the number of the opponent's unknown cards; cards that
        the opponent is known to hold have chance 1.
        """
        unseen = card_planes(view.unseen)
        known = card_planes(view.known[:, OPPONENT])
        unknown = float(view.rules.hand_size) - known.sum(axis=1)
        return scaled(np.where(unseen, self.weights(view), 0.0), unknown) + known


def scaled(weights: Float, totals: Float) -> Float:
    """Return chances with odds in proportion to the weights that add up to the totals, [N, 52].

    Args:
        weights: [N, 52], 0 for cards that the opponent cannot hold.
        totals: [N] at most the number of cards that have a weight.
    """
    low, high = np.full(len(weights), -30.0), np.full(len(weights), 30.0)
    for _ in range(40):
        middle = (low + high) / 2
        odds = weights * np.exp(middle)[:, None]
        many = (odds / (1 + odds)).sum(axis=1) > totals
        high = np.where(many, middle, high)
        low = np.where(many, low, middle)
    odds = weights * np.exp((low + high) / 2)[:, None]
    return odds / (1 + odds)


def belief_for(rules: Rules) -> Belief | None:
    """Return the belief that is shipped; None for decks of other sizes, to which none was fitted.

    Without one all unseen cards are alike.
    """
    return fitted() if ten_of_52(rules) else None


def ten_of_52(rules: Rules) -> bool:
    """Return whether the deck and the hands are those that beliefs and weights were fitted to."""
    return (rules.num_cards, rules.hand_size) == (NUM_CARDS, HAND_SIZE)


@cache
def fitted() -> Belief:
    """Return the belief that is shipped, fitted to deals of ten cards from 52."""
    arrays = read_arrays(files("ginrummy_agents").joinpath("data", BELIEF))
    if tuple(arrays.pop("features").tolist()) != FEATURES:
        raise ValueError(f"{BELIEF}: fitted to other features; fit it again")
    require_finite(arrays)
    return Belief(arrays["factors"].astype(np.float64), arrays["deadwood"].astype(np.float64))
