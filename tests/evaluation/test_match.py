"""Matches: the same games however they are played, and numbers that add up."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ginrummy_agents.learned.policy import load_network, shipped
from ginrummy_agents.rules.gold import Gold
from ginrummy_env.core.actions import DRAW_STOCK, PASS, TAKE_UPCARD, IllegalActionError
from ginrummy_env.core.deal import decks
from ginrummy_env.core.rules import EAAI, PRESETS, Rules, as_rules
from ginrummy_env.core.state import Outcome
from ginrummy_env.policy import make_policy
from ginrummy_env.records.recorder import write
from ginrummy_training.evaluation import match as match_module
from ginrummy_training.evaluation.game_table import GAME, KNOCKER_OUTCOMES
from ginrummy_training.evaluation.lockstep import Games, Lockstep
from ginrummy_training.evaluation.match import (
    match_records,
    play_match,
    play_matches,
    record_games,
)
from ginrummy_training.evaluation.match_result import MatchResult
from ginrummy_training.evaluation.match_summary import games_won, summarise, won_by_pair
from ginrummy_training.evaluation.processes import WorkerError, quiet_start
from ginrummy_training.storage import ResultError, read_arrays, write_arrays

ROOT = Path(__file__).parents[2]

SHORT = replace(EAAI, target=30)
CLASSIC_SHORT = Rules(target=30)
"""A match takes as long as its longest game: so games of a few deals."""


@pytest.fixture(scope="module")
def played():
    """A match that the others are held against."""
    return play_match("simple", "gold", games=40, seed=5, rules=SHORT, batch=50)


@pytest.fixture(scope="module")
def big():
    """A match long enough for its statistics."""
    return play_match("simple", "simple", games=3200, seed=1, rules="eaai")


def same(first, second):
    return first.table.tobytes() == second.table.tobytes()


class Draws:
    """Draws and throws what it drew: never lays down, and uses no randomness."""

    def act(self, view, rng):
        actions = np.full(len(view), PASS, dtype=np.int16)
        masks = view.action_masks()
        actions[masks[:, DRAW_STOCK]] = DRAW_STOCK
        eleven = view.drawn_card >= 0
        actions[eleven] = view.drawn_card[eleven]
        return actions


@pytest.mark.parametrize(("workers", "batch"), [(1, 1), (1, 13), (2, 16)])
def test_the_same_games_for_any_batch_and_number_of_workers(played, workers, batch):
    """Chance: a deck depends on seed, game and deal alone."""
    games = 4 if batch == 1 else 40
    again = play_match(
        "simple", "gold", games=games, seed=5, rules=SHORT, workers=workers, batch=batch
    )
    assert again.table.tobytes() == played.table[:games].tobytes()


def test_the_global_generator_changes_nothing(played):
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    np.random.random(7)  # noqa: NPY002
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    again = play_match("simple", "gold", games=40, seed=5, rules=SHORT)
    after = np.random.get_state()[1].tobytes()  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002
    assert same(again, played)
    assert before == after


def test_a_game_comes_back_from_its_seed_and_number_alone(played):
    for game in (17, 38):
        agents = [match_module.make_policy(name) for name in ("simple", "gold")]
        games = Games(np.zeros(1, dtype=int), np.array([game]), np.int8([[0, 1]]))
        lockstep = Lockstep(agents, games, SHORT, seed=5)
        while lockstep.running:
            lockstep.step()
        _, table, _ = lockstep.collect()
        assert table.tobytes() == played.table[game : game + 1].tobytes()


def test_matches_played_together_are_those_played_alone(played):
    other = match_module.Match(("gold", "simple:0"), SHORT, 5)
    another = match_module.Match(("gold", "simple:0"), Rules(target=30), 5)
    together = play_matches([other, played.match, another], games=20, batch=30)
    assert together[1].table.tobytes() == played.table[:20].tobytes()
    assert same(together[0], play_match("gold", "simple:0", games=20, seed=5, rules=SHORT))
    assert same(together[2], play_match("gold", "simple:0", games=20, seed=5, rules=another.rules))


def test_another_seed_gives_other_games(played):
    other = play_match("simple", "gold", games=40, seed=6, rules=SHORT)
    assert (other.table["steps"] != played.table["steps"]).mean() > 0.9


@pytest.fixture(scope="module")
def records():
    match = match_module.Match(("simple", "gold"), SHORT, 5)
    return record_games(match, 12)


def test_the_games_of_a_pair_have_the_same_decks_and_swapped_seats(records):
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert first.game_number == second.game_number
        assert first.players == ("simple", "gold")
        assert second.players == ("gold", "simple")
        assert first.deals[0].dealer == second.deals[0].dealer  # a seat, so the other agent
        for one, other in zip(first.deals, second.deals, strict=False):
            assert one.deck == other.deck
            dealt = decks(5, first.game_number, one.number)[0]
            assert list(one.deck) == dealt.tolist()


def test_pairs_have_different_decks(records):
    assert len({record.deals[0].deck for record in records}) == len(records) // 2


def test_agents_that_do_not_draw_play_both_games_of_a_pair_alike():
    """One of them wins with seat 0, so the other does: every pair of a mirror match is 1 : 1."""
    result = play_match("gold", "gold", games=40, seed=2, rules=SHORT)
    assert (won_by_pair(result) == 1).all()
    assert summarise(result)["net_points_a_deal"]["value"] == 0


def test_agents_that_draw_play_them_differently():
    """Else nothing could be learned from a pair of games between equals."""
    won = won_by_pair(play_match("simple", "simple", games=80, seed=2, rules=SHORT))
    assert set(won.tolist()) == {0, 1, 2}


def recount(records):
    """What the table says of games, counted from their records one deal at a time."""
    rows = []
    for number, record in enumerate(records):
        seat_a = number % 2
        row = Counter(game=number, done=1, seat_a=seat_a)
        row["first_dealer"] = record.deals[0].dealer ^ seat_a
        row["winner"] = record.winner ^ seat_a
        for side, seat in (("a", seat_a), ("b", 1 - seat_a)):
            row[f"points_{side}"] = record.scores[seat]
            row[f"final_{side}"] = record.final_scores[seat]
            row[f"deals_won_{side}"] = record.deals_won[seat]
        for deal in record.deals:
            count_deal(row, deal, seat_a)
        rows.append(row)
    return rows


def count_deal(row, deal, seat_a):
    def side(seat):
        return "ab"[seat ^ seat_a]

    end, starter = deal.end, 1 - deal.dealer
    row["deals"] += 1
    row["steps"] += len(deal.actions)
    row[f"opening_offers_{side(starter)}"] += 1
    row[f"opening_takes_{side(starter)}"] += deal.actions[0] == TAKE_UPCARD
    passes = 0
    if deal.actions[0] == PASS:
        passes = 1 + (deal.actions[1] == PASS)
        row[f"opening_offers_{side(deal.dealer)}"] += 1
        row[f"opening_takes_{side(deal.dealer)}"] += deal.actions[1] == TAKE_UPCARD
    if end.outcome == Outcome.VOID:
        row["void"] += 1
        return
    by = end.winner if end.outcome == Outcome.UNDERCUT else end.knocker
    row[f"{KNOCKER_OUTCOMES[end.outcome]}_{side(by)}"] += 1
    turns = sum(action < DRAW_STOCK for action in deal.actions)
    row["knocks"] += 1
    row["knock_turns"] += turns
    row["knock_turns_squared"] += turns**2
    row["knock_moves"] += turns + passes
    row["knock_moves_squared"] += (turns + passes) ** 2
    row["knocker_deadwood"] += end.deadwood[end.knocker]
    row["defender_deadwood"] += end.deadwood[1 - end.knocker]
    row["decided"] += end.winner >= 0
    row["starter_won"] += end.winner == starter


def test_the_table_is_what_the_records_say(played, records):
    for row, counted in zip(played.table, recount(records), strict=False):
        assert {name: int(row[name]) for name in GAME.names} == {
            name: counted[name] for name in GAME.names
        }


def test_under_the_classic_rules_bonuses_are_in_the_final_scores():
    result = play_match("simple", "gold", games=12, seed=3, rules=CLASSIC_SHORT)
    match = match_module.Match(("simple", "gold"), CLASSIC_SHORT, 3)
    for row, counted in zip(result.table, recount(record_games(match, 12)), strict=True):
        assert (row["final_a"], row["final_b"]) == (counted["final_a"], counted["final_b"])
    assert (result.table["final_a"] != result.table["points_a"]).any()


def test_outcomes_of_games_sum_to_the_totals(played):
    table, summary = played.table, summarise(played)
    assert set(table["winner"].tolist()) <= {0, 1}
    assert played.games_won("a") + played.games_won("b") == 40
    assert summary["games_won"]["a"]["value"] == played.games_won("a") / 40
    assert summary["games_won"]["a"]["value"] + summary["games_won"]["b"]["value"] == 1
    ways = sum(sum(way.values()) for way in summary["endings"].values() if isinstance(way, dict))
    assert ways + summary["endings"]["void"] == summary["deals"] == table["deals"].sum()
    for side in "ab":
        won = sum(table[f"{way}_{side}"] for way in KNOCKER_OUTCOMES.values())
        assert (won == table[f"deals_won_{side}"]).all()  # under these rules
    most = np.maximum(table["points_a"], table["points_b"])
    assert (most >= SHORT.target).all()
    assert (np.minimum(table["points_a"], table["points_b"]) < SHORT.target).all()
    assert ((table["points_b"] > table["points_a"]) == table["winner"]).all()


def test_named_the_other_way_round_it_is_the_same_match(played):
    other = played.other_way()
    mine, his = summarise(played), summarise(other)
    for key in ("games_won", "deals_won", "points_a_deal", "final_score", "opening_taken"):
        assert mine[key]["a"] == pytest.approx(his[key]["b"])
    assert mine["net_points_a_deal"]["value"] == -his["net_points_a_deal"]["value"]
    assert mine["endings"]["knock"] == dict(
        zip("ba", his["endings"]["knock"].values(), strict=True)
    )
    assert mine["deals_a_game"] == his["deals_a_game"]
    back = other.other_way()
    assert same(back, played)


def test_equal_agents_come_out_at_half(big):
    """For games, deals and points."""
    summary = summarise(big)
    assert summary["rules"] == "eaai"
    assert summary["games_won"]["a"]["low"] < 0.5 < summary["games_won"]["a"]["high"]
    assert summary["deals_won"]["a"]["low"] < 0.5 < summary["deals_won"]["a"]["high"]
    assert summary["net_points_a_deal"]["low"] < 0 < summary["net_points_a_deal"]["high"]


def test_intervals_of_real_matches_hold_the_truth(big):
    """Between equals it is known: of 64 matches of 25 pairs about 61 hold 50 %."""
    parts = [MatchResult(big.match, part) for part in np.split(big.table, 64)]
    held = sum(e.low <= 0.5 <= e.high for e in map(games_won, parts))
    assert 57 <= held


def test_facts_of_the_simple_agent_against_itself(big):
    """Measured by others on two million deals; here in the interval, a little widened."""
    summary = summarise(big)

    def near(number, fact, room=1.6):
        half = (number["high"] - number["low"]) / 2
        return abs(number["value"] - fact) < room * half

    assert near(summary["deals_a_game"], 10.23)
    assert near(summary["turns_and_passes"]["mean"], 14.00)
    assert summary["turns_and_passes"]["sd"] == pytest.approx(5.52, rel=0.02)
    assert near(summary["deadwood"]["knocker"], 6.98)
    assert near(summary["opening_taken"]["deals"], 0.322)
    assert sum(summary["endings"]["gin"].values()) / summary["deals"] == pytest.approx(
        0.0209, abs=0.002
    )


def test_a_part_of_a_match_says_nothing(played):
    part = MatchResult(played.match, played.table.copy())
    part.table[3] = np.zeros((), dtype=GAME)
    with pytest.raises(ValueError, match="39 of 40 games"):
        summarise(part)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_played(name):
    rules = replace(PRESETS[name], target=30)
    result = play_match("simple", "gold", games=6, seed=1, rules=rules)
    assert result.complete
    assert as_rules(summarise(result)["rules"]) == rules


def test_agents_that_never_lay_down_are_stopped():
    policy = Draws()
    result = play_match(policy, policy, games=4, seed=1, max_deals=3)
    assert (result.table["winner"] == -1).all()
    assert (result.table["deals"] == 3).all()
    summary = summarise(result)
    assert summary["games_without_winner"] == 4
    assert summary["games_won"]["a"]["value"] == 0.5
    assert summary["deals_won"]["a"]["value"] is None
    assert summary["endings"]["void"] == 12


def test_a_policy_of_ones_own_can_play_by_several_processes():
    alone = play_match(Draws(), "simple", games=8, seed=1, rules=SHORT)
    apart = play_match(Draws(), "simple", games=8, seed=1, rules=SHORT, workers=2)
    assert alone.match.agents == ("Draws", "simple")
    assert same(alone, apart)


def test_two_policies_with_one_name_are_refused():
    """Else one of them would play against itself."""
    with pytest.raises(ValueError, match="two agents are called Draws"):
        play_match(Draws(), Draws(), games=2)
    named = Draws()
    named.name = "other"
    assert play_match(Draws(), named, games=2, max_deals=1).match.agents == ("Draws", "other")


class Cheats(Draws):
    def act(self, view, rng):
        return np.where(view.turn > 3, PASS, super().act(view, rng)).astype(np.int16)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_illegal_action_is_an_error_that_names_the_game(workers):
    """It is not replaced."""
    with pytest.raises(IllegalActionError) as caught:
        play_match("simple", Cheats(), games=4, seed=1, workers=workers)
    (note,) = caught.value.__notes__
    assert note.startswith("agent B in game ")
    assert "(seed 1)" in note


def test_a_policy_that_cannot_be_sent_is_an_error():
    policy = Draws()
    policy.secret = lambda: 0
    with pytest.raises(ValueError, match="workers=1"):
        play_match(policy, "simple", games=4, workers=2)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"games": 3}, "an even number"),
        ({"games": 0}, "an even number"),
        ({"seed": -1}, "whole number"),
        ({"rules": "house"}, "house"),
        ({"workers": 0}, "workers=0"),
        ({"batch": 0}, "batch=0"),
        ({"b": "grandmaster"}, "grandmaster"),
    ],
)
def test_wrong_settings_are_errors(wrong, says):
    with pytest.raises(ValueError, match=says):
        play_match(**{"a": "simple", "b": "gold", "games": 4, **wrong})


def test_games_are_kept_and_added_to(tmp_path, played):
    out = tmp_path / "games.npz"
    play_match("simple", "gold", games=30, seed=5, rules=SHORT, out=out)
    counts = []
    more = play_match(
        "simple", "gold", games=40, seed=5, rules=SHORT, out=out,
        progress=lambda what, done, total: counts.append(done),
    )  # fmt: skip
    assert counts[0] == 30
    assert same(more, played)
    assert same(MatchResult.load(out), played)
    assert more.decisions.sum() == played.table["steps"].sum()
    fewer = play_match("simple", "gold", games=20, seed=5, rules=SHORT, out=out)
    assert fewer.table.tobytes() == played.table[:20].tobytes()
    assert same(MatchResult.load(out), played)  # nothing of it is lost


@pytest.mark.parametrize(
    ("other", "what"),
    [({"seed": 6}, "seed"), ({"rules": "classic"}, "rules"), ({"b": "simple"}, "agents")],
)
def test_a_file_of_another_match_is_not_touched(tmp_path, other, what):
    out = tmp_path / "games.npz"
    settings = {"a": "simple", "b": "gold", "seed": 5, "rules": SHORT, "games": 4, "out": out}
    play_match(**settings)
    before = out.read_bytes()
    with pytest.raises(ResultError, match=f"another match: {what}"):
        play_match(**{**settings, **other})
    assert out.read_bytes() == before


def test_damaged_files_are_errors(tmp_path):
    out = tmp_path / "games.npz"
    result = play_match("simple", "gold", games=6, seed=5, rules=CLASSIC_SHORT, out=out)
    whole = out.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"nothing of the kind", b"PK" + whole[2:900]):
        out.write_bytes(damaged)
        with pytest.raises(ResultError, match=r"games\.npz: corrupt"):
            play_match("simple", "gold", games=6, seed=5, rules=CLASSIC_SHORT, out=out)
    for place in range(0, len(whole), 97):
        flipped = bytearray(whole)
        flipped[place] ^= 0x10
        out.write_bytes(bytes(flipped))
        try:
            read = MatchResult.load(out)
        except ResultError:
            continue
        # What can be changed unnoticed (times and the like in the archive) is no result.
        assert same(read, result)
        assert read.match == result.match


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The file of a match, its columns and its description."""
    out = tmp_path_factory.mktemp("kept") / "games.npz"
    play_match("simple", "gold", games=6, seed=5, rules=CLASSIC_SHORT, out=out)
    return (out, *read_arrays(out))


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        pytest.param("winner", np.full(6, np.nan), "winner: float64", id="a winner that is NaN"),
        pytest.param("winner", np.int8([7] * 6), "winner: row 0", id="a winner 7"),
        pytest.param("winner", np.int8([-1] * 6), "winner's points", id="nobody has won"),
        pytest.param("deals", np.int32([5, 5, -5, 5, 5, 5]), "deals: row 2", id="deals below 0"),
        pytest.param("points_a", np.int32([10**9] * 6), "points", id="a billion points"),
        pytest.param("final_b", np.int32([1] * 6), "final scores", id="other bonuses"),
        pytest.param("seat_a", np.int8([9] * 6), "seat_a: row 0", id="a seat 9"),
        pytest.param("game", np.arange(6) + 2**40, "number: row 0", id="a game 2**40"),
        pytest.param("game", np.int64([0, 1, 2, 3, 4, 3]), "appears twice", id="a game twice"),
        pytest.param("steps", np.int32([[5] * 6]), r"steps: int32 \(1, 6\)", id="one row"),
        pytest.param("gin_a", np.int32([40] * 6), "ways to end", id="more gins than deals"),
        pytest.param("void", None, "missing or unknown", id="no column"),
    ],
)
def test_impossible_columns_are_refused(tmp_path, kept, column, values, says):
    _, arrays, about = kept
    changed = {name: array for name, array in arrays.items() if name != column}
    if values is not None:
        changed[column] = values
    if says == "appears twice":
        changed["seat_a"] = (changed["game"] % 2).astype(np.int8)
    write_arrays(tmp_path / "games.npz", changed, about)
    with pytest.raises(ResultError, match=rf"games\.npz: corrupt \(.*{says}"):
        MatchResult.load(tmp_path / "games.npz", 6)


