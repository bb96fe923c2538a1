"""Full states that agree with a view."""

import numpy as np
import pytest
from positions import (
    VARIANTS,
    chi_square_p,
    differences,
    permute_hidden,
    places,
    play_deals,
    positions,
    under_variants,
    view_bytes,
)

from ginrummy_env.core.actions import PASS
from ginrummy_env.core.cards import card_planes, cards_of
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import CLASSIC, EAAI, MODERN, OPENSPIEL
from ginrummy_env.core.sampling import sample_states
from ginrummy_env.core.state import FIELD_NAMES, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import ARRAY_NAMES, OPPONENT, make_view


def one_position(rules=CLASSIC, *, phase=Phase.DISCARD, known=2, turn=8, seed=0):
    """A position in that phase in which each side is known to hold that many cards or more."""
    state = positions(rules, games=60, seed=seed, knocks=0)
    held = np.bitwise_count(state.known)
    rows = np.flatnonzero(
        (state.phase == phase) & (state.turn >= turn) & (held >= known).all(axis=1)
    )
    return state.select(rows[:1])


def inclusion(samples, player) -> np.ndarray:
    """How often each card is in the player's hand, [52]."""
    return card_planes(samples.hands[:, player]).sum(axis=0)


# Agreement


@under_variants
def test_samples_agree_with_the_view(rules):
    """Seen from the same player, each sampled state is the view that it was sampled from."""
    state = positions(rules, games=12, seed=1)
    rng = np.random.default_rng(0)
    for players in (state.player, 1 - state.player):
        view = make_view(state, rules, players)
        samples = sample_states(view, rules, rng, 3)
        assert len(samples) == 3 * len(view)
        again = make_view(samples, rules, np.repeat(players, 3))
        assert view_bytes(again) == view_bytes(view.select(np.repeat(np.arange(len(view)), 3)))
        lie = places(samples)
        assert (np.bitwise_or.reduce(lie, axis=1) == rules.full_deck).all()
        assert (np.bitwise_count(lie).sum(axis=1) == rules.num_cards).all()
        running = ~samples.over
        assert (samples.player == np.repeat(state.player, 3))[running].all()
        expected = np.repeat(np.bitwise_count(state.hands), 3, axis=0)
        assert (np.bitwise_count(samples.hands) == expected).all()
        hers = samples.hands[np.arange(len(samples)), samples.player]
        drawn = np.flatnonzero(samples.drawn_card >= 0)
        assert card_planes(hers)[drawn, samples.drawn_card[drawn]].all()


@under_variants
def test_samples_play_on(rules):
    """To the end of their deals and into the next, without an error and without losing a card."""
    state = positions(rules, games=6, seed=2)
    samples = sample_states(make_view(state, rules), rules, np.random.default_rng(0), 2)
    for now in play_deals(samples, rules, np.random.default_rng(1)):
        assert (np.bitwise_or.reduce(places(now), axis=1) == rules.full_deck).all()
        assert (action_masks(now, rules).any(axis=1) == ~now.over).all()
    next_deals(samples, rules)
    assert not samples.deal_number[samples.phase == Phase.GAME_OVER].any()


def test_dealers_and_scores_are_kept():
    state = positions(EAAI, games=10, seed=3)
    state.scores[:] = np.arange(2 * len(state)).reshape(-1, 2)
    state.deals_won[:] = state.scores // 3
    for players in (0, 1):
        samples = sample_states(make_view(state, EAAI, players), EAAI, np.random.default_rng(0), 1)
        for name in ("dealer", "scores", "deals_won", "known", "taken", "discarded", "declined",
                     "history", "winner", "knocker", "turn", "knock_limit"):  # fmt: skip
            value = getattr(state, name)
            expected = value[:, : samples.history.shape[1]] if name == "history" else value
            assert (getattr(samples, name) == expected).all(), name


def test_nothing_of_the_true_state_is_read():
    """Where the hidden cards are exchanged the same numbers give the same samples."""
    state = positions(CLASSIC, games=10, seed=4)
    rng = np.random.default_rng(0)
    other = permute_hidden(state, state.player, rng)
    one, same = (
        sample_states(make_view(each, CLASSIC), CLASSIC, np.random.default_rng(5), 4)
        for each in (state, other)
    )
    assert differences(one, same) == []
    assert not one.seed.any()
    assert not one.game_number.any()


def test_a_knock_leaves_nothing_to_sample_but_the_stock():
    """Both hands lie on the table."""
    state = positions(MODERN, games=40, seed=5)
    ended = state.select(state.knocker >= 0)
    samples = sample_states(make_view(ended, MODERN, 0), MODERN, np.random.default_rng(0), 5)
    assert (samples.hands == np.repeat(ended.hands, 5, axis=0)).all()
    assert (samples.deck[:5] != samples.deck[0]).any()


# Frequencies


