"""Commands that say how far a policy is from unbeatable."""

__all__: list[str] = []
