"""Training: imitation, MaskablePPO, opponents, checkpoints, curves."""
