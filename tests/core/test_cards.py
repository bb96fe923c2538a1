"""Cards: numbers, points, bit masks and text (RULES, Cards)."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from positions import batches, card_lists, lists_of

from ginrummy_env.core.cards import (
    CARD_BIT,
    FULL_DECK,
    LANE_POINTS,
    LANE_RANKS,
    NO_CARD,
    NUM_CARDS,
    POINTS,
    RANK,
    SUIT,
    card_planes,
    cards_of,
    format_card,
    format_hand,
    hand_of,
    hand_points,
    hand_size,
    lanes,
    parse_card,
    parse_cards,
    parse_hand,
)

ALL = range(NUM_CARDS)


def test_the_deck_has_52_different_cards():
    """13 ranks in each of 4 suits, 340 points, and every card has its own bit."""
    assert len({(suit, rank) for suit, rank in zip(SUIT, RANK, strict=True)}) == NUM_CARDS == 52
    assert POINTS.sum() == oracle.points(ALL) == 340
    assert POINTS.tolist() == [oracle.points([card]) for card in ALL]
    assert len(set(CARD_BIT[:NUM_CARDS].tolist())) == 52
    assert int(FULL_DECK).bit_count() == 52


def test_points():
    """RULES, Cards: ace 1, two to ten their number, jack, queen and king 10."""
    spades = dict(zip("A23456789TJQK", POINTS[:13].tolist(), strict=True))
    assert spades == {
        "A": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9,
        "T": 10, "J": 10, "Q": 10, "K": 10,
    }  # fmt: skip


def test_no_card_has_no_bit():
    assert CARD_BIT[NO_CARD] == 0


def test_a_suit_has_a_lane_of_16_bits():
    """Bit of a card: 16 * suit + rank; the empty bits above each king keep the suits apart."""
    assert [int(CARD_BIT[card]).bit_length() - 1 for card in ALL] == [
        16 * (card // 13) + card % 13 for card in ALL
    ]
    assert lanes(np.array([FULL_DECK])).tolist() == [[0x1FFF] * 4]


def test_the_tables_of_suit_patterns():
    for pattern in range(8192):
        ranks = [rank for rank in range(13) if pattern >> rank & 1]
        assert np.flatnonzero(LANE_RANKS[pattern]).tolist() == ranks
        assert LANE_POINTS[pattern] == oracle.points(ranks)


# Masks


@given(batches(0, 1, 4, 10, 11))
def test_a_hand_is_its_cards(batch):
    hands = np.array([hand_of(hand) for hand in batch])
    assert lists_of(hands) == [sorted(hand) for hand in batch]
    assert hand_size(hands).tolist() == [len(hand) for hand in batch]
    assert hand_points(hands).tolist() == [oracle.points(hand) for hand in batch]
    planes = card_planes(hands)
    assert planes.shape == (len(batch), 52)
    assert [np.flatnonzero(row).tolist() for row in planes] == [sorted(hand) for hand in batch]


@pytest.mark.parametrize("shape", [(), (1,), (3,), (3, 2), (2, 3, 2)])
def test_shapes_are_kept(shape):
    hands = np.full(shape, parse_hand("As Kc"), dtype=np.uint64)
    assert hand_size(hands).shape == hand_points(hands).shape == shape
    assert lanes(hands).shape == (*shape, 4)
    assert card_planes(hands).shape == (*shape, 52)
    assert card_planes(hands)[..., [0, 51]].all()
    assert hand_of(np.full((*shape, 1), 51)).shape == shape


def test_a_hand_of_every_other_row_is_read_right():
    """Arrays that do not lie side by side in memory: a column of [N, 2] hands."""
    pairs = np.array([[parse_hand("As"), parse_hand("Kc")], [parse_hand("2h"), parse_hand("3d")]])
    assert hand_points(pairs[:, 1]).tolist() == [10, 3]
    assert card_planes(pairs[:, 1]).argmax(axis=1).tolist() == [51, 28]


def test_no_card_fills_up_a_hand():
    assert hand_of([[NO_CARD, 3], [NO_CARD, NO_CARD], [2, 3]]).tolist() == [8, 0, 12]
    assert hand_of(np.empty((2, 0), dtype=int)).tolist() == [0, 0]


def test_a_masks_question_changes_nothing():
    """The arrays that were asked about are what they were."""
    hands = np.array([parse_hand("As Kc"), FULL_DECK])
    before = hands.copy()
    for question in (hand_size, hand_points, card_planes, lanes):
        question(hands)
    card_planes(hands)[:] = False
    assert (hands == before).all()


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        pytest.param([3, 17, 3], "4s appears twice", id="a card twice"),
        pytest.param([[1, 2], [5, 5]], "6s appears twice", id="a card twice in one of the hands"),
        pytest.param([0, 52], "52 is not a card: cards are 0..51", id="above the last card"),
        pytest.param([0, -2], "-2 is not a card: cards are 0..51", id="below NO_CARD"),
        pytest.param([0.0, 1.0], "whole numbers 0..51, not float64", id="not whole numbers"),
        pytest.param([True, False], "whole numbers 0..51, not bool", id="flags"),
    ],
)
def test_what_is_no_hand(cards, message):
    with pytest.raises(ValueError, match=message):
        hand_of(cards)


# Text


def test_text_and_numbers_are_the_same_cards():
    """Writing and reading is the identity, in either case, and 10 is a ten."""
    for card in ALL:
        text = format_card(card)
        assert parse_card(text) == parse_card(text.lower()) == parse_card(text.upper()) == card
        assert parse_card(text.replace("T", "10")) == parse_card(f" {text} ") == card
    assert [format_card(card) for card in (0, 12, 13, 26, 39, 51)] == "As Ks Ah Ad Ac Kc".split()


@pytest.mark.parametrize("text", ["", "s", "A", "10", "1s", "11s", "Ax", "sA", "A s", "AsKs", "🂡"])
def test_text_that_is_no_card(text):
    with pytest.raises(ValueError, match="is not a card: write a rank of A 2") as error:
        parse_card(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("number", [-2, 52, 255])
def test_a_number_that_is_no_card(number):
    with pytest.raises(ValueError, match=f"{number} is not a card: cards are 0..51"):
        format_card(number)


@given(card_lists(0, 1, 5, 10, 11))
def test_hands_as_text(hand):
    text = format_hand(hand_of(hand) if hand else 0)
    assert parse_cards(text) == cards_of(parse_hand(text)) == sorted(hand)


@given(st.permutations(list(ALL)))
def test_cards_keep_the_order_of_the_text(deck):
    assert parse_cards(", ".join(map(format_card, deck))) == deck


@pytest.mark.parametrize("parse", [parse_cards, parse_hand])
def test_a_card_twice_in_a_text(parse):
    with pytest.raises(ValueError, match="Th appears twice in 'Th 3s 10H'"):
        parse("Th 3s 10H")
