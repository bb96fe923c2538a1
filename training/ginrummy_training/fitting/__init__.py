"""What writes the agents' data files: the champion's weights, the belief, points of deals."""
