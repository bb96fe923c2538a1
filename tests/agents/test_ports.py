"""The agents play as their authors and others measured: wide intervals, few games, fixed seeds.

The README has the table with enough games to tell half a point.
"""

import pytest

from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_summary import summarise

SEED = 2024


def won(a, b, rules="eaai", games=400):
    """Games that A won, in percent."""
    return (
        100
        * summarise(play_match(a, b, games=games, seed=SEED, rules=rules))["games_won"]["a"][
            "value"
        ]
    )


def test_facts_of_simple_against_itself():
    """EAAI: what two million deals of an independent simulator came to."""
    facts = summarise(play_match("simple", "simple", games=1000, seed=SEED, rules="eaai"))
    deals = facts["deals"]

    def share(*names):
        ends = facts["endings"]
        return 100 * sum(sum(ends[name].values()) for name in names) / deals

    assert facts["deals_a_game"]["value"] == pytest.approx(10.23, abs=0.3)
    assert share("knock") == pytest.approx(93.3, abs=1)
    assert share("gin") == pytest.approx(2.09, abs=0.6)
    assert share("undercut") == pytest.approx(4.25, abs=0.8)
    assert 100 * facts["endings"]["void"] / deals == pytest.approx(0.167, abs=0.17)
    assert facts["turns_and_passes"]["mean"]["value"] == pytest.approx(14.0, abs=0.2)
    assert facts["turns_and_passes"]["sd"] == pytest.approx(5.52, abs=0.2)
    assert facts["deadwood"]["knocker"]["value"] == pytest.approx(6.98, abs=0.1)
    assert facts["deadwood"]["defender"]["value"] == pytest.approx(21.51, abs=0.4)
    assert 100 * facts["opening_taken"]["deals"]["value"] == pytest.approx(32.2, abs=1.5)
    assert 100 * facts["starter_won"]["value"] == pytest.approx(50.1, abs=2)


@pytest.mark.parametrize(
    ("a", "b", "published"),
    [
        ("gold", "simple", 46.6),
        ("simple:0", "simple", 67.6),
        ("simple:4", "simple", 55.7),
        ("heuristic", "simple", 59.8),
        ("heuristic", "gold", 62.2),
        ("heuristic", "lookahead", 28.5),
        ("hein", "simple", 57.3),
        ("hein:alpha=1", "simple", 23.5),
        ("lookahead", "simple", 76.6),
        ("lookahead:7", "simple", 69.0),
        ("lookahead:danger=0", "simple", 73.8),
    ],
)
def test_games_won_under_eaai(a, b, published):
    """Four standard errors of 400 games are ten points at most, pairs or not."""
    assert won(a, b) == pytest.approx(published, abs=8)


@pytest.mark.parametrize(
    ("a", "published"),
    [
        ("gold", 46.2),
        ("simple:0", 39.3),
        ("heuristic", 41.7),
        ("hein", 57.9),
        ("lookahead:7", 64.1),
    ],
)
def test_games_won_under_classic(a, published):
    assert won(a, "simple", "classic") == pytest.approx(published, abs=8)


@pytest.mark.parametrize("rules", ["eaai", "classic"])
def test_the_champion_is_the_best(rules):
    """The README has 20,000 games."""
    assert won("champion", "simple", rules, games=600) > 50 + (20 if rules == "eaai" else 10)


def test_random_play_wins_nothing():
    assert won("random", "simple", games=100) == 0


def test_agents_that_are_one_win_half():
    assert won("lookahead", "lookahead", games=200) == pytest.approx(50, abs=10)
