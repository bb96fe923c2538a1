"""The search: exact small cases, what it may know, the same move in any batch, and its parts."""

from pathlib import Path

import numpy as np
import pytest
from positions import permute_hidden, positions

from ginrummy_agents.compiled import kernels
from ginrummy_agents.search.belief import FEATURES, features, fitted
from ginrummy_agents.search.candidates import candidates_of
from ginrummy_agents.search.hands import odds_of, sample_hands
from ginrummy_agents.search.past import past_turns
from ginrummy_agents.search.policy import Search
from ginrummy_agents.search.rollout import ALWAYS, Starts, Style, roll_out
from ginrummy_agents.search.settle import arranged, left_over, quick_settle, settle
from ginrummy_agents.search.worlds import sample_worlds
from ginrummy_agents.win_chance import WinChance, deal_points, win_chance, win_chance_of
from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, TAKE_UPCARD, format_action, parse_action
from ginrummy_env.core.cards import (
    CARD_BIT,
    FULL_DECK,
    card_planes,
    hand_of,
    hand_size,
    parse_card,
    parse_hand,
)
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, EAAI, OKLAHOMA, PRESETS, Rules
from ginrummy_env.core.state import Outcome, Phase
from ginrummy_env.core.view import OPPONENT, make_view
from ginrummy_env.policy import make_policy
from ginrummy_training.analysis.position import typed_view, weigh
from ginrummy_training.analysis.search_gain import measure
from ginrummy_training.cli.main import main

QUICK = Search(worlds=16)


def some_views(rules=EAAI, games=12, seed=3):
    state = positions(rules, games=games, seed=seed, knocks=0.2)
    return state, make_view(state, rules)


def moves(view, search=QUICK, seed=5):
    return search.act(view, RowRandom(keys(seed, np.arange(len(view)))))


# Moves that are provably best


def test_gin_is_laid_down():
    """Nothing that could follow is worth more than gin against a hand that cannot answer."""
    view = typed_view("4s 5s 6s 9h 9d 9c Kh Kd Kc Ks 2c", "7h Jd", EAAI)
    assert format_action(int(moves(view)[0])) == "knock 2c"


def test_the_knock_that_wins_the_game_is_taken():
    """At 99 points any knock that is no undercut wins, and nine of his cards make no meld."""
    known = "Ks Qh Jd Tc 8s 6h 5d 9c 7s"
    view = typed_view(
        "2s 3s 4s 5c 6c 7c 9h 9d 9s Ad Kd", "4h 8d", EAAI, known=known, scores=(99, 99)
    )
    worth = {
        format_action(each.action): each
        for each in weigh(
            view, Search(worlds=64), seed=1, action=parse_action("discard Kd")
        ).candidates
    }
    assert worth["knock Kd"].value == 1
    assert worth["knock Kd"].error == 0
    assert format_action(int(moves(view, Search(worlds=64))[0])) == "knock Kd"


def test_the_upcard_that_makes_gin_is_taken():
    view = typed_view("4s 5s 6s 9h 9d 9c Kh Kd Qc 2c", "7h Kc", EAAI)
    assert moves(typed_view("4s 5s 6s 9h 9d 9c Kh Kd Ks 2c", "7h Kc", EAAI))[0] == TAKE_UPCARD
    values = {each.action: each for each in weigh(view, Search(worlds=200), 2).candidates}
    assert values[TAKE_UPCARD].value > values[DRAW_STOCK].value


def test_a_card_that_gives_the_opponent_gin_is_not_thrown():
    """All ten of his cards are known but one, a king or not: the fourth queen gives him gin."""
    known = "Qs Qh Qd 3c 4c 5c 7d 8d 9d"
    hand = "Qc Jh 2s 2h 2d 5s 6s 7s Ah Ad Kh"
    view = typed_view(hand, "4h 8s", EAAI, known=known)
    worth = {
        format_action(each.action): each
        for each in weigh(view, Search(worlds=64), 3, parse_card("Qc")).candidates
    }
    assert worth["discard Qc"].value < worth["discard Jh"].value
    assert worth["discard Qc"].endings[3] > worth["discard Jh"].endings[3]


