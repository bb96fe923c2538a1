"""The rules of gin rummy, for N games at once. Imports NumPy and the standard library only."""

__all__ = [
    "actions",
    "cards",
    "chance",
    "deadwood",
    "deal",
    "game",
    "layoff",
    "legal",
    "melds",
    "observation",
    "rules",
    "sampling",
    "scoring",
    "settlement",
    "state",
    "step",
    "types",
    "view",
]
