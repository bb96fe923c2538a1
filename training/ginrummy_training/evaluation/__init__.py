"""Matches and tournaments: full games on the same decks, intervals, ratings, tables, figures."""
