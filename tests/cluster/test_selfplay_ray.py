"""Self-play on a Ray cluster: the shards are those of one process, byte by byte."""

import pytest
import ray
from ray_policies import Cheats, Dies

from ginrummy_agents.learned.policy import load_network, shipped
from ginrummy_env.core.actions import IllegalActionError
from ginrummy_env.core.rules import EAAI
from ginrummy_training.cli.main import main
from ginrummy_training.cluster.ray_dataset import RayMaker
from ginrummy_training.dataset.generate import plan_of, selfplay
from ginrummy_training.evaluation.processes import WorkerError

PLAN = plan_of(["champion", "ppo"], rules={**EAAI.to_dict(), "target": 40}, seed=4, shard_games=6)
GAMES = 16


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.parquet"))
    }


@pytest.fixture(scope="module", autouse=True)
def connected(cluster):
    """This process stays connected from test to test, so that its workers need not start anew."""
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here") / "data"
    selfplay(folder, PLAN, GAMES)
    return contents(folder)


def test_the_shards_are_the_same_to_the_byte(here, tmp_path):
    told = []
    card = selfplay(
        tmp_path / "data",
        PLAN,
        GAMES,
        maker=RayMaker(),
        report=lambda done, games: told.append(done),
    )
    assert contents(tmp_path / "data") == here
    assert len(here) == 6
    assert card["games"] == told[-1] == GAMES
    assert ray.is_initialized()


def test_only_missing_shards_are_made(here, tmp_path):
    folder = tmp_path / "data"
    selfplay(folder, PLAN, 6)
    first = folder / "positions" / "00000.parquet"
    before = first.stat().st_mtime_ns
    selfplay(folder, PLAN, GAMES, maker=RayMaker())
    assert contents(folder) == here
    assert first.stat().st_mtime_ns == before


def test_a_shard_lost_with_its_worker_is_made_again(tmp_path):
    died = tmp_path / "died"
    died.mkdir()
    plan = plan_of([Dies(died, 0)], rules=PLAN.rules, shard_games=4)
    selfplay(tmp_path / "calm", plan, 8)
    plan = plan_of([Dies(died, 2)], rules=PLAN.rules, shard_games=4)
    selfplay(tmp_path / "killed", plan, 8, maker=RayMaker())
    assert len(list(died.iterdir())) == 2
    assert contents(tmp_path / "killed") == contents(tmp_path / "calm")


def test_what_an_agent_does_wrong_arrives(tmp_path):
    plan = plan_of([Cheats()], shard_games=4)
    with pytest.raises(IllegalActionError) as caught:
        selfplay(tmp_path / "data", plan, 4, maker=RayMaker())
    assert "agent" in caught.value.__notes__[0]
    assert not list((tmp_path / "data").rglob("*.parquet"))


def test_nodes_with_another_policy_file_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "mine.npz"
    path.write_bytes(load_network(shipped(EAAI)).to_bytes())
    plan = plan_of([f"ppo:{path}"], rules=PLAN.rules, shard_games=2)
    other = plan.made_by()
    parts = other["policies"][f"ppo:{path}"]
    (file,) = (part for part in parts if part.startswith("file "))
    parts[file] = "0" * 16
    monkeypatch.setattr(
        "ginrummy_training.cluster.ray_dataset._surroundings", lambda plan: {"made_by": other}
    )
    with pytest.raises(WorkerError, match=r"mine\.npz.* has changed.*all nodes need the same"):
        selfplay(tmp_path / "data", plan, 2, maker=RayMaker())


def test_the_command(cluster, here, tmp_path, capsys):
    out = str(tmp_path / "data")
    command = ["selfplay", "champion", "ppo", "--rules", "eaai,target=40", "--seed", "4"]
    command += ["--games", str(GAMES), "--shard-games", "6", "--out", out]
    assert main([*command, "--ray", cluster.address]) == 0
    assert "bytes a position" in capsys.readouterr().out
    assert contents(tmp_path / "data") == here
