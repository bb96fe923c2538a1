"""Kinds of players that the opponent may be: how each throws, and when each knocks.

Their shares before anything is known are those of a mixed field. What the opponent is seen to do
in a deal moves them (`evidence`).
"""

from dataclasses import dataclass
from functools import cache

from ginrummy_agents.search.belief import ten_of_52
from ginrummy_agents.search.rollout import ALWAYS, NEVER, Style
from ginrummy_agents.thresholds import plays_like_eaai
from ginrummy_env.core.rules import Rules


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
    waiting = (ALWAYS,) * (3 if plays_like_eaai(rules) else 7) + (NEVER,)
    return (
        Manner(
            words="knock as soon as they can",
            share=0.3,
            style=Style((ALWAYS,), alone=0, weak=0),
            knock_doubt=0.01,
            weighs=False,
            scale=0.5,
        ),
        Manner(
            words="knock in their first turns alone and then wait for gin",
            share=0.3,
            style=Style(waiting),
            knock_doubt=0.05,
            weighs=True,
            scale=0.5,
        ),
        Manner(
            words="knock while it pays and later wait for gin",
            share=0.4,
            style=Style(weighing(rules)),
            knock_doubt=0.1,
            weighs=True,
            scale=0.15,
        ),
    )
