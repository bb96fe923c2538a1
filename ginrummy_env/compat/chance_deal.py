"""One deal in which chance deals every card when it is due, as trees of games need it.

The core deals a whole deck at once. Here each card is an event of its own: the hands, a hand's
cards in ascending order (so a hand is one history, not one for each order of its cards), then the
upcard, then the top of the stock whenever a player draws. What the players do is the core's.
"""

from math import comb
from typing import NamedTuple, Self

import numpy as np

from ginrummy_env.core.actions import (
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    TAKE_UPCARD,
    IllegalActionError,
    format_action,
)
from ginrummy_env.core.cards import NO_CARD, NUM_CARDS, cards_of, format_card
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.sampling import sample_states
from ginrummy_env.core.single_game import quick_mask, quick_step
from ginrummy_env.core.state import NOBODY, NUM_PLAYERS, BatchState, Outcome
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view

ACTION_WORDS = tuple(format_action(action) for action in range(NUM_ACTIONS))
CARD_WORDS = tuple(format_card(card) for card in range(NUM_CARDS))


class Event(NamedTuple):
    """What a player did."""

    player: int
    action: int
    card: int
    """The card of a draw from the stock, which only the player has seen; else NO_CARD."""


class ChanceDeal:
    """A deal in play, and all that has happened in it.

    Copies share their contents until one of them goes on, so they cost next to nothing.

    Attributes:
        rules: the settings.
        dealer: 0 or 1; the other player opens.
        dealt: the cards of the deal so far: player 0's, player 1's, the upcard.
        state: one row of the core, or None until the upcard is turned.
        events: what the players have done.
        drawing: whether a player has drawn from the stock and chance has yet to give the card.
    """

    __slots__ = ("_legal", "_shared", "dealer", "dealt", "drawing", "events", "rules", "state")

    def __init__(self, rules: Rules, dealer: int) -> None:
        self.rules = rules
        self.dealer = dealer
        self.dealt: tuple[int, ...] = ()
        self.state: BatchState | None = None
        self.events: tuple[Event, ...] = ()
        self.drawing = False
        self._legal: list[int] | None = None
        self._shared = False

    def __deepcopy__(self, memo: object) -> Self:
        self._shared = True
        return self

    def going_on(self) -> "ChanceDeal":
        """Return this deal if nobody shares it, else a copy that may be changed."""
        if not self._shared:
            return self
        copy = ChanceDeal(self.rules, self.dealer)
        copy.dealt, copy.events, copy.drawing = self.dealt, self.events, self.drawing
        copy.state = None if self.state is None else self.state.copy()
        copy._legal = self._legal
        return copy

    # Whose turn it is, and what may happen

    @property
    def is_chance(self) -> bool:
        """Whether a card is to be dealt."""
        return self.state is None or self.drawing

    @property
    def is_over(self) -> bool:
        """Whether the deal is over."""
        return self.state is not None and bool(self.state.over[0])

    @property
    def player(self) -> int:
        """The player to move; of no meaning where chance is to act or the deal is over."""
        return 0 if self.state is None else self.state.player.item(0)

    def outcomes(self) -> list[tuple[int, float]]:
        """Return the cards that may be dealt now, ascending, and how likely each is."""
        if self.state is not None:
            stock = sorted(self.state.stock[0])
            return [(card, 1 / len(stock)) for card in stock]
        count, size = len(self.dealt), self.rules.hand_size
        rest = sorted(set(cards_of(self.rules.full_deck)) - set(self.dealt))
        place = count % size
        if count == NUM_PLAYERS * size:
            return [(card, 1 / len(rest)) for card in rest]
        if place:
            rest = [card for card in rest if card > self.dealt[-1]]
        # Of the hands that are still possible, those in which this card is the next in order.
        missing = size - place
        hands = comb(len(rest), missing)
        following = range(len(rest) - 1, -1, -1)
        return [
            (card, comb(after, missing - 1) / hands)
            for card, after in zip(rest, following, strict=True)
            if after >= missing - 1
        ]

    def legal(self) -> list[int]:
        """Return the actions of the player to move, ascending."""
        if self._legal is None:
            assert self.state is not None
            self._legal = np.flatnonzero(quick_mask(self.state, self.rules)).tolist()
        return self._legal

    # What happens

    def deal(self, card: int) -> None:
        """Deal a card that `outcomes` has."""
        if self.state is None:
            self.dealt += (card,)
            if len(self.dealt) > NUM_PLAYERS * self.rules.hand_size:
                self._begin()
            return
        _put_on_top(self.state, card)
        self.drawing = False
        self._take(DRAW_STOCK, card)

    def act(self, action: int) -> None:
        """Take an action of the player to move.

        Raises:
            IllegalActionError: one that is not legal.
        """
        if action not in self.legal():
            raise IllegalActionError(None, action, self.legal())
        if action == DRAW_STOCK:
            self.drawing = True
            self._legal = None
        else:
            self._take(action, NO_CARD)

    def _take(self, action: int, card: int) -> None:
        assert self.state is not None
        self.events += (Event(self.player, action, card),)
        self._legal = None
        if not quick_step(self.state, action, self.rules):
            step(self.state, np.array([action], dtype=np.int16), self.rules)

    def _begin(self) -> None:
        """Turn the upcard: the core deals the hands, and a stock in any order."""
        hands = self.hand(0), self.hand(1)
        opener = 1 - self.dealer
        deck = [
            card for pair in zip(hands[opener], hands[self.dealer], strict=True) for card in pair
        ]
        deck.append(self.dealt[-1])
        deck += sorted(set(cards_of(self.rules.full_deck)) - set(deck))
        self.state = new_games(0, 1, self.rules, dealers=[self.dealer], decks=[deck])

    def history(self) -> list[int]:
        """Return all that has happened as numbers: cards that were dealt, and actions."""
        history = list(self.dealt)
        for event in self.events:
            history.append(event.action)
            if event.action == DRAW_STOCK:
                history.append(event.card)
        return history + [DRAW_STOCK] * self.drawing

    # What it is worth, and what is seen of it

    def points(self) -> tuple[int, int]:
        """Return what the deal brings each player: the points of its winner, or 0."""
        if not self.is_over or self.state is None or self.state.winner.item(0) == NOBODY:
            return 0, 0
        points = self.state.points.item(0)
        return (points, -points) if self.state.winner.item(0) == 0 else (-points, points)

    def hand(self, player: int) -> tuple[int, ...]:
        """Return the cards that a player has been dealt, ascending, so far as they have been."""
        size = self.rules.hand_size
        return self.dealt[player * size : (player + 1) * size]

    @property
    def upcard(self) -> int:
        """The first upcard, or NO_CARD until it is turned."""
        return NO_CARD if self.state is None else self.dealt[-1]

    def words(self, player: int | None) -> list[str]:
        """Return what has happened in words, as a player has seen it, or as both have (None)."""
        words = [
            ACTION_WORDS[event.action]
            if event.card == NO_CARD or event.player != player
            else f"draw {CARD_WORDS[event.card]}"
            for event in self.events
        ]
        if self.drawing:
            words.append(ACTION_WORDS[DRAW_STOCK])
        return words

    def laid_down(self) -> bool:
        """Return whether both hands lie on the table: after a knock, not in a void deal."""
        return (
            self.state is not None and self.is_over and self.state.outcome.item(0) != Outcome.VOID
        )


