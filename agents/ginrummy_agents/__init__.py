"""What plays: random, rule-based, searching and trained policies."""
