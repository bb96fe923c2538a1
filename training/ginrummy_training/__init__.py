"""Matches, tournaments, self-play, training and the command line."""
