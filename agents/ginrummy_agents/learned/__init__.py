"""The learned agent: a small network, played with NumPy."""

__all__ = ["inputs", "policy"]
