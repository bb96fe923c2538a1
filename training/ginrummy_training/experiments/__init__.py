"""Published experiments, repeated: published numbers, ours, and whether they agree."""

__all__ = ["ablations", "catalogue", "census", "lab", "report"]
