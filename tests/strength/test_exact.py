"""Exact results on a deal of one discard: small enough to check them in other ways."""

import sys
from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from ginrummy_env.compat.deal_tree import deal_tree  # noqa: E402
from ginrummy_env.compat.openspiel_tree import load_tree  # noqa: E402
from ginrummy_env.core.rules import as_rules  # noqa: E402
from ginrummy_env.core.state import NOBODY  # noqa: E402
from ginrummy_env.policy import make_policy  # noqa: E402
from ginrummy_training.cli.main import main  # noqa: E402
from ginrummy_training.evaluation.play_deals import play_deals, points_of  # noqa: E402
from ginrummy_training.storage import ResultError, read_json  # noqa: E402
from ginrummy_training.strength.exact import (  # noqa: E402
    BestResponses,
    endings,
    exact,
    policy_table,
    read_equilibrium,
)

RULES = as_rules("nano,turn_bound=1")


@pytest.fixture(scope="module")
def small():
    return load_tree(RULES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results with 12 iterations."""
    out = tmp_path_factory.mktemp("exact")
    exact(["random", "simple"], RULES, iterations=12, out=out)
    return out


class Lowest:
    """Takes the lowest legal action, or the highest."""

    def __init__(self, highest=False):
        self.highest = highest

    def act(self, view, rng):
        masks = view.action_masks()
        if self.highest:
            return (107 - masks[:, ::-1].argmax(axis=1)).astype(np.int16)
        return masks.argmax(axis=1).astype(np.int16)


def test_random_play_is_uniform_and_other_play_certain(small):
    uniform = policy_table(small.tree, make_policy("random"))
    np.testing.assert_allclose(uniform.max(axis=1), 1 / small.tree.legal.sum(axis=1))
    certain = policy_table(small.tree, Lowest())
    assert (certain.argmax(axis=1) == small.tree.legal.argmax(axis=1)).all()
    assert ((certain == 0) | (certain == 1)).all()
    assert (certain.sum(axis=1) == 1).all()


class OftenLowest:
    """Takes the lowest legal action three times of four, else the highest."""

    def act(self, view, rng):
        low, high = (Lowest(highest).act(view, rng) for highest in (False, True))
        return np.where(rng.random((len(view),)) < 0.75, low, high)


class Illegal:
    def act(self, view, rng):
        return np.full(len(view), 107, dtype=np.int16)


def test_a_policy_that_draws_numbers_is_asked_many_times(small):
    shares = policy_table(small.tree, OftenLowest(), samples=40, seed=1)
    choices = small.tree.legal.sum(axis=1) > 1
    assert shares.max(axis=1)[choices].mean() == pytest.approx(0.75, abs=0.02)
    with pytest.raises(ValueError, match="took action 107, not legal in: player 0"):
        policy_table(small.tree, Illegal())


def test_a_best_response_wins_what_openspiel_says(small):
    policy = small.policy(policy_table(small.tree, make_policy("lookahead")))
    opener, dealer = BestResponses(small).points(policy)
    assert (opener + dealer) / 2 == pytest.approx(pyspiel.exploitability(small.game, policy))


def test_exact_points_are_those_of_all_deals_played(small):
    """The same two agents on each of the 1,120 deals, which are all equally likely."""
    from ginrummy_env.compat.deal_tree import Walk

    state = next(iter(Walk(RULES))).state
    count = len(state)
    policies = (Lowest(), Lowest(highest=True))
    keys = np.arange(count, dtype=np.uint64)
    play_deals(policies, state, np.zeros(count, dtype=np.int64), keys, RULES)
    points = points_of(state, np.zeros(count, dtype=np.int8)).mean()
    table = np.where(
        small.tree.player[:, None] == 0,
        policy_table(small.tree, policies[0]),
        policy_table(small.tree, policies[1]),
    )
    root = small.game.new_initial_state()
    [expected, _] = pyspiel.expected_returns(root, small.policy(table), -1, True)
    assert expected == pytest.approx(points)
    shares = endings(small.tree, table)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["void"] == pytest.approx((state.knocker == NOBODY).mean())


def test_results_are_consistent_and_written(folder):
    found = read_json(folder / "exact.json")
    assert found["tree"] == {
        "beginnings": 1120,
        "histories": 21_520,
        "decisions": found["tree"]["decisions"],
        "information_sets": 2520,
    }
    value = found["value"]
    assert value["low"] <= 2.7978 <= value["high"]
    assert value["exploitability"] == pytest.approx((value["high"] - value["low"]) / 2)
    by_iteration = [each["exploitability"] for each in found["solvers"] if each["solver"] == "CFR+"]
    assert by_iteration[-1] < 0.1 < by_iteration[0]
    for agent in found["agents"].values():
        seats = (agent["loses_as_opener"] + agent["loses_as_dealer"]) / 2
        assert agent["exploitability"] == pytest.approx(seats)
        assert agent["loses_as_opener"] > 0 < agent["loses_as_dealer"]
        assert -agent["exploitability"] < agent["against_equilibrium"] < 0
    assert sum(found["endings"].values()) == pytest.approx(1)
    assert (folder / "agents.csv").read_text().startswith("agent,exploitability,loses_as_opener")
    assert len((folder / "solvers.csv").read_text().splitlines()) == 1 + len(found["solvers"])


def test_the_written_equilibrium_is_one(small, folder):
    equilibrium = read_equilibrium(folder / "equilibrium.npz", small.tree)
    exploitability = pyspiel.exploitability(small.game, small.policy(equilibrium))
    stored = read_json(folder / "exact.json")["value"]["exploitability"]
    assert exploitability == pytest.approx(stored, abs=1e-5)
    other = deal_tree(as_rules("nano,turn_bound=1,gin_bonus=5"))
    with pytest.raises(ResultError, match="other rules"):
        read_equilibrium(folder / "equilibrium.npz", other)


def test_agents_are_added_to_what_is_there(folder, monkeypatch):
    from ginrummy_training.strength import exact as module

    monkeypatch.setattr(module, "solve", None)  # not called again
    found = exact(["lookahead"], RULES, iterations=12, out=folder)
    assert list(found["agents"]) == ["random", "simple", "lookahead"]
    assert set(found["made_by"]["policies"]) == {"random", "simple", "lookahead"}
    with pytest.raises(ResultError, match="iterations is 12 there and 7 here"):
        exact(["random"], RULES, iterations=7, out=folder)


def test_the_command_prints_a_table_and_draws_a_picture(folder, capsys):
    arguments = ["--rules", "nano,turn_bound=1", "--iterations", "12", "--out", str(folder)]
    assert main(["exact", "random", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "21,520 histories, 2,520 information sets" in printed
    assert "value for the opener: 2.7" in printed
    assert (folder / "exact.png").stat().st_size > 10_000
    assert main(["plot", str(folder / "exact.json"), "--out", str(folder / "again.svg")]) == 0
    assert main(["exact", "random", "--rules", "classic"]) == 2
    assert "too large to be walked" in capsys.readouterr().err
    assert main(["exact", "rnadom", "--rules", "nano,turn_bound=1"]) == 2
    assert "did you mean 'random'" in capsys.readouterr().err


def test_without_openspiel_the_command_says_what_to_install(monkeypatch, capsys):
    for module in [name for name in sys.modules if name.endswith((".exact", ".openspiel_tree"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    assert main(["exact", "random"]) == 2
    assert "pyspiel is missing: pip install -e '.[openspiel]'" in capsys.readouterr().err


@pytest.fixture(scope="module")
def nano():
    """Loading it takes some seconds."""
    return load_tree("nano")


@pytest.fixture(scope="module")
def nano_responses(nano):
    return BestResponses(nano)


@pytest.mark.parametrize("solver", [pyspiel.CFRSolver, pyspiel.CFRPlusSolver])
def test_openspiels_solvers_run_on_nano_as_they_are(nano, nano_responses, solver):
    """Random play leaves 4.29 points per deal to a best response (results/nano)."""
    solver = solver(nano.game)
    left = []
    for _ in range(2):
        for _ in range(3):
            solver.evaluate_and_update_policy()
        left.append(sum(nano_responses.points(solver.average_policy())) / 2)
    assert left[1] < 0.8 * left[0] < 0.8 * 4.29


def test_openspiels_exploitability_of_random_play_on_nano(nano):
    found = pyspiel.exploitability(nano.game, pyspiel.UniformRandomPolicy(nano.game))
    assert found == pytest.approx(4.287, abs=0.001)


def test_the_shipped_results_are_of_todays_rules(nano, nano_responses):
    """The equilibrium in results/nano is as good as the page says."""
    results = Path(__file__).parents[2] / "results" / "nano"
    found = read_json(results / "exact.json")
    assert found["rules"] == "nano"
    assert found["settings"] == nano.tree.rules.to_dict()
    assert found["tree"]["histories"] == len(nano.tree.kind)
    equilibrium = read_equilibrium(results / "equilibrium.npz", nano.tree)
    opener, dealer = nano_responses.points(nano.policy(equilibrium))
    assert (opener + dealer) / 2 == pytest.approx(found["value"]["exploitability"], abs=1e-5)
    assert -dealer <= 2.5373 <= opener
    page = (results.parents[1] / "docs" / "SMALL_GAMES.md").read_text(encoding="utf-8")
    for name, agent in found["agents"].items():
        [line] = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        assert f"| {agent['exploitability']:.2f} |" in line