def test_final_scores_of_large_bonuses_fit(tmp_path):
    """Boxes of 1,000 for more than 32 deals won: beyond 16 bits."""
    rules = Rules(box_bonus=1000, target=800)
    result = play_match("simple", "gold", games=2, seed=1, rules=rules, out=tmp_path / "g.npz")
    boxes = result.table["deals_won_a"] * 1000
    assert boxes.max() > 2**15
    assert (result.table["final_a"] >= boxes).all()
    assert same(MatchResult.load(tmp_path / "g.npz"), result)


def policy_file(path, rules):
    path.write_bytes(load_network(shipped(rules)).to_bytes())


def test_games_of_a_policy_file_that_has_changed_are_not_resumed(tmp_path):
    path, out = tmp_path / "best.npz", tmp_path / "games.npz"
    policy_file(path, EAAI)
    settings = {"a": f"ppo:{path}", "b": "simple", "seed": 5, "out": out, "max_deals": 2}
    play_match(**settings, games=4)
    before = out.read_bytes()
    policy_file(path, Rules())  # as if it had been trained on
    with pytest.raises(ResultError, match=rf"the file {path} of ppo:{path} has changed"):
        play_match(**settings, games=6)
    assert out.read_bytes() == before


def test_a_policy_file_that_changes_during_a_match_ends_it(tmp_path):
    path, out = tmp_path / "best.npz", tmp_path / "games.npz"
    policy_file(path, EAAI)

    def train_on(*progress):
        policy_file(path, Rules())

    with pytest.raises(ResultError, match="since the last save are lost, the file"):
        play_match(
            f"ppo:{path}", "simple", games=4, seed=5, out=out, max_deals=2, progress=train_on
        )
    assert not out.exists()


