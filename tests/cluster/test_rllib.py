"""RLlib: the masked module, and a run that trains, is resumed and is exported."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import ray
import torch
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.utils.torch_utils import FLOAT_MIN

from ginrummy_agents.learned.inputs import features
from ginrummy_agents.learned.policy import Network, load_network, shipped
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import EAAI
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_training.cli.main import main as ginrummy
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.learning.run_folder import Run
from ginrummy_training.learning.settings import SMOKE
from ginrummy_training.learning.train import train as train_by_sb3
from ginrummy_training.rllib.config import MODULE, RLlibSettings, ppo_config
from ginrummy_training.rllib.env import (
    MASK,
    OBSERVATIONS,
    observation_space,
)
from ginrummy_training.rllib.module import SuitModule, shape_of
from ginrummy_training.rllib.start import policy_network, start
from ginrummy_training.rllib.train import RLlibRun, train
from ginrummy_training.storage import ResultError

TINY = RLlibSettings(
    rules="eaai,target=40", width=8, layers=1, envs=8, batch=128, minibatch=64, epochs=2,
    max_deals=4, seed=3,
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def connected(cluster):
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def positions(count=40, steps=25):
    """Views of games that `simple` plays."""
    state = new_games(7, np.arange(count, dtype=np.uint64), EAAI)
    rng, views = np.random.default_rng(0), []
    for _ in range(steps):
        view = make_view(state, EAAI)
        views.append(view.select(view.to_move))
        step(state, make_policy("simple").act(view, rng), EAAI)
    return views


def batch_of(view):
    seen = torch.from_numpy(features(view))
    masks = torch.from_numpy(view.action_masks().astype(np.float32))
    return {Columns.OBS: {OBSERVATIONS: seen, MASK: masks}}


class TestModule:
    def module(self, **shape):
        return SuitModule(
            observation_space=observation_space(),
            action_space=spaces.Discrete(108),
            model_config=shape,
        )

    @pytest.mark.parametrize("shape", [{"width": 8}, {"convolutions": 1, "filters": 4}])
    def test_what_is_exported_has_its_logits(self, shape):
        module = self.module(layers=2, **{"width": 16, **shape})
        network = module.network()
        for view in positions():
            with torch.no_grad():
                logits = module.forward_inference(batch_of(view))[Columns.ACTION_DIST_INPUTS]
            masks = view.action_masks()
            expected = network.logits(features(view))
            np.testing.assert_allclose(logits.numpy()[masks], expected[masks], atol=1e-5)
            assert (logits.numpy()[~masks] == FLOAT_MIN).all()

    def test_it_takes_a_policys_weights(self):
        network = load_network(shipped(EAAI))
        module = self.module(**shape_of(network))
        module.take(network)
        back = module.network()
        assert set(back.arrays) == set(network.arrays)
        for name, array in network.arrays.items():
            np.testing.assert_array_equal(back.arrays[name], array)
        with pytest.raises(ValueError, match="a policy of shape"):
            self.module(width=8).take(network)

    def test_actions_that_are_not_legal_are_never_drawn(self):
        module = self.module(width=8)
        view = positions(steps=6)[-1]
        outs = module.forward_exploration(batch_of(view))
        dist = module.get_exploration_action_dist_cls().from_logits(
            outs[Columns.ACTION_DIST_INPUTS]
        )
        masks = view.action_masks()
        for _ in range(50):
            assert masks[np.arange(len(view)), dist.sample().numpy()].all()
        assert torch.isfinite(dist.entropy()).all()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two iterations, a checkpoint, and one more after it was taken up."""
    folder = tmp_path_factory.mktemp("rllib") / "run"
    given = {"eval_games": 4, "checkpoint_every": 1, "eval_every": 2}
    said = []
    first = train(folder, TINY, 2, report=said.append, **given)
    before = {name: (folder / name).read_bytes() for name in ("policy.npz", "log.csv")}
    second = train(folder, None, 3, report=said.append, **given)
    return folder, first, before, second, said


