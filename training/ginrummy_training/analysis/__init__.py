"""A closer look: one position, how an agent behaves, figures and what notebooks keep."""

__all__ = [
    "behaviour",
    "behaviour_figures",
    "env_speed",
    "notebook_cache",
    "notebook_setup",
    "observation_figures",
    "position",
    "position_pictures",
    "search_gain",
]
