"""The rule agents: they play by rules of thumb, random play included."""

__all__ = [
    "base",
    "champion",
    "gold",
    "hein",
    "heuristic",
    "lookahead",
    "myopic",
    "next_draw",
    "random",
    "simple",
    "work_lists",
]
