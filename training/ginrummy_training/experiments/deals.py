"""The experiments that look into deals: E5, E8, E11, and the census of section 3."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import HAND_SIZE, hand_of
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.deal import decks
from ginrummy_env.core.layoff import knocker_arrangement
from ginrummy_env.core.melds import MELD_MASK, NO_MELD
from ginrummy_env.core.rules import EAAI, RLCARD
from ginrummy_env.core.state import NOBODY, BatchState
from ginrummy_env.core.types import Hands, Rows
from ginrummy_env.policy import make_policy
from ginrummy_training.evaluation.lockstep import Games, Lockstep
from ginrummy_training.evaluation.match_result import Match
from ginrummy_training.evaluation.processes import run_apart
from ginrummy_training.experiments.census import census
from ginrummy_training.experiments.lab import Lab
from ginrummy_training.experiments.rows import Measured
from ginrummy_training.provenance import fingerprints
from ginrummy_training.statistics import Estimate, mean

HERE = (__name__,)
CENSUS = ("ginrummy_training.experiments.census",)
"""The code that counts, besides that which plays: if it changes, so may the numbers."""

SHARE = 4_000
"""Games that are played together and reported as done."""


@dataclass(frozen=True, slots=True)
class Ends:
    """How deals ended, [D] each. A is 0, B is 1."""

    game: NDArray[np.int64]
    hands: Hands
    """[D, 2] uint64, by agent: ten cards each, the knocker's after the discard."""
    winner: NDArray[np.int8]
    """0, 1 or NOBODY."""
    points: NDArray[np.int16]
    """Won by the winner."""
    knocker: NDArray[np.int8]
    """Who laid down: 0, 1 or NOBODY."""

    @property
    def pair(self) -> NDArray[np.int64]:
        """[D] the pair of games that the deal belongs to."""
        return self.game // 2

    @classmethod
    def joined(cls, parts: list["Ends"]) -> "Ends":
        """Return several as one, in the order of games."""
        whole = [
            np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)
        ]
        order = whole[0].argsort(kind="stable")
        return cls(*(column[order] for column in whole))


class Watched(Lockstep):
    """Games whose deals are noted as they end."""

    ends: list[Ends]

    def deals_over(self, state: BatchState, rows: Rows, places: Rows) -> None:
        """Note hands, winner and points by agent."""
        number = self._games.number[places]
        seat_a = (number % 2).astype(np.intp)
        by_agent = np.stack([seat_a, 1 - seat_a], axis=1)

        def agent(player: NDArray[np.int8]) -> NDArray[np.int8]:
            return np.where(player == NOBODY, NOBODY, player ^ seat_a).astype(np.int8)

        self.ends.append(
            Ends(
                number,
                np.take_along_axis(state.hands[rows], by_agent, axis=1),
                agent(state.winner[rows]),
                state.points[rows],
                agent(state.knocker[rows]),
            )
        )


def play_share(share: tuple[Match, int, int]) -> Ends:
    """Play the games of a match from one number to another; return how their deals ended."""
    match, start, stop = share
    policies = [make_policy(agent) for agent in match.agents]
    numbers = np.arange(start, stop)
    games = Games(
        np.zeros(len(numbers), dtype=np.intp),
        numbers,
        np.tile(np.array([0, 1], dtype=np.int8), (len(numbers), 1)),
    )
    lockstep = Watched(policies, games, match.rules, seed=match.seed, max_deals=match.max_deals)
    lockstep.ends = []
    while lockstep.running:
        lockstep.step()
    return Ends.joined(lockstep.ends)


