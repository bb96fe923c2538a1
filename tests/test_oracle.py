"""The oracle agrees with every vector and with the cases, so that other tests can rely on it."""

import random
from collections import Counter
from itertools import permutations

import oracle
import pytest
from cases import DEADWOOD, DISCARDS, LAYOFFS, OKLAHOMA, SCORES, SETS_OF_THREE, card, cards
from vectors import load


def named(rows):
    return [pytest.param(row, id=row.name) for row in rows]


def play_on(deal, *actions):
    for action in actions:
        deal.play(action)
    return deal


# Vectors


def test_deadwood_vectors():
    for record in load("deadwood"):
        assert oracle.deadwood(record["hand"]) == record["deadwood"], record


def test_after_discard_vectors():
    for record in load("deadwood"):
        if len(record["hand"]) == 11:
            expected = dict(zip(record["hand"], record["after_discard"], strict=True))
            assert oracle.after_discard(record["hand"]) == expected, record


def test_layoff_vectors():
    for record in load("layoff"):
        knocker, defender, pile = record["knocker"], record["opponent"], record["discards"]
        settled = oracle.settle(knocker, defender, pile)
        potential = oracle.layoff_potential(settled["melds"], knocker, pile)
        winner = {"knocker": "knocker", "opponent": "defender"}[record["winner"]]
        assert potential == record["layoff_potential"], record
        assert oracle.deadwood(defender) == record["opponent_alone"], record
        assert settled == {
            "outcome": record["outcome"],
            "winner": winner,
            "points": record["points"],
            "knocker_deadwood": record["knocker_deadwood"],
            "defender_deadwood": record["opponent_deadwood"],
            "melds": record["melds"],
        }, record


@pytest.mark.parametrize("values", ["tie_values", "all_values"])
def test_layoff_vectors_over_equal_arrangements(values):
    """What the defender is left with, whichever of the equal arrangements is laid down."""
    for record in load("layoff"):
        if values == "tie_values":
            equal = oracle.tied_arrangements(record["knocker"], record["discards"])
        else:
            equal = oracle.arrangements(record["knocker"])
        left = {oracle.defender_deadwood(record["opponent"], each) for each in equal}
        assert sorted(left) == record[values], record


def test_hand_vectors():
    for record in load("hands"):
        deal = oracle.Deal(record["deck"], record["dealer"], record["rules"])
        assert deal.knock_limit == record["knock_limit"], record["id"]
        for player, phase, legal, action in record["steps"]:
            where = record["id"], len(deal.actions)
            assert (deal.player, deal.phase) == (player, phase), where
            assert deal.legal() == set(legal), where
            assert deal.result is None, where
            deal.play(action)
        assert deal.result == record["result"], record["id"]


def test_game_vectors():
    for record in load("games"):
        game = oracle.Game(record["rules"], record["first_dealer"])
        for hand in record["hands"]:
            assert game.winner is None, record["id"]
            assert game.dealer == hand["dealer"], record["id"]
            deal = play_on(game.new_deal(hand["deck"]), *hand["actions"])
            for key in ("outcome", "void_reason", "winner", "points"):
                assert deal.result[key] == hand[key], record["id"]
            game.add(deal)
            assert game.totals == hand["totals"], record["id"]
        assert game.winner == record["winner"], record["id"]
        assert game.totals == record["points"], record["id"]
        assert game.deals_won == record["hands_won"], record["id"]
        assert game.final == record["final"], record["id"]


# Cases: melds and deadwood


@pytest.mark.parametrize("case", named(DEADWOOD))
def test_deadwood(case):
    hand = cards(case.hand)
    assert [oracle.deadwood(hand) for _ in range(2)] == [case.deadwood] * 2
    assert hand == cards(case.hand)


@pytest.mark.parametrize("text", SETS_OF_THREE)
def test_three_cards_of_a_rank_are_a_set(text):
    assert oracle.deadwood(cards(text)) == 0


def test_suits_are_equal():
    rng = random.Random(5)
    for _ in range(100):
        hand = rng.sample(range(52), 10)
        for suits in permutations(range(4)):
            renamed = [13 * suits[oracle.suit(each)] + oracle.rank(each) for each in hand]
            assert oracle.deadwood(renamed) == oracle.deadwood(hand)


def test_points_of_the_deck():
    """Four suits of 1 to 10 and three faces: 340."""
    assert oracle.points(range(52)) == 340


