"""Our preset OPENSPIEL and OpenSpiel's engine: the same legal actions and points, or a known cause.

`make test-peers` does the same for 100,000 deals.
"""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import openspiel
import pytest
from spiel_deal import (
    SpielDeal,
    eleven_card_deadwood,
    spiel_card,
    spiel_meld,
)
from spiel_play import CHOOSERS, make_decks

from ginrummy_env.core.cards import cards_of, parse_cards, parse_hand
from ginrummy_env.core.deadwood import least_after_discard
from ginrummy_env.core.melds import MELDS
from ginrummy_env.core.rules import OPENSPIEL
from ginrummy_env.core.step import step

HELPERS = Path(__file__).parents[1] / "helpers"

pyspiel = pytest.importorskip("pyspiel")

KNOWN = {openspiel.ELEVEN, openspiel.FIFTY, openspiel.THROWN_BACK}


@pytest.mark.parametrize(
    ("policy", "seed", "deals", "dense"),
    [
        ("mixed", 0, 500, 0.2),
        ("eager", 1, 700, 1.0),
        ("random", 2, 100, 0.0),
        ("patient", 3, 250, 0.0),
    ],
)
def test_every_difference_has_a_known_cause(policy, seed, deals, dense):
    report = openspiel.compare(deals, seed, policy=policy, dense=dense)
    assert report.deals == deals
    assert set(report.differences) <= KNOWN, report.examples
    assert sum(report.endings.values()) == deals
    early = report.differences[openspiel.FIFTY] + report.differences[openspiel.THROWN_BACK]
    assert report.endings["left"] == early
    assert report.endings["undercut"] > 0 or policy in ("random", "patient")
    assert report.knocks // 12 <= report.tried <= report.knocks // openspiel.TRIED_EVERY


@pytest.mark.parametrize("size", openspiel.SMALL)
@pytest.mark.parametrize(("policy", "dense"), [("mixed", 0.2), ("eager", 1.0)])
def test_every_difference_with_small_decks_has_a_known_cause(size, policy, dense):
    rules = dataclasses.replace(OPENSPIEL, **openspiel.SMALL[size])
    report = openspiel.compare(150, 5, policy=policy, dense=dense, rules=rules)
    assert set(report.differences) <= KNOWN, report.examples
    assert report.endings["gin"] > 0
    assert report.endings["knock"] > 0
    assert report.tried > 0


def test_stubborn_players_meet_both_bounds_of_openspiel():
    report = openspiel.compare(300, 3, policy="stubborn", dense=0.0)
    assert report.differences[openspiel.FIFTY] > 0
    assert report.differences[openspiel.THROWN_BACK] > 0
    assert set(report.differences) <= KNOWN


def test_eleven_cards():
    """The one difference in knocks: ten points are left, but OpenSpiel counts twelve."""
    hand = parse_hand("4s 5s 6s 3c 4c 5c 6c 2d 6d 3h 5h")
    assert eleven_card_deadwood(int(hand)) == 12
    assert least_after_discard(np.array([hand])).tolist() == [10]
    # Dealt so that player 0 draws the eleventh card: the difference is found and explained.
    ten, rest = parse_cards("4s 5s 6s 3c 4c 5c 6c 2d 6d 3h"), parse_cards("Kh 5h")
    others = [card for card in range(52) if card not in {*ten, *rest}]
    deck = [card for pair in zip(ten, others[:10], strict=True) for card in pair]
    deck += rest + others[10:]
    one = openspiel.Comparison(0, 0, 1, CHOOSERS["random"], 0.0)
    one.state = openspiel.new_games(0, [0], OPENSPIEL, dealers=[1], decks=[deck])
    one.spiel = [SpielDeal(ten, others[:10], deck[20:])]
    for action in (106, 106, 104):
        one._apply(0, action, one.state.phase.item(0))
        step(one.state, [action], OPENSPIEL)
    mask = openspiel.action_masks(one.state, OPENSPIEL)[0]
    assert mask[52:104].any()
    one._compare_legal(0, mask)
    assert dict(one.report.differences) == {openspiel.ELEVEN: 1}
    assert not mask[52:104].any()


