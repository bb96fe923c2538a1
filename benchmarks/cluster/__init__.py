"""What runs on a cluster cost: a model, a simulation of it, and the measurements both need."""
