"""Choosing among cards: everything beside the plain way to say it."""

import numpy as np
import pytest
from positions import random_hands, rich_hands

from ginrummy_agents.rules.work_lists import (
    cards_listed,
    dearest,
    least_discards,
    least_valued,
    lowest,
    pick_one,
    ranks,
)
from ginrummy_env.core.cards import (
    CARD_BIT,
    POINTS,
    card_planes,
    cards_of,
    format_card,
    format_hand,
    parse_hand,
)
from ginrummy_env.core.deadwood import NOT_HELD, deadwood_after_discard, pack_planes


def rng(seed=0):
    return np.random.default_rng(seed)


def test_cards_listed():
    hands = np.array([parse_hand("Kc 2s As"), 0, parse_hand("5h")], dtype=np.uint64)
    rows, cards = cards_listed(hands)
    assert rows.tolist() == [0, 0, 0, 2]
    assert [format_card(card) for card in cards] == ["As", "2s", "Kc", "5h"]


def test_pick_one_is_even_and_goes_by_its_own_number():
    hand = np.full(6000, parse_hand("As 5h Kd 2c Kc"))
    uniforms = np.arange(6000) / 6000
    picked = pick_one(hand, uniforms)
    assert (np.diff(picked) >= 0).all()
    assert np.bincount(picked)[cards_of(hand[0])].tolist() == [1200] * 5
    hands = random_hands(rng(1), 500, 7)
    uniforms = rng(2).random(500)
    one_by_one = [
        cards_of(hand)[int(number * 7)] for hand, number in zip(hands, uniforms, strict=True)
    ]
    assert pick_one(hands, uniforms).tolist() == one_by_one


def test_lowest_and_dearest():
    hands = np.array([parse_hand("5h Kd Tc 2s"), parse_hand("3c 3d")])
    assert [format_card(card) for card in lowest(hands)] == ["2s", "3d"]
    assert [format_hand(hand) for hand in dearest(hands)] == ["Kd Tc", "3d 3c"]
    hands = random_hands(rng(3), 300, 6)
    for hand, best in zip(hands, dearest(hands), strict=True):
        points = POINTS[cards_of(hand)]
        assert cards_of(best) == np.array(cards_of(hand))[points == points.max()].tolist()


def test_ranks():
    hands = random_hands(rng(4), 300, 6)
    for hand, pattern in zip(hands, ranks(hands), strict=True):
        assert int(pattern) == sum({1 << card % 13 for card in cards_of(hand)})


def test_least_valued():
    rows, cards = np.array([0, 0, 0, 1, 2, 2]), np.array([3, 7, 9, 1, 5, 51])
    values = np.array([2.0, 1.5, 1.5, np.inf, -1.0, 0.0])
    found = least_valued(rows, cards, values)
    assert [cards_of(hand) for hand in found] == [[7, 9], [1], [5]]


@pytest.mark.parametrize("one_stays", [False, True])
def test_least_discards_agree_with_looking_at_every_card(one_stays):
    """Also where all cards are melded, and where only the card that stays is loose."""
    hands = rich_hands(rng(5), 20000, 11)
    card = pick_one(hands, rng(6).random(len(hands)))
    stays = CARD_BIT[card] if one_stays else np.zeros(len(hands), dtype=np.uint64)
    after = deadwood_after_discard(hands)
    after[card_planes(stays)] = NOT_HELD
    least, cards = least_discards(hands, stays)
    assert (least == after.min(axis=1)).all()
    assert (cards == pack_planes(after == least[:, None])).all()


@pytest.mark.parametrize(
    ("hand", "stays", "least", "cards"),
    [
        pytest.param("3s 4s 5s 6s 9h 9d 9c Js Jh Jd Jc", "", 0, "3s 6s Js Jh Jd Jc", id="eleven"),
        pytest.param("3s 4s 5s 6s 9h 9d 9c Js Jh Jd Kc", "Kc", 10, "3s 6s", id="ten, one stays"),
        pytest.param("3s 4s 5s 6s 9h 9d 9c Js Jh Jd Kc", "6s", 0, "Kc", id="a melded card stays"),
        pytest.param("As Ac Ad 2s 2c 2d 2h 3d 4s 4d 4h", "", 0, "3d", id="two meldings"),
    ],
)
def test_least_discards(hand, stays, least, cards):
    """RULES, One deal, 4 and 5."""
    left, found = least_discards(np.array([parse_hand(hand)]), np.array([parse_hand(stays)]))
    assert (int(left[0]), format_hand(found[0])) == (least, cards)
