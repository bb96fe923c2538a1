"""``faithful=True`` plays RLCard's gin rummy: the same deals, decisions and payoffs, step by step.

`make test-peers` does the same for 100,000 deals.
"""

import numpy as np
import pytest
import rlcard_peer

from ginrummy_env.compat.old_game import rlcard_numbers

rlcard = pytest.importorskip("rlcard")

# Play, seed and deals; a stubborn deal has 202 steps.
SOME = [("random", 0, 50), ("random", 1, 25), ("eager", 2, 100), ("novice", 3, 20)]


@pytest.mark.parametrize(("play", "seed", "deals"), [*SOME, ("stubborn", 4, 8)])
def test_faithful_plays_the_deals_of_rlcard(play, seed, deals):
    counts = rlcard_peer.compare(seed, deals, play)
    assert counts["deals"] == deals
    assert not {name: count for name, count in counts.items() if name.startswith("different")}
    # Which card goes at gin is each engine's choice.
    assert counts["other gin discard"] <= 2 * counts["gin"]


def test_a_stubborn_deal_ends_after_200_moves():
    counts = rlcard_peer.compare(5, 3, "stubborn")
    assert counts["dead"] == 3
    assert counts["steps"] == 3 * 202


@pytest.mark.parametrize("seed", [0, 1, 42, 2**31, 2**63, 2**64 + 5])
def test_random_numbers_are_those_of_rlcard(seed):
    """The seeds of old experiments deal the cards that they dealt then."""
    peer = rlcard_peer.make_rlcard(seed)
    ours = rlcard_numbers(seed)
    theirs = peer.game.np_random
    assert ours.randint(0, 2**31, size=10).tolist() == theirs.randint(0, 2**31, size=10).tolist()


def test_steps_of_our_game_in_rlcard_are_taken_back():
    """To the deal, each position as it was; the same actions then end it as before."""
    from ginrummy_env.compat import rlcard_game  # noqa: F401 - registers the environment

    env = rlcard.make("ginrummy-env", config={"seed": 3, "allow_step_back": True})
    rng = np.random.default_rng(0)
    state, player = env.reset()
    passed, actions = [], []
    while not env.is_over():
        passed.append((player, state["obs"].tobytes(), list(state["legal_actions"])))
        actions.append(int(rng.choice(passed[-1][2])))
        state, player = env.step(actions[-1])
    payoffs = env.get_payoffs()
    assert len(actions) > 20
    for expected in reversed(passed):
        state, player = env.step_back()
        assert (player, state["obs"].tobytes(), list(state["legal_actions"])) == expected
        assert not env.get_payoffs().any()
    assert not env.step_back()
    for action in actions:
        env.step(action)
    assert env.is_over()
    assert (env.get_payoffs() == payoffs).all()
