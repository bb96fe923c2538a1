"""What kind of player the opponent is, by what they have won in the game."""

import numpy as np
import pytest

from ginrummy_agents.search.manners import manner_shares, manners
from ginrummy_env.core.chance import keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, EAAI, MINI
from ginrummy_env.core.view import OPPONENT, make_view
from ginrummy_env.policy import make_policy
from ginrummy_training.evaluation.play_deals import play_deals, points_of


def view_of(rules, won, points):
    view = make_view(new_games(1, len(won), rules), rules)
    view.deals_won[:, OPPONENT], view.scores[:, OPPONENT] = won, points
    return view


def test_whoever_wins_deals_for_few_points_knocks_at_once():
    shares = manner_shares(view_of(EAAI, [0, 1, 3, 3, 3], [0, 8, 25, 60, 99]))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares[0], [each.share for each in manners(EAAI)])
    at_once = shares[:, 0]
    assert 0.9 < at_once[2] < 1  # nothing is certain
    assert at_once[2] > at_once[1] > at_once[0] > at_once[4] > 0
    assert at_once[2] > at_once[3] > at_once[4]


@pytest.mark.parametrize("rules", [EAAI, CLASSIC, MINI])
def test_scores_that_cannot_be_judged_leave_the_shares(rules):
    """No deal won, more than can be told apart, scores typed in, a small deck."""
    before = [each.share for each in manners(rules)]
    won, points = [0, 21, 2, 2, 0], [0, 90, 500, -1, 70]
    if rules == MINI:
        won, points = [1, 2, 3, 4, 5], [10, 20, 30, 40, 50]
    shares = manner_shares(view_of(rules, won, points))
    np.testing.assert_allclose(shares, [before] * 5)


@pytest.mark.parametrize(
    ("rules", "agents"),
    [(EAAI, ("simple", "lookahead", "champion")), (CLASSIC, ("simple", "lookahead:7", "champion"))],
    ids=["eaai", "classic"],
)
def test_agents_win_as_their_manners_do(rules, agents):
    """The share of the deals won that are worth the gin bonus or more, against `champion`."""
    deals = 1_000
    for name, manner in zip(agents, manners(rules), strict=True):
        state, rows = new_games(3, np.arange(deals, dtype=np.uint64), rules), np.arange(deals)
        policies = make_policy(name), make_policy("champion")
        play_deals(policies, state, rows % 2, keys(3, rows), rules)
        points = points_of(state, (rows % 2).astype(np.int8))
        assert (points[points > 0] >= rules.gin_bonus).mean() == pytest.approx(
            manner.dear, abs=0.07
        )
