"""The same work, done by the peers: OpenSpiel and RLCard.

Each plays its own game (OpenSpiel's is one deal with spoken melds and lay-offs, about 111 random
decisions; RLCard's has no opening, no lay-offs and no points, about 120), so what is compared is
the cost of one decision of a player, chance excluded. Where there is more than one way to drive a
peer, both the usual and the fastest one are here, and small things (picking a legal action) are
done in the way that favours the peer.

The packages come with the `bench` extra and are imported when a contender is made.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.registry import Benchmark, require
from benchmarks.timing import Contender, Work

DEALS_A_CALL = 8
"""Some 10 to 50 ms of play: long for the clock, short for a slice."""

HANDS_A_CALL = 4096

DEALT_CARDS = 52
"""OpenSpiel's chance nodes of a deal: the cards that are no longer in the stock."""


def pyspiel() -> Any:
    """Return OpenSpiel's module."""
    return require("pyspiel", "open_spiel")


def openspiel_play(seed: int, *, clone: bool, observe: bool) -> Contender:
    """Random legal play of OpenSpiel's gin rummy in a Python loop.

    Args:
        seed: of the actions and of chance.
        clone: start deals from a copy of a saved state. A new one costs 1.7 ms, more than the whole
            of the play, because it makes the table of melds again; most users pay that.
        observe: ask for the observation tensor of the player to move at each decision.
    """
    game = pyspiel().load_game("gin_rummy")
    start = game.new_initial_state()
    uniform = random.Random(seed).random

    def play() -> Work:
        decisions = 0
        for _ in range(DEALS_A_CALL):
            state = start.clone() if clone else game.new_initial_state()
            while not state.is_terminal():
                # Chance is uniform over the cards that are left, and these are its legal actions.
                if not state.is_chance_node():
                    decisions += 1
                    if observe:
                        state.observation_tensor()
                legal = state.legal_actions()
                state.apply_action(legal[int(uniform() * len(legal))])
        return Work(decisions, DEALS_A_CALL)

    return play


def openspiel_in_cpp(seed: int) -> Contender:
    """OpenSpiel at its best: its C++ loop and C++ random bots play deals that start as copies."""
    spiel = pyspiel()
    start = spiel.load_game("gin_rummy").new_initial_state()
    bots = [spiel.make_uniform_random_bot(player, seed + player) for player in range(2)]
    seeds = random.Random(seed)

    def play() -> Work:
        decisions = 0
        for _ in range(DEALS_A_CALL):
            state = start.clone()
            spiel.evaluate_bots(state, bots, seeds.getrandbits(31))
            # Counted after the fact: every move but the cards that were dealt.
            decisions += state.move_number() - (DEALT_CARDS - state.stock_size())
        return Work(decisions, DEALS_A_CALL)

    return play


def openspiel_deadwood(seed: int) -> Contender:
    """OpenSpiel's least deadwood of ten cards, hand by hand (there is no batch)."""
    least = pyspiel().gin_rummy.GinRummyUtils(13, 4, 10).min_deadwood
    rng = random.Random(seed)
    hands = [rng.sample(range(52), 10) for _ in range(HANDS_A_CALL)]

    def work() -> Work:
        for hand in hands:
            least(hand)
        return Work(HANDS_A_CALL)

    return work


def rlcard_play(seed: int) -> Contender:
    """Random legal play of RLCard's gin rummy, its observation included (its step makes it)."""
    env: Any = require("rlcard", "rlcard").make("gin-rummy", config={"seed": seed})
    uniform = random.Random(seed).random

    def play() -> Work:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(uniform() * len(legal))])
            decisions += 1
        return Work(decisions, 1)

    return play


def random_play(name: str, make: Callable[[int], Contender]) -> Benchmark:
    """Return a benchmark of random play, counted in decisions."""
    return Benchmark(name=name, track="random play", unit="decisions", make=make)


BENCHMARKS = [
    random_play("openspiel/python", partial(openspiel_play, clone=False, observe=False)),
    random_play("openspiel/best", openspiel_in_cpp),
    random_play("openspiel/python+obs", partial(openspiel_play, clone=False, observe=True)),
    random_play("openspiel/best+obs", partial(openspiel_play, clone=True, observe=True)),
    random_play("rlcard+obs", rlcard_play),
    Benchmark(name="openspiel/deadwood", track="deadwood", unit="hands", make=openspiel_deadwood),
]
