"""PettingZoo's ``gin_rummy_v5``, which was never released: v4 with its rewards kept after a seed.

It stood on PettingZoo's main branch between the fix of the rewards and the removal of the game.
Without ``faithful`` it is `gin_rummy_v4` under another name; with it, the only difference is that a
seeded reset leaves ``knock_reward`` and ``gin_reward`` as they were given.
"""

from typing import Any

from ginrummy_env.compat.aec import OldInterface, metadata, wrapped


class raw_env(OldInterface):
    """The environment without wrappers; the arguments are those of `OldInterface`."""

    metadata = metadata("gin_rummy_v5")
    LOSES_REWARDS = False


def env(**options: Any) -> Any:
    """Return the environment with the wrappers of PettingZoo's classic games.

    An illegal action ends the deal: -1 for who took it, 0 for the other. The arguments are those of
    `raw_env`.
    """
    return wrapped(raw_env(**options))
