"""Decks of other sizes (RULES, Decks of other sizes): what holds beside the tests of all rules."""

from itertools import combinations

import numpy as np
import oracle
import pytest
from positions import places, play_deals

from ginrummy_env.core.actions import DRAW_STOCK
from ginrummy_env.core.cards import NO_CARD, card_planes, cards_of
from ginrummy_env.core.deadwood import deadwood_after_discard, least_after_discard
from ginrummy_env.core.deal import decks, require_decks
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import MINI, NANO, Rules
from ginrummy_env.core.state import BatchState, Outcome, Phase
from ginrummy_env.core.step import step

SMALL = {
    "mini": MINI,
    "nano": NANO,
    "one suit": Rules(num_suits=1, hand_size=4),
    "three ranks": Rules(num_ranks=3, hand_size=3, big_gin=True),
    "all hands of three": Rules(hand_size=3, turn_bound=None),
    "five of many": Rules(num_ranks=8, hand_size=5, at_void_stock="take_discard"),
}
small_decks = pytest.mark.parametrize("rules", SMALL.values(), ids=SMALL)


@small_decks
def test_only_cards_of_the_deck_are_dealt_and_all_of_them(rules):
    shuffled = decks(3, np.arange(200), 0, rules)
    assert (np.sort(shuffled, axis=1) == cards_of(rules.full_deck)).all()
    whole = decks(3, np.arange(200), 0)
    for small, full in zip(shuffled.tolist(), whole.tolist(), strict=True):
        assert small == [card for card in full if card in cards_of(rules.full_deck)]


@small_decks
def test_every_card_of_the_deck_is_in_one_place(rules):
    rng = np.random.default_rng(0)
    for state in play_deals(new_games(0, 100, rules), rules, rng):
        everything = places(state)
        assert (np.bitwise_count(everything).sum(axis=1) == rules.num_cards).all()
        assert (np.bitwise_or.reduce(everything, axis=1) == rules.full_deck).all()
        cards = action_masks(state, rules)[:, :DRAW_STOCK].reshape(-1, 2, 52).any(axis=1)
        assert not (cards & ~card_planes(rules.full_deck)).any()
        drawn = (state.phase == Phase.DISCARD).astype(int)
        held = np.bitwise_count(state.hands).sum(axis=1)
        assert (held[~state.over] == (2 * rules.hand_size + drawn)[~state.over]).all()
    assert state.discard_pile.shape[1] == rules.num_pile


@small_decks
def test_games_go_on_to_the_target(rules):
    """Deal after deal in the same rows, as `step` and `next_deals` leave them."""
    rng = np.random.default_rng(1)
    state = new_games(1, 20, rules)
    for _ in range(400):
        for _ in play_deals(state, rules, rng, knocks=1):
            pass
        if (state.phase == Phase.GAME_OVER).all():
            break
        next_deals(state, rules)
    assert (state.phase == Phase.GAME_OVER).all()
    assert (state.scores.max(axis=1) >= rules.target).all()


def test_decks_that_are_given():
    ascending = cards_of(NANO.full_deck)
    state = new_games(0, 1, NANO, dealers=[1], decks=[ascending])
    assert cards_of(state.hands[0, 0]) == [0, 2, 13]
    assert cards_of(state.hands[0, 1]) == [1, 3, 14]
    assert (state.upcard.tolist(), state.stock) == ([15], [[16]])
    assert state.deck[0].tolist() == [NO_CARD] * 44 + ascending
    with pytest.raises(ValueError, match="5s is not in a deck of 2 suits and 4 ranks"):
        require_decks([[4, *ascending[1:]]], 1, NANO)
    with pytest.raises(ValueError, match=r"decks of shape \(1, 52\), expected \(1, 8\)"):
        new_games(0, 1, NANO, decks=[range(52)])


@pytest.mark.parametrize("size", range(3, 11))
def test_least_deadwood_after_a_discard_of_hands_of_any_size(size):
    """Beside the oracle, with a card that may not go: small hands cannot always spare another."""
    rng = np.random.default_rng(size)
    rules = Rules(num_ranks=7, hand_size=size)
    state = new_games(size, 150, rules)
    hands = state.hands[:, 0] | np.uint64(0)
    added = np.array([rng.choice(cards_of(rules.full_deck & ~hand)) for hand in hands])
    hands |= np.uint64(1) << (16 * (added // 13) + added % 13).astype(np.uint64)
    after, least = deadwood_after_discard(hands), least_after_discard(hands, added)
    for row, hand in enumerate(hands):
        left = oracle.after_discard(cards_of(hand))
        assert {card: int(after[row, card]) for card in left} == left
        del left[int(added[row])]
        assert least[row] == min(left.values())


def deals_of(rules: Rules) -> BatchState:
    """Every way to deal two hands and the upcard, player 0 to move; the stock in one order."""
    deck = cards_of(rules.full_deck)
    orders = []
    for first in combinations(deck, rules.hand_size):
        rest = [card for card in deck if card not in first]
        for second in combinations(rest, rules.hand_size):
            left = [card for card in rest if card not in second]
            for upcard in left:
                hands = [card for pair in zip(first, second, strict=True) for card in pair]
                orders.append([*hands, upcard, *(card for card in left if card != upcard)])
    return new_games(0, len(orders), rules, dealers=np.ones(len(orders), dtype=int), decks=orders)


def test_the_whole_tree_of_nano():
    """1,120 deals; the stock has one card, so a history is a deal and its actions."""
    level = deals_of(NANO)
    assert len(level) == 1120
    decisions = ended = draws = 0
    endings = np.zeros(8, dtype=int)
    seen = set()
    while len(level):
        decisions += len(level)
        hands = level.hands[np.arange(len(level)), level.player]
        for row, hand in enumerate(hands.tolist()):
            # What the mover knows: their cards, all actions, and with them what they drew.
            own = [*level.history[row, : level.step_count[row]].tolist(), int(level.player[row])]
            seen.add((level.first_upcard[row], hand, int(level.drawn_card[row]), *own))
        masks = action_masks(level, NANO)
        rows, actions = np.nonzero(masks)
        draws += int((actions == DRAW_STOCK).sum())
        level = level.select(rows)
        step(level, actions, NANO)
        over = level.over
        ended += int(over.sum())
        endings += np.bincount(level.outcome[over], minlength=8)
        level = level.select(~over)
    assert (decisions, draws, ended) == (87_360, 28_000, 236_560)
    assert decisions + ended == 323_920
    assert len(seen) == 47_320
    ends = {Outcome(number).name for number in np.flatnonzero(endings)}
    assert ends == {"GIN", "KNOCK", "UNDERCUT", "VOID"}
