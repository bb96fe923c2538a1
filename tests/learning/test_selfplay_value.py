"""Self-play reaches the known value of a deal that is small enough to be solved."""

from dataclasses import replace

import pytest

pytest.importorskip("torch")
pyspiel = pytest.importorskip("pyspiel")

from ginrummy_agents.learned.policy import Network, NetworkPolicy  # noqa: E402
from ginrummy_env.compat.openspiel_tree import load_tree  # noqa: E402
from ginrummy_training.learning.selfplay.learner import Learner  # noqa: E402
from ginrummy_training.learning.selfplay.network import actor_arrays  # noqa: E402
from ginrummy_training.learning.selfplay.settings import SMOKE  # noqa: E402
from ginrummy_training.strength.exact import BestResponses, policy_table  # noqa: E402

RULES = "nano,turn_bound=1"
UPDATES = 12
SETTINGS = replace(
    SMOKE, rules=RULES, width=32, critic_width=32, num_envs=256, batch=1_024, held=0.0,
    steps=40 * 4_096, learning_rate=3e-3, final_learning_rate=5e-4,
)  # fmt: skip


def test_a_solved_deal_is_played_almost_unbeatably():
    small = load_tree(RULES)
    solver = pyspiel.CFRPlusSolver(small.game)
    for _ in range(50):
        solver.evaluate_and_update_policy()
    root = small.game.new_initial_state()
    value = pyspiel.expected_returns(root, solver.average_policy(), -1, True)[0]
    responses = BestResponses(small)

    def measured(learner):
        about = {"derived": True, "ahead": False, "units": True, "rules": RULES}
        policy = NetworkPolicy(Network(actor_arrays(learner.actor), about))
        played = small.policy(policy_table(small.tree, policy))
        own = pyspiel.expected_returns(root, played, -1, True)[0]
        return own, sum(responses.points(played)) / 2

    learner = Learner(SETTINGS)
    own, exploitability = measured(learner)
    assert abs(own - value) > 0.5
    assert exploitability > 0.5
    learner.begin(0)
    for number in range(UPDATES):
        learner.update(number * SETTINGS.num_envs * SETTINGS.num_steps)
    own, exploitability = measured(learner)
    assert own == pytest.approx(value, abs=0.15)
    assert exploitability < 0.15
