"""Tables and pictures of a tournament say what its games were."""

import pytest

from ginrummy_training.evaluation.tournament import play_tournament
from ginrummy_training.evaluation.tournament_figures import (
    WAYS,
    by_rating,
    cross_picture,
    deals_and_games_picture,
    endings_picture,
    endings_table,
    ladder_table,
    misfit_table,
    ratings_picture,
)


@pytest.fixture(scope="module")
def tournament():
    return play_tournament(["simple", "simple:0", "gold"], games=100, seed=4, rules="eaai")


@pytest.fixture(scope="module")
def summary(tournament):
    return tournament.summary()


def test_points_a_deal_are_those_of_the_games(tournament, summary):
    table = ladder_table(summary)
    assert table.index.tolist() == by_rating(summary)
    for number, name in enumerate(tournament.names):
        mine = [result.table for (i, _), result in tournament.results.items() if i == number]
        won = sum(int(each["deals_won_a"].sum()) for each in mine)
        points = sum(int(each["points_a"].sum()) for each in mine)
        assert table.loc[name, "points a deal won"] == pytest.approx(points / won, abs=0.05)
    assert (
        table.loc["simple:0", "points a deal won"] > 1.5 * table.loc["simple", "points a deal won"]
    )


def test_endings_are_all_there_are(tournament, summary):
    table = endings_table(summary)
    assert table.sum(axis=1).tolist() == pytest.approx([100] * 3, abs=0.5)
    assert table.loc["simple:0", "won by knock"] == 0
    mine = [result.table for (i, _), result in tournament.results.items() if i == 1]
    gin = sum(int(each["gin_a"].sum()) for each in mine)
    deals = sum(int(each["deals"].sum()) for each in mine)
    assert table.loc["simple:0", "won by gin"] == pytest.approx(100 * gin / deals, abs=0.05)
    # What one loses the others win.
    for way in WAYS:
        lost, won = table[f"lost by {way}"], table[f"won by {way}"]
        assert (lost.sum() > 0) == (won.sum() > 0)


def test_the_pairing_that_fits_worst_is_named_or_none(summary):
    found = {"agents": ["simple", "gold"], "played": 0.61, "expected": 0.5}
    table = misfit_table({"a": {**summary, "misfit": found}, "b": {**summary, "misfit": None}})
    assert table["pairing"].tolist() == ["simple – gold", "none"]
    assert table.loc["a", "won %"] == 61


def test_pictures_show_everybody_and_the_numbers_of_the_table(summary):
    cross = cross_picture(summary).axes[0]
    won = summary["pairings"][0]["games_won"]["a"]["value"]
    assert f"{100 * won:.0f}" in [text.get_text() for text in cross.texts]
    assert len(cross.texts) == 6
    for picture in (
        endings_picture(summary),
        ratings_picture({"eaai": summary, "again": summary}),
    ):
        labels = [label.get_text() for label in picture.axes[0].get_yticklabels()]
        assert labels == by_rating(summary)
        assert picture.png().startswith(b"\x89PNG")
    deals = deals_and_games_picture({"eaai": summary}).axes[0]
    assert sorted(text.get_text() for text in deals.texts) == sorted(by_rating(summary))
