"""Tensors and strings of a deal, as OpenSpiel asks for them: what it calls a ``PyObserver``."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.compat.chance_deal import CARD_WORDS, ChanceDeal
from ginrummy_env.core.actions import DRAW_STOCK, NUM_ACTIONS
from ginrummy_env.core.cards import NO_CARD, NUM_CARDS, NUM_RANKS, NUM_SUITS, cards_of
from ginrummy_env.core.observation import observation_size, planes, scalars
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.single_game import quick_observation
from ginrummy_env.core.state import NUM_PLAYERS
from ginrummy_env.core.view import make_view
from ginrummy_env.render import position_line

_DECK = NUM_SUITS, NUM_RANKS


class HasDeal(Protocol):
    """A state of the game."""

    @property
    def deal(self) -> ChanceDeal: ...  # noqa: D102


class InformationState:
    """All that a player has seen, in its order.

    ``tensor`` holds it all; ``dict`` its parts, in the same memory:

    - ``player`` [2]: whose it is;
    - ``hand`` [4, 13]: the cards that they were dealt;
    - ``upcard`` [4, 13]: the first upcard;
    - ``actions`` [T, 108]: what the players have done, a row for each decision, T at most;
    - ``draws`` [T, 52]: in the same rows, the cards that the player has drawn from the stock.
    """

    def __init__(self, most_events: int) -> None:
        """Make a tensor of zeros; ``most_events`` is T."""
        shapes: Mapping[str, tuple[int, ...]] = {
            "player": (NUM_PLAYERS,),
            "hand": _DECK,
            "upcard": _DECK,
            "actions": (most_events, NUM_ACTIONS),
            "draws": (most_events, NUM_CARDS),
        }
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor: NDArray[np.float32] = np.zeros(sum(sizes), dtype=np.float32)
        pieces = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {
            name: piece.reshape(shape)
            for (name, shape), piece in zip(shapes.items(), pieces, strict=True)
        }

    def set_from(self, state: HasDeal, player: int) -> None:
        """Write what a player has seen into ``tensor``."""
        deal = state.deal
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        self.dict["hand"].reshape(-1)[list(deal.hand(player))] = 1
        if deal.upcard != NO_CARD:
            self.dict["upcard"].reshape(-1)[deal.upcard] = 1
        for number, (mover, action, card) in enumerate(deal.events):
            self.dict["actions"][number, action] = 1
            if card != NO_CARD and mover == player:
                self.dict["draws"][number, card] = 1
        if deal.drawing:
            self.dict["actions"][len(deal.events), DRAW_STOCK] = 1

    def string_from(self, state: HasDeal, player: int) -> str:
        """Return what a player has seen in words."""
        deal = state.deal
        words = [f"player {player}", " ".join(CARD_WORDS[card] for card in deal.hand(player))]
        if deal.upcard != NO_CARD:
            words.append(f"upcard {CARD_WORDS[deal.upcard]}")
        words += deal.words(player)
        if deal.laid_down():
            words.append(f"shown {_shown(deal, 1 - player)}")
        return ", ".join(words)


def _shown(deal: ChanceDeal, player: int) -> str:
    assert deal.state is not None
    return " ".join(CARD_WORDS[card] for card in cards_of(deal.state.hands[0, player]))


class Observation:
    """What a player sees now, as the environments observe it (`core.observation`).

    ``tensor`` holds it all; ``dict`` has ``planes`` [C, 4, 13] and ``scalars`` [S] in the same
    memory. All are 0 until the upcard is turned.
    """

    def __init__(self, rules: Rules) -> None:
        """Make a tensor of zeros for a game by some rules."""
        self._rules = rules
        self.tensor: NDArray[np.float32] = np.zeros(observation_size(), dtype=np.float32)
        self.dict = {"planes": planes(self.tensor), "scalars": scalars(self.tensor)}

    def set_from(self, state: HasDeal, player: int) -> None:
        """Write what a player sees into ``tensor``."""
        if state.deal.state is None:
            self.tensor.fill(0)
        else:
            self.tensor[:] = quick_observation(state.deal.state, self._rules, player, derived=True)

    def string_from(self, state: HasDeal, player: int) -> str:
        """Return what a player sees as a line of text."""
        deal = state.deal
        if deal.state is None:
            hand = " ".join(CARD_WORDS[card] for card in deal.hand(player))
            return f"player {player} | {hand}"
        view = make_view(deal.state, self._rules, [player])
        return f"player {player} | {position_line(view)}"
