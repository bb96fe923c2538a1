"""The command line, ``ginrummy``: `main`, and one module per command."""

__all__ = ["main"]
