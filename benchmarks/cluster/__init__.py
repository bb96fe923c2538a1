"""The cost of runs on a cluster: a model, a simulation of it, and the measurements they need."""
