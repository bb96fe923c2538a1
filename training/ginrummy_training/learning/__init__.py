"""Training: imitation, MaskablePPO, opponents, checkpoints, curves."""

__all__ = ["curves", "imitation", "network", "selfplay", "settings", "train"]
