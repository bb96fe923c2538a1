"""How likely a game is won from a score: what a deal is worth in terms of the game.

Points are not what a game is about: 20 points at 90 : 40 win it, at 0 : 0 they help a little.
Paying each deal with the change it makes to the chance of winning adds up to exactly the pay for
winning the game, but every deal is paid for its own part: the same aim with far less noise to learn
from (potential-based shaping: Ng, Harada and Russell, 1999).
"""

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.win_chance import WinChance
from ginrummy_env.core.chance import Purpose, RowRandom, policy_keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy

__all__ = ["TEACHING_GAMES", "WinChance", "deal_points"]

TEACHING_GAMES = 3 << 62
"""Game numbers from here on are for learning without an environment: those of the environments
have one of the two highest bits, those of matches neither."""


def deal_points(policy: Policy, rules: Rules, deals: int, seed: int) -> NDArray[np.int16]:
    """Return what single deals of a policy against itself pay player 0, [deals] int16."""
    games = np.arange(deals, dtype=np.uint64) + np.uint64(TEACHING_GAMES)
    state = new_games(seed, games, rules)
    while not state.over.all():
        playing = np.flatnonzero(~state.over)
        part = state.select(playing)
        row_keys = policy_keys(
            Purpose.WIN_CHANCE_DEALS, part.seed, part.game_number, part.step_count
        )
        actions = np.zeros(len(state), dtype=np.int16)
        actions[playing] = policy.act(make_view(part, rules), RowRandom(row_keys))
        step(state, actions, rules)
    sign = np.where(state.winner == NOBODY, 0, 1 - 2 * state.winner.astype(np.int16))
    return (sign * state.points).astype(np.int16)
