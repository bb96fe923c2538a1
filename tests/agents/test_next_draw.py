"""Which cards would meld, beside the list of all melds and every arrangement."""

from itertools import combinations

import numpy as np
import pytest
from positions import random_hands, rich_hands

from ginrummy_agents.rules.base import makes_meld
from ginrummy_agents.rules.hein import ways_to_meld
from ginrummy_agents.rules.myopic import expected_melded
from ginrummy_agents.rules.next_draw import (
    ADJOINING,
    deadwood_cards,
    least_after_each_draw,
    loose_cards,
)
from ginrummy_env.core.cards import (
    CARD_BIT,
    FULL_DECK,
    NUM_CARDS,
    POINTS,
    cards_of,
    hand_points,
    parse_hand,
)
from ginrummy_env.core.deadwood import deadwood, least_after_discard
from ginrummy_env.core.melds import ALL_RUNS, ALL_SETS, melding_cards, ranks_in_pairs

MELDS = [set(meld) for meld in ALL_SETS + ALL_RUNS]
THREES = [meld for meld in MELDS if len(meld) == 3]


def rng(seed=0):
    return np.random.default_rng(seed)


def arrangements(cards, melds=None):
    """Every choice of disjoint melds among the cards, as the set of cards left over."""
    if melds is None:
        melds = [meld for meld in MELDS if meld <= cards]
    yield cards
    for place, meld in enumerate(melds):
        yield from arrangements(
            cards - meld, [other for other in melds[place + 1 :] if not other & meld]
        )


def test_melding_cards():
    for hand in rich_hands(rng(1), 300, 8):
        held = set(cards_of(hand))
        expected = [
            card
            for card in range(NUM_CARDS)
            if card not in held and any(card in three <= held | {card} for three in THREES)
        ]
        assert cards_of(melding_cards(np.array([hand]))[0]) == expected
        others = np.array(sorted(set(range(NUM_CARDS)) - held))
        flags = makes_meld(np.full(len(others), hand), others.astype(np.int8))
        assert others[flags].tolist() == expected


def test_adjoining_cards_are_those_of_a_meld_of_three():
    for card in range(NUM_CARDS):
        partners = set().union(*(three for three in THREES if card in three)) - {card}
        assert set(cards_of(ADJOINING[card])) == partners


def test_ranks_in_pairs():
    for hand in random_hands(rng(2), 300, 9):
        counts = np.bincount([card % 13 for card in cards_of(hand)], minlength=13)
        assert int(ranks_in_pairs(hand)) == sum(1 << rank for rank in np.flatnonzero(counts >= 2))


def test_loose_cards_and_deadwood_cards():
    """Beside all arrangements: those of least deadwood, and what they leave over."""
    hands = rich_hands(rng(3), 400, 11)
    loose, single = loose_cards(hands), deadwood_cards(hands)
    assert (hand_points(single) == deadwood(hands)).all()
    assert ((single & ~loose) == 0).all()
    several = 0
    for hand, found in zip(hands, loose, strict=True):
        rests = [frozenset(rest) for rest in arrangements(set(cards_of(hand)))]
        points = {rest: sum(int(POINTS[card]) for card in rest) for rest in rests}
        least = {rest for rest in rests if points[rest] == min(points.values())}
        assert set(cards_of(found)) == set().union(*least)
        several += len(least) > 1
    assert several > 5


def test_least_after_each_draw():
    """Beside the core, card by card; what cannot come is 255."""
    hands = rich_hands(rng(4), 3000, 10)
    unseen = FULL_DECK & ~hands & ~random_hands(rng(5), len(hands), 12)
    found = least_after_each_draw(hands, deadwood(hands).astype(np.uint8), unseen)
    for card in range(NUM_CARDS):
        comes = (unseen & CARD_BIT[card]) != 0
        assert (found[~comes, card] == 255).all()
        expected = least_after_discard(hands[comes] | CARD_BIT[card])
        assert (found[comes, card] == expected).all()


@pytest.mark.parametrize("held_counts", [2, 3])
def test_ways_to_meld(held_counts):
    """Pair by pair, as the recipe says it."""
    hands = rich_hands(rng(6), 100, 11)
    dead = random_hands(rng(7), len(hands), 15) & ~hands
    for hand, gone, found in zip(hands, dead, ways_to_meld(hands, dead, held_counts), strict=True):
        held, lost = set(cards_of(hand)), set(cards_of(gone))
        ways = dict.fromkeys(held, 0)
        for pair in combinations(held, 2):
            for three in THREES:
                if three > set(pair):
                    (third,) = three - set(pair)
                    worth = held_counts if third in held else 0 if third in lost else 1
                    for card in pair:
                        ways[card] += worth
        assert {card: int(found[card]) for card in held} == ways


@pytest.mark.parametrize(
    ("hand", "loose", "unseen", "expected"),
    [
        # 4s 5s wait for 3s and 6s: 9 points, two cards of ten.
        ("4s 5s Kd", "4s 5s Kd", "3s 6s As 2h 3h 4h 5h 6h 7h 8h", 9 * 2 / 10),
        ("4s 5s Kd", "4s 5s Kd", "3s As 2h 3h 4h 5h 6h 7h 8h 9h", 9 * 1 / 10),
        ("4s 6s", "4s 6s", "5s 2h", 10 * 1 / 2),
        # A pair waits for the other two of its rank, a single card for nothing.
        ("Kd Kc 2s", "Kd Kc 2s", "Ks Kh 4d 5d", 20 * 2 / 4),
        ("Kd Kc 2s", "Kd Kc 2s", "Ks 4d", 20 * 1 / 2),
        # The 8 is next to a run, with the 7 between them, which comes; the run itself has melded.
        ("4s 5s 6s 8s", "8s", "7s 2h", 8 * 1 / 2),
        # An ace has nothing below it, and the king nothing above.
        ("As 2s", "As 2s", "3s Ks 4h 5h", 3 * 1 / 4),
    ],
)
def test_expected_melded(hand, loose, unseen, expected):
    found = expected_melded(*(np.array([parse_hand(text)]) for text in (hand, loose, unseen)))
    assert found.tolist() == pytest.approx([expected])