def test_an_arrangement_may_split_a_run():
    hand = cards("As 2s 3s 4s 5s 6s 7s 8h 9d Tc")
    a = cards("As 2s 3s 4s 5s 6s 7s")
    assert oracle.arrangements(hand) == [[a[:3], a[3:]], [a[:4], a[4:]], [a]]


# Cases: knocking


@pytest.mark.parametrize("case", named(DISCARDS))
def test_knock_discards(case):
    expected = {card(text): left for text, left in case.discards.items()}
    hand = cards(case.hand)
    assert oracle.knock_discards(hand, case.knock_limit) == set(expected)
    assert {each: oracle.after_discard(hand)[each] for each in expected} == expected
    for forbidden in expected:
        others = oracle.knock_discards(hand, case.knock_limit, forbidden)
        assert others == set(expected) - {forbidden}


@pytest.mark.parametrize("case", named(OKLAHOMA))
def test_oklahoma(case):
    limit = oracle.knock_limit({"oklahoma": True, "knock_limit": 4}, card(case.first_upcard))
    assert limit == case.knock_limit
    expected = {card(text): left for text, left in case.discards.items()}
    hand = cards(case.hand)
    assert oracle.knock_discards(hand, limit) == set(expected)
    assert {each: oracle.after_discard(hand)[each] for each in expected} == expected


@pytest.mark.parametrize(("ace", "limit"), [(1, 1), (0, 0)])
def test_oklahoma_ace(ace, limit):
    assert oracle.knock_limit({"oklahoma": True, "oklahoma_ace": ace}, card("Ad")) == limit


# Cases: laying off and scoring


@pytest.mark.parametrize("case", named(LAYOFFS))
def test_layoffs(case):
    knocker, defender = cards(case.knocker), cards(case.defender)
    settled = oracle.settle(knocker, defender, [])
    assert oracle.deadwood(defender) == case.alone
    assert settled["knocker_deadwood"] == case.knocker_deadwood
    assert settled["defender_deadwood"] == case.defender_deadwood
    assert settled["outcome"] == case.outcome
    assert settled["winner"] == ("knocker" if case.points > 0 else "defender")
    assert settled["points"] == abs(case.points)


@pytest.mark.parametrize("case", named(SCORES))
def test_scores(case):
    scored = oracle.score(
        case.knocker_deadwood,
        case.defender_deadwood,
        case.rules,
        big=case.big,
        answered=case.answered,
    )
    assert scored == (case.outcome, case.winner, case.points)


@pytest.mark.parametrize(
    ("upcard", "points"),
    [("8s", 2 * (20 + 5)), ("8h", 20 + 5)],
)
def test_spades_double_the_bonus_too(upcard, points):
    rules = {"oklahoma": True, "oklahoma_spades_double": True, "layoff_on_gin": False}
    knocker = cards("2h 3h 4h 5d 6d 7d 9c Tc Jc Qc")
    defender = cards("Ks Kh Kd Qs Qh Qd 9s 9h 9d 5c")
    settled = oracle.settle(knocker, defender, [], rules, first_upcard=card(upcard))
    assert settled["points"] == points


def test_final_scores():
    """RULES, The game: winner 100, 20 a deal won, 100 more if the opponent won none."""
    assert oracle.final_scores([104, 31], [6, 2], 0) == [104 + 100 + 120, 31 + 40]
    assert oracle.final_scores([0, 104], [0, 6], 1) == [0, 104 + 100 + 120 + 100]


# Cases: the order of play


def test_opening():
    """RULES, One deal, 3: take or pass, the other takes or passes, then only the stock."""
    deal = oracle.Deal(range(52), 1)
    assert [len(hand) for hand in deal.hands] == [10, 10]
    assert (len(deal.stock), deal.discard_pile) == (31, [20])
    assert deal.hands == [set(range(0, 20, 2)), set(range(1, 20, 2))]
    assert (deal.player, deal.legal()) == (0, {"P", "U"})
    deal.play("P")
    assert (deal.player, deal.legal()) == (1, {"P", "U"})
    with pytest.raises(ValueError, match="S is not legal"):
        deal.play("S")
    deal.play("P")
    assert (deal.player, deal.phase, deal.legal()) == (0, "draw", {"S"})
    deal.play("S")
    assert deal.legal() >= {f"D{each}" for each in [*range(0, 20, 2), 21]}


@pytest.mark.parametrize("bound", [10, 100])
def test_the_turn_bound_ends_a_deal_that_never_draws(bound):
    deal = oracle.Deal(range(52), 0, {"turn_bound": bound})
    while deal.result is None:
        deal.play("U")
        deal.play(max(action for action in deal.legal() if action[0] == "D"))
    assert (deal.result["outcome"], deal.result["void_reason"]) == ("void", "bound")
    assert (deal.result["turns"], deal.result["stock_left"]) == (bound, 31)
    assert (deal.result["winner"], deal.result["points"]) == (None, 0)


