"""Results are overwritten by more of the same games, never by others unless that is asked for."""

import json
from itertools import product

import pytest

from ginrummy_training.cli.main import main
from ginrummy_training.experiments.ablations import require_table
from ginrummy_training.storage import ResultError

MATCH = ["match", "simple", "gold", "--games", "4", "--workers", "1", "--max-deals", "2"]
TOURNAMENT = ["tournament", "simple", "gold", "random", *MATCH[3:]]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module", params=[MATCH, TOURNAMENT], ids=["match", "tournament"])
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "out"
    assert main([*request.param, "--out", str(folder)]) == 0
    return folder, [*request.param, "--out", str(folder)]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--seed", "9"], "seed is 0 there and 9 here"),
        (["--rules", "eaai"], "there and"),
        (["--max-deals", "3"], "max_deals is 2 there and 3 here"),
        (["--games", "2"], "holds 4 games, more than 2"),
    ],
)
def test_another_command_is_refused_and_changes_nothing(written, capsys, more, says):
    folder, command = written
    before = contents(folder)
    for games_kept in (True, False):  # as in a clone, where the table is tracked but no games are
        paths = list(folder.glob("games*.npz"))
        stored = [path.read_bytes() for path in paths]
        if not games_kept:
            for path in paths:
                path.unlink()
        assert main([*command, *more]) == 2
        error = capsys.readouterr().err
        assert says in error
        assert "--force" in error
        for path, content in zip(paths, stored, strict=True):
            path.write_bytes(content)
        assert contents(folder) == before


def test_the_same_command_is_repeated_and_more_games_are_added(written):
    folder, command = written
    (summary,) = (path for path in folder.glob("*.json"))
    assert main(command) == 0
    assert main([*command, "--games", "6"]) == 0
    assert json.loads(summary.read_text())["games"] == 6
    assert main([*command, "--games", "4", "--force"]) == 0
    assert json.loads(summary.read_text())["games"] == 4


def test_results_of_agents_that_have_changed_are_refused(written, capsys):
    folder, command = written
    (path,) = (path for path in folder.glob("*.json"))
    content = path.read_text()
    summary = json.loads(content)
    summary["made_by"]["policies"]["gold"]["code"] = "0" * 16
    path.write_text(json.dumps(summary))
    assert main(command) == 2
    assert "the code of gold has changed" in capsys.readouterr().err
    del summary["made_by"]  # written before there were fingerprints
    path.write_text(json.dumps(summary))
    assert main(command) == 2
    assert "does not say which code" in capsys.readouterr().err
    path.write_text(content)


def test_fewer_agents_do_not_shrink_a_tournament(tmp_path, capsys):
    out = ["--out", str(tmp_path)]
    assert main([*TOURNAMENT, *out]) == 0
    before = contents(tmp_path)
    fewer = [word for word in TOURNAMENT if word != "random"]
    assert main([*fewer, *out]) == 2
    assert "has random too" in capsys.readouterr().err
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", ["games.csv", "records.txt", "record.txt", "table.csv"])
def test_files_of_unknown_origin_stay(tmp_path, capsys, name):
    path = tmp_path / name
    path.write_text("mine")
    command = {
        "record.txt": [*MATCH, "--record", str(path)],
        "table.csv": ["compare", "simple", "--games", "2", "--out", str(path)],
    }.get(name, [*MATCH, "--out", str(tmp_path)])
    assert main(command) == 2
    assert f"{name} exists" in capsys.readouterr().err
    assert contents(tmp_path) == {name: b"mine"}


def test_a_table_of_ablations_does_not_lose_runs(tmp_path):
    path = tmp_path / "ablations.csv"
    path.write_text("rules,variant,seed\neaai,base,2\neaai,win,2\n")
    require_table(path, product(["eaai"], ["base", "win", "points"], [2]))
    with pytest.raises(ResultError, match="has win under eaai, seed 2, too"):
        require_table(path, product(["eaai"], ["base", "points"], [2]))
    require_table(path, [], force=True)
