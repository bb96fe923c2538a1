"""Published experiments done again: what was printed, what comes out here, whether they agree."""

__all__ = ["ablations", "catalogue", "census", "lab", "report"]
