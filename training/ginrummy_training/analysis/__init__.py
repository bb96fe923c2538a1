"""A closer look: one position, how an agent behaves, figures and what notebooks keep."""
