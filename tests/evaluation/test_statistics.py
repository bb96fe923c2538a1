"""Intervals and ratings against slow arithmetic, and how often they hold the truth."""

import numpy as np
import pytest

from ginrummy_training.statistics import ELO, Estimate, bradley_terry, mean, share

PAIR_RESULTS = np.array([0, 1, 2])


def test_share_by_hand():
    """Four pairs, 5 of 8 games won; with a pair won and one lost added 7 of 12, on 6 pairs."""
    won = [2, 2, 1, 0]
    estimate = share(won, [2, 2, 2, 2])
    assert estimate.value == 5 / 8
    added = np.array([*won, 2, 0]) / 2
    error = added.std(ddof=1) / np.sqrt(6)
    t = 2.570581836  # of 5 degrees of freedom, from a table
    assert estimate.low == pytest.approx(7 / 12 - t * error)
    assert estimate.high == pytest.approx(min(7 / 12 + t * error, 1))


def test_mean_by_hand():
    """With one number a pair it is the mean and its usual interval."""
    numbers = np.array([3.0, 5, 4, 8, 1])
    estimate = mean(numbers, np.ones(5))
    half = 2.776445105 * numbers.std(ddof=1) / np.sqrt(5)
    assert estimate == Estimate(
        pytest.approx(4.2), pytest.approx(4.2 - half), pytest.approx(4.2 + half)
    )


def test_of_nothing_there_is_no_share():
    estimate = share([0, 0], [0, 0])
    assert estimate.to_dict() == {"value": None, "low": None, "high": None}
    assert np.isnan(mean([0], [0]).value)


def test_a_single_pair_has_a_value():
    assert mean([6], [2]).to_dict() == {"value": 3.0, "low": None, "high": None}
    assert share([2], [2]).value == 1


def test_pairs_that_all_end_alike_are_not_exact():
    every, half = share([2] * 50, [2] * 50), share([1] * 50, [2] * 50)
    assert every.value == every.high == 1
    assert 0.9 < every.low < 0.97
    assert half.low < 0.5 < half.high


def test_two_games_of_a_pair_are_one_observation():
    """Fifty pairs won or lost whole say as much as fifty games, not as a hundred."""
    whole = share([2, 0] * 25, [2] * 50)
    apart = share([1] * 50 + [2, 0] * 25, [2] * 100)
    assert whole.high - whole.low == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(50), rel=0.1)
    assert apart.high - apart.low < 0.6 * (whole.high - whole.low)


@pytest.mark.parametrize("pairs", [25, 100, 400])
@pytest.mark.parametrize(
    "chances",
    [(0.25, 0.5, 0.25), (0.4, 0.2, 0.4), (0.1, 0.3, 0.6), (0.02, 0.18, 0.8), (0.0, 0.02, 0.98)],
)
def test_the_interval_of_games_holds_the_truth(pairs, chances):
    """In 95 % of matches, or in more where nearly all pairs end alike."""
    rng = np.random.default_rng(3)
    truth = np.dot(chances, PAIR_RESULTS) / 2
    won = rng.choice(PAIR_RESULTS, p=chances, size=(1500, pairs))
    held = np.mean([inside(share(row, np.full(pairs, 2)), truth) for row in won])
    extreme = chances[0] < 0.05
    assert 0.935 <= held <= (1.0 if extreme else 0.97)


def test_the_interval_of_deals_holds_the_truth():
    """Games differ in length, and a pair's deals share an advantage."""
    rng = np.random.default_rng(4)
    truth, held = 0.55, []
    for _ in range(1500):
        deals = rng.integers(8, 30, size=200)
        advantage = np.clip(rng.normal(truth, 0.08, size=200), 0, 1)
        held.append(inside(share(rng.binomial(deals, advantage), deals), truth))
    assert 0.935 <= np.mean(held) <= 0.965


def test_the_interval_of_points_holds_the_truth():
    """Skewed points, summed over a number of deals that differs by pair."""
    rng = np.random.default_rng(5)
    held = []
    for _ in range(1500):
        deals = rng.integers(8, 30, size=200)
        held.append(inside(mean(rng.gamma(deals * 0.6, 15.0), deals), 9.0))
    assert 0.935 <= np.mean(held) <= 0.965


def inside(estimate, truth):
    return estimate.low <= truth <= estimate.high


def wins_between(rng, strengths, pairs, luck=0.0):
    """Games won in a round robin; ``luck``: how much a deck helps an agent in all its games."""
    count = len(strengths)
    wins = np.full((count, count, pairs), np.nan)
    favour = luck * rng.normal(size=(count, pairs))
    for i in range(count):
        for j in range(i + 1, count):
            odds = strengths[i] - strengths[j] + favour[i] - favour[j]
            wins[i, j] = rng.binomial(2, 1 / (1 + np.exp(-odds)))
            wins[j, i] = 2 - wins[i, j]
    return wins


def test_the_rating_of_two_agents_is_their_log_odds():
    wins = np.full((2, 2, 50), np.nan)
    wins[0, 1] = [2] * 30 + [1] * 10 + [0] * 10
    wins[1, 0] = 2 - wins[0, 1]
    fit = bradley_terry(wins, anchor=1)
    assert fit.ratings[1] == Estimate(0.0, 0.0, 0.0)
    assert fit.ratings[0].value == pytest.approx(ELO * np.log(72 / 32), abs=1e-2)
    assert fit.expected[0, 1] == pytest.approx(72 / 104, abs=1e-5)
    # The interval is that of the share, seen through the log odds.
    apart = share(wins[0, 1], np.full(50, 2))
    slope = ELO / (72 / 104 * 32 / 104)
    half = (fit.ratings[0].high - fit.ratings[0].low) / 2
    assert half == pytest.approx(slope * (apart.high - apart.low) / 2, rel=0.04)


def test_ratings_come_back_with_many_games():
    strengths = np.array([0.0, 0.3, -0.7, 1.2])
    wins = wins_between(np.random.default_rng(1), strengths, 20_000)
    fit = bradley_terry(wins)
    assert [r.value / ELO for r in fit.ratings] == pytest.approx(strengths.tolist(), abs=0.03)


@pytest.mark.parametrize("luck", [0.0, 1.0])
def test_the_intervals_of_ratings_hold_the_truth(luck):
    """Also where good cards for one agent help it in every pairing, as the decks are the same."""
    rng = np.random.default_rng(2)
    strengths = np.array([0.0, 0.4, -0.5])
    many = bradley_terry(wins_between(rng, strengths, 400_000, luck))  # what luck makes of them
    truth = [rating.value for rating in many.ratings]
    held = [
        [inside(r, t) for r, t in zip(fit.ratings[1:], truth[1:], strict=True)]
        for fit in (bradley_terry(wins_between(rng, strengths, 150, luck)) for _ in range(400))
    ]
    assert (np.mean(held, axis=0) >= 0.925).all()
    assert (np.mean(held, axis=0) <= 0.975).all()


def test_who_loses_every_game_has_a_finite_rating_and_a_wide_interval():
    wins = wins_between(np.random.default_rng(1), np.zeros(3), 200)
    wins[:2, 2], wins[2, :2] = 2, 0
    last = bradley_terry(wins).ratings[2]
    assert -1500 < last.value < -500
    assert last.high - last.low > 150


def test_pairings_that_were_not_played_do_not_count():
    wins = wins_between(np.random.default_rng(1), np.array([0.0, 0.5, 1.0]), 4000)
    wins[0, 2] = wins[2, 0] = np.nan
    assert bradley_terry(wins).ratings[2].value / ELO == pytest.approx(1.0, abs=0.1)
