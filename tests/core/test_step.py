"""What an action does, and how deals end (RULES, One deal, 3 to 7; Scoring a deal)."""

import random
from collections import Counter

import numpy as np
import oracle
import pytest
from cases import LAYOFFS, card
from positions import (
    differences,
    knock_with,
    likely_actions,
    lists_of,
    places,
    play,
    play_deals,
    rich_decks,
    stacked_deck,
)

from ginrummy_env.core.actions import BIG_GIN, KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT, NO_CARD, parse_hand
from ginrummy_env.core.deadwood import deadwood_after_discard
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks, mover_hands
from ginrummy_env.core.rules import CLASSIC, EAAI, MODERN, OKLAHOMA, Rules
from ginrummy_env.core.settlement import void_reasons
from ginrummy_env.core.state import FIELD_NAMES, NOBODY, Outcome, Phase
from ginrummy_env.core.step import step

LOOSE = "As 3h 5d 7c 9s Jh Kd 2c 4s 6h"


def one_deal(upcard="Qs", stock="", rules=CLASSIC, nondealer=LOOSE, dealer=""):
    """A deal in which player 0 is the non-dealer."""
    deck = stacked_deck(nondealer, dealer, upcard, stock)
    return new_games(0, 1, rules, dealers=[1], decks=[deck])


def changed(before, after) -> set[str]:
    return set(differences(before, after)) - {"history", "step_count"}


# One action at a time


def test_a_pass():
    """The upcard stays, and is marked as declined."""
    before = one_deal()
    after = play(before.copy(), CLASSIC, "pass")
    assert changed(before, after) == {"player", "declined"}
    assert after.declined.tolist() == [[int(CARD_BIT[card("Qs")]), 0]]
    again = play(after.copy(), CLASSIC, "pass")
    assert changed(after, again) == {"player", "declined", "phase"}
    assert (again.player[0], again.phase[0]) == (0, Phase.FIRST_DRAW)


def test_a_draw_from_the_stock():
    before = play(one_deal(stock="Kc 8d"), CLASSIC, "pass, pass, draw, discard Kd")
    after = play(before.copy(), CLASSIC, "draw")
    assert changed(before, after) == {"hands", "stock_count", "declined", "drawn_card", "phase"}
    assert after.drawn_card == card("8d")
    assert after.hands[0, 1] == before.hands[0, 1] | CARD_BIT[card("8d")]
    assert (before.stock_count[0], after.stock_count[0]) == (30, 29)
    assert after.declined[0, 1] == parse_hand("Qs Kd"), "passed, and then left lying"
    assert after.phase == Phase.DISCARD


def test_taking_the_upcard():
    """Everybody has seen which card it was."""
    before = one_deal()
    after = play(before.copy(), CLASSIC, "take")
    assert changed(before, after) == {
        "hands", "discard_pile", "discard_count", "known", "taken", "drawn_card", "taken_card",
        "phase",
    }  # fmt: skip
    queen = card("Qs")
    assert (after.drawn_card[0], after.taken_card[0], after.upcard[0]) == (queen, queen, NO_CARD)
    assert after.known.tolist() == after.taken.tolist() == [[int(CARD_BIT[queen]), 0]]
    assert after.hands[0, 0] == parse_hand(f"{LOOSE} Qs")


def test_a_discard():
    before = play(one_deal(), CLASSIC, "take")
    after = play(before.copy(), CLASSIC, "discard Kd")
    assert changed(before, after) == {
        "hands", "discard_pile", "discard_count", "discarded", "drawn_card", "taken_card", "phase",
        "player", "turn",
    }  # fmt: skip
    assert (after.upcard[0], after.turn[0], after.player[0]) == (card("Kd"), 1, 1)
    assert after.discarded.tolist() == [[int(parse_hand("Kd")), 0]]
    assert (after.drawn_card[0], after.taken_card[0]) == (NO_CARD, NO_CARD)
    assert after.phase == Phase.DRAW


