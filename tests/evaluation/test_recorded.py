"""Learning from recorded decisions, and the commands that record and learn."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ginrummy_env.core.rules import EAAI
from ginrummy_training.cli.main import main
from ginrummy_training.dataset.generate import plan_of, selfplay
from ginrummy_training.dataset.reader import recorded_points
from ginrummy_training.learning.imitation import recorded
from ginrummy_training.learning.setting_fields import SettingError
from ginrummy_training.learning.settings import SMOKE
from ginrummy_training.learning.train import train
from ginrummy_training.learning.win_chance import WinChance

SHORT = replace(EAAI, target=50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "data"
    selfplay(path, plan_of(["simple", "champion"], rules=SHORT, seed=3, shard_games=8), 20)
    return path


class TestImitation:
    SETTINGS = replace(
        SMOKE, rules="eaai,target=50", width=32, imitation_samples=24_000, imitation_batch=128,
        steps=0, eval_games=8, retest_games=8, tensorboard=False,
    )  # fmt: skip

    def test_it_learns_from_a_folder(self, folder, tmp_path):
        settings = replace(self.SETTINGS, data=str(folder), expert="champion")
        train(tmp_path / "run", settings, report=lambda text: None)
        log = pd.read_csv(tmp_path / "run" / "log.csv")
        losses = log["imitation/loss"].dropna()
        assert losses.iloc[-1] < 0.75 * losses.iloc[0]
        assert log["samples"].max() >= 24_000

    def test_samples_are_the_experts_choices_and_what_they_brought(self, folder):
        settings = replace(self.SETTINGS, data=str(folder), expert="champion")
        chance = WinChance.of_points(recorded_points(folder, 1_000), SHORT.target)
        source = recorded(settings, chance, np.random.default_rng(0))
        positions = pd.read_parquet(folder / "positions")
        mine = positions[positions["agent"] == "champion"]
        samples = [next(source) for _ in range(3)]
        for some in samples:
            assert (some.masks.sum(axis=1) > 1).all()
            assert some.masks[np.arange(len(some)), some.actions].all()
        after = np.minimum(
            np.stack(
                [
                    mine["my_score"] + mine["result_points"].clip(lower=0),
                    mine["opponent_score"] - mine["result_points"].clip(upper=0),
                ],
                axis=1,
            ),
            SHORT.target,
        )
        before = mine[["my_score", "opponent_score"]].to_numpy()
        paid = 2 * (chance(after) - chance(before))
        values = np.concatenate([some.values for some in samples])
        assert np.isin(np.round(values, 5), np.round(paid.astype(np.float32), 5)).all()
        assert values.min() < 0 < values.max()

    def test_what_it_can_not_learn_from(self, folder):
        settings = replace(self.SETTINGS, data=str(folder), expert="champion")
        with pytest.raises(SettingError, match="other rules than rules='eaai'"):
            replace(settings, rules="eaai").check()
        with pytest.raises(SettingError, match="expert='lookahead' did not play in"):
            replace(settings, expert="lookahead").check()
        with pytest.raises(SettingError, match="needs an expert"):
            replace(settings, expert="")


class TestCommand:
    def test_it_plays_and_imitates(self, tmp_path, capsys):
        out = str(tmp_path / "data")
        command = ["selfplay", "gold", "--rules", "eaai,target=50", "--games", "40", "--out", out]
        assert main([*command, "--shard-games", "20", "--seed", "5"]) == 0
        assert "bytes a position" in capsys.readouterr().out
        run = str(tmp_path / "run")
        given = [f"--set={name}={value}" for name, value in (
            ("imitation_samples", 2_000), ("width", 8), ("eval_games", 4), ("retest_games", 4),
        )]  # fmt: skip
        command = ["imitate", run, "--data", out, "--preset", "smoke", *given]
        assert main([*command, "--rules", "eaai,target=50"]) == 0
        settings = json.loads((tmp_path / "run" / "settings.json").read_text())["settings"]
        assert (settings["expert"], settings["data"]) == ("gold", out)

    def test_it_says_what_is_wrong(self, folder, capsys):
        assert main(["selfplay", "gold", "--games", "20", "--out", str(folder)]) == 2
        assert "holds another data set: agents" in capsys.readouterr().err

    def test_the_help_has_examples(self, capsys):
        with pytest.raises(SystemExit):
            main(["selfplay", "--help"])
        assert "ginrummy selfplay search:64 champion" in capsys.readouterr().out
