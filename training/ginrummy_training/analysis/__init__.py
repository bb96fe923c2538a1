"""A closer look: one position, how an agent behaves, figures and what notebooks keep."""

__all__ = [
    "behaviour",
    "behaviour_figures",
    "env_speed",
    "notebook_cache",
    "observation_figures",
    "position",
    "search_gain",
]
