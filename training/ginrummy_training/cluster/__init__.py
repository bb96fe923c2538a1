"""Matches, tournaments and self-play on a Ray cluster. Needs the extra ``scale``."""

__all__ = ["ray_dataset", "ray_runner"]
