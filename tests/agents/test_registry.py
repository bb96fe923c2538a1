"""Agents by name, their parameters, and what is said when one is wrong."""

import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ginrummy_agents.registry import AGENTS
from ginrummy_agents.rules.heuristic import Heuristic
from ginrummy_agents.rules.simple import Simple
from ginrummy_env.policy import ENTRY_POINTS, Policy, make_policy


def test_every_agent_is_an_entry_point_and_does_something():
    points = {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}
    for name, agent in AGENTS.items():
        assert points[name] is agent
        assert isinstance(make_policy(name), Policy)
        assert agent.about
        for parameter in agent.parameters:
            assert parameter.about, f"{name}: say what {parameter.name} does"
        assert agent.main is None or agent.main in [each.name for each in agent.parameters]
        assert (agent.make.__doc__ or "").strip()


def test_entry_points_are_those_of_the_project_file():
    file = Path(__file__).parents[2] / "pyproject.toml"
    listed = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["entry-points"]
    assert set(AGENTS) <= set(listed[ENTRY_POINTS])


def test_parameters_by_name_and_without():
    assert make_policy("simple:0") == make_policy("simple:knock=0") == Simple(knock=0)
    assert make_policy("heuristic:knock=4,score=40") == Heuristic()
    assert make_policy("heuristic:6,score=0") == Heuristic(knock=6, score=0)
    assert isinstance(make_policy("heuristic:6").knock, float)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("simple:limit=4", "simple: unknown parameter 'limit'; it has knock"),
        ("random:3", "random: has no parameter without a name .3.; it has none"),
        ("random:knock=3", "random: unknown parameter 'knock'; it has none"),
        ("simple:4,knock=5", "simple: knock is given twice"),
        ("simple:knock=-1", "knock=-1: a whole number from 0 to 98 is needed"),
        ("simple:knock=1.5", "knock=1.5: a whole number from 0 to 98 is needed"),
        ("simple:knock=often", "knock='often': a whole number"),
        ("simple:knock=true", "knock=True: a whole number"),
        ("hein:alpha=2", "alpha=2: a number from 0 to 1 is needed"),
        ("lookahead:outs=0", "outs=0: a whole number from 1 to 52 is needed"),
        ("nobody", "unknown policy 'nobody'; the policies are .*gold.*simple"),
    ],
)
def test_wrong_parameters_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        make_policy(text)
