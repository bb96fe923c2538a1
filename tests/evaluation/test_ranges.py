"""Ranges of games: all games once, of one pairing each, as long as they should be."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ginrummy_env.core.rules import EAAI
from ginrummy_env.policy import make_policy
from ginrummy_training.evaluation.lockstep import Games
from ginrummy_training.evaluation.processes import play_games
from ginrummy_training.evaluation.ranges import FIRST_GAMES, RANGE_SECONDS, Job, Ranges

PAIRINGS = [(0, 1), (0, 2), (2, 1)]
NAMES = ("simple", "gold", "heuristic")


def job(counts):
    """So many games of each pairing, numbered from 10."""
    games = Games(
        np.repeat(np.arange(len(counts)), counts),
        np.concatenate([np.arange(10, 10 + count) for count in counts]),
        np.repeat(np.int8(PAIRINGS[: len(counts)]), counts, axis=0),
    )
    return Job(NAMES, games, EAAI, 3, 1000, 4096)


def cut_all(ranges, workers=2, seconds=None):
    """Cut until nothing is left; each range takes its games times `seconds`, if given."""
    parts = []
    while (part := ranges.cut(workers)) is not None:
        parts.append(part)
        if seconds is not None:
            ranges.timed(part, seconds * len(part.job.games))
    return parts


@given(
    counts=st.lists(st.integers(1, 400), min_size=1, max_size=3),
    size=st.none() | st.integers(1, 500),
    workers=st.integers(1, 9),
    seconds=st.none() | st.floats(1e-4, 100),
)
def test_every_game_is_in_one_range_with_its_two_agents(counts, size, workers, seconds):
    whole = job(counts)
    parts = cut_all(Ranges.of([whole], size), workers, seconds)
    for part in parts:
        assert (part.job.games.match == part.match).all()
        a, b = PAIRINGS[part.match]
        assert part.job.agents == (NAMES[a], NAMES[b])
        assert (part.job.games.agents == [0, 1]).all()
        assert (part.job.rules, part.job.seed) == (EAAI, 3)
    for name in ("match", "number"):
        cut = np.concatenate([getattr(part.job.games, name) for part in parts])
        assert cut.tolist() == getattr(whole.games, name).tolist()


def test_a_size_that_is_asked_for_is_kept():
    parts = cut_all(Ranges.of([job([70, 30])], size=30), seconds=9.0)
    assert [len(part.job.games) for part in parts] == [30, 30, 10, 30]


def test_a_range_takes_its_time_once_the_pairing_has_been_timed():
    ranges = Ranges.of([job([100_000, 1000])])
    first = ranges.cut(workers=2)
    assert len(first.job.games) == FIRST_GAMES
    ranges.timed(first, seconds=10.0)
    assert len(ranges.cut(workers=2).job.games) == FIRST_GAMES / 10 * RANGE_SECONDS


def test_a_slow_agents_range_has_few_games_but_never_none():
    ranges = Ranges.of([job([1000])])
    ranges.timed(ranges.cut(workers=2), seconds=FIRST_GAMES * 2 * RANGE_SECONDS)
    assert len(ranges.cut(workers=2).job.games) == 1


def test_at_the_end_nobody_has_a_long_range():
    """What is left is shared, down to ranges that take hardly longer than a game."""
    ranges = Ranges.of([job([10_000])])
    ranges.timed(ranges.cut(workers=4), seconds=0.1)
    sizes = [len(part.job.games) for part in cut_all(ranges, workers=4)]
    assert sizes[0] == 9900 / 4
    assert all(small <= large for large, small in itertools.pairwise(sizes))
    assert sizes[-2] == FIRST_GAMES
    assert 4 * sizes[10] <= sizes[0]


def test_a_lost_range_comes_next():
    ranges = Ranges.of([job([50])], size=20)
    first, second = ranges.cut(1), ranges.cut(1)
    ranges.lost.append(first)
    assert ranges.cut(1) is first
    assert ranges.cut(1).job.games.number[0] == second.job.games.number[-1] + 1


def test_a_range_says_which_games_it_has():
    assert str(Ranges.of([job([50])], size=20).cut(1)) == "games 10 to 29 of match 0"


class Sleeper:
    """Plays as `gold`, and lets others have the processor meanwhile."""

    def act(self, view, rng):
        time.sleep(0.01)
        return make_policy("gold").act(view, rng)


class Rememberer(Sleeper):
    """The same, by the part of the protocol that programs have."""

    def act_at(self, seats, view, rng):
        return self.act(view, rng)

    def deals_over(self, seats, view):
        pass

    def games_over(self, seats, view):
        pass

    def forfeit_reason(self, seat):
        return ""


@pytest.mark.parametrize("policy", [Sleeper(), Rememberer()])
def test_a_busy_machine_does_not_make_ranges_small(policy):
    """A range takes its time on the processor, but the clock's if a program may be at work."""
    games = Games(np.zeros(2, int), np.arange(2), np.zeros((2, 2), dtype=np.int8))
    start = time.perf_counter()
    seconds, _ = play_games(Job((policy,), games, replace(EAAI, target=10), 3, 3, 2))
    waited = time.perf_counter() - start
    assert (seconds > 0.9 * waited) == isinstance(policy, Rememberer)