def test_a_taken_card_is_known_until_it_goes():
    """Kept over many turns, then thrown; that it was taken stays."""
    state = play(one_deal(), CLASSIC, "take, discard Kd")
    queen = CARD_BIT[card("Qs")]
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions = likely_actions(state, CLASSIC, rng, knocks=0, greed=0)
        if state.phase[0] == Phase.DRAW:
            actions[:] = 104
        elif actions[0] == card("Qs") or actions[0] >= KNOCK:
            actions[:] = np.flatnonzero(action_masks(state, CLASSIC)[0, :52])[0]
        step(state, actions, CLASSIC)
        assert state.known[0, 0] & queen
    while state.player[0] != 0 or state.phase[0] != Phase.DISCARD:
        step(state, action_masks(state, CLASSIC).argmax(axis=1), CLASSIC)
    play(state, CLASSIC, "discard Qs")
    assert not state.known[0, 0]
    assert state.taken[0, 0] == state.discarded[0, 0] & queen == queen
    assert state.upcard == card("Qs")


def test_history():
    state = play(one_deal(stock="Kc"), CLASSIC, "pass, pass, draw, discard Kd, take, discard 2s")
    assert state.history[0, :6].tolist() == [106, 106, 104, card("Kd"), 105, card("2s")]
    assert (state.history[0, 6:] == 255).all()
    assert state.step_count == 6


# Knock, gin and undercut, whole deals


@pytest.mark.parametrize("case", LAYOFFS, ids=lambda case: case.name)
@pytest.mark.parametrize("player", [0, 1])
def test_a_knock_is_scored_at_once(case, player):
    """With the players exchanged exactly the exchanged result."""
    taken = parse_hand(f"{case.knocker} {case.defender}")
    queen, discard = [c for c in ("Qs", "Qc", "8s", "6c", "5c") if not taken & parse_hand(c)][:2]
    state = knock_with(case.knocker, case.defender, discard, CLASSIC, upcard=queen, player=player)
    assert state.phase == Phase.DEAL_OVER
    assert Outcome(state.outcome[0]).name.lower() == case.outcome
    assert state.knocker == player
    assert state.winner == (player if case.points > 0 else 1 - player)
    assert state.points == abs(case.points)
    assert state.knocker_deadwood == case.knocker_deadwood
    assert state.defender_deadwood == case.defender_deadwood
    expected = [0, 0]
    expected[state.winner[0]] = abs(case.points)
    assert state.scores.tolist() == [expected]
    assert state.deals_won.tolist() == [[int(points > 0) for points in expected]]


GIN = "2h 3h 4h 5d 6d 7d 9c Tc Jc Qc"
LEFT_25 = "Ks Kh Kd Qs Qh Qd 9s Td 5c Ac"
"""Two sets, and 25 points that fit nowhere."""


@pytest.mark.parametrize("player", [0, 1])
def test_gin(player):
    """Gin with 25 left, from 0:0 to 45:0."""
    state = knock_with(GIN, LEFT_25, "Ah", CLASSIC, upcard="2s", player=player)
    assert (Outcome(state.outcome[0]), state.winner[0]) == (Outcome.GIN, player)
    assert (state.knocker_deadwood[0], state.defender_deadwood[0]) == (0, 25)
    assert state.scores[0].tolist() == ([45, 0] if player == 0 else [0, 45])


@pytest.mark.parametrize(("may", "left"), [(True, 0), (False, 10)])
def test_the_defender_lays_off_on_gin_too(may, left):
    """RULES, One deal, 6: the king on the run of clubs. A setting forbids it."""
    rules = Rules(layoff_on_gin=may)
    defender = "5s 5h 5c Qs Qh Qd 9s 9h 9d Kc"
    state = knock_with(GIN, defender, "Jh", rules, upcard="2s")
    assert (state.outcome[0], state.winner[0]) == (Outcome.GIN, 0)
    assert (state.defender_deadwood[0], state.points[0]) == (left, 20 + left)


@pytest.mark.parametrize(
    ("answer", "winner", "points"),
    [("gin_wins", 0, 20), ("undercut", 1, 10), ("nobody", NOBODY, 0)],
)
def test_gin_answered_by_gin(answer, winner, points):
    """RULES, Settings: the defender's own ten cards have no deadwood either."""
    rules = Rules(gin_answered_by_gin=answer)
    state = knock_with(GIN, "As Ah Ad Qs Qh Qd 9s 9h 9d Ac", "Jh", rules, upcard="2s")
    assert (state.winner[0], state.points[0]) == (winner, points)
    expected = Outcome.GIN if answer == "gin_wins" else Outcome.GIN_ANSWERED
    assert state.outcome == expected
    assert state.deals_won.sum() == (winner != NOBODY)


