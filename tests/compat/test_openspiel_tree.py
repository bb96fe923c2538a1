"""The tree of a small deal, walked in batches: the same game as the one played state by state."""

import numpy as np
import pytest

from ginrummy_env.compat.deal_tree import CHANCE, OVER, Walk, deal_tree
from ginrummy_env.core.rules import CLASSIC, MINI, NANO, as_rules

TINY = as_rules("nano,turn_bound=1")

pyspiel = pytest.importorskip("pyspiel")
from ginrummy_env.compat.openspiel_tree import load_tree  # noqa: E402


@pytest.fixture(scope="module")
def tiny():
    return load_tree(TINY)


def test_sizes_of_the_tree_of_nano():
    tree = deal_tree(NANO)
    kinds = np.bincount(tree.kind, minlength=4)
    assert (tree.parent < 0).sum() == 1120
    assert len(tree.kind) == 323_920
    assert kinds[OVER] == 236_560
    assert kinds[CHANCE] == 0  # one card of stock
    assert len(tree.legal) == len(set(tree.information_states)) == 47_320


def test_a_larger_stock_is_drawn_from_by_chance():
    tree = deal_tree(as_rules("nano,num_suits=1,num_ranks=9,turn_bound=1"))
    drawing = np.flatnonzero(tree.kind == CHANCE)
    assert drawing.size
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=len(tree.kind))
    assert (children[drawing] == 2).all()
    assert (children[tree.kind < CHANCE] == tree.legal.sum(axis=1)[tree.information_set[
        tree.kind < CHANCE]]).all()  # fmt: skip


def test_random_deals_of_the_game_are_in_the_tree(tiny):
    """The same information states, legal actions and points, along random deals."""
    from ginrummy_env.compat import openspiel_game

    game = pyspiel.load_game("ginrummy_env", {"rules": openspiel_game.rules_text(TINY)})
    tree = tiny.tree
    sets = {words: number for number, words in enumerate(tree.information_states)}
    edges = zip(tree.parent.tolist(), tree.label.tolist(), strict=True)
    nodes = {edge: node for node, edge in enumerate(edges)}
    first = next(iter(Walk(TINY))).state
    beginnings = zip(first.hands.tolist(), first.first_upcard.tolist(), strict=True)
    numbers = {(*hands, upcard): number for number, (hands, upcard) in enumerate(beginnings)}
    rng = np.random.default_rng(2)
    for _ in range(40):
        state = game.new_initial_state()
        while state.is_chance_node():
            state.apply_action(int(rng.choice(state.legal_actions())))
        deal = state.deal
        node = numbers[*deal.state.hands[0].tolist(), deal.upcard]
        while not state.is_terminal():
            actions = state.legal_actions()
            if not state.is_chance_node():
                number = sets[state.information_state_string(state.current_player())]
                assert tree.information_set[node] == number
                assert tree.player[number] == state.current_player()
                assert np.flatnonzero(tree.legal[number]).tolist() == actions
            action = int(rng.choice(actions))
            if not state.is_chance_node():
                node = nodes[node, action]
            state.apply_action(action)
        assert tree.kind[node] == OVER
        assert tree.points[node] == state.returns()[0]


def test_openspiel_holds_the_same_tree(tiny):
    """Its information states and actions, by name, where the translation says they are."""
    places = {key: number for number, key in enumerate(tiny.keys)}
    rng = np.random.default_rng(0)
    for _ in range(60):
        state = tiny.game.new_initial_state()
        while not state.is_terminal():
            actions = state.legal_actions()
            if not state.is_chance_node():
                number = places[state.information_state_string(state.current_player())]
                assert tiny.action_numbers[number] == actions
                legal = np.flatnonzero(tiny.tree.legal[number])
                assert len(legal) == len(actions)
            state.apply_action(int(rng.choice(actions)))
        assert sum(state.returns()) == 0


def test_a_policy_is_translated_there_and_back(tiny):
    rng = np.random.default_rng(0)
    some = np.where(tiny.tree.legal, rng.random(tiny.tree.legal.shape), 0)
    some /= some.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(tiny.probabilities(tiny.policy(some)), some)


def test_cfr_plus_finds_an_equilibrium_of_a_tiny_deal(tiny):
    """Also: the mean of its play lies between what best responses leave the two players."""
    solver = pyspiel.CFRPlusSolver(tiny.game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    assert pyspiel.exploitability(tiny.game, policy) < 0.02
    value, _ = pyspiel.expected_returns(tiny.game.new_initial_state(), policy, -1, True)
    assert value == pytest.approx(2.797, abs=0.03)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (CLASSIC, "too large to be walked: .* beginnings"),
        (MINI, "too large to be walked: 3,153,150 beginnings"),
        (as_rules("nano,turn_bound=9"), "too large to be walked: more"),
        (as_rules("nano,turn_bound=none"), "has no end"),
    ],
)
def test_a_tree_that_is_too_large_is_refused(rules, reason):
    with pytest.raises(ValueError, match=reason):
        deal_tree(rules, most=100_000)
