"""Benchmark cards: what a policy does in a protocol's matches, as a file that papers can cite.

    card = benchmark("champion", out=Path("card"))
    write_card(card, Path("card"))

A card is plain JSON. The same policy and the same version of this code give the same card, byte for
byte, on any number of processes: there is no time and no place in it.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.files import require_free, write_whole
from ginrummy_env.policy import Policy
from ginrummy_training.evaluation.game_table import KNOCKER_OUTCOMES
from ginrummy_training.evaluation.lockstep import BATCH
from ginrummy_training.evaluation.match import play_matches
from ginrummy_training.evaluation.match_result import MatchResult
from ginrummy_training.evaluation.match_summary import Summary, summarise, won_by_pair
from ginrummy_training.progress import Progress
from ginrummy_training.provenance import (
    OVERWRITE,
    agent_name,
    policy_fingerprint,
    require_same,
    versions,
)
from ginrummy_training.statistics import Estimate, share
from ginrummy_training.storage import ResultError, read_checked, write_json
from ginrummy_training.strength.card_table import card_markdown
from ginrummy_training.strength.figures import card_picture
from ginrummy_training.strength.protocol import (
    LATEST,
    Protocol,
    play_fingerprint,
    require_frozen,
)

Card = dict[str, Any]

FORMAT = 1
CARD, TABLE, PICTURE = "card.json", "card.md", "card.png"
GAMES = "games"
"""The folder of all games, in that of the card: the benchmark resumes from it."""

PLACES = 6
"""Decimal places of the numbers in a card."""


def benchmark(
    policy: str | Policy,
    *,
    protocol: Protocol = LATEST,
    name: str = "",
    best_responses: Sequence[Mapping[str, Any]] = (),
    workers: int = 1,
    batch: int = BATCH,
    out: Path | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> tuple[Card, list[MatchResult]]:
    """Play a protocol's matches, or what is missing of them, and return the card and the matches.

    Args:
        policy: the policy or its text form.
        protocol: which one.
        name: what the card calls the policy; its text form or name if empty.
        best_responses: results of `best_response.exploit` against it, at most one for each rules.
        workers: processes; they change the speed, never a card.
        batch: games at once.
        out: a folder that keeps the games; what it holds is not played again.
        progress: called as games end.
        force: whether another policy's card and games in ``out`` are overwritten.

    Raises:
        ValueError: no such policy, or best responses to another one.
        ResultError: this version does not play the protocol any more; ``out`` holds another card.
    """
    called = agent_name(policy)
    if called in protocol.opponents and not isinstance(policy, str):
        raise ValueError(f"the policy is called {called}, as an opponent is: give it another name")
    fingerprint = policy_fingerprint(policy)
    about = {
        "name": name or called,
        "policy": called,
        "fingerprint": fingerprint,
        "play": {rules: play_fingerprint(policy, rules) for rules in protocol.rules},
    }
    found = _by_rules(best_responses, protocol, about)
    if out is not None and not force:
        require_card_folder(out, protocol, about)
    require_frozen(protocol)
    cells = [(rules, opponent) for rules in protocol.rules for opponent in protocol.opponents]
    results = play_matches(
        [protocol.match(called, *cell) for cell in cells],
        games=protocol.games,
        workers=workers,
        batch=batch,
        files=[None if out is None else out / GAMES / f"{r}-{o}.npz" for r, o in cells],
        policies={called: policy},
        progress=progress,
        force=force,
    )
    by_rules: dict[str, dict[str, MatchResult]] = {rules: {} for rules in protocol.rules}
    for (rules, opponent), result in zip(cells, results, strict=True):
        by_rules[rules][opponent] = result
    named = ["--name", name] if name else []
    card: Card = {
        "format": FORMAT,
        "protocol": protocol.to_dict(),
        "agent": about,
        "score": {rules: _score(matches.values()) for rules, matches in by_rules.items()},
        "matches": {
            rules: {opponent: _cell(result) for opponent, result in matches.items()}
            for rules, matches in by_rules.items()
        },
        "best_response": found,
        "command": shlex.join(
            [
                "ginrummy",
                "benchmark",
                called,
                *named,
                "--protocol",
                protocol.name,
                "--out",
                "FOLDER",
            ]
        ),
        "versions": versions(),
    }
    return card, results


def _by_rules(
    responses: Sequence[Mapping[str, Any]], protocol: Protocol, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a card keeps of best responses, by the rules."""
    found: dict[str, Any] = {}
    for each in responses:
        rules, against = each["rules"], each["policy"]
        if rules not in protocol.rules:
            raise ValueError(f"a best response under {rules}: {protocol.name} has no such rules")
        if rules in found:
            raise ValueError(f"two best responses under {rules}: give one")
        if each["play"] != about["play"][rules]:
            raise ValueError(
                f"a best response to {against} under {rules}, which plays differently from "
                f"{about['policy']} does now"
            )
        kept = ("best", "games", "games_won", "net_points_a_deal", "command")
        found[rules] = {key: each[key] for key in kept}
    return {rules: found[rules] for rules in protocol.rules if rules in found}


