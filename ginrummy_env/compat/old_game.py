"""The old game: all in which RLCard 1.2.0's gin rummy differs from our preset RLCARD.

Behind ``faithful=True``. Nothing of it is in the core, which deals the cards out differently,
lets them be drawn and discarded, and says which discards leave ten points or fewer. Here are:

- the deal: eleven cards to the non-dealer, ten to the dealer, no upcard; dealer and deck from
  RLCard's own random numbers, so that a seed gives the deal that it gave there;
- gin is compulsory where it is possible, and the engine picks its discard;
- a card just picked up may not be discarded, but may be knocked with;
- the card that ends a deal is laid nowhere;
- with two cards left in the stock a player may declare the hand dead or go on picking up; after 200
  recorded moves (the deal is the first) the player can only declare it dead;
- after the end players 0 and 1 each take a step without a choice;
- a knock or gin is paid whatever the other holds; everybody else pays their own deadwood / 100. No
  lay-offs, no undercut.
"""

import hashlib
import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.compat.actions import (
    DECLARE_DEAD,
    DISCARD,
    DRAW_CARD,
    GIN,
    KNOCK,
    NUM_OLD_ACTIONS,
    PICK_UP_DISCARD,
    SCORE_0,
    SCORE_1,
)
from ginrummy_env.compat.game import DISCARDS_AND_KNOCKS, Game
from ginrummy_env.core.actions import DRAW_STOCK, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT, HAND_SIZE, NO_CARD, NUM_CARDS, cards_of, hand_of
from ginrummy_env.core.deadwood import deadwood, knock_discards
from ginrummy_env.core.deal import require_decks
from ginrummy_env.core.game import restart
from ginrummy_env.core.legal import mover_hands
from ginrummy_env.core.rules import RLCARD
from ginrummy_env.core.single_game import quick_step
from ginrummy_env.core.state import BatchState, Outcome, Phase
from ginrummy_env.core.step import step

MOST_STEPS = 199
"""Steps before the end after which the hand can only be declared dead: 200 recorded moves."""

_ROW = np.zeros(1, dtype=np.intp)
_GIN_LIMIT = np.zeros(1, dtype=np.int16)
_NUM_STOCK = NUM_CARDS - 2 * HAND_SIZE - 1


def rlcard_numbers(seed: int) -> np.random.RandomState:
    """Return the random numbers of ``rlcard.make("gin-rummy", config={"seed": seed})``.

    The seed is hashed, as old releases of Gym did it: the first eight bytes of the SHA-512 of its
    decimal digits, as 32-bit words, without leading zeros.
    """
    digits = str(seed % (1 << 64)).encode()
    number = int.from_bytes(hashlib.sha512(digits).digest()[:8], "little")
    words = [number & 0xFFFFFFFF, number >> 32]
    # The generator of that time is what the old deals hang on.
    return np.random.RandomState(words if words[1] else words[:1])


