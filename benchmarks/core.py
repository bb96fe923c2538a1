"""The core: random play at all sizes of the batch, deadwood, settling deals, memory, profiles.

Random play takes any legal action with equal chance, by the classic rules, game after game in every
row. One decision is: masks, the choice of an action, the step, and dealing on where a deal or game
has ended. Rows are at all places of their deals when timing starts.

What is measured is imported when a contender is made, after the numeric libraries have been told
to use one thread.
"""

from __future__ import annotations

import cProfile
import dataclasses
import functools
import io
import pstats
import tracemalloc
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.registry import Benchmark, Entry, Goal, Measured, Measurement
from benchmarks.timing import Contender, Work

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ginrummy_env.core.state import BatchState
    from ginrummy_env.core.types import Hands

DEADWOOD_BATCH = 32_768
PLAY_BATCHES = (1, 16, 256, 4_096, 65_536)
MAIN_BATCH = 4_096
SETTLED_BATCH = 4_096

DECISIONS_A_CALL = 16_384
STEPS_A_CALL = 64
"""A call makes as many steps as come first to one of these two bounds."""

SPREAD_STEPS = 128
"""Decisions over which the rows are spread, somewhat more than a deal of random play has."""

Observed = Literal["raw", "derived"] | None
"""What is looked at before each decision: the masks alone, or a view and its observation too."""


def random_hands(seed: int, count: int, size: int) -> Hands:
    """Return hands drawn from a full deck.

    Args:
        seed: of the draw.
        count: of hands, N.
        size: cards a hand.

    Returns:
        [N] uint64.
    """
    import numpy as np

    from ginrummy_env.core.cards import hand_of

    order = np.random.default_rng(seed).random((count, 52)).argsort(axis=1)
    return hand_of(order[:, :size])


def deadwood_of_ten(seed: int) -> Contender:
    """Least deadwood of ten cards."""
    from ginrummy_env.core.deadwood import deadwood

    hands = random_hands(seed, DEADWOOD_BATCH, 10)

    def work() -> Work:
        deadwood(hands)
        return Work(DEADWOOD_BATCH)

    return work


def deadwood_after_discards(seed: int) -> Contender:
    """Least deadwood after each of the eleven discards."""
    from ginrummy_env.core.deadwood import deadwood_after_discard

    hands = random_hands(seed, DEADWOOD_BATCH, 11)

    def work() -> Work:
        deadwood_after_discard(hands)
        return Work(DEADWOOD_BATCH)

    return work


class RandomPlay:
    """Games in which both players take random legal actions, deal after deal, without end."""

    def __init__(self, seed: int, games: int) -> None:
        """Start ``games`` games, of the classic rules."""
        import numpy as np

        from ginrummy_env.core.game import new_games
        from ginrummy_env.core.rules import CLASSIC

        self.seed = seed
        self.rules = CLASSIC
        self.state = new_games(seed, games, CLASSIC)
        self.rng = np.random.default_rng(seed)
        self.games_started = games

    def decide(self, observed: Observed = None) -> int:
        """Take one decision in every game and return how many deals ended with it."""
        from ginrummy_env.core.actions import random_actions
        from ginrummy_env.core.legal import action_masks
        from ginrummy_env.core.observation import observe
        from ginrummy_env.core.step import step
        from ginrummy_env.core.view import make_view

        if observed is None:
            masks = action_masks(self.state, self.rules)
        else:
            view = make_view(self.state, self.rules)
            observe(view, derived=observed == "derived")
            masks = view.action_masks()
        step(self.state, random_actions(masks, self.rng.random(len(masks))), self.rules)
        return self.deal_on()

    def deal_on(self) -> int:
        """Deal again where a deal is over, start a game where one is; return how many deals."""
        import numpy as np

        from ginrummy_env.core.game import next_deals, restart
        from ginrummy_env.core.state import Phase

        over = int(np.count_nonzero(self.state.phase >= Phase.DEAL_OVER))
        if over:
            rows = np.flatnonzero(self.state.phase == Phase.GAME_OVER)
            if rows.size:
                numbers = np.arange(self.games_started, self.games_started + rows.size)
                restart(self.state, rows, self.seed, numbers, self.rules)
                self.games_started += rows.size
            if rows.size < over:
                next_deals(self.state, self.rules)
        return over