# What it may know


def test_hidden_cards_change_nothing():
    """Stock and unknown cards exchanged, the action is the same."""
    state, view = some_views()
    rng = np.random.default_rng(1)
    first = moves(view)
    for _ in range(2):
        other = permute_hidden(state, state.player, rng)
        assert (moves(make_view(other, EAAI)) == first).all()


@pytest.mark.parametrize("belief", [True, False])
def test_the_same_move_alone_and_in_any_order(belief):
    """A move depends on its own view and its own random numbers, whatever the chunks."""
    _, view = some_views(games=8)
    search = Search(worlds=12, belief=belief, margin=0)
    row_keys = keys(7, np.arange(len(view)))
    every = search.act(view, RowRandom(row_keys))
    order = np.random.default_rng(2).permutation(len(view))
    assert (search.act(view.select(order), RowRandom(row_keys[order])) == every[order]).all()
    for row in order[:12]:
        assert search.act(view.select([row]), RowRandom(row_keys[[row]]))[0] == every[row]


def test_a_seed_gives_one_move_and_other_seeds_others():
    _, view = some_views()
    search = Search(worlds=4, margin=0)
    assert (moves(view, search, 1) == moves(view, search, 1)).all()
    assert any((moves(view, search, 1) != moves(view, search, seed)).any() for seed in range(2, 9))


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_legal_under_every_preset(rules):
    state, view = some_views(rules, games=6, seed=4)
    masks = view.action_masks()
    some = masks.any(axis=1)
    actions = moves(view, Search(worlds=4, margin=0))
    assert masks[some, actions[some]].all()
    assert (actions[~some] == -1).all()
    waiting = make_view(state, rules, 1 - state.player)
    assert (moves(waiting) == -1).all()


@pytest.mark.parametrize("rules", [EAAI, CLASSIC], ids=["eaai", "classic"])
def test_candidates_are_legal_and_the_first_is_the_base(rules):
    state = positions(rules, games=20, seed=6, knocks=0.0)
    view = make_view(state, rules)
    wanted = (Phase.OPENING, Phase.DRAW, Phase.DISCARD)
    view = view.select(view.to_move & np.isin(view.phase, wanted))
    base = make_policy("lookahead").act(view, np.random.default_rng(0))
    found = candidates_of(view, base, 4)
    masks = view.action_masks()
    assert masks[found.rows, found.actions].all()
    assert len(set(zip(found.rows.tolist(), found.actions.tolist(), strict=True))) == len(
        found.rows
    )
    first = found.actions[found.starts]
    assert ((first == base) | (first >= KNOCK)).all()
    discards = np.bincount(found.rows, found.actions < KNOCK, minlength=len(view))
    assert discards.max() <= 4


def test_a_budget_of_time_in_place_of_worlds():
    """More time is more worlds, and the moves stay legal."""
    view = typed_view("4s 5s 6s 9h 9d 9c Kh Kd 2c 3c Qs", "7h Jd", EAAI)
    found = candidates_of(view, make_policy("lookahead").act(view, np.random.default_rng(0)), 4)
    counts = [
        Search(worlds=32, milliseconds=time).weigh(view, found, keys(1), give_up=99).count.max()
        for time in (1, 1000)
    ]
    assert counts[0] < counts[1]
    assert view.action_masks()[0, moves(view, Search(milliseconds=5))[0]]


def test_wrong_parameters_are_named():
    for text, message in (
        ("search:1", "worlds=1"),
        ("search:value=money", "value='money'"),
        ("search:margin=-1", "margin=-1"),
        ("search:base=nobody", "unknown policy 'nobody'"),
    ):
        with pytest.raises(ValueError, match=message):
            make_policy(text)
    assert make_policy("search:128") == Search(worlds=128)


