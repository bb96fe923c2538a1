"""Commands for everyone: one module per command, which imports what is heavy when it runs."""

__all__: list[str] = []
