"""The agents play as their authors and others measured: wide intervals, few games, fixed seeds.

The README has the table with enough games to tell half a point.
"""

import pytest

from ginrummy_env.core.rules import PRESETS
from ginrummy_training.evaluation.match import Match, play_match, play_matches
from ginrummy_training.evaluation.match_summary import summarise

SEED = 2024

PUBLISHED = {
    "eaai": {
        ("gold", "simple"): 46.6,
        ("simple:0", "simple"): 67.6,
        ("simple:4", "simple"): 55.7,
        ("heuristic", "simple"): 59.8,
        ("heuristic", "gold"): 62.2,
        ("heuristic", "lookahead"): 28.5,
        ("hein", "simple"): 57.3,
        ("hein:alpha=1", "simple"): 23.5,
        ("lookahead", "simple"): 76.6,
        ("lookahead:7", "simple"): 69.0,
        ("lookahead:danger=0", "simple"): 73.8,
        ("lookahead", "lookahead"): 50,
        ("champion", "simple"): 79.3,
    },
    "classic": {
        ("gold", "simple"): 46.2,
        ("simple:0", "simple"): 39.3,
        ("heuristic", "simple"): 41.7,
        ("hein", "simple"): 57.9,
        ("lookahead:7", "simple"): 64.1,
        ("champion", "simple"): 67.5,
    },
}
"""Games that the first agent wins against the second, in percent; those of the champion are ours.

The champion beats every other agent: docs/AGENTS.md has 20,000 games.
"""


def share_won(result):
    """Games that A won, in percent."""
    return 100 * summarise(result)["games_won"]["a"]["value"]


@pytest.fixture(scope="module")
def shares():
    """All published matches, those under the same rules in one batch: an agent is asked once."""
    found = {}
    for rules, pairings in PUBLISHED.items():
        matches = [Match(pairing, PRESETS[rules], SEED) for pairing in pairings]
        results = play_matches(matches, games=400)
        found |= {(rules, *each.match.agents): share_won(each) for each in results}
    return found


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
    ("rules", "a", "b"), [(rules, *pair) for rules, pairs in PUBLISHED.items() for pair in pairs]
)
def test_games_won_are_those_published(shares, rules, a, b):
    """Four standard errors of 400 games are ten points at most, pairs or not."""
    assert shares[rules, a, b] == pytest.approx(PUBLISHED[rules][a, b], abs=8)


def test_random_play_wins_nothing():
    result = play_match("random", "simple", games=100, seed=SEED, rules="eaai")
    assert share_won(result) == 0
