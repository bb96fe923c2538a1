"""Why a search does what it does, in words that agree with what it does."""

import numpy as np
import pytest
from positions import positions

from ginrummy_agents.explain import act_and_explain
from ginrummy_agents.search.policy import Search
from ginrummy_agents.search.reasons import Gain, why
from ginrummy_env.core.actions import format_action
from ginrummy_env.core.cards import parse_card
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.rules import EAAI
from ginrummy_env.core.view import make_view
from ginrummy_training.analysis.position import typed_view, weigh


def reason(gains, action, base=0, **more):
    given = {number: Gain(*gain) for number, gain in enumerate(gains)}
    return why(
        Search(margin=2, **more), "lookahead", base, action, given, lambda each: f"action {each}"
    )


@pytest.mark.parametrize(
    ("gains", "action", "words"),
    [
        pytest.param([(0, 0)], 0, "Nothing else", id="one candidate"),
        pytest.param([(0, 0), (-0.1, 0.02)], 0, "no other candidate did better", id="the best"),
        pytest.param(
            [(0, 0), (0.01, 0.02)], 0,
            "say action 1 (+1.0 ± 3.9 % of games), but it leaves the base policy only for a lead "
            "of more than 2 standard errors", id="a lead within the margin",
        ),
        pytest.param(
            [(0, 0), (0.1, 0.02)], 1, "would action 0; this did better in the same sampled worlds, "
            "+10.0 ± 3.9 % of games", id="a lead beyond it",
        ),
        pytest.param(
            [(0, 0), (0.1, 0.02), (0.2, 0.15)], 1,
            "mean of action 2 is higher still (+20.0 ± 29.4 % of games)", id="an uncertain lead",
        ),
    ],
)  # fmt: skip
def test_a_search_says_why_it_does_what_it_does(gains, action, words):
    assert words in reason(gains, action)


def test_reasons_in_points_name_points():
    assert "+1.5 ± 2.0 points" in reason([(0, 0), (1.5, 1.02)], 0, value="points")


def test_an_explanation_agrees_with_the_margin():
    """What a search does is the base's action, or has a lead of more than the margin."""
    state = positions(EAAI, games=30, seed=3, knocks=0.2)
    state = state.select(np.flatnonzero(~state.over))
    view, search, left = make_view(state, EAAI), Search(worlds=16), 0
    actions, told = act_and_explain(search, view, RowRandom(keys(4, np.arange(len(view)))))
    for row, action in enumerate(actions.tolist()):
        gains, base = told.search.gains(row), int(told.search.base[row])
        if len(gains) < 2:
            continue
        assert gains[base] == Gain(0, 0)
        if action != base:
            left += 1
            assert gains[action].mean > search.margin * gains[action].error
    assert left > 5


def test_an_analysis_says_what_is_chosen_and_what_the_opponent_may_hold():
    view = typed_view("4s 5s 6s 9h 9d 9c Kh Kd 2c 3c Qs", "7h Jd", EAAI, known="Tc", thrown="Jd")
    found = weigh(view, Search(worlds=200), 1, parse_card("2c"))
    assert found.done == parse_card("2c")
    assert found.done in [each.action for each in found.candidates]
    assert found.chosen != found.done, "what the search does not weigh it does not choose"
    first, second, third = found.sentences()
    assert first.startswith(f"The search would {format_action(found.chosen)}. ")
    assert second.startswith("The opponent is taken to hold about ")
    assert 0 < found.opponent.deadwood <= found.opponent.uniform
    assert "%" in third
    assert all(chance > found.even for _, chance in found.likely)
