"""Positions to decide in: of an agent's games with itself, at all places of their deals."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ginrummy_env.core.view import View

MOMENTS = 64
"""Steps played in each game; the games are looked at after different numbers of them."""


@functools.cache
def views_of(agent: str, rules: str, seed: int, games: int) -> View:
    """Return what the player to move sees in games of an agent with itself, one position per game.

    Args:
        agent: its specification.
        rules: a preset's name.
        seed: of decks and agent.
        games: N; games that are over by then are left out.
    """
    import numpy as np

    from ginrummy_env.core.game import new_games, next_deals
    from ginrummy_env.core.rules import PRESETS
    from ginrummy_env.core.step import step
    from ginrummy_env.core.view import make_view
    from ginrummy_env.policy import make_policy

    rng, policy, given = np.random.default_rng(seed), make_policy(agent), PRESETS[rules]
    state = new_games(seed, games, given)
    spread = state.copy()
    for moment in range(MOMENTS):
        rows = np.flatnonzero(np.arange(games) % MOMENTS == moment)
        spread.assign(rows, state.select(rows))
        step(state, policy.act(make_view(state, given), rng), given)
        next_deals(state, given)
    view = make_view(spread, given)
    return view.select(np.flatnonzero(view.to_move))
