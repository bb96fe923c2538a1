"""Published experiments done again: the verdicts, what is kept, and what is counted."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from ginrummy_env.core.cards import hand_of, parse_hand
from ginrummy_env.core.rules import EAAI
from ginrummy_training.cli.main import main
from ginrummy_training.evaluation import processes
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_result import Match
from ginrummy_training.evaluation.match_summary import games_won
from ginrummy_training.experiments import deals, games, plots, report
from ginrummy_training.experiments.catalogue import EXPERIMENTS, run
from ginrummy_training.experiments.deals import Ends, balance, by_hand, deal_ends, dealt_hands
from ginrummy_training.experiments.lab import Lab, read_measured
from ginrummy_training.experiments.rows import (
    NOT_EXPLAINED,
    Measured,
    Printed,
    Reference,
    make_row,
    verdict,
)
from ginrummy_training.provenance import fingerprints
from ginrummy_training.statistics import Estimate
from ginrummy_training.storage import ResultError

FAST = ("E1", "E3", "E4", "E5", "E8", "E11", "E12", "census")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="module")
def rows(folder):
    return run(Lab(folder, fast=True), FAST)


def ours(value, half):
    return Estimate(value, value - half, value + half)


@pytest.mark.parametrize(
    ("value", "half", "reference", "word"),
    [
        pytest.param(60.0, 0.6, Reference(59.8, 0.8), "reproduced", id="within both intervals"),
        pytest.param(60.7, 0.6, Reference(59.8, 0.8), "reproduced", id="by a hair"),
        pytest.param(60.9, 0.6, Reference(59.8, 0.8), "differs", id="intervals overlap, but"),
        pytest.param(58.7, 0.6, Reference(59.8, 0.8), "differs", id="below"),
        pytest.param(52.0, 0.5, Reference(53.0, 0.5, "rounding"), "differs", id="two digits"),
        pytest.param(52.4, 0.5, Reference(53.0, 0.5, "rounding"), "reproduced", id="rounded"),
        pytest.param(1584, 0, Reference(1584, 0, "exact"), "reproduced", id="exact"),
        pytest.param(1583, 0, Reference(1584, 0, "exact"), "differs", id="exact, one less"),
    ],
)
def test_numbers_agree_if_the_interval_of_their_difference_holds_0(value, half, reference, word):
    found = verdict(ours(value, half), reference)
    assert found.word == word
    assert found.difference == pytest.approx(value - reference.value)
    assert found.half == pytest.approx(np.hypot(half, reference.half))


def test_a_printed_number_gets_the_interval_of_its_games():
    reference = Reference(90.28, games=12_000, kind="games")
    assert reference.half_beside(ours(90, 0.4), 48_000) == pytest.approx(0.8)
    assert reference.half_beside(ours(90, 0.4), 12_000) == pytest.approx(0.4)


def test_the_verdict_is_about_print_or_else_about_the_check():
    measured = Measured("a – b", None, 60.0, 59.4, 60.6, 100)

    def row(**given):
        return make_row("E0", "%", "k", 1, measured, Printed("a – b", None, **given))

    far, near = Reference(70, 1), Reference(60.5, 1)
    both = row(published=far, check=near, why="greedy lay-off")
    assert (both.against, both.verdict, both.check_verdict) == ("print", "differs", "reproduced")
    assert both.note == "greedy lay-off"
    checked = row(check=near, why="greedy lay-off")
    assert (checked.against, checked.verdict, checked.note) == ("check", "reproduced", "")
    assert row(check=far).note == NOT_EXPLAINED
    alone = make_row("E0", "%", "k", 1, measured, None)
    assert (alone.against, alone.verdict, alone.note) == ("", "", "")


def test_every_published_number_has_ours_beside_it(monkeypatch, rows):
    """At full settings; the matches are not played."""
    measured = {name: set() for name in EXPERIMENTS}

    def note(lab, name, seed, pairings, **given):
        measured[name] |= {(p.series + added, p.x) for p in pairings for added, _ in p.numbers}
        return []

    monkeypatch.setattr(games, "play", note)
    for row in rows:
        if row.experiment in ("E5", "E8", "E11", "census"):
            measured[row.experiment].add((row.series, row.x))
    for name, experiment in EXPERIMENTS.items():
        if experiment.measure.__module__ == games.__name__:
            experiment.measure(Lab(), 0)
        assert experiment.printed
        for printed in experiment.printed:
            assert (printed.series, printed.x) in measured[name], (name, printed)
            assert printed.published or printed.check


def test_experiments_are_played_on_decks_of_their_own():
    numbers = [each.number for each in EXPERIMENTS.values()]
    assert len(numbers) == len(set(numbers))


def test_a_row_is_the_match_that_it_says(rows):
    first = next(row for row in rows if row.experiment == "E1")
    rules = "eaai,target=20"
    result = play_match("heuristic", "simple", games=20, seed=first.seed, rules=rules)
    assert (result.table["winner"] >= 0).all()
    assert first.ours == pytest.approx(100 * games_won(result).value)
    points = next(row for row in rows if row.what == "heuristic – simple, points a game of simple")
    assert points.ours == pytest.approx(result.table["points_b"].mean())
    assert first.games == 20
    assert first.low < first.ours < first.high


def test_shares_of_games_are_of_games_that_somebody_won(rows):
    """A match of equals may end 10 : 10, but not most matches of these."""
    shares = [
        row.ours for row in rows if row.unit == "% of games" or row.what.endswith("games won %")
    ]
    assert len(shares) >= 5
    assert np.mean([share != 50 for share in shares]) > 0.5
    assert all(0 <= share <= 100 for share in shares)


def test_what_is_kept_is_not_measured_again(rows, folder, monkeypatch):
    def fail(*given, **named):
        raise AssertionError("played again")

    monkeypatch.setattr("ginrummy_training.experiments.lab.play_matches", fail)
    monkeypatch.setattr(deals, "deal_ends", fail)
    monkeypatch.setattr(deals, "census", fail)
    said = []
    again = run(Lab(folder, fast=True, say=said.append), FAST)
    assert again == rows
    assert said == []
    assert not list((folder / "games").glob("*"))  # what was interrupted would be there


def test_files_say_what_made_them(rows, folder):
    found = json.loads((folder / "E4.json").read_text())
    assert found["settings"]["matches"][0][:4] == ["", 0.0, "hein:0", "simple"]
    assert found["settings"]["seed"] == 404
    agents = ["hein:0", "hein:0.15", "hein:1", "simple"]
    assert found["settings"]["made_by"] == fingerprints(agents)
    assert found["command"] == "ginrummy experiments --only E4 --seed 400 --fast"
    assert set(found["versions"]) == {"ginrummy_env", "numpy", "python"}
    took = Lab(folder).took("E4")
    assert took["workers"] == 1
    assert took["seconds"] > 0
    assert took["processor_seconds"] > 0
    assert report.times(Lab(folder), ["E1", "E4"])["experiment"].tolist() == ["E1", "E4"]
    with pytest.raises(ResultError, match="E9: nothing of it is kept"):
        Lab(folder).took("E9")


def lab_with(tmp_path, said, value=1.0, force=False):
    made = []

    def make():
        made.append(value)
        return [Measured("s", None, value, value, value, 10)]

    lab = Lab(tmp_path, force=force, say=said.append)
    return made, lambda **settings: lab.kept("E0", settings, make)


def test_other_settings_or_agents_are_refused_unless_forced(tmp_path):
    said = []
    made, kept = lab_with(tmp_path, said)
    first = {"seed": 1, "made_by": fingerprints(["simple"])}
    kept(**first)
    kept(**first)
    assert (len(made), said) == (1, [])
    before = (tmp_path / "E0.json").read_bytes()
    for other, reason in (
        ({**first, "seed": 2}, "holds another experiment: seed is 1 there and 2 here"),
        ({**first, "made_by": fingerprints(["simple"], ["json"])}, "the code of the rules"),
    ):
        with pytest.raises(ResultError, match=f"{reason}.*--force"):
            kept(**other)
    assert (tmp_path / "E0.json").read_bytes() == before
    made, kept = lab_with(tmp_path, said, force=True)
    kept(**first)
    assert not made
    kept(seed=2)
    assert len(made) == 1
    assert "E0 is measured again" in said[0]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"settings": {}}', '{"measured": [{}]}'])
def test_a_corrupt_file_is_refused_unless_forced(tmp_path, content):
    said = []
    made, kept = lab_with(tmp_path, said)
    (tmp_path / "E0.json").write_text(content)
    with pytest.raises(ResultError, match=r"E0\.json: corrupt"):
        kept(games=10)
    assert (tmp_path / "E0.json").read_text() == content
    made, kept = lab_with(tmp_path, said, force=True)
    (found,) = kept(games=10)
    assert found.value == 1.0
    assert len(made) == len(said) == 1
    assert "corrupt" in said[0]
    assert read_measured(tmp_path / "E0.json") == [found]


def test_interrupted_matches_go_on(tmp_path, monkeypatch):
    """After the interruption games are on file, and the numbers are those of an unbroken run."""
    monkeypatch.setattr(processes, "REPORT_SECONDS", 0)  # games end one after another

    class StoppedError(Exception):
        pass

    def stop(name, done, total):
        if 0 < done < total:
            raise StoppedError

    with pytest.raises(StoppedError):
        games.e1(Lab(tmp_path, fast=True, progress=stop), 9)
    (kept,) = (tmp_path / "games").glob("E1-*")
    assert list(kept.glob("*.npz"))
    seen = []
    lab = Lab(tmp_path, fast=True, progress=lambda name, done, total: seen.append(done))
    assert games.e1(lab, 9) == games.e1(Lab(fast=True), 9)
    assert max(seen[:3]) > 0
    assert not kept.exists()


def test_deals_are_those_of_the_match():
    match = Match(("gold", "simple"), replace(EAAI, target=30), 12)
    ends = deal_ends(match, 20)
    table = play_match("gold", "simple", games=20, seed=12, rules=match.rules).table
    assert np.bincount(ends.game).tolist() == table["deals"].tolist()
    for agent, side in enumerate("ab"):
        won = ends.winner == agent
        assert np.bincount(ends.game, won).tolist() == table[f"deals_won_{side}"].tolist()
        assert (
            np.bincount(ends.game, won * ends.points).tolist() == table[f"points_{side}"].tolist()
        )
    assert (np.bitwise_count(ends.hands) == 10).all()
    apart = deal_ends(match, 20, workers=2)
    assert apart.hands.tolist() == ends.hands.tolist()


GIN = parse_hand("As 2s 3s 4h 5h 6h 9c 9d 9s 9h")
TEN = parse_hand("As 2s 3s 4h 5h 6h 9c 9d 9s Kh")
LOOSE = parse_hand("As 3s 5s 7s 9s Jh Kh 2d 4d 6d")  # 1 3 5 7 9 10 10 2 4 6: 57


def ends_of(*deals):
    """Each deal: game, hands of A and B, winner, points, who laid down."""
    game, a, b, winner, points, knocker = zip(*deals, strict=True)
    hands = np.array([a, b], dtype=np.uint64).T
    small = [np.array(each, dtype=np.int8) for each in (winner, knocker)]
    return Ends(np.array(game), hands, small[0], np.array(points, dtype=np.int16), small[1])


def test_the_score_by_the_hand_dealt_is_seen_from_both_seats():
    """E5: a void deal scores 0; melds are those of least deadwood."""
    ends = ends_of((0, TEN, LOOSE, 0, 47, 0), (1, LOOSE, GIN, 1, 82, 1), (2, TEN, LOOSE, -1, 0, -1))
    found = {(each.series, each.x): each for each in by_hand(ends, 2)}
    assert found["melds", 0].value == pytest.approx((-47 - 82 + 0) / 3)
    assert found["melds", 3].value == pytest.approx((47 + 82 + 0) / 3)
    assert found["deadwood", 0].value == 82
    assert found["deadwood", 10].value == pytest.approx(47 / 2)
    assert found["deadwood", 10].games == 2
    assert ("melds", 1) not in found


def test_a_run_of_six_is_two_melds_or_one():
    """E5: print counts it as two, the independent check as one."""
    hands = np.array([parse_hand(text) for text in (
        "As 2s 3s 4s 5s 6s 9c 9d 9s Kh",  # a run of six and a set
        "As 2s 3s 4s 5s 7s 8s 9s Kh Kd",  # two runs of one suit
        "Ts Js Qs Ah 2h 3h Kd Kc 5d 7c",  # runs at the ends of neighbouring suits
    )])  # fmt: skip
    melds, _ = deals.knocker_arrangement(hands, np.zeros_like(hands))
    assert (melds != deals.NO_MELD).sum(axis=1).tolist() == [3, 2, 2]
    assert deals.whole_melds(melds).tolist() == [2, 2, 2]


def test_the_pay_that_balances():
    """E11: gin is paid 1, a knock r, everyone else loses deadwood / 100."""
    ends = ends_of(
        (0, TEN, LOOSE, 0, 47, 0),  # A knocks: r and -0.57
        (1, LOOSE, GIN, 1, 82, 1),  # B gins: -0.57 and 1
        (2, TEN, LOOSE, 0, 47, 0),
        (3, LOOSE, TEN, -1, 0, -1),  # void: -0.57 and -0.1
    )
    found = {each.series: each.value for each in balance("gold", ends, 2)}
    assert found["knocks of gold a deal"] == 0.5
    assert found["pay of gold without r"] == pytest.approx((-0.57 - 0.57) / 4)
    assert found["pay of gold, gin only"] == pytest.approx((-0.57 + 1 - 0.57 - 0.1) / 4)
    r = found["r that balances, gold"]
    assert r == pytest.approx((-0.24 + 1.14) / 2)
    without, knocks = found["pay of gold without r"], found["knocks of gold a deal"]
    assert without + r * knocks == pytest.approx(found["pay of gold, gin only"])


def test_dealt_hands_are_ten_cards_of_the_non_dealer():
    """E8: cards go to the non-dealer first, then in turn."""
    hands = dealt_hands(5, 3)
    deck = deals.decks(5, np.arange(3), 0)
    assert hands.tolist() == hand_of(deck[:, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]]).tolist()


def test_the_balance_is_published_within_fast_intervals(rows):
    """Who always knocks earns more for every r from 0 to 1, even in 400 deals."""
    row = next(row for row in rows if row.series == "r that balances, simple")
    assert row.high < 0
    assert (row.verdict, row.check_verdict) == ("differs", "reproduced")
    assert row.note


def test_the_table_has_a_line_for_each_number_that_was_published(rows):
    table = report.table(rows, ["E3"])
    assert table["what"].tolist() == [
        "heuristic – lookahead, games won %", "heuristic – lookahead, margin in points",
    ]  # fmt: skip
    assert table["print"].tolist()[0] == "29.2 ± 0.8"
    assert len(report.frame(rows)) == len(rows)
    tally = report.tally(rows).set_index("experiment")
    assert tally.loc["E8", "numbers in print"] == 2
    assert tally.loc["E11", "reproduced"] == 0


def test_pictures_are_drawn(rows):
    drawn = plots.pictures(rows)
    assert set(drawn) == {"overview", "census", "pairings", "E4", "E5", "E11", "E12"}
    for picture in drawn.values():
        assert picture.png().startswith(b"\x89PNG")


def test_the_overview_shows_differences_in_half_widths():
    row = make_row(
        "E0", "", "", 1, Measured("s", None, 55, 52, 58, 10), Printed("s", None, Reference(50, 4))
    )
    assert plots._distance(row, "print") == pytest.approx(1.0)
    assert plots._distance(row, "check") is None


def test_the_command(tmp_path, capsys):
    arguments = [
        "experiments",
        "--fast",
        "--only",
        "E8",
        "--only",
        "census",
        "--out",
        str(tmp_path),
    ]
    assert main(arguments) == 0
    first = capsys.readouterr()
    assert " E8 " in first.out
    assert "E8 done" in first.err
    assert main(arguments) == 0
    assert capsys.readouterr().out == first.out
    assert {path.name for path in tmp_path.glob("*.json")} == {"E8.json", "census.json"}


def test_the_command_writes_tables_and_pictures(rows, tmp_path):
    from ginrummy_training.cli.project.experiments import write_results

    write_results(rows, tmp_path)
    with (tmp_path / "table.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["what"] for line in lines] == [row.what for row in rows]
    with (tmp_path / "census.csv").open(newline="") as file:
        counted = {int(line["deadwood"]): int(line["hands"]) for line in csv.DictReader(file)}
    assert sum(counted.values()) == 2_598_960
    assert (tmp_path / "overview.png").exists()


def test_an_unknown_experiment_is_refused():
    with pytest.raises(ValueError, match="unknown experiment 'E99'; the experiments are E1, E2"):
        run(Lab(), ["E99"])
