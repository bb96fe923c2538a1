"""What writes the agents' data files: the champion's weights, the belief, points of deals."""

__all__ = ["belief", "belief_check", "champion", "deal_points"]
