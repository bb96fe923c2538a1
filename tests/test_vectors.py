"""Every record of the vector files against the core, in batches."""

import json
from collections import Counter, defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
from positions import CODES, NUMBER, PHASES, codes, meld_lists, results, without_ties
from vectors import load

from ginrummy_env.core.cards import hand_of
from ginrummy_env.core.deadwood import (
    NOT_HELD,
    deadwood,
    deadwood_after_discard,
    least_after_discard,
)
from ginrummy_env.core.game import game_winners, new_games, next_deals
from ginrummy_env.core.layoff import (
    defend,
    defender_deadwood,
    knocker_arrangement,
    layoff_potential,
)
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import CLASSIC, Rules
from ginrummy_env.core.scoring import DEFENDER, KNOCKER, final_scores, score_gin, score_knock
from ginrummy_env.core.settlement import void_reasons
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.step import step


def by_rules(name):
    """The records of a file that have the same settings, under these settings."""
    groups = defaultdict(list)
    for record in load(name):
        groups[json.dumps(record["rules"], sort_keys=True)].append(record)
    return [
        pytest.param(group, id=f"{group[0]['kind']}-{i}") for i, group in enumerate(groups.values())
    ]


def test_the_files_are_whole():
    """As many records as the README says, so that a cut file is noticed."""
    assert len(load("deadwood")) == 12_500
    assert len(load("layoff")) == 2_500
    kinds = Counter(record["kind"] == "default" for record in load("hands"))
    assert (kinds[True], kinds[False]) == (200, 49)
    assert len(load("games")) == 19


def test_deadwood():
    records = load("deadwood")
    hands = np.array([hand_of(record["hand"]) for record in records])
    assert deadwood(hands).tolist() == [record["deadwood"] for record in records]


def test_deadwood_after_each_discard():
    records = [record for record in load("deadwood") if len(record["hand"]) == 11]
    hands = np.array([hand_of(record["hand"]) for record in records])
    expected = np.full((len(records), 52), NOT_HELD)
    for row, record in enumerate(records):
        expected[row, record["hand"]] = record["after_discard"]
    assert (deadwood_after_discard(hands) == expected).all()
    assert (least_after_discard(hands) == expected.min(axis=1)).all()


# layoff.jsonl.gz: what is laid down and scored, under the default rules


@pytest.fixture(scope="module")
def laid():
    """The hands of the file, and the knockers' melds and deadwood."""
    hands = {
        name: np.array([hand_of(record[name]) for record in load("layoff")])
        for name in ("knocker", "opponent", "discards")
    }
    melds, points = knocker_arrangement(hands["knocker"], hands["discards"])
    return SimpleNamespace(
        **hands, melds=melds, deadwood=points, may=np.ones(len(melds), dtype=bool)
    )


def of_all(name):
    return [record[name] for record in load("layoff")]


def test_the_arrangement(laid):
    assert [meld_lists(numbers) for numbers in laid.melds] == of_all("melds")
    assert laid.deadwood.tolist() == of_all("knocker_deadwood")
    potential = layoff_potential(laid.melds, laid.knocker, laid.discards)
    assert potential.tolist() == of_all("layoff_potential")


def test_the_defender(laid):
    left = defender_deadwood(laid.opponent, laid.melds, laid.may)
    alone = defender_deadwood(laid.opponent, laid.melds, ~laid.may)
    assert left.tolist() == of_all("opponent_deadwood")
    assert alone.tolist() == of_all("opponent_alone")
    assert (defend(laid.opponent, laid.melds, laid.may).deadwood == left).all()


def test_the_points(laid):
    left = defender_deadwood(laid.opponent, laid.melds, laid.may)
    side, points = score_knock(laid.deadwood, left, CLASSIC)
    gin = laid.deadwood == 0
    gins = score_gin(left[gin], deadwood(laid.opponent[gin]), ~laid.may[gin], CLASSIC)
    side[gin], points[gin] = gins[0], gins[1]
    assert not gins[2].any(), "under the default rules gin is never answered"
    assert ["knocker" if each == KNOCKER else "opponent" for each in side] == of_all("winner")
    assert points.tolist() == of_all("points")
    assert gin.tolist() == [outcome == "gin" for outcome in of_all("outcome")]
    assert (side == DEFENDER).tolist() == [outcome == "undercut" for outcome in of_all("outcome")]


