"""What notebooks keep: made once, read again, made anew with other settings."""

import json
from functools import partial

import pandas as pd
import pytest

from ginrummy_training.analysis import notebook_cache as module
from ginrummy_training.analysis.notebook_cache import fast, kept, kept_folder, kept_root, workers
from ginrummy_training.storage import ResultError


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(module.FOLDER_VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept"


def made(calls, value=0.1 + 0.2):
    calls.append(1)
    return pd.DataFrame({"agent": ["simple", "gold"], "won": [value, None]})


def test_a_table_is_made_once_and_is_the_same_the_second_time(own_folder):
    calls = []
    first = kept("a", lambda: made(calls), games=20)
    second = kept("a", lambda: made(calls), games=20)
    assert len(calls) == 1
    pd.testing.assert_frame_equal(first, second)
    assert first["won"][0] == pytest.approx(0.3)
    assert pd.isna(first["won"][1])
    (path,) = own_folder.glob("a-*.json")
    assert json.loads(path.read_text())["settings"] == {"games": 20}


def test_other_settings_and_another_version_make_another_table(monkeypatch):
    calls = []
    for settings in ({"games": 20}, {"games": 40}, {"games": 40, "seed": 1}):
        kept("a", lambda: made(calls), **settings)
    monkeypatch.setattr(module, "environment", lambda: {"code": "changed"})
    kept("a", lambda: made(calls), games=20)
    assert len(calls) == 4


def test_a_damaged_table_is_named(own_folder):
    kept("a", lambda: made([]), games=20)
    (path,) = own_folder.glob("a-*.json")
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ResultError, match=path.name):
        kept("a", lambda: made([]), games=20)
    path.write_text('{"settings": {"games": 22}}', encoding="utf-8")
    with pytest.raises(ResultError, match="do not fit its name"):
        kept("a", lambda: made([]), games=20)


def test_a_folder_says_what_it_is_for():
    folder = kept_folder("ladder", games=20, agents=["simple", "gold"])
    assert json.loads((folder / "settings.json").read_text())["settings"]["games"] == 20
    assert folder == kept_folder("ladder", games=20, agents=["simple", "gold"])
    assert folder != kept_folder("ladder", games=20, agents=["gold", "simple"])


def test_where_results_are_kept(monkeypatch, tmp_path):
    monkeypatch.delenv(module.FOLDER_VARIABLE)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path)
    top = kept_root().resolve()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert kept_root().resolve() == top == tmp_path / "build" / "notebooks"


def test_switches(monkeypatch):
    for name in (module.SMALL_VARIABLE, module.WORKERS_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    assert (fast(), workers()) == (False, 2)
    monkeypatch.setenv(module.SMALL_VARIABLE, "1")
    assert (fast(), workers()) == (True, 1)
    monkeypatch.setenv(module.SMALL_VARIABLE, "0")
    monkeypatch.setenv(module.WORKERS_VARIABLE, "4")
    assert (fast(), workers()) == (False, 4)


COUNTED = []


def counted(value):
    COUNTED.append(value)
    return made([], value)


def test_other_arguments_of_what_makes_a_table_make_another_one():
    for value in (1.0, 1.0, 2.0, 1.0):
        assert kept("a", partial(counted, value), games=20)["won"][0] == value
    assert COUNTED == [1.0, 2.0]
