"""What the learned agent sees: the observation, and planes that look one draw ahead.

A network of a few small layers can learn what is in a hand, but hardly the mean of the best that
the next draw could leave, which is a count over some thirty cards. So it is computed for it, as
the rule agents do: the network has to learn how to use it.
"""

from functools import cache

import numpy as np

from ginrummy_agents import compiled
from ginrummy_agents.learned.advice import ADVICE, with_advice
from ginrummy_agents.learned.planes import offered, with_room
from ginrummy_agents.learned.scaling import scaled, scaled_names, scaled_sizes
from ginrummy_agents.rules.base import staying
from ginrummy_agents.rules.lookahead import CHUNK, Lookahead, candidates_listed, fit_for_opponent
from ginrummy_agents.rules.next_draw import loose_cards
from ginrummy_agents.rules.work_lists import group_starts
from ginrummy_env.core.cards import CARD_BIT, NUM_CARDS
from ginrummy_env.core.deadwood import deadwood, least_after_discard
from ginrummy_env.core.legal import forbidden_cards
from ginrummy_env.core.observation import layout, observation_size, observe
from ginrummy_env.core.single_game import quick_view_observation
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Flat, Rows
from ginrummy_env.core.view import OPPONENT, View

AHEAD = {
    "left": "discards worth a thought: 1 - (deadwood left - the least of these) / 10",
    "outlook": "the same discards: 1 - (mean of the 7 best that the next draw could leave - the "
    "least of these) / 10, at least -1",
    "danger": "the same discards: how well the card fits the opponent's, / 20",
    "take": "at the upcard, if it may be taken: deadwood that taking it saves / 10, at most 1; and "
    "1 more if it is melded in every arrangement of least deadwood",
}
"""The planes that look ahead, in order, each for candidate cards (`lookahead.candidates`)."""

_LOOKS = Lookahead()


@cache
def feature_names(
    derived: bool, ahead: bool, units: bool = False, advice: bool = False
) -> tuple[str, ...]:
    """Return the names of what `features` returns: planes of 52 numbers, then scalars."""
    if units:
        names, count = scaled_names(), scaled_sizes()[0]
        return (*names[:count], *list(ADVICE) * advice, *names[count:])
    parts = layout(derived)
    planes = [entry.name for entry in parts if entry.is_plane] + list(AHEAD) * ahead
    return (*planes, *(entry.name for entry in parts if not entry.is_plane))


@cache
def feature_sizes(
    derived: bool, ahead: bool, units: bool = False, advice: bool = False
) -> tuple[int, int]:
    """Return how many planes and how many scalars `features` has."""
    if units:
        planes, scalars = scaled_sizes()
        return planes + len(ADVICE) * advice, scalars
    planes = sum(entry.is_plane for entry in layout(derived))
    return planes + len(AHEAD) * ahead, observation_size(derived) - planes * NUM_CARDS


def features(
    view: View,
    derived: bool = True,
    ahead: bool = True,
    units: bool = False,
    advice: bool = False,
) -> Flat:
    """Return the view as the learned agent sees it.

    Args:
        view: N rows.
        derived: with the derived planes of the observation.
        ahead: with the planes that look one draw ahead.
        units: in the units of `scaling`, which has the derived planes and looks at no draw.
        advice: with these, what `champion` makes of the choices.

    Returns:
        [N, size] float32, planes first: see `feature_names`.
    """
    if len(view) == 1:
        observation = quick_view_observation(view, derived or units)[None]
    else:
        observation = observe(view, derived or units)
    if units:
        seen = scaled(observation)
        return with_advice(seen, scaled_sizes()[0], view) if advice else seen
    return with_ahead(observation, view, derived) if ahead else observation


def with_ahead(observation: Flat, view: View, derived: bool = True) -> Flat:
    """Return observations with the planes that look ahead put behind their own planes.

    Args:
        observation: [N, size] float32, of `observe` for this view.
        view: N rows.
        derived: whether the observation has the derived planes.
    """
    wider, ahead = with_room(observation, feature_sizes(derived, False)[0], len(AHEAD))
    if compiled.in_use() and view.rules.hand_size % 3 == 1:  # see `next_draw.compiled_draws`
        from ginrummy_agents.learned import kernels

        with compiled.first_use("the planes that look ahead"):
            kernels.look_ahead(
                view.phase, view.to_move, view.hand, view.upcard, view.taken_card, view.unseen,
                view.known, view.rules.discard_taken_upcard, ahead,
            )  # fmt: skip
        return wider
    rows = np.flatnonzero(view.to_move & (view.phase == Phase.DISCARD))
    if rows.size:
        _write_discards(ahead, view, rows)
    rows = offered(view)
    if rows.size:
        _write_upcards(ahead, view, rows)
    return wider


def _write_upcards(ahead: Flat, view: View, rows: Rows) -> None:
    """Fill the plane of the upcard in rows in which it may be taken."""
    hands, upcards = view.hand[rows], view.upcard[rows]
    both = hands | CARD_BIT[upcards]
    stays = forbidden_cards(upcards, view.rules)
    saved = deadwood(hands) - least_after_discard(both, stays).astype(np.float32)
    melded = (loose_cards(both) & CARD_BIT[upcards]) == 0
    ahead[rows, 3, upcards] = np.clip(saved / 10, -1, 1) + melded


def _write_discards(ahead: Flat, view: View, rows: Rows) -> None:
    """Fill the planes of discards in rows in which eleven cards are held."""
    hands, unseen = view.hand[rows], view.unseen[rows]
    taken = CARD_BIT[view.taken_card[rows]]
    places, cards, left = candidates_listed(hands, taken, staying(view, rows))
    after = hands[places] & ~CARD_BIT[cards]
    outlook = np.empty(len(places), dtype=np.float32)
    for start in range(0, len(places), CHUNK):
        part = slice(start, start + CHUNK)
        outlook[part] = _LOOKS.outlook(
            after[part], left[part].astype(np.uint8), unseen[places[part]]
        )
    starts = group_starts(places)
    at = rows[places]
    for plane, values in enumerate((left.astype(np.float32), outlook)):
        worse = values - np.minimum.reduceat(values, starts)[places]
        ahead[at, plane, cards] = 1 - np.minimum(worse / 10, 2)
    danger = fit_for_opponent(cards, view.known[at, OPPONENT], unseen[places])
    ahead[at, 2, cards] = danger.astype(np.float32) / 20
