"""The experiments that are matches: E1-E4, E6, E7, E9, E10 and E12."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ginrummy_env.core.rules import CLASSIC, EAAI, Rules
from ginrummy_training.evaluation.match_result import Match, MatchResult
from ginrummy_training.evaluation.match_summary import games_won
from ginrummy_training.experiments.lab import Lab
from ginrummy_training.experiments.rows import Measured
from ginrummy_training.provenance import fingerprints
from ginrummy_training.statistics import Estimate, mean

FAST_GAMES, FAST_DEALS, FAST_TARGET = 20, 10, 20
"""Games to try an experiment out: so short that they have winners."""


def points(side: str) -> Callable[[MatchResult], Estimate]:
    """Return what gives the points of a game that A or B makes, without bonuses."""
    return lambda result: mean(result.pairs(f"points_{side}"), _games(result))


def margin(result: MatchResult) -> Estimate:
    """Return the points of a game by which A leads."""
    return mean(result.pairs("points_a") - result.pairs("points_b"), _games(result))


def share(result: MatchResult) -> Estimate:
    """Return the share of games that A wins, in %."""
    won = games_won(result)
    return Estimate(100 * won.value, 100 * won.low, 100 * won.high)


def _games(result: MatchResult) -> Any:
    return np.full(len(result.table) // 2, 2)


Numbers = tuple[tuple[str, Callable[[MatchResult], Estimate]], ...]
"""What is taken from a match, each with what is added to the name of the series."""

WON: Numbers = (("", share),)


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match of an experiment, and the numbers that are taken from it."""

    series: str
    a: str
    b: str = "simple"
    x: float | None = None
    rules: Rules = EAAI
    games: int = 10_000
    numbers: Numbers = WON


def play(
    lab: Lab,
    name: str,
    seed: int,
    pairings: list[Pairing],
    fast_games: int = FAST_GAMES,
    max_deals: int = 1000,
) -> list[Measured]:
    """Return what the matches of an experiment gave; all are played on the same decks.

    Args:
        lab: how it is done.
        name: of the experiment.
        seed: of decks and agents.
        pairings: the matches.
        fast_games: games of each to try it out.
        max_deals: a game is stopped after this many deals; it counts as a draw.
    """
    if lab.fast:
        pairings = [
            replace(each, games=fast_games, rules=replace(each.rules, target=FAST_TARGET))
            for each in pairings
        ]
        max_deals = min(max_deals, FAST_DEALS)
    agents = sorted({agent for each in pairings for agent in (each.a, each.b)})
    settings = {
        "seed": seed,
        "max_deals": max_deals,
        "matches": [
            [each.series, each.x, each.a, each.b, each.rules.to_dict(), each.games]
            for each in pairings
        ],
        "made_by": fingerprints(agents),
    }

    def measure() -> list[Measured]:
        matches = [Match((each.a, each.b), each.rules, seed, max_deals) for each in pairings]
        results = lab.play(name, matches, [each.games for each in pairings])
        return [
            Measured.of(each.series + added, each.x, number(result), each.games)
            for each, result in zip(pairings, results, strict=True)
            for added, number in each.numbers
        ]

    return lab.kept(name, settings, measure)


def e1(lab: Lab, seed: int) -> list[Measured]:
    """Play heuristic against simple."""
    numbers = (
        (", games won %", share),
        (", points a game", points("a")),
        (", points a game of simple", points("b")),
    )
    pairing = Pairing("heuristic – simple", "heuristic", games=20_000, numbers=numbers)
    return play(lab, "E1", seed, [pairing])


_WITH_MARGIN: Numbers = ((", games won %", share), (", margin in points", margin))


def e2(lab: Lab, seed: int) -> list[Measured]:
    """Play heuristic against gold."""
    pairing = Pairing("heuristic – gold", "heuristic", "gold", games=20_000, numbers=_WITH_MARGIN)
    return play(lab, "E2", seed, [pairing])


def e3(lab: Lab, seed: int) -> list[Measured]:
    """Play heuristic against lookahead."""
    pairing = Pairing(
        "heuristic – lookahead", "heuristic", "lookahead", games=12_000, numbers=_WITH_MARGIN
    )
    return play(lab, "E3", seed, [pairing])


ALPHAS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.4, 0.5, 0.6, 0.7, 0.9, 1.0)


def e4(lab: Lab, seed: int) -> list[Measured]:
    """Play hein with each weight of ways to meld against simple."""
    alphas = (0.0, 0.15, 1.0) if lab.fast else ALPHAS
    return play(lab, "E4", seed, [Pairing("", f"hein:{alpha:g}", x=alpha) for alpha in alphas])


def e6(lab: Lab, seed: int) -> list[Measured]:
    """Play agents that wait for gin against simple."""
    named = {
        "simple, gin only": "simple:0",
        "gold, gin only": "gold:0",
        "hein's discard, gin only": "hein:knock=0",
    }
    pairings = [Pairing(series, agent, games=20_000) for series, agent in named.items()]
    return play(lab, "E6", seed, pairings)


def e7(lab: Lab, seed: int) -> list[Measured]:
    """Play the challenge winner's discard against simple."""
    return play(lab, "E7", seed, [Pairing("lookahead – simple", "lookahead", games=12_000)])


LIMITS = {"EAAI": tuple(range(11)), "CLASSIC": (0, 2, 4, 6, 8, 9, 10)}


def e9(lab: Lab, seed: int) -> list[Measured]:
    """Play simple with each knock limit against itself without one, under two sets of rules."""
    limits = {name: (0, 5, 10) for name in LIMITS} if lab.fast else LIMITS
    rules = {"EAAI": EAAI, "CLASSIC": CLASSIC}
    pairings = [
        Pairing(name, f"simple:{limit}", x=limit, rules=rules[name])
        for name, some in limits.items()
        for limit in some
    ]
    return play(lab, "E9", seed, pairings)


def e10(lab: Lab, seed: int) -> list[Measured]:
    """Play gin only against knock at once, with each pair of bonuses."""
    undercuts = (0, 25) if lab.fast else (0, 10, 15, 20, 25)
    pairings = [
        Pairing(
            f"gin bonus {gin}",
            "simple:0",
            x=undercut,
            rules=replace(EAAI, gin_bonus=gin, undercut_bonus=undercut),
        )
        for gin in ((25,) if lab.fast else (20, 25))
        for undercut in undercuts
    ]
    return play(lab, "E10", seed, pairings)


WORLDS = {16: 600, 32: 600, 64: 600, 128: 200, 256: 200, 512: 100}
"""Games by the number of worlds: those of many worlds take long."""


def e12(lab: Lab, seed: int) -> list[Measured]:
    """Play the search, from the heuristic's move, against lookahead."""
    worlds = {16: 8} if lab.fast else WORLDS
    pairings = [
        Pairing("", f"search:{count},base=heuristic", "lookahead", x=count, games=games)
        for count, games in worlds.items()
    ]
    deals = 2 if lab.fast else 1000  # whole games take seconds, however few they are
    return play(lab, "E12", seed, pairings, fast_games=8, max_deals=deals)
