"""How deals ended: outcome, hands, melds, lay-offs. Computed when somebody looks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import format_card, format_hand
from ginrummy_env.core.melds import MELDS, NO_MELD
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.settlement import LaidDown, lay_down, void_reasons
from ginrummy_env.core.state import NOBODY, BatchState, Outcome, Phase
from ginrummy_env.core.types import Rows

RESULT_KEYS = {
    "outcome": "gin, big_gin, knock, undercut, equal, gin_answered or void",
    "winner": "of the deal: 0, 1, or -1 for nobody",
    "points": "won by the winner",
    "knocker": "0, 1, or -1 for nobody",
    "hands": "the cards of players 0 and 1 at the end, as text; empty if nobody knocked: they are "
    "not laid down",
    "melds": "the melds that players 0 and 1 laid down, as text; empty if nobody knocked",
    "layoffs": "cards and the knocker's meld on which they were laid off, as text",
    "deadwood": "points left in the hands of 0 and 1, after lay-offs; empty if nobody knocked",
    "void_reason": "why a deal is void: stock, bound; else empty",
    "dealer": "0 or 1",
    "turns": "discards made",
    "scores": "points of the game of 0 and 1, this deal included",
    "deals_won": "by 0 and 1, this deal included",
    "final_scores": "of 0 and 1 with all bonuses if the game is over, else empty",
    "deal_number": "of this deal in its game, from 0",
}
"""What is reported of a deal that has ended. Players are given by number, cards as text.

Nothing here tells a card that a player has not seen, now or later: neither the hands of a void deal
nor the seed, from which the next decks would follow (the environment's owner has `provenance`).
"""


@dataclass(frozen=True)
class EndedDeals:
    """Deals that ended in one step, and what they pay.

    Attributes:
        rows: [K] in which rows.
        state: K games as they were when the deal ended, without seed and game number.
        rules: their settings.
        rewards: [K, 2] float64, paid to players 0 and 1.
        terminated: [K] bool, whether the episode ended with the deal.
        truncated: [K] bool, whether it was cut off.
    """

    rows: Rows
    state: BatchState
    rules: Rules
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return K."""
        return len(self.rows)

    def results(self) -> list["DealResult"]:
        """Return each deal's info, computed lazily."""
        return [DealResult(self, place) for place in range(len(self.rows))]

    @cached_property
    def _laid(self) -> tuple[NDArray[np.intp], LaidDown]:
        """Return where each deal stands among those laid down, and what was laid down."""
        state = self.state
        knocked = np.flatnonzero(state.knocker != NOBODY)
        places = np.full(len(state), -1, dtype=np.intp)
        places[knocked] = np.arange(len(knocked))
        some = state.select(knocked)
        return places, lay_down(some.hands, some.knocker, some.discards, self.rules)

    def describe(self, place: int) -> dict[str, Any]:
        """Return one deal's info, see RESULT_KEYS."""
        state = self.state
        knocker = int(state.knocker[place])
        info: dict[str, Any] = {
            "outcome": Outcome(int(state.outcome[place])).name.lower(),
            "winner": int(state.winner[place]),
            "points": int(state.points[place]),
            "knocker": knocker,
            "hands": ["", ""],
            "melds": [[], []],
            "layoffs": [],
            "deadwood": [],
            "void_reason": void_reasons(state.select([place]), self.rules)[0] or "",
            "dealer": int(state.dealer[place]),
            "turns": int(state.turn[place]),
            "scores": state.scores[place].tolist(),
            "deals_won": state.deals_won[place].tolist(),
            "final_scores": [],
            "deal_number": int(state.deal_number[place]),
        }
        if state.phase[place] == Phase.GAME_OVER:
            finals = final_scores(state.scores[[place]], state.deals_won[[place]], self.rules)
            info["final_scores"] = finals[0].tolist()
        if knocker != NOBODY:
            places, laid = self._laid
            at = places[place]
            info["hands"] = [format_hand(hand) for hand in state.hands[place]]
            lain = [_meld(number) for number in laid.knocker_melds[at] if number != NO_MELD]
            theirs = [_meld(number) for number in laid.defence.melds[at] if number != NO_MELD]
            left = [int(state.knocker_deadwood[place]), int(state.defender_deadwood[place])]
            info["melds"] = [lain, theirs] if knocker == 0 else [theirs, lain]
            info["deadwood"] = left if knocker == 0 else left[::-1]
            info["layoffs"] = [
                (format_hand(cards), meld)
                for cards, meld in zip(laid.defence.layoffs[at], lain, strict=False)
                if cards
            ]
        return info


def _meld(number: int | np.integer[Any]) -> str:
    return " ".join(format_card(card) for card in MELDS[int(number)])


class DealResult(Mapping[str, Any]):
    """One deal's info: a read-only mapping with RESULT_KEYS, computed at first look."""

    __slots__ = ("_deals", "_info", "_place")

    def __init__(self, deals: EndedDeals, place: int) -> None:
        """Stand for deal number ``place`` of ``deals``."""
        self._deals = deals
        self._place = place
        self._info: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a dict."""
        if self._info is None:
            self._info = self._deals.describe(self._place)
        return self._info

    def __getitem__(self, key: str) -> Any:
        return self.to_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(RESULT_KEYS)

    def __len__(self) -> int:
        return len(RESULT_KEYS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.to_dict() == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.to_dict())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a dict, so that not all deals of the step go along."""
        return dict, (self.to_dict(),)
