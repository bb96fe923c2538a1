"""Whole deals and whole games beside the oracle, under any rules."""

import random
from collections import Counter

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from positions import oracle_deals, play_beside, play_deals, rich_decks

from ginrummy_env.core.game import game_winners, new_games, next_deals
from ginrummy_env.core.rules import CLASSIC, Rules
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.state import NOBODY, Outcome, Phase


@pytest.mark.parametrize("rich", [False, True])
def test_random_deals_under_random_rules(rich):
    """Legal actions at every step, and how the deal ends, of 70 settings with 2 deals each.

    With rich decks, and deals that last, big gin comes.
    """
    choose, rng = random.Random(1 + rich), np.random.default_rng(rich)
    outcomes = Counter()
    for number in range(50):
        chosen = oracle.random_rules(choose)
        if rich:
            chosen |= {"big_gin": True, "void_stock": 1, "turn_bound": None}
        rules = Rules(**chosen)
        state = new_games(number, 2, rules, decks=rich_decks(rng, 2) if rich else None)
        habits = {"knocks": choose.choice([0.05, 0.5]), "greed": choose.choice([0.7, 1])}
        play_beside(state, rules, oracle_deals(state, chosen), rng, **habits)
        outcomes.update(Outcome(outcome).name for outcome in state.outcome.tolist())
    expected = {"GIN", "KNOCK", "UNDERCUT", "VOID"} | ({"BIG_GIN"} if rich else set())
    assert set(outcomes) >= expected, outcomes


def test_random_deals_with_decks_of_any_size():
    """80 settings with 3 deals each: every number of ranks, suits and cards dealt."""
    choose, rng = random.Random(7), np.random.default_rng(7)
    outcomes, sizes = Counter(), set()
    for number in range(80):
        chosen = oracle.random_small_rules(choose)
        rules = Rules(**chosen)
        state = new_games(number, 3, rules)
        habits = {"knocks": choose.choice([0.05, 0.5]), "greed": choose.choice([0.7, 1])}
        play_beside(state, rules, oracle_deals(state, chosen), rng, **habits)
        outcomes.update(Outcome(outcome).name for outcome in state.outcome.tolist())
        sizes |= {("ranks", rules.num_ranks), ("suits", rules.num_suits)}
        sizes.add(("hand", rules.hand_size))
    assert set(outcomes) >= {"GIN", "KNOCK", "UNDERCUT", "VOID"}, outcomes
    assert len(sizes) == 11 + 4 + 8


@settings(max_examples=40)
@given(st.permutations(list(range(52))), st.integers(0, 2**32), st.integers(0, 1))
def test_any_deal_under_any_rules(deck, seed, dealer):
    chosen = oracle.random_rules(random.Random(seed))
    rules = Rules(**chosen)
    state = new_games(0, 1, rules, dealers=[dealer], decks=[deck])
    assert state.dealer == dealer
    play_beside(state, rules, oracle_deals(state, chosen), np.random.default_rng(seed), knocks=0.3)


def test_results_make_sense():
    """Winner and points of 10,000 random deals; void is 0:0, points have one winner."""
    *_, state = play_deals(new_games(5, 10_000, CLASSIC), CLASSIC, np.random.default_rng(5))
    void = state.outcome == Outcome.VOID
    assert void.any()
    assert (state.winner[void] == NOBODY).all()
    assert not state.scores[void].any()
    won = np.flatnonzero(~void)
    winner = state.winner[won]
    assert (state.scores[won, winner] == state.points[won]).all()
    assert (state.points[won] > 0).all()
    assert not state.scores[won, 1 - winner].any()
    assert (state.deals_won[won, winner] == 1).all()
    undercut = state.outcome[won] == Outcome.UNDERCUT
    assert ((winner != state.knocker[won]) == undercut).all()
    difference = state.defender_deadwood[won] - state.knocker_deadwood[won]
    assert ((difference <= 0) & (state.outcome[won] == Outcome.KNOCK)).sum() == 0
    assert ((state.knocker_deadwood[won] == 0) == (state.outcome[won] == Outcome.GIN)).all()


def test_games_under_random_rules():
    """Beside the oracle: totals, deals won, dealers, the winner and the final scores."""
    choose, rng = random.Random(5), np.random.default_rng(5)
    finished = 0
    for number in range(20):
        chosen = oracle.any_rules(choose) | {"target": choose.choice([1, 30, 60])}
        rules = Rules(**chosen)
        state = new_games(number, 2, rules)
        games = [oracle.Game(chosen, dealer) for dealer in state.dealer.tolist()]
        for _ in range(8):
            running = np.flatnonzero(state.phase == Phase.OPENING)
            if not running.size:
                break
            part = state.select(running)
            assert part.dealer.tolist() == [games[row].dealer for row in running]
            deals = oracle_deals(part, chosen)
            play_beside(part, rules, deals, rng, knocks=1)
            state.assign(running, part)
            for row, deal in zip(running, deals, strict=True):
                games[row].add(deal)
            assert state.scores.tolist() == [game.totals for game in games]
            assert state.deals_won.tolist() == [game.deals_won for game in games]
            assert game_winners(state, rules).tolist() == [
                NOBODY if game.winner is None else game.winner for game in games
            ]
            over = state.phase == Phase.GAME_OVER
            assert over.tolist() == [game.winner is not None for game in games]
            finals = final_scores(state.scores, state.deals_won, rules)
            for row in np.flatnonzero(over):
                assert finals[row].tolist() == games[row].final
                finished += 1
            next_deals(state, rules)
    assert finished > 20