@pytest.mark.parametrize("mover", [True, False], ids=["to move", "not to move"])
def test_each_unseen_card_is_equally_often_the_opponents(mover):
    """10,000 samples of one position; his known cards always, seen cards never."""
    state = one_position()
    player = state.player[0] if mover else 1 - state.player[0]
    view = make_view(state, CLASSIC, player)
    count = 10_000
    samples = sample_states(view, CLASSIC, np.random.default_rng(0), count)
    held = inclusion(samples, 1 - player)
    unseen, known = cards_of(view.unseen[0]), cards_of(view.known[0, OPPONENT])
    assert (held[known] == count).all()
    assert held.sum() == held[known].sum() + held[unseen].sum()
    size = (10 if mover else 11) - len(known)
    assert (np.bitwise_count(samples.hands[:, 1 - player]) == size + len(known)).all()
    # A hand is drawn without putting back: counts vary by 1 - share, and sum to a fixed number.
    share = size / len(unseen)
    scale = (len(unseen) - 1) / len(unseen) / (1 - share)
    assert chi_square_p(held[unseen], count * share, scale=scale) > 1e-3
    assert len(np.unique(samples.hands[:, 1 - player])) > 0.9 * count


@pytest.mark.parametrize("place", [0, 1, -1])
def test_each_unseen_card_is_equally_often_at_each_place_of_the_stock(place):
    state = one_position()
    view = make_view(state, CLASSIC)
    samples = sample_states(view, CLASSIC, np.random.default_rng(1), 10_000)
    drawn = np.array([stock[place] for stock in samples.stock])
    unseen = cards_of(view.unseen[0])
    counts = np.bincount(drawn, minlength=52)
    assert counts[unseen].sum() == 10_000
    assert chi_square_p(counts[unseen], 10_000 / len(unseen)) > 1e-3


def test_the_order_of_the_stock_is_independent_of_the_hand():
    """Given that one card is the opponent's, every other is equally often the next to draw."""
    state = one_position()
    view = make_view(state, CLASSIC)
    samples = sample_states(view, CLASSIC, np.random.default_rng(2), 20_000)
    first, *others = cards_of(view.unseen[0])
    his = card_planes(samples.hands[:, 1 - view.player[0]])[:, first]
    drawn = np.array([stock[0] for stock in samples.select(his).stock])
    counts = np.bincount(drawn, minlength=52)
    assert counts[first] == 0
    assert chi_square_p(counts[others], len(drawn) / len(others)) > 1e-3


def test_the_card_that_the_opponent_has_drawn():
    """From the stock: any of his unknown cards, equally often. From the pile: that one."""
    state = positions(CLASSIC, games=60, seed=6, knocks=0)
    rows = (state.phase == Phase.DISCARD) & (state.turn > 3)
    hidden = state.select(np.flatnonzero(rows & (state.taken_card == -1))[:1])
    view = make_view(hidden, CLASSIC, 1 - hidden.player)
    samples = sample_states(view, CLASSIC, np.random.default_rng(0), 10_000)
    counts = np.bincount(samples.drawn_card, minlength=52)
    unseen = cards_of(view.unseen[0])
    assert counts[unseen].sum() == 10_000
    assert chi_square_p(counts[unseen], 10_000 / len(unseen)) > 1e-3
    open_card = state.select(np.flatnonzero(rows & (state.taken_card != -1))[:1])
    view = make_view(open_card, CLASSIC, 1 - open_card.player)
    samples = sample_states(view, CLASSIC, np.random.default_rng(0), 100)
    assert (samples.drawn_card == open_card.taken_card[0]).all()


def test_the_true_state_is_drawn_no_oftener_than_another():
    """Over 1,000 samples the true hand of the opponent is one of millions."""
    state = one_position(known=0, turn=4)
    player = state.player[0]
    view = make_view(state, CLASSIC)
    samples = sample_states(view, CLASSIC, np.random.default_rng(0), 1000)
    assert (samples.hands[:, 1 - player] == state.hands[0, 1 - player]).sum() <= 1


# Weights


def test_weights_draw_cards_in_proportion():
    """Against cards drawn one after another, each in proportion to the weights that are left."""
    state = one_position(known=0)
    view = make_view(state, CLASSIC)
    unseen = cards_of(view.unseen[0])
    size = 10 - int(np.bitwise_count(view.known[0, OPPONENT]))
    rng = np.random.default_rng(3)
    weights = np.zeros((1, 52))
    weights[0, unseen] = rng.choice([0.01, 1, 1, 3, 20], len(unseen))
    count = 8000
    samples = sample_states(view, CLASSIC, rng, count, weights=weights)
    held = inclusion(samples, 1 - view.player[0])[unseen] / count
    left = np.tile(weights[0, unseen], (count, 1))
    for _ in range(size):
        ends = left.cumsum(axis=1)
        drawn = (ends < rng.random((count, 1)) * ends[:, -1:]).sum(axis=1)
        left[np.arange(count), drawn] = 0
    expected = (left == 0).mean(axis=0)
    error = np.sqrt(2 * np.maximum(expected * (1 - expected), 1e-4) / count)
    assert (np.abs(held - expected) < 5 * error).all()
    assert held.std() > 0.1, "the weights made a difference"


