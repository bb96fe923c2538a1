"""How an agent plays: when it knocks, what it takes and what it throws, by turn and by score.

>>> table = habits("simple", "gold", rules="classic", games=4, seed=1)
>>> knocks = table[table["habit"] == "knock"]
>>> bool((knocks["chances"] == knocks["done"]).all())  # `simple` knocks as soon as it can
True
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ginrummy_agents.rules.base import lowers_deadwood, makes_meld, staying
from ginrummy_agents.rules.next_draw import loose_cards
from ginrummy_env.core.actions import BIG_GIN, DRAW_STOCK, KNOCK, TAKE_UPCARD
from ginrummy_env.core.cards import NUM_RANKS, NUM_SUITS, RANK_LETTERS, card_planes
from ginrummy_env.core.chance import Random
from ginrummy_env.core.deadwood import deadwood_after_discard, least_after_discard
from ginrummy_env.core.legal import forbidden_cards
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import ME, OPPONENT, View
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.provenance import agent_name

TURNS = 10
"""An agent's own turns are distinguished up to this one; later ones count with it."""

LEADS = ("40+ behind", "15–39 behind", "about level", "15–39 ahead", "40+ ahead")
_LEAD_EDGES = np.array([-39, -14, 15, 40])

UPCARDS = ("makes a meld", "lowers deadwood only", "does neither")

WHATS: dict[str, tuple[str, ...]] = {
    "knock": tuple(map(str, range(11))),
    "take": UPCARDS,
    "throw": tuple(RANK_LETTERS),
    "least": ("",),
}
"""The columns that distinguish the cases of each habit:

- knock: a knock was legal, and was it done; by the deadwood that the best one leaves.
- take: the upcard was offered, and was it taken; by what it would do.
- throw: a card that was in no meld was held when discarding, and was one of its rank thrown; by
  rank. Knocks do not count.
- least: a discard, and did it leave the least deadwood that it could.
"""


class Watched:
    """A policy that plays as another one does, while its decisions are counted."""

    def __init__(self, policy: str | Policy) -> None:
        """Watch a policy."""
        self.name = agent_name(policy)
        self._policy = make_policy(policy)
        self._counts = {
            habit: np.zeros((TURNS, len(LEADS), len(whats), 2), dtype=np.int64)
            for habit, whats in WHATS.items()
        }

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return what the policy does."""
        actions = np.asarray(self._policy.act(view, rng)).astype(np.int16)
        self._note(view, actions)
        return actions

    def table(self) -> pd.DataFrame:
        """Return the counts: a row for each habit, own turn, lead and what it was.

        Columns: ``habit``, ``turn`` (from 1, `TURNS` and later together), ``lead`` (of `LEADS`),
        ``what`` (of `WHATS`), ``chances`` and ``done``. Rows without a chance are left out.
        """
        rows = [
            (habit, turn + 1, LEADS[lead], whats[what], *map(int, self._counts[habit][at]))
            for habit, whats in WHATS.items()
            for at in np.ndindex(TURNS, len(LEADS), len(whats))
            for turn, lead, what in [at]
            if self._counts[habit][at][0]
        ]
        return pd.DataFrame(rows, columns=["habit", "turn", "lead", "what", "chances", "done"])

    def _note(self, view: View, actions: NDArray[np.int16]) -> None:
        offers = view.to_move & np.isin(view.phase, [Phase.OPENING, Phase.DRAW])
        rows = np.flatnonzero(offers)
        if rows.size:
            kind = np.where(lowers_deadwood(view, rows), 1, 2)
            kind[makes_meld(view.hand[rows], view.upcard[rows])] = 0
            self._count("take", view, rows, kind, actions[rows] == TAKE_UPCARD)
        rows = np.flatnonzero(view.to_move & (view.phase == Phase.DISCARD))
        if rows.size:
            self._note_discards(view, rows, actions[rows])

    def _note_discards(
        self, view: View, rows: NDArray[np.intp], actions: NDArray[np.int16]
    ) -> None:
        hands = view.hand[rows]
        least = least_after_discard(hands, forbidden_cards(view.taken_card[rows], view.rules))
        knocks = (actions >= KNOCK) & ((actions < DRAW_STOCK) | (actions == BIG_GIN))
        able = np.flatnonzero(view.select(rows).action_masks()[:, KNOCK:DRAW_STOCK].any(axis=1))
        self._count("knock", view, rows[able], least[able].clip(max=10), knocks[able])
        thrown = np.flatnonzero(actions < KNOCK)
        if not thrown.size:
            return
        rows, hands, cards = rows[thrown], hands[thrown], actions[thrown]
        loose = card_planes(loose_cards(hands) & ~staying(view, rows))
        held = loose.reshape(-1, NUM_SUITS, NUM_RANKS).any(axis=1)
        place, rank = np.nonzero(held)
        self._count("throw", view, rows[place], rank, cards[place] % NUM_RANKS == rank)
        left = deadwood_after_discard(hands)[np.arange(len(cards)), cards]
        self._count("least", view, rows, np.zeros(len(rows), dtype=np.intp), left == least[thrown])

    def _count(
        self,
        habit: str,
        view: View,
        rows: NDArray[np.intp],
        what: NDArray[Any],
        done: NDArray[np.bool_],
    ) -> None:
        turn = np.minimum(view.turn[rows] // 2, TURNS - 1)
        lead = view.scores[rows, ME].astype(np.int64) - view.scores[rows, OPPONENT]
        band = np.searchsorted(_LEAD_EDGES, lead, side="right")
        counts = self._counts[habit]
        at = np.ravel_multi_index((turn, band, what), counts.shape[:3])
        flat = counts.reshape(-1, 2)
        flat[:, 0] += np.bincount(at, minlength=len(flat))
        flat[:, 1] += np.bincount(at[done], minlength=len(flat))


def habits(
    policy: str | Policy,
    opponent: str | Policy,
    *,
    rules: str | Rules,
    games: int,
    seed: int,
    max_deals: int = 1000,
) -> pd.DataFrame:
    """Return how a policy decides in full games against an opponent; see `Watched.table`.

    Args:
        policy: who is watched.
        opponent: the other one; it matters, since it decides how long deals last.
        rules: a preset's name or Rules.
        games: an even number, in pairs with the seats swapped.
        seed: of decks and agents.
        max_deals: a game of this many deals ends without a winner.
    """
    watched = Watched(policy)
    against = make_policy(opponent)
    if agent_name(opponent) == watched.name:
        watched.name += ", watched"
    play_match(watched, against, games=games, seed=seed, rules=rules, max_deals=max_deals)
    return watched.table()


def shares(table: pd.DataFrame, habit: str, by: list[str], least: int = 1) -> pd.DataFrame:
    """Return how often a habit was followed, in % of the chances.

    Args:
        table: of `habits`.
        habit: which.
        by: the columns that distinguish cases.
        least: chances that there must be; rows with fewer are left out.

    Returns:
        Columns ``by``, ``chances``, ``done`` and ``share``.
    """
    chosen = table[table["habit"] == habit]
    sums = chosen.groupby(by, sort=False, as_index=False)[["chances", "done"]].sum()
    sums = sums[sums["chances"] >= least].reset_index(drop=True)
    return sums.assign(share=100 * sums["done"] / sums["chances"])