@pytest.mark.parametrize("rules", [{}, {"discard_taken_upcard": True}])
def test_the_taken_upcard(rules):
    deal = oracle.Deal(range(52), 0, rules)
    upcard = deal.upcard
    deal.play("U")
    assert (f"D{upcard}" in deal.legal()) == bool(rules)


def test_at_the_wall_one_takes_only_to_knock():
    """``knock_with_discard``: where no knock is possible, passing is all that is left."""
    rng = random.Random(1)
    rules = {"at_void_stock": "knock_with_discard", "void_stock": 20, "knock_limit": 10}
    seen = Counter()
    for _ in range(200):
        for deal in oracle.random_deal(rng, rules, knocks=0):
            if deal.phase == "wall":
                eleven = deal.hand | {deal.upcard}
                possible = bool(oracle.knock_discards(eleven, 10, forbidden=deal.upcard))
                assert deal.legal() == ({"P", "U"} if possible else {"P"})
                seen[possible] += 1
            elif deal.at_wall and deal.phase == "discard":
                assert all(action[0] == "K" for action in deal.legal())
    assert set(seen) == {True, False}


# What holds in every deal under any rules


def test_random_rules_use_every_value_of_every_setting():
    rng = random.Random(0)
    seen = {name: set() for name in oracle.RULE_DEFAULTS}
    for _ in range(3000):
        for name, value in oracle.full_rules(oracle.random_rules(rng)).items():
            seen[name].add(value)
    decks = {"num_ranks": {13}, "num_suits": {4}, "hand_size": {10}}
    assert seen == {name: set(values) for name, values in oracle.RULE_VALUES.items()} | decks


def test_random_deals_under_random_rules():
    """No card is lost, someone can always act, and points go to winners only."""
    rng = random.Random(0)
    outcomes = Counter()
    for _ in range(300):
        rules = oracle.any_rules(rng)
        for deal in oracle.random_deal(rng, rules):
            everything = [*deal.hands[0], *deal.hands[1], *deal.stock, *deal.discard_pile]
            assert sorted(everything) == oracle.deck_of(rules)
            assert bool(deal.legal()) == (deal.result is None)
        result = deal.result
        outcome, winner = result["outcome"], result["winner"]
        outcomes[outcome] += 1
        assert result["points"] >= 0
        if winner is None:
            assert outcome in ("void", "equal", "gin_answered")
            assert result["points"] == 0
        elif winner == result["knocker"]:
            assert outcome in ("gin", "big_gin", "knock")
        else:
            assert outcome in ("undercut", "gin_answered")
    assert set(outcomes) >= {"gin", "knock", "undercut", "void"}


def test_exchanged_players_exchange_the_result():
    rng = random.Random(2)
    for _ in range(50):
        *_, deal = oracle.random_deal(rng, {})
        mirrored = play_on(oracle.Deal(deal.deck, 1 - deal.dealer), *deal.actions)
        expected = dict(deal.result)
        for key in ("winner", "knocker"):
            expected[key] = None if deal.result[key] is None else 1 - deal.result[key]
        expected["hands"] = deal.result["hands"][::-1]
        expected["tie_results"] = [
            [None if winner is None else 1 - winner, *rest]
            for winner, *rest in deal.result["tie_results"]
        ]
        assert mirrored.result == expected


@pytest.mark.parametrize("next_dealer", ["winner", "loser", "alternate"])
def test_games_add_up(next_dealer):
    """Totals are the sums over the deals, and a void deal changes nothing."""
    rng = random.Random(3)
    game = oracle.Game({"next_dealer": next_dealer, "target": 60}, 0)
    while game.winner is None:
        before = game.dealer
        *_, deal = oracle.random_deal(rng, {}, knocks=1)
        deal = play_on(game.new_deal(deal.deck), *deal.actions)
        game.add(deal)
        winner = deal.result["winner"]
        if winner is None:
            assert game.dealer == before
        else:
            expected = {"winner": winner, "loser": 1 - winner, "alternate": 1 - before}
            assert game.dealer == expected[next_dealer]
    for player in (0, 1):
        won = [deal.result["points"] for deal in game.deals if deal.result["winner"] == player]
        assert (game.totals[player], game.deals_won[player]) == (sum(won), len(won))
    assert game.totals[game.winner] >= 60 > game.totals[1 - game.winner]