class Named(Draws):
    """Goes by a name, and has a parameter."""

    def __init__(self, name, share):
        self.name, self.share = name, share


def test_another_policy_of_the_same_name_is_not_taken_for_it(tmp_path):
    settings = {"a": "gold", "games": 2, "max_deals": 1, "out": tmp_path / "games.npz"}
    play_match(b=Named("mine", 0.1), **settings)
    play_match(b=Named("mine", 0.1), **settings)
    with pytest.raises(ResultError, match="the parameters of mine have changed"):
        play_match(b=Named("mine", 0.2), **settings)
    with pytest.raises(ResultError, match="of mine have changed"):
        play_match(b=Renamed(), **settings)


class Renamed(Gold):
    name = "mine"


def test_a_file_of_another_format_or_code_is_refused(tmp_path, kept):
    _, arrays, about = kept
    out = tmp_path / "games.npz"
    write_arrays(out, arrays, {**about, "format": 1})
    with pytest.raises(ResultError, match="of format 1"):
        play_match("simple", "gold", games=6, seed=5, rules=CLASSIC_SHORT, out=out)
    made_by = {**about["made_by"], "engine": "0" * 16}
    write_arrays(out, arrays, {**about, "made_by": made_by})
    with pytest.raises(ResultError, match="the code of the rules or of the match has changed"):
        play_match("simple", "gold", games=6, seed=5, rules=CLASSIC_SHORT, out=out)


