"""Matches, tournaments, self-play, training and the command line."""

__all__ = [
    "analysis",
    "cluster",
    "dataset",
    "evaluation",
    "experiments",
    "learning",
    "play",
    "plotting",
    "progress",
    "provenance",
    "rllib",
    "statistics",
]
