"""Kinds of players that the opponent may be: how each throws, and when each knocks.

Their shares before anything is known are those of a mixed field. What the opponent has won so far
in the game moves them (`manner_shares`): whoever knocks as soon as they can wins deals for few
points. So does what they are seen to do in a deal (`evidence`).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ginrummy_agents.search.belief import ten_of_52
from ginrummy_agents.search.rollout import ALWAYS, NEVER, Style
from ginrummy_agents.thresholds import plays_like_eaai
from ginrummy_agents.win_chance import point_shares
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.types import Float
from ginrummy_env.core.view import OPPONENT, View


@dataclass(frozen=True, slots=True)
class Manner:
    """A kind of player."""

    words: str
    """What they do, as part of a sentence."""
    share: float
    """How often one meets them."""
    style: Style
    """How they play in rollouts; when it knocks says what not knocking reveals about their hand."""
    knock_doubt: float
    """How likely they are not to knock where the style would."""
    weighs: bool
    """Whether they weigh discards as `Champion` does; else only the deadwood left."""
    scale: float
    """A discard worse than the best by this many points is thrown e times less often."""
    dear: float
    """How many of the deals that they win are worth the gin bonus or more."""


CHAMPION_EAAI = (6, 6, 6, 6, 7, 9, NEVER)
CHAMPION_CLASSIC = (4, 4, 4, 5, 5, 5, 5, 6, 6, 8, 9, 9, 10, 10, NEVER)
"""Least deadwood with which `Champion` knocks, by own turn: where it did so in half of its deals
with itself."""


def weighing(rules: Rules) -> tuple[int, ...]:
    """Return the least deadwood to knock with of one who weighs it, by own turn.

    With a deck of another size, on which `Champion` was not watched: none, or any in the first
    seven turns.
    """
    eaai = plays_like_eaai(rules)
    if ten_of_52(rules):
        return CHAMPION_EAAI if eaai else CHAMPION_CLASSIC
    return (NEVER,) if eaai else (ALWAYS,) * 7 + (NEVER,)


@cache
def manners(rules: Rules) -> tuple[Manner, ...]:
    """Return the manners that an opponent may have."""
    eaai = plays_like_eaai(rules)
    waiting = (ALWAYS,) * (3 if eaai else 7) + (NEVER,)
    return (
        Manner(
            words="knock as soon as they can",
            share=0.3,
            style=Style((ALWAYS,), alone=0, weak=0),
            knock_doubt=0.01,
            weighs=False,
            scale=0.5,
            dear=0.23 if eaai else 0.32,
        ),
        Manner(
            words="knock in their first turns alone and then wait for gin",
            share=0.3,
            style=Style(waiting),
            knock_doubt=0.05,
            weighs=True,
            scale=0.5,
            dear=0.92 if eaai else 0.44,
        ),
        Manner(
            words="knock while it pays and later wait for gin",
            share=0.4,
            style=Style(weighing(rules)),
            knock_doubt=0.1,
            weighs=True,
            scale=0.15,
            dear=0.79 if eaai else 0.46,
        ),
    )


OTHERS = 0.1
"""Part of the shares that what an opponent has won does not move: nobody plays quite as thought."""

MOST_WON, MOST_POINTS = 20, 500
"""Deals won and points up to which they count."""


def manner_shares(view: View) -> Float:
    """Return how likely each manner is by what the opponent has won in the game, [N, M].

    The points of the deals that they won tell gins and undercuts from knocks, by which players who
    wait seldom win. With a deck of another size, or before they have won a deal: the shares of a
    mixed field.
    """
    kinds = manners(view.rules)
    before = np.array([kind.share for kind in kinds])
    shares = np.repeat(before[None], len(view), axis=0)
    if not ten_of_52(view.rules):
        return shares
    won, points = view.deals_won[:, OPPONENT], view.scores[:, OPPONENT]
    rows = np.flatnonzero((won > 0) & (won <= MOST_WON) & (points >= 0) & (points < MOST_POINTS))
    if rows.size:
        shares[rows] *= _chances_of_points(view.rules)[:, won[rows], points[rows]].T
        shares[rows] /= shares[rows].sum(axis=1, keepdims=True)
    found: Float = (1 - OTHERS) * shares + OTHERS * before
    return found


@cache
def _chances_of_points(rules: Rules) -> Float:
    """Return how likely deals won come to points, [M, MOST_WON + 1, MOST_POINTS]."""
    worth = np.maximum(point_shares(rules), 1e-9)
    dear = np.arange(len(worth)) >= rules.gin_bonus
    found = np.zeros((len(manners(rules)), MOST_WON + 1, MOST_POINTS))
    found[:, 0, 0] = 1
    for manner, kind in enumerate(manners(rules)):
        cheap, much = np.where(dear, 0, worth), np.where(dear, worth, 0)
        one = (1 - kind.dear) * cheap / cheap.sum() + kind.dear * much / much.sum()
        for deals in range(MOST_WON):
            found[manner, deals + 1] = np.convolve(found[manner, deals], one)[:MOST_POINTS]
    return found + 1e-12
