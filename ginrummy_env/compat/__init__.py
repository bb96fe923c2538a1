"""For users of other packages' gin rummy: PettingZoo's `gin_rummy_v4`, and OpenSpiel's game.

- `gin_rummy_v4`, `gin_rummy_v5`: names and interface of the environment that PettingZoo 1.27 took
  out, on this project's core. See docs/MIGRATION.md.
- `openspiel`: the same deals in OpenSpiel's engine and in ours, action by action. Needs the extra
  ``bench``.
"""
