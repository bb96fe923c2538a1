"""``faithful=True`` plays RLCard's gin rummy: the same deals, decisions and payoffs, step by step.

`make test-peers` does the same for 100,000 deals.
"""

import pytest
import rlcard_peer

from ginrummy_env.compat.old_game import rlcard_numbers

pytest.importorskip("rlcard")

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
