"""Matches and tournaments on Ray: the games of one process, whatever happens to the cluster."""

import threading
import time

import pytest
import ray
from ray_policies import AsSimple, Cheats, Complains, Dies, Marks

from ginrummy_env.core.actions import IllegalActionError
from ginrummy_training.cluster import ray_runner as run
from ginrummy_training.cluster.ray_runner import RayRunner
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.processes import WorkerError
from ginrummy_training.evaluation.tournament import play_tournament

AGENTS = ["simple", "gold", "simple:0"]
SETTINGS = {"seed": 4, "rules": "eaai,target=30"}


@pytest.fixture(scope="module", autouse=True)
def connected(cluster):
    """This process stays connected from test to test, so that its workers need not start anew."""
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def alone():
    """The tournament that the others are held against, in this process."""
    return play_tournament(AGENTS, games=120, **SETTINGS)


@pytest.fixture(scope="module")
def match_alone():
    return play_match("simple", "gold", games=120, **SETTINGS)


def same(first, second):
    return all(
        first.results[pair].table.tobytes() == second.results[pair].table.tobytes()
        for pair in second.results
    )


@pytest.mark.parametrize("games", [1, 50, None])
def test_a_match_has_the_games_of_one_process(match_alone, games):
    seen = []
    played = play_match(
        "simple", "gold", games=20 if games == 1 else 120, **SETTINGS,
        runner=RayRunner(games=games), progress=lambda what, done, total: seen.append(done),
    )  # fmt: skip
    assert played.table.tobytes() == match_alone.table[: len(played.table)].tobytes()
    assert played.decisions.sum() == played.table["steps"].sum()
    assert (played.seconds > 0).all()
    assert seen == sorted(seen)
    assert len(seen) - 1 == {1: 20, 50: 3, None: 2}[games]  # a report a range, and one at first
    assert ray.is_initialized()


def test_a_tournament_goes_on_without_a_node_that_is_removed(cluster, alone, tmp_path, caplog):
    node = cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    mark = tmp_path / node.node_id

    def remove(what, done, total):
        if done and node in cluster.worker_nodes:
            deadline = time.monotonic() + 600
            while not mark.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            cluster.remove_node(node, allow_graceful=False)

    played = play_tournament(
        [Marks(tmp_path), *AGENTS[1:]], games=120, **SETTINGS,
        runner=RayRunner(games=20), progress=remove,
    )  # fmt: skip
    assert mark.exists()
    assert node not in cluster.worker_nodes
    assert "are played again: NodeDiedError" in caplog.text
    assert same(played, alone)


def test_games_of_a_killed_worker_are_played_again(match_alone, tmp_path, caplog):
    played = play_match(
        Dies(tmp_path, 1), "gold", games=120, **SETTINGS, runner=RayRunner(games=60)
    )
    assert "are played again: WorkerCrashedError" in caplog.text
    assert played.table.tobytes() == match_alone.table.tobytes()


def test_games_that_kill_every_worker_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "LOSSES", 2)
    with pytest.raises(WorkerError, match="games 0 to 9 of match 0 were lost 2 times"):
        play_match(Dies(tmp_path, 9), "gold", games=10, **SETTINGS, runner=RayRunner())


def test_an_illegal_action_is_an_error_that_names_the_game():
    with pytest.raises(IllegalActionError) as caught:
        play_match("simple", Cheats(), games=4, seed=1, runner=RayRunner())
    (note,) = caught.value.__notes__
    assert note.startswith("agent B in game ")
    assert "(seed 1)" in note


def test_a_task_has_one_thread():
    with pytest.raises(RuntimeError, match=r"^threads: 1$"):
        play_match(Complains(), "gold", games=2, runner=RayRunner())


def test_an_agent_that_cannot_be_sent_is_an_error():
    policy = AsSimple()
    policy.secret = threading.Lock()
    with pytest.raises(ValueError, match="can't be sent to another machine"):
        play_match(policy, "gold", games=4, runner=RayRunner())


def test_a_node_with_another_version_is_an_error(monkeypatch):
    there = {**run.environment(), "ginrummy_env": "99.0"}
    monkeypatch.setattr(run, "environment", lambda: there)
    with pytest.raises(WorkerError, match=r"this is ginrummy_env 99\.0, .* the same on all nodes"):
        play_match("simple", "gold", games=4, runner=RayRunner())
