"""An attribute set on a wrapper that hides the environment's own."""

import sys

import gymnasium


def refuse_shadowed_opponent(env: gymnasium.Env) -> None:
    """Raise if a wrapper around the environment has an attribute ``opponent`` of its own.

    ``wrapper.opponent = "champion"`` makes one (so does ``set_attr`` of Stable-Baselines3's
    DummyVecEnv and SubprocVecEnv), and the environment would never know. It does not know its
    wrappers either, but while it is stepped or reset they are in the call stack.

    Args:
        env: called from its ``step`` or ``reset``.

    Raises:
        AttributeError: such a wrapper; says what to do instead.
    """
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name in ("step", "reset"):
            wrapper = frame.f_locals.get("self")
            if (
                isinstance(wrapper, gymnasium.Wrapper)
                and "opponent" in vars(wrapper)
                and wrapper.unwrapped is env
            ):
                kind = type(wrapper).__name__
                raise AttributeError(
                    f"the attribute 'opponent' was set on the wrapper {kind}, which does not "
                    "change the environment's opponent. Delete it, and call "
                    "env.get_wrapper_attr('set_opponent')(policy), or with a VecEnv of "
                    "Stable-Baselines3 env_method('set_opponent', policy)"
                )
        frame = frame.f_back  # type: ignore[assignment]
