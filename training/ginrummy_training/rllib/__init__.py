"""Gin rummy on RLlib: the environment, a module with legal actions only, PPO by self-play, export.

Needs the extra ``scale``. ``ginrummy rllib --help`` says how to train.
"""

__all__ = ["config", "env", "module", "train"]
