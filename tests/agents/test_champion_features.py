"""The champion's features and estimates, and what it does with them."""

import json
from importlib.resources import files

import numpy as np
import pytest
from positions import play, positions, stacked_deck

from ginrummy_agents.rules.champion import Champion
from ginrummy_agents.rules.champion_features import (
    KEEP,
    KNOCK,
    NAMES,
    OUTLOOK,
    STOCK,
    TAKE,
    THROWN,
    Weights,
    keep_features,
    knock_features,
    outlook,
    stock_features,
    take_features,
    thrown,
    weights_of,
)
from ginrummy_agents.rules.lookahead import fit_for_opponent
from ginrummy_agents.rules.work_lists import cards_listed
from ginrummy_env.core.actions import format_action
from ginrummy_env.core.cards import CARD_BIT, FULL_DECK, parse_hand
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, EAAI, MODERN, OPENSPIEL, STRAIGHT, Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import make_view


def some_discards(seed=0):
    """Views with eleven cards, and every discard of each."""
    state = positions(CLASSIC, games=60, seed=seed, knocks=0.1)
    view = make_view(state.select(state.phase == Phase.DISCARD), CLASSIC)
    rows, cards = cards_listed(view.hand)
    return view, rows, view.hand[rows] & ~CARD_BIT[cards], cards


def test_features_have_the_columns_that_are_named():
    view, rows, hands, cards = some_discards()
    left = deadwood(hands)
    assert keep_features(view, rows, hands, cards).shape == (len(rows), len(KEEP))
    assert knock_features(view, rows, left).shape == (len(rows), len(KNOCK))
    view = make_view(new_games(1, 30, CLASSIC), CLASSIC)
    rows = np.arange(30)
    assert stock_features(view, rows).shape == (30, len(STOCK))
    assert take_features(view, rows, np.zeros(30), np.zeros(30)).shape == (30, len(TAKE))
    for names in NAMES.values():
        assert len(set(names)) == len(names)


def test_features_are_numbers_whatever_the_position():
    view, rows, hands, cards = some_discards(seed=3)
    for features in (keep_features(view, rows, hands, cards), knock_features(view, rows, cards)):
        assert np.isfinite(features).all()
    nothing = np.zeros(1, dtype=np.uint64)
    hand = np.array([parse_hand("As 2s 3s 4h 5h 6h 9c 9d 9s Kh")])
    assert np.isfinite(outlook(hand, np.array([10], dtype=np.uint8), nothing)).all()


def test_outlook():
    """4-5-6, three nines, and A A 3 K, with five cards to come."""
    hand = np.array([parse_hand("4s 5s 6s 9h 9d 9c Ah Ad 3c Kd")])
    unseen = np.array([parse_hand("7s As Kh Qc 2h")])
    found = dict(
        zip(OUTLOOK, outlook(hand, deadwood(hand).astype(np.uint8), unseen)[0], strict=True)
    )
    # 7s: the king goes, 5. As: three aces, the king goes, 3. Kh, Qc: back, 15. 2h: for the king, 7.
    values = [5, 3, 15, 15, 7]
    assert found == {
        "deadwood": 15,
        "deadwood up to 10": 10,
        "loose cards": 4,
        "next draw: mean": pytest.approx(np.mean(values)),
        "next draw: mean of the 7 best": pytest.approx((sum(values) + 2 * 15) / 7),
        "next draw: best": 3,
        "next draw: helps": pytest.approx(3 / 5 * 30),
        "next draw: gin": 0,
    }
    hand = np.array([parse_hand("4s 5s 6s 9h 9d 9c Ah Ad 2c 2d")])
    close = outlook(hand, deadwood(hand).astype(np.uint8), FULL_DECK & ~hand)
    assert close[0, OUTLOOK.index("next draw: gin")] == 0, "two pairs: one card more is not gin"
    hand = np.array([parse_hand("4s 5s 6s 9h 9d 9c Ah Ad Ac Kd")])
    close = outlook(hand, deadwood(hand).astype(np.uint8), FULL_DECK & ~hand)
    gin = ["3s", "7s", "9s", "As"]
    assert close[0, OUTLOOK.index("next draw: gin")] == pytest.approx(len(gin) / 42 * 30)


def test_what_is_known_of_a_card_adds_up_to_the_fit():
    points = {
        "two of theirs make a run with it": 20,
        "their neighbours": 5,
        "theirs two away": 3,
        "two of theirs have its rank": 20,
        "one of theirs has its rank": 4,
        "no run is left with it": -10,
        "neighbours gone": -5,
        "two away gone": -3,
        "two of its rank gone": -10,
        "one of its rank gone": -4,
    }
    weights = np.array([points.get(name, 0) for name in THROWN])
    view, rows, _, cards = some_discards(seed=5)
    fit = fit_for_opponent(cards, view.known[rows, 1], view.unseen[rows])
    assert (thrown(view, rows, cards) @ weights == fit).all()
    assert len(set(fit.tolist())) > 20


