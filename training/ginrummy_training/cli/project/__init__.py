"""Commands that make what the project publishes: data files, tables, notebooks, the demo."""
