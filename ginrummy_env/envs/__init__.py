"""The environments: PettingZoo, Gymnasium and Stable-Baselines3 interfaces to the rules."""
