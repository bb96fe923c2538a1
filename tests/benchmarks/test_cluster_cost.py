"""The cost of a run on a cluster: the closed form agrees with the simulated cluster."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cluster import figure, measure
from benchmarks.cluster.cost import ClusterRun, games_for, half_width, plans, table
from benchmarks.cluster.simulate import simulate
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_summary import games_won, won_by_pair

PLAIN = ClusterRun(
    seconds_a_game=0.01,
    workers=40,
    overhead=0,
    spread=0,
    hours_to_failure=1e9,
    start=10,
    merge=0,
    merge_a_game=0,
)
"""Equal workers that never fail."""

PLANS = {
    "plain": PLAIN,
    "overhead": replace(PLAIN, overhead=5.0),
    "stragglers": replace(PLAIN, spread=0.4, workers=200),
    "failures": replace(PLAIN, hours_to_failure=0.2, repair=300.0),
    "busy driver": replace(PLAIN, merge=0.8),
    "all": ClusterRun(
        seconds_a_game=0.02, workers=60, spread=0.3, hours_to_failure=1.0, repair=200.0
    ),
    "one worker": replace(PLAIN, workers=1, spread=0.0),
}


def runs(plan, games, times=6):
    return [simulate(plan, games, np.random.default_rng(seed)) for seed in range(times)]


@pytest.mark.parametrize("name", PLANS)
def test_the_model_agrees_with_the_simulation(name):
    """Within 3 %, with a hundred ranges a worker."""
    plan = PLANS[name]
    games = 100 * plan.workers * plan.games_a_range
    mean = np.mean([run.seconds for run in runs(plan, games)])
    assert plan.seconds_for(games) == pytest.approx(mean, rel=0.03)


@pytest.mark.parametrize("name", ["plain", "stragglers", "all"])
def test_short_runs_agree_less_well(name):
    """Within 15 %, with three ranges a worker: the end is a third of the run."""
    plan = PLANS[name]
    games = 3 * plan.workers * plan.games_a_range
    mean = np.mean([run.seconds for run in runs(plan, games, times=20)])
    assert plan.seconds_for(games) == pytest.approx(mean, rel=0.15)


@pytest.mark.parametrize("name", PLANS)
def test_games_in_a_time_take_that_time(name):
    plan = PLANS[name]
    assert plan.seconds_for(plan.games_in(7200)) == pytest.approx(7200, rel=0.01)


def test_equal_workers_without_failures_take_the_time_of_their_work():
    assert PLAIN.games_a_range == 2000
    (run,) = runs(PLAIN, 400 * 2000, times=1)  # ten ranges each
    assert run.seconds == pytest.approx(10 + 10 * 20)
    assert run.busy == pytest.approx(1)
    assert (run.ranges, run.lost) == (400, 0)


def test_what_is_lost_is_played_again():
    plan = PLANS["failures"]
    for run in runs(plan, 50 * plan.workers * plan.games_a_range, times=3):
        assert run.ranges == 50 * plan.workers
        assert run.lost > 10
        assert run.busy < 0.8


def test_failures_stragglers_and_short_ranges_cost_time():
    games = 10**6
    for worse in (
        {"overhead": 3.0},
        {"hours_to_failure": 0.5},
        {"merge": 1.0},
        {"start": 100.0},
        {"workers": 20},
    ):
        assert replace(PLAIN, **worse).seconds_for(games) > 1.1 * PLAIN.seconds_for(games)
    short = replace(PLAIN, overhead=1.5, range_seconds=3.0)
    assert short.ranges_a_second * short.games_a_range == pytest.approx(4000 * 0.5)


def test_a_driver_that_is_too_slow_sets_the_pace():
    # 40 workers end two ranges of 2,000 games a second
    assert replace(PLAIN, merge=1.0).ranges_a_second == 1.0
    assert replace(PLAIN, merge_a_game=0.0005).ranges_a_second == 1.0


def test_games_for_an_interval_are_those_that_have_it():
    """The same numbers as `summary.games_won` of a match that has been played."""
    result = play_match("simple", "gold", games=800, seed=3, rules="eaai")
    deviation = (won_by_pair(result) / 2).std(ddof=1)
    won = games_won(result)
    half = (won.high - won.low) / 2
    assert half_width(deviation, 800) == pytest.approx(half, rel=0.02)
    assert games_for(deviation, half) == pytest.approx(800, rel=0.04)


MEASURED = {
    "merge_a_game": 1e-6,
    "agents": {
        "champion": {"overhead": 2.0, "seconds_a_game": 0.003, "pair_deviation": 0.25},
        "search:64": {"overhead": 1.0, "seconds_a_game": 0.4, "pair_deviation": None},
    },
    "ranges": [
        {"seconds_a_range": 1.0, "beside_it": 0.01, "driver_cpu": 0.005},
        {"seconds_a_range": 3.0, "beside_it": 0.02, "driver_cpu": 0.007},
        {"seconds_a_range": 9.0, "beside_it": 0.06, "driver_cpu": 0.013},
    ],
}


def test_plans_are_made_of_what_was_measured():
    plan, deviation = plans(MEASURED, 100)["search:64"]
    assert (plan.seconds_a_game, plan.workers) == (0.4, 100)
    assert plan.merge == pytest.approx(0.004)
    assert plan.overhead == pytest.approx(1.02)
    assert deviation == 0.25  # that of the others: its own was not measured


def test_the_table_says_what_a_night_gives():
    head, champion, search = table(MEASURED, 1000, 8 * 3600, 0.002)
    assert len(head) == len(champion) == len(search)
    row = dict(zip(head, champion, strict=True))
    assert row["games for ±"] == "120,046"
    assert row["CPU h"] == "0.10"
    games = plans(MEASURED, 1000)["champion"][0].games_in(8 * 3600)
    assert row["games"] == f"{games / 1e6:,.1f} M"
    assert 0.7 < games * 0.003 / (1000 * 8 * 3600) < 0.95


def test_the_cost_is_a_picture(tmp_path, monkeypatch):
    from matplotlib.image import imread

    monkeypatch.setattr(figure, "SECONDS", 300.0)
    figure.draw(MEASURED, 20, 0.002, tmp_path / "scale.png")
    picture = imread(tmp_path / "scale.png")
    assert min(picture.shape[:2]) > 400
    assert np.ptp(picture) > 0.5


def test_costs_are_the_line_through_what_was_measured():
    slope, start = measure.fit((10, 100, 1000), (2.1, 3.0, 12.0))
    assert slope == pytest.approx(0.01)
    assert start == pytest.approx(2.0)


def test_games_to_be_measured_are_cut_into_ranges():
    ranges = measure.Timed.of(measure.jobs_of(20, seed=1), 8)
    sizes = []
    while (part := ranges.cut(1)) is not None:
        sizes.append(len(part.job.games))
        ranges.timed(part, 0.5)
    assert sizes == [8, 8, 4]
    assert ranges.took == [0.5] * 3