def _put_on_top(state: BatchState, card: int) -> None:
    """Make a card of the stock its next one."""
    top = NUM_CARDS - state.stock_count.item(0)
    place = int(np.flatnonzero(state.deck[0] == card)[0])
    state.deck[0, place] = state.deck[0, top]
    state.deck[0, top] = card


# Other deals that a player would have seen alike


def resampled(deal: ChanceDeal, player: int, rng: np.random.Generator) -> ChanceDeal:
    """Return a deal, at random, in which a player has seen what they have seen in this one.

    All cards that fit are equally likely: nothing is inferred from what the opponent has chosen to
    do, beyond that they held the cards that it took.

    Args:
        deal: a deal at any point.
        player: 0 or 1, who knows what they know; not the player to move alone.
        rng: randomness.
    """
    if deal.state is None:
        return replayed(deal, _other_hands(deal, player, rng))
    for _ in range(MOST_TRIES):
        try:
            return replayed(deal, _other_history(deal, player, rng))
        except IllegalActionError:
            # Taking the upcard at the wall needs a hand to knock with (`Rules.at_void_stock`).
            continue
    raise RuntimeError(f"no deal that agrees with what player {player} knows in {MOST_TRIES} tries")


MOST_TRIES = 10_000


def replayed(deal: ChanceDeal, history: list[int]) -> ChanceDeal:
    """Return a new deal of the same rules and dealer in which this has happened.

    Raises:
        IllegalActionError: an action that is not legal.
    """
    again = ChanceDeal(deal.rules, deal.dealer)
    for number in history:
        if again.is_chance:
            again.deal(number)
        else:
            again.act(number)
    return again


