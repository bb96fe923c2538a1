"""What notebooks show besides figures: tables aligned in each cell, positions as PNG."""

import re

import pandas as pd
import pytest

from ginrummy_env.core.rules import CLASSIC
from ginrummy_training.analysis.notebook_setup import aligned, from_nothing, imitation_then_ppo
from ginrummy_training.analysis.position_pictures import last_position
from ginrummy_training.evaluation.annotated_records import one_deal
from ginrummy_training.evaluation.match import record_games
from ginrummy_training.evaluation.match_result import Match


def sides(html):
    return [
        re.findall(r'<t[hd] align="(\w+)" style="text-align: \1"', row)
        for row in html.split("<tr")[1:]
    ]


def test_text_is_to_the_left_and_numbers_to_the_right():
    frame = pd.DataFrame({"name": ["a", "b"], "games": [1, 20]})
    assert sides(aligned(frame)) == [["left", "left", "right"]] * 3


def test_merged_cells_of_an_index_do_not_shift_the_columns():
    index = pd.MultiIndex.from_product([["eaai"], ["gold", "simple"]])
    html = aligned(pd.DataFrame({"won": [1.0, 2.0], "who": ["x", "y"]}, index=index))
    assert sides(html)[1:] == [["left", "left", "right", "left"], ["left", "right", "left"]]


def test_html_in_a_cell_is_text():
    assert "<b>" not in aligned(pd.DataFrame({"a": ["<b>"]}))


def test_the_runs_of_notebook_3_differ_in_who_teaches():
    assert from_nothing(False).rules == imitation_then_ppo(False).rules == "classic"
    assert imitation_then_ppo(False).expert
    assert from_nothing(True).steps < from_nothing(False).steps


def test_a_deal_of_a_game_begins_from_the_scores_before_it():
    (game, _) = record_games(Match(("gold", "gold"), CLASSIC, 5), 2)
    second = one_deal(game, 1)
    assert second.deals == game.deals[1:2]
    assert second.start_scores == game.deals[0].end.scores
    with pytest.raises(ValueError, match="0 to"):
        one_deal(game, len(game.deals))


def test_the_end_of_a_deal_is_a_png_and_text():
    pytest.importorskip("pygame", reason="the extra render is not installed")
    (game, _) = record_games(Match(("gold", "gold"), CLASSIC, 5), 2)
    still = last_position(one_deal(game, 0), names=("me", "them"))
    assert still._repr_png_().startswith(b"\x89PNG")
    assert "them" in repr(still)
