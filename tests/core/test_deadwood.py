"""Least deadwood, and the discards to knock with (RULES, Cards; RULES, One deal, 5)."""

from itertools import permutations

import numpy as np
import oracle
import pytest
from cases import DEADWOOD, DISCARDS, OKLAHOMA, SETS_OF_THREE, card, cards
from hypothesis import given
from hypothesis import strategies as st
from positions import batches, lists_of, random_hands, renamed, rich_hands, suits_exchanged

from ginrummy_env.core.cards import (
    CARD_BIT,
    HAND_SIZE,
    NO_CARD,
    NUM_CARDS,
    card_planes,
    cards_of,
    hand_of,
    hand_points,
    hand_size,
    parse_hand,
)
from ginrummy_env.core.deadwood import (
    NOT_HELD,
    deadwood,
    deadwood_after_discard,
    knock_discards,
    least_after_discard,
    may_reach,
    melded_cards,
    pack_planes,
    set_choices,
)
from ginrummy_env.core.melds import cards_in_runs


def named(rows):
    return [pytest.param(row, id=row.name) for row in rows]


def one(text):
    return np.array([parse_hand(text)])


def masks(batch):
    return np.array([hand_of(hand) for hand in batch], dtype=np.uint64)


def after(hand) -> dict[int, int]:
    """The core's answer for one hand of eleven, as the oracle gives it."""
    left = deadwood_after_discard(masks([hand]))[0]
    assert (left != NOT_HELD).sum() == 11
    return {each: int(left[each]) for each in sorted(hand)}


# Cases


@pytest.mark.parametrize("case", named(DEADWOOD))
def test_cases(case):
    """Asked twice, the hand unchanged."""
    hands = one(case.hand)
    assert deadwood(hands).tolist() == deadwood(hands).tolist() == [case.deadwood]
    assert hands == one(case.hand)


def test_each_set_of_three_is_no_deadwood():
    assert deadwood(np.array([parse_hand(text) for text in SETS_OF_THREE])).tolist() == [0] * 52


@pytest.mark.parametrize("case", named(DISCARDS))
def test_discards_to_knock_with(case):
    """Each discard is judged for itself, and gin is one choice among others."""
    expected = {card(text): left for text, left in case.discards.items()}
    left = after(cards(case.hand))
    assert {each: left[each] for each in expected} == expected
    assert all(left[each] > case.knock_limit for each in left if each not in expected)
    hands, limits = one(case.hand), np.int16([case.knock_limit])
    assert cards_of(knock_discards(hands, limits)[0]) == sorted(expected)
    for forbidden in (*expected, NO_CARD):
        others = knock_discards(hands, limits, np.int8([forbidden]))
        assert cards_of(others[0]) == sorted(set(expected) - {forbidden})


@pytest.mark.parametrize("case", named(OKLAHOMA))
def test_discards_under_the_limit_of_the_upcard(case):
    allowed = knock_discards(one(case.hand), np.int16([case.knock_limit]))
    assert cards_of(allowed[0]) == sorted(map(card, case.discards))


def test_the_order_of_the_cards_is_nothing():
    """100 shuffles of one hand."""
    hand = cards(DISCARDS[4].hand)
    rng = np.random.default_rng(0)
    shuffled = masks([rng.permutation(hand) for _ in range(100)])
    assert len(np.unique(knock_discards(shuffled, np.full(100, 10, dtype=np.int16)))) == 1


def test_the_best_melding_of_eleven_is_not_best_to_discard_from():
    """Throwing the 3d leaves gin, though the best melding of all eleven leaves two aces."""
    hands = one("As Ac Ad 2s 2c 2d 2h 3d 4s 4d 4h")
    assert deadwood(hands) == 2
    assert least_after_discard(hands) == 0
    assert least_after_discard(hands, np.int8([card("3d")])) == 1


# Against the oracle


@given(batches(1, 2, 3, 6, 9, 10, 11))
def test_deadwood(batch):
    hands = masks(batch)
    before = hands.copy()
    assert deadwood(hands).tolist() == [oracle.deadwood(hand) for hand in batch]
    assert (hands == before).all()


@given(batches(11))
def test_deadwood_after_each_discard(batch):
    left = deadwood_after_discard(masks(batch))
    expected = np.full((len(batch), 52), NOT_HELD)
    for row, hand in enumerate(batch):
        for each, points in oracle.after_discard(hand).items():
            expected[row, each] = points
    assert left.tolist() == expected.tolist()
    assert left.dtype == np.uint8


@given(batches(11), st.data())
def test_knock_discards(batch, data):
    """Any limit, and a card that may not go (or none)."""
    limits = [data.draw(st.integers(0, 30)) for _ in batch]
    forbidden = [data.draw(st.sampled_from([*hand, NO_CARD])) for hand in batch]
    hands, barred = masks(batch), np.int8(forbidden)
    expected = [
        sorted(oracle.knock_discards(hand, limit, barred_card))
        for hand, limit, barred_card in zip(batch, limits, forbidden, strict=True)
    ]
    assert lists_of(knock_discards(hands, np.int16(limits), barred)) == expected
    assert least_after_discard(hands, barred).tolist() == [
        min(left for each, left in oracle.after_discard(hand).items() if each != barred_card)
        for hand, barred_card in zip(batch, forbidden, strict=True)
    ]


