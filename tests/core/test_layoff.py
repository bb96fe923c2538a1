"""The knocker's arrangement, the defender's melds and lay-offs.

RULES, One deal, 6, and Settled here.
"""

from itertools import permutations

import numpy as np
import oracle
import pytest
from cases import LAYOFFS, cards
from hypothesis import given
from hypothesis import strategies as st
from positions import (
    POOLS,
    lists_of,
    meld_lists,
    renamed,
    rich_hands,
    suits_exchanged,
)

from ginrummy_env.core.cards import FULL_DECK, hand_of, hand_points, parse_hand
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.layoff import (
    deadwood_cards,
    defend,
    defender_deadwood,
    knocker_arrangement,
    layoff_potential,
    spread,
)
from ginrummy_env.core.melds import MELD_MASK, MELDS, NO_MELD


def masks(batch):
    return np.array([hand_of(hand) for hand in batch], dtype=np.uint64)


def one(text):
    return np.array([parse_hand(text)])


def yes(count):
    return np.ones(count, dtype=bool)


def numbers_of(arrangement) -> list[int]:
    """An arrangement of the oracle as meld numbers; long runs are cut into threes."""
    numbers = []
    for meld in arrangement:
        while len(meld) > 5:
            numbers.append(MELDS.index(tuple(meld[:3])))
            meld = meld[3:]
        numbers.append(MELDS.index(tuple(meld)))
    return sorted(numbers) + [NO_MELD] * (3 - len(numbers))


@st.composite
def tables(draw, knockers=(10, 11)):
    """Knocker's cards, defender's cards and the discard pile; often rich in melds."""
    pool = draw(st.sampled_from(POOLS))
    size = draw(st.sampled_from(knockers))
    mine = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size, unique=True))
    near = [card for card in pool if card not in mine]
    far = [card for card in range(52) if card not in mine and card not in near]
    order = draw(st.permutations(near)) + draw(st.permutations(far))
    return mine, list(order[:10]), list(order[10 : 10 + draw(st.integers(0, 20))])


