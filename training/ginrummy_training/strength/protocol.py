"""Benchmark protocols: who is played, on which decks, how often. A protocol never changes.

Its opponents are named with fingerprints of *how they play*: the actions and scores of games on
fixed decks. So code may be tidied and data files rewritten, but an opponent that plays one card
differently is not the protocol's any more, and the benchmark refuses to start (`require_frozen`).
A different measurement gets a new name.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ginrummy_env.core.checks import did_you_mean
from ginrummy_env.core.deal import decks, first_dealers
from ginrummy_env.core.rules import as_rules
from ginrummy_env.policy import Policy
from ginrummy_training.evaluation.match import record_games
from ginrummy_training.evaluation.match_result import Match
from ginrummy_training.provenance import DIGITS, agent_name
from ginrummy_training.storage import ResultError

PLAY_GAMES = 20
"""Games, under each rules, of which a fingerprint of play is taken."""
PLAY_DEALS = 4
"""Deals after which each of them is stopped, as the longest one decides how long it takes."""
PLAY_SEED = 314_159
"""Of their decks: no match of a protocol has them."""
PLAY_AGAINST = "simple"

CHECKED_DEALS = 12
"""Deals of each pair of games whose decks are in the checksum."""

EAAI, CLASSIC = "eaai", "classic"


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What a benchmark plays: a policy meets all opponents under all rules, on the same decks."""

    name: str
    about: str
    rules: tuple[str, ...] = (EAAI, CLASSIC)
    """Names of presets."""
    opponents: Mapping[str, Mapping[str, str]]
    """The fingerprint of play of each opponent (`play_fingerprint`), by the rules."""
    games: int
    """Full games against each opponent under each rules, in pairs with the seats swapped."""
    seed: int
    """Of decks and agents."""
    max_deals: int = 200
    """A game is stopped after this many deals; it counts as a draw."""
    decks: str
    """Checksum of the decks (`deck_checksum`)."""

    def match(self, policy: str, rules: str, opponent: str) -> Match:
        """Return one of the matches."""
        return Match((policy, opponent), as_rules(rules), self.seed, self.max_deals)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "name": self.name,
            "rules": list(self.rules),
            "opponents": {name: dict(play) for name, play in self.opponents.items()},
            "games": self.games,
            "seed": self.seed,
            "max_deals": self.max_deals,
            "decks": self.decks,
        }


def play_fingerprint(policy: str | Policy, rules: str) -> str:
    """Return the fingerprint of how a policy plays: its first games against ``simple``.

    Equal play has an equal fingerprint, whatever code it comes from.

    Args:
        policy: the policy or its text form.
        rules: a preset's name.
    """
    name = agent_name(policy)
    match = Match((name, PLAY_AGAINST), as_rules(rules), PLAY_SEED, PLAY_DEALS)
    marks = hashlib.sha256()
    for game in record_games(match, PLAY_GAMES, {name: policy}):
        for deal in game.deals:
            scores = deal.end.scores if deal.end else ()
            marks.update(np.array([*deal.actions, -1, *scores, -2], dtype="<i4").tobytes())
    return marks.hexdigest()[:DIGITS]


def deck_checksum(seed: int, games: int) -> str:
    """Return the checksum of who deals first and of the first deals' decks of all pairs of games.

    Args:
        seed: of the match.
        games: of it, two a pair.
    """
    pairs = np.arange(games // 2, dtype=np.uint64)
    marks = hashlib.sha256(first_dealers(seed, pairs).astype(np.int8).tobytes())
    for deal in range(CHECKED_DEALS):
        marks.update(np.ascontiguousarray(decks(seed, pairs, deal), dtype=np.int8).tobytes())
    return marks.hexdigest()[:DIGITS]


def require_frozen(protocol: Protocol) -> None:
    """Raise ResultError if this version of the code does not play the protocol any more."""
    if deck_checksum(protocol.seed, protocol.games) != protocol.decks:
        raise ResultError(f"{protocol.name}: this version deals other decks than the protocol's")
    for name, play in protocol.opponents.items():
        for rules, mark in play.items():
            here = _opponents_play(name, rules)
            if here != mark:
                raise ResultError(
                    f"{protocol.name}: {name} does not play as the protocol's under {rules} "
                    f"(fingerprint {here}, the protocol has {mark}); use the version of "
                    "ginrummy_env that the protocol's cards name"
                )


@cache
def _opponents_play(name: str, rules: str) -> str:
    """Return how an opponent plays; it does not change while a process runs."""
    return play_fingerprint(name, rules)


def protocol_of(name: str) -> Protocol:
    """Return the protocol of a name.

    Raises:
        ValueError: there is none.
    """
    if name not in PROTOCOLS:
        near = did_you_mean(name, PROTOCOLS)
        raise ValueError(
            f"unknown protocol {name!r}{near}; the protocols are {', '.join(PROTOCOLS)}"
        )
    return PROTOCOLS[name]


OPPONENTS: dict[str, dict[str, str]] = {
    "simple": {EAAI: "d9b70f04e6e1dab9", CLASSIC: "89c11626f1ead1c0"},
    "lookahead": {EAAI: "20d23d65e5e22b03", CLASSIC: "97ed58006089a81f"},
    "champion": {EAAI: "6c7d46d5d21d4586", CLASSIC: "d64e0f194f347da3"},
}
"""The opponents of the first protocol, and what `play_fingerprint` gives for them."""

BENCHMARK_1 = Protocol(
    name="ginrummy-benchmark-1",
    about="the literature's baseline, the look-ahead of its winners, and the best rule agent",
    opponents=OPPONENTS,
    games=2_000,
    seed=161_803,
    decks="09f86298c884a9bb",
)

SMOKE = Protocol(
    name="smoke",
    about="20 games against each, to see that a policy plays; not for reports",
    opponents=OPPONENTS,
    games=20,
    seed=161_803,
    decks="41b84b25e396f0d9",
)

PROTOCOLS = {protocol.name: protocol for protocol in (BENCHMARK_1, SMOKE)}
LATEST = BENCHMARK_1
