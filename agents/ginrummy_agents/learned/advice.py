"""What `champion` makes of the choices, as inputs of a network that learns where it is wrong.

A network that begins with imitation forgets a little of what it imitates, and learns back the same
little by playing. Here the estimates of the rule agent are among the inputs: following them is the
easiest thing to learn, and what is learned by playing is when not to.
"""

import numpy as np

from ginrummy_agents.learned.planes import offered, with_room
from ginrummy_agents.rules.base import staying
from ginrummy_agents.rules.champion import Champion, open_to_taking
from ginrummy_agents.rules.champion_features import estimate, knock_features
from ginrummy_agents.rules.lookahead import candidates
from ginrummy_agents.rules.work_lists import cards_listed, group_starts
from ginrummy_env.core.cards import CARD_BIT
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Flat, Rows
from ginrummy_env.core.view import View

ADVICE = {
    "advised_discard": "discards worth a thought: 1 - (worth of the best - worth of this) / 5, at "
    "least -1",
    "advised_knock": "the best of these, if one may knock with it: 1 + (worth of knocking - worth "
    "of going on) / 10, from -1 to 3; 3 with gin",
    "advised_take": "the upcard, if it may be taken: 1 + (worth of taking it - worth of the "
    "stock) / 5, from -1 to 3; -1 if it is in no meld and saves no deadwood",
}
"""The planes of advice, in order; worth in points of the deal, as `champion` estimates it."""

_CHAMPION = Champion()


def with_advice(seen: Flat, planes: int, view: View) -> Flat:
    """Return inputs with the planes of advice put behind their own planes.

    Args:
        seen: [N, size] float32, ``planes`` × 52 numbers and scalars.
        planes: how many planes there are.
        view: N rows.

    Returns:
        [N, size + 3 × 52] float32, a new array.
    """
    wider, advice = with_room(seen, planes, len(ADVICE))
    rows = np.flatnonzero(view.to_move & (view.phase == Phase.DISCARD))
    if rows.size:
        _write_discards(advice, view, rows)
    rows = offered(view)
    if rows.size:
        advice[rows, 2, view.upcard[rows]] = -1
        rows = rows[open_to_taking(view, rows)]
    if rows.size:
        take, stock = _CHAMPION.draw_options(view, rows)
        weights = _CHAMPION.weights(view)
        gain = estimate(take, weights.take) - estimate(stock, weights.stock)
        advice[rows, 2, view.upcard[rows]] = np.clip(1 + gain / 5, -1, 3)
    return wider


def _write_discards(advice: Flat, view: View, rows: Rows) -> None:
    """Fill the planes of discards and knocks in rows in which eleven cards are held."""
    hands = view.hand[rows]
    chosen = candidates(hands, CARD_BIT[view.taken_card[rows]], staying(view, rows))
    places, cards = cards_listed(chosen)
    kept = hands[places] & ~CARD_BIT[cards]
    worth = _CHAMPION.worth_of_keeping(view, rows[places], kept, cards)
    starts = group_starts(places)
    best = np.maximum.reduceat(worth, starts)
    worse = best[places] - worth
    advice[rows[places], 0, cards] = np.maximum(1 - worse / 5, -1)
    at = np.flatnonzero(worse == 0)
    at = at[group_starts(places[at])]  # the first of equals
    cards, left = cards[at], deadwood(kept[at])
    knocking = np.flatnonzero(left <= view.knock_limit[rows])
    if knocking.size:
        some, card = rows[knocking], cards[knocking]
        worth_now = estimate(
            knock_features(view, some, left[knocking]), _CHAMPION.weights(view).knock
        )
        gain = np.clip(1 + (worth_now - best[knocking]) / 10, -1, 3)
        advice[some, 1, card] = np.where(left[knocking] == 0, 3, gain)
