"""Games as data: one row per decision, in Parquet shards."""