@pytest.mark.parametrize("answer", ["undercut", "nobody"])
def test_lay_offs_do_not_answer_gin(answer):
    """Nothing left after the lay-offs, but the ten cards alone have deadwood."""
    rules = Rules(gin_answered_by_gin=answer)
    state = knock_with(GIN, "As Ah Ad Qs Qh Qd 9s 9h 9d Kc", "Jh", rules, upcard="2s")
    assert (state.outcome[0], state.points[0], state.defender_deadwood[0]) == (Outcome.GIN, 20, 0)


@pytest.mark.parametrize(
    ("equal", "outcome", "winner", "points"),
    [
        ("undercut", Outcome.UNDERCUT, 1, 10),
        ("knocker", Outcome.KNOCK, 0, 0),
        ("nobody", Outcome.EQUAL, NOBODY, 0),
    ],
)
def test_equal_deadwood(equal, outcome, winner, points):
    """RULES, Settings: a deal won for nothing is won all the same."""
    case = LAYOFFS[3]
    rules = Rules(equal_deadwood=equal)
    state = knock_with(case.knocker, case.defender, "Ac", rules, upcard="Kc")
    assert (state.outcome[0], state.winner[0], state.points[0]) == (outcome, winner, points)
    assert state.deals_won[0].sum() == (winner != NOBODY)
    assert state.scores[0].sum() == points


@pytest.mark.parametrize(
    ("settings", "points"),
    [({}, 31), ({"big_gin_bonus": 50}, 50), ({"layoff_on_gin": True}, 31)],
)
def test_big_gin(settings, points):
    """Eleven melded cards: the bonus in place of that for gin, and what the defender has left."""
    rules = Rules(**{"big_gin": True, "gin_bonus": 25, "layoff_on_gin": False} | settings)
    state = one_deal("2s", "8d", rules, GIN, LEFT_25)
    before = play(state, rules, "pass, pass, draw").copy()
    play(state, rules, "big gin")
    assert (state.outcome[0], state.winner[0], state.turn[0]) == (Outcome.BIG_GIN, 0, 0)
    assert (state.knocker_deadwood[0], state.defender_deadwood[0]) == (0, 25)
    assert state.points == points + 25
    assert (places(state) == places(before)).all(), "no card has moved"


def test_big_gin_is_not_answered():
    rules = Rules(big_gin=True, gin_answered_by_gin="undercut")
    state = one_deal("2s", "8d", rules, GIN, "As Ah Ad Qs Qh Qd 9s 9h 9d Ac")
    play(state, rules, "pass, pass, draw, big gin")
    assert (state.outcome[0], state.winner[0], state.points[0]) == (Outcome.BIG_GIN, 0, 31)


@pytest.mark.parametrize(("upcard", "factor"), [("9s", 2), ("9h", 1), ("As", 2)])
def test_spades_double(upcard, factor):
    """RULES, Settings: the points of the deal with their bonus; the boxes not."""
    state = knock_with(GIN, "Ks Kh Kd Qs Qh Qd Ts Td 5c Ac", "Ah", OKLAHOMA, upcard=upcard)
    assert state.defender_deadwood == 26
    assert state.points == factor * (20 + 26)
    assert state.deals_won.tolist() == [[1, 0]]
    plain = Rules(oklahoma=True)
    state = knock_with(GIN, "Ks Kh Kd Qs Qh Qd Ts Td 5c Ac", "Ah", plain, upcard=upcard)
    assert state.points == 46


def test_an_undercut_is_doubled_too():
    case = LAYOFFS[3]
    state = knock_with(case.knocker, case.defender, "Ac", OKLAHOMA, upcard="Ks")
    assert (state.outcome[0], state.winner[0], state.points[0]) == (Outcome.UNDERCUT, 1, 20)


@pytest.mark.parametrize(
    ("rules", "points"), [(CLASSIC, 20 + 25), (EAAI, 25 + 25), (MODERN, 25 + 25)]
)
def test_gin_by_presets(rules, points):
    assert knock_with(GIN, LEFT_25, "Ah", rules, upcard="2s").points == points


def test_the_target_ends_the_game():
    rules = Rules(target=45)
    assert knock_with(GIN, LEFT_25, "Ah", rules, upcard="2s").phase == Phase.GAME_OVER
    rules = Rules(target=46)
    assert knock_with(GIN, LEFT_25, "Ah", rules, upcard="2s").phase == Phase.DEAL_OVER


# Void deals


