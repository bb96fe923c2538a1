"""Wherever a whole number is meant any integer is taken, and nothing else; see `core.checks`."""

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module

import numpy as np
import pytest

import ginrummy_env
from ginrummy_agents.external import Limits
from ginrummy_env import (
    GinRummyEnv,
    GinRummySelfPlayEnv,
    GinRummyVectorEnv,
    Rules,
    raw_env,
)
from ginrummy_env.compat import gin_rummy_v4
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC
from ginrummy_env.core.view import make_view
from ginrummy_env.envs import EpisodeOptions
from ginrummy_env.records.recorder import record_of
from ginrummy_env.render import (
    Picture,
    PixelRenderer,
    position_html,
    position_line,
    position_svg,
    position_text,
)
from ginrummy_env.viewer import Replay
from ginrummy_training.dataset.shard_games import plan_of
from ginrummy_training.evaluation.comparison import compare
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.tournament import play_tournament
from ginrummy_training.learning.selfplay.settings import SelfPlaySettings
from ginrummy_training.learning.settings import TrainSettings

PASS, DRAW = 106, 104
SHORT = {"rules": Rules(target=1), "max_deals": 1}
"""Of games that end soon."""
VIEW = make_view(new_games(1, 2, CLASSIC), CLASSIC)


def dealt(env):
    env.reset(seed=1)
    return env


def opened():
    env = GinRummyEnv(seat=1)
    env.reset(seed=1)
    return env


def pixels(name):
    def draw(row):
        with PixelRenderer(200) as renderer:
            return getattr(renderer, name)(VIEW, row=row)

    return draw


def vec_env(count=2):
    pytest.importorskip("stable_baselines3")
    return ginrummy_env.GinRummyVecEnv(count)


def reset_to(env, **options):
    return env.reset(seed=1, options=options)


CALLS: dict[str, tuple[int, Callable]] = {
    "GinRummyEnv.reset seed": (3, lambda n: GinRummyEnv().reset(seed=n)),
    "GinRummyEnv.step action": (DRAW, lambda n: opened().step(n)),
    "GinRummyEnv seat": (1, lambda n: GinRummyEnv(seat=n)),
    "GinRummySelfPlayEnv.__init__ num_envs": (2, GinRummySelfPlayEnv),
    "GinRummySelfPlayEnv.reset seed": (3, lambda n: GinRummySelfPlayEnv(2).reset(seed=n)),
    "GinRummyVecEnv.__init__ num_envs": (2, vec_env),
    "GinRummyVecEnv.seed seed": (3, lambda n: vec_env().seed(n)),
    "GinRummyVectorEnv.__init__ num_envs": (2, GinRummyVectorEnv),
    "GinRummyVectorEnv.reset seed": (3, lambda n: GinRummyVectorEnv(2).reset(seed=n)),
    "raw_env.reset seed": (3, lambda n: raw_env().reset(seed=n)),
    "raw_env.step action": (PASS, lambda n: dealt(raw_env()).step(n)),
    "v4 reset seed": (3, lambda n: gin_rummy_v4.raw_env().reset(seed=n)),
    "v4 step action": (2, lambda n: dealt(gin_rummy_v4.raw_env()).step(n)),
    "reset dealer": (1, lambda n: reset_to(raw_env(), dealer=n)),
    "reset scores": (7, lambda n: reset_to(GinRummyEnv(), start={"scores": [n, 5]})),
    "reset deals_won": (2, lambda n: reset_to(GinRummyEnv(), start={"deals_won": [n, 1]})),
    "reset deal_number": (4, lambda n: reset_to(GinRummyEnv(), start={"deal_number": n})),
    "EpisodeOptions.__init__ max_deals": (3, lambda n: EpisodeOptions(max_deals=n)),
    "EpisodeOptions.__init__ history": (3, lambda n: EpisodeOptions(history=n)),
    "Picture.__init__ row": (1, lambda n: Picture(VIEW, row=n)._repr_html_()),
    "PixelRenderer.__init__ width": (200, PixelRenderer),
    "PixelRenderer.draw row": (1, pixels("draw")),
    "position_html row": (1, lambda n: position_html(VIEW, n)),
    "position_line row": (1, lambda n: position_line(VIEW, n)),
    "position_svg row": (1, lambda n: position_svg(VIEW, n)),
    "position_text row": (1, lambda n: position_text(VIEW, n)),
    "Replay.__init__ viewer": (
        1, lambda n: Replay(record_of(new_games(1, 1, CLASSIC), 0, CLASSIC), viewer=n),
    ),
    "Limits.__init__ memory_mb": (100, lambda n: Limits(memory_mb=n)),
    **{
        f"Rules.__init__ {each.name}": (
            getattr(CLASSIC, each.name) or 30, lambda n, name=each.name: Rules(**{name: n}),
        )
        for each in fields(Rules)
        if re.search(r"\bint\b", str(each.type))
    },
    **{
        f"{kind.__name__} {each.name}": (
            getattr(kind(), each.name), lambda n, kind=kind, name=each.name: kind(**{name: n}),
        )
        for kind in (TrainSettings, SelfPlaySettings)
        for each in fields(kind)
        if re.search(r"\bint\b", str(each.type))
    },
    **{
        f"play_match {name}": (
            value,
            lambda n, name=name: play_match("gold", "gold", **{**SHORT, "games": 2, name: n}),
        )
        for name, value in {"games": 2, "seed": 3, "workers": 1, "batch": 4, "max_deals": 1}.items()
    },
    "play_tournament seed": (
        3, lambda n: play_tournament(["gold", "simple"], games=2, seed=n, **SHORT),
    ),
    "compare games": (2, lambda n: compare(["gold"], ["gold"], games=n, seed=1, **SHORT)),
    "plan_of shard_games": (4, lambda n: plan_of(["gold"], shard_games=n)),
    "plan_of seed": (4, lambda n: plan_of(["gold"], seed=n)),
}  # fmt: skip
"""What takes a whole number: one that it takes, and the call."""