@functools.cache
def _spread_state(seed: int, games: int) -> BatchState:
    """Return games at all places of their deals. Not to be changed: copy it.

    Games that start together stay together for long (a random deal has some 110 decisions, seldom
    many more or less), and a slice of few steps would see no deal end, or all. So each row is taken
    at a moment of its own. Above the main batch, rows are repeated: they continue
    differently.
    """
    import numpy as np

    play = RandomPlay(seed, min(games, MAIN_BATCH))
    for _ in range(SPREAD_STEPS):
        play.decide()
    spread = play.state.copy()
    moments = np.arange(len(spread)) % SPREAD_STEPS
    for moment in range(min(SPREAD_STEPS, len(spread))):
        rows = np.flatnonzero(moments == moment)
        spread.assign(rows, play.state.select(rows))
        play.decide()
    return spread.select(np.arange(games) % len(spread))


def spread_play(seed: int, games: int) -> RandomPlay:
    """Return random play whose rows are at all places of their deals."""
    play = RandomPlay(seed, games)
    play.state = _spread_state(seed, games).copy()
    return play


def random_play(seed: int, games: int, observed: Observed = None) -> Contender:
    """Random play of ``games`` games at once."""
    play = spread_play(seed, games)
    steps = max(1, min(STEPS_A_CALL, DECISIONS_A_CALL // games))

    def work() -> Work:
        deals = 0
        for _ in range(steps):
            deals += play.decide(observed)
        return Work(steps * games, deals)

    return work


def knocked_deals(seed: int, count: int) -> tuple[BatchState, NDArray[np.intp]]:
    """Return deals that ended with a knock, for `settlement.settle` to settle again.

    Both players draw at random, knock as soon as they can and else keep the least deadwood.

    Returns:
        (a batch of at least ``count`` deals, [count] the rows of those to settle).
    """
    import numpy as np

    from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, random_actions
    from ginrummy_env.core.deadwood import deadwood_after_discard
    from ginrummy_env.core.legal import action_masks, mover_hands
    from ginrummy_env.core.state import NOBODY, Phase
    from ginrummy_env.core.step import step

    play = RandomPlay(seed, count + count // 4)
    state = play.state
    while not state.over.all():
        masks = action_masks(state, play.rules)
        rows = np.flatnonzero(state.phase == Phase.DISCARD)
        if rows.size:
            left = deadwood_after_discard(mover_hands(state)[rows]).astype(np.int16)
            knocks = masks[rows, KNOCK:DRAW_STOCK].any(axis=1)
            left[~masks[rows, :KNOCK]] = 1_000
            best = left.argmin(axis=1)
            masks[rows] = False
            masks[rows, best + np.where(knocks, KNOCK, 0)] = True
        step(state, random_actions(masks, play.rng.random(len(masks))), play.rules)
    return state, np.flatnonzero(state.knocker != NOBODY)[:count]


def settle_knocks(seed: int) -> Contender:
    """The knocker's arrangement, the defender's melds and lay-offs, points and score."""
    from ginrummy_env.core.rules import CLASSIC
    from ginrummy_env.core.settlement import settle

    state, rows = knocked_deals(seed, SETTLED_BATCH)

    def work() -> Work:
        settle(state, rows, CLASSIC)
        state.scores[:] = state.deals_won[:] = 0  # else they would run over
        return Work(len(rows), len(rows))

    return work


def bytes_a_game(seed: int) -> Measured:
    """Bytes of the state a game, the history grown as long as random deals make it."""
    state = _spread_state(seed, MAIN_BATCH)
    sizes = {
        field.name: getattr(state, field.name).nbytes / len(state)
        for field in dataclasses.fields(state)
    }
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:6]
    return Measured(
        sum(sizes.values()), ("largest: " + ", ".join(f"{n} {size:.0f}" for n, size in largest),)
    )


def bytes_at_work(seed: int) -> Measured:
    """Bytes a game at the peak of a decision: the state and all that is made beside it."""
    play = spread_play(seed, MAIN_BATCH)
    tracemalloc.start()
    try:
        for _ in range(16):
            play.decide()
        peak = tracemalloc.get_traced_memory()[1] / MAIN_BATCH
    finally:
        tracemalloc.stop()
    return Measured(bytes_a_game(seed).value + peak)


def profile(seed: int, games: int, *, observed: Observed = None, lines: int = 16) -> Measured:
    """Profile random play: which functions cost most, their callees not counted in.

    The profiler goes by the wall clock and adds to every call: read the shares, on a quiet machine.

    Returns:
        Microseconds a step of the whole batch under the profiler, and the top lines.
    """
    play = spread_play(seed, games)
    steps = max(200, min(2_000, 1_000_000 // games))
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(steps):
        play.decide(observed)
    profiler.disable()
    stats: Any = pstats.Stats(profiler, stream=io.StringIO())
    table = sorted(stats.stats.items(), key=lambda item: -item[1][2])
    rows = ["  µs a step  share  calls a step  function"]
    for (file, line, function), (_, calls, own, _, _) in table[:lines]:
        name = function if file == "~" else f"{function} ({file.rpartition('/')[2]}:{line})"
        rows.append(
            f"{own / steps * 1e6:11.1f}  {own / stats.total_tt:5.1%}  {calls / steps:12.1f}  {name}"
        )
    return Measured(stats.total_tt / steps * 1e6, tuple(rows))


# The goals with observations are given as rates, beside 64 k/s of OpenSpiel at its best.
_OBSERVED_GOALS = {"raw": 1_000_000, "derived": 400_000}
_OPENSPIEL_OBSERVED = 64_000


def _play_goals(games: int, observed: Observed) -> list[Goal]:
    if games != MAIN_BATCH:
        return []
    if observed is None:
        return [
            Goal(value=15, than="openspiel/best"),
            Goal(value=40, than="openspiel/python"),
            Goal(value=2e6),
        ]
    rate = _OBSERVED_GOALS[observed]
    ratio = rate / _OPENSPIEL_OBSERVED
    return [Goal(value=ratio, than="openspiel/best+obs"), Goal(value=rate)]


def _play_benchmarks() -> list[Entry]:
    made: list[Entry] = []
    kinds: tuple[Observed, ...] = (None, "raw", "derived")
    for observed in kinds:
        what = "random" if observed is None else f"random+{observed}"
        for games, smaller in zip(PLAY_BATCHES, (None, *PLAY_BATCHES), strict=False):
            goals = _play_goals(games, observed)
            if smaller is not None and observed is None:
                # The cost of a decision falls up to the main batch and may not rise after it.
                least = 1.0 if games <= MAIN_BATCH else 0.9
                goals.append(Goal(value=least, than=f"{what}/{smaller}"))
            compare = ("rlcard+obs",) if games == MAIN_BATCH and observed == "raw" else ()
            made.append(
                Benchmark(
                    name=f"{what}/{games}",
                    track="random play",
                    unit="decisions",
                    make=functools.partial(random_play, games=games, observed=observed),
                    goals=tuple(goals),
                    compare=compare,
                )
            )
    return made


BENCHMARKS: list[Entry] = [
    *_play_benchmarks(),
    Benchmark(
        name="deadwood/10",
        track="deadwood",
        unit="hands",
        make=deadwood_of_ten,
        goals=(Goal(value=10, than="openspiel/deadwood"), Goal(value=10e6)),
    ),
    Benchmark(
        name="deadwood/11-discards",
        track="deadwood",
        unit="hands",
        make=deadwood_after_discards,
    ),
    Benchmark(
        name=f"settle/{SETTLED_BATCH}",
        track="settling deals",
        unit="deals",
        make=settle_knocks,
    ),
    Measurement(
        name="bytes a game",
        track="memory",
        unit="bytes",
        work_out=bytes_a_game,
        goals=(Goal(value=1024, at_most=True),),
    ),
    Measurement(
        name="bytes a game, at work",
        track="memory",
        unit="bytes",
        work_out=bytes_at_work,
    ),
    Measurement(
        name=f"profile of random/{MAIN_BATCH}",
        track="profiles",
        unit="µs a step",
        work_out=functools.partial(profile, games=MAIN_BATCH),
    ),
    Measurement(
        name=f"profile of random+derived/{MAIN_BATCH}",
        track="profiles",
        unit="µs a step",
        work_out=functools.partial(profile, games=MAIN_BATCH, observed="derived"),
    ),
    Measurement(
        name="profile of random/1",
        track="profiles",
        unit="µs a step",
        work_out=functools.partial(profile, games=1),
    ),
]
