"""The benchmarks measure what they say: counts, ratios, names."""

import pytest

from benchmarks import core, registry, report, timing
from benchmarks.__main__ import main
from benchmarks.registry import Benchmark, Goal, Measured, Measurement
from benchmarks.report import Results
from benchmarks.timing import Slice, Timing, Work
from ginrummy_env.core.rules import CLASSIC
from ginrummy_env.core.settlement import settle


def timing_of(*rates):
    return Timing([Slice(amount=rate, deals=0, cpu=1.0, wall=2.0) for rate in rates])


def test_names_are_unique_and_goals_name_what_exists():
    entries = registry.entries()
    by_name = {entry.name: entry for entry in entries}
    assert len(by_name) == len(entries)
    for entry in entries:
        for other in registry.compared_with(entry):
            assert by_name[other].track == entry.track, f"{entry.name}: {other} has another track"
            assert by_name[other].unit == entry.unit


def test_only_takes_modules_names_and_patterns():
    names = {entry.name for entry in registry.entries(["deadwood/1*"])}
    assert names == {"deadwood/10", "deadwood/11-discards", "openspiel/deadwood"}
    assert {entry.track for entry in registry.entries(["peers"])} == {"random play", "deadwood"}
    with pytest.raises(ValueError, match="nothing"):
        registry.entries(["core", "nothing"])


def test_a_slice_lasts_as_long_as_asked_and_counts_all_work():
    calls = []

    def work():
        calls.append(sum(range(1000)))
        return Work(3, 1)

    one = timing.run_slice(work, 0.01)
    assert one.cpu >= 0.01
    assert (one.amount, one.deals) == (3 * len(calls), len(calls))
    assert one.rate == one.amount / one.cpu


def test_contenders_take_turns_and_the_warm_up_is_not_counted():
    timings = {}
    contenders = {"a": lambda: Work(1), "b": lambda: Work(1)}
    names = list(timing.measure(contenders, seconds=1e-4, rounds=3, timings=timings))
    assert names == ["a", "b", "a", "b", "b", "a", "a", "b"]
    assert [len(timings[name].slices) for name in "ab"] == [3, 3]


def test_a_ratio_is_taken_within_each_round():
    """A machine that halves its speed between rounds changes the rates, not the ratio."""
    assert timing.ratio(timing_of(30, 15, 60), timing_of(10, 5, 20)) == (3, 3, 3)
    assert timing_of(30, 15, 60).rate == 30
    assert timing_of(30, 15, 60).wall_rate == 15
    assert timing_of(30, 15, 60).cpu_share == 0.5


def test_goals_are_judged_by_ratio_rate_and_value():
    fast = Benchmark(
        name="fast",
        track="t",
        unit="steps",
        make=lambda seed: lambda: Work(1),
        goals=(Goal(value=3, than="slow"), Goal(value=100)),
        compare=("absent",),
    )
    slow = Benchmark(name="slow", track="t", unit="steps", make=fast.make)
    size = Measurement(
        name="size",
        track="t",
        unit="bytes",
        work_out=lambda seed: Measured(900),
        goals=(Goal(value=1024, at_most=True),),
    )
    results = Results([fast, slow, size])
    results.timings = {"fast": timing_of(30, 33), "slow": timing_of(10, 10)}
    results.measured = {"size": Measured(900)}
    verdicts = [
        (c.than, c.reached) for entry in results.entries for c in results.comparisons(entry)
    ]
    assert verdicts == [("slow", True), (None, False), (None, True)]
    record = report.to_json(results, command=["--quick"], seed=3, settings={})
    assert [entry["name"] for entry in record["results"]] == ["fast", "slow", "size"]
    assert record["command"] == "python -m benchmarks --quick"


def test_a_missing_package_names_the_extra_that_brings_it():
    with pytest.raises(registry.MissingExtraError, match=r"absent-package.*\[bench\]"):
        registry.require("absent_package", "absent-package")


@pytest.mark.parametrize("observed", [None, "raw", "derived"])
def test_random_play_goes_on_deal_after_deal_and_counts_decisions(observed):
    work = core.random_play(0, 16, observed)
    done = [work() for _ in range(4)]
    assert all(one.amount == 16 * core.STEPS_A_CALL for one in done)
    assert sum(one.deals for one in done) > 16


def test_all_knocks_that_are_settled_again_come_out_as_before():
    state, rows = core.knocked_deals(0, 200)
    assert len(rows) == 200
    before = state.copy()
    settle(state, rows, CLASSIC)
    assert (state.points[rows] == before.points[rows]).all()
    assert (state.outcome[rows] == before.outcome[rows]).all()


def test_the_command_line_prints_and_writes_a_run(tmp_path, capsys):
    file = tmp_path / "run.json"
    arguments = ["--only", "bytes a game", "--seconds", "0.01", "--rounds", "2"]
    assert main([*arguments, "--out", str(file)]) == 0
    assert "bytes a game" in capsys.readouterr().out
    assert '"command": "python -m benchmarks --only' in file.read_text(encoding="utf-8")
    assert str(tmp_path) not in file.read_text(encoding="utf-8")
