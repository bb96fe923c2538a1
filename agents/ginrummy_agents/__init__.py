"""What plays: random, rule-based, searching and trained policies."""

__all__ = ["explain", "external", "learned", "parameters", "registry", "rules", "search"]