# hands.jsonl.gz and games.jsonl.gz


@pytest.mark.parametrize("records", by_rules("hands"))
def test_deals(records):
    """All deals of one setting in lockstep: who acts, phase and legal actions at every step."""
    rules = Rules.from_dict(records[0]["rules"])
    state = new_games(
        0,
        len(records),
        rules,
        dealers=[record["dealer"] for record in records],
        decks=[record["deck"] for record in records],
    )
    assert state.knock_limit.tolist() == [record["knock_limit"] for record in records]
    for number in range(max(len(record["steps"]) for record in records)):
        masks = action_masks(state, rules)
        actions = np.full(len(records), -1)
        for row, record in enumerate(records):
            if number >= len(record["steps"]):
                assert state.over[row], record["id"]
                assert not masks[row].any(), record["id"]
                continue
            player, phase, legal, action = record["steps"][number]
            where = record["id"], number
            assert (state.player[row], PHASES[state.phase[row]]) == (player, phase), where
            assert codes(masks[row]) == set(legal), where
            actions[row] = NUMBER[action]
        step(state, actions, rules)
    for record, result in zip(records, results(state, rules), strict=True):
        assert result == without_ties(record["result"]), record["id"]
        assert [result["winner"], result["points"], result["opponent_deadwood"]] in record[
            "result"
        ]["tie_results"], record["id"]
    for row, record in enumerate(records):
        history = state.history[row, : state.step_count[row]]
        assert [CODES[action] for action in history] == [taken for *_, taken in record["steps"]]


@pytest.mark.parametrize("records", by_rules("games"))
def test_games(records):
    """Whole games of one setting, deal by deal: dealers, points, totals, winner, final scores."""
    rules = Rules.from_dict(records[0]["rules"])
    state = new_games(
        0,
        len(records),
        rules,
        dealers=[record["first_dealer"] for record in records],
        decks=[record["hands"][0]["deck"] for record in records],
    )
    for number in range(max(len(record["hands"]) for record in records)):
        rows = [row for row, record in enumerate(records) if number < len(record["hands"])]
        deals = [records[row]["hands"][number] for row in rows]
        if number:
            next_deals(state, rules, rows, decks=[deal["deck"] for deal in deals])
        assert state.dealer[rows].tolist() == [deal["dealer"] for deal in deals]
        assert (state.deal_number[rows] == number).all()
        for place in range(max(len(deal["actions"]) for deal in deals)):
            actions = np.full(len(records), -1)
            for row, deal in zip(rows, deals, strict=True):
                if place < len(deal["actions"]):
                    actions[row] = NUMBER[deal["actions"][place]]
            step(state, actions, rules)
        reasons = void_reasons(state, rules)
        for row, deal in zip(rows, deals, strict=True):
            winner = None if state.winner[row] == NOBODY else state.winner[row]
            assert {
                "outcome": Outcome(state.outcome[row]).name.lower(),
                "void_reason": reasons[row],
                "winner": winner,
                "points": state.points[row],
                "totals": state.scores[row].tolist(),
            } == {
                key: deal[key] for key in ("outcome", "void_reason", "winner", "points", "totals")
            }, (records[row]["id"], number)
            last = number + 1 == len(records[row]["hands"])
            assert state.phase[row] == (Phase.GAME_OVER if last else Phase.DEAL_OVER)
    finals = final_scores(state.scores, state.deals_won, rules)
    for row, record in enumerate(records):
        assert game_winners(state, rules)[row] == record["winner"], record["id"]
        assert state.scores[row].tolist() == record["points"], record["id"]
        assert state.deals_won[row].tolist() == record["hands_won"], record["id"]
        assert finals[row].tolist() == record["final"], record["id"]


def test_the_vectors_reach_every_action_and_outcome():
    """What the files do not hold would not be tested by them."""
    steps = [step for record in load("hands") for step in record["steps"]]
    assert {taken[0] for *_, taken in steps} == set("DKSUPG")
    assert {phase for _, phase, _, _ in steps} == {"opening", "draw", "discard", "wall"}
    ended = {record["result"]["outcome"] for record in load("hands")}
    assert ended == {outcome.name.lower() for outcome in Outcome} - {"none"}
