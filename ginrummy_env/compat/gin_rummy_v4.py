"""PettingZoo's ``gin_rummy_v4``, on this project's core: change the import and continue.

>>> from ginrummy_env.compat import gin_rummy_v4
>>> env = gin_rummy_v4.env(knock_reward=0.5, gin_reward=1.0)
>>> env.reset(seed=42)
>>> observation, reward, termination, truncation, info = env.last()
>>> observation["observation"].shape, observation["action_mask"].shape
((4, 52), (110,))

What differs from PettingZoo's, with and without ``faithful=True``: docs/MIGRATION.md.
"""

from typing import Any

from ginrummy_env.compat.aec import OldInterface, metadata, wrapped


class raw_env(OldInterface):
    """The environment without wrappers; the arguments are those of `OldInterface`."""

    metadata = metadata("gin_rummy_v4")


def env(**options: Any) -> Any:
    """Return the environment with the wrappers of PettingZoo's classic games.

    An illegal action ends the deal: -1 for who took it, 0 for the other. The arguments are those of
    `raw_env`.
    """
    return wrapped(raw_env(**options))
