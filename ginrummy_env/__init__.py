"""Gin rummy for reinforcement learning: exact rules, whole batches at once, full games."""

__version__ = "0.1.0"

__all__ = ["__version__"]
