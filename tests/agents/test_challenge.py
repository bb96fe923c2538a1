"""The AAAI-21 challenge's baseline and engine, where somebody has them, against what is here."""

import numpy as np
import pytest

from ginrummy_agents.external.java_bridge import bridge_agent, compile_bridge
from ginrummy_training.evaluation.match import play_match
from tests.helpers.challenge_engine import (
    BASELINE,
    challenge_jar,
    differences,
    interval,
    of_engine,
    of_match,
    play,
)

GAMES = 60


@pytest.fixture(scope="module")
def jar():
    """The challenge's classes, which are not part of this project."""
    found = challenge_jar()
    if found is None:
        pytest.skip("the challenge's classes ($EAAI_JAR) or a JDK are not here")
    return found


def test_the_baseline_by_the_bridge_plays_as_in_its_engine(jar, tmp_path):
    """Deals a game, gins, knocks and undercuts; docs/ARENA.md has 20,000 games."""
    compile_bridge(tmp_path / "bridge")
    agent = bridge_agent(tmp_path / "bridge", str(jar), BASELINE, shared=True, own_melds=True)
    match = play_match(
        agent, "simple", games=GAMES, seed=2, rules="eaai", out=tmp_path / "m" / "games.npz"
    )
    assert not match.table["forfeit_a"].any()
    here, engine = of_match(tmp_path / "m"), of_engine(play(jar, 2 * GAMES))
    for name in ("games won", "deals a game", "gin", "knock", "undercut"):
        error = np.hypot(here[name][1], engine[name][1])
        assert abs(here[name][0] - engine[name][0]) < 5 * error, name
    assert differences(here, engine)["knock"]["low"] < differences(here, engine)["knock"]["high"]


def test_shares_come_with_the_interval_of_their_clusters():
    table = {
        name: np.array(each)
        for name, each in {
            "winner": [0, 1, 1, 0], "deals": [2, 4, 4, 2], "void": [0, 1, 0, 1],
            "gin_a": [1, 0, 0, 0], "knock_a": [1, 1, 2, 1], "undercut_a": [0, 1, 0, 0],
            "gin_b": [0, 0, 0, 0], "knock_b": [0, 1, 2, 0], "undercut_b": [0, 0, 0, 0],
        }.items()
    }  # fmt: skip
    found = of_engine(table)
    assert found["games won"][0] == 0.5
    assert found["deals a game"] == (3, pytest.approx(np.std([2, 4, 4, 2], ddof=1) / 2))
    assert sum(found[kind][0] for kind in ("void", "gin", "knock", "undercut")) == 1
    assert interval(1.0, 0.5)["low"] == pytest.approx(0.02)
