"""A batch plays like its games alone, loses no card, knows no suit, and hides what is hidden."""

from itertools import permutations

import numpy as np
from positions import (
    CODES,
    actions_exchanged,
    differences,
    hidden_cards,
    likely_actions,
    oracle_deals,
    permute_hidden,
    places,
    play_deals,
    positions,
    renamed,
    rich_decks,
    suits_exchanged,
    under_variants,
    view_bytes,
)

from ginrummy_env.core.deal import decks as shuffled
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.observation import observe
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY, Outcome
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view


def recorded(state, rules, rng, deals=2, **habits):
    """Play ``deals`` deals of each game; the actions of every step, None where deals are dealt."""
    steps = []
    for number in range(deals):
        if number:
            next_deals(state, rules)
            steps.append(None)
        while not state.over.all():
            steps.append(likely_actions(state, rules, rng, **habits))
            step(state, steps[-1], rules)
    return steps


# A batch and its rows


@under_variants
def test_a_batch_equals_its_rows_played_alone(rules):
    """State, mask and view of each game, at every step of two deals, alone or not."""
    count = 8
    whole = new_games(6, count, rules)
    steps = recorded(whole.copy(), rules, np.random.default_rng(0))
    alone = [new_games(6, [number], rules) for number in range(count)]
    for actions in steps:
        if actions is None:
            next_deals(whole, rules)
            for row in alone:
                next_deals(row, rules)
            continue
        masks = action_masks(whole, rules)
        step(whole, actions, rules)
        for number, row in enumerate(alone):
            assert (action_masks(row, rules) == masks[number]).all()
            step(row, actions[number : number + 1], rules)
            assert differences(row, whole.select([number])) == []
    for player in (0, 1):
        view = make_view(whole, rules, player)
        for number, row in enumerate(alone):
            mine = make_view(row, rules, player)
            assert view_bytes(mine) | {"history": b""} == view_bytes(view.select([number])) | {
                "history": b""
            }
            width = mine.history.shape[1]
            assert (view.history[number, :width] == mine.history[0]).all()


@under_variants
def test_the_order_of_the_rows_does_not_matter(rules):
    rng = np.random.default_rng(1)
    order = rng.permutation(50)
    one, other = new_games(2, 50, rules), new_games(2, order, rules)
    for actions in recorded(one.copy(), rules, rng):
        for state, chosen in ((one, actions), (other, None if actions is None else actions[order])):
            if chosen is None:
                next_deals(state, rules)
            else:
                step(state, chosen, rules)
        assert differences(other, one.select(order)) == []


def both_decks(seed, count, rules, rng):
    """Random decks and as many rich ones."""
    plain = shuffled(seed, np.arange(count), 0, rules)
    return np.concatenate([plain, rich_decks(rng, count, rules)])


# Cards


@under_variants
def test_every_card_is_in_one_place(rules):
    """After each of some 100,000 steps, and after the settlement: all cards, none twice."""
    rng = np.random.default_rng(2)
    rich = new_games(3, 150, rules, decks=rich_decks(rng, 150, rules))
    for state, habits in (
        (new_games(3, 350, rules), {"knocks": 0.3, "greed": 0.8}),
        (rich, {"knocks": 0.05, "greed": 1.0}),
    ):
        for _ in range(2):
            for now in play_deals(state, rules, rng, **habits):
                lie = places(now)
                assert (np.bitwise_count(lie).sum(axis=1) == rules.num_cards).all()
                assert (np.bitwise_or.reduce(lie, axis=1) == rules.full_deck).all()
                sizes = np.bitwise_count(now.hands)
                rows = np.arange(len(now))
                eleven = (now.phase == 3) | (now.outcome == Outcome.BIG_GIN)
                assert (sizes[rows, 1 - now.player] == rules.hand_size).all()
                assert (sizes[rows, now.player] == rules.hand_size + eleven).all()
                assert not (now.known & ~now.hands).any()
                assert not (now.known & ~now.taken).any()
                assert (now.discards == lie[:, 3]).all()
                drawn = now.drawn_card != -1
                assert (drawn == eleven).all()
            next_deals(state, rules)


