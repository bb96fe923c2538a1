"""What is counted of how an agent plays is what it does."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, EAAI
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_training import plotting
from ginrummy_training.analysis.behaviour import LEADS, TURNS, UPCARDS, Watched, habits, shares
from ginrummy_training.analysis.behaviour_figures import (
    knock_map,
    knock_picture,
    take_picture,
    throw_map,
)
from ginrummy_training.evaluation.match import play_match


def done(table, habit, **where):
    rows = table[table["habit"] == habit]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return int(rows["done"].sum()), int(rows["chances"].sum())


@pytest.fixture(scope="module")
def simple():
    return habits("simple", "gold", rules="eaai", games=40, seed=3)


def test_simple_uses_every_chance_to_knock_and_gin_only_none_but_gin(simple):
    did, could = done(simple, "knock")
    assert did == could > 50
    waiting = habits("simple:0", "gold", rules="eaai", games=40, seed=3)
    gin = done(waiting, "knock", what="0")
    assert gin[0] == gin[1] > 10
    did, could = done(waiting, "knock")
    assert did == gin[0] < could


def test_simple_takes_what_melds_and_leaves_least_deadwood(simple):
    did, could = done(simple, "take", what=UPCARDS[0])
    assert did == could > 50
    assert done(simple, "take", what=UPCARDS[2])[0] == 0
    did, could = done(simple, "least")
    assert did / could > 0.99  # it may not repeat a pair of cards


def test_gold_takes_what_lowers_deadwood_too():
    table = habits("gold", "simple", rules="eaai", games=20, seed=3)
    did, could = done(table, "take", what=UPCARDS[1])
    assert did == could > 20


def test_watching_changes_no_game():
    rules = replace(EAAI, target=30)
    alone = play_match("heuristic", "simple", games=20, seed=5, rules=rules)
    watched = play_match(Watched("heuristic"), "simple", games=20, seed=5, rules=rules)
    np.testing.assert_array_equal(alone.table, watched.table)


def test_a_discard_is_counted_by_its_rank_among_the_loose_cards():
    """Of one known position: the hand, what is thrown, the score."""
    state = new_games(1, 1, CLASSIC)
    state.scores[0] = (50, 0)
    watched = Watched("gold")
    rng = np.random.default_rng(0)
    while state.phase[0] != 3:
        view = make_view(state, CLASSIC)
        step(state, watched.act(view, rng), CLASSIC)
    (action,) = watched.act(make_view(state, CLASSIC), rng)
    table = watched.table()
    thrown = table[(table["habit"] == "throw") & (table["done"] > 0)]
    assert thrown["what"].tolist() == ["A23456789TJQK"[action % 13]]
    ahead = LEADS[-1] if state.player[0] == 0 else LEADS[0]
    assert thrown["lead"].tolist() == [ahead]
    assert thrown["turn"].tolist() == [1]


def test_shares_add_up_and_leave_out_what_is_rare(simple):
    by_turn = shares(simple, "take", ["turn"])
    assert by_turn["chances"].sum() == done(simple, "take")[1]
    assert by_turn["turn"].max() <= TURNS
    some = shares(simple, "take", ["turn"], least=110)
    assert 0 < len(some) < len(by_turn)
    assert (some["chances"] >= 110).all()
    assert (some["share"] == 100 * some["done"] / some["chances"]).all()


def test_one_agent_against_itself_is_watched_once():
    rules = replace(EAAI, target=50)
    table = habits("simple", "simple", rules=rules, games=2, seed=3)
    result = play_match("simple", "simple", games=2, seed=3, rules=rules)
    assert done(table, "least")[1] < int(result.table["knock_turns"].sum()) * 0.7


def test_pictures_are_drawn_from_many_chances_and_from_few(simple, monkeypatch):
    monkeypatch.setattr(plotting, "DPI", 30)
    few = simple[simple["turn"] == 1]
    empty = pd.DataFrame(columns=simple.columns).astype(simple.dtypes)
    for table in (simple, few, empty):
        named = {"simple": table, "again": simple}
        for picture in (
            knock_picture(named),
            knock_map(table, "knocks"),
            take_picture(named),
            throw_map(named),
        ):
            assert picture.png().startswith(b"\x89PNG")


def test_the_lines_of_the_picture_are_the_shares(simple):
    axes = knock_picture({"simple": simple}).axes[0]
    (line,) = (line for line in axes.lines if line.get_label() == "simple")
    assert set(line.get_ydata()) == {100.0}
