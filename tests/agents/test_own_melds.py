"""Deals settled by the players' own melds and a greedy lay-off."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ginrummy_agents.external import ExternalPolicy, protocol
from ginrummy_agents.external.own_melds import flaw, greedy_layoffs, joined, settle_again
from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.cards import format_hand, hand_points, parse_hand
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.layoff import knocker_arrangement
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.melds import MELD_MASK, NO_MELD
from ginrummy_env.core.rules import EAAI
from ginrummy_env.core.state import NOBODY
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Forfeit, MeldingPolicy, make_policy
from ginrummy_training.evaluation.match import play_match, record_games
from ginrummy_training.evaluation.match_result import EXACT, OWN_MELDS, Match, settlement_of
from ginrummy_training.evaluation.match_summary import summarise
from ginrummy_training.storage import ResultError

BOT = Path(__file__).parents[1] / "helpers" / "arena_bot.py"
SHORT = replace(EAAI, target=10)


def masks(*texts):
    return tuple(int(parse_hand(text)) for text in texts)


def bot(behaviour, after=0):
    return f"exec:{sys.executable} -I {BOT} '{behaviour}' {after}; melds=own"


@pytest.fixture(scope="module")
def knocks():
    """States of deals that a knock has just ended, with points on both sides before."""
    state, rng = new_games(seed=3, games=60, rules=EAAI), np.random.default_rng(3)
    for _ in range(900):
        step(state, random_actions(action_masks(state, EAAI), rng.random(60)), EAAI)
        ended = state.over & (state.knocker != NOBODY)
        if ended.sum() >= 8:
            return state.select(np.flatnonzero(ended))
        next_deals(state, EAAI, np.flatnonzero(state.over & ~ended))
    raise AssertionError("too few knocks")


def nothing_own(rows, players, knocked):
    return [None] * len(rows)


@pytest.mark.parametrize(
    ("melds", "wrong"),
    [
        pytest.param(("3s 4s 5s 6s 7s 8s",), "", id="a run of six is one meld"),
        pytest.param(("3s 4s",), "not a meld", id="two cards"),
        pytest.param(("3s 4s 5s", "5s 6s 7s"), "5s is not there", id="a card in two melds"),
        pytest.param(("Ks Kh Kd",), "is not there", id="cards of nobody"),
        pytest.param((), "leave 41 points, more than 10", id="a knock with too much"),
    ],
)
def test_what_may_be_laid_down(melds, wrong):
    hand = int(parse_hand("3s 4s 5s 6s 7s 8s Ac 2c 4d Ad"))
    assert wrong in flaw(masks(*melds), hand, 10)
    assert bool(flaw(masks(*melds), hand, 10)) == bool(wrong)


@pytest.mark.parametrize(
    ("cards", "melds", "laid"),
    [
        pytest.param("8h 9h Kc", ("5h 6h 7h",), ["8h 9h"], id="one after another"),
        pytest.param("4h 7c", ("7s 7h 7d", "5h 6h 8h"), ["7c", ""], id="not across a gap"),
        pytest.param("7h 8h", ("7s 7c 7d", "4h 5h 6h"), ["7h", ""], id="greedy: the first meld"),
        pytest.param("7h 8h", ("4h 5h 6h", "7s 7c 7d"), ["7h 8h", ""], id="the order matters"),
    ],
)
def test_layoffs_are_greedy(cards, melds, laid):
    found = greedy_layoffs(int(parse_hand(cards)), masks(*melds))
    assert [format_hand(each) for each in found] == laid


def test_runs_that_touch_are_one_meld():
    found = joined(masks("3s 4s 5s", "9h 9d 9c", "6s 7s 8s"))
    assert sorted(map(format_hand, found)) == ["3s 4s 5s 6s 7s 8s", "9h 9d 9c"]


def test_who_leaves_melds_to_the_host_gains_nothing_by_it(knocks):
    state = knocks.copy()
    rows = np.arange(len(state))
    shown, lost, _, _ = settle_again(state, rows, EAAI, nothing_own)
    assert not lost.size
    assert (state.knocker_deadwood == knocks.knocker_deadwood).all()
    assert (state.defender_deadwood >= knocks.defender_deadwood).all()
    for row, table in enumerate(shown):
        hand = int(state.hands[row, 1 - state.knocker[row]])
        left = hand & ~sum(table.defender_melds) & ~sum(table.layoffs)
        assert int(hand_points(np.uint64(left))) == state.defender_deadwood[row]
    same = state.defender_deadwood == knocks.defender_deadwood
    assert (state.scores[same] == knocks.scores[same]).all()


def test_points_of_own_melds_replace_those_of_the_rules(knocks):
    state = knocks.copy()
    rows = np.arange(len(state))

    def defender_melds_nothing(rows, players, knocked):
        return [None if knocked is None else ()] * len(rows)

    settle_again(state, rows, EAAI, defender_melds_nothing)
    more = state.defender_deadwood > knocks.defender_deadwood
    assert more.any()
    won = state.scores.sum(axis=1) - knocks.scores.sum(axis=1)
    assert (won == state.points - knocks.points).all()
    assert (state.deals_won.sum(axis=1) == knocks.deals_won.sum(axis=1)).all()


def test_a_deal_that_is_forfeited_is_not_scored(knocks):
    state = knocks.copy()

    def first_row_forfeits(rows, players, knocked):
        return [
            Forfeit.ILLEGAL if row == 0 and knocked is not None else None for row in rows.tolist()
        ]

    shown, lost, players, kinds = settle_again(
        state, np.arange(len(state)), EAAI, first_row_forfeits
    )
    assert lost.tolist() == [0]
    assert players.tolist() == [1 - state.knocker[0]]
    assert kinds.tolist() == [Forfeit.ILLEGAL]
    assert len(shown) == len(state) - 1
    assert state.scores[0].sum() == knocks.scores[0].sum() - knocks.points[0]


def test_melds_of_a_policy_that_are_none_are_an_error(knocks):
    def lays_down_two_cards(rows, players, knocked):
        return [masks("3s 4s")] * len(rows)

    with pytest.raises(ValueError, match="not a meld"):
        settle_again(knocks.copy(), np.arange(len(knocks)), EAAI, lays_down_two_cards)


def test_a_program_lays_down_its_own_melds():
    agent = bot("melds nothing")
    assert isinstance(make_policy(agent), MeldingPolicy)
    own = play_match(agent, "simple", games=6, seed=4, rules=SHORT, batch=3)
    exact = play_match(agent.partition(";")[0], "simple", games=6, seed=4, rules=SHORT, batch=3)
    assert summarise(own)["match"]["settlement"] == OWN_MELDS
    assert summarise(exact)["match"]["settlement"] == EXACT
    assert not own.table["forfeit_a"].any()
    assert own.table["defender_deadwood"].sum() > exact.table["defender_deadwood"].sum()


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        ("knocks with nothing", Forfeit.ILLEGAL),
        ("melds two cards", Forfeit.ILLEGAL),
        ("melds are words", Forfeit.UNREADABLE),
        ("exits at melds", Forfeit.ENDED),
    ],
)
def test_faulty_melds_forfeit_the_game(behaviour, kind, caplog):
    result = play_match(bot(behaviour), "simple", games=6, seed=4, rules=SHORT, batch=1)
    assert kind in result.table["forfeit_a"]
    assert set(result.table["forfeit_a"]) <= {0, kind}
    assert "forfeits game" in caplog.text


def test_results_of_two_settlements_are_never_mixed(tmp_path):
    """Even where both policies are called alike."""
    out = tmp_path / "games.npz"
    command = [sys.executable, "-I", str(BOT), "melds nothing"]
    for own_melds in (False, True):
        with ExternalPolicy(command, own_melds=own_melds) as policy:
            policy.name = "bot"
            if own_melds:
                with pytest.raises(ResultError, match="settlement"):
                    play_match(policy, "gold", games=2, seed=1, rules=SHORT, out=out)
            else:
                play_match(policy, "gold", games=2, seed=1, rules=SHORT, out=out)


def test_a_match_says_how_it_is_settled_or_is_refused():
    agents = (bot("melds nothing"), "simple")
    assert settlement_of(*agents) == OWN_MELDS
    assert settlement_of("gold", "simple") == EXACT
    with pytest.raises(ValueError, match="cannot be recorded"):
        record_games(Match(agents, SHORT, 1, settlement=OWN_MELDS), 2)


def test_a_defender_is_asked_without_the_cards_that_it_may_not_see(knocks):
    """Only its hand, what was laid down as melds, and what has been seen of the deal."""
    for row in range(len(knocks)):
        state = knocks.select([row])
        knocker = int(state.knocker[0])
        view = make_view(state, EAAI, 1 - knocker)
        best, _ = knocker_arrangement(state.hands[:, knocker], state.discards)
        melds = tuple(int(MELD_MASK[number]) for number in best[0] if number != NO_MELD)
        (line,) = protocol.meld_requests(view, [0], [0], [melds])
        request = json.loads(line)
        shown = int(parse_hand(" ".join(request["knocker_melds"])))
        said = " ".join(event.split()[-1] for event in request["events"] if event[-1] in "shdc")
        public = {card for card in said.split() if len(card) == 2}
        hidden = set(format_hand(int(state.hands[0, knocker]) & ~shown).split()) - public
        for card in hidden:
            assert f'"{card}"' not in line.decode()
            assert card not in request["hand"].split()
            assert all(card not in event.split() for event in request["events"])
