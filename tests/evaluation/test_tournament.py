"""Tournaments: all pairings on the same decks, in any order; files that say what they hold."""

import csv
import io
import itertools
import json

import numpy as np
import pytest
from rich.console import Console

from ginrummy_env.core.rules import as_rules
from ginrummy_training.evaluation.console_tables import cross_report, short_percent
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_result import Match
from ginrummy_training.evaluation.match_summary import summarise, won_by_pair
from ginrummy_training.evaluation.result_files import write_tournament
from ginrummy_training.evaluation.tournament import file_name, play_tournament
from ginrummy_training.evaluation.tournament_figures import save_figures
from ginrummy_training.storage import ResultError

AGENTS = ["simple", "gold", "simple:0"]
SHORT = "eaai,target=50"
"""A match takes as long as its longest game."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tournament")


@pytest.fixture(scope="module")
def tournament(folder):
    return play_tournament(AGENTS, games=40, seed=4, rules=SHORT, out=folder)


@pytest.fixture(scope="module")
def written(tournament, folder):
    return write_tournament(tournament, folder)


def test_a_pairing_is_the_match_of_the_two(tournament):
    alone = play_match("gold", "simple", games=40, seed=4, rules=SHORT)
    assert tournament.results[1, 0].table.tobytes() == alone.table.tobytes()
    assert tournament.results[0, 1].match.agents == ("simple", "gold")


def test_the_order_of_the_agents_does_not_matter(tournament):
    other = play_tournament(AGENTS[::-1], games=40, seed=4, rules=SHORT)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        mine, his = tournament.results[i, j], other.results[2 - i, 2 - j]
        assert mine.table.tobytes() == his.table.tobytes()
    rating = {a["name"]: a["rating"]["value"] for a in tournament.summary()["agents"]}
    for agent in other.summary()["agents"]:
        assert agent["rating"]["value"] == pytest.approx(rating[agent["name"]], abs=1e-3)


def test_the_cross_table_adds_up(tournament):
    for i, j in tournament.results:
        mine, his = tournament.results[i, j], tournament.results[j, i]
        assert (won_by_pair(mine) + won_by_pair(his) == 2).all()
    agents = tournament.summary()["agents"]
    assert sum(agent["games_won"]["value"] for agent in agents) == pytest.approx(1.5)


def test_an_agents_line_in_the_file_sums_its_pairings(tournament, written):
    for i, agent in enumerate(written["agents"]):
        mine = [result for (first, _), result in tournament.results.items() if first == i]
        won = sum(result.games_won("a") for result in mine)
        assert agent["games_won"]["value"] == won / 80
        deals = sum(int(result.table["deals_won_a"].sum()) for result in mine)
        decided = sum(int(result.table["decided"].sum()) for result in mine)
        assert agent["deals_won"]["value"] == deals / decided


def test_the_anchor_is_simple_and_who_waits_for_gin_is_better(written):
    """Published: 67.6 % against simple under these rules."""
    assert written["anchor"] == "simple"
    ratings = {agent["name"]: agent["rating"] for agent in written["agents"]}
    assert ratings["simple"] == {"value": 0, "low": 0, "high": 0}
    assert ratings["simple:0"]["low"] > 0


def test_files_carry_where_they_come_from(written, folder):
    on_file = json.loads((folder / "tournament.json").read_text())
    assert on_file == written
    assert as_rules(on_file["rules"]) == as_rules(on_file["settings"]) == as_rules(SHORT)
    assert on_file["seed"] == 4
    assert on_file["games"] == 40
    assert set(on_file["versions"]) == {"ginrummy_env", "numpy", "python"}
    assert on_file["command"]
    for name in ("ratings", "pairings"):
        with (folder / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            given = (row["rules"], row["seed"], row["games_a_pairing"])
            assert given == (on_file["rules"], "4", "40")
            assert row["ginrummy_env"] == on_file["versions"]["ginrummy_env"]
    assert len(rows) == 6


def test_the_csv_files_agree_with_the_json(written, folder):
    with (folder / "pairings.csv").open(newline="") as file:
        rows = {(row["agent"], row["opponent"]): row for row in csv.DictReader(file)}
    with (folder / "cross_table.csv").open(newline="") as file:
        cross = {row["agent"]: row for row in csv.DictReader(file)}
    for pairing in written["pairings"]:
        a, b = pairing["agents"]
        assert float(rows[a, b]["games_won"]) == pairing["games_won"]["a"]["value"]
        assert float(rows[b, a]["games_won_low"]) == pairing["games_won"]["b"]["low"]
        assert int(rows[b, a]["undercut"]) == pairing["endings"]["undercut"]["b"]
        assert float(cross[a][b]) == pytest.approx(pairing["games_won"]["a"]["value"])
        assert float(cross[a][b]) + float(cross[b][a]) == pytest.approx(1)


def test_only_what_is_missing_is_played(tournament, folder):
    seen = []
    more = play_tournament(
        [*AGENTS, "gold:0"],
        games=40,
        seed=4,
        rules=SHORT,
        out=folder,
        progress=lambda what, done, total: seen.append((done, total)),
    )
    assert seen[0] == (3 * 40, 6 * 40)
    for pair, result in tournament.results.items():
        assert more.results[pair].table.tobytes() == result.table.tobytes()


def test_an_interrupted_tournament_goes_on(tournament, tmp_path):
    def interrupt(what, done, total):
        if done > 45:
            raise KeyboardInterrupt

    settings = {"games": 40, "seed": 4, "rules": SHORT, "batch": 30, "out": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        play_tournament(AGENTS, progress=interrupt, **settings)
    resumed = play_tournament(AGENTS, **settings)
    for pair, result in tournament.results.items():
        assert resumed.results[pair].table.tobytes() == result.table.tobytes()


def test_plots_are_pictures(written, tmp_path):
    from matplotlib.image import imread

    paths = save_figures(written, tmp_path)
    assert {path.name for path in paths} == {"cross_table.png", "ratings.png", "endings.png"}
    for path in paths:
        picture = imread(path)
        assert min(picture.shape[:2]) > 200
        assert np.ptp(picture) > 0.5


@pytest.mark.parametrize(
    ("agents", "says"),
    [
        (["simple"], "two agents"),
        ([], "two agents"),
        (["simple", "gold", "simple"], "simple appears twice"),
        (["simple", "nobody"], "nobody"),
    ],
)
def test_wrong_agents_are_errors(agents, says):
    with pytest.raises(ValueError, match=says):
        play_tournament(agents, games=4)


def test_a_damaged_file_is_an_error_that_names_it(tmp_path):
    path = tmp_path / file_name(Match(("gold", "simple"), as_rules(SHORT), 4))
    path.write_bytes(b"no games")
    with pytest.raises(ResultError, match=path.name):
        play_tournament(["simple", "gold"], games=4, seed=4, rules=SHORT, out=tmp_path)


def test_file_names_differ_where_letters_are_left_out():
    names = [("a:b", "c"), ("a_b", "c"), ("a", "b:c"), ("a=b", "c")]
    files = {file_name(Match(pair, as_rules("eaai"), 0)) for pair in names}
    assert len(files) == 4
    assert all(name.isascii() and "/" not in name and ":" not in name for name in files)


def test_a_pairing_that_does_not_fit_is_named():
    """Three agents in a circle: no ratings can be right."""
    tournament = play_tournament(AGENTS, games=100, seed=4, rules=SHORT)
    summary = tournament.summary()
    expected = tournament.ratings.expected
    for (i, j), result in tournament.results.items():
        won = summarise(result)["games_won"]["a"]
        if won["low"] > expected[i, j]:
            assert summary["misfit"] is not None
    cross_report(summary)


def printed(report, width):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(report)
    return console.export_text().splitlines()


def many(tournament, count):
    """The summary of a tournament with as many agents as there are names, all of the same games."""
    summary = tournament.summary()
    names = [f"agent {number}" for number in range(count)]
    agent, pairing = summary["agents"][0], summary["pairings"][0]
    pairs = [list(pair) for pair in itertools.combinations(names, 2)]
    return {
        **summary,
        "agents": [{**agent, "name": name} for name in names],
        "pairings": [{**pairing, "agents": pair} for pair in pairs],
        "misfit": None,
    }


def test_the_cross_table_has_intervals_where_there_is_room(tournament):
    lines = printed(cross_report(tournament.summary()), 100)
    won = tournament.summary()["pairings"][0]["games_won"]["a"]
    assert any(short_percent(won) in line for line in lines)
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("count", [8, 11, 16])
def test_a_cross_table_of_many_fits_a_hundred_columns(tournament, count):
    lines = printed(cross_report(many(tournament, count)), 100)
    assert max(map(len, lines)) <= 100
    start = next(i for i, line in enumerate(lines) if "of the row" in line)
    assert "or less" in lines[start]
    rows = [line.split() for line in lines[start + 1 :] if " agent " in line]
    assert rows[0][1:] == [str(number) for number in range(1, count + 1)]
    for number, cells in enumerate(rows[1:], 1):
        assert cells[:3] == [str(number), "agent", str(number - 1)]
        assert len(cells) == 3 + count
        assert cells[2 + number] == "·"
    wide = printed(cross_report(many(tournament, count)), 300)
    assert not any("or less" in line for line in wide)