def test_a_third_layoff_is_a_run():
    """Why OpenSpiel's limit of two lay-offs at an end changes no points: brute force agrees."""
    hands = "Qs 5s 6s 7s 9c Tc Jc Ks Kc Kd", "8s 9s Ts Js 4s 3s 2s 2d 2h Ad"
    first, second = (parse_cards(hand) for hand in hands)
    rest = parse_cards("Jd") + [
        card for card in range(52) if card not in {*first, *second, *parse_cards("Jd")}
    ]
    deck = [card for pair in zip(first, second, strict=True) for card in pair] + rest
    one = openspiel.Comparison(0, 0, 1, CHOOSERS["random"], 0.0)
    one.state = openspiel.new_games(0, [0], OPENSPIEL, dealers=[1], decks=[deck])
    one.spiel = [SpielDeal(first, second, rest)]
    one.report.knocks = openspiel.TRIED_EVERY - 1
    for action in (105, 52 + parse_cards("Qs")[0]):
        one._apply(0, action, one.state.phase.item(0))
        step(one.state, [action], OPENSPIEL)
    one._drop_ended()
    assert (one.report.tried, dict(one.report.differences)) == (1, {})
    assert len(one.state) == 0


def test_an_unexplained_difference_is_found_and_fails_the_command(monkeypatch, capsys):
    """With other points for gin, the two engines must be seen to differ."""
    other = dataclasses.replace(OPENSPIEL, gin_bonus=26, equal_deadwood="undercut")
    monkeypatch.setattr(openspiel, "OPENSPIEL", other)
    assert openspiel.main(["--deals", "300", "--policy", "eager", "--dense", "1"]) == 1
    assert "unexplained" in capsys.readouterr().out


def test_cards_and_melds_have_openspiels_numbers():
    utils = pyspiel.gin_rummy.GinRummyUtils(13, 4, 10)
    assert [spiel_card(spiel_card(card)) for card in range(52)] == list(range(52))
    for text in ("As", "Tc", "Kd", "7h"):
        assert spiel_card(parse_cards(text)[0]) == utils.card_int(text)
    assert sorted(spiel_meld(meld) for meld in MELDS) == list(range(185))
    for meld in MELDS:
        cards = sorted(spiel_card(card) for card in meld)
        assert sorted(utils.int_to_meld[spiel_meld(meld)]) == cards


def test_a_run_in_pieces_plays_what_one_run_plays(monkeypatch):
    size = 30
    monkeypatch.setattr(openspiel, "DEALS_A_BATCH", size)
    whole = openspiel.compare(2 * size, 4)
    parts = openspiel.Report()
    for first in (0, size):
        parts.add(openspiel.compare(size, 4, first=first))
    assert parts == whole


def test_dense_decks_are_decks_with_seven_ranks_in_front():
    games = np.arange(100, dtype=np.uint64)
    decks = make_decks(0, games, 0.3)
    assert (np.sort(decks, axis=1) == np.arange(52)).all()
    ranks = [len({card % 13 for card in deck[:28]}) for deck in decks.tolist()]
    assert [count == 7 for count in ranks] == [True] * 30 + [False] * 70


def test_cards_and_melds_of_small_decks_have_openspiels_numbers():
    for settings in openspiel.SMALL.values():
        rules = dataclasses.replace(OPENSPIEL, **settings)
        utils = pyspiel.gin_rummy.GinRummyUtils(rules.num_ranks, rules.num_suits, rules.hand_size)
        deck = cards_of(rules.full_deck)
        numbers = [spiel_card(card, rules) for card in deck]
        assert sorted(numbers) == list(range(rules.num_cards))
        melds = [meld for meld in MELDS if set(meld) <= set(deck)]
        for meld in melds:
            cards = sorted(spiel_card(card, rules) for card in meld)
            assert utils.meld_to_int(cards) == spiel_meld(meld, rules)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dense", "2"], "dense=2.0"),
        (["--deals", "-1"], "whole numbers from 0"),
        (["--policy", "other"], "invalid choice"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        openspiel.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_the_command_prints_the_counts(capsys):
    assert openspiel.main(["--deals", "20", "--seed", "5"]) == 0
    printed = capsys.readouterr().out
    assert "          20 deals" in printed
    assert all(cause in printed for cause in openspiel.CAUSES)


def test_openspiel_is_imported_only_when_used():
    code = "import sys, openspiel; print('pyspiel' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HELPERS
    )
    assert done.stdout.strip() == "False"


def test_without_openspiel_the_extra_is_named():
    code = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "import openspiel; openspiel.main(['--deals', '1'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HELPERS)
    assert done.returncode == 2
    assert "pip install -e '.[bench]'" in done.stderr
