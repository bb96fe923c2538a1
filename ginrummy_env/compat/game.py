"""One deal behind the 110 actions: what the old game and ours have in common.

The cards lie in a `BatchState` of one row, so drawing, taking and discarding, the discards that
allow a knock, and least deadwood are the core's. `core_game` plays it by the core's rules,
`old_game` by those of the game that PettingZoo took out.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.compat.actions import (
    DECLARE_DEAD,
    DISCARD,
    DRAW_CARD,
    NUM_OLD_ACTIONS,
    PICK_UP_DISCARD,
)
from ginrummy_env.core.cards import CARD_BIT, FULL_DECK, LANE_RANKS, NUM_CARDS, NUM_LANE_PATTERNS
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.single_game import quick_mask
from ginrummy_env.core.state import BatchState, Phase

NUM_PLANES = 5
_NUM_ROW_ACTIONS = 2 * NUM_CARDS  # the core's discards and knocks, which stand side by side there

_BITS = [int(bit) for bit in CARD_BIT]  # _BITS[NO_CARD] is 0
_ALL = int(FULL_DECK)
_LANE = NUM_LANE_PATTERNS - 1
_FLAGS = [row.astype(np.int8).tobytes() for row in LANE_RANKS]


def _choice(*actions: int) -> bytes:
    return bytes(action in actions for action in range(NUM_OLD_ACTIONS))


class Game(ABC):
    """A deal of two players by numbers.

    Attributes:
        rules: the core's settings in force.
        state: one row.
        over: whether the deal is over and both have been paid.
    """

    rules: Rules
    state: BatchState
    over: bool

    DRAWING: Mapping[int, bytes] = {
        Phase.OPENING: _choice(DRAW_CARD, PICK_UP_DISCARD),
        Phase.FIRST_DRAW: _choice(DRAW_CARD),
        Phase.DRAW: _choice(DRAW_CARD, PICK_UP_DISCARD),
        Phase.WALL: _choice(DECLARE_DEAD, PICK_UP_DISCARD),
    }
    """[110] flags in the phases in which nothing but the phase counts."""

    @abstractmethod
    def deal(self, seed: int | None, options: Mapping[str, Any]) -> None:
        """Deal the next deal; a seed begins a new stream of deals.

        Args:
            seed: any whole number from 0, or None.
            options: ``deck`` (52 cards in dealing order) and ``dealer`` (0 or 1), may be missing.
        """

    @abstractmethod
    def discards(self, mask: NDArray[np.int8]) -> None:
        """Put the legal actions of a player with eleven cards into ``mask``, [110] zeros.

        ``self.held_actions()`` says what the core allows.
        """

    @abstractmethod
    def step(self, action: int) -> None:
        """Take a legal action."""

    @abstractmethod
    def payoffs(self, knock_reward: float, gin_reward: float) -> tuple[float, float]:
        """Return what a deal that is over pays to players 0 and 1."""

    def told(self) -> dict[str, Any]:
        """Return what ``infos`` say of a deal that is over."""
        return {}

    @property
    def player(self) -> int:
        """The player to move."""
        return self.state.player.item(0)

    def mask(self) -> NDArray[np.int8]:
        """Return the legal actions of the player to move, [110] int8, a new array."""
        if self.over:
            return np.zeros(NUM_OLD_ACTIONS, dtype=np.int8)
        drawing = self.DRAWING.get(self.state.phase.item(0))
        if drawing is not None:
            return np.frombuffer(bytearray(drawing), dtype=np.int8)
        mask = np.zeros(NUM_OLD_ACTIONS, dtype=np.int8)
        self.discards(mask)
        return mask

    def held_actions(self) -> NDArray[np.int8]:
        """Return the core's flags of discards and knocks, [104] int8: those from `DISCARD` on."""
        return quick_mask(self.state, self.rules)[:_NUM_ROW_ACTIONS]

    def gone(self) -> int:
        """Return the cards that are in no hand, pile or stock, as bits."""
        return 0

    def planes(self, player: int, count: int) -> NDArray[np.int8]:
        """Return what a player sees, [count, 52] int8, a new array.

        Args:
            player: whose hand it is, to move or not.
            count: 4, or 5 with the cards that they have not seen.

        Returns:
            Rows: their hand; the upcard; the rest of the discard pile; cards that the opponent took
            from the pile and holds; all others (in the stock, or unknown in the opponent's
            hand).
        """
        state = self.state
        hand, other = state.hands.item(0, player), state.hands.item(0, 1 - player)
        known = state.known.item(0, 1 - player)
        laid = _BITS[state.first_upcard.item(0)] | state.discarded.item(0, 0)
        pile = (laid | state.discarded.item(0, 1)) & ~(hand | other)
        top = state.discard_count.item(0) - 1
        upcard = _BITS[state.discard_pile.item(0, top)] if top >= 0 else 0
        cards = [hand, upcard, pile & ~upcard, known]
        if count == NUM_PLANES:
            cards.append(_ALL & ~(hand | pile | known | self.gone()))
        flags = b"".join(
            [_FLAGS[each >> shift & _LANE] for each in cards for shift in (0, 16, 32, 48)]
        )
        return np.frombuffer(bytearray(flags), dtype=np.int8).reshape(count, NUM_CARDS)


DISCARDS_AND_KNOCKS = slice(DISCARD, NUM_OLD_ACTIONS)
"""Where the core's 104 discards and knocks stand among the 110."""