def draw_and_throw(state, rules, count):
    """``count`` turns in which the player draws from the stock and throws what he drew."""
    for _ in range(count):
        play(state, rules, "draw")
        step(state, state.drawn_card, rules)
    return state


@pytest.mark.parametrize("void_stock", [2, 0, 1, 5, 30])
def test_a_deal_without_a_knock_is_void(void_stock):
    """RULES, One deal, 7: two cards left; nobody wins, nothing is scored; and the setting."""
    rules = Rules(void_stock=void_stock)
    state = play(one_deal(rules=rules), rules, "pass, pass")
    draw_and_throw(state, rules, 30 - void_stock)
    assert not state.over.any()
    draw_and_throw(state, rules, 1)
    assert (state.stock_count[0], state.phase[0]) == (void_stock, Phase.DEAL_OVER)
    assert (state.outcome[0], state.winner[0], state.points[0]) == (Outcome.VOID, NOBODY, 0)
    assert (state.knocker[0], state.knocker_deadwood[0], state.defender_deadwood[0]) == (-1, -1, -1)
    assert not state.scores.any()
    assert not state.deals_won.any()
    assert void_reasons(state, rules) == ["stock"]


@pytest.mark.parametrize("void_stock", [2, 0])
def test_who_draws_the_third_last_card_may_still_knock(void_stock):
    """RULES, One deal, 7."""
    rules = Rules(void_stock=void_stock)
    deck = stacked_deck(GIN, "", "Ks")
    deck += [deck.pop(20 + 31 - void_stock)]
    last = deck[20 + 31 - void_stock]
    state = new_games(0, 1, rules, dealers=[1], decks=[deck])
    play(state, rules, "pass, pass")
    draw_and_throw(state, rules, 30 - void_stock)
    play(state, rules, "draw")
    assert (state.stock_count[0], state.drawn_card[0]) == (void_stock, last)
    player = state.player[0]
    assert player == (30 - void_stock) % 2 == 0
    step(state, [KNOCK + last], rules)
    assert (state.outcome[0], state.winner[0]) == (Outcome.GIN, 0)
    assert void_reasons(state, rules) == [None]


@pytest.mark.parametrize("bound", [1, 2, 10, 100])
def test_the_turn_bound(bound):
    """RULES, Settled here: both always take the upcard; the stock stays untouched."""
    rules = Rules(turn_bound=bound)
    state = one_deal(rules=rules)
    for _ in range(bound):
        assert not state.over.any()
        play(state, rules, "take")
        step(state, action_masks(state, rules)[:, :52].argmax(axis=1), rules)
    assert (state.outcome[0], state.winner[0], state.points[0]) == (Outcome.VOID, NOBODY, 0)
    assert (state.turn[0], state.stock_count[0]) == (bound, 31)
    assert void_reasons(state, rules) == ["bound"]
    assert not state.scores.any()


def test_a_knock_with_the_last_discard_counts():
    rules = Rules(turn_bound=1)
    state = knock_with(GIN, LEFT_25, "Ah", rules, upcard="2s")
    assert (state.outcome[0], state.points[0], state.turn[0]) == (Outcome.GIN, 45, 1)


def test_no_bound():
    """Players who take for ever: action 32,768 is counted like any other, in its own row."""
    rules = Rules(turn_bound=None)
    state = play(new_games(0, 2, rules), rules, "pass")
    state.widen(32_768)
    state.history[:, 1:32_761] = 7  # as if so much had been done
    state.step_count[:] = state.turn[:] = 32_761
    for _ in range(10):
        play(state, rules, "take")
        step(state, action_masks(state, rules)[:, :52].argmax(axis=1), rules)
    assert state.step_count.tolist() == [32_781] * 2
    assert state.turn.tolist() == [32_771] * 2
    assert (state.history[:, 0] == PASS).all()
    assert (state.history[:, 1:32_761] == 7).all()
    assert (state.history[:, 32_761:32_781:2] == TAKE_UPCARD).all()
    assert not state.over.any()


def test_the_bound_comes_before_the_stock():
    """If both come in one turn it is the bound."""
    rules = Rules(turn_bound=29)
    state = draw_and_throw(play(one_deal(rules=rules), rules, "pass, pass"), rules, 29)
    assert (state.stock_count[0], void_reasons(state, rules)) == (2, ["bound"])


