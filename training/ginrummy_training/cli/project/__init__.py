"""Commands that make what the project publishes: data files, tables, notebooks, the demo."""

__all__: list[str] = []
