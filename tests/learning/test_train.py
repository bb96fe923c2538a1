"""Training: a small run learns, writes checkpoints, goes on after a kill; settings and rewards."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from math import nan
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from ginrummy_agents.learned.inputs import features
from ginrummy_agents.learned.policy import Network
from ginrummy_env.core.rules import CLASSIC, EAAI
from ginrummy_env.policy import make_policy
from ginrummy_training.cli.commands.curves import named_runs
from ginrummy_training.cli.main import main
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.learning.curves import read_curves, run_name
from ginrummy_training.learning.env import LearningEnv
from ginrummy_training.learning.opponent_pool import Pool, assign, opponents_of, shares_at
from ginrummy_training.learning.run_folder import Run, RunProgress
from ginrummy_training.learning.setting_fields import SettingError
from ginrummy_training.learning.settings import POOL, PRESETS, SMOKE, TrainSettings
from ginrummy_training.learning.train import make_model, train
from ginrummy_training.learning.win_chance import WinChance, deal_points
from ginrummy_training.storage import ResultError

TINY = replace(
    SMOKE, width=16, imitation_samples=4_000, steps=1_024, num_envs=16, eval_games=8,
    retest_games=8, num_steps=32, batch=256, eval_every=1_024, checkpoint_every=512, pool_every=512,
    max_deals=2, tensorboard=False,
)  # fmt: skip


SHORT = replace(SMOKE, max_deals=3)
"""A run of all parts; its evaluations take as long as their longest game."""


def log_of(folder):
    return list(csv.DictReader((folder / "log.csv").read_text().splitlines()))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "smoke"
    lines = []
    return folder, train(folder, SHORT, report=lines.append), lines


class TestSmoke:
    def test_the_imitation_loss_falls(self, run):
        rows = [row for row in log_of(run[0]) if row["imitation/loss"]]
        assert float(rows[-1]["imitation/loss"]) < 0.7 * float(rows[0]["imitation/loss"])

    def test_it_is_evaluated_before_and_after_ppo_and_tested_again(self, run):
        folder, result, lines = run
        rows = [row for row in log_of(folder) if row["eval/simple"]]
        assert int(rows[0]["steps"]) == 0
        assert int(rows[-1]["steps"]) == result["steps"] >= SHORT.steps
        assert float(rows[0]["eval/simple_low"]) <= float(rows[0]["eval/simple_high"])
        assert set(result["best"]) == {"simple"}
        assert json.loads((folder / "result.json").read_text()) == result
        assert any("fresh decks" in line for line in lines)

    def test_how_deals_ended_and_what_time_went_into_is_logged(self, run):
        rows = [row for row in log_of(run[0]) if row.get("deals/opponent_knock")]
        assert rows
        assert 0 < float(rows[-1]["deals/opponent_knock"]) < 1
        assert float(rows[-1]["time/playing"]) > 0

    def test_versions_settings_and_seed_are_recorded(self, run):
        about = json.loads((run[0] / "settings.json").read_text())
        assert TrainSettings().changed(about["settings"]) == SHORT
        assert any(line.startswith("torch==") for line in about["installed"])

    def test_the_pool_has_its_past(self, run):
        assert sorted(path.name for path in run[0].glob("pool-*.npz")) == [
            "pool-000000000.npz",
            "pool-000001024.npz",
        ]

    def test_what_it_wrote_plays_by_name(self, run):
        result = play_match(f"ppo:{run[0] / 'best.npz'}", "simple", games=4, rules="eaai,target=30")
        assert result.complete
        about = {name: Network.load(run[0] / f"{name}.npz").about for name in ("imitation", "last")}
        assert about["imitation"]["steps"] == 0
        assert about["last"]["steps"] == run[1]["steps"]

    def test_curves_come_from_its_folder_or_its_log(self, run, tmp_path):
        folder, out = run[0], tmp_path / "curves.png"
        assert read_curves(folder) == read_curves(folder / "log.csv")
        steps = [point[0] for point in read_curves(folder)["simple"]]
        assert steps[0] == 0
        assert steps == sorted(set(steps))
        assert main(["curves", str(folder), f"log={folder / 'log.csv'}", "--out", str(out)]) == 0
        assert out.read_bytes().startswith(b"\x89PNG")
        settings = json.loads((folder / "settings.json").read_text())["settings"]
        called = f"{settings['rules'].upper()}, seed {settings['seed']}"
        assert run_name(folder) == called
        assert list(named_runs([str(folder), str(folder), f"log={folder / 'log.csv'}"])) == [
            called,
            f"{called} ({folder})",
            "log",
        ]

    def test_curves_against_nobody_are_refused(self, run, tmp_path, capsys):
        out = tmp_path / "curves.png"
        assert main(["curves", str(run[0]), "--against", "gold", "--out", str(out)]) == 2
        assert "no evaluations against gold" in capsys.readouterr().err

    def test_tensorboard_has_a_file(self, run):
        assert list((run[0] / "tensorboard").glob("events*"))

    def test_a_finished_run_goes_on_when_it_is_given_more_steps(self, run):
        folder, before, _ = run
        more = before["steps"] + 1_024
        assert main(["train", str(folder), "--resume", "--set", f"steps={more}"]) == 0
        after = json.loads((folder / "result.json").read_text())
        assert after["steps"] == more
        assert after["samples"] == before["samples"]
        assert after["imitation"] == before["imitation"]


def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path):
    folder = tmp_path / "killed"
    given = {**TINY.to_dict(), "steps": 1_000_000, "eval_every": 1_000_000}
    code = (
        "import json, sys; from pathlib import Path\n"
        "from ginrummy_training.learning.settings import TrainSettings\n"
        "from ginrummy_training.learning.train import train\n"
        "train(Path(sys.argv[1]), TrainSettings().changed(json.loads(sys.argv[2])))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder), json.dumps(given)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        end = monotonic() + 600
        while monotonic() < end and not (folder / "pool-000001536.npz").exists():
            assert process.poll() is None, "the run has ended by itself"
            sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    Run.extend(folder, {"steps": 3_072})
    taken, saved = Run.resume(folder)
    assert saved is not None
    assert taken.progress.steps >= 1_024  # killed after 1,536 steps: at most an interval is lost
    lines = []
    result = train(folder, resume=True, report=lines.append)
    assert result["steps"] == 3_072
    assert lines[0].startswith(f"resuming after {taken.progress.samples:,} samples")
    steps = [int(row["steps"]) for row in log_of(folder) if row.get("train/loss")]
    assert steps == sorted(set(steps))  # nothing is logged twice


class TestRunsThatCanNotBe:
    def test_a_folder_with_a_run_is_not_begun_again(self, run):
        with pytest.raises(ValueError, match="--resume"):
            train(run[0], SMOKE)

    def test_there_is_nothing_to_resume(self, tmp_path):
        with pytest.raises(ResultError, match=r"settings\.json is missing"):
            train(tmp_path, resume=True)

    def test_a_damaged_checkpoint_is_refused_and_the_previous_one_offered(self, run, tmp_path):
        copy = tmp_path / "copy"
        shutil.copytree(run[0], copy, ignore=shutil.ignore_patterns("tensorboard"))
        last = max(copy.glob("checkpoint-*.pt"))
        content = bytearray(last.read_bytes())
        content[len(content) // 2] ^= 1
        last.write_bytes(content)
        with pytest.raises(ResultError, match=rf"{last.name}: corrupt.* --resume --previous"):
            train(copy, resume=True)
        taken, saved = Run.resume(copy, previous=True)
        assert saved is not None
        assert taken.progress.steps >= run[1]["steps"]
        with pytest.raises(ResultError, match="corrupt or missing"):
            Run.extend(copy, {"steps": 4_096})
        assert (copy / "settings.json").read_bytes() == (run[0] / "settings.json").read_bytes()

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b'{"settings": null}', "settings=None: a table"),
            (b'{"settings": {"teacher": "gold"}}', "unknown setting 'teacher'"),
            (b"[" * 100_000, "not JSON"),
            (b"{}", "'settings'"),
        ],
    )
    def test_settings_that_are_none(self, tmp_path, content, says):
        (tmp_path / "settings.json").write_bytes(content)
        with pytest.raises(ResultError, match=rf"settings\.json: corrupt.*{says}"):
            train(tmp_path, resume=True)

    def test_changed_settings_code_or_agents_are_refused(self, run, tmp_path):
        about = json.loads((run[0] / "settings.json").read_text())
        (tmp_path / "settings.json").write_text(json.dumps(about))
        Run.resume(tmp_path)
        for change, says in (
            (("made_by", "engine", "0"), "the code of the rules"),
            (("made_by", "policies", "gold", "code", "0"), "the code of gold has changed"),
            (("data", "x"), "data is 'x' there"),
            (("format", 0), "format is 0 there"),
        ):
            changed = json.loads(json.dumps(about))
            part = changed
            for key in change[:-2]:
                part = part[key]
            part[change[-2]] = change[-1]
            (tmp_path / "settings.json").write_text(json.dumps(changed))
            with pytest.raises(ResultError, match=says):
                Run.resume(tmp_path)
        copy = tmp_path / "copy"
        shutil.copytree(run[0], copy, ignore=shutil.ignore_patterns("tensorboard"))
        about["settings"]["gamma"] = 0.5
        (copy / "settings.json").write_text(json.dumps(about))
        with pytest.raises(ResultError, match=r"gamma is 0\.5, but the checkpoint was made with 1"):
            Run.resume(copy)

    def test_files_that_a_run_would_overwrite(self, tmp_path):
        (tmp_path / "best.npz").write_bytes(b"mine")
        with pytest.raises(ValueError, match=r"best\.npz would be overwritten"):
            Run.start(tmp_path, SMOKE)
        assert [path.name for path in tmp_path.iterdir()] == ["best.npz"]

    def test_what_shaped_a_run_stays(self, run):
        with pytest.raises(ValueError, match="width: a resumed run keeps its settings"):
            Run.extend(run[0], {"width": 8})


class TestSettings:
    @pytest.mark.parametrize("name", PRESETS)
    def test_presets_survive_being_written(self, name):
        given = json.loads(json.dumps(PRESETS[name].to_dict()))
        assert TrainSettings().changed(given) == PRESETS[name]

    def test_a_file(self, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_text(
            'rules = "classic"\nsteps = 1_000\nlearning_rate = 1\ntarget_kl = 0\n'
            "opponents = {simple = 1, pool = 0.5}\n"
        )
        settings = TrainSettings.load(path, SMOKE)
        assert settings.parsed_rules() == CLASSIC
        assert settings.opponents == ((0.0, {"simple": 1.0, "pool": 0.5}),)
        assert (settings.learning_rate, settings.target_kl, settings.width) == (
            1.0,
            None,
            SMOKE.width,
        )

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"stpes": 1}, "unknown setting 'stpes' (did you mean 'steps'?)"),
            ({"teacher": "gold"}, "unknown setting 'teacher'; the settings are rules, seed"),
            (None, "settings=None: a table of names and values is needed"),
            ({"steps": "many"}, "steps='many': a whole number from 0 to 1000000000000"),
            ({"steps": True}, "steps=True: a whole number"),
            ({"width": 10**12}, "width=1000000000000: a whole number from 1 to 4096"),
            ({"width": 0}, "width=0: a whole number from 1"),
            ({"convolutions": -1}, "convolutions=-1: a whole number from 0 to 16"),
            ({"seed": -1}, "seed=-1: a whole number from 0 to 2**64 - 1"),
            ({"gamma": 2.0}, "gamma=2.0: a number from 0 to 1"),
            ({"entropy": nan}, "entropy=nan: a number from 0 to 10"),
            ({"learning_rate": -1}, "learning_rate=-1: a number from 1e-09 to 1"),
            ({"learning_rate": 10**400}, "learning_rate=a whole number of more than 60 digits"),
            ({"target_kl": [1]}, "target_kl=[1]: a number from"),
            ({"target_kl": nan}, "target_kl=nan: a number from"),
            ({"derived": "no"}, "derived='no': True or False"),
            ({"rules": 3}, "rules=3: text is needed"),
            ({"episode": "deals"}, "episode='deals': one of 'deal_of_game', 'deal', 'game'"),
            ({"reward": "pionts"}, "(did you mean 'points'?)"),
            ({"reward": "win"}, "it needs episode='game'"),
            ({"episode": "deal"}, "needs a game"),
            ({"batch": 1000}, "does not divide"),
            ({"num_envs": 60_000, "num_steps": 60_000}, "at most 4,194,304 decisions"),
            ({"eval_games": 3}, "eval_games=3: an even number"),
            ({"opponents": {}}, "no opponent has a share above 0"),
            ({"opponents": []}, "a table of shares"),
            ({"opponents": 5}, "opponents=5: a table of shares"),
            ({"opponents": {"simple": nan}}, "share of simple=nan"),
            ({"opponents": [{"start": 0.0, "share": {}}]}, "is not a stage"),
            ({"opponents": [{"start": 0.5, "shares": {"gold": 1}}]}, "starts at 0.5; 0.0 is"),
            ({"opponents": [(0.0, {"gold": 1}), (0.0, {"gold": 1})]}, "must start later"),
            ({"eval_opponents": "simple"}, 'a list of names is needed, such as ["simple"]'),
            ({"eval_opponents": []}, "eval_opponents=[]: at least one is needed"),
            ({"eval_opponents": ["gold", "gold"]}, "a name appears twice"),
        ],
    )
    def test_bad_values_are_named_with_what_is_allowed(self, given, says):
        with pytest.raises(SettingError, match=re.escape(says)):
            TrainSettings().changed(given)

    def test_any_integral_value_is_taken(self):
        settings = TrainSettings(seed=np.uint64(7), epochs=np.int8(2), entropy=np.float32(0))
        assert json.loads(json.dumps(settings.to_dict())) == {
            **TrainSettings().to_dict(), "seed": 7, "epochs": 2, "entropy": 0.0,
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ("expert=glod", "expert: unknown policy 'glod'"),
            ("opponents={simpel=1}", "opponents: unknown policy 'simpel'"),
            ("pool_seeds=['ppo:no/such.npz']", "pool_seeds: "),
            ("eval_opponents=['simple:knock=x']", "eval_opponents: "),
            ("data=no/such/folder", "no/such/folder: "),
            ("rules=poker", "rules='poker': "),
        ],
    )
    def test_bad_names_are_refused_before_anything_is_written(self, tmp_path, capsys, given, says):
        folder = tmp_path / "x"
        assert main(["train", str(folder), "--preset", "smoke", "--set", given]) == 2
        assert says in capsys.readouterr().err
        assert not folder.exists()
        name, _, value = given.partition("=")
        with pytest.raises(ValueError, match=re.escape(says)):
            train(folder, SMOKE.changed({name: tomllib.loads(f"v = {value}")["v"]}
                                        if value[0] in "[{'" else {name: value}))  # fmt: skip
        assert not folder.exists()

    @pytest.mark.parametrize("seed", [2**32, 2**64 - 1])
    def test_any_seed_makes_a_model(self, seed):
        settings = replace(TINY, seed=seed, reward="points", imitation_samples=0)
        env = LearningEnv(settings, EAAI, None)
        run = Run(Path(), settings, RunProgress(restarts=1))
        env.seed(run.deck_seed())
        first = [make_model(replace(settings, seed=s), env).policy for s in (seed, seed, seed - 1)]
        weights = [next(policy.parameters()).detach().numpy() for policy in first]
        np.testing.assert_array_equal(weights[0], weights[1])
        assert (weights[0] != weights[2]).any()

    def test_the_command_shows_what_it_would_do(self, capsys, tmp_path):
        command = ["train", str(tmp_path / "x"), "--show", "--set", "steps=7", "--rules", "classic"]
        assert main(command) == 0
        shown = tmp_path / "shown.toml"
        shown.write_text(capsys.readouterr().out)
        assert TrainSettings.load(shown) == TrainSettings(steps=7, rules="classic")


class TestOpponents:
    def test_shares_are_kept_and_every_row_has_one(self):
        names, assignment = assign({"simple": 0.5, "gold": 0.0, POOL: 0.25, "hein": 0.25}, 10)
        assert names == ["simple", POOL, "hein"]
        assert np.bincount(assignment).tolist() in ([5, 3, 2], [5, 2, 3])

    def test_the_schedule(self):
        settings = replace(SMOKE, opponents=((0.0, {"gold": 1.0}), (0.5, {"hein": 1.0})))
        assert shares_at(settings, 0.49) == {"gold": 1.0}
        assert shares_at(settings, 0.5) == {"hein": 1.0}

    def test_the_pool_gives_up_the_oldest(self, tmp_path):
        pool = Pool(tmp_path, replace(SMOKE, pool_size=2), [])
        for name in ("a", "b", "c", "c"):
            pool.add(name)
        assert pool.files == ["b", "c"]

    def test_late_members_are_met_as_often_as_all_others(self, run):
        pool = Pool(run[0], replace(SMOKE, pool_seeds=("simple", "gold")), [])
        pool.files = ["pool-000000000.npz", "pool-000001024.npz"]
        drawn = pool.draw(2_000, np.random.default_rng(0))
        late = sum(getattr(member, "name", "") != "" for member in drawn)
        assert 900 < late < 1_100

    def test_pool_rows_are_shared_out_among_those_drawn(self, run):
        pool = Pool(run[0], SMOKE, ["pool-000000000.npz"])
        policies, assignment = opponents_of(
            {"simple": 0.5, POOL: 0.5}, 8, pool, np.random.default_rng(0)
        )
        assert policies[0] == "simple"
        assert np.bincount(assignment).tolist() == [4, 2, 2]


@pytest.fixture(scope="module")
def paid():
    """What deals of `simple` against itself paid."""
    return deal_points(make_policy("simple"), EAAI, 500, 1)


@pytest.fixture(scope="module")
def chance(paid):
    return WinChance.of_points(paid, EAAI.target)


class TestLearningEnv:
    """What the learner sees and is paid."""

    def played(self, env, steps):
        """Play with the rule agent `simple` in the learner's place."""
        env.seed(5)
        env.reset()
        rng = np.random.default_rng(1)
        simple = make_policy("simple")
        for _ in range(steps):
            yield env.step(simple.act(env.games.views(), rng).astype(np.int64))

    @pytest.mark.parametrize("ahead", [True, False])
    @pytest.mark.parametrize("derived", [True, False])
    def test_it_sees_what_the_exported_policy_will_see(self, ahead, derived):
        settings = replace(TINY, ahead=ahead, derived=derived, reward="points")
        env = LearningEnv(settings, EAAI, None)
        for observations, *_ in self.played(env, 20):
            expected = features(env.games.views(), derived, ahead)
            np.testing.assert_array_equal(observations, expected)
        assert observations.shape[1:] == env.observation_space.shape

    def test_every_deal_is_an_episode(self):
        env = LearningEnv(replace(TINY, reward="points"), EAAI, None)
        for _, rewards, dones, infos in self.played(env, 200):
            for row, info in enumerate(infos):
                assert dones[row] == bool(info["deals"])
                assert ("episode" in info) == dones[row]
                if not dones[row]:
                    assert rewards[row] == 0
        assert env.take_endings()["opponent_knock"] > 0

    def test_chances_add_up_to_the_game_won(self, paid):
        rules = replace(EAAI, target=40)
        settings = replace(TINY, episode="game", max_deals=1000)
        env = LearningEnv(settings, rules, WinChance.of_points(paid, rules.target))
        games = 0
        for _, _, dones, infos in self.played(env, 200):
            for row in np.flatnonzero(dones):
                assert abs(infos[row]["episode"]["r"]) == pytest.approx(1, abs=1e-5)
                games += 1
        assert games > 16

    def test_the_chance_of_winning(self, chance):
        table = chance.table[: EAAI.target, : EAAI.target]
        np.testing.assert_allclose(table + table.T, 1, atol=1e-12)
        assert (np.diff(table, axis=0) >= -1e-12).all()
        assert (np.diff(table, axis=1) <= 1e-12).all()
        found = chance(np.array([[250, 60], [60, 100], [0, 0]]))
        assert found[:2].tolist() == [1.0, 0.0]  # won, lost
        assert found[2] == pytest.approx(0.5)

    def test_a_chance_by_hand(self):
        """All deals pay 60 and two win: from 60 : 0 one must win the next, or the one after."""
        chance = WinChance.of_points([60, -60, 0], 100)
        assert chance.table[[60, 60, 0], [0, 60, 0]] == pytest.approx([0.75, 0.5, 0.5])

    def test_a_sample_that_pays_nothing(self):
        with pytest.raises(ValueError, match="no deal was worth any points"):
            WinChance.of_points([0, 0], 100)


def test_ppo_takes_single_legal_actions_and_long_masks():
    """MaskablePPO's checks of probabilities hold where one action of 108 is legal."""
    settings = replace(TINY, reward="points", expert="")
    env = LearningEnv(settings, EAAI, None)
    model = make_model(settings, env)
    observations = np.random.default_rng(0).random((512, *env.observation_space.shape))
    masks = np.zeros((512, 108), dtype=bool)
    masks[np.arange(512), np.arange(512) % 108] = True
    actions, _ = model.predict(observations.astype(np.float32), action_masks=masks)
    assert (actions == np.arange(512) % 108).all()


def test_the_exported_network_is_the_one_in_the_file(run):
    assert Network.load(run[0] / "best.npz").about["rules"] == "eaai"