def deal_ends(
    match: Match, games: int, workers: int = 1, progress: Callable[[int], None] | None = None
) -> Ends:
    """Play a match and return how all its deals end.

    Args:
        match: what is played.
        games: an even number.
        workers: processes.
        progress: called with how many games have been played.
    """
    found: list[Ends] = []
    done = 0

    def receive(share: tuple[Match, int, int], ends: Ends) -> None:
        nonlocal done
        found.append(ends)
        done += share[2] - share[1]
        if progress is not None:
            progress(done)

    size = min(SHARE, 2 * max(games // 2 // workers, 1))
    shares = [(match, low, min(low + size, games)) for low in range(0, games, size)]
    run_apart(play_share, shares, receive, workers)
    return Ends.joined(found)


def _reported(lab: Lab, name: str, total: int, before: int = 0) -> Callable[[int], None]:
    return lambda done: lab.progress(name, before + done, total)


def e5(lab: Lab, seed: int) -> list[Measured]:
    """Take the score of a deal by the own melds and deadwood at its end, simple against simple."""
    games = 200 if lab.fast else 20_000
    match = Match(("simple", "simple"), EAAI, seed)
    settings = {"seed": seed, "games": games, "made_by": fingerprints(match.agents, HERE)}

    def measure() -> list[Measured]:
        ends = deal_ends(match, games, lab.workers, _reported(lab, "E5", games))
        return by_hand(ends, games // 2)

    return lab.kept("E5", settings, measure)


def by_hand(ends: Ends, pairs: int) -> list[Measured]:
    """Return the mean score of a seat by its own melds and by its own deadwood.

    Every deal is seen from both seats. A void deal scores 0. Melds are those of the arrangement of
    least deadwood, counted in both ways that there are: a run of six or more as the two that it can
    be, and as one.
    """
    hands = ends.hands.T.ravel()
    melds, left = knocker_arrangement(hands, np.zeros_like(hands))
    score = np.concatenate([_score(ends, 0), _score(ends, 1)])
    pair = np.tile(ends.pair, 2)
    found = []
    for series, values, shown in (
        ("melds", (melds != NO_MELD).sum(axis=1), range(4)),
        ("melds, long runs whole", whole_melds(melds), range(4)),
        ("deadwood", left, range(11)),
    ):
        for value in shown:
            here = values == value
            totals = np.bincount(pair, score * here, minlength=pairs)
            counts = np.bincount(pair, here, minlength=pairs)
            found.append(Measured.of(series, value, mean(totals, counts), int(here.sum())))
    return [each for each in found if each.games]


def whole_melds(melds: NDArray[np.int16]) -> NDArray[np.int64]:
    """Return how many melds there are if runs end to end are one.

    Args:
        melds: [N, 3] numbers of melds.

    Returns:
        [N] 0 to 3.
    """
    one = np.uint64(1)
    masks = MELD_MASK[melds]
    is_run = (masks & (masks << one)) != 0  # the cards of a set are in four lanes
    runs = np.bitwise_or.reduce(np.where(is_run, masks, np.uint64(0)), axis=1)
    sets = ((masks != 0) & ~is_run).sum(axis=1)
    return sets + np.bitwise_count(runs & ~(runs << one))


def _score(ends: Ends, agent: int) -> NDArray[np.int64]:
    """Return what the deal is worth to an agent: its points, or as many lost, [D]."""
    sign = np.where(ends.winner == agent, 1, np.where(ends.winner == NOBODY, 0, -1))
    return sign * ends.points.astype(np.int64)


def e8(lab: Lab, seed: int) -> list[Measured]:
    """Take mean and standard deviation of the deadwood of dealt hands."""
    deals = 5_000 if lab.fast else 250_000

    def measure() -> list[Measured]:
        least = deadwood(dealt_hands(seed, deals)).astype(np.float64)
        spread = least.std(ddof=1)
        # The variance's own error, from the fourth moment; halved and divided for its root.
        fourth = ((least - least.mean()) ** 4).mean()
        half = 1.96 * np.sqrt((fourth - spread**4) / deals) / (2 * spread)
        deviation = Estimate(float(spread), float(spread - half), float(spread + half))
        return [
            Measured.of("mean", None, mean(least, np.ones(deals)), deals),
            Measured.of("standard deviation", None, deviation, deals),
        ]

    return lab.kept(
        "E8", {"seed": seed, "deals": deals, "made_by": fingerprints([], HERE)}, measure
    )


def dealt_hands(seed: int, deals: int) -> Hands:
    """Return the non-dealer's ten cards of the first deal of each game, [deals] uint64."""
    cards = decks(seed, np.arange(deals), 0)[:, : 2 * HAND_SIZE : 2]
    return hand_of(cards)


KNOCKERS = ("simple", "gold", "hein")


def e11(lab: Lab, seed: int) -> list[Measured]:
    """Find the pay for a knock at which always to knock and always to wait for gin earn the same.

    Pay is RLCard's: 1 for gin, r for a knock, else the own deadwood / 100 lost, without lay-offs.
    """
    deals = 400 if lab.fast else 40_000
    agents = {name: f"{name}:knock=0" for name in KNOCKERS}
    settings = {
        "seed": seed,
        "deals": deals,
        "agents": list(agents.items()),
        "made_by": fingerprints([*agents, *agents.values()], HERE),
    }

    def measure() -> list[Measured]:
        found = []
        for number, (knocks, waits) in enumerate(agents.items()):
            match = Match((knocks, waits), RLCARD, seed, max_deals=1)
            report = _reported(lab, "E11", deals * len(agents), number * deals)
            ends = deal_ends(match, deals, lab.workers, report)
            found += balance(knocks, ends, deals // 2)
        return found

    return lab.kept("E11", settings, measure)


def balance(name: str, ends: Ends, pairs: int) -> list[Measured]:
    """Return what both are paid without pay for knocks, how often A knocks, and the r wanted.

    Args:
        name: of A, who always knocks.
        ends: deals between A and B, who waits for gin.
        pairs: of deals on the same decks.
    """
    left = deadwood(ends.hands.ravel()).reshape(-1, 2).astype(np.float64)
    laid = ends.knocker[:, None] == np.array([0, 1])
    gin = laid & (left == 0)
    knock = laid & (left > 0)
    paid = np.where(gin, 1.0, np.where(knock, 0.0, -left / 100))

    def by_pair(values: NDArray[Any]) -> NDArray[np.float64]:
        return np.bincount(ends.pair, values, minlength=pairs).astype(np.float64)

    deals, knocks = by_pair(np.ones(len(left))), by_pair(knock[:, 0])
    wanted = mean(by_pair(paid[:, 1] - paid[:, 0]), knocks)
    numbers = {
        f"r that balances, {name}": wanted,
        f"pay of {name} without r": mean(by_pair(paid[:, 0]), deals),
        f"knocks of {name} a deal": mean(knocks, deals),
        f"pay of {name}, gin only": mean(by_pair(paid[:, 1]), deals),
    }
    return [Measured.of(series, None, each, len(left)) for series, each in numbers.items()]


def every_hand(lab: Lab, seed: int) -> list[Measured]:
    """Count all hands by deadwood; five cards in place of ten to try it out."""
    del seed  # nothing is drawn
    cards = 5 if lab.fast else HAND_SIZE

    def measure() -> list[Measured]:
        found = census(
            cards,
            workers=lab.workers,
            out=lab.partial("census.npz"),
            progress=lab.progress,
        )
        numbers: dict[str, float] = {
            "hands": found.total,
            "10 or less": found.up_to(10),
            "without a meld": found.unmelded,
            "deadwood of all": found.points,
            "mean": found.mean,
            "standard deviation": found.deviation,
            "commonest": found.mode,
            "hands with it": int(found.counts[found.mode]),
            "median": found.median,
            "greatest": found.most,
            "hands with the greatest": int(found.counts[found.most]),
        }
        named = [(series, None, value) for series, value in numbers.items()]
        counted = [("hands with deadwood", x, n) for x, n in enumerate(found.counts.tolist())]
        return [
            Measured(series, x, value, value, value, found.total)
            for series, x, value in [*named, *counted]
        ]

    return lab.kept("census", {"cards": cards, "made_by": fingerprints([], CENSUS)}, measure)
