"""One deal in OpenSpiel's engine: its numbers for cards, melds and actions, and laying down.

OpenSpiel (the extra ``bench``) is imported when a deal is made.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ginrummy_env.core.cards import NUM_RANKS, NUM_SUITS, cards_of
from ginrummy_env.core.melds import MELDS, NO_MELD
from ginrummy_env.core.rules import OPENSPIEL, Rules

DRAW_UPCARD, DRAW_STOCK, PASS, KNOCK, MELD = 52, 53, 54, 55, 56

_SUIT = (0, 3, 2, 1)
"""Our suits are s h d c, OpenSpiel's s c d h; the numbers go both ways."""
_FIRST_RUN = {3: 65, 4: 109, 5: 149}
_NUM_UPCARDS = 1


def spiel_card(card: int, rules: Rules = OPENSPIEL) -> int:
    """Return OpenSpiel's number of one of our cards.

    OpenSpiel counts the cards of a small deck from 0 on, without gaps; with fewer than four suits
    ours stand for theirs in their order. With 52 cards it is the same the other way.

    >>> spiel_card(51), spiel_card(spiel_card(51))
    (25, 51)
    """
    suit, rank = divmod(card, NUM_RANKS)
    return (_SUIT[suit] if rules.num_suits == NUM_SUITS else suit) * rules.num_ranks + rank


def spiel_meld(meld: Iterable[int], rules: Rules = OPENSPIEL) -> int:
    """Return OpenSpiel's number 0..184 of a meld of three to five cards (of ours).

    >>> spiel_meld((0, 13, 26)), spiel_meld((0, 1, 2)), spiel_meld((0, 13, 26, 39))
    (1, 65, 4)
    """
    of_suit = rules.num_ranks
    cards = sorted(spiel_card(card, rules) for card in meld)
    suits, ranks = [card // of_suit for card in cards], [card % of_suit for card in cards]
    if len(set(ranks)) == 1:
        missing = [suit for suit in range(NUM_SUITS) if suit not in suits]
        return 5 * ranks[0] + (missing[0] if missing else NUM_SUITS)
    lows = NUM_RANKS - len(cards) + 1
    return _FIRST_RUN[len(cards)] + lows * suits[0] + ranks[0]


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
def _start(rules: Rules) -> tuple[Any, Any]:
    """Return a state before the deal (a copy of it costs a hundredth of a new one), and utils."""
    spiel = _pyspiel()
    sizes = {name: getattr(rules, name) for name in ("num_ranks", "num_suits", "hand_size")}
    game = spiel.load_game("gin_rummy", {**sizes, "knock_card": rules.knock_limit})
    return game.new_initial_state(), spiel.gin_rummy.GinRummyUtils(*sizes.values())


@cache
def _numbers(rules: Rules) -> tuple[list[int], list[int]]:
    """Return OpenSpiel's numbers of our cards and of our melds; -1 of those that the deck lacks."""
    deck = set(cards_of(rules.full_deck))
    cards = [spiel_card(card, rules) if card in deck else -1 for card in range(52)]
    melds = [spiel_meld(meld, rules) if deck >= set(meld) else -1 for meld in MELDS]
    return cards, melds


class SpielDeal:
    """A deal in OpenSpiel, its cards given.

    Attributes:
        state: OpenSpiel's state, never at a chance node.
    """

    def __init__(
        self,
        first: Sequence[int],
        second: Sequence[int],
        rest: Sequence[int],
        rules: Rules = OPENSPIEL,
    ) -> None:
        """Deal.

        Args:
            first, second: the cards (of ours) of seats 0 and 1, ten each; seat 0 opens.
            rest: the upcard, then the stock, its next card first.
            rules: the sizes of deck and hands, and the knock limit.
        """
        self.state = _start(rules)[0].clone()
        self._cards, self._melds = _numbers(rules)
        self._stock = [self._cards[card] for card in rest[_NUM_UPCARDS:]]
        for card in [*first, *second, *rest[:_NUM_UPCARDS]]:
            self.state.apply_action(self._cards[card])

    def cards(self, cards: Iterable[int]) -> list[int]:
        """Return OpenSpiel's numbers of our cards, ascending."""
        return sorted(self._cards[card] for card in cards)

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
        actions = [MELD + self._melds[meld] for meld in melds if meld != NO_MELD]
        for action in [*actions, PASS]:
            if self.over or action not in self.legal():
                return action
            self.apply(action)
        return None

    def lay_off(self, cards: int) -> list[int]:
        """Lay off cards (bits of ours) in any order that works, and pass.

        Returns:
            The cards (OpenSpiel's) that it refused.
        """
        pending = self.cards(cards_of(cards))
        while fitting := [card for card in pending if card in self.legal()]:
            self.apply(fitting[0])
            pending.remove(fitting[0])
        self.apply(PASS)
        return pending

    def returns(self) -> list[int]:
        """Return the points of seats 0 and 1."""
        return [int(points) for points in self.state.returns()]


def eleven_card_deadwood(hand: int, rules: Rules = OPENSPIEL) -> int:
    """Return what OpenSpiel takes for the deadwood of eleven cards (bits of ours) at a knock."""
    cards = [spiel_card(card, rules) for card in cards_of(hand)]
    return int(_start(rules)[1].min_deadwood(cards))


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
