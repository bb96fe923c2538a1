"""Chance: random numbers that are a function of their place alone."""

import itertools
import random

import numpy as np
import pytest
from positions import chi_square_p

from ginrummy_env.core.chance import (
    FirstGame,
    Purpose,
    RowRandom,
    bits,
    keys,
    mix,
    policy_keys,
    require_seed,
)

SPLITMIX_1234567 = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]
"""The first numbers of SplitMix64 from seed 1234567, as published with its reference program."""


def test_the_numbers_are_those_of_splitmix64():
    assert bits(np.uint64([1234567]), 5)[0].tolist() == SPLITMIX_1234567


def test_numbers_go_on_where_they_stopped():
    row_keys = keys(3, np.arange(4))
    whole = bits(row_keys, 9)
    assert (np.hstack([bits(row_keys, 4), bits(row_keys, 5, start=4)]) == whole).all()
    assert bits(row_keys, 0).shape == (4, 0)


def test_mixing_loses_nothing():
    """A bijection: different numbers stay different."""
    values = mix(np.arange(100_000, dtype=np.uint64))
    assert len(np.unique(values)) == 100_000


# Keys


def test_keys_broadcast():
    assert keys(1, 2, 3).shape == (1,)
    assert keys(1, np.arange(5)).shape == (5,)
    assert (keys(1, np.arange(5), 7)[3] == keys(1, 3, 7)).all()
    assert keys(np.arange(5), 7).dtype == np.uint64


def test_every_part_of_a_key_counts():
    """Seed and game, or game and deal, exchanged or moved by one: always another key."""
    near = np.arange(30)
    grid = keys(near[:, None, None].repeat(30, 1).repeat(30, 2).ravel(),
                near[None, :, None].repeat(30, 0).repeat(30, 2).ravel(),
                near[None, None, :].repeat(30, 0).repeat(30, 1).ravel())  # fmt: skip
    assert len(np.unique(grid)) == 30**3
    assert (
        len({int(keys(*parts)[0]) for parts in [(1,), (1, 0), (0, 1), (0, 0, 1), (1, 0, 0)]}) == 5
    )


def test_keys_take_numbers_of_any_size():
    assert keys(2**64 - 1) != keys(2**63 - 1)
    assert keys(np.uint64(5)) == keys(5) == keys(np.int8(5))


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1, np.int64(3), np.uint64(2**64 - 1)])
def test_seeds(seed):
    assert require_seed(seed) == int(seed)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "7", None, True, np.int8(-1)])
def test_what_is_no_seed(seed):
    with pytest.raises(ValueError, match=r"a whole number from 0 to 2\*\*64 - 1 is needed"):
        require_seed(seed)


# RowRandom


def test_a_row_draws_the_same_alone_and_in_a_batch():
    """Whatever the batch, its order and the shapes asked for."""
    row_keys = keys(5, np.arange(8))
    shapes = [(), (3,), (2, 5), (), (1,)]
    batch = RowRandom(row_keys)
    drawn = [batch.random((8, *shape)) for shape in shapes]
    order = [3, 0, 7]
    few = RowRandom(row_keys[order])
    for shape, numbers in zip(shapes, drawn, strict=True):
        assert (few.random((3, *shape)) == numbers[order]).all()
    for row in range(8):
        alone = RowRandom(row_keys[row : row + 1])
        for shape, numbers in zip(shapes, drawn, strict=True):
            assert (alone.random((1, *shape)) == numbers[row : row + 1]).all()


def test_a_row_never_draws_the_same_twice():
    rng = RowRandom(keys(0, np.arange(50)))
    numbers = np.concatenate([rng.random((50, 20)).ravel() for _ in range(10)])
    assert len(np.unique(numbers)) == 50 * 20 * 10


def test_like_a_generator():
    """A plain number for the size is allowed; numbers are float64 in [0, 1)."""
    numbers = RowRandom(keys(np.arange(1000))).random(1000)
    assert (numbers.shape, numbers.dtype) == ((1000,), np.float64)
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert RowRandom(np.uint64([5])).random((1, 0)).shape == (1, 0)


@pytest.mark.parametrize("size", [(), (2,), 4, (4, 3), (0, 3)])
def test_the_first_dimension_is_the_rows(size):
    rng = RowRandom(keys(np.arange(3)))
    with pytest.raises(ValueError, match="the first dimension must be 3") as error:
        rng.random(size)
    assert f"size={size}" in str(error.value)


@pytest.mark.parametrize("axis", ["rows", "draws"])
def test_numbers_are_uniform(axis):
    """Along the rows (neighbouring keys) and along the draws of one key, in 100 equal bins."""
    shape = (100_000, 1) if axis == "rows" else (1, 100_000)
    numbers = RowRandom(keys(1, np.arange(shape[0]))).random(shape).ravel()
    counts = np.bincount((numbers * 100).astype(int), minlength=100)
    assert chi_square_p(counts, 1000) > 1e-4


def test_neighbouring_rows_and_draws_have_nothing_in_common():
    numbers = RowRandom(keys(1, np.arange(2000))).random((2000, 20))
    for one, other in ((numbers[1:], numbers[:-1]), (numbers[:, 1:], numbers[:, :-1])):
        correlation = np.corrcoef(one.ravel(), other.ravel())[0, 1]
        assert abs(correlation) < 4 / np.sqrt(one.size)


def test_the_global_generators_play_no_part():
    """Neither read nor changed."""

    def draw():
        return RowRandom(keys(9, np.arange(4))).random((4, 4)).tolist()

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    first = draw()
    states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert draw() == first
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    draw()
    assert states == (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002


def _unmixed(value):
    """Undo `mix`, number by number."""

    def unshifted(z, shift):
        found = z
        for _ in range(64 // shift):
            found = z ^ (found >> shift)
        return found

    z = unshifted(int(value), 31)
    z = unshifted(z * pow(0x94D049BB133111EB, -1, 2**64) % 2**64, 27)
    return unshifted(z * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64, 30)


def _seed_behind(key, *parts):
    """Undo `keys`: what stood between purpose and parts, if the key was made by `keys` alone."""
    gamma = 0x9E3779B97F4A7C15
    inverse = pow(gamma, -1, 2**64)
    for part in reversed(parts):
        key = ((_unmixed(key) - gamma) * inverse % 2**64) ^ part
    found = (_unmixed(key) - gamma) * inverse % 2**64
    return found ^ int(keys(Purpose.MATCH)[0])


def test_the_numbers_of_policies_do_not_tell_the_seed():
    for seed in [0, 1, 7, 12345, 2**40 - 1, 2**64 - 1]:
        assert _seed_behind(keys(Purpose.MATCH, np.uint64(seed), 6)[0], 6) == seed
        assert _seed_behind(policy_keys(Purpose.MATCH, np.uint64(seed), 6)[0], 6) != seed


def test_policy_keys_depend_on_every_part_and_not_on_the_batch():
    seeds = np.uint64([[3], [4]])
    table = policy_keys(Purpose.MATCH, seeds[:, 0], 5)
    assert len({*table.tolist(), *policy_keys(Purpose.HINTS, np.uint64([3, 4]), 5).tolist()}) == 4
    assert policy_keys(Purpose.MATCH, 4, 5)[0] == table[1]


def test_no_two_uses_of_game_numbers_come_near_each_other():
    """2**58 games each: an environment's take 2**26 rows of 2**32 episodes."""
    firsts = sorted(FirstGame)
    assert all(after - first >= 2**58 for first, after in itertools.pairwise([*firsts, 2**64]))
    assert firsts[0] == FirstGame.MATCH == 0
