"""Ladders take entries; their page is what the results say."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ginrummy_env.core.rules import EAAI
from ginrummy_training.cli.main import main
from ginrummy_training.evaluation import match as match_module
from ginrummy_training.evaluation.ladder import Ladder, ladder_page
from ginrummy_training.evaluation.match_result import MatchResult
from ginrummy_training.evaluation.result_files import write_tournament
from ginrummy_training.evaluation.tournament import play_tournament

ROOT = Path(__file__).parents[2]
BOT = ROOT / "tests" / "helpers" / "arena_bot.py"
AGENT = f"exec:{sys.executable} -I {BOT} none"
SHORT = replace(EAAI, target=20)


@pytest.fixture
def ladder(tmp_path):
    folder = tmp_path / "ladder"
    played = play_tournament(["gold", "simple"], games=4, seed=5, rules=SHORT, out=folder)
    write_tournament(played, folder)
    return folder


def add(ladder, *words):
    return main(["ladder", "add", *words, "--ladder", str(ladder), "--workers", "1"])


def games_of(folder):
    return {path.name: MatchResult.load(path).table for path in folder.glob("games-*.npz")}


def test_an_entry_plays_the_missing_pairings_only(ladder, monkeypatch, capsys):
    before = games_of(ladder)
    played = []
    jobs = match_module._jobs

    def watched(results, behind, batch):
        played.append(sum(int((~result.table["done"]).sum()) for result in results))
        return jobs(results, behind, batch)

    monkeypatch.setattr(match_module, "_jobs", watched)
    assert add(ladder, "mybot", AGENT) == 0
    assert add(ladder, "mybot", AGENT) == 0  # is adding it once
    assert played == [2 * 4, 0]
    after = games_of(ladder)
    assert len(after) == 3
    assert all((after[name] == table).all() for name, table in before.items())
    summary = json.loads((ladder / "tournament.json").read_text())
    assert [each["name"] for each in summary["agents"]] == ["gold", "simple", "mybot"]
    assert summary["agents"][2]["agent"] == AGENT
    assert "mybot" in (ladder / "cross_table.csv").read_text()
    assert (ladder / "ratings.png").exists()
    assert "mybot" in capsys.readouterr().out
    assert add(ladder, "another", "simple:0") == 0
    assert len(games_of(ladder)) == 6
    page = ladder_page([("results/mine", json.loads((ladder / "tournament.json").read_text()))])
    assert f"`mybot` (`{AGENT}`)" in page


def test_pairings_whose_games_are_missing_are_played_again_alike(ladder):
    before = games_of(ladder)
    for path in ladder.glob("games-*.npz"):
        path.unlink()
    assert add(ladder, "third", "simple:0") == 0
    after = games_of(ladder)
    for name, table in before.items():
        assert all((after[name][each] == table[each]).all() for each in table.dtype.names)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("simple", "gold"), "has another simple: simple"),
        (("mybot", "nobody"), "unknown policy 'nobody'"),
        ((" ", "gold"), "a name without spaces around it"),
        (("x" * 200, "gold"), "at most"),
    ],
)
def test_entries_that_cannot_be_added(ladder, words, says, capsys):
    assert add(ladder, *words) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("change", ["engine", "agent", "nothing said"])
def test_a_ladder_of_other_code_or_agents_is_refused(ladder, change, capsys):
    path = ladder / "tournament.json"
    summary = json.loads(path.read_text())
    if change == "engine":
        summary["made_by"]["engine"] = "0" * 16
    elif change == "agent":
        summary["made_by"]["policies"]["gold"]["code"] = "0" * 16
    else:
        del summary["made_by"]
    path.write_text(json.dumps(summary))
    assert add(ladder, "third", "simple:0") == 2
    says = {"engine": "code of the rules", "agent": "the code of gold", "nothing said": "not say"}
    assert says[change] in capsys.readouterr().err
    assert add(ladder, "third", "simple:0", "--force") == 0


def test_an_interrupted_entry_resumes(ladder):
    entries = Ladder.of(ladder).adding("third", "simple:0")

    def interrupt(what, done, total):
        if done > 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_tournament(
            entries, games=4, seed=5, rules=SHORT, out=ladder, batch=1, progress=interrupt
        )
    assert add(ladder, "third", "simple:0") == 0
    assert all(np.all(table["done"]) for table in games_of(ladder).values())


def test_a_folder_without_a_ladder_is_an_error(tmp_path, capsys):
    assert add(tmp_path, "third", "simple:0") == 2
    assert "is not a ladder" in capsys.readouterr().err


def test_the_page_of_the_docs_is_what_the_results_say():
    folders = ("results/ladder-eaai", "results/ladder-classic")
    summaries = [
        (folder, json.loads((ROOT / folder / "tournament.json").read_text())) for folder in folders
    ]
    assert (ROOT / "docs" / "LADDER.md").read_text(encoding="utf-8") == ladder_page(summaries)
