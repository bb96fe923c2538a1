"""Agents with decks and hands of other sizes: what they work out is right, and they beat chance.

That they are legal and blind there stands in the tests of every agent.
"""

import numpy as np
import oracle
import pytest
from positions import lists_of, positions, random_hands

from ginrummy_agents.rules.hein import Hein, ways_to_meld
from ginrummy_agents.rules.next_draw import least_after_each_draw
from ginrummy_agents.rules.work_lists import least_discards
from ginrummy_agents.search.belief import belief_for, fitted
from ginrummy_agents.search.hands import odds_of
from ginrummy_agents.search.worlds import sample_worlds
from ginrummy_agents.win_chance import win_chance_of
from ginrummy_env.core.cards import CARD_BIT, card_planes, cards_of
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.rules import CLASSIC, MINI, NANO, Rules
from ginrummy_env.core.view import OPPONENT, make_view
from ginrummy_training.evaluation.match import play_match

FEW = [13 * suit + rank for suit in range(4) for rank in range(5)]


@pytest.mark.parametrize("size", range(3, 11))
def test_discards_that_leave_least(size):
    """Hands of five ranks, with a card that must stay or without one."""
    rng = np.random.default_rng(size)
    hands = random_hands(rng, 120, size + 1, FEW)
    stays = np.array([CARD_BIT[rng.choice([*cards_of(hand), -1])] for hand in hands])
    least, best = least_discards(hands, stays)
    for row, hand in enumerate(lists_of(hands)):
        left = oracle.after_discard(hand)
        left = {card: left[card] for card in left if card not in cards_of(stays[row])}
        assert least[row] == min(left.values())
        assert cards_of(best[row]) == [card for card in left if left[card] == least[row]]


@pytest.mark.parametrize("size", range(3, 11))
def test_what_the_next_draw_leaves(size):
    hands = random_hands(np.random.default_rng(size), 25, size, FEW)
    unseen = np.bitwise_or.reduce(CARD_BIT[FEW]) & ~hands
    after = least_after_each_draw(hands, deadwood(hands).astype(np.uint8), unseen)
    assert ((after == 255) == ~card_planes(unseen)).all()
    for row, hand in enumerate(lists_of(hands)):
        for card in cards_of(unseen[row]):
            assert after[row, card] == min(oracle.after_discard([*hand, card]).values())


def test_cards_that_the_deck_lacks_make_no_meld():
    """With the 4s no higher spade can come in NANO; a hand of 3s 4s waits for the 2s alone."""
    hand = np.array([CARD_BIT[2] | CARD_BIT[3] | CARD_BIT[13]])
    dead = ~NANO.full_deck & np.bitwise_or.reduce(CARD_BIT)
    assert ways_to_meld(hand, np.zeros_like(hand))[0, 3] == 2
    assert ways_to_meld(hand, np.array([dead]))[0, 3] == 1
    view = make_view(positions(NANO, games=40, seed=1, knocks=0.1), NANO)
    actions = Hein().act(view, np.random.default_rng(0))
    assert view.action_masks()[np.flatnonzero(actions >= 0), actions[actions >= 0]].all()


@pytest.mark.parametrize("rules", [MINI, NANO, Rules(num_ranks=7, hand_size=8)])
def test_worlds_hold_only_cards_of_the_deck(rules):
    state = positions(rules, games=10, seed=2, knocks=0.1)
    view = make_view(state, rules).select(~state.over)
    worlds = sample_worlds(
        view, 5, RowRandom(keys(3, np.arange(len(view)))), odds_of(view, belief_for(rules))
    )
    unseen, known = (np.repeat(cards, 5) for cards in (view.unseen, view.known[:, OPPONENT]))
    assert (worlds.theirs & ~(unseen | known) == 0).all()
    assert (np.bitwise_count(worlds.theirs) == rules.hand_size).all()
    some = np.repeat(view.stock_count > 0, 5)
    assert (CARD_BIT[worlds.deck[some, -1]] & ~unseen[some] == 0).all()


def test_the_belief_is_for_the_deck_it_was_fitted_to():
    assert belief_for(CLASSIC) is fitted()
    assert belief_for(MINI) is belief_for(Rules(hand_size=9)) is None


@pytest.mark.parametrize("rules", [MINI, NANO])
def test_the_chance_of_winning_knows_what_small_deals_are_worth(rules):
    chance = win_chance_of(rules).table
    assert chance.shape == (rules.target, rules.target)
    assert chance[0, 0] == pytest.approx(0.5)
    assert 0.5 < chance[rules.target // 2, 0] < 0.95
    assert win_chance_of(rules).table[0, 0] == pytest.approx(1 - chance[0, 0])


@pytest.mark.parametrize("name", ["gold", "simple", "heuristic", "hein", "lookahead:7", "search:8"])
def test_agents_beat_random_play(name):
    result = play_match(name, "random", games=100, seed=1, rules=MINI)
    assert result.games_won("a") > 75