# Worlds


@pytest.mark.parametrize("rules", [EAAI, OKLAHOMA], ids=["eaai", "oklahoma"])
def test_sampled_worlds_agree_with_what_is_known(rules):
    """His known cards are his, and no card is in two places."""
    _, view = some_views(rules, games=20)
    view = view.select(view.to_move)
    count = 8
    rng = RowRandom(keys(1, np.arange(len(view))))
    worlds = sample_worlds(view, count, rng, odds_of(view, fitted()), past_turns(view, 2))
    theirs = worlds.theirs.reshape(len(view), count)
    known = view.known[:, OPPONENT][:, None]
    assert (theirs & known == known).all()
    assert (hand_size(theirs) == 10).all()
    assert (theirs & ~(view.unseen[:, None] | known) == 0).all()
    places = np.arange(52) >= 52 - np.repeat(view.stock_count, count)[:, None]
    stock = np.bitwise_or.reduce(np.where(places, CARD_BIT[worlds.deck], np.uint64(0)), axis=1)
    assert (stock & worlds.theirs == 0).all()
    assert (hand_size(stock) == np.repeat(view.stock_count, count)).all()
    assert (
        stock | worlds.theirs == np.repeat(view.unseen, count) | known.repeat(count, 0)[:, 0]
    ).all()


def test_worlds_without_a_belief_are_uniform():
    view = typed_view("4s 5s 6s 9h 9d 9c Kh Kd Qc 2c", "7h", EAAI)
    hands, _ = sample_hands(view, 4000, RowRandom(keys(3)), odds_of(view, None))
    share = card_planes(hands).mean(axis=0)[card_planes(view.unseen)[0]]
    assert np.abs(share - 10 / 41).max() < 0.04


def test_sampled_hands_look_played():
    """Late in a deal, hands drawn with the belief have far less deadwood than uniform ones."""
    view = typed_view(
        "4s 5s 6s 9h 9d 9c Ah Ad 3c 2c",
        "Kh Kd Qs Jd Td Qc 8s Kc Jh Ts",
        EAAI,
        thrown="Kd Jd Qc Kc Ts",
    )
    rng = RowRandom(keys(4))
    played = deadwood(sample_hands(view, 300, rng, odds_of(view, fitted()))[0]).mean()
    even = deadwood(sample_hands(view, 300, rng, odds_of(view, None))[0]).mean()
    assert played < even - 12


@pytest.mark.parametrize("fast", [True, False])
def test_hands_are_drawn_by_weights(fast):
    """One unknown card: each comes as often as it weighs."""
    view = typed_view("4s 5s 6s 9h 9d 9c Ah Ad 3c 2c", "Kh Kd", EAAI, thrown="Kd")
    held = parse_hand("Ks Qs Js Ts 7s 8s Qh Jh Th")
    view.known[:, 1], view.unseen[:] = held, view.unseen & ~held
    odds = odds_of(view, None)
    odds.weights[0] = 1 + np.arange(52)
    with kernels(fast):
        hands, decks = sample_hands(view, 20_000, RowRandom(keys(5)), odds)
    (unseen,) = np.nonzero(card_planes(view.unseen)[0])
    drawn = decks[:, -len(unseen)]
    assert (hands == (held | CARD_BIT[drawn])).all()
    often = np.bincount(drawn, minlength=52)[unseen] / len(drawn)
    np.testing.assert_allclose(often, (1 + unseen) / (1 + unseen).sum(), atol=0.006)
    first = np.bincount(decks[:, 1 - len(unseen)], minlength=52)[unseen]
    assert first.min() > 0.7 * first.mean()  # the stock is in even order


def test_cards_near_the_opponents_discards_are_less_likely_theirs():
    view = typed_view("4s 5s 6s 9h 9d 9c Ah Ad 3c 2c", "Kh 8d", EAAI, thrown="8d")
    weights = fitted().weights(view)[0]
    assert weights[parse_card("8c")] < weights[parse_card("6c")]
    chances = fitted().chances(view)[0]
    assert chances.sum() == pytest.approx(10)
    assert chances[parse_card("9h")] == 0


