"""Published experiments done again: what was printed, what comes out here, whether they agree."""
