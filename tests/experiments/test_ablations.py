"""Ablations: their settings are valid, runs are made once, differences are of the same decks."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from ginrummy_training.evaluation.match import play_match
from ginrummy_training.experiments.ablation_figure import ablation_picture
from ginrummy_training.experiments.ablations import (
    BASE,
    OF_RULES,
    VARIANTS,
    ablate,
    difference,
    played,
    read_rows,
    trained,
    write_rows,
)
from ginrummy_training.learning.settings import SMOKE, TrainSettings
from ginrummy_training.storage import ResultError

TINY = {
    **SMOKE.to_dict(),
    "width": 8, "imitation_samples": 1_000, "steps": 512, "num_envs": 16, "batch": 256,
    "eval_games": 4, "retest_games": 4, "max_deals": 2, "eval_every": 512, "pool_every": 512,
    "tensorboard": False,
}  # fmt: skip
for name in ("rules", "seed", "expert"):
    del TINY[name]


@pytest.mark.parametrize("rules", OF_RULES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_differs_from_the_base_in_what_it_names(rules, variant):
    common = {"rules": rules, **BASE, **OF_RULES[rules]}
    base = TrainSettings().changed(common).to_dict()
    changed = TrainSettings().changed({**common, **VARIANTS[variant]}).to_dict()
    assert {name for name in base if base[name] != changed[name]} == set(VARIANTS[variant])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ablations")
    return folder, ablate(folder, "eaai", 5, ["points"], games=8, base=TINY)


def test_a_row_a_variant_with_its_command_and_difference(table):
    folder, rows = table
    assert [row.variant for row in rows] == ["base", "points"]
    base, points = rows
    assert base.to_base is None
    assert points.to_base == pytest.approx(points.won - base.won, abs=1e-4)
    assert points.settings == 'reward = "points"'
    assert points.command.startswith("ginrummy train runs/eaai-points-seed5 --set ")
    assert "'reward=\"points\"'" in points.command
    write_rows(rows, folder / "table.csv")
    read = list(csv.DictReader((folder / "table.csv").read_text().splitlines()))
    assert [row["to_base"] for row in read] == ["", str(points.to_base)]
    assert read_rows(folder / "table.csv") == rows


def test_the_picture_has_a_row_a_variant(table):
    row = replace(table[1][1], to_base=-0.02, to_base_low=-0.04, to_base_high=0.01)
    other = replace(row, variant="win", to_base=0.01)
    far = replace(row, variant="no imitation", to_base=-0.46)
    axes = ablation_picture([table[1][0], row, other, far]).axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["no imitation", "win", "points"]
    assert [text.get_text() for text in axes.texts] == ["−46"]


def test_a_table_of_something_else_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("agent,won\nsimple,1\n")
    with pytest.raises(ResultError, match="not a table of ablations"):
        read_rows(path)


def test_what_is_there_is_not_made_again(table):
    folder, rows = table
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.pt")}
    assert before
    assert ablate(folder, "eaai", 5, ["points"], games=8, base=TINY) == rows
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_run_of_other_settings_is_not_taken_for_it(table):
    run = table[0] / "eaai-points-seed5"
    with pytest.raises(ResultError, match="other settings"):
        trained(run, TrainSettings())


def test_the_difference_of_two_on_the_same_decks(table):
    one = played(table[0] / "eaai-base-seed5", "eaai", 8)
    assert difference(one, one).to_dict() == {"value": 0, "low": 0, "high": 0}
    other = play_match("simple", "simple", games=8, seed=7001, rules="eaai")
    won = np.array([(match.table["winner"] == 0).mean() for match in (one, other)])
    assert difference(one, other).value == pytest.approx(won[0] - won[1])
