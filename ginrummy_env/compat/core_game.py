"""The core's game, preset RLCARD, behind the 110 actions: what compat plays by default."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.compat.actions import DECLARE_DEAD, DISCARD, DRAW_CARD, GIN, PICK_UP_DISCARD
from ginrummy_env.compat.game import DISCARDS_AND_KNOCKS, Game
from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import cards_of
from ginrummy_env.core.deadwood import deadwood, knock_discards
from ginrummy_env.core.legal import mover_hands
from ginrummy_env.core.rules import RLCARD
from ginrummy_env.core.single_game import quick_step
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.envs.deal_infos import EndedDeals
from ginrummy_env.envs.episodes import Episodes
from ginrummy_env.envs.options import EpisodeOptions
from ginrummy_env.envs.starts import read_start

_ROW = np.zeros(1, dtype=np.intp)
_GIN_LIMIT = np.zeros(1, dtype=np.int16)
_GINS = (Outcome.GIN, Outcome.BIG_GIN, Outcome.GIN_ANSWERED)


class CoreGame(Game):
    """One deal by the rules of the preset RLCARD: opening, free gin, lay-offs, undercut.

    `DRAW_CARD` in the opening leaves the upcard (the core's pass); `GIN` discards the lowest card
    that leaves no deadwood; `DECLARE_DEAD` passes at the wall. The score actions do not occur.
    """

    rules = RLCARD

    def __init__(self) -> None:
        self._games = Episodes(1, EpisodeOptions(rules=RLCARD, episode="deal", reward="points"))
        self._ended: EndedDeals | None = None
        self.state = self._games.state
        self.over = True

    def deal(self, seed: int | None, options: Mapping[str, Any]) -> None:
        """Deal the next deal; see `Game.deal`. The deck is in the core's order, see `core.deal`."""
        start = read_start(options, 1, self._games.options)
        self._games.reseed(seed, _ROW)
        self._games.start(_ROW, start)
        self._ended = None
        self.over = False

    def discards(self, mask: NDArray[np.int8]) -> None:
        """Allow what the core allows, and `GIN` beside it where a discard leaves no deadwood."""
        held = self.held_actions()
        mask[DISCARDS_AND_KNOCKS] = held
        if held[KNOCK:].any():
            mask[GIN] = bool(self._gin_discards())

    def _gin_discards(self) -> list[int]:
        hand, state = mover_hands(self.state), self.state
        return cards_of(knock_discards(hand, _GIN_LIMIT, state.taken_card)[0])

    def step(self, action: int) -> None:
        """Take a legal action, in the core's numbers."""
        taken = self._translate(action)
        if quick_step(self.state, taken, RLCARD):
            return
        self._ended = self._games.step(np.array([taken], dtype=np.int16))
        self.over = self._ended is not None

    def _translate(self, action: int) -> int:
        if action == DRAW_CARD:
            return PASS if self.state.phase.item(0) == Phase.OPENING else DRAW_STOCK
        if action == PICK_UP_DISCARD:
            return TAKE_UPCARD
        if action == DECLARE_DEAD:
            return PASS
        if action == GIN:
            return KNOCK + self._gin_discards()[0]
        return action - DISCARD

    def payoffs(self, knock_reward: float, gin_reward: float) -> tuple[float, float]:
        """Pay the winner by how they won (an undercut as a knock), all others -deadwood / 100.

        The deadwood is what counted: after lay-offs, or each player's own in a void deal.
        """
        state = self.state
        winner, knocker = state.winner.item(0), state.knocker.item(0)
        if knocker == NOBODY:
            left = deadwood(state.hands[0]).tolist()
        else:
            left = [state.knocker_deadwood.item(0), state.defender_deadwood.item(0)]
            left = left if knocker == 0 else left[::-1]
        paid = [-points / 100 for points in left]
        if winner != NOBODY:
            paid[winner] = gin_reward if state.outcome.item(0) in _GINS else knock_reward
        return paid[0], paid[1]

    def told(self) -> dict[str, Any]:
        """Return the result as the project's own environments tell it, under ``deals``."""
        return {} if self._ended is None else {"deals": [self._ended.results()[0].to_dict()]}
