"""The environments: PettingZoo, Gymnasium and Stable-Baselines3 interfaces to the rules.

The environments themselves are exported by `ginrummy_env`; their parts are here.
"""

from ginrummy_env.envs.deal_infos import RESULT_KEYS, DealResult, EndedDeals
from ginrummy_env.envs.features import Features, features_of, register_features, register_win_chance
from ginrummy_env.envs.opponents import OpponentError, OpponentPool
from ginrummy_env.envs.options import EpisodeOptions

__all__ = [
    "RESULT_KEYS",
    "DealResult",
    "EndedDeals",
    "EpisodeOptions",
    "Features",
    "OpponentError",
    "OpponentPool",
    "features_of",
    "register_features",
    "register_win_chance",
]