def _score(matches: Any) -> dict[str, float | None]:
    """Return the mean share of games won of all opponents; a deck pair is one observation."""
    won = [won_by_pair(result) for result in matches]
    return _rounded(share(sum(won), np.full(len(won[0]), 2 * len(won))).to_dict())


def _cell(result: MatchResult) -> dict[str, Any]:
    """Return what a card says of one match."""
    summary: Summary = summarise(result)
    deals = summary["deals"]
    ways = {
        key: {who: round(summary["endings"][key][side] / deals, PLACES) for who, side in _SIDES}
        for key in KNOCKER_OUTCOMES.values()
    }
    cell = {
        "games_won": summary["games_won"]["a"],
        "games_without_winner": summary["games_without_winner"],
        "forfeits": summary["forfeits"]["a"],
        "deals": deals,
        "deals_won": summary["deals_won"]["a"],
        "net_points_a_deal": summary["net_points_a_deal"],
        "net_final_score": summary["net_final_score"],
        "endings": {way: shares for way, shares in ways.items() if any(shares.values())},
        "void": round(summary["endings"]["void"] / deals, PLACES),
        "turns": summary["turns"]["mean"],
        "pairs": pairs_text(won_by_pair(result)),
    }
    rounded: dict[str, Any] = _rounded(cell)
    return rounded


_SIDES = (("agent", "a"), ("opponent", "b"))


def pairs_text(won: NDArray[np.float64]) -> str:
    """Return the games won of each pair as text, one digit per pair: half games, from 0 to 4.

    >>> pairs_text(np.array([0, 1, 1.5, 2]))
    '0234'
    """
    return "".join(str(round(2 * games)) for games in won.tolist())


def _rounded(value: Any) -> Any:
    """Return JSON with its floats rounded: their last digits depend on the processor."""
    if isinstance(value, float):
        return round(value, PLACES)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return value


def require_card_folder(out: Path, protocol: Protocol, about: Mapping[str, Any]) -> None:
    """Raise ResultError if a card in a folder is of another policy or protocol."""
    if not (out / CARD).exists():
        for name in (TABLE, PICTURE):
            require_free(out / name)
        return
    stored = read_card(out / CARD)
    here = {"protocol": protocol.to_dict(), "agent": dict(about)}
    there = {"protocol": stored["protocol"], "agent": stored["agent"]}
    for key in ("name", "policy", "play", "fingerprint"):
        if stored["agent"].get(key) != about[key]:
            raise ResultError(
                f"{out / CARD} is the card of {stored['agent']['name']}: its {key} is "
                f"{stored['agent'].get(key)!r} there and {about[key]!r} here; {OVERWRITE}"
            )
    require_same(out / CARD, "card", here, there, OVERWRITE)


def write_card(card: Card, out: Path) -> None:
    """Write a card: JSON, a table as Markdown, and a picture."""
    write_json(out / CARD, card)
    write_whole(out / TABLE, card_markdown(card))
    write_whole(out / PICTURE, card_picture(card).png())


def read_card(path: Path) -> Card:
    """Return a card.

    Args:
        path: of the file, or of its folder.

    Raises:
        ResultError: not a card, or corrupt.
    """
    card: Card = read_checked(path, CARD, FORMAT, "a benchmark card", _check)
    return card


def _check(card: Any) -> None:
    """Raise KeyError, TypeError or ValueError if a card lacks what is read of it, or is wrong."""
    protocol = card["protocol"]
    pairs = protocol["games"] // 2
    for key in ("name", "policy", "fingerprint", "play"):
        card["agent"][key]
    str(protocol["name"]), card["best_response"].items(), str(card["command"])
    for rules in protocol["rules"]:
        Estimate.from_dict(card["score"][rules])
        for opponent in protocol["opponents"]:
            cell = card["matches"][rules][opponent]
            for key in ("games_won", "deals_won", "net_points_a_deal"):
                Estimate.from_dict(cell[key])
            if len(cell["pairs"]) != pairs or set(cell["pairs"]) - set("01234"):
                raise ValueError(f"pairs of {rules}, {opponent}: {pairs} digits 0 to 4 are needed")
            shown = sum(map(int, cell["pairs"])) / (4 * pairs)
            if abs(shown - cell["games_won"]["value"]) > 2 * 10**-PLACES:
                raise ValueError(f"{rules}, {opponent}: the pairs do not make the games won")
