"""The environments: PettingZoo, Gymnasium and Stable-Baselines3 interfaces to the rules."""

__all__ = ["aec_env", "gym_env", "options", "sb3_vec_env", "selfplay_env", "vector_env"]