def test_features_are_of_the_cards_that_they_name():
    view = typed_view(
        "4s 5s 6s 9h 9d 9c Ah Ad 3c 2c", "Kh 8d", EAAI, thrown="8d", known="Qc", declined="Kh"
    )
    planes = dict(zip(FEATURES, features(view)[:, 0], strict=True))
    cards = {
        "same rank thrown": "8s 8h 8d 8c",
        "next in suit thrown": "7d 9d",
        "two away thrown": "6d Td",
        "same rank declined": "Ks Kh Kd Kc",
        "next in suit declined": "Qh",
        "next in suit known": "Jc Kc",
        "both sides known": "",
        "rank 7": "7s 7h 7d 7c",
    }
    for name, named in cards.items():
        assert (planes[name] == card_planes(np.array([parse_hand(named)]))[0]).all(), name


# Rollouts


def hands_at_random(count, seed, size=10, among=52):
    rng = np.random.default_rng(seed)
    cards = np.argsort(rng.random((count, among)), axis=1)[:, :size].astype(np.int8)
    return hand_of(cards)


def test_arrangements_are_the_best_but_for_a_few():
    """Hands of ten cards of six ranks are full of sets and runs that share cards."""
    rng = np.random.default_rng(1)
    cards = np.argsort(rng.random((20_000, 24)), axis=1)[:, :10]
    hands = hand_of((cards // 6 * 13 + cards % 6).astype(np.int8))
    exact = deadwood(hands)
    assert (left_over(hands) >= exact).all()
    assert (left_over(hands) != exact).mean() < 0.1
    hands = hands_at_random(20_000, 2)
    assert (left_over(hands) != deadwood(hands)).mean() < 1e-3
    loose, sets = arranged(hands)
    assert (loose & sets == 0).all()


@pytest.mark.parametrize("rules", [EAAI, CLASSIC], ids=["eaai", "classic"])
def test_quick_settlement_is_the_exact_one_but_for_a_few(rules):
    dealt = np.argsort(np.random.default_rng(3).random((60_000, 52)), axis=1).astype(np.int8)
    mine, theirs = hand_of(dealt[:, :10]), hand_of(dealt[:, 10:20])
    low = deadwood(mine) <= 35
    mine, theirs = mine[low], theirs[low]
    quick, exact = (
        quick_settle(mine, theirs, rules),
        settle(mine, theirs, np.zeros_like(mine), rules),
    )
    assert (quick[0] != exact[0]).mean() < 0.02
    assert (quick[1] != exact[1]).mean() < 0.01


def starts_of(rules, count, my_move=True):
    state = new_games(11, count, rules)
    mine = np.where(my_move, state.player, 1 - state.player)
    rows = np.arange(count)
    upcards = CARD_BIT[state.first_upcard]
    return Starts(
        state.hands[rows, mine],
        state.hands[rows, 1 - mine],
        upcards,
        upcards,
        state.deck,
        rows,
        np.zeros(count, dtype=np.int64),
        np.full(count, 31),
        np.zeros(count, dtype=np.int64),
        np.full(count, my_move),
        np.zeros(count, dtype=np.int8),
        state.knock_limit,
        np.zeros(count, dtype=np.bool_),
        np.zeros(count, dtype=np.int8),
    )


KNOCKER = Style((ALWAYS,), 0, 0)


def test_rollouts_of_two_knockers_end_as_deals_of_the_baseline_do():
    """Published: simple against simple, EAAI: knock 93.3, gin 2.1, undercut 4.3, void 0.2 %."""
    ends = roll_out(starts_of(EAAI, 8_000), KNOCKER, [KNOCKER], EAAI)
    share = np.bincount(ends.outcome, minlength=len(Outcome)) / 8_000
    assert share[Outcome.KNOCK] == pytest.approx(0.933, abs=0.02)
    assert share[Outcome.GIN] == pytest.approx(0.021, abs=0.01)
    assert share[Outcome.UNDERCUT] == pytest.approx(0.043, abs=0.015)
    assert abs(ends.points.mean()) < 2  # who moves first has a little more


def test_whoever_waits_for_gin_does_not_knock():
    ends = roll_out(starts_of(EAAI, 2_000), Style(), [KNOCKER], EAAI)
    assert not (ends.i_knocked & (ends.outcome == Outcome.KNOCK)).any()
    assert (ends.i_knocked & (ends.outcome == Outcome.GIN)).mean() > 0.07
    waiting = starts_of(EAAI, 2_000)
    waiting.manner[:] = 1
    ends = roll_out(waiting, Style(), [KNOCKER, Style()], EAAI)
    assert np.isin(ends.outcome, [Outcome.GIN, Outcome.VOID]).all()


def test_the_stock_ends_rollouts():
    start = starts_of(EAAI, 50)
    start.limit[:] = -1  # not even gin is laid down
    assert (roll_out(start, Style(), [Style()], EAAI).outcome == Outcome.VOID).all()


@pytest.mark.parametrize("fast", [True, False])
def test_a_cut_stock_is_drawn_from_the_cut_round_to_it(fast):
    """As if the cards above the cut had been put below the others."""
    cut, plain = starts_of(EAAI, 300), starts_of(EAAI, 300)
    cut.cut[:] = np.arange(300) % 31
    for row, deck in enumerate(plain.deck):
        deck[21:] = np.roll(deck[21:], -(row % 31))
    with kernels(fast):
        found, same, other = (
            roll_out(each, Style(), [KNOCKER], EAAI) for each in (cut, plain, starts_of(EAAI, 300))
        )
    np.testing.assert_array_equal(found.points, same.points)
    assert (found.points != other.points).mean() > 0.5


# What scores are worth


@pytest.mark.parametrize("rules", [EAAI, CLASSIC, OKLAHOMA], ids=["eaai", "classic", "oklahoma"])
def test_the_value_of_scores_is_symmetric_and_monotone(rules):
    chance = win_chance_of(rules).table
    assert chance.shape == (100, 100)
    assert np.abs(chance + chance.T - 1).max() < 1e-9
    assert (np.diff(chance, axis=0) > -1e-9).all()
    assert (np.diff(chance, axis=1) < 1e-9).all()
    assert chance[0, 0] == pytest.approx(0.5)
    assert 0.8 < chance[99, 20] < 1


def test_a_race_to_one_deal_is_a_coin():
    """One point to win and every deal worth one: the first deal decides."""
    shares = np.array([0.0, 1.0])
    assert WinChance(shares, 1).table == pytest.approx(np.array([[0.5]]))
    # Two points: won 2:0, or 1:1 and the last deal.
    assert WinChance(shares, 2).table == pytest.approx(np.array([[0.5, 0.25], [0.75, 0.5]]))


@pytest.mark.parametrize("target", [1001, 10_000])
def test_the_chance_of_winning_a_long_game(target):
    """Without a table; near the end it is that of a short game from the same points to go."""
    shares = deal_points()["eaai"]
    long, short = WinChance(shares, target), WinChance(shares, 100)
    to_go = np.random.default_rng(1).integers(1, 101, (500, 2))
    np.testing.assert_allclose(long(target - to_go), short(100 - to_go), atol=1e-12)
    scores = np.random.default_rng(2).integers(0, target, (50, 2))
    np.testing.assert_allclose(long(scores) + long(scores[:, ::-1]), 1, atol=1e-9)


def test_win_chance_of_points():
    scores = np.int16([[90, 10], [0, 99]])
    chance = win_chance(scores, np.int16([[10, 0, -5], [50, 0, -1]]), EAAI)
    assert chance[0, 0] == 1
    assert chance[1, 2] == 0
    assert chance[0, 0] > chance[0, 1] > chance[0, 2]
    other = Rules(target=250, undercut_bonus=20)
    assert win_chance_of(other).table.shape == (250, 250)
    assert {"eaai", "classic"} <= set(deal_points())


# Analysis


def test_what_is_weighed_adds_up():
    view = typed_view("4s 5s 6s 9h 9d 9c Kh Kd 2c 3c Qs", "7h Jd", EAAI)
    candidates = weigh(view, Search(worlds=40), seed=1).candidates
    assert len(candidates) >= 2
    assert [each.value for each in candidates] == sorted(
        (e.value for e in candidates), reverse=True
    )
    for each in candidates:
        assert sum(each.endings) == pytest.approx(1)
        assert 0 < each.value < 1
    base = [each for each in candidates if each.gain_error == 0]
    assert len(base) == 1
    assert base[0].gain == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hand": "4s 5s"}, "2 cards"),
        ({"pile": "4s"}, "a card is in one place"),
        ({"pile": ""}, "discard pile"),
        ({"taken": "Kh"}, "taken"),
    ],
)
def test_positions_that_cannot_be_are_refused(changed, message):
    given = {"hand": "4s 5s 6s 9h 9d 9c Kh Kd 2c 3c", "pile": "7h Jd", "taken": ""} | changed
    with pytest.raises(ValueError, match=message):
        typed_view(given["hand"], given["pile"], EAAI, taken=given["taken"])