# Suits


@under_variants
def test_suits_permuted(rules):
    """The same deal in other suits: the same actions at every step, the same result.

    All that may change is which of two equal arrangements the knocker lays down, where lay-off
    potential ties too: their order is that of the cards. Then each result is one of those that the
    oracle finds for the ties. Spades doubled are left out: there a suit counts.
    """
    rules = Rules(**{**rules.to_dict(), "oklahoma_spades_double": False})
    rng = np.random.default_rng(3)
    count = 150
    decks = both_decks(4, count, rules, rng)
    dealers = rng.integers(0, 2, len(decks))
    plain = new_games(0, len(decks), rules, dealers=dealers, decks=decks)
    again = plain.copy()
    steps = recorded(plain, rules, rng, deals=1, knocks=0.6)
    masks = []
    for actions in steps:
        masks.append(action_masks(again, rules))
        step(again, actions, rules)
    number = rules.num_suits
    for suits in list(permutations(range(number)))[5::6] or [(1, 0)]:
        becomes = suits_exchanged([*suits, *range(number, 4)])
        state = new_games(0, len(decks), rules, dealers=dealers, decks=becomes[decks])
        numbers = actions_exchanged(np.arange(108), becomes)
        for actions, legal in zip(steps, masks, strict=True):
            assert (action_masks(state, rules)[:, numbers] == legal).all()
            step(state, actions_exchanged(actions, becomes), rules)
        for name in ("outcome", "winner", "points", "defender_deadwood"):
            check_equal_but_for_ties(name, plain, state, rules)
        for name in ("knocker", "knocker_deadwood", "turn", "stock_count"):
            assert (getattr(state, name) == getattr(plain, name)).all(), name
        assert (state.hands[:, 0] == renamed(plain.hands[:, 0], becomes)).all()
        assert (state.known[:, 1] == renamed(plain.known[:, 1], becomes)).all()


def check_equal_but_for_ties(name, plain, state, rules):
    differ = np.flatnonzero(getattr(state, name) != getattr(plain, name))
    assert len(differ) <= len(plain) / 20
    for row in differ:
        (deal,) = oracle_deals(plain.select([row]), rules.to_dict())
        for action in plain.history[row, : plain.step_count[row]]:
            deal.play(CODES[action])
        for each in (plain, state):
            winner = None if each.winner[row] == NOBODY else each.winner[row]
            found = [winner, each.points[row], each.defender_deadwood[row]]
            assert found in deal.result["tie_results"]


# Hidden cards


@under_variants
def test_hidden_cards_permuted(rules):
    """Stock and unknown cards exchanged: view, mask and observation are the same bytes.

    For both players, at every step of random deals, the end included: thousands of positions.
    """
    rng = np.random.default_rng(4)
    decks = both_decks(5, 50, rules, rng)
    now = positions(rules, games=100, decks=decks, knocks=0.3)
    for viewers in (now.player, 1 - now.player):
        other = permute_hidden(now, viewers, rng)
        assert (np.bitwise_or.reduce(places(other), axis=1) == rules.full_deck).all()
        assert (hidden_cards(other, viewers) == hidden_cards(now, viewers)).all()
        one, same = make_view(now, rules, viewers), make_view(other, rules, viewers)
        assert view_bytes(one) == view_bytes(same)
        assert one.action_masks().tobytes() == same.action_masks().tobytes()
        for derived in (False, True):
            assert observe(one, derived).tobytes() == observe(same, derived).tobytes()
        exchanged = (other.hands != now.hands)[np.arange(len(now)), 1 - viewers].sum()
        assert exchanged > 0.2 * len(now), "the opponent's cards did change"


@under_variants
def test_the_stock_changes_nothing_for_the_player_to_move(rules):
    """Whatever lies in the stock and in the other hand, the same actions are legal."""
    rng = np.random.default_rng(5)
    now = positions(rules, games=40, seed=8)
    other = permute_hidden(now, now.player, rng)
    assert (action_masks(other, rules) == action_masks(now, rules)).all()
