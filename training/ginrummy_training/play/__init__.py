"""Playing against an agent: in the terminal and in the browser."""

__all__ = ["terminal_player"]
