"""Games as data: one row per decision, in Parquet shards."""

__all__ = ["generate", "schema", "shards"]
