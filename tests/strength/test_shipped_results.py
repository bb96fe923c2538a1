"""The cards and best responses that ship are of today's agents, and the page shows them."""

from pathlib import Path

import pytest

from ginrummy_training.strength.best_response import read_result
from ginrummy_training.strength.card import read_card
from ginrummy_training.strength.card_table import card_markdown, ladder_markdown
from ginrummy_training.strength.figures import card_picture
from ginrummy_training.strength.protocol import BENCHMARK_1, play_fingerprint
from ginrummy_training.strength.response_table import responses_markdown, trainings_markdown

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "results" / "benchmark").glob("*/card.json"))
FOUND = sorted((ROOT / "results" / "exploit").glob("*.json"))
PAGE = (ROOT / "docs" / "BENCHMARK.md").read_text(encoding="utf-8")

LADDER = {"random", "gold", "simple", "simple:0", "heuristic", "hein", "myopic", "lookahead",
          "lookahead:7", "champion", "ppo", "scratch"}  # fmt: skip
SLOW = {"search:64"}
"""Whose play takes too long to be looked at in a test."""

each_card = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)


def test_every_agent_of_the_ladder_has_a_card_and_best_responses():
    assert {read_card(folder)["agent"]["policy"] for folder in FOLDERS} >= LADDER
    found = {(each["policy"], each["rules"]) for each in map(read_result, FOUND)}
    assert found >= {(name, rules) for name in LADDER for rules in BENCHMARK_1.rules}


@each_card
def test_a_card_is_of_the_protocol_and_the_agent_now(folder):
    """A failure: the agent plays otherwise. `ginrummy benchmark AGENT` makes its card again."""
    card = read_card(folder)
    assert card["protocol"] == BENCHMARK_1.to_dict()
    policy = card["agent"]["policy"]
    if policy not in SLOW:
        assert play_fingerprint(policy, "eaai") == card["agent"]["play"]["eaai"]


@each_card
def test_the_files_of_a_card_show_the_card(folder):
    card = read_card(folder)
    assert (folder / "card.md").read_text(encoding="utf-8") == card_markdown(card)
    assert len((folder / "card.png").read_bytes()) == pytest.approx(
        len(card_picture(card).png()), rel=0.2
    )


def test_best_responses_are_to_the_agents_of_the_cards():
    play = {card["agent"]["policy"]: card["agent"]["play"] for card in map(read_card, FOLDERS)}
    for result in map(read_result, FOUND):
        assert result["play"] == play[result["policy"]][result["rules"]]


def test_the_page_has_the_tables_of_the_files():
    ladder = ladder_markdown([read_card(folder) for folder in FOLDERS])
    assert ladder in PAGE, f"docs/BENCHMARK.md needs these tables:\n{ladder}"
    results = [read_result(path) for path in FOUND]
    for table in (responses_markdown(results), trainings_markdown(results)):
        assert table in PAGE, f"docs/BENCHMARK.md needs this table:\n{table}"