@pytest.mark.parametrize("mode", ["knock_with_discard", "take_discard"])
def test_a_pass_at_the_wall_is_void(mode):
    rules = Rules(at_void_stock=mode)
    state = draw_and_throw(play(one_deal(rules=rules), rules, "pass, pass"), rules, 29)
    assert (state.phase[0], state.stock_count[0]) == (Phase.WALL, 2)
    upcard, player = state.upcard[0], state.player[0]
    play(state, rules, "pass")
    assert (state.outcome[0], state.winner[0]) == (Outcome.VOID, NOBODY)
    assert void_reasons(state, rules) == ["stock"]
    assert state.declined[0, player] & CARD_BIT[upcard]


def test_at_the_wall_the_bound_still_ends_the_deal():
    rules = Rules(at_void_stock="take_discard", turn_bound=40)
    state = draw_and_throw(play(one_deal(rules=rules), rules, "pass, pass"), rules, 29)
    for _ in range(11):
        play(state, rules, "take")
        step(state, action_masks(state, rules)[:, :52].argmax(axis=1), rules)
    assert (state.turn[0], void_reasons(state, rules)) == (40, ["bound"])


# Rows that are over


def test_rows_that_are_over_ignore_their_action():
    """Any number will do, and nothing changes there."""
    state = new_games(0, 40, CLASSIC)
    rng = np.random.default_rng(0)
    while not state.over.any():
        step(state, likely_actions(state, CLASSIC, rng), CLASSIC)
    rows = np.flatnonzero(state.over)
    for number in (-1, 0, 52, 104, 107, 108, 999, -32768, 32767):
        before = state.copy()
        actions = likely_actions(state, CLASSIC, rng)
        actions[rows] = number
        step(state, actions, CLASSIC)
        assert differences(state.select(rows), before.select(rows)) == []
        assert differences(state, before) != []


def test_a_batch_that_is_over_stays_as_it_is():
    *_, state = play_deals(new_games(0, 5, CLASSIC), CLASSIC, np.random.default_rng(0))
    before = state.copy()
    step(state, [7] * 5, CLASSIC)
    assert differences(state, before) == []


# Settlements beside the oracle


def settled(rng, count, rules):
    """Deals in which the non-dealer has knocked at once, with melds or without, or gone big gin."""
    decks = rich_decks(rng, count) if rules.num_cards == 52 else None
    state = new_games(rng.integers(1000), count, rules, decks=decks)
    play(state, rules, "pass, pass, draw")
    state.knock_limit[:] = 98  # as if anybody may knock
    best = deadwood_after_discard(mover_hands(state)).argmin(axis=1)
    masks = action_masks(state, rules)
    step(state, np.where(masks[:, BIG_GIN], BIG_GIN, KNOCK + best), rules)
    return state


def test_settlements_under_random_rules():
    """RULES, One deal, 6; Scoring a deal; Settings: 60 settings with 40 knocks each."""
    choose, rng = random.Random(3), np.random.default_rng(3)
    seen = Counter()
    for number in range(60):
        chosen = oracle.random_small_rules(choose) if number % 3 else oracle.random_rules(choose)
        rules = Rules(**chosen)
        state = settled(rng, 40, rules)
        hands, piles = state.hands, lists_of(state.discards)
        for row, pile in enumerate(piles):
            knocker = state.knocker[row]
            mine, his = lists_of(hands[row, [knocker, 1 - knocker]])
            upcard = int(state.first_upcard[row])
            expected = oracle.settle(mine, his, pile, chosen, first_upcard=upcard)
            sides = {"knocker": knocker, "defender": 1 - knocker, None: NOBODY}
            assert Outcome(state.outcome[row]).name.lower() == expected["outcome"]
            assert state.winner[row] == sides[expected["winner"]]
            assert state.points[row] == expected["points"]
            assert state.knocker_deadwood[row] == expected["knocker_deadwood"]
            assert state.defender_deadwood[row] == expected["defender_deadwood"]
            seen[expected["outcome"]] += 1
    assert set(seen) >= {"knock", "undercut", "gin", "equal"}, seen


def test_a_step_writes_into_no_array_it_was_given():
    state = new_games(0, 4, CLASSIC)
    actions = np.full(4, 106, dtype=np.int16)
    step(state, actions, CLASSIC)
    assert (actions == 106).all()
    for name in FIELD_NAMES:
        assert not np.shares_memory(getattr(state, name), actions)
