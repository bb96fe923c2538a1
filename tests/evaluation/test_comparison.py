"""Agents against the same opponents; a training run that is kept; a deal with what was thought."""

from dataclasses import replace

import pytest

from ginrummy_agents.learned.policy import NetworkPolicy, load_network, shipped
from ginrummy_env.core.rules import CLASSIC, EAAI
from ginrummy_training.analysis.notebook_cache import FOLDER_VARIABLE, kept_training, mark_of
from ginrummy_training.evaluation.annotated_records import record_match
from ginrummy_training.evaluation.comparison import compare, decisions, rates_picture
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_result import Match
from ginrummy_training.evaluation.match_summary import games_won
from ginrummy_training.learning.settings import SMOKE


def test_each_agent_meets_each_opponent_on_the_same_decks():
    agents = {"gin only": "simple:0", "greedy": "gold"}
    rules = replace(EAAI, target=30)
    table = compare(agents, ["simple", "hein"], rules=rules, games=20, seed=3)
    assert list(zip(table["agent"], table["against"], strict=True)) == [
        (agent, against) for against in ("simple", "hein") for agent in agents
    ]
    won = games_won(play_match("gold", "simple", games=20, seed=3, rules=rules))
    row = table[(table["agent"] == "greedy") & (table["against"] == "simple")].iloc[0]
    assert (row["games won %"], row["low"], row["high"]) == pytest.approx(
        (100 * won.value, 100 * won.low, 100 * won.high), abs=0.001
    )
    (axes,) = rates_picture(table).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(agents)


def test_a_kept_run_is_trained_once_and_resumes(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    small = {"imitation_samples": 600, "steps": 512, "num_steps": 16}
    games = {"eval_games": 2, "retest_games": 2}
    settings = replace(
        SMOKE, **small, **games, max_deals=4, checkpoint_every=512, tensorboard=False
    )
    folder = kept_training(settings)
    before = {file.name: mark_of(file) for file in folder.iterdir()}
    assert {"best.npz", "imitation.npz", "log.csv", "result.json"} <= set(before)
    assert kept_training(settings) == folder
    assert {file.name: mark_of(file) for file in folder.iterdir()} == before
    (folder / "result.json").unlink()  # as if it had been stopped before the end
    assert kept_training(settings) == folder
    assert (folder / "result.json").exists()
    assert mark_of(folder / "imitation.npz") == before["imitation.npz"]


def test_decisions_are_those_of_the_record_with_their_probabilities():
    net = NetworkPolicy(load_network(shipped(CLASSIC)), name="net")
    record = record_match(Match(("net", "simple"), CLASSIC, 3), 2, {"net": net})[0]
    table = decisions(record, 0, player=0)
    told = record.deals[0]
    assert len(table) == len(told.annotations) > 3
    assert (table["value"] >= table["its value"].fillna(0) - 1e-9).all()  # it does what it likes
    first = told.annotations[0]
    assert table.loc[0, "value"] == dict(first.values)[told.actions[first.step]]
    assert table["hand"].str.split().str.len().isin([10, 11]).all()
    assert decisions(record, 0, player=1).empty  # `simple` tells nothing
