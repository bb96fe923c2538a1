"""What the agents' data files are fitted to: deals of their own, played as any deal is."""

import numpy as np
import pytest

from ginrummy_env.core.chance import keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import EAAI
from ginrummy_env.policy import make_policy
from ginrummy_training.analysis import search_gain
from ginrummy_training.evaluation.play_deals import play_deals, points_of
from ginrummy_training.fitting import belief, champion, deal_points

SIMPLE = make_policy("simple")
FITS = {
    champion: lambda: champion.tune(
        champion.Settings(rounds=2, games=4, opponents=("gold", "self")), show=lambda line: None
    ),
    belief: lambda: belief.positions("simple", "gold", "eaai", 4, 97),
    deal_points: lambda: deal_points.points_of_deals(SIMPLE, SIMPLE, EAAI, 4, 411),
    search_gain: lambda: search_gain.collect(SIMPLE, SIMPLE, EAAI, 4, 97),
}


@pytest.fixture(scope="module")
def numbers():
    """The game numbers whose decks each fit plays."""
    found = {}
    for module, fit in FITS.items():
        seen = found[module] = set()

        def noted(seed, games, rules, seen=seen):
            seen.update(np.asarray(games).tolist())
            return new_games(seed, games, rules)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "new_games", noted)
            fit()
    return found


def test_fits_play_decks_of_no_match_and_of_no_other_fit(numbers):
    every = [number for seen in numbers.values() for number in seen]
    assert all(seen for seen in numbers.values())
    assert len(set(every)) == len(every)
    assert all(1 << 61 <= number < 1 << 62 for number in every)


def test_a_deal_does_not_depend_on_the_deals_beside_it():
    policies = SIMPLE, make_policy("random")
    seats, row_keys = np.arange(8) % 2, keys(1, np.arange(8))
    together = new_games(5, 8, EAAI)
    decided = []
    play_deals(
        policies, together, seats, row_keys, EAAI,
        lambda policy, rows, view, actions: decided.append((policy, rows, view.player.copy())),
    )  # fmt: skip
    assert together.over.all()
    for policy, rows, players in decided:
        assert ((players == seats[rows]) == (policy == 0)).all()
    alone = new_games(5, 8, EAAI).select([6])
    play_deals(policies, alone, seats[[6]], row_keys[[6]], EAAI)
    assert (alone.history == together.history[6]).all()
    assert (points_of(together, 0) == -points_of(together, 1)).all()
