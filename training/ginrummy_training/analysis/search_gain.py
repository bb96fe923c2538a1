"""What leaving the base policy is worth, in positions of its own deals.

A cheap measure of a search and its parts. The base policy plays deals from random scores; at some
of its decisions each variant of the search is asked too. Where one wants another action, both are
done in the true position, the stock is shuffled again, and the base policy and its opponent play
the deal to its end, several times with the same cards for both. The gain is the change in the
chance of winning the game; a game has some hundred decisions, so the gain in a hundred decisions is
about what games would show, without their noise. Variants are compared in the same positions.

    ginrummy search-gain search:64 search:64,belief=false --out p.json
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.search.policy import Search
from ginrummy_agents.win_chance import win_chance
from ginrummy_env.core.actions import KNOCK
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.chance import FirstGame, Purpose, RowRandom, keys, policy_keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import BatchState, Phase, concatenate
from ginrummy_env.core.step import step
from ginrummy_env.core.types import Float, Rows
from ginrummy_env.core.view import View, make_view
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.evaluation.play_deals import play_deals, points_of

KINDS = ("take", "leave", "knock", "not knock", "other discard")
"""What the search wants in place of the base policy's action."""

EVERY = 3
"""Every third decision of a deal is looked at."""


@dataclass(slots=True)
class Positions:
    """N decisions of the base policy."""

    states: BatchState
    deals: NDArray[np.int64]  # [N] which deal each is of
    row_keys: NDArray[np.uint64]  # [N]
    actions: NDArray[np.int16]  # [N] the base policy's


def collect(base: Policy, other: Policy, rules: Rules, deals: int, seed: int) -> Positions:
    """Play deals from random scores and return decisions of the base policy."""
    numbers = np.arange(deals, dtype=np.uint64)
    state = new_games(seed, np.uint64(FirstGame.SEARCH_GAIN) + numbers, rules)
    scores = RowRandom(keys(Purpose.GAIN_SCORES, np.uint64(seed), numbers)).random((deals, 2))
    state.scores[:] = (scores * rules.target).astype(np.int16)
    row_keys = policy_keys(Purpose.GAIN_DEALS, np.uint64(seed), numbers)
    found: list[BatchState] = []
    which: list[Rows] = []

    def on_decision(policy: int, rows: Rows, view: View, actions: NDArray[np.int16]) -> None:
        kept = rows[(rows + view.step_count) % EVERY == 0]
        if policy == 0 and kept.size:
            found.append(state.select(kept))
            which.append(kept)

    play_deals((base, other), state, np.arange(deals) % 2, row_keys, rules, on_decision)
    states, deal = concatenate(found), np.concatenate(which)
    asked = keys(Purpose.GAIN_DECISIONS, row_keys[deal], states.step_count)
    rng = RowRandom(asked)
    rng.random((len(states),))  # the search draws its own number first
    return Positions(states, deal, asked, base.act(make_view(states, rules), rng))


def play_on(
    states: BatchState,
    actions: NDArray[np.int16],
    row_keys: NDArray[np.uint64],
    policies: tuple[Policy, Policy],
    rules: Rules,
    repeats: int,
) -> Float:
    """Return the chance of winning the game after an action and the rest of the deal, [N].

    Args:
        states: N positions.
        actions: [N] what the player to move does.
        row_keys: [N] of the stocks and of what the policies draw.
        policies: the mover's and the opponent's.
        rules: the settings.
        repeats: how often each is played, with newly shuffled stocks.
    """
    rows = np.repeat(np.arange(len(states)), repeats)
    state = states.select(rows)
    again = keys(row_keys[rows], np.tile(np.arange(repeats), len(states)))
    order = RowRandom(again).random((len(rows), NUM_CARDS))
    places = np.arange(NUM_CARDS)
    first = NUM_CARDS - state.stock_count.astype(np.int64)
    order = np.where(places >= first[:, None], 1 + order, places / NUM_CARDS)
    state.deck[:] = np.take_along_axis(state.deck, order.argsort(axis=1), axis=1)
    me = state.player.copy()
    each = np.arange(len(rows))
    scores = np.stack([state.scores[each, me], state.scores[each, 1 - me]], axis=1)
    step(state, actions[rows], rules)
    play_deals(policies, state, me, again, rules)
    points = points_of(state, me)
    return win_chance(scores, points, rules).reshape(-1, repeats).mean(axis=1)