def deal_tables(rng, count, size=10):
    """Random tables from every pool: knockers, defenders, discard piles, as [N] uint64."""
    knockers = rich_hands(rng, count, size)
    others = np.empty_like(knockers)
    piles = np.empty_like(knockers)
    share = len(knockers) // len(POOLS)
    for row, mine in enumerate(lists_of(knockers)):
        pool = POOLS[row // share]
        near = rng.permutation([card for card in pool if card not in mine])
        far = rng.permutation([card for card in range(52) if card not in {*mine, *near}])
        order = np.concatenate([near, far]).astype(int)
        others[row] = hand_of(order[:10])
        piles[row] = hand_of(order[10 : 10 + rng.integers(0, 20)]) if rng.random() < 0.8 else 0
    return knockers, others, piles


# Cases


@pytest.mark.parametrize("case", LAYOFFS, ids=lambda case: case.name)
def test_cases(case):
    """Deadwood before and after the lay-offs."""
    knocker, defender = one(case.knocker), one(case.defender)
    melds, own = knocker_arrangement(knocker, np.zeros(1, dtype=np.uint64))
    assert own == case.knocker_deadwood, "the knocker lays nothing off"
    assert defender_deadwood(defender, melds, yes(1)) == case.defender_deadwood
    assert defender_deadwood(defender, melds, ~yes(1)) == case.alone


@pytest.mark.parametrize(
    ("knocker", "defender", "own_melds", "laid_off", "left"),
    [
        pytest.param(
            "4h 5h 6h 9s 9d 9c Kd Kc Ks 2c", "7h 8h 9h Th Jh Qh As 3s 5s 7s",
            {"7h 8h 9h", "Th Jh Qh"}, {}, "As 3s 5s 7s", id="own runs stay together",
        ),
        pytest.param(
            "4h 5h 6h 9s 9d 9c Kd Kc Ks 2c", "3h 2h 7h 8h Kh 9h As 3s 5s 7s",
            {"7h 8h 9h"}, {"4h 5h 6h": "2h 3h", "Ks Kd Kc": "Kh"}, "As 3s 5s 7s",
            id="at both ends, one after another, and the fourth card",
        ),
        pytest.param(
            "4h 5h 6h 9s 9d 9c Kd Kc Ks 2c", "7h 8h 9h Th 7s 7d Ac 3s 5s Qs",
            {"7s 7h 7d", "8h 9h Th"}, {}, "Ac 3s 5s Qs",
            id="a set takes the card that could begin the lay-offs",
        ),
        pytest.param(
            "4h 5h 6h 9s 9d 9c Kd Kc Ks 2c", "7h 7s 7d 7c 8h Th Jh Ac 3s 5s",
            {"7s 7d 7c"}, {"4h 5h 6h": "7h 8h"}, "Th Jh Ac 3s 5s",
            id="a set of four spares the card that another follows",
        ),
        pytest.param(
            "As 2s 3s 8h 8d 8c Jd Qd Kd 4c", "Ah Ad Ac 4s 4h 4d 6h 6d 6c 8s",
            {"Ah Ad Ac", "4s 4h 4d", "6h 6d 6c"}, {"8h 8d 8c": "8s"}, "", id="nothing left",
        ),
        pytest.param(
            "5s 6s 7s Jh Qh Kh As Ad Ac 2d", "Ah 2h 3h 4s 4d 4c 8s 9s Ts 6d",
            {"Ah 2h 3h", "4s 4d 4c", "8s 9s Ts"}, {}, "6d",
            id="nothing that his own melds need is laid off",
        ),
    ],
)  # fmt: skip
def test_defences(knocker, defender, own_melds, laid_off, left):
    """RULES, One deal, 6: own melds and lay-offs are chosen together."""
    melds, _ = knocker_arrangement(one(knocker), np.zeros(1, dtype=np.uint64))
    defence = defend(one(defender), melds, yes(1))
    assert defence.deadwood == hand_points(one(left))[0]
    assert defence.deadwood_cards == one(left)
    assert sorted(meld_lists(defence.melds[0])) == sorted(map(cards, own_melds))
    assert {
        tuple(MELDS[number]): laid
        for number, laid in zip(melds[0], lists_of(defence.layoffs[0]), strict=True)
        if laid
    } == {tuple(cards(meld)): sorted(cards(more)) for meld, more in laid_off.items()}


# The knocker's arrangement, against the oracle


def check_arrangements(knockers, piles):
    melds, points = knocker_arrangement(knockers, piles)
    potential = layoff_potential(melds, knockers, piles)
    rest = deadwood_cards(knockers, melds)
    assert (points == deadwood(knockers)).all()
    assert (hand_points(rest) == points).all()
    for row, (mine, pile) in enumerate(zip(lists_of(knockers), lists_of(piles), strict=True)):
        expected = oracle.knocker_arrangement(mine, pile)
        assert meld_lists(melds[row]) == expected, (mine, pile)
        assert potential[row] == oracle.layoff_potential(expected, mine, pile), (mine, pile)


@given(st.lists(tables(), min_size=1, max_size=5))
def test_the_arrangement(batch):
    """Least deadwood, least lay-off potential, then the order of the cards; also of eleven."""
    check_arrangements(masks([mine for mine, _, _ in batch]), masks([pile for _, _, pile in batch]))


@pytest.mark.parametrize("size", [10, 11])
def test_many_arrangements(size):
    knockers, _, piles = deal_tables(np.random.default_rng(size), 1500, size)
    check_arrangements(knockers, piles)


@given(tables())
def test_lay_off_potential_of_every_arrangement(table):
    """Not only of the one that is chosen: of all that have least deadwood."""
    mine, _, pile = table
    every = oracle.arrangements(mine)[:30]
    melds = np.array([numbers_of(each) for each in every], dtype=np.int16)
    count = len(every)
    potential = layoff_potential(melds, masks([mine] * count), masks([pile] * count))
    assert potential.tolist() == [oracle.layoff_potential(each, mine, pile) for each in every]


def test_the_potential_stops_at_a_visible_card():
    """4-5-6 of spades: 7 8 9 ... K and 3 2 A fit, up to a card that lies in the pile."""
    melds = np.array([[MELDS.index(tuple(cards("4s 5s 6s"))), NO_MELD, NO_MELD]], dtype=np.int16)
    hand = one("4s 5s 6s")
    open_ends = layoff_potential(melds, hand, one(""))
    assert open_ends == 6 + 7 + 8 + 9 + 40
    assert layoff_potential(melds, hand, one("9s")) == 6 + 7 + 8
    assert layoff_potential(melds, hand, one("3s 9s")) == 7 + 8
    assert layoff_potential(melds, one("4s 5s 6s 2s 8s"), one("")) == 3 + 7
    assert layoff_potential(melds, hand, one("9h 3d")) == open_ends


def test_a_card_that_fits_in_two_places_counts_once():
    """The seven of spades goes on the run and on the set."""
    hand = one("4s 5s 6s 7h 7d 7c")
    melds, _ = knocker_arrangement(hand, one("8s 3s"))
    assert layoff_potential(melds, hand, one("8s 3s")) == 7


# The defender, against the oracle


def check_defences(knockers, others, piles, allowed):
    melds, _ = knocker_arrangement(knockers, piles)
    left = defender_deadwood(others, melds, allowed)
    for row, his in enumerate(lists_of(others)):
        arrangement = meld_lists(melds[row])
        expected = (
            oracle.defender_deadwood(his, arrangement) if allowed[row] else oracle.deadwood(his)
        )
        assert left[row] == expected, (his, arrangement)
    defence = defend(others, melds, allowed)
    assert (defence.deadwood == left).all()
    check_laid_down(defence, others, melds, allowed)


def check_laid_down(defence, others, melds, allowed):
    """The cards fall into legal melds, legal lay-offs and what counts; nothing is used twice."""
    assert (hand_points(defence.deadwood_cards) == defence.deadwood).all()
    own = MELD_MASK[defence.melds]
    parts = np.concatenate([own, defence.layoffs, defence.deadwood_cards[:, None]], axis=1)
    assert (np.bitwise_or.reduce(parts, axis=1) == others).all()
    assert (np.bitwise_count(parts).sum(axis=1) == 10).all(), "a card stands in two places"
    assert not defence.layoffs[~allowed].any()
    numbered = defence.melds != NO_MELD
    assert not (numbered[:, 1:] & ~numbered[:, :-1]).any(), "NO_MELD stands behind"
    for row in np.flatnonzero(defence.layoffs.any(axis=1)):
        for number, laid in zip(melds[row], lists_of(defence.layoffs[row]), strict=True):
            if laid:
                longer = frozenset([*MELDS[number], *laid])
                assert number != NO_MELD
                assert longer in oracle.melds(longer), "meld and lay-offs are one longer meld"


@given(st.lists(tables(), min_size=1, max_size=4), st.data())
def test_the_defender(batch, data):
    allowed = np.array([data.draw(st.booleans()) for _ in batch])
    check_defences(*(masks(column) for column in zip(*batch, strict=True)), allowed)


@pytest.mark.parametrize("size", [10, 11])
def test_many_defenders(size):
    """RULES, One deal, 6; eleven cards of the knocker are big gin."""
    rng = np.random.default_rng(10 + size)
    knockers, others, piles = deal_tables(rng, 1200, size)
    check_defences(knockers, others, piles, rng.random(len(knockers)) < 0.9)


def test_against_melds_that_are_all_laid_down():
    """Knockers with much to lay off on: nine or ten melded cards."""
    rng = np.random.default_rng(3)
    pool = rich_hands(rng, 120_000, 10)
    knockers = pool[deadwood(pool) <= 5][:700]
    assert len(knockers) == 700
    others = np.array([
        hand_of(rng.permutation([card for card in range(52) if card not in mine])[:10])
        for mine in lists_of(knockers)
    ])  # fmt: skip
    check_defences(knockers, others, np.zeros_like(knockers), yes(700))


# What holds for all


def test_suits_are_equal_but_for_the_last_tie():
    """Deadwood and potential do not depend on the names of the suits; the last tie-break may."""
    knockers, others, piles = deal_tables(np.random.default_rng(4), 2000)
    melds, points = knocker_arrangement(knockers, piles)
    potential = layoff_potential(melds, knockers, piles)
    alone = defender_deadwood(others, melds, ~yes(len(others)))
    left = defender_deadwood(others, melds, yes(len(others)))
    for suits in list(permutations(range(4)))[1::5]:
        becomes = suits_exchanged(suits)
        mine, his, pile = (renamed(each, becomes) for each in (knockers, others, piles))
        again, again_points = knocker_arrangement(mine, pile)
        assert (again_points == points).all()
        assert (layoff_potential(again, mine, pile) == potential).all()
        assert (defender_deadwood(his, again, ~yes(len(his))) == alone).all()
        again_left = defender_deadwood(his, again, yes(len(his)))
        for row in np.flatnonzero(again_left != left):
            tied = oracle.tied_arrangements(*lists_of([knockers[row], piles[row]]))
            assert len(tied) > 1


def test_a_table_of_a_batch_is_as_alone():
    knockers, others, piles = deal_tables(np.random.default_rng(5), 200)
    allowed = np.arange(len(knockers)) % 4 > 0
    melds, points = knocker_arrangement(knockers, piles)
    whole = defend(others, melds, allowed)
    for row in range(len(knockers)):
        just = slice(row, row + 1)
        again, again_points = knocker_arrangement(knockers[just], piles[just])
        assert (again == melds[just]).all()
        assert (again_points == points[just]).all()
        alone = defend(others[just], again, allowed[just])
        for name in ("deadwood", "melds", "layoffs", "deadwood_cards"):
            assert (getattr(alone, name) == getattr(whole, name)[just]).all()


def test_laying_off_never_costs_and_takes_nothing_but_points():
    knockers, others, piles = deal_tables(np.random.default_rng(6), 2000)
    melds, _ = knocker_arrangement(knockers, piles)
    left = defender_deadwood(others, melds, yes(len(others)))
    assert (left <= deadwood(others)).all()
    no_melds = np.full_like(melds, NO_MELD)
    assert (defender_deadwood(others, no_melds, yes(len(others))) == deadwood(others)).all()


def test_nothing_laid_down_at_all():
    """No rows."""
    none = np.zeros(0, dtype=np.uint64)
    melds, points = knocker_arrangement(none, none)
    assert (melds.shape, points.shape) == ((0, 3), (0,))
    assert defender_deadwood(none, melds, yes(0)).shape == (0,)
    assert defend(none, melds, yes(0)).layoffs.shape == (0, 3)


def test_spreading_stays_in_its_suit():
    """From the king of hearts up is nothing, though the ace of diamonds is the next lane."""
    hearts, everything = one("Jh Qh Kh"), np.array([FULL_DECK])
    assert lists_of(spread(hearts, everything & ~hearts)) == [
        cards("Ah 2h 3h 4h 5h 6h 7h 8h 9h Th")
    ]
    low = one("Ad 2d 3d")
    assert lists_of(spread(low, one("4d 5d 7d Kh Kd"))) == [cards("4d 5d")]


@given(tables(knockers=(10,)))
def test_spreading_is_laying_off_one_after_another(table):
    """From each run of three, over any cards: what the oracle's chains give."""
    mine, _, available = table
    for meld in MELDS[::7]:
        if len({card // 13 for card in meld}) == 1:
            through = frozenset(mine + available) - set(meld)
            below, above = (oracle.chain(end, through) for end in oracle.run_ends(list(meld)))
            assert lists_of(spread(masks([meld]), masks([list(through)]))) == [
                sorted([*below, *above])
            ]