def _other_hands(deal: ChanceDeal, player: int, rng: np.random.Generator) -> list[int]:
    """Return cards dealt so far, among them those that a player has."""
    cards, size = cards_of(deal.rules.full_deck), deal.rules.hand_size
    own = list(deal.hand(player))
    above = [card for card in cards if card > max(own, default=NO_CARD)]
    own += rng.permutation(above)[: size - len(own)].tolist()
    rest = [card for card in cards if card not in own]
    theirs = rng.permutation(rest)[:size].tolist()
    hands = sorted(own), sorted(theirs)
    return (hands[player] + hands[1 - player])[: len(deal.dealt)]


def _other_history(deal: ChanceDeal, player: int, rng: np.random.Generator) -> list[int]:
    """Return a history in which the opponent's hidden cards are others.

    The core samples the cards that they hold now. Those that they have discarded are known; which
    of all these they were dealt, and which they drew and when, is as open.
    """
    assert deal.state is not None
    opponent = 1 - player
    view = make_view(deal.state, deal.rules, [player])
    held = cards_of(sample_states(view, deal.rules, rng, 1).hands[0, opponent])
    gone, shown, draws = _public_cards(deal, opponent)
    # Their cards that did not come from the pile; the number of the event in which each went.
    hidden = {card: len(deal.events) for card in held if card not in shown} | gone
    drawn: dict[int, int] = {}
    for number in reversed(draws):
        # From the last draw on: what may be drawn later may be drawn earlier too.
        choices = sorted(card for card, left in hidden.items() if left > number)
        drawn[number] = choices[rng.integers(len(choices))]
        del hidden[drawn[number]]
    hands = {player: deal.hand(player), opponent: sorted(hidden)}
    history = [*hands[0], *hands[1], deal.upcard]
    for number, event in enumerate(deal.events):
        history.append(event.action)
        if event.action == DRAW_STOCK:
            history.append(drawn.get(number, event.card))
    return history + [DRAW_STOCK] * deal.drawing


def _public_cards(deal: ChanceDeal, player: int) -> tuple[dict[int, int], set[int], list[int]]:
    """Return what all have seen of a player's cards.

    Returns:
        The cards that they have discarded and had not taken from the pile, each with the number of
        the event; the cards from the pile that they hold; the numbers of their draws.
    """
    pile = [deal.upcard]
    gone: dict[int, int] = {}
    shown: set[int] = set()
    draws: list[int] = []
    for number, event in enumerate(deal.events):
        if event.action == TAKE_UPCARD:
            card = pile.pop()
            if event.player == player:
                shown.add(card)
        elif event.action == DRAW_STOCK:
            if event.player == player:
                draws.append(number)
        elif event.action < DRAW_STOCK:
            card = event.action % KNOCK
            pile.append(card)
            if event.player != player:
                continue
            if card in shown:
                shown.remove(card)
            else:
                gone[card] = number
    return gone, shown, draws
