"""Learning from nothing: self-play on both seats."""

__all__ = ["games", "learner", "network", "run", "settings"]
