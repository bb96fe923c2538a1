"""Why a search does what it does, in words, and what it takes the opponent for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ginrummy_agents.search.hands import odds_of, sample_hands
from ginrummy_agents.search.manners import manners
from ginrummy_agents.search.policy import Search
from ginrummy_agents.search.settle import left_over
from ginrummy_agents.search.worlds import sample_worlds
from ginrummy_env.core.chance import Random
from ginrummy_env.core.view import OPPONENT, View

HALF = 1.96
"""Standard errors in half of a 95 % interval."""

ActionWords = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Gain:
    """What a candidate is worth more than the base policy's action, in the same worlds."""

    mean: float
    error: float
    """Standard error of the mean; 0 for the base policy's action."""

    @property
    def half(self) -> float:
        """Half the width of its 95 % interval."""
        return HALF * self.error


def why(
    search: Search,
    base_name: str,
    base: int,
    action: int,
    gains: Mapping[int, Gain],
    words: ActionWords,
) -> str:
    """Return why a search does an action, in a sentence or two.

    It leaves its base policy's action only for a lead of more than ``margin`` standard errors, so
    what it does is often not what has the highest mean.

    Args:
        search: whose margin counts.
        base_name: what its base policy is called.
        base: the base policy's action.
        action: what the search does.
        gains: of each candidate.
        words: how an action is written.
    """
    if len(gains) < 2:
        return "Nothing else was worth weighing."

    def lead(gain: Gain) -> str:
        scale, unit = (100, "% of games") if search.value == "win" else (1, "points")
        return f"{scale * gain.mean:+.1f} ± {scale * gain.half:.1f} {unit}"

    margin = f"{search.margin:g} standard {'error' if search.margin == 1 else 'errors'}"
    best = max(gains, key=lambda each: gains[each].mean)
    if action == base:
        own = f"It is what {base_name}, its base policy, does"
        if gains[best].mean <= 0:
            return f"{own}, and no other candidate did better in the same sampled worlds."
        return (
            f"{own}. Means of sampled worlds say {words(best)} ({lead(gains[best])}), but it "
            f"leaves the base policy only for a lead of more than {margin}: a smaller one is "
            "often chance."
        )
    text = (
        f"{base_name}, its base policy, would {words(base)}; this did better in the same sampled "
        f"worlds, {lead(gains[action])}, by more than the {margin} that it wants."
    )
    if best != action:
        text += (
            f" The mean of {words(best)} is higher still ({lead(gains[best])}), but its lead is "
            "less certain."
        )
    return text


@dataclass(frozen=True, slots=True)
class OpponentBelief:
    """What sampled hands of the opponent look like."""

    deadwood: float
    """Mean, in points."""
    uniform: float
    """The same if all hands that agree with what is known were equally likely."""
    manners: tuple[tuple[str, float], ...]
    """What they may do about knocking, and the share of worlds in which they do."""
    had_turn: bool
    """Whether the opponent was seen to do anything yet, or has won a deal."""

    def words(self, name: str) -> str:
        """Return it in sentences.

        Args:
            name: of the opponent, as a sentence begins with it.
        """
        hand = (
            f"{name} is taken to hold about {self.deadwood:.0f} points of deadwood "
            f"({self.uniform:.0f} if their play said nothing)"
        )
        shares = [f"{words} in {100 * share:.0f} %" for words, share in self.manners]
        taken = f"In the sampled worlds they {', '.join(shares[:-1])} and {shares[-1]}"
        if not self.had_turn:
            return f"{hand}. {taken}: so are players before they have moved."
        return f"{hand}. {taken}."


def opponent_belief(search: Search, view: View, rng: Random, worlds: int = 400) -> OpponentBelief:
    """Return what a search takes the opponent for in a position.

    Args:
        search: it.
        view: one row.
        rng: randomness of one row.
        worlds: hands that are sampled.
    """
    even, _ = sample_hands(view, worlds, rng, odds_of(view, None))
    past = search.past(view)
    found = sample_worlds(view, worlds, rng, odds_of(view, search.card_belief(view.rules)), past)
    shares = np.bincount(found.manner, minlength=len(manners(view.rules))) / worlds
    return OpponentBelief(
        deadwood=float(left_over(found.theirs).mean()),
        uniform=float(left_over(even).mean()),
        manners=tuple(
            (manner.words, float(share))
            for manner, share in zip(manners(view.rules), shares, strict=True)
        ),
        had_turn=bool(past) or bool(view.deals_won[0, OPPONENT]),
    )
