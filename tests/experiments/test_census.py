"""The census counts every hand once: checked against all small hands, one by one."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from ginrummy_env.core.cards import NUM_CARDS, hand_of, hand_points
from ginrummy_env.core.deadwood import deadwood
from ginrummy_training.experiments.census import (
    STANDS_FOR,
    census,
    chunks,
    count_chunk,
    halves,
    partners,
    right_halves,
    shapes,
)
from ginrummy_training.storage import ResultError


@pytest.mark.parametrize("cards", [1, 2, 3, 4])
def test_the_census_is_that_of_all_hands_one_by_one(cards):
    hands = hand_of(list(combinations(range(NUM_CARDS), cards)))
    least = deadwood(hands)
    found = census(cards)
    assert found.counts.tolist() == np.bincount(least, minlength=99).tolist()
    assert found.unmelded == int((least == hand_points(hands)).sum())
    assert found.mean == pytest.approx(least.mean())
    assert found.deviation == pytest.approx(least.std())
    assert found.median == np.sort(least)[(len(least) - 1) // 2]
    assert found.most == least.max()
    assert found.up_to(5) == int((least <= 5).sum())


@pytest.mark.parametrize("cards", [5, 6])
def test_as_many_hands_are_counted_as_there_are(cards):
    assert census(cards).total == comb(NUM_CARDS, cards)


def test_hands_of_ten_in_order_stand_for_all_hands_of_ten():
    """Counted by the equal suits alone, without deadwood: 15,820,024,220 hands."""
    total = looked_at = 0
    for shape in shapes(10):
        left, right = halves(*shape[:2]), right_halves(*shape[2:])
        counts = partners(shape)
        looked_at += int(counts.sum())
        twice = np.concatenate([[0], np.cumsum(right.first == right.second)])
        one = (left.first == left.second).astype(int)
        # Right halves that begin with the left half's second suit are the last ones allowed.
        low = np.searchsorted(right.first, left.second, side="left")
        if shape[1] > shape[2]:
            low = counts
        for start, stop, middle in ((0 * low, low, 0), (low, counts, 2)):
            both = twice[stop] - twice[start]
            total += int((STANDS_FOR[one + middle + 4] * both).sum())
            total += int((STANDS_FOR[one + middle] * (stop - start - both)).sum())
    assert total == comb(NUM_CARDS, 10) == 15_820_024_220
    assert looked_at == 671_225_412


def test_ten_cards_of_one_suit():
    """Chunks of ten cards, few enough to be looked at one by one here."""
    chunk = next(each for each in chunks(10) if each.shape == (10, 0, 0, 0))
    ten = hand_of(list(combinations(range(13), 10)))
    assert count_chunk(chunk)[0].tolist() == (4 * np.bincount(deadwood(ten), minlength=99)).tolist()


def test_chunks_hold_every_left_half_once():
    for size in (1000, 20_000):
        found = chunks(5, size)
        assert len(found) == len(set(found))
        for shape in shapes(5):
            mine = [each for each in found if each.shape == shape]
            assert [each.start for each in mine[1:]] == [each.stop for each in mine[:-1]]
            assert mine[0].start == 0
            assert mine[-1].stop == len(partners(shape))


def test_a_census_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "census.npz"

    class StoppedError(Exception):
        pass

    def stop(what, counted, total):
        if counted > total / 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        census(5, out=path, size=5000, progress=stop)
    seen = []
    found = census(5, out=path, size=5000, progress=lambda what, done, total: seen.append(done))
    assert seen[0] > found.total / 2
    assert seen[-1] == found.total == comb(NUM_CARDS, 5)
    assert found.counts.tolist() == census(5).counts.tolist()


def test_two_processes_count_the_same():
    assert census(5, size=40_000, workers=2).counts.tolist() == census(5).counts.tolist()


def test_another_census_and_a_damaged_one_are_refused(tmp_path):
    path = tmp_path / "census.npz"
    census(3, out=path)
    with pytest.raises(ResultError, match="another census: cards is 3 there and 4 here"):
        census(4, out=path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ResultError, match="corrupt"):
        census(3, out=path)


@pytest.mark.parametrize("cards", [0, 12])
def test_so_many_cards_make_no_hand(cards):
    with pytest.raises(ValueError, match="1 to 11 are needed"):
        census(cards)
