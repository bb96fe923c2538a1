"""Positions to draw: dealt by hand, and of random play."""

import numpy as np

from ginrummy_env.core.actions import parse_action, random_actions
from ginrummy_env.core.cards import (
    NUM_CARDS,
    parse_card,
    parse_cards,
)
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import CLASSIC, Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.step import step

LOOSE = Rules(knock_limit=55)
"""A limit at which random play knocks often, so that all kinds of ends come up."""


def dealt(first, second, upcard, stock="", rules=CLASSIC):
    """A game whose non-dealer, player 0, holds ``first``; the stock starts with ``stock``."""
    deck = [
        card for pair in zip(parse_cards(first), parse_cards(second), strict=True) for card in pair
    ]
    deck += [parse_card(upcard), *parse_cards(stock)]
    deck += [card for card in range(NUM_CARDS) if card not in deck]
    return new_games(1, 1, rules, dealers=[1], decks=[deck])


def play(state, actions, rules=CLASSIC):
    for action in actions.split(", "):
        step(state, [parse_action(action)], rules)
    return state


def random_positions(rules=LOOSE, games=48, steps=90, every=15, seed=5):
    """States of many games, from the first deal on."""
    rng = np.random.default_rng(seed)
    state = new_games(seed, games, rules)
    for number in range(steps):
        if number % every == 0:
            yield state.copy()
        next_deals(state, rules)
        step(state, random_actions(action_masks(state, rules), rng.random(games)), rules)


def ended_deals(rules, games=64, steps=400, seed=3):
    """One-row states, each at the end of a deal."""
    rng = np.random.default_rng(seed)
    state = new_games(seed, games, rules)
    for _ in range(steps):
        over = np.flatnonzero(state.phase >= Phase.DEAL_OVER)
        yield from (state.select([row]) for row in over)
        if (state.phase == Phase.GAME_OVER).any() or len(over) > games // 2:
            return
        step(state, random_actions(action_masks(state, rules), rng.random(games)), rules)


FIRST = "4h 5h 6h 9h 9d 9c As 2s 4c Kd"
SECOND = "Ks Kh Kc 7s 7d 7c 3d 3c 8s 2d"
KNOCKER = "4h 5h 6h 9h 9d 9c As 2s 4c Kd"
DEFENDER = "Ks Kh Kc Js Jh Jd 7h 9s Ad 2d"


def undercut(rules=CLASSIC):
    """Player 0 draws the 3s and knocks with 4; player 1 lays off the 7h and the 9s, and has 3."""
    state = dealt(KNOCKER, DEFENDER, "Qs", "3s", rules)
    return play(state, "pass, pass, draw, knock Kd", rules)
