"""Monte Carlo search: candidates are tried in the same sampled worlds and played to the end."""

from dataclasses import dataclass
from functools import cache
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.parameters import Parametrized, parameter
from ginrummy_agents.search.belief import Belief, belief_for, ten_of_52
from ginrummy_agents.search.candidates import Candidates, candidates_of
from ginrummy_agents.search.hands import odds_of
from ginrummy_agents.search.manners import weighing
from ginrummy_agents.search.past import PastTurn, past_turns
from ginrummy_agents.search.rollout import NEVER, Style
from ginrummy_agents.search.trial import Trial, try_out
from ginrummy_agents.search.worlds import sample_worlds
from ginrummy_agents.thresholds import plays_like_eaai
from ginrummy_env.core.chance import Random, RowRandom, keys
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import View
from ginrummy_env.policy import Policy, make_policy

ROLLOUTS = 1 << 17
"""Rollouts of one batch; some 400 bytes each."""

FIRST_STAGE = 16
"""Fewest worlds after which a candidate may be given up."""


@dataclass(frozen=True)
class Search(Parametrized):
    """Leaves its base policy only for an action that does better in sampled worlds.

    For each decision ``worlds`` worlds (determinizations: the hidden cards made up) are sampled
    that agree with the view, the same for every candidate. In each, each candidate is done and the
    deal is played to its end by fast rules (`rollout.Style`); its result is worth the chance of
    winning the game from both scores, or its points. The base policy's action is left only for one
    with a mean gain over it of more than ``margin`` standard errors, paired by world.

    Each world is played several times, its stock cut at as many places. Worlds are tried in stages,
    each four times the one before: candidates that are behind get no more.

    With a deck of another size all hands are equally likely and the base is `lookahead`: the belief
    and `champion` were fitted to ten cards of 52.

    Source: jdh8/gin-rummy-engine (2026).
    """

    worlds: int = parameter(64, "sampled worlds a decision", 2, 100_000)
    cuts: int = parameter(8, "times each world is played, its stock cut at as many places", 1, 64)
    base: str = parameter("auto", "the policy it starts from; auto: by the rules")
    margin: float = parameter(1.0, "standard errors that a candidate must be ahead", 0, 100)
    value: str = parameter("win", "what a deal is worth", choices=("win", "points"))
    belief: bool = parameter(True, "sampled hands look played")
    turns: int = parameter(2, "last turns of the opponent that sampled hands explain", 0, 3)
    waits: bool = parameter(False, "waits for gin in rollouts; else knocks while it pays")
    alone: int = parameter(3, "points given up in rollouts to throw cards without use", 0, 98)
    weak: int = parameter(1, "points given up in rollouts to throw cards of little use", 0, 98)
    discards: int = parameter(4, "most discards weighed", 1, 11)
    milliseconds: float = parameter(0.0, "time a decision in place of `worlds`; 0: none", 0, 60_000)

    def __post_init__(self) -> None:
        Parametrized.__post_init__(self)
        make_policy(self.base_spec(None))

    def base_spec(self, rules: Rules | None) -> str:
        """Return the name of the base policy under these rules."""
        if self.base != "auto":
            return self.base.replace(";", ",")
        if rules is None or ten_of_52(rules):
            return "champion"
        return "lookahead" if plays_like_eaai(rules) else "lookahead:knock_turns=7"

    def card_belief(self, rules: Rules) -> Belief | None:
        """Return how the opponent's cards are judged; None: all alike."""
        return belief_for(rules) if self.belief else None

    def style(self, rules: Rules) -> Style:
        """Return how the searching player plays in rollouts."""
        knock_from = (NEVER,) if self.waits else weighing(rules)
        return Style(knock_from, self.alone, self.weak)

    def past(self, view: View) -> list[PastTurn]:
        """Return the opponent's last turns by which sampled hands are weighed."""
        return past_turns(view, self.turns) if self.belief else []

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return an action for each row, -1 where it is not the viewer's move.

        Args:
            view: N rows.
            rng: one number per row is drawn from it, besides what the base policy draws.
        """
        seeds = (rng.random((len(view),)) * 2.0**53).astype(np.uint64)
        base = _base(self.base_spec(view.rules))
        actions = np.asarray(base.act(view, rng)).astype(np.int16)
        rows = np.flatnonzero(view.to_move & np.isin(view.phase, _SEARCHED))
        if not rows.size:
            return actions
        part = view.select(rows)
        found = candidates_of(part, actions[rows], self.discards)
        actions[rows] = self._decide(part, found, keys(seeds[rows]))
        return actions

    def _decide(
        self, view: View, found: Candidates, row_keys: NDArray[np.uint64]
    ) -> NDArray[np.int16]:
        """Return the actions chosen, [N]; rows with one candidate need no worlds."""
        chosen = found.actions[found.starts].copy()
        counts = np.diff(found.starts, append=len(found.actions))
        several = np.flatnonzero(counts > 1)
        worth = counts[several] * self.worlds * self.cuts
        groups = np.cumsum(worth) // ROLLOUTS
        for group in np.unique(groups):
            rows = several[groups == group]
            trial = self.weigh(view.select(rows), found.select(rows), row_keys[rows])
            chosen[rows] = trial.choice(self.margin)
        return chosen

    def weigh(
        self, view: View, found: Candidates, row_keys: NDArray[np.uint64], give_up: float = 1.0
    ) -> Trial:
        """Return what the candidates did in the sampled worlds.

        Args:
            view: N rows, the viewer to move.
            found: their candidates.
            row_keys: [N] uint64, from which all chance follows.
            give_up: how many standard errors behind the base's action a candidate gets no more
                worlds.
        """
        trial = Trial(found, self.value == "win")
        me, past = self.style(view.rules), self.past(view)
        odds = odds_of(view, self.card_belief(view.rules))
        deadline, stages = np.inf, stage_worlds(self.worlds)
        if self.milliseconds > 0:
            deadline = perf_counter() + len(view) * self.milliseconds / 1000
            stages = [max(self.worlds // 4, 1)] * 1000
        for stage, worlds in enumerate(stages):
            live = trial.live()
            if worlds <= 0 or not live.size or perf_counter() > deadline:
                break
            rng = RowRandom(keys(row_keys, stage))
            sampled = sample_worlds(view, worlds, rng, odds, past)
            try_out(trial, view, live, sampled, me, self.cuts)
            trial.drop(give_up)
        return trial


def stage_worlds(worlds: int) -> list[int]:
    """Return how many worlds are tried at a time: each stage ends at four times those before it.

    >>> stage_worlds(64), stage_worlds(1000)
    ([16, 48], [62, 188, 750])
    """
    ends = [worlds]
    while ends[-1] // 4 >= FIRST_STAGE:
        ends.append(ends[-1] // 4)
    return np.diff([0, *ends[::-1]]).tolist()


@cache
def _base(spec: str) -> Policy:
    return make_policy(spec)


_SEARCHED = [Phase.OPENING, Phase.DRAW, Phase.DISCARD]