@pytest.mark.parametrize("size", [10, 11])
def test_many_hands(size):
    """A few thousand hands, most of them rich, in one batch."""
    rng = np.random.default_rng(size)
    hands = np.concatenate([random_hands(rng, 500, size), rich_hands(rng, 1500, size)])
    expected = [oracle.deadwood(hand) for hand in lists_of(hands)]
    assert deadwood(hands).tolist() == expected
    cards_kept, points = melded_cards(hands)
    assert points.tolist() == expected
    assert (hand_points(hands & ~cards_kept) == points).all()


@given(batches(3, 9, 10, 11))
def test_melded_cards_can_be_melded(batch):
    """What is called melded falls into melds without a card left, and the rest is the deadwood."""
    melded, points = melded_cards(masks(batch))
    for hand, kept, left in zip(batch, lists_of(melded), points, strict=True):
        assert set(kept) <= set(hand)
        assert oracle.deadwood(kept) == 0
        assert oracle.points(set(hand) - set(kept)) == left == oracle.deadwood(hand)


@given(batches(9, 10, 11))
def test_choices_of_sets_are_complete(batch):
    """All sets of an arrangement and all runs of the rest: the best of them is the oracle's."""
    hands = masks(batch)
    choices = set_choices(hands, np.arange(len(hands)))
    rest = hands[choices.rows] & ~choices.sets
    left = hand_points(rest & ~cards_in_runs(rest))
    assert choices.starts[0] == 0
    assert (np.diff(choices.rows) >= 0).all()
    assert not choices.sets[choices.starts].any()
    for row, hand in enumerate(batch):
        assert left[choices.rows == row].min() == oracle.deadwood(hand)


def test_eleven_melded_cards():
    """Big gin: no deadwood in eleven; what a discard then leaves is judged like any other."""
    hand = cards("As Ah Ad Ac 2s 3s 4s 5h 6h 7h 8h")
    assert deadwood(masks([hand])) == 0
    assert after(hand) == oracle.after_discard(hand)
    assert least_after_discard(masks([hand])) == 0
    # Three of a rank and eight in a row: every discard but the ends and a set breaks something.
    hand = cards("Ks Kh Kd 2c 3c 4c 5c 6c 7c 8c 9c")
    assert deadwood(masks([hand])) == 0
    assert after(hand) == oracle.after_discard(hand)


# What holds for all hands


def test_suits_are_equal():
    """10,000 hands under every permutation of the suits."""
    hands = random_hands(np.random.default_rng(0), 10_000, 10)
    expected = deadwood(hands)
    for suits in permutations(range(4)):
        assert (deadwood(renamed(hands, suits_exchanged(suits))) == expected).all()


def test_a_hand_of_a_batch_is_as_alone():
    rng = np.random.default_rng(1)
    hands = rich_hands(rng, 300, 11)
    limits = rng.integers(0, 20, len(hands)).astype(np.int16)
    whole = deadwood(hands), deadwood_after_discard(hands), knock_discards(hands, limits)
    for row in range(len(hands)):
        alone = hands[row : row + 1]
        assert deadwood(alone) == whole[0][row]
        assert (deadwood_after_discard(alone) == whole[1][row]).all()
        assert knock_discards(alone, limits[row : row + 1]) == whole[2][row]


def test_no_hands_at_all():
    none = np.zeros(0, dtype=np.uint64)
    assert deadwood(none).shape == least_after_discard(none).shape == (0,)
    assert deadwood_after_discard(none).shape == (0, 52)
    assert knock_discards(none, np.zeros(0, dtype=np.int16)).shape == (0,)


@pytest.mark.parametrize(
    ("question", "cards_held", "message"),
    [
        pytest.param(deadwood, 12, "a hand of 12 cards, expected 0 to 11: As 2s", id="12"),
        pytest.param(deadwood_after_discard, 0, "0 cards, expected 1 to 11", id="none"),
        pytest.param(deadwood_after_discard, 12, "12 cards, expected 1 to 11: A", id="more"),
        pytest.param(least_after_discard, 1, "1 cards, expected 2 to 11: As", id="least"),
    ],
)
def test_hands_of_a_wrong_size(question, cards_held, message):
    fine = 10 if question is deadwood else 11
    with pytest.raises(ValueError, match=message):
        question(masks([range(fine), range(cards_held)]))


@pytest.mark.parametrize("question", [deadwood, deadwood_after_discard, least_after_discard])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint32])
def test_hands_of_a_wrong_type(question, dtype):
    with pytest.raises(ValueError, match=f"hands are uint64 bit masks, not {np.dtype(dtype)}"):
        question(np.array([2047], dtype=dtype))


