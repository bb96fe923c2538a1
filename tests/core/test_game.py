"""The game: deals up to the target score, and who deals next (RULES, The game; One deal, 1)."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
from positions import (
    differences,
    places,
    play_deals,
    view_bytes,
)

from ginrummy_env.core.cards import FULL_DECK
from ginrummy_env.core.deal import decks, first_dealers
from ginrummy_env.core.game import (
    game_winners,
    new_games,
    next_dealers,
    next_deals,
    restart,
)
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import CLASSIC, OKLAHOMA, Rules
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.view import make_view


def play_out(state, rules, rng, **habits):
    """Play all deals that are running to their end."""
    for _ in play_deals(state, rules, rng, **habits):
        pass
    return state


# A new game


def test_a_new_game():
    """RULES, One deal, 1 and 2: nothing scored, the non-dealer to move, 10/10/1/31."""
    state = new_games(3, 50, CLASSIC)
    assert state.game_number.tolist() == list(range(50))
    assert (state.seed == 3).all()
    assert (state.deck == decks(3, np.arange(50), 0)).all()
    assert (state.dealer == first_dealers(3, np.arange(50))).all()
    assert (state.player == 1 - state.dealer).all()
    assert (np.bitwise_count(places(state)) == [10, 10, 31, 1]).all()
    assert (np.bitwise_or.reduce(places(state), axis=1) == FULL_DECK).all()
    assert not state.scores.any()
    assert not state.deals_won.any()
    assert not state.deal_number.any()
    assert (game_winners(state, CLASSIC) == NOBODY).all()


def test_games_are_named_by_seed_and_number():
    """Any numbers, any seeds, in any order, up to 2**64 - 1."""
    whole = new_games(9, 30, CLASSIC)
    chosen = [17, 4, 29]
    assert differences(new_games(9, chosen, CLASSIC), whole.select(chosen)) == []
    assert differences(new_games([9, 9, 9], np.uint64(chosen), CLASSIC), whole.select(chosen)) == []
    far = new_games(2**64 - 1, [2**64 - 1], CLASSIC)
    assert (int(far.seed[0]), int(far.game_number[0])) == (2**64 - 1, 2**64 - 1)
    assert (far.deck == decks(2**64 - 1, 2**64 - 1, 0)).all()


def test_the_first_dealer_can_be_given():
    assert new_games(0, 3, CLASSIC, dealers=[1, 0, 1]).dealer.tolist() == [1, 0, 1]
    assert new_games(0, 3, CLASSIC, dealers=1).player.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("seed", "games", "given", "message"),
    [
        pytest.param(-1, 2, {}, "seed=-1: a whole number from 0 to", id="negative seed"),
        pytest.param(1.5, 2, {}, "seed=1.5: a whole number from 0 to", id="half a seed"),
        pytest.param(None, 2, {}, "seed=None: a whole number from 0 to", id="no seed"),
        pytest.param("7", 2, {}, "seed='7': a whole number from 0 to", id="text"),
        pytest.param(2**64, 2, {}, f"seed={2**64}: a whole number", id="a seed too great"),
        pytest.param(0, [0, -1], {}, "game number=-1: a whole number", id="negative game"),
        pytest.param(0, -3, {}, "games=-3", id="less than no games"),
        pytest.param(0, 2.5, {}, "2.5", id="half a game"),
        pytest.param([0, 1], 3, {}, r"seeds of shape \(2,\) for 3 rows", id="too few seeds"),
        pytest.param(0, 2, {"dealers": [0, 2]}, "dealer=2: a whole number from 0 to 1", id="2"),
        pytest.param(
            0,
            2,
            {"dealers": [0.5, 1]},
            "dealer=0.5: a whole number from 0 to 1",
            id="half a dealer",
        ),
        pytest.param(0, 2, {"dealers": [0]}, r"dealers of shape \(1,\) for 2 rows", id="dealers"),
    ],
)
def test_what_is_no_new_game(seed, games, given, message):
    with pytest.raises(ValueError, match=message):
        new_games(seed, games, CLASSIC, **given)
    state = new_games(1, 3, CLASSIC)
    before = state.copy()
    if np.ndim(games) == 0 and games == 3:
        with pytest.raises(ValueError, match=message):
            restart(state, np.arange(3), seed, np.arange(3), CLASSIC, **given)
    assert differences(state, before) == []


# Who deals next


@pytest.mark.parametrize("dealer", [0, 1])
@pytest.mark.parametrize("winner", [0, 1, NOBODY])
def test_next_dealer(dealer, winner):
    """RULES, One deal, 1: the winner; the settings; after a deal without a winner the same."""
    expected = {"winner": winner, "loser": 1 - winner, "alternate": 1 - dealer}
    for name, following in expected.items():
        found = next_dealers(np.int8([dealer]), np.int8([winner]), Rules(next_dealer=name))
        assert found.tolist() == [dealer if winner == NOBODY else following]
        assert found.dtype == np.int8


@pytest.mark.parametrize("next_dealer", ["winner", "loser", "alternate"])
def test_dealers_of_200_deals(next_dealer):
    """The non-dealer gets the first card and the first move; all is fresh.

    Deals of a few turns, so that 200 are soon played one after another.
    """
    rules = Rules(next_dealer=next_dealer, target=10_000, knock_limit=60, turn_bound=3)
    rng = np.random.default_rng(1)
    state = new_games(2, 20, rules)
    void = 0
    for number in range(200):
        play_out(state, rules, rng, knocks=0.5)
        before = state.copy()
        void += (state.outcome == Outcome.VOID).sum()
        next_deals(state, rules)
        winner, dealer = before.winner, before.dealer
        following = {"winner": winner, "loser": 1 - winner, "alternate": 1 - dealer}[next_dealer]
        assert (state.dealer == np.where(winner == NOBODY, dealer, following)).all()
        assert (state.player == 1 - state.dealer).all()
        assert (state.phase == Phase.OPENING).all()
        first = 1 << (16 * (state.deck[:, 0] // 13).astype(int) + state.deck[:, 0] % 13)
        hands = state.hands[np.arange(20), state.player].astype(int)
        assert ((hands & first) != 0).all()
        assert (np.bitwise_count(places(state)) == [10, 10, 31, 1]).all()
        for name in ("known", "taken", "discarded", "declined", "turn", "step_count", "points"):
            assert not getattr(state, name).any(), name
        for name in ("drawn_card", "taken_card", "winner", "knocker", "knocker_deadwood"):
            assert (getattr(state, name) == -1).all(), name
        assert (state.deal_number == number + 1).all()
        assert (state.scores == before.scores).all()
    assert 1000 < void < 3000


def test_equal_deadwood_that_nobody_wins_is_dealt_again_by_the_same():
    state = new_games(0, 2, CLASSIC, dealers=[0, 1])
    state.phase[:] = Phase.DEAL_OVER
    state.outcome[:] = [Outcome.EQUAL, Outcome.GIN_ANSWERED]
    next_deals(state, CLASSIC)
    assert state.dealer.tolist() == [0, 1]


# Next deals


def test_only_deals_that_are_over_are_followed():
    state = new_games(0, 30, Rules(target=60))
    rng = np.random.default_rng(0)
    for now in play_deals(state, Rules(target=60), rng, knocks=1):
        if 5 < (now.phase == Phase.DEAL_OVER).sum() < 20 and (now.phase == Phase.GAME_OVER).any():
            break
    before = state.copy()
    over = before.phase == Phase.DEAL_OVER
    next_deals(state, Rules(target=60))
    assert (state.deal_number == over).all()
    assert differences(state.select(~over), before.select(~over)) == []
    assert (state.deck[over] == decks(0, np.flatnonzero(over), 1)).all()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param([0], "row 0: no next deal in phase OPENING, only in DEAL_OVER", id="running"),
        pytest.param([1, 2], "row 2: no next deal in phase GAME_OVER", id="the game is over"),
        pytest.param([1, 3], "row 3 does not exist: rows are 0..2", id="behind the last"),
        pytest.param([-2], "row -2 does not exist", id="negative"),
        pytest.param([1, 1], "row 1 appears twice", id="twice"),
        pytest.param([1.0], "rows of type float64", id="no whole number"),
        pytest.param(np.array([True, True, False]), "row 0: no next deal", id="a flag too many"),
    ],
)
def test_rows_without_a_next_deal(rows, message):
    state = new_games(0, 3, CLASSIC)
    state.phase[1:] = [Phase.DEAL_OVER, Phase.GAME_OVER]
    before = state.copy()
    with pytest.raises(ValueError, match=message):
        next_deals(state, CLASSIC, rows)
    assert differences(state, before) == []


def test_a_next_deal_with_a_bad_deck_changes_nothing():
    state = new_games(0, 2, CLASSIC)
    state.phase[:] = Phase.DEAL_OVER
    before = state.copy()
    with pytest.raises(ValueError, match="deck 0: As appears twice"):
        next_deals(state, CLASSIC, [1], decks=[[0, *range(51)]])
    with pytest.raises(ValueError, match=r"shape \(1, 52\), expected \(2, 52\)"):
        next_deals(state, CLASSIC, decks=[list(range(52))])
    with pytest.raises(ValueError, match="deck 0: As appears twice"):
        restart(state, [1], 5, [5], CLASSIC, decks=[[0, *range(51)]])
    assert differences(state, before) == []


def test_rows_by_number_or_by_flag():
    state = new_games(0, 4, CLASSIC)
    state.phase[[1, 3]] = Phase.DEAL_OVER
    by_number, by_flag, all_over = state.copy(), state.copy(), state.copy()
    next_deals(by_number, CLASSIC, [3, 1])
    next_deals(by_flag, CLASSIC, np.array([False, True, False, True]))
    next_deals(all_over, CLASSIC)
    assert differences(by_number, by_flag) == differences(by_number, all_over) == []
    assert by_number.deal_number.tolist() == [0, 1, 0, 1]
    before = by_number.copy()
    for nothing in ([], np.zeros(4, dtype=bool)):
        next_deals(by_number, CLASSIC, nothing)
    assert differences(by_number, before) == []


def test_oklahoma_takes_the_limit_of_each_deal():
    """Not that of the deal before."""
    rng = np.random.default_rng(4)
    state = new_games(1, 40, OKLAHOMA)
    for _ in range(3):
        expected = [
            oracle.knock_limit({"oklahoma": True}, deck[20]) for deck in state.deck.tolist()
        ]
        assert state.knock_limit.tolist() == expected
        play_out(state, OKLAHOMA, rng, knocks=1)
        state = state.select(state.phase == Phase.DEAL_OVER)
        next_deals(state, OKLAHOMA)


# Restart


def test_a_row_that_starts_again_is_a_fresh_one():
    """1,000 games in rows that had been played; masks and views as those of a new state."""
    rng = np.random.default_rng(0)
    state = new_games(0, 1000, CLASSIC)
    for _, _ in zip(range(25), play_deals(state, CLASSIC, rng), strict=False):
        pass
    restart(state, np.arange(1000), 7, np.arange(1000), CLASSIC)
    fresh = new_games(7, 1000, CLASSIC)
    assert differences(state, fresh) == []
    assert (action_masks(state, CLASSIC) == action_masks(fresh, CLASSIC)).all()
    for player in (0, 1):
        views = [view_bytes(make_view(each, CLASSIC, player)) for each in (state, fresh)]
        assert views[0] == views[1]


def test_other_rows_go_on():
    state = new_games(0, 10, CLASSIC)
    for _, _ in zip(range(12), play_deals(state, CLASSIC, np.random.default_rng(0)), strict=False):
        pass
    before = state.copy()
    restart(state, [8, 3], 5, [100, 101], CLASSIC, dealers=[1, 0])
    kept = [row for row in range(10) if row not in (8, 3)]
    assert differences(state.select(kept), before.select(kept)) == []
    fresh = new_games(5, [100, 101], CLASSIC, dealers=[1, 0])
    assert differences(state.select([8, 3]), fresh) == []
    flags = np.isin(np.arange(10), [3, 8])
    restart(state, flags, 5, [101, 100], CLASSIC, dealers=[0, 1])
    assert differences(state.select([8, 3]), fresh) == []


# Whole games


@pytest.mark.parametrize(
    "rules",
    [
        replace(CLASSIC, target=60),
        replace(OKLAHOMA, target=60),
        Rules(target=30, next_dealer="loser"),
    ],
)
def test_totals_are_the_sum_of_the_deals(rules):
    """RULES, The game: at all times; the first to reach the target has won, nobody before."""
    rng = np.random.default_rng(6)
    state = new_games(8, 100, rules)
    totals, won = np.zeros((100, 2), dtype=int), np.zeros((100, 2), dtype=int)
    running = np.ones(100, dtype=bool)
    while running.any():
        play_out(state, rules, rng, knocks=0.9)
        for row in np.flatnonzero(running & (state.winner != NOBODY)):
            totals[row, state.winner[row]] += state.points[row]
            won[row, state.winner[row]] += 1
        assert (state.scores == totals).all()
        assert (state.deals_won == won).all()
        over = (totals >= rules.target).any(axis=1)
        assert ((state.phase == Phase.GAME_OVER) == over).all()
        expected = np.where(over, (totals[:, 1] > totals[:, 0]).astype(int), NOBODY)
        assert (game_winners(state, rules) == expected).all()
        assert not action_masks(state, rules).any()
        running = ~over
        next_deals(state, rules)
    assert ((totals >= rules.target).sum(axis=1) == 1).all()
    assert (state.winner == game_winners(state, rules)).all(), "who wins the last deal wins"
