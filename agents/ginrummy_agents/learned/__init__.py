"""The learned agent: a small network, played with NumPy."""
