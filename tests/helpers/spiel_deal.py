"""One deal in OpenSpiel's engine: its numbers for cards, melds and actions, and laying down.

OpenSpiel (the extra ``bench``) is imported when a deal is made.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ginrummy_env.core.cards import NUM_RANKS, NUM_SUITS, cards_of
from ginrummy_env.core.melds import MELDS, NO_MELD

DRAW_UPCARD, DRAW_STOCK, PASS, KNOCK, MELD = 52, 53, 54, 55, 56

_SUIT = (0, 3, 2, 1)
"""Our suits are s h d c, OpenSpiel's s c d h; the numbers go both ways."""
_FIRST_RUN = {3: 65, 4: 109, 5: 149}
_NUM_UPCARDS = 1
_HANDS_AND_UPCARD = 20 + _NUM_UPCARDS


def spiel_card(card: int) -> int:
    """Return OpenSpiel's number of one of our cards, or ours of one of OpenSpiel's.

    >>> spiel_card(51), spiel_card(spiel_card(51))
    (25, 51)
    """
    return _SUIT[card // NUM_RANKS] * NUM_RANKS + card % NUM_RANKS


def spiel_meld(meld: Iterable[int]) -> int:
    """Return OpenSpiel's number 0..184 of a meld of three to five cards (of ours).

    >>> spiel_meld((0, 13, 26)), spiel_meld((0, 1, 2)), spiel_meld((0, 13, 26, 39))
    (1, 65, 4)
    """
    cards = sorted(spiel_card(card) for card in meld)
    suits, ranks = [card // NUM_RANKS for card in cards], [card % NUM_RANKS for card in cards]
    if len(set(ranks)) == 1:
        missing = [suit for suit in range(NUM_SUITS) if suit not in suits]
        return 5 * ranks[0] + (missing[0] if missing else NUM_SUITS)
    lows = NUM_RANKS - len(cards) + 1
    return _FIRST_RUN[len(cards)] + lows * suits[0] + ranks[0]


_SPIEL_MELDS = [spiel_meld(meld) for meld in MELDS]


@cache
def _pyspiel() -> Any:
    try:
        import pyspiel
    except ImportError as error:
        raise ImportError(
            "OpenSpiel is not installed; the extra 'bench' brings it: "
            f"pip install -e '.[bench]' ({error})"
        ) from error
    return pyspiel


@cache
def _start() -> tuple[Any, Any]:
    """Return a state before the deal (a copy of it costs a hundredth of a new one), and utils."""
    spiel = _pyspiel()
    state = spiel.load_game("gin_rummy").new_initial_state()
    return state, spiel.gin_rummy.GinRummyUtils(NUM_RANKS, NUM_SUITS, 10)


class SpielDeal:
    """A deal in OpenSpiel, its cards given.

    Attributes:
        state: OpenSpiel's state, never at a chance node.
    """

    def __init__(self, first: Sequence[int], second: Sequence[int], rest: Sequence[int]) -> None:
        """Deal.

        Args:
            first, second: ten cards (of ours) each, of seats 0 and 1; seat 0 opens.
            rest: the upcard, then the stock, its next card first.
        """
        self.state = _start()[0].clone()
        self._stock = [spiel_card(card) for card in rest[_NUM_UPCARDS:]]
        for card in [*first, *second, *rest[:_NUM_UPCARDS]]:
            self.state.apply_action(spiel_card(card))

    @property
    def over(self) -> bool:
        """Whether OpenSpiel has ended the deal."""
        return bool(self.state.is_terminal())

    def legal(self) -> list[int]:
        """Return the legal actions, ascending."""
        return list(self.state.legal_actions())

    def knock_discards(self) -> list[int]:
        """Return with which cards (OpenSpiel's) the mover may knock; `KNOCK` is legal."""
        after = self.state.clone()
        after.apply_action(KNOCK)
        return list(after.legal_actions())

    def apply(self, action: int) -> None:
        """Take an action and, if a card is drawn, deal the next one of the stock."""
        self.state.apply_action(action)
        if self.state.is_chance_node():
            self.state.apply_action(self._stock.pop(0))

    def lay_melds(self, melds: Iterable[int]) -> int | None:
        """Lay down melds (our numbers, NO_MELD left out) and pass.

        Returns:
            The first action that OpenSpiel refused, or None.
        """
        actions = [MELD + _SPIEL_MELDS[meld] for meld in melds if meld != NO_MELD]
        for action in [*actions, PASS]:
            if self.over or action not in self.legal():
                return action
            self.apply(action)
        return None

    def lay_off(self, cards: int) -> list[int]:
        """Lay off cards (bits of ours) in any order that works, and pass.

        Returns:
            The cards (ours) that OpenSpiel refused.
        """
        pending = [spiel_card(card) for card in cards_of(cards)]
        while fitting := [card for card in pending if card in self.legal()]:
            self.apply(fitting[0])
            pending.remove(fitting[0])
        self.apply(PASS)
        return [spiel_card(card) for card in pending]

    def returns(self) -> list[int]:
        """Return the points of seats 0 and 1."""
        return [int(points) for points in self.state.returns()]


def eleven_card_deadwood(hand: int) -> int:
    """Return what OpenSpiel takes for the deadwood of eleven cards (bits of ours) at a knock."""
    return int(_start()[1].min_deadwood([spiel_card(card) for card in cards_of(hand)]))


def best_return(state: Any, seat: int) -> int:
    """Return the most points that ``seat`` can get in a state whose decisions left are all its own.

    Tries every way to lay off and meld: slow, for checks of the ways that were taken.
    """
    if state.is_terminal():
        return int(state.returns()[seat])
    best = None
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        points = best_return(after, seat)
        best = points if best is None else max(best, points)
    assert best is not None
    return best
