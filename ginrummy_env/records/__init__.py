"""Records of games as text: written, read, replayed by the engine, kept in files."""

__all__ = ["data", "parser", "recorder", "replay", "writer"]
