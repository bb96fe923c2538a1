"""Training: imitation, MaskablePPO, opponents, checkpoints, curves."""

__all__ = ["curves", "imitation", "network", "settings", "train"]