def test_cards_of_no_weight_are_the_last_to_be_held():
    """Never while others will do; and all alike where too few others do."""
    state = one_position(known=0)
    view = make_view(state, CLASSIC)
    unseen, player = cards_of(view.unseen[0]), view.player[0]
    size = 10 - int(np.bitwise_count(view.known[0, OPPONENT]))
    weights = np.zeros((1, 52))
    weights[0, unseen[:size]] = 1
    samples = sample_states(view, CLASSIC, np.random.default_rng(0), 50, weights=weights)
    assert (inclusion(samples, 1 - player)[unseen[:size]] == 50).all()
    weights[0, unseen[2:]] = 0
    samples = sample_states(view, CLASSIC, np.random.default_rng(0), 4000, weights=weights)
    held = inclusion(samples, 1 - player)
    assert (held[unseen[:2]] == 4000).all()
    share = (size - 2) / (len(unseen) - 2)
    scale = (len(unseen) - 3) / (len(unseen) - 2) / (1 - share)
    assert chi_square_p(held[unseen[2:]], 4000 * share, scale=scale) > 1e-3


def test_weights_of_cards_that_are_seen_do_not_count():
    state = positions(CLASSIC, games=4, seed=7)
    view = make_view(state, CLASSIC)
    plain = np.where(card_planes(view.unseen), 1.0, 0.0)
    everywhere = np.where(card_planes(view.unseen), 1.0, 1e6)
    one, same = (
        sample_states(view, CLASSIC, np.random.default_rng(0), 2, weights=each)
        for each in (plain, everywhere)
    )
    assert differences(one, same) == []


# Rows


def test_a_row_is_sampled_as_alone():
    """With numbers by row, the samples of a game do not depend on the batch around it."""
    state = positions(OPENSPIEL, games=3, seed=8)
    view = make_view(state, OPENSPIEL)
    row_keys = keys(5, np.arange(len(state)))
    whole = sample_states(view, OPENSPIEL, RowRandom(row_keys), 3)
    for row in range(0, len(state), 7):
        alone = sample_states(view.select([row]), OPENSPIEL, RowRandom(row_keys[[row]]), 3)
        assert differences(alone, whole.select([3 * row, 3 * row + 1, 3 * row + 2])) == []


def test_samples_share_nothing_with_the_view():
    view = make_view(new_games(0, 3, CLASSIC), CLASSIC)
    before = view_bytes(view)
    samples = sample_states(view, CLASSIC, np.random.default_rng(0), 1)
    for field in FIELD_NAMES:
        for name in ARRAY_NAMES:
            assert not np.shares_memory(getattr(samples, field), getattr(view, name))
        getattr(samples, field)[:] = 1
    assert view_bytes(view) == before


def test_no_rows():
    view = make_view(new_games(0, 0, CLASSIC), CLASSIC)
    assert len(sample_states(view, CLASSIC, np.random.default_rng(0), 4)) == 0


@pytest.mark.parametrize(
    ("rules", "k", "weights", "message"),
    [
        pytest.param(CLASSIC, 0, None, "k=0: at least one state", id="no samples"),
        pytest.param(CLASSIC, -1, None, "k=-1: at least one state", id="less than none"),
        pytest.param(EAAI, 1, None, "not those that the view was made with", id="other rules"),
        pytest.param(CLASSIC, 1, np.ones(52), r"\(52,\)", id="one row of weights for all"),
        pytest.param(CLASSIC, 1, np.full((3, 52), -1.0), "numbers of at least 0", id="negative"),
        pytest.param(
            CLASSIC, 1, np.full((3, 52), np.nan), "numbers of at least 0", id="no numbers"
        ),
    ],
)
def test_what_cannot_be_sampled(rules, k, weights, message):
    view = make_view(new_games(0, 3, CLASSIC), CLASSIC)
    with pytest.raises(ValueError, match=message):
        sample_states(view, rules, np.random.default_rng(0), k, weights)


def test_variants_hold_the_wall():
    """The rare phases were among the positions that were sampled from."""
    seen = set()
    for rules in VARIANTS.values():
        seen |= set(positions(rules, games=12, seed=1).phase.tolist())
    assert seen >= set(map(int, Phase)) - {Phase.GAME_OVER}


@pytest.mark.parametrize("count", [1, 5])
def test_worlds_of_a_deal_that_has_just_begun_play_on(count):
    """Nothing has been done yet, so their history has no column."""
    view = make_view(new_games(3, count, CLASSIC), CLASSIC)
    worlds = sample_states(view, CLASSIC, np.random.default_rng(0), 1)
    step(worlds, [PASS] * count, CLASSIC)
    assert (worlds.history[:, 0] == PASS).all()
