"""Melds: sets and runs, and the tables made of them (RULES, Cards)."""

from itertools import combinations

import numpy as np
import oracle
from cases import SETS_OF_THREE, cards
from hypothesis import given
from positions import batches, lists_of, rich_hands

from ginrummy_env.core.cards import CARD_BIT, NUM_RANKS, hand_of, parse_hand
from ginrummy_env.core.melds import (
    ALL_RUNS,
    ALL_SETS,
    LANE_IN_RUNS,
    LANE_LEFT,
    LANE_RUNS,
    LOWEST_RANKS,
    MELD_MASK,
    MELDS,
    NO_MELD,
    RUN_NUMBERS,
    SET_NUMBER,
    cards_in_runs,
    ranks_in_threes,
    suits_of_rank,
)


def test_there_are_329_melds():
    """65 sets and 264 runs, as the oracle finds them in a full deck; 185 of three to five cards."""
    found = {tuple(sorted(meld)) for meld in oracle.melds(range(52))}
    assert (len(ALL_SETS), len(ALL_RUNS)) == (65, 264)
    assert set(ALL_SETS) | set(ALL_RUNS) == found
    assert len(found) == 329
    assert len(MELDS) == 185
    assert set(MELDS) == {meld for meld in found if len(meld) <= 5}


def test_three_suits_of_a_rank_are_a_set_in_every_combination():
    """Neighbours in the encoding or not."""
    assert {tuple(cards(text)) for text in SETS_OF_THREE} <= set(ALL_SETS)
    assert len(SETS_OF_THREE) == 52


def test_melds_stand_in_the_order_of_their_cards():
    """A meld that is the beginning of another comes first, as when lists are compared."""
    assert list(map(list, MELDS)) == sorted(map(list, MELDS))
    assert MELD_MASK[:-1].tolist() == [int(hand_of(meld)) for meld in MELDS]
    assert MELD_MASK[NO_MELD] == 0


# Tables


def test_every_pattern_of_a_suit():
    """Cards in runs, the points left, and the runs themselves: cut into threes, then the rest."""
    for pattern in range(8192):
        ranks = [rank for rank in range(NUM_RANKS) if pattern >> rank & 1]
        melded = sorted(set().union(*oracle.melds(ranks)))
        assert [rank for rank in range(NUM_RANKS) if LANE_IN_RUNS[pattern] >> rank & 1] == melded
        assert LANE_LEFT[pattern] == oracle.points(ranks) - oracle.points(melded)
        runs = [range(low, low + length) for low, length in LANE_RUNS[pattern] if length]
        assert [rank for run in runs for rank in run] == melded
        assert all(3 <= len(run) <= 5 for run in runs)


def test_the_runs_of_a_pattern_by_number():
    for suit in range(4):
        for pattern in range(0, 8192, 7):
            numbers = [number for number in RUN_NUMBERS[suit, pattern] if number != NO_MELD]
            assert numbers == sorted(numbers)
            assert [MELDS[number] for number in numbers] == [
                tuple(range(13 * suit + low, 13 * suit + low + length))
                for low, length in LANE_RUNS[pattern]
                if length
            ]


def test_the_set_of_a_rank_and_suits():
    for rank in range(16):
        for suits in range(16):
            meld = tuple(13 * suit + rank for suit in range(4) if suits >> suit & 1)
            is_set = rank < NUM_RANKS and len(meld) >= 3
            expected = MELDS.index(meld) if is_set else NO_MELD
            assert SET_NUMBER[rank, suits] == expected


def test_the_lowest_ranks_of_a_pattern():
    for pattern in range(8192):
        ranks = [rank for rank in range(NUM_RANKS) if pattern >> rank & 1][:3]
        assert LOWEST_RANKS[pattern].tolist() == ranks + [NUM_RANKS] * (3 - len(ranks))


# Questions about hands


@given(batches(3, 10, 11))
def test_cards_in_runs(batch):
    hands = np.array([hand_of(hand) for hand in batch])
    for hand, found in zip(batch, lists_of(cards_in_runs(hands)), strict=True):
        runs = [meld for meld in oracle.melds(hand) if not oracle.is_set(sorted(meld))]
        assert found == sorted(frozenset().union(*runs))


def test_a_run_does_not_leave_its_suit():
    """The ace is low only; K of a suit and A 2 of the next are neighbours in the encoding."""
    for text in ("Qs Ks As", "Ks As 2s", "Qs Ks Ah", "Ks Ah 2h", "Qc Kc Ac", "Jd Qd Kd Ac"):
        in_runs = cards_in_runs(np.array([parse_hand(text)]))
        assert in_runs == (parse_hand("Jd Qd Kd") if "Jd" in text else 0)


@given(batches(3, 10, 11))
def test_ranks_of_which_a_hand_holds_three(batch):
    hands = np.array([hand_of(hand) for hand in batch])
    for hand, ranks in zip(batch, ranks_in_threes(hands), strict=True):
        counts = [sum(oracle.rank(card) == rank for card in hand) for rank in range(NUM_RANKS)]
        assert [ranks >> rank & 1 for rank in range(16)] == [
            int(count >= 3) for count in counts
        ] + [0] * 3


def test_the_suits_of_a_rank():
    hands = rich_hands(np.random.default_rng(0), 500, 10)
    for rank in range(16):
        suits = suits_of_rank(hands, np.full(len(hands), rank, dtype=np.uint8))
        expected = [
            sum(1 << suit for suit in range(4) if rank < 13 and hand & CARD_BIT[13 * suit + rank])
            for hand in hands
        ]
        assert suits.tolist() == expected


def test_all_sixteen_ways_to_hold_a_rank():
    for size in range(5):
        for suits in combinations(range(4), size):
            hand = np.array([hand_of([13 * suit + 12 for suit in suits])], dtype=np.uint64)
            assert suits_of_rank(hand, np.uint8([12])) == sum(1 << suit for suit in suits)
            assert ranks_in_threes(hand) == (1 << 12 if size >= 3 else 0)
