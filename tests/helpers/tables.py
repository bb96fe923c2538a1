"""What the tests of the environments share: given decks, small policies, global random state."""

import random
from collections.abc import Sequence

import numpy as np
from cases import cards

from ginrummy_env.core.actions import KNOCK, PASS, parse_action, random_actions

# A deal in which the dealer's hand is worthless and the non-dealer knocks in his first turn:
# he takes the 2d (or draws the 3d) and throws the Kh.
READY = "As 2s 3s 4h 5h 6h 9c 9d 9s Kh"
WORTHLESS = "Qs Js 8h 7d 5d 4c 7c Td Qc 2h"
UPCARD = "2d"
STOCK = "3d Kc Kd"


def deck(non_dealer: str, dealer: str, upcard: str, stock: str = "") -> list[int]:
    """A deck that deals these hands; behind the stock that is given, the other cards ascending."""
    first, second = cards(non_dealer), cards(dealer)
    dealt = [card for pair in zip(first, second, strict=True) for card in pair]
    dealt += cards(upcard) + cards(stock)
    return dealt + [card for card in range(52) if card not in dealt]


READY_DECK = deck(READY, WORTHLESS, UPCARD, STOCK)
"""The non-dealer can knock at once."""
READY_DEALER_DECK = deck(WORTHLESS, READY, UPCARD, STOCK)
"""The dealer can knock at once, if he is given the upcard."""
UNDERCUT_DECK = deck(READY, "Th Jh Qh 5s 6s 7s Td Jd Qd Ac", "8d", STOCK)
"""The non-dealer can knock with 8; the dealer has an ace left."""


class Random:
    """Any legal action."""

    def act(self, view, rng):
        return random_actions(view.action_masks(), rng.random((len(view),)))


class Eager:
    """Takes every upcard, knocks whenever it can, with the first card that allows it."""

    def act(self, view, rng):
        masks = view.action_masks()
        actions = random_actions(masks, rng.random((len(view),)))
        actions[masks[:, 105]] = 105
        knocks = masks[:, KNOCK : 2 * KNOCK]
        rows = np.flatnonzero(knocks.any(axis=1))
        actions[rows] = KNOCK + knocks[rows].argmax(axis=1)
        return actions


class Quiet:
    """Passes, draws from the stock and throws the first card: it takes and knocks nothing."""

    def act(self, view, rng):
        masks = view.action_masks()
        actions = masks.argmax(axis=1).astype(np.int16)
        actions[masks[:, 104]] = 104
        actions[masks[:, PASS]] = PASS
        return actions


class Script:
    """Plays the actions that it is given, in words, then `Quiet`."""

    def __init__(self, *words: str) -> None:
        self.actions = [parse_action(word) for word in words]

    def act(self, view, rng):
        if self.actions:
            return np.array([self.actions.pop(0)])
        return Quiet().act(view, rng)


def some_legal(mask: Sequence[int], number: int) -> int:
    """One of the legal actions, another for another number."""
    legal = np.flatnonzero(mask)
    return int(legal[number * 7919 % len(legal)])


def eager(mask: Sequence[int], number: int) -> int:
    """A knock if there is one, else the upcard, else one of the legal actions."""
    knocks = np.flatnonzero(mask[KNOCK : 2 * KNOCK])
    if knocks.size:
        return KNOCK + int(knocks[number % len(knocks)])
    return 105 if mask[105] else some_legal(mask, number)


def global_random_state() -> tuple:
    """The state of the generators that belong to nobody."""
    numpy_state = np.random.get_state()  # noqa: NPY002 - that is the one
    return random.getstate(), numpy_state[1].tobytes(), numpy_state[2:]
