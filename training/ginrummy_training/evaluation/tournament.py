"""Tournaments: everyone plays everyone on the same decks; cross table, ratings, files, plots."""

import itertools
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.rules import Rules, as_rules, rules_name
from ginrummy_env.policy import Policy
from ginrummy_training.evaluation.lockstep import BATCH
from ginrummy_training.evaluation.match import Runner, play_matches
from ginrummy_training.evaluation.match_result import Match, MatchResult, settlement_of
from ginrummy_training.evaluation.match_summary import Summary, games_won, summarise, won_by_pair
from ginrummy_training.progress import Progress
from ginrummy_training.provenance import agent_name, typed_command, versions
from ginrummy_training.statistics import Ratings, bradley_terry, mean, share

ANCHOR = "simple"
"""The agent whose rating is 0, if it plays; else the first agent."""


@dataclass(slots=True)
class Tournament:
    """A round robin whose matches have all been played."""

    agents: dict[str, str | Policy]
    """What plays under each name."""
    results: dict[tuple[int, int], MatchResult]
    """By the numbers of both agents, in both orders."""
    ratings: Ratings
    anchor: int

    @property
    def names(self) -> list[str]:
        """The agents' names, in order."""
        return list(self.agents)

    @property
    def matches(self) -> list[MatchResult]:
        """Each pairing once, in the order of the agents."""
        return [result for (i, j), result in self.results.items() if i < j]

    def summary(self) -> Summary:
        """Return its summary, as JSON can hold it."""
        first = self.matches[0]
        return {
            "agents": [self._agent(number) for number in range(len(self.names))],
            "anchor": self.names[self.anchor],
            "rules": rules_name(first.match.rules),
            "settings": first.match.rules.to_dict(),
            "seed": first.match.seed,
            "max_deals": first.match.max_deals,
            "games": len(first.table),
            "made_by": self._made_by(),
            "versions": versions(),
            "command": typed_command(),
            "misfit": self._misfit(),
            "pairings": [
                {"agents": list(result.match.agents), **summarise(result)}
                for result in self.matches
            ],
        }

    def _made_by(self) -> dict[str, Any]:
        """Return `provenance.fingerprints` of all agents, as far as the matches have them."""
        found: dict[str, Any] = {"policies": {}}
        for result in self.matches:
            made_by = result.made_by
            policies = {**found["policies"], **made_by.get("policies", {})}
            found = {**made_by, "policies": policies}
        return found

    def _agent(self, number: int) -> Summary:
        """Return what an agent did in all its games. Its deck pairs are the clusters."""
        mine = [result for (i, _), result in self.results.items() if i == number]

        def of(column: str) -> Any:
            return sum(result.pairs(column) for result in mine)

        won = sum(won_by_pair(result) for result in mine)
        played = np.full(len(mine[0].table) // 2, 2 * len(mine))
        seconds = sum(result.seconds[0] for result in mine)
        decisions = sum(result.decisions[0] for result in mine)
        agent = self.agents[self.names[number]]
        called = {"name": self.names[number]}
        if isinstance(agent, str) and agent.strip() != called["name"]:
            called["agent"] = agent
        return {
            **called,
            "rating": self.ratings.ratings[number].to_dict(),
            "games_won": share(won, played).to_dict(),
            "deals_won": share(of("deals_won_a"), of("decided")).to_dict(),
            "net_points_a_deal": mean(of("points_a") - of("points_b"), of("deals")).to_dict(),
            "microseconds_a_decision": 1e6 * seconds / decisions if decisions else None,
        }

    def _misfit(self) -> dict[str, Any] | None:
        """Return the pairing that differs most from what the ratings expect, for its interval."""
        found: list[tuple[float, dict[str, Any]]] = []
        for (i, j), result in self.results.items():
            won, expected = games_won(result), float(self.ratings.expected[i, j])
            half = (won.high - won.low) / 2
            if won.low > expected and half > 0:
                names = [self.names[i], self.names[j]]
                about = {"agents": names, "played": won.value, "expected": expected}
                found.append(((won.value - expected) / half, about))
        return max(found, key=lambda entry: entry[0])[1] if found else None


def play_tournament(
    agents: Sequence[str | Policy] | Mapping[str, str | Policy],
    *,
    games: int = 2_000,
    seed: int = 0,
    rules: str | Rules | dict[str, Any] = "classic",
    workers: int = 1,
    batch: int = BATCH,
    max_deals: int = 1000,
    out: Path | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
    force: bool = False,
) -> Tournament:
    """Play everyone against everyone, or what is missing of it.

    Args:
        agents: at least two, none twice; by name if they are not to be called by their text form.
        games: of each pairing; even. All pairings are played on the same decks.
        seed: of decks and agents.
        rules: a preset's name, settings or Rules.
        workers: processes.
        batch: games at once.
        max_deals: a game is stopped after this many deals; it counts as a draw.
        out: a folder that keeps the games of each pairing. What it holds already is not played
            again, so agents can be added later.
        progress: called as games end.
        runner: plays the games in place of ``workers``.
        force: whether games in ``out`` that are not of their match are overwritten.

    Raises:
        ValueError: fewer than two agents, one that appears twice or is unknown; a bad number.
        ResultError: ``out`` holds a corrupt file or other matches.
    """
    names = list(agents) if isinstance(agents, Mapping) else [agent_name(x) for x in agents]
    if len(names) < 2:
        raise ValueError("a tournament needs two agents at least")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} appears twice")
    plays = agents if isinstance(agents, Mapping) else dict(zip(names, agents, strict=True))
    settings, seed = as_rules(rules), require_seed(seed)
    pairings = list(itertools.combinations(range(len(names)), 2))
    # Which of the two is A changes the random numbers that they draw. It depends on their names,
    # not on their order here, so that a tournament in another order has the same games.
    ordered = [(i, j) if names[i] <= names[j] else (j, i) for i, j in pairings]
    matches = [
        Match(
            (names[i], names[j]),
            settings,
            seed,
            max_deals,
            settlement_of(plays[names[i]], plays[names[j]]),
        )
        for i, j in ordered
    ]
    played = play_matches(
        matches,
        games=games,
        workers=workers,
        batch=batch,
        files=[None if out is None else out / file_name(match) for match in matches],
        policies=dict(plays),
        progress=progress,
        runner=runner,
        force=force,
    )
    results: dict[tuple[int, int], MatchResult] = {}
    for (i, j), result in zip(ordered, played, strict=True):
        results[i, j], results[j, i] = result, result.other_way()
    results = dict(sorted(results.items()))
    wins = np.full((len(names), len(names), games // 2), np.nan)
    for (i, j), result in results.items():
        wins[i, j] = won_by_pair(result)
    anchor = names.index(ANCHOR) if ANCHOR in names else 0
    return Tournament(dict(plays), results, bradley_terry(wins, anchor), anchor)


def file_name(match: Match) -> str:
    """Return the name of the file that keeps a pairing's games.

    >>> file_name(Match(("gold", "simple:knock=4"), Rules(), 0))
    'games-gold-simple_knock_4-9e79777a.npz'
    """
    exact = zlib.crc32("\n".join(match.agents).encode())
    words = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", name)[:40] for name in match.agents)
    return f"games-{words}-{exact:08x}.npz"
