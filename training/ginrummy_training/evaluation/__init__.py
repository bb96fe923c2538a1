"""Matches and tournaments: full games on the same decks, intervals, ratings, tables, figures."""

__all__ = [
    "annotated_records",
    "comparison",
    "match",
    "match_result",
    "match_summary",
    "play_deals",
    "result_files",
    "tournament",
    "tournament_figures",
]