ALIKE = {"PixelRenderer.save", "PixelRenderer.show", "GinRummyVecEnv.get_attr",
         "GinRummyVecEnv.set_attr", "GinRummyVecEnv.env_method",
         "GinRummyVecEnv.env_is_wrapped"}  # fmt: skip
"""Read their number as others in CALLS do, or are Stable-Baselines3's."""

MADE_HERE = {"IllegalActionError.__init__", "DealResult.__init__", "EndedDeals.describe",
             "Features.__init__", "ExternalPolicy.lay_down",
             "ExternalPolicy.forfeit_reason", "raw_env.is_legal"}  # fmt: skip
"""Called by the project itself with numbers of its own."""


def public_parameters():
    """Function and parameter of each whole number in the interface of the two libraries."""
    packages = ("env", "env.envs", "env.render", "env.viewer", "agents", "agents.external")
    for package in packages:
        module = import_module(f"ginrummy_{package}")
        for name in module.__all__:
            found = getattr(module, name, None)
            inside = vars(found).items() if inspect.isclass(found) else ()
            functions = {
                f"{name}.{each}": function
                for each, function in inside
                if inspect.isfunction(function) and (each == "__init__" or each[0] != "_")
            }
            if inspect.isfunction(found):
                functions[name] = found
            for called, function in functions.items():
                for parameter in inspect.signature(function).parameters.values():
                    if re.search(r"\bint\b", str(parameter.annotation)):
                        yield called, parameter.name


def test_all_whole_numbers_of_the_interface_are_checked_here():
    named = {f"{called} {name}" for called, name in public_parameters()
             if called not in ALIKE | MADE_HERE}  # fmt: skip
    assert len(named) > 20
    assert named <= set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_any_integer_is_taken_and_nothing_else(name):
    value, call = CALLS[name]
    small = [np.uint8, np.int8] if value < 128 else []
    for kind in (np.int64, np.uint64, lambda n: np.array(n, dtype=np.int32), *small):
        call(kind(value))
    for wrong in (True, np.True_, np.array(True), value + 0.5, float(value), str(value), b"1", 1j):
        with pytest.raises((ValueError, TypeError), match=r"needed|whole|bool|legal: 2"):
            call(wrong)