class OldGame(Game):
    """One deal of the old game."""

    # Discarding the card just picked up is refused in `discards`; knocking with it is not.
    rules = replace(RLCARD, discard_taken_upcard=True, turn_bound=None)

    def __init__(self) -> None:
        self.state = BatchState.empty(1)
        self.over = True
        self._numbers = np.random.RandomState()
        self._gone = 0
        self._scored = -1  # hands counted, once somebody has ended the deal

    def deal(self, seed: int | None, options: Mapping[str, Any]) -> None:
        """Deal the next deal; see `Game.deal`.

        A given deck is in dealing order: eleven cards to the non-dealer, ten to the dealer, stock.
        """
        if seed is not None:
            if (number := operator.index(seed)) < 0:
                raise ValueError(f"seed={seed}: a whole number from 0 is needed")
            self._numbers = rlcard_numbers(number)
        dealer = int(self._numbers.choice([0, 1]))
        cards = list(range(NUM_CARDS))
        self._numbers.shuffle(cards)
        cards.reverse()  # RLCard deals from the end
        if options.get("deck") is not None:
            cards = require_decks([options["deck"]], 1)[0].tolist()
        if options.get("dealer") is not None:
            dealer = int(options["dealer"])
        self._lay_out(cards, dealer)

    def _lay_out(self, cards: Sequence[int], dealer: int) -> None:
        state = self.state
        restart(state, _ROW, 0, [0], self.rules, dealers=[dealer], decks=[cards])
        eleven = HAND_SIZE + 1
        state.hands[0, 1 - dealer] = hand_of(cards[:eleven])
        state.hands[0, dealer] = hand_of(cards[eleven : eleven + HAND_SIZE])
        state.stock_count[0] = _NUM_STOCK
        state.discard_pile[0] = NO_CARD
        state.discard_count[0] = 0
        state.first_upcard[0] = NO_CARD
        state.phase[0] = Phase.DISCARD
        self._gone, self._scored, self.over = 0, -1, False

    @property
    def player(self) -> int:
        """The player to move; after the end, whose hand is counted (at last player 1)."""
        return self.state.player.item(0) if self._scored < 0 else min(self._scored, 1)

    def mask(self) -> NDArray[np.int8]:
        """Return the legal actions of the player to move, [110] int8, a new array."""
        if self.over:
            return np.zeros(NUM_OLD_ACTIONS, dtype=np.int8)
        forced = None
        if self._scored >= 0:
            forced = (SCORE_0, SCORE_1)[self._scored]
        elif (
            self.state.step_count.item(0) >= MOST_STEPS
            and self.state.phase.item(0) != Phase.DISCARD
        ):
            forced = DECLARE_DEAD
        if forced is None:
            return super().mask()
        mask = np.zeros(NUM_OLD_ACTIONS, dtype=np.int8)
        mask[forced] = 1
        return mask

    def discards(self, mask: NDArray[np.int8]) -> None:
        """Allow gin alone where it is possible; else discards but of the card taken, and knocks."""
        held = self.held_actions()
        if held[NUM_CARDS:].any() and self._gin_discards():
            mask[GIN] = 1
            return
        mask[DISCARDS_AND_KNOCKS] = held
        taken = self.state.taken_card.item(0)
        if taken != NO_CARD:
            mask[DISCARD + taken] = 0

    def _gin_discards(self) -> list[int]:
        return cards_of(knock_discards(mover_hands(self.state), _GIN_LIMIT)[0])

    def step(self, action: int) -> None:
        """Take a legal action."""
        if self._scored >= 0:
            self._scored += 1
            self.over = self._scored == 2
        elif action == DECLARE_DEAD:
            self._end(Outcome.VOID)
        elif action == GIN:
            self._end(Outcome.GIN, self._gin_discards()[0])
        elif action >= KNOCK:
            self._end(Outcome.KNOCK, action - KNOCK)
        else:
            move = {DRAW_CARD: DRAW_STOCK, PICK_UP_DISCARD: TAKE_UPCARD}.get(
                action, action - DISCARD
            )
            if not quick_step(self.state, move, self.rules):
                step(self.state, np.array([move], dtype=np.int16), self.rules)

    def _end(self, outcome: Outcome, discard: int = NO_CARD) -> None:
        """End the deal. The cards go no further; the state says what a picture needs to know."""
        state = self.state
        knocker = state.player.item(0)
        self._scored = 0
        state.phase[0] = Phase.DEAL_OVER
        state.outcome[0] = outcome
        if outcome == Outcome.VOID:
            return
        bit = CARD_BIT[discard]
        self._gone = int(bit)
        for masks in (state.hands, state.known, state.discarded):
            masks[0] &= ~bit
        state.knocker[0] = state.winner[0] = knocker
        left = deadwood(state.hands[0])
        state.knocker_deadwood[0], state.defender_deadwood[0] = left[knocker], left[1 - knocker]

    def gone(self) -> int:
        """Return the card that ended the deal, as bits."""
        return self._gone

    def payoffs(self, knock_reward: float, gin_reward: float) -> tuple[float, float]:
        """Pay the player who ended the deal, and -deadwood / 100 to everybody else."""
        state = self.state
        paid = [-points / 100 for points in deadwood(state.hands[0]).tolist()]
        outcome = state.outcome.item(0)
        if outcome != Outcome.VOID:
            reward = gin_reward if outcome == Outcome.GIN else knock_reward
            paid[state.knocker.item(0)] = reward
        return paid[0], paid[1]