def test_the_cheap_bound_rules_out_no_knock():
    hands = rich_hands(np.random.default_rng(2), 5_000, 11)
    for limit in (0, 1, 10, 20):
        limits = np.full(len(hands), limit, dtype=np.int16)
        possible = least_after_discard(hands) <= limits
        assert not (possible & ~may_reach(hands, limits)).any()


@given(batches(0, 1, 10, 11))
def test_flags_make_the_hand_again(batch):
    hands = masks(batch)
    assert (pack_planes(card_planes(hands)) == hands).all()


# Census: exact facts of all 15,820,024,220 hands of ten cards

GIN_HANDS = 136_694
HANDS_OF_DEADWOOD = [
    GIN_HANDS, 312_878, 321_176, 340_270, 407_290, 491_014, 680_388, 922_168, 1_368_164,
    1_843_330, 3_388_904,
]  # fmt: skip
"""How many hands have deadwood 0, 1, ... 10."""


def different(hands) -> np.ndarray:
    """The hands without repetitions, ascending."""
    ordered = np.sort(hands)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])]


def put_together(some, others) -> np.ndarray:
    """Every hand that is one of each side, without repetitions; the two have no card in common."""
    parts = [
        (part | others)[(part & others) == 0]
        for part in np.array_split(some[:, None], len(some) * len(others) // 2_000_000 + 1)
    ]
    return different(np.concatenate(parts))


def melds_of(*sizes) -> np.ndarray:
    return masks(sorted(meld) for meld in oracle.melds(range(52)) if len(meld) in sizes)


@pytest.fixture(scope="module")
def melded():
    """All hands of ten cards or fewer that are melds and nothing else; a long run is two melds."""
    melds = melds_of(3, 4, 5)
    pairs = put_together(melds, melds)
    found = different(np.concatenate([melds, pairs, put_together(pairs, melds)]))
    return found[hand_size(found) <= HAND_SIZE]


def low_hands(most: int) -> list[np.ndarray]:
    """The hands of 0, 1, 2, ... cards that have ``most`` points at most, melded or not."""
    each = CARD_BIT[:NUM_CARDS]
    found = [np.zeros(1, dtype=np.uint64)]
    while len(found[-1]):
        more = put_together(found[-1], each)
        found.append(more[hand_points(more) <= most])
    return found[:-1]


def test_all_hands_that_may_knock(melded):
    """Every hand of ten cards with deadwood 10 or less, each found and judged: 10,212,276.

    Such a hand is some melds and low cards; put together in all ways, no other hand has so little.
    """
    low = low_hands(10)
    found = [
        put_together(melded[hand_size(melded) == HAND_SIZE - size], rest)
        for size, rest in enumerate(low)
    ]
    hands = different(np.concatenate(found))
    assert len(hands) == sum(HANDS_OF_DEADWOOD) == 10_212_276
    parts = np.array_split(hands, 100)
    counts = sum(np.bincount(deadwood(part), minlength=11) for part in parts)
    assert counts.tolist() == HANDS_OF_DEADWOOD


def test_gin_hands_by_their_melds(melded):
    """136,184 can be laid down as 3 + 3 + 4 cards, 510 only as 5 + 5."""
    threes = melds_of(3)
    threefold = put_together(put_together(threes, threes), melds_of(4))
    gins = melded[hand_size(melded) == HAND_SIZE]
    assert len(gins) == GIN_HANDS
    assert not deadwood(gins).any()
    assert len(threefold) == 136_184
    assert len(np.setdiff1d(gins, threefold)) == 510


def test_deadwood_of_random_hands():
    """500,000 seeded hands: mean, spread and shares within 4 standard errors of the census."""
    count = 500_000
    rng = np.random.default_rng(2)
    points = np.concatenate([deadwood(random_hands(rng, 50_000, 10)) for _ in range(10)]).astype(
        float
    )
    mean, spread = 56.569434, 13.791189
    assert abs(points.mean() - mean) < 4 * spread / count**0.5
    # The standard error of a standard deviation s is s * sqrt((kurtosis - 1) / (4 n)).
    kurtosis = (((points - mean) / spread) ** 4).mean()
    assert abs(points.std() - spread) < 4 * spread * ((kurtosis - 1) / (4 * count)) ** 0.5
    assert np.median(points) == 58
    assert points.max() <= 98
    for value, hands in ((65, 470_044_452), (12, 4_314_494)):
        share = hands / 15_820_024_220
        error = (share * (1 - share) / count) ** 0.5
        assert abs((points == value).mean() - share) < 4 * error


def test_most_deadwood():
    """98 points: no hand has more (RULES, Cards)."""
    hand = cards("Ks Qs Ts Kh Qh Th Jd Jc 9d 9c")
    assert deadwood(masks([hand])) == oracle.deadwood(hand) == 98
