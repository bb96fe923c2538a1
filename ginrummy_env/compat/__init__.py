"""For users of other libraries: PettingZoo's `gin_rummy_v4`, and OpenSpiel.

`gin_rummy_v4` has the names and the interface of the environment that PettingZoo 1.27 took out, on
this project's core (docs/MIGRATION.md). `openspiel_game` registers our rules as a game of
OpenSpiel, and `openspiel_tree` makes games of OpenSpiel from the whole trees of small deals
(docs/SMALL_GAMES.md); both need ``pyspiel``. `deal_tree` has these trees as arrays.
"""

__all__ = ["deal_tree", "gin_rummy_v4", "openspiel_game", "openspiel_tree"]
