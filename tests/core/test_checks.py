"""Checks of values from outside: what is a whole number, a number, a flag."""

import numpy as np
import pytest

from ginrummy_env.core.checks import did_you_mean, flag, one_of, quoted, real, whole, whole_numbers
from ginrummy_env.core.game import new_games, restart
from ginrummy_env.core.rules import CLASSIC, Rules
from ginrummy_env.records.data import Annotation, DealRecord, GameRecord

INTEGRALS = [int, np.int8, np.uint8, np.int64, np.uint64, lambda n: np.array(n, dtype=np.int16)]


@pytest.mark.parametrize("of", INTEGRALS)
def test_every_integral_is_a_whole_number(of):
    """One value means the same in every integer type, and is kept as a plain int."""
    assert type(whole("x", of(5), 0, 9)) is int
    rules = Rules(target=of(50), turn_bound=of(20))
    assert rules == Rules(target=50, turn_bound=20)
    assert rules.to_dict() == {"target": 50, "turn_bound": 20}
    assert type(rules.target) is int
    assert new_games(of(5), of(2), rules).seed.tolist() == [5, 5]
    deal = DealRecord(
        number=of(1), dealer=of(0), deck=map(of, range(52)), actions=[of(106)],
        annotations=[Annotation(step=of(0), values=[(of(106), np.float32(0.5))])],
    )  # fmt: skip
    record = GameRecord(
        rules=rules, deals=[deal], seed=of(5), game_number=of(1), start_scores=(of(3), of(4))
    )
    again = DealRecord(
        number=1, dealer=0, deck=range(52), actions=[106],
        annotations=[Annotation(step=0, values=[(106, 0.5)])],
    )  # fmt: skip
    plain = GameRecord(rules=rules, deals=[again], seed=5, game_number=1, start_scores=(3, 4))
    assert record == plain
    assert repr(record) == repr(plain)


@pytest.mark.parametrize(
    "wrong",
    [
        True,
        np.True_,
        np.array(True),
        2.0,
        np.float64(2),
        "2",
        None,
        np.array([2]),
        10,
        -1,
    ],
)
def test_what_is_no_whole_number_is_refused(wrong):
    with pytest.raises(ValueError, match=r"x=.*: a whole number from 0 to 9, or None, is needed"):
        whole("x", wrong, 0, 9, or_="None")
    with pytest.raises(ValueError, match="dealer="):
        DealRecord(number=0, dealer=wrong, deck=range(52), actions=[])


@pytest.mark.parametrize(
    "wrong", [True, "1", None, np.nan, np.inf, -np.inf, np.float32(1.5), -0.1, [0.5]]
)
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(ValueError, match=r"alpha=.*: a number from 0 to 1 is needed"):
        real("alpha", wrong, 0, 1)


def test_numbers_without_bounds_are_finite():
    assert [real("x", value) for value in (3, np.float32(0.5), np.array(-2.0))] == [3, 0.5, -2]
    with pytest.raises(ValueError, match="x=nan: a finite number is needed"):
        real("x", np.nan)
    with pytest.raises(ValueError, match="x=-1: a number from 0 is needed"):
        real("x", -1, 0)


def test_arrays_of_whole_numbers():
    assert whole_numbers("seed", [], 0, 9, np.uint64).dtype == np.uint64
    top = 2**64 - 1
    assert whole_numbers("seed", [top, 0], 0, top, np.uint64).tolist() == [top, 0]
    for wrong in ([0.5], [True], ["1"], [None], [-1], [2**64]):
        with pytest.raises(ValueError, match=r"seed=.*: a whole number from 0 to 2\*\*64 - 1 is"):
            whole_numbers("seed", wrong, 0, top, np.uint64)


def test_a_restart_of_no_rows_takes_empty_lists():
    state = new_games(1, 2, CLASSIC)
    restart(state, [], [], [], CLASSIC, dealers=[])
    assert state.game_number.tolist() == [0, 1]


def test_flags_and_choices():
    assert [flag("x", value) for value in (True, np.False_, np.array(True))] == [True, False, True]
    for wrong in (1, 0, "yes", None, np.int8(1)):
        with pytest.raises(ValueError, match=r"x=.*: True or False is needed"):
            flag("x", wrong)
    for wrong in (None, ["win"], 1, "Win", "loss"):
        with pytest.raises(ValueError, match=r"reward=.*: one of 'win', 'points' is needed"):
            one_of("reward", wrong, ("win", "points"))
    assert did_you_mean(3, ["gold"]) == did_you_mean("zzz", ["gold"]) == ""


def test_long_values_are_shortened_in_errors():
    assert len(quoted("x" * 10**6)) < 70
    assert len(quoted(list(range(10**4)))) < 70
    with pytest.raises(ValueError, match="x=a whole number of more than 60 digits: a whole"):
        whole("x", 10**5000, 0, 9)
    assert quoted(-(10**5000)) == "a whole number of more than 60 digits"
