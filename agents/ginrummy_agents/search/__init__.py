"""Monte Carlo search: candidate actions are played out in sampled worlds."""

__all__ = ["policy"]