def test_every_card_of_a_typed_position_is_in_one_place():
    view = typed_view("4s 5s 6s 9h 9d 9c Kh Kd 2c 3c Qs", "7h Jd", EAAI, known="As", taken="Qs")
    seen = view.hand[0] | view.discards[0] | view.known[0, 1]
    assert view.unseen[0] | seen == FULL_DECK
    assert view.unseen[0] & seen == 0
    assert hand_size(view.unseen)[0] == 9 + view.stock_count[0]


def test_the_command_shows_and_writes_what_it_weighs(tmp_path, capsys, monkeypatch):
    """`ginrummy analyse` on a typed position and on a record, and what it says of wrong ones."""
    monkeypatch.setenv("COLUMNS", "160")  # no cell is wrapped
    record = str(Path(__file__).parents[1] / "records" / "game.txt")
    quick = ["--search", "search:16"]
    typed = ["analyse", "--hand", "4s 5s 6s 9h 9d 9c Kh Kd 2c 3c Qs", "--pile", "7h Jd"]
    for out in ("why.json", "why.svg"):
        assert main([*typed, *quick, "--rules", "eaai", "--out", str(tmp_path / out)]) == 0
        assert (tmp_path / out).stat().st_size > 500
    assert "discard Kh" in capsys.readouterr().out
    assert main(["analyse", record, "--deal", "1", "--step", "5", *quick]) == 0
    assert "take" in capsys.readouterr().out
    for wrong, message in (
        ([record, "--deal", "99"], "deal 99"),
        ([record, "--step", "999"], "step 999"),
        (["--hand", "4s 5s", "--pile", "7h"], "2 cards"),
        ([*typed[1:], "--score", "many"], "--score many"),
        ([*typed[1:], "--search", "simple"], "not an agent that searches"),
    ):
        assert main(["analyse", *wrong]) == 2
        assert message in capsys.readouterr().err


def test_gains_are_measured_in_positions_of_the_base(tmp_path):
    """A search that never leaves its base gains nothing; one without a margin leaves it often."""
    found = measure(["search:4,margin=100", "search:4,margin=0"], "simple", EAAI, 12, 1, 2)
    never, often = found["variants"]
    assert never["left"] == never["gain"] == 0
    assert often["left"] > 0
    assert often["half"] > 0
    with pytest.raises(ValueError, match="not an agent that searches"):
        measure(["simple"], "simple", EAAI, 12, 1, 2)