RUN = """
import sys
from pathlib import Path
from ginrummy_training.evaluation import match
match.SAVE_SECONDS = 0.2
if __name__ == "__main__":
    match.play_match("simple", "gold", games=60_000, seed=5, rules="eaai,target=30",
                     workers=int(sys.argv[2]), batch=256, out=Path(sys.argv[1]))
"""


def require_gone(group):
    """Workers of a process that was killed end by themselves."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    pytest.fail("processes were left behind")


class Dies(Draws):
    """Kills its process once a deal is under way."""

    def act(self, view, rng):
        if (view.turn > 2).any():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(view, rng)


def test_a_killed_worker_is_an_error_and_ends_the_others():
    with pytest.raises(WorkerError, match="a worker process was killed"):
        play_match(Dies(), "simple", games=400, workers=2)
    deadline = time.monotonic() + 60  # the pool's own thread notes a moment later that they ended
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_match_goes_on_to_the_same_result(tmp_path, workers):
    """Nothing lost, the same result."""
    script, out = tmp_path / "run.py", tmp_path / "games.npz"
    script.write_text(RUN)
    environment = dict(os.environ)
    process = subprocess.Popen(
        [sys.executable, script, out, str(workers)], env=environment, start_new_session=True
    )
    deadline = time.monotonic() + 600
    while not out.exists() and time.monotonic() < deadline:
        assert process.poll() is None, "the match has ended by itself"
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    require_gone(process.pid)
    kept = MatchResult.load(out, 400)
    assert 0 < kept.table["done"].sum()
    assert MatchResult.load(out, 60_000).table["done"].sum() < 60_000
    resumed = play_match("simple", "gold", games=400, seed=5, rules=SHORT, out=out)
    assert same(resumed, play_match("simple", "gold", games=400, seed=5, rules=SHORT))
    assert [path.name for path in tmp_path.glob("*.npz")] == ["games.npz"]


def test_an_interrupted_match_keeps_its_games(tmp_path, played):
    out = tmp_path / "games.npz"

    def interrupt(what, done, total):
        if done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(
            "simple", "gold", games=40, seed=5, rules=SHORT, batch=8, out=out, progress=interrupt
        )
    assert 10 <= MatchResult.load(out, 40).table["done"].sum() < 40
    again = play_match("simple", "gold", games=40, seed=5, rules=SHORT, out=out)
    assert same(again, played)


def test_records_of_a_match_can_be_written(records):
    assert write(records[1]).startswith("ginrummy record 1")
    assert all(record.finished for record in records)


class Dice(Gold):
    """Plays as `simple` does, with random numbers of its own, as programs may."""

    name = "dice"

    def __init__(self):
        self.base, self.rng = make_policy("simple"), np.random.default_rng()

    def act(self, view, rng):
        return self.base.act(view, self.rng)


@pytest.mark.parametrize("batch", [3, 64])
def test_games_of_a_program_that_draws_are_recorded_as_played(tmp_path, batch):
    out = tmp_path / "games.npz"
    match = {"games": 20, "seed": 5, "rules": SHORT, "batch": batch, "out": out}
    result = play_match(Dice(), "gold", **match, records=6)
    records = match_records(result, 6)
    assert records == [result.records[number] for number in range(6)]
    for row, counted in zip(result.table, recount(records), strict=False):
        assert {name: int(row[name]) for name in GAME.names} == {
            name: counted[name] for name in GAME.names
        }
    assert [record.players for record in records[:2]] == [("dice", "gold"), ("gold", "dice")]
    before = play_match(Dice(), "gold", **match, records=6)  # all games are in the file
    assert same(before, result)
    assert not before.records
    with pytest.raises(ResultError, match="chance of its own"):
        match_records(before, 6, {"dice": Dice()})


def test_games_played_before_are_recorded_again(tmp_path, records):
    match = {"seed": 5, "rules": SHORT, "out": tmp_path / "games.npz"}
    play_match("simple", "gold", **match, games=4)
    result = play_match("simple", "gold", **match, games=12, records=12)
    assert sorted(result.records) == list(range(4, 12))
    assert match_records(result, 12) == records


def test_ctrl_c_while_processes_start_is_not_lost():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background too
    try:
        with pytest.raises(KeyboardInterrupt), quiet_start():
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
