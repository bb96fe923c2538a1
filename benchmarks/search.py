"""The Monte Carlo search: rollouts, decisions by the number of worlds, whole games.

Decisions are those of a rule agent's games that come up as games go: most draws need no search, as
the upcard is of no use. A game's seconds are those of one player, all decisions together.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

from benchmarks.positions import views_of
from benchmarks.registry import Benchmark, Entry, Goal, Measured, Measurement
from benchmarks.timing import Contender, Work

if TYPE_CHECKING:
    from ginrummy_agents.search.rollout import Starts

ROLLOUTS = 65_536
POSITIONS = 512
WORLDS = (32, 64, 128, 256)
GAMES = 32
SECONDS_A_GAME = 30
"""What a player has for a game in the challenge."""


def _starts(seed: int, count: int) -> Starts:
    """Return deals at their start, to be played to their end."""
    import numpy as np

    from ginrummy_agents.search.rollout import FREE, Starts
    from ginrummy_env.core.cards import CARD_BIT
    from ginrummy_env.core.game import new_games
    from ginrummy_env.core.rules import EAAI

    state = new_games(seed, count, EAAI)
    rows = np.arange(count)
    upcards = CARD_BIT[state.first_upcard]
    no = np.zeros(count, dtype=np.bool_)
    return Starts(
        mine=state.hands[rows, state.player],
        theirs=state.hands[rows, 1 - state.player],
        upcard=upcards,
        pile=upcards,
        deck=state.deck,
        world=rows,
        cut=np.zeros(count, dtype=np.int64),
        stock=np.full(count, 31),
        turn=np.zeros(count, dtype=np.int64),
        my_move=~no,
        first=np.full(count, FREE, dtype=np.int8),
        limit=state.knock_limit,
        doubled=no,
        manner=np.zeros(count, dtype=np.int8),
    )


def rollouts(seed: int) -> Contender:
    """Whole deals by the rules of the search."""
    from ginrummy_agents.search.rollout import ALWAYS, Style, roll_out
    from ginrummy_env.core.rules import EAAI

    starts, me, opponents = _starts(seed, ROLLOUTS), Style(), [Style((ALWAYS,), 0, 0)]

    def work() -> Work:
        roll_out(starts, me, opponents, EAAI)
        return Work(ROLLOUTS, ROLLOUTS)

    return work


def decisions(seed: int, worlds: int) -> Contender:
    """Decisions of a search with a given number of worlds."""
    import numpy as np

    from ginrummy_agents.search.policy import Search
    from ginrummy_env.core.chance import RowRandom, keys

    view, search = views_of("lookahead", "eaai", seed, POSITIONS), Search(worlds=worlds)
    row_keys = keys(np.uint64(seed), np.arange(len(view)))

    def work() -> Work:
        search.act(view, RowRandom(row_keys))
        return Work(len(view))

    return work


def games(seed: int, worlds: int) -> Measured:
    """Return how many games a second of the processor one player of a match decides."""
    from ginrummy_agents.search.policy import Search
    from ginrummy_training.evaluation.match import play_match

    search = Search(worlds=worlds)
    start = time.process_time()
    result = play_match(search, "simple", games=GAMES, seed=seed, rules="eaai", batch=GAMES)
    took = time.process_time() - start
    each = float(result.seconds[0]) / GAMES
    lines = (
        f"search:{worlds}, EAAI, {GAMES} games at once against simple:",
        f"{took / GAMES:.3f} s a game of the processor, {each:.3f} s on the clock for the search",
        f"{result.decisions[0] / GAMES:.0f} decisions a game",
    )
    return Measured(GAMES / took, lines)


BENCHMARKS: list[Entry] = [
    Benchmark(name="rollouts", track="rollouts", unit="rollouts", make=rollouts),
    *(
        Benchmark(
            name=f"search/{worlds}",
            track="search",
            unit="decisions",
            make=functools.partial(decisions, worlds=worlds),
        )
        for worlds in WORLDS
    ),
    *(
        Measurement(
            name=f"games of search:{worlds}",
            track="games of the search",
            unit="games",
            work_out=functools.partial(games, worlds=worlds),
            goals=(Goal(value=1 / SECONDS_A_GAME),),
        )
        for worlds in WORLDS
    ),
]
