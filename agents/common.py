"""What the rule agents share: dispatch by phase, parameters, and cards as bit operations.

A rule agent answers three questions, each for many positions at once: does it take the upcard,
which card does it discard, and with how much deadwood does it knock. `RuleAgent.act` asks them
where they arise and turns the answers into actions that are legal under any rules.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import (
    BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    PASS,
    TAKE_UPCARD,
    random_actions,
)
from ginrummy_env.core.cards import CARD_BIT, POINTS, Hands, Points, Rows
from ginrummy_env.core.chance import Random
from ginrummy_env.core.deadwood import NOT_HELD, deadwood, deadwood_after_discard
from ginrummy_env.core.legal import can_take_at_wall, forbidden_cards
from ginrummy_env.core.melds import cards_in_runs, suits_of_rank
from ginrummy_env.core.state import Int8, Phase
from ginrummy_env.core.view import View

Flags = NDArray[np.bool_]
Left = NDArray[np.uint8]
Uniforms = NDArray[np.float64]
Cards = NDArray[np.integer]

ANY_DEADWOOD = 98
"""No ten cards have more: whoever knocks with this much knocks as soon as the rules let him."""

_SUITS_HELD = np.array([pattern.bit_count() for pattern in range(16)], dtype=np.uint8)


def parameter(
    default: float, about: str, low: float | None = None, high: float | None = None
) -> Any:
    """Return a dataclass field for an agent's parameter.

    Args:
        default: its type is the parameter's: a whole number or any number.
        about: what it does, a short phrase for the list of agents.
        low: least value allowed.
        high: greatest value allowed.
    """
    return field(default=default, metadata={"about": about, "low": low, "high": high})


@dataclass(frozen=True)
class RuleAgent(ABC):
    """A policy that is asked three questions. Its dataclass fields are its parameters.

    It has no memory: what it does is a function of the view and of one uniform number a row, so a
    game does not depend on the batch around it.

    Raises:
        ValueError: a parameter of the wrong type or outside its range.
    """

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            whole = isinstance(each.default, int)
            low, high = each.metadata.get("low"), each.metadata.get("high")
            kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
            wrong = isinstance(value, bool) or not isinstance(value, kinds)
            if wrong or (low is not None and value < low) or (high is not None and value > high):
                bounds = "".join(
                    f" {word} {bound}"
                    for word, bound in (("from", low), ("to", high))
                    if bound is not None
                )
                kind = "a whole number" if whole else "a number"
                raise ValueError(f"{each.name}={value!r}: {kind}{bounds} is needed")
            object.__setattr__(self, each.name, int(value) if whole else float(value))

    @abstractmethod
    def takes(self, view: View, rows: Rows) -> Flags:
        """Return whether the upcard is taken in each of the rows, [K] bool."""

    @abstractmethod
    def discards(self, view: View, rows: Rows, after: Left, uniforms: Uniforms) -> Cards:
        """Return the card that goes in each of the rows, [K] integers.

        Args:
            view: N rows.
            rows: [K] rows in which eleven cards are held.
            after: [K, 52] uint8, least deadwood after each discard; NOT_HELD where it is not legal.
            uniforms: [K] one random number a row, to choose among equals.
        """

    def limits(self, view: View, rows: Rows) -> Points:
        """Return the most deadwood to knock with in each of the rows; negative: no knock at all.

        The rules' own limit holds besides.
        """
        return np.full(len(rows), ANY_DEADWOOD, dtype=np.int16)

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row, -1 where it is not the viewer's move.

        Args:
            view: N rows.
            rng: one number a row is drawn from it.
        """
        uniforms = rng.random((len(view),))
        phases = np.where(view.to_move, view.phase, np.int8(Phase.DEAL_OVER))
        actions = _ACTION_OF_PHASE[phases]
        rows = np.flatnonzero(_OFFERS_UPCARD[phases])
        if rows.size:
            actions[rows[self.takes(view, rows)]] = TAKE_UPCARD
        if view.rules.at_void_stock != "end":
            rows = np.flatnonzero(phases == Phase.WALL)
            actions[rows] = self._at_wall(view, rows, actions[rows])
        rows = np.flatnonzero(phases == Phase.DISCARD)
        if rows.size:
            actions[rows] = self._discard_or_knock(view, rows, uniforms[rows])
        return actions

    def _at_wall(self, view: View, rows: Rows, actions: NDArray[np.int16]) -> NDArray[np.int16]:
        """Return the actions at the wall: who must knock after taking takes what lets him knock."""
        if view.rules.at_void_stock != "knock_with_discard":
            return actions
        able = can_take_at_wall(
            view.hand[rows], view.upcard[rows], view.knock_limit[rows], view.rules
        )
        return np.where(able, TAKE_UPCARD, PASS)

    def _discard_or_knock(self, view: View, rows: Rows, uniforms: Uniforms) -> NDArray[np.int16]:
        """Return a discard, a knock with that discard, or big gin."""
        hands = view.hand[rows]
        after = legal_after_discard(view, rows)
        cards = self.discards(view, rows, after, uniforms)
        left = after[np.arange(len(rows)), cards]
        limits = np.minimum(self.limits(view, rows), view.knock_limit[rows])
        knocks = left <= limits
        if view.rules.at_void_stock == "knock_with_discard":
            # Whoever takes the upcard at the wall has to knock.
            bound = (view.stock_count[rows] <= view.rules.void_stock) & (view.taken_card[rows] >= 0)
            cards = np.where(bound, after.argmin(axis=1), cards)
            knocks |= bound
        actions = cards.astype(np.int16)
        actions[knocks] += KNOCK
        if view.rules.big_gin:
            ready = np.flatnonzero(after.min(axis=1) == 0)
            actions[ready[deadwood(hands[ready]) == 0]] = BIG_GIN
        return actions


