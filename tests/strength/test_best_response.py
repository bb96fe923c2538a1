"""Best responses: measured on fresh decks, resumed, and refused when nothing can be played."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ginrummy_agents.learned.policy import load_network, shipped
from ginrummy_env.core.rules import EAAI
from ginrummy_training.cli.main import main
from ginrummy_training.learning.selfplay.settings import SMOKE, SettingError
from ginrummy_training.learning.train import measure
from ginrummy_training.storage import ResultError
from ginrummy_training.strength import best_response
from ginrummy_training.strength.best_response import exploit, read_result, response_settings
from ginrummy_training.strength.figures import responses_picture
from ginrummy_training.strength.response_table import (
    by_safety,
    responses_markdown,
    trainings_markdown,
    verdict,
)

SHORT = "eaai,target=30"
QUICK = {"rules": SHORT, "steps": 0, "candidates": ("random", "gold"), "games": 20}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exploit") / "out"
    return exploit("simple:10", **QUICK, select_games=20, folder=folder), folder


def test_the_best_candidate_is_confirmed_on_other_decks(found):
    result, folder = found
    tried = {each["name"]: each["games_won"]["value"] for each in result["tried"]}
    assert set(tried) == {"random", "gold"}
    assert result["best"] == "gold"
    seeds = {path.name.split("-")[0] for path in (folder / "games").iterdir()}
    assert len(seeds) == 2
    assert read_result(folder) == json.loads(json.dumps(result))
    assert result["command"] == (
        f"ginrummy exploit simple:10 --rules '{result['rules']}' --steps 0 --candidates random "
        "gold --select-games 20 --games 20 --seed 0 --out FOLDER"
    )


def test_the_same_command_plays_nothing_again(found, monkeypatch):
    result, folder = found
    before = {path: path.read_bytes() for path in (folder / "games").iterdir()}
    assert exploit("simple:10", **QUICK, select_games=20, folder=folder) == result
    assert {path: path.read_bytes() for path in (folder / "games").iterdir()} == before


def test_another_search_is_refused_without_force(found):
    _, folder = found
    with pytest.raises(ResultError, match=r"policy is 'simple:10' there and 'gold' here.*--force"):
        exploit("gold", **QUICK, select_games=20, folder=folder)


@pytest.mark.parametrize(
    ("policy", "more", "says"),
    [
        ("nobody", {}, "unknown policy"),
        ("ppo:missing.npz", {}, "no such file"),
        ("gold", {"candidates": ("nobody",)}, "unknown policy"),
        ("gold", {"candidates": ("gold",)}, "nothing to try"),
        ("gold", {"steps": 100, "begin": "nobody"}, "nobody"),
        ("gold", {"games": 3}, "even number"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_starts(tmp_path, policy, more, says):
    folder = tmp_path / "out"
    with pytest.raises(ValueError, match=says):
        exploit(policy, **{**QUICK, **more}, folder=folder)
    assert not folder.exists()


@pytest.mark.parametrize("begin", ["ppo", "scratch", ""])
def test_every_game_of_the_training_is_against_the_policy(begin):
    settings = response_settings("gold", "classic", 100_000, begin, seed=3)
    assert settings.opponents == (("gold", 1.0),)
    assert settings.eval_opponents == ("gold",)
    assert bool(settings.critic_first) == bool(begin)
    assert settings.ahead == (begin == "ppo")
    assert settings.steps / settings.eval_every <= best_response.EVALUATIONS


def test_a_response_waits_for_gin_where_the_network_it_begins_with_does():
    waits = response_settings("gold", "eaai", 1_000, "scratch", seed=0)
    assert (waits.hold, waits.hold_from) == (0, 3)
    assert response_settings("gold", "eaai", 1_000, "ppo", seed=0).hold == 98


def test_a_trained_response_is_a_candidate_and_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr(best_response, "RESPONSE", replace(SMOKE, tensorboard=False))
    arguments = {"rules": SHORT, "steps": 1_536, "begin": "", "candidates": ("random",)}
    arguments |= {"select_games": 4, "games": 4}
    lines = []

    def interrupt(line):
        lines.append(line)
        if len(lines) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exploit("simple", **arguments, folder=tmp_path / "a", report=interrupt)
    assert not (tmp_path / "a" / "exploit.json").exists()
    result = exploit("simple", **arguments, folder=tmp_path / "a", report=lines.append)
    assert any("resuming" in line for line in lines)
    assert [each["name"] for each in result["tried"]] == ["random", "learned"]
    assert result["training"]["steps"] >= 1_536
    row = trainings_markdown([result]).splitlines()[2].split("|")
    assert [each.strip() for each in row[1:4]] == ["`simple`", result["rules"], "nothing"]
    assert row[6].strip() == "`random`"
    assert (tmp_path / "a" / "training" / "best.npz").exists()
    whole = exploit("simple", **arguments, folder=tmp_path / "b", report=lines.append)
    assert whole["tried"] == result["tried"]


def test_a_learner_that_began_as_its_opponent_is_measured_against_it():
    """Two agents of one name are refused, but here they are not one agent."""
    settings = replace(SMOKE, eval_opponents=("ppo",), rules=SHORT)
    network = load_network(shipped(EAAI, "ppo"))
    won = measure(SimpleNamespace(settings=settings), network, games=4, seed=1)
    assert won["ppo"]["value"] == 0.5  # both games of a pair go alike


def test_an_unknown_network_to_begin_with_names_those_there_are():
    with pytest.raises(SettingError, match="ppo, scratch"):
        response_settings("gold", "eaai", 1_000, "lookahead", seed=0)


def line(policy, rules, value):
    number = {"value": value, "low": value - 0.03, "high": value + 0.03}
    return {
        "policy": policy, "rules": rules, "best": "gold", "training": None, "games_won": number,
        "net_points_a_deal": number, "games": 100,
    }  # fmt: skip


def test_the_table_begins_with_who_loses_least():
    results = [line("a", "eaai", 0.9), line("b", "eaai", 0.5), line("a", "classic", 0.8)]
    table = responses_markdown(results).splitlines()
    assert by_safety(results) == ["b", "a"]
    assert [row.split("|")[1].strip() for row in table[2:]] == ["`b`", "`a`"]
    assert table[2].endswith("|  |  |  |")  # b was not tried under the other rules
    assert verdict(results[0]) == "loses at least 87.0 % of games"
    assert verdict(results[1]) == "nothing found that beats it"
    assert responses_picture(results).png()
    assert trainings_markdown(results) == ""


def test_a_damaged_result_is_refused_by_its_name(found, tmp_path):
    result, _ = found
    path = tmp_path / "exploit.json"
    for change in ({"format": 0}, {"games_won": {"value": 1, "low": 2, "high": 3}}, {"tried": 1}):
        path.write_text(json.dumps({**result, **change}))
        with pytest.raises(ResultError, match=r"exploit\.json"):
            read_result(path)


def test_the_command_prints_what_the_policy_loses(capsys, tmp_path):
    command = ["exploit", "random", "--steps", "0", "--candidates", "gold", "--games", "20",
               "--select-games", "4", "--workers", "1", "--rules", SHORT]  # fmt: skip
    assert main([*command, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "random: loses at least" in out
    assert main(["exploit", "--table", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() in out
    assert main(["exploit"]) == 2
    assert "one of POLICY and --table" in capsys.readouterr().err
