"""How likely a game is won from a score: what a deal is worth in terms of the game.

Points are not what a game is about: 20 points at 90 : 40 win it, at 0 : 0 they help a little.
Paying each deal with the change it makes to the chance of winning adds up to exactly the pay for
winning the game, but every deal is paid for its own part: the same aim with far less noise to learn
from (potential-based shaping: Ng, Harada and Russell, 1999).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.win_chance import WinChance
from ginrummy_env.core.chance import FirstGame, Purpose, policy_keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import Rules
from ginrummy_env.envs.deal_infos import EndedDeals
from ginrummy_env.envs.episodes import chance_changes
from ginrummy_env.policy import Policy
from ginrummy_training.evaluation.play_deals import play_deals, points_of

__all__ = ["WinChance", "changes_of", "deal_points"]


def deal_points(policy: Policy, rules: Rules, deals: int, seed: int) -> NDArray[np.int16]:
    """Return what single deals of a policy against itself pay player 0, [deals] int16."""
    games = np.arange(deals, dtype=np.uint64) + np.uint64(FirstGame.LEARNING)
    state = new_games(seed, games, rules)
    row_keys = policy_keys(Purpose.WIN_CHANCE_DEALS, state.seed, state.game_number)
    play_deals((policy, policy), state, np.zeros(deals, dtype=np.int8), row_keys, rules)
    return points_of(state, 0)


def changes_of(chance: WinChance) -> Callable[[EndedDeals], NDArray[np.float64]]:
    """Return a reward hook of the environments: deals pay what they change in this chance."""
    return lambda ended: chance_changes(ended.state, chance)
