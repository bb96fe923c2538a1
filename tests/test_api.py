"""The libraries' own checkers, with warnings as errors; registration; what importing loads."""

import importlib.util
import os
import subprocess
import sys
import time
import warnings

import gymnasium
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test

import ginrummy_env

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # a window where there is no screen

HAS_PYGAME = importlib.util.find_spec("pygame") is not None
"""`.venv-scale`, where these run with the oldest Gymnasium that is supported, has none."""

NO_ARRAY = "Observation is not a NumPy array"
DICT_SPACE = "Observation space for each agent probably should be gymnasium.spaces.box"
"""api_test says these of every Dict space but those of PettingZoo's own environments, which it
knows by name; the classic games have a Dict with the mask, as this one."""

NO_ACTIONS = r"Action mask numpy array is all zeros \(no legal actions\)"
"""api_test looks at the last observation of an agent whose episode is over, too."""

UNKNOWN_OPTION = "unknown reset option 'options'"
"""api_test resets with an option of its own invention, which environments are to take."""


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"episode": "deal", "reward": "points"},
        {"rules": "modern", "reward": "final", "max_deals": 2, "features": "raw"},
        {"rules": "openspiel", "episode": "deal"},
        {"rules": "nano", "reward": "points"},
    ],
    ids=["default", "deal", "modern", "openspiel", "nano"],
)
@pytest.mark.parametrize("make", [ginrummy_env.env, ginrummy_env.raw_env])
def test_pettingzoo_api(make, options, capsys):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=NO_ARRAY)
        warnings.filterwarnings("ignore", message=DICT_SPACE)
        warnings.filterwarnings("ignore", message=NO_ACTIONS)
        warnings.filterwarnings("ignore", message=UNKNOWN_OPTION)
        api_test(make(**options), num_cycles=300)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("options", [{}, {"episode": "deal", "rules": "oklahoma"}])
def test_pettingzoo_seeds(options):
    seed_test(lambda: ginrummy_env.env(**options), num_cycles=300)


def test_pettingzoo_rendering():
    pytest.importorskip("pygame")
    render_test(lambda render_mode: ginrummy_env.env(render_mode=render_mode))


def test_pettingzoo_performance(capsys, monkeypatch):
    """It runs; benchmarks/ measure how fast. Its five seconds pass in half a one here."""
    begun, clock = time.time(), time.perf_counter
    start = clock()
    monkeypatch.setattr(time, "time", lambda: begun + 10 * (clock() - start))
    performance_benchmark(ginrummy_env.env())
    assert "Finished performance benchmark" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [
        {"opponent": "simple"},
        {"opponent": "random", "episode": "deal", "reward": "points", "features": "raw"},
        {"opponent": "gold", "rules": "eaai", "render_mode": "ansi"},
        {"opponent": "gold", "rules": "eaai", "render_mode": "rgb_array", "seat": 1},
    ],
    ids=["simple", "deal", "ansi", "rgb_array"],
)
@pytest.mark.filterwarnings("ignore:.*illegal action has lost")
def test_gymnasium_checker(options):
    env = gymnasium.make(ginrummy_env.GYMNASIUM_ID, **options).unwrapped
    check_env(env, skip_render_check=not HAS_PYGAME)


def test_gymnasium_through_make():
    """With the wrappers that make puts around it; a random walk without a warning."""
    mode = "human" if HAS_PYGAME else "ansi"
    env = gymnasium.make(ginrummy_env.GYMNASIUM_ID, opponent="simple", render_mode=mode)
    _, info = env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(3):
        _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        if terminated or truncated:
            _, info = env.reset()
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.tolist() == info["action_mask"].astype(bool).tolist()
    env.close()


def test_registration():
    """In both registries, once, with options."""
    assert ginrummy_env.GYMNASIUM_ID in gymnasium.registry
    assert ginrummy_env.PETTINGZOO_ID in pettingzoo.aec_registry
    env = pettingzoo.make("aec", "ginrummy_env/gin_rummy_v0", rules="eaai", episode="deal")
    assert env.unwrapped.rules == ginrummy_env.EAAI
    parallel = pettingzoo.make("parallel", ginrummy_env.PETTINGZOO_ID, rules="eaai")
    seen, _ = parallel.reset(seed=1)
    assert set(seen) == {"player_0", "player_1"}
    ginrummy_env._register()  # a second time: no warning that something is overridden


def test_pettingzoo_without_a_registry():
    """Before 1.27 PettingZoo had none: AgileRL asks for such a one. The environments work there."""
    code = """
import pettingzoo
for name in ("aec_registry", "parallel_registry", "register", "make"):
    delattr(pettingzoo, name)
import ginrummy_env, gymnasium
env = ginrummy_env.env()
env.reset(seed=1)
env.step(106)
print(gymnasium.make(ginrummy_env.GYMNASIUM_ID).reset(seed=1)[1]["seat"])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() in ("0", "1")


def test_public_names():
    for name in ginrummy_env.__all__:
        assert getattr(ginrummy_env, name) is not None
    assert set(ginrummy_env.__all__) <= set(dir(ginrummy_env))
    with pytest.raises(AttributeError, match="has no attribute 'gin'"):
        _ = ginrummy_env.gin


def test_environments_load_no_more_than_they_need():
    """Neither torch nor SB3 nor pygame, up to a step of each environment."""
    code = """
import sys, gymnasium, ginrummy_env
ginrummy_env.env().reset()
gymnasium.make("ginrummy_env/GinRummy-v0", opponent="simple").reset()
gymnasium.make_vec("ginrummy_env/GinRummy-v0", num_envs=2, opponent="simple").reset()
print(*[m for m in ("torch", "stable_baselines3", "pygame", "matplotlib") if m in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