class TestRun:
    def test_it_trains_and_checkpoints(self, run):
        folder, first, before, _, _ = run
        assert first["iterations"] == 2
        assert first["decisions"] >= 256
        assert len(list(folder.glob("checkpoint-*/rllib_checkpoint.json"))) == 2
        assert set(first["won"]) == {"simple"}
        rows = before["log.csv"].decode().splitlines()
        assert len(rows) == 3

    def test_it_goes_on_where_it_was(self, run):
        folder, first, before, second, said = run
        assert "resuming after 2 iterations" in said
        assert second["iterations"] == 3
        assert second["decisions"] > first["decisions"]
        log = (folder / "log.csv").read_text()
        assert (
            log.splitlines()[1].split(",")[:3]
            == before["log.csv"].decode().splitlines()[1].split(",")[:3]
        )
        assert (folder / "policy.npz").read_bytes() != before["policy.npz"]

    def test_a_checkpoint_brings_back_the_weights_to_the_bit(self, run):
        folder = run[0]
        taken = RLlibRun(folder, None)
        try:
            kept = Network.load(folder / "policy.npz")
            for name, array in taken.network().arrays.items():
                np.testing.assert_array_equal(array, kept.arrays[name])
            learner = taken.algorithm.learner_group._learner.module[MODULE].unwrapped()
            for name, array in learner.network().arrays.items():
                np.testing.assert_array_equal(array, kept.arrays[name])
        finally:
            taken.close()

    def test_a_match_with_the_exported_policy(self, run, capsys):
        path = run[0] / "policy.npz"
        result = play_match(
            f"ppo:{path}", "simple", games=4, rules={**EAAI.to_dict(), "target": 40}, max_deals=4
        )
        assert result.complete
        about = Network.load(path).about
        assert about["trained"] == "PPO by self-play on RLlib"
        command = ["match", f"ppo:{path}", "gold", "--games", "2", "--rules", TINY.rules]
        assert ginrummy([*command, "--max-deals", "4"]) == 0
        assert "games" in capsys.readouterr().out

    def test_settings_and_versions_are_kept(self, run):
        about = json.loads((run[0] / "settings.json").read_text())
        assert RLlibSettings(**about["settings"]) == TINY
        assert any(line.startswith("ray==2.") for line in about["installed"])

    def test_what_can_not_be(self, run, tmp_path, capsys):
        with pytest.raises(ValueError, match="holds a run"):
            train(run[0], TINY, 1)
        with pytest.raises(ResultError, match="no run to resume"):
            train(tmp_path, None, 1)
        (tmp_path / "settings.json").write_bytes((run[0] / "settings.json").read_bytes())
        for path in run[0].glob("checkpoint*"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
        last = max(tmp_path.glob("checkpoint-*"))
        max(last.rglob("*.pkl"), key=lambda path: path.stat().st_size).write_bytes(b"other")
        with pytest.raises(ResultError, match=rf"{last.name}: corrupt.* --resume --previous"):
            train(tmp_path, None, 1)
        assert ginrummy(["rllib", str(run[0]), "--resume", "--set", "width=4"]) == 2
        assert "keeps its settings" in capsys.readouterr().err

    def test_it_starts_from_a_policy(self):
        network = load_network(shipped(EAAI))
        settings = RLlibSettings(reward="points", envs=2, batch=8, minibatch=8)
        algorithm = ppo_config(settings, None).build_algo()
        try:
            start(algorithm, "ppo", EAAI)
            found = algorithm.get_module(MODULE).network()
            for name, array in network.arrays.items():
                np.testing.assert_array_equal(found.arrays[name], array)
        finally:
            algorithm.stop()
        with pytest.raises(ValueError, match="'ppo' or 'ppo:FILE'"):
            policy_network("simple", EAAI)

    def test_it_starts_from_a_run_with_its_value(self, tmp_path):
        begun = replace(
            SMOKE, width=8, layers=1, expert="", steps=256, num_envs=8, num_steps=16, batch=64,
            eval_games=2, retest_games=2, max_deals=2, reward="points", tensorboard=False,
        )  # fmt: skip
        train_by_sb3(tmp_path / "begun", begun, report=lambda text: None)
        settings = RLlibSettings(width=8, layers=1, reward="points", envs=2, batch=8, minibatch=8)
        algorithm = ppo_config(settings, None).build_algo()
        try:
            start(algorithm, str(tmp_path / "begun"), EAAI)
            module = algorithm.get_module(MODULE)
            _, saved = Run.open(tmp_path / "begun")
            for name, value in module.state_dict().items():
                assert torch.equal(value, saved["policy"][name]), name
            with pytest.raises(ValueError, match="a policy of shape"):
                start(algorithm, "ppo", EAAI)
        finally:
            algorithm.stop()


@pytest.mark.parametrize("batched", [True, False])
def test_both_players_are_learned_from(batched):
    """What an episode paid the two is in the samples, each player's own and against the other's."""
    settings = replace(TINY, reward="points", batched=batched)
    algorithm = ppo_config(settings, None).build_algo()
    try:
        episodes = algorithm.env_runner.sample(num_episodes=6)
        for episode in episodes:
            returns = [sum(episode.agent_episodes[name].get_rewards()) for name in
                       ("player_0", "player_1")]  # fmt: skip
            assert sum(returns) == pytest.approx(0)
            lengths = [len(each) for each in episode.agent_episodes.values()]
            assert sum(lengths) == episode.env_steps()
            for each in episode.agent_episodes.values():
                masks = each.get_observations()[MASK]
                actions = each.get_actions()
                assert (masks[np.arange(len(actions)), actions] == 1).all()
        returns, decisions, played = {"player_0": 0.0, "player_1": 0.0}, 0, 0
        for _ in range(20):  # episodes are cut where a sample ends, with a decision not yet paid
            for chunk in algorithm.env_runner.sample(num_timesteps=64):
                played += chunk.env_steps()
                for name, each in chunk.agent_episodes.items():
                    returns[name] += sum(each.get_rewards())
                    decisions += len(each)
        assert abs(returns["player_0"]) > 0
        assert returns["player_0"] == pytest.approx(-returns["player_1"])
        assert played - settings.envs <= decisions <= played
    finally:
        algorithm.stop()


def test_a_process_of_its_own_plays():
    settings = replace(TINY, reward="points", env_runners=1)
    algorithm = ppo_config(settings, None).build_algo()
    try:
        result = algorithm.train()
        assert result["env_runners"]["num_env_steps_sampled"] >= settings.batch
    finally:
        algorithm.stop()


def test_the_configuration_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "RLLIB.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    names = {}
    exec(code, names)
    config = names["config"].env_runners(num_env_runners=0, num_envs_per_env_runner=2)
    algorithm = config.build_algo()
    try:
        episodes = algorithm.env_runner.sample(num_timesteps=8)
        assert sum(episode.env_steps() for episode in episodes) >= 8
    finally:
        algorithm.stop()
