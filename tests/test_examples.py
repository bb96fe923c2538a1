"""The agent that CONTRIBUTING.md adds: it plays by its name in the file, legally and blind."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from positions import permute_hidden, positions

from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.rules import PRESETS
from ginrummy_env.core.view import make_view
from ginrummy_training.cli.main import main
from ginrummy_training.evaluation.match import play_match

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def my_agent(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    yield __import__("my_agent").EarlyBird()
    sys.modules.pop("my_agent")


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_the_example_agent_plays_legally_and_sees_nothing_hidden(my_agent, rules):
    state = positions(rules, games=10, seed=1, knocks=0.2)
    view, row_keys = make_view(state, rules), keys(2, np.arange(len(state)))
    actions = my_agent.act(view, RowRandom(row_keys))
    masks = view.action_masks()
    rows = np.flatnonzero(masks.any(axis=1))
    assert masks[rows, actions[rows]].all()
    other = make_view(permute_hidden(state, state.player, np.random.default_rng(3)), rules)
    assert (my_agent.act(other, RowRandom(row_keys)) == actions).all()


def test_the_example_agent_beats_random_play(my_agent):
    result = play_match(my_agent, "random", games=20, seed=1, rules="eaai,target=30")
    assert result.games_won("a") > 15


def test_the_example_agent_plays_by_its_name_in_its_file(my_agent, monkeypatch, capsys):
    monkeypatch.chdir(ROOT / "examples")
    command = ["match", "my_agent:EarlyBird", "simple", "--games", "4", "--workers", "1"]
    assert main([*command, "--rules", "eaai,target=30"]) == 0
    assert "my_agent:EarlyBird" in capsys.readouterr().out


def test_the_code_on_the_page_is_the_example(my_agent):
    code = PAGE.partition("```python\n")[2].partition("```")[0]
    names = {"__name__": "my_agent"}
    exec(code, names)
    state = positions(PRESETS["eaai"], games=10, seed=4, knocks=0.2)
    view = make_view(state, PRESETS["eaai"])
    actions = [
        agent.act(view, np.random.default_rng(0)) for agent in (names["EarlyBird"](), my_agent)
    ]
    np.testing.assert_array_equal(*actions)


def test_what_the_page_names_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in PAGE.splitlines():
        words = line.split()
        if line.startswith("    make "):
            assert f"\n{words[1]}:" in makefile, line
    quoted = re.findall(r"`([\w.]+/[\w./]*)`", PAGE)
    assert len(quoted) > 15
    missing = {path for path in quoted if not (ROOT / path).exists() and ".venv" not in path}
    assert not missing