def kinds_of(states: BatchState, base: NDArray[np.int16], other: NDArray[np.int16]) -> Any:
    """Return the place in KINDS of each change, [N]."""
    drawing = states.phase != Phase.DISCARD
    takes = other == 105
    knocks, knocked = (other >= KNOCK) & ~drawing, (base >= KNOCK) & ~drawing
    return np.select([drawing & takes, drawing, knocks & ~knocked, knocked & ~knocks], range(4), 4)


def measure(
    variants: Sequence[str], against: str, rules: Rules, deals: int, seed: int, repeats: int
) -> dict[str, Any]:
    """Return what each variant gains over their common base policy.

    Raises:
        ValueError: a variant that is not a search, or has another base policy.
    """
    searches = []
    for name in variants:
        search = make_policy(name)
        if not isinstance(search, Search):
            raise ValueError(f"{name}: not an agent that searches")
        searches.append(search)
    bases = {search.base_spec(rules) for search in searches}
    if len(bases) > 1:
        raise ValueError(f"variants with different base policies: {', '.join(sorted(bases))}")
    base, other = make_policy(bases.pop()), make_policy(against)
    positions = collect(base, other, rules, deals, seed)
    view = make_view(positions.states, rules)
    count = len(view)
    chosen = [search.act(view, RowRandom(positions.row_keys)) for search in searches]
    left = [np.flatnonzero(actions != positions.actions) for actions in chosen]
    # Each action in question is played on once, however many variants want it.
    asked = np.unique(
        np.concatenate(
            [rows * 256 + actions[rows] for rows, actions in zip(left, chosen, strict=True)]
            + [rows * 256 + positions.actions[rows] for rows in left]
        )
    )
    rows = asked // 256
    value = play_on(
        positions.states.select(rows),
        (asked % 256).astype(np.int16),
        positions.row_keys[rows],
        (base, other),
        rules,
        repeats,
    )
    results: list[dict[str, Any]] = []
    by_deal: list[Float] = []
    for name, actions, rows in zip(variants, chosen, left, strict=True):
        new = value[np.searchsorted(asked, rows * 256 + actions[rows])]
        old = value[np.searchsorted(asked, rows * 256 + positions.actions[rows])]
        gain = new - old
        by_deal.append(np.bincount(positions.deals[rows], gain, minlength=deals).astype(np.float64))
        kinds = kinds_of(positions.states.select(rows), positions.actions[rows], actions[rows])
        results.append(
            {
                "search": name,
                "left": len(rows) / count,
                **per_hundred(by_deal[-1], count),
                "over_the_first": per_hundred(by_deal[-1] - by_deal[0], count),
                "kinds": {
                    kind: mean_of(gain[kinds == number]) for number, kind in enumerate(KINDS)
                },
            }
        )
    return {
        "rules": rules_name(rules),
        "base": next(iter(searches)).base_spec(rules),
        "against": against,
        "deals": deals,
        "decisions": count,
        "seed": seed,
        "repeats": repeats,
        "variants": results,
    }


def per_hundred(by_deal: Float, decisions: int) -> dict[str, float]:
    """Return the gain in a hundred decisions, in % of games, with half its 95 % interval."""
    scale = 100 * 100 / decisions
    half = 1.96 * by_deal.std() * np.sqrt(len(by_deal))
    return {"gain": float(scale * by_deal.sum()), "half": float(scale * half)}


def mean_of(gains: Float) -> dict[str, float]:
    """Return how many changes there are, and their mean gain in % with half its interval."""
    if len(gains) < 2:
        return {"count": len(gains)}
    half = 1.96 * gains.std() / np.sqrt(len(gains))
    return {"count": len(gains), "gain": float(100 * gains.mean()), "half": float(100 * half)}
