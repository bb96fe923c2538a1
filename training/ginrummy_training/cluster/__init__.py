"""Past one machine: matches and tournaments on a Ray cluster, and what such runs cost.

Needs the extra ``scale``; `cost` and `simulate` do not.
"""

__all__ = ["ray_dataset", "ray_runner"]