@pytest.mark.parametrize("name", ["eaai", "classic"])
def test_the_weights_that_are_shipped(name):
    """Every feature has one; how they were made stands beside them."""
    path = files("ginrummy_agents").joinpath("data", "champion.json")
    sets = json.loads(path.read_text(encoding="utf-8"))
    assert {kind: tuple(found) for kind, found in sets[name]["weights"].items()} == NAMES
    made = sets[name]["made by"]
    assert made["rules"] == name
    assert made["games"] >= 1000
    for kind in NAMES:
        assert np.isfinite(getattr(weights_of(EAAI if name == "eaai" else CLASSIC), kind)).all()


def test_rules_get_the_nearer_weights():
    assert weights_of(MODERN) is not weights_of(CLASSIC)
    for near, far in ((EAAI, CLASSIC), (CLASSIC, EAAI)):
        others = [MODERN, OPENSPIEL] if near is EAAI else [STRAIGHT, Rules(undercut_bonus=17)]
        for rules in others:
            assert (weights_of(rules).keep == weights_of(near).keep).all()
            assert (weights_of(rules).keep != weights_of(far).keep).any()


# What it does with the estimates


def champion_with(**given):
    """A champion whose estimates are the weights of the given features, and zero for others."""
    weights = {kind: np.zeros(len(names)) for kind, names in NAMES.items()}
    for kind, values in given.items():
        for name, value in values.items():
            weights[kind][NAMES[kind].index(name)] = value

    class Given(Champion):
        def weights(self, view):
            return Weights(**weights)

    return Given()


def does(agent, hand, upcard, words="", stock=""):
    deck = stacked_deck(hand, "", upcard, stock)
    state = new_games(0, 1, CLASSIC, dealers=[1], decks=[deck])
    if words:
        play(state, CLASSIC, words)
    return format_action(agent.act(make_view(state, CLASSIC), np.random.default_rng(0))[0])


NINE = "4s 5s 6s 9h 9d 9c 2h 3d 4c Kd"
"""With the seven of spades, nine points are left without the king."""


def test_it_knocks_where_that_is_worth_more_than_to_keep():
    def then(**given):
        return does(champion_with(**given), NINE, "Th", "pass, pass, draw", "7s")

    assert then(knock={"1": 1.0}) == "knock Kd"
    assert then(keep={"1": 1.0}) == "discard Kd"
    assert then(knock={"1": 2.0}, keep={"1": 1.0}) == "knock Kd"
    assert then(knock={"deadwood": 0.1}, keep={"1": 1.0}) == "discard Kd", "nine points: 0.9"
    assert then(knock={"deadwood": 0.2}, keep={"1": 1.0}) == "knock Kd", "nine points: 1.8"


def test_gin_is_never_kept():
    hand = "4s 5s 6s 9h 9d 9c Ah Ad Ac Kd"
    never = champion_with(keep={"1": 100.0}, knock={"1": -100.0})
    assert does(never, hand, "Th", "pass, pass, draw", "7s") == "knock Kd"


def test_it_takes_where_that_is_worth_more_than_the_stock():
    low = "2s 2d 3c 3h 7s 8d 9c Th Qs Kd"
    assert does(champion_with(take={"melds": 1.0}), low, "2h") == "take"
    assert does(champion_with(take={"melds": 1.0}), low, "As") == "pass", "no meld, worth nothing"
    assert does(champion_with(take={"deadwood saved": 1.0}), low, "As") == "take"
    assert does(champion_with(take={"1": 1.0}, stock={"opening": 2.0}), low, "2h") == "pass"
    assert does(champion_with(take={"1": 1.0}), low, "Kc") == "pass", "of no use: not weighed"
    best_kept = champion_with(take={"worth of the best ten": 1.0}, keep={"deadwood": -1.0})
    assert does(best_kept, low, "2h") == "pass", "some deadwood is left: below nothing"


def test_it_throws_what_leaves_the_ten_that_are_worth_most():
    hand, words = "4s 5s 6s 2h 2d Jd Qd 8c 8d Ks", "pass, pass, draw"

    def then(feature, weight):
        return does(champion_with(keep={feature: weight}), hand, "Kc", words, "Ac")

    assert then("points", 1.0) in ("discard Jd", "discard Qd", "discard Ks")
    assert then("points", -1.0) in ("discard 8c", "discard 8d")
    assert then("next draw: mean of the 7 best", -1.0) == "discard Ks", "it waits for nothing"


def test_estimates_hang_on_no_other_row():
    """To the last bit: choices of equal worth must not be told apart by the batch around them."""
    view, rows, hands, cards = some_discards(5)
    champion = Champion()
    together = champion.worth_of_keeping(view, rows, hands, cards)
    for size in (1, 2, 7):
        parts = [slice(at, at + size) for at in range(0, 280, size)]
        apart = [
            champion.worth_of_keeping(view, rows[part], hands[part], cards[part]) for part in parts
        ]
        assert (np.concatenate(apart) == together[:280]).all()
