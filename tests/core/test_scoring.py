"""What a deal and a game are worth (RULES, Scoring a deal; The game; Settings)."""

import random

import numpy as np
import oracle
import pytest
from cases import SCORES
from hypothesis import given
from hypothesis import strategies as st

from ginrummy_env.core.rules import CLASSIC, Rules
from ginrummy_env.core.scoring import (
    DEFENDER,
    KNOCKER,
    NO_SIDE,
    final_scores,
    score_gin,
    score_knock,
)
from ginrummy_env.core.settlement import book
from ginrummy_env.core.state import BatchState

SIDES = {"knocker": KNOCKER, "defender": DEFENDER, None: NO_SIDE}


def scored(knocker, defender, alone, big, settings):
    """The core's side, points and whether gin was answered, of one deal."""
    rules = Rules(**settings)
    if knocker:
        side, points = score_knock(np.int16([knocker]), np.int16([defender]), rules)
        return side[0], points[0], False
    side, points, answered = score_gin(
        np.int16([defender]), np.int16([alone]), np.array([big]), rules
    )
    return side[0], points[0], answered[0]


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case.name)
def test_cases(case):
    """Knock, undercut, equal, gin, gin answered and big gin under settings."""
    alone = 0 if case.answered else max(1, case.defender_deadwood)
    side, points, answered = scored(
        case.knocker_deadwood, case.defender_deadwood, alone, case.big, case.rules
    )
    assert (side, points) == (SIDES[case.winner], case.points)
    assert answered == (case.outcome == "gin_answered")


@given(
    st.integers(0, 2**32), st.integers(0, 20), st.integers(0, 98), st.integers(0, 98), st.booleans()
)
def test_any_deadwoods_under_any_rules(seed, knocker, left, laid_off, big):
    settings = oracle.any_rules(random.Random(seed))
    alone = left + laid_off
    big = big and knocker == 0
    outcome, winner, points = oracle.score(knocker, left, settings, big=big, answered=alone == 0)
    assert scored(knocker, left, alone, big, settings) == (
        SIDES[winner],
        points,
        outcome == "gin_answered",
    )


def test_points_are_never_negative_and_a_winner_is_one_side():
    """All knocks and all undercuts, default rules."""
    knocker, defender = (each.ravel().astype(np.int16) for each in np.mgrid[1:11, 0:99])
    side, points = score_knock(knocker, defender, CLASSIC)
    assert (side == np.where(defender > knocker, KNOCKER, DEFENDER)).all()
    assert (points == np.where(side == KNOCKER, defender - knocker, 10 + knocker - defender)).all()
    assert points.dtype == np.int16
    assert side.dtype == np.int8


def test_the_scored_arrays_are_left_alone():
    knocker, defender = np.int16([4, 9]), np.int16([30, 7])
    score_knock(knocker, defender, CLASSIC)
    score_gin(knocker, defender, np.array([True, False]), CLASSIC)
    assert (knocker.tolist(), defender.tolist()) == ([4, 9], [30, 7])


# The game


def test_the_greatest_numbers_of_any_rules_fit():
    """Bonuses, target and deals won at their greatest, after a game of 40,000 deals."""
    rules = Rules(
        target=10_000, gin_bonus=1000, undercut_bonus=1000, big_gin_bonus=1000, box_bonus=1000,
        game_bonus=1000, shutout_bonus=1000, oklahoma=True, oklahoma_spades_double=True,
        equal_deadwood="knocker",
    )  # fmt: skip
    most = 2 * (1000 + 98)
    state = BatchState.empty(1)
    state.scores[:], state.deals_won[:] = [[9_999, 9_000]], [[40_000, 5]]
    book(state, np.arange(1), np.int8([0]), np.int16([most]), rules)
    assert state.scores.tolist() == [[9_999 + most, 9_000]]
    assert state.deals_won.tolist() == [[40_001, 5]]
    final = [9_999 + most + 1000 * 40_001 + 1000, 9_000 + 5 * 1000]
    assert final_scores(state.scores, state.deals_won, rules).tolist() == [final]
    won = np.full((1, 2), 2**31 - 1, dtype=np.int32)
    assert final_scores(np.int16([[10_000, 0]]), won, rules)[0, 1] == 1000 * (2**31 - 1)


@pytest.mark.parametrize(
    ("scores", "won", "settings", "final"),
    [
        pytest.param([104, 31], [6, 2], {}, [104 + 120 + 100, 31 + 40], id="game and boxes"),
        pytest.param([0, 104], [0, 6], {}, [0, 104 + 120 + 100 + 100], id="shutout"),
        pytest.param([100, 99], [1, 9], {}, [220, 279], id="the winner is who reached the target"),
        pytest.param([104, 0], [6, 1], {"equal_deadwood": "knocker"}, [324, 20],
                     id="a deal won for nothing is no shutout"),
        pytest.param([99, 40], [5, 2], {}, [199, 80], id="nobody has won yet"),
        pytest.param([260, 40], [5, 2], {"target": 250, "box_bonus": 25, "game_bonus": 50},
                     [260 + 125 + 50, 90], id="other bonuses"),
        pytest.param([104, 0], [6, 0], {"shutout_bonus": 25, "game_bonus": 0, "box_bonus": 0},
                     [129, 0], id="shutout only"),
        pytest.param([10_500, 9_000], [400, 390],
                     {"target": 10_000, "box_bonus": 1000, "game_bonus": 1000},
                     [411_500, 399_000], id="long games with high boxes"),
    ],
)  # fmt: skip
def test_final_scores(scores, won, settings, final):
    """RULES, The game: bonuses are written at the end and do not count for the target."""
    assert final_scores(np.int16([scores]), np.int16([won]), Rules(**settings)).tolist() == [final]


@given(st.integers(0, 2**32), st.data())
def test_final_scores_under_any_rules(seed, data):
    settings = oracle.any_rules(random.Random(seed))
    rules = Rules(**settings)
    loser = data.draw(st.integers(0, rules.target - 1))
    winner = data.draw(st.integers(rules.target, rules.target + 200))
    won = [data.draw(st.integers(1, 30)), data.draw(st.integers(0, 30))]
    for place in (0, 1):
        order = slice(None, None, 1 - 2 * place)
        scores, deals = [winner, loser][order], won[order]
        assert final_scores(np.int16([scores]), np.int16([deals]), rules)[0].tolist() == (
            oracle.final_scores(scores, deals, place, settings)
        )
