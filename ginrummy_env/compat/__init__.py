"""For users of PettingZoo's `gin_rummy_v4`.

`gin_rummy_v4` has the names and the interface of the environment that PettingZoo 1.27 took out, on
this project's core. See docs/MIGRATION.md.
"""

__all__ = ["gin_rummy_v4"]
