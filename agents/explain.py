"""What a policy thinks of its candidates, for those who watch: values, and a guess at the hand.

A policy may have a method ``explain(view, rng)`` that returns an `Explanation`. For the search and
for the learned policy the explanations are made here from what they weigh anyway. Others have none.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.features import features
from agents.ppo import Network, NetworkPolicy, Ppo, load_network, shipped
from agents.search import Search
from agents.search_belief import fitted
from agents.search_candidates import candidates_of
from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.chance import Random, keys
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import View
from ginrummy_env.policy import Policy, make_policy

Float = NDArray[np.float64]


@dataclass(slots=True)
class Explanation:
    """What a policy thinks in N positions."""

    values: Float
    """[N, 108] what each candidate is worth, the more the better; NaN where nothing is said."""
    unit: str
    """What the values are, in a few words."""
    opponent: Float | None = None
    """[N, 52] how likely each card is in the opponent's hand, from 0 to 1."""


def explain(policy: Policy, view: View, rng: Random) -> Explanation | None:
    """Return what a policy thinks of its candidates, or None if it tells nothing.

    Args:
        policy: any.
        view: N rows, the viewers to move.
        rng: as for `act`: from the same numbers come the values by which it has chosen.
    """
    own: Any = getattr(policy, "explain", None)
    if own is not None:
        told: Explanation = own(view, rng)
        return told
    if isinstance(policy, Search):
        return _of_search(policy, view, rng)
    if isinstance(policy, Ppo):
        path = Path(policy.path) if policy.path else shipped(view.rules)
        return _of_network(load_network(path), view)
    if isinstance(policy, NetworkPolicy):
        return _of_network(policy.network, view)
    return None


def _of_search(policy: Search, view: View, rng: Random) -> Explanation:
    """Return the mean of each candidate over the sampled worlds, and the fitted belief.

    Candidates differ by their mean gain over the base policy's action, which is what it chooses by:
    one that was given up after few worlds is compared in these alone.
    """
    values = np.full((len(view), NUM_ACTIONS), np.nan)
    seeds = (rng.random((len(view),)) * 2.0**53).astype(np.uint64)
    base = make_policy(policy.base_spec(view.rules))
    actions = np.asarray(base.act(view, rng)).astype(np.int16)
    searched = [Phase.OPENING, Phase.DRAW, Phase.DISCARD]
    rows = np.flatnonzero(view.to_move & np.isin(view.phase, searched))
    if rows.size:
        part = view.select(rows)
        found = candidates_of(part, actions[rows], policy.discards)
        counts = np.diff(found.starts, append=len(found.actions))
        several = np.flatnonzero(counts > 1)
        for start in range(0, len(several), _TOGETHER):
            some = several[start : start + _TOGETHER]
            of_some = found.select(some)
            trial = policy.weigh(part.select(some), of_some, keys(seeds[rows[some]]))
            gain, _ = trial.mean_gain()
            mean = trial.value / np.maximum(trial.count, 1)
            values[rows[some][of_some.rows], of_some.actions] = mean[trial.base] + gain
    unit = "chance of winning the game" if policy.value == "win" else "points of the deal"
    told = fitted().chances(view) if policy.belief else None
    return Explanation(values, unit, told)


_TOGETHER = 256
"""Positions weighed at once."""


def _of_network(network: Network, view: View) -> Explanation:
    """Return the chance with which each action would be drawn at temperature 1."""
    logits = network.logits(features(view, network.derived, network.ahead)).astype(np.float64)
    logits[~view.action_masks()] = -np.inf
    weights = np.exp(logits - np.maximum(logits.max(axis=1, keepdims=True), -1e30))
    chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-30)
    return Explanation(np.where(weights > 0, chances, np.nan), "chance of being chosen")
