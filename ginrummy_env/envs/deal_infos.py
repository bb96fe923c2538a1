"""How deals ended: outcome, hands, melds, lay-offs. Computed on access."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import format_card, format_hand
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.settlement import DealEnd, deal_ends
from ginrummy_env.core.state import NOBODY, BatchState, Phase
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
    def _ends(self) -> list[DealEnd | None]:
        return deal_ends(self.state, self.rules)

    def describe(self, place: int) -> dict[str, Any]:
        """Return one deal's info, see RESULT_KEYS."""
        state, end = self.state, self._ends[place]
        assert end is not None
        knocked = end.knocker != NOBODY
        lain = [_words(melds) for melds in end.melds]
        finals: list[list[int]] = []
        if state.phase[place] == Phase.GAME_OVER:
            some = state.scores[[place]], state.deals_won[[place]]
            finals = final_scores(*some, self.rules).tolist()
        return {
            "outcome": end.outcome.name.lower(),
            "winner": end.winner,
            "points": end.points,
            "knocker": end.knocker,
            "hands": [format_hand(hand) if knocked else "" for hand in state.hands[place]],
            "melds": lain,
            "layoffs": [
                (" ".join(map(format_card, cards)), meld)
                for cards, meld in zip(end.layoffs, lain[end.knocker], strict=True)
                if cards
            ],
            "deadwood": list(end.deadwood) if knocked else [],
            "void_reason": end.void_reason or "",
            "dealer": int(state.dealer[place]),
            "turns": int(state.turn[place]),
            "scores": list(end.scores),
            "deals_won": list(end.deals_won),
            "final_scores": finals[0] if finals else [],
            "deal_number": int(state.deal_number[place]),
        }


def _words(melds: Iterable[Iterable[int]]) -> list[str]:
    return [" ".join(map(format_card, meld)) for meld in melds]


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
