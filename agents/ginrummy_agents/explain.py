"""What a policy thinks of its candidates: values, and chances of the opponent's cards.

A policy may have a method ``explain(view, rng)`` that returns an `Explanation`. For the search, the
learned policy and the champion the explanations are made here from what they weigh anyway. Others
have none.
"""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.learned.policy import Network, NetworkPolicy, Ppo, load_network, shipped
from ginrummy_agents.rules.base import staying
from ginrummy_agents.rules.champion import Champion, open_to_taking
from ginrummy_agents.rules.champion_features import estimate, knock_features
from ginrummy_agents.rules.lookahead import candidates
from ginrummy_agents.rules.work_lists import cards_listed, least_valued
from ginrummy_agents.search.candidates import candidates_of
from ginrummy_agents.search.policy import Search
from ginrummy_agents.search.reasons import Gain
from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, NUM_ACTIONS, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT
from ginrummy_env.core.chance import Random, keys
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Float
from ginrummy_env.core.view import View
from ginrummy_env.policy import Policy, make_policy


@dataclass(slots=True)
class Explanation:
    """What a policy thinks in N positions."""

    values: Float
    """[N, 108] value of each candidate (higher is better); NaN where not evaluated."""
    unit: str
    """What the values are, in a few words."""
    opponent: Float | None = None
    """[N, 52] how likely each card is in the opponent's hand, from 0 to 1."""
    search: "SearchChoice | None" = None
    """How a search came to its choice; None for other policies."""


@dataclass(slots=True)
class SearchChoice:
    """What a search compares in N positions: gains over its base policy's action."""

    base_name: str
    base: NDArray[np.int16]
    """[N] the base policy's action, which is left only for a lead of more than the margin."""
    gain: Float
    """[N, 108] mean gain over it in the same worlds; NaN where not evaluated."""
    error: Float
    """[N, 108] standard error of the gain."""

    def gains(self, row: int) -> dict[int, Gain]:
        """Return the gains of one position's candidates."""
        found = np.flatnonzero(~np.isnan(self.gain[row])).tolist()
        return {
            action: Gain(float(self.gain[row, action]), float(self.error[row, action]))
            for action in found
        }


def explain(policy: Policy, view: View, rng: Random) -> Explanation | None:
    """Return what a policy thinks of its candidates, or None if it does not explain itself.

    Args:
        policy: any.
        view: N rows, the viewers to move.
        rng: as for `act`: the same numbers give the values by which it chose.
    """
    own: Any = getattr(policy, "explain", None)
    if own is not None:
        explanation: Explanation = own(view, rng)
        return explanation
    if isinstance(policy, Search):
        return _of_search(policy, view, rng)[1]
    if isinstance(policy, Champion):
        return _of_champion(policy, view)
    if isinstance(policy, Ppo):
        path = Path(policy.path) if policy.path else shipped(view.rules, policy.agent)
        return _of_network(load_network(path), view)
    if isinstance(policy, NetworkPolicy):
        return _of_network(policy.network, view)
    return None


def act_and_explain(
    policy: Policy, view: View, rng: Random
) -> tuple[NDArray[np.int16], Explanation | None]:
    """Return what a policy does, exactly as its ``act``, and what it thinks.

    A search searches only once for both.

    Args:
        policy: any.
        view: N rows, the viewers to move.
        rng: as for `act`.
    """
    if isinstance(policy, Search) and getattr(policy, "explain", None) is None:
        return _of_search(policy, view, rng)
    again = deepcopy(rng)  # a Generator's plain copy shares its state
    return policy.act(view, rng), explain(policy, view, again)