# What is done in each phase without taking the upcard; -1: no move, or still to be found.
_ACTION_OF_PHASE = np.full(len(Phase), -1, dtype=np.int16)
_ACTION_OF_PHASE[[Phase.OPENING, Phase.WALL]] = PASS
_ACTION_OF_PHASE[[Phase.FIRST_DRAW, Phase.DRAW]] = DRAW_STOCK
_OFFERS_UPCARD = np.isin(np.arange(len(Phase)), [Phase.OPENING, Phase.DRAW, Phase.WALL])


def legal_after_discard(view: View, rows: Rows) -> Left:
    """Return the least deadwood after each discard that is legal, [K, 52] uint8, else NOT_HELD."""
    after = deadwood_after_discard(view.hand[rows])
    forbidden = forbidden_cards(view.taken_card[rows], view.rules)
    some = np.flatnonzero(forbidden >= 0)
    after[some, forbidden[some]] = NOT_HELD
    return after


def after_taking(view: View, rows: Rows) -> Left:
    """Return the least deadwood after each legal discard if the upcard is taken, [K, 52] uint8."""
    upcards = view.upcard[rows]
    after = deadwood_after_discard(view.hand[rows] | CARD_BIT[upcards])
    if not view.rules.discard_taken_upcard:
        after[np.arange(len(rows)), upcards] = NOT_HELD
    return after


def lowers_deadwood(view: View, rows: Rows) -> Flags:
    """Return whether some discard after taking the upcard leaves less deadwood, [K] bool."""
    return after_taking(view, rows).min(axis=1) < deadwood(view.hand[rows])


def makes_meld(hands: Hands, cards: Int8) -> Flags:
    """Return whether each card is in some meld of itself and the hand, useful or not.

    Args:
        hands: [K] uint64, without the card.
        cards: [K] int8.

    Returns:
        [K] bool.
    """
    bits = CARD_BIT[cards]
    others = suits_of_rank(hands, cards % 13)
    return ((cards_in_runs(hands | bits) & bits) != 0) | (_SUITS_HELD[others] >= 2)


def pick_one(candidates: Flags, uniforms: Uniforms) -> Cards:
    """Return one flagged card of each row, all equally likely.

    Args:
        candidates: [K, 52] bool, at least one flag a row.
        uniforms: [K] numbers in [0, 1).

    Returns:
        [K] integers.
    """
    return random_actions(candidates, uniforms)


def pick_dearest(candidates: Flags) -> Cards:
    """Return the flagged card of most points in each row, the lowest number among equals, [K]."""
    return np.where(candidates, POINTS + 1, 0).argmax(axis=1)