def _of_search(policy: Search, view: View, rng: Random) -> tuple[NDArray[np.int16], Explanation]:
    """Return its actions, the mean of each candidate over the sampled worlds, the fitted belief.

    Candidates differ by their mean gain over the base policy's action, which is what it chooses by:
    one that was given up after few worlds is compared in these alone.
    """
    values, gains, errors = (np.full((len(view), NUM_ACTIONS), np.nan) for _ in range(3))
    seeds = (rng.random((len(view),)) * 2.0**53).astype(np.uint64)
    base_name = policy.base_spec(view.rules)
    base = make_policy(base_name)
    actions = np.asarray(base.act(view, rng)).astype(np.int16)
    base_actions = actions
    searched = [Phase.OPENING, Phase.DRAW, Phase.DISCARD]
    rows = np.flatnonzero(view.to_move & np.isin(view.phase, searched))
    if rows.size:
        part = view.select(rows)
        found = candidates_of(part, actions[rows], policy.discards)
        counts = np.diff(found.starts, append=len(found.actions))
        several = np.flatnonzero(counts > 1)
        actions[rows] = found.actions[found.starts]
        base_actions = actions.copy()
        for start in range(0, len(several), _TOGETHER):
            some = several[start : start + _TOGETHER]
            of_some = found.select(some)
            trial = policy.weigh(part.select(some), of_some, keys(seeds[rows[some]]))
            actions[rows[some]] = trial.choice(policy.margin)
            gain, error = trial.mean_gain()
            mean = trial.value / np.maximum(trial.count, 1)
            places = rows[some][of_some.rows], of_some.actions
            values[places] = mean[trial.base] + gain
            gains[places], errors[places] = gain, error
    unit = "chance of winning the game" if policy.value == "win" else "points of the deal"
    belief = policy.card_belief(view.rules)
    chances = belief.chances(view) if belief is not None else None
    choice = SearchChoice(base_name, base_actions, gains, errors)
    return actions, Explanation(values, unit, chances, choice)


_TOGETHER = 256
"""Positions weighed at once."""


def _of_champion(policy: Champion, view: View) -> Explanation:
    """Return its estimates of what the deal is worth after each choice that it weighs.

    To knock is weighed with the best discards alone, and not with gin, which it always lays down.
    """
    values = np.full((len(view), NUM_ACTIONS), np.nan)
    weights = policy.weights(view)
    draws = [Phase.OPENING, Phase.DRAW]
    if view.rules.at_void_stock != "knock_with_discard":
        draws.append(Phase.WALL)
    rows = np.flatnonzero(view.to_move & np.isin(view.phase, draws) & (view.upcard >= 0))
    rows = rows[open_to_taking(view, rows)]
    if rows.size:
        take, stock = policy.draw_options(view, rows)
        other = np.where(view.phase[rows] == Phase.DRAW, DRAW_STOCK, PASS)
        values[rows, TAKE_UPCARD] = estimate(take, weights.take)
        values[rows, other] = estimate(stock, weights.stock)
    rows = np.flatnonzero(view.to_move & (view.phase == Phase.DISCARD))
    if rows.size:
        hands = view.hand[rows]
        chosen = candidates(hands, CARD_BIT[view.taken_card[rows]], staying(view, rows))
        places, cards = cards_listed(chosen)
        kept = hands[places] & ~CARD_BIT[cards]
        worth = policy.worth_of_keeping(view, rows[places], kept, cards)
        values[rows[places], cards] = worth
        places, cards = cards_listed(least_valued(places, cards, -worth))
        left = deadwood(hands[places] & ~CARD_BIT[cards])
        may = (left <= view.knock_limit[rows[places]]) & (left > 0)
        some = rows[places[may]]
        knocking = estimate(knock_features(view, some, left[may]), weights.knock)
        values[some, KNOCK + cards[may]] = knocking
    return Explanation(values, "points of the deal")


def _of_network(network: Network, view: View) -> Explanation:
    """Return the chance with which each action would be drawn at temperature 1."""
    logits = network.logits(network.features(view)).astype(np.float64)
    logits[~view.action_masks()] = -np.inf
    weights = np.exp(logits - np.maximum(logits.max(axis=1, keepdims=True), -1e30))
    chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-30)
    return Explanation(np.where(weights > 0, chances, np.nan), "chance of being chosen")
