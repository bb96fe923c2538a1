"""Benchmark cards as tables in Markdown: one card, the ladder of many, two compared.

All cards of a protocol are of the same decks. So two of them differ less by luck than their
intervals suggest, and `compare_markdown` takes the difference pair by pair.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_training.evaluation.console_tables import ENDINGS, plain, short_percent
from ginrummy_training.statistics import Estimate, mean
from ginrummy_training.storage import ResultError

Card = Mapping[str, Any]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown: the first column holds words, the others numbers.

    >>> print(markdown(["agent", "won"], [["simple", "50"]]), end="")
    | agent | won |
    |---|---:|
    | simple | 50 |
    """
    lines = [head, *rows]
    text = [f"| {' | '.join(line)} |" for line in lines]
    text.insert(1, f"|---|{'---:|' * (len(head) - 1)}")
    return "\n".join(text) + "\n"


def percents(number: Mapping[str, float | None]) -> str:
    """Return a share in % with its interval.

    >>> percents({"value": 0.5, "low": 0.48, "high": 0.52})
    '50.0 (48.0–52.0)'
    """
    value, low, high = number["value"], number["low"], number["high"]
    if value is None or low is None or high is None:
        return "–"
    return f"{100 * value:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def card_markdown(card: Card) -> str:
    """Return a card as a page in Markdown."""
    protocol, agent = card["protocol"], card["agent"]
    games, score = protocol["games"], card["score"]
    lines = [
        f"# {agent['name']}: {protocol['name']}",
        "",
        f"Full games in pairs on the same decks with the seats swapped, {games:,} in each line; "
        "95 % intervals",
        "clustered by pair. The score is the mean share of games won, all opponents alike.",
        "",
        markdown(
            ["rules", "score, %"],
            [[rules, percents(number)] for rules, number in score.items()],
        ),
    ]
    for rules, matches in card["matches"].items():
        head = [
            rules,
            "games won, %",
            "deals won, %",
            "net points a deal",
            "turns a deal",
            "void, %",
        ]
        rows = [
            [
                f"against `{opponent}`",
                percents(cell["games_won"]),
                short_percent(cell["deals_won"]),
                plain(cell["net_points_a_deal"], sign=True),
                plain(cell["turns"], 1),
                f"{100 * cell['void']:.1f}",
            ]
            for opponent, cell in matches.items()
        ]
        lines += [markdown(head, rows)]
        ways = [way for way in ENDINGS if any(way in cell["endings"] for cell in matches.values())]
        head = ["% of deals, won and lost by", *(ENDINGS[way] for way in ways)]
        lines += [
            markdown(
                head,
                [
                    [f"against `{opponent}`", *_ways(cell, ways)]
                    for opponent, cell in matches.items()
                ],
            )
        ]
    if card["best_response"]:
        lines += [_responses_markdown(card["best_response"])]
    play = ", ".join(f"{rules} {mark}" for rules, mark in agent["play"].items())
    made = ", ".join(f"{name} {number}" for name, number in card["versions"].items())
    lines += [
        f"- policy: `{agent['policy']}`; fingerprint of its play: {play}",
        f"- decks: seed {protocol['seed']}, checksum {protocol['decks']}",
        f"- command: `{card['command']}`",
        f"- versions: {made}",
        "",
    ]
    return "\n".join(lines)


def _ways(cell: Mapping[str, Any], ways: Sequence[str]) -> list[str]:
    none = {"agent": 0.0, "opponent": 0.0}
    shares = [cell["endings"].get(way, none) for way in ways]
    return [f"{100 * each['agent']:.1f}, {100 * each['opponent']:.1f}" for each in shares]


def _responses_markdown(responses: Mapping[str, Any]) -> str:
    return markdown(
        ["best response found", "wins at least, % of games", "net points a deal", "games"],
        [
            [
                f"{rules}: {each['best']}",
                percents(each["games_won"]),
                plain(each["net_points_a_deal"], sign=True),
                f"{each['games']:,}",
            ]
            for rules, each in responses.items()
        ],
    )


def ladder_markdown(cards: Sequence[Card]) -> str:
    """Return cards as tables, one for each rules, the best score first.

    Raises:
        ResultError: no cards, or cards of different protocols.
    """
    protocol = require_one_protocol(cards)
    parts = []
    for rules in protocol["rules"]:
        responses = any(rules in card["best_response"] for card in cards)
        head = [rules, "score, %", *(f"`{name}`, %" for name in protocol["opponents"])]
        head += ["best response wins at least, %"] if responses else []
        rows = []
        for card in sorted(cards, key=lambda card: -card["score"][rules]["value"]):
            won = [card["matches"][rules][name]["games_won"] for name in protocol["opponents"]]
            row = [f"`{card['agent']['name']}`", percents(card["score"][rules])]
            row += [short_percent(each) for each in won]
            if responses:
                found = card["best_response"].get(rules)
                row += [percents(found["games_won"]) if found else ""]
            rows.append(row)
        parts.append(markdown(head, rows))
    return "\n".join(parts)


def compare_markdown(card: Card, other: Card) -> str:
    """Return how much more one card's agent wins than another's, on the same decks.

    Raises:
        ResultError: cards of different protocols.
    """
    protocol = require_one_protocol([card, other])
    names = [f"`{each['agent']['name']}`" for each in (card, other)]
    head = ["games won, %", *names, "difference"]
    rows = []
    for rules in protocol["rules"]:
        opponents = list(protocol["opponents"])
        for chosen in ([name] for name in opponents):
            rows.append([f"{rules}, against `{chosen[0]}`", *_compared(card, other, rules, chosen)])
        rows.append([f"{rules}, score", *_compared(card, other, rules, opponents)])
    return markdown(head, rows)


def _compared(card: Card, other: Card, rules: str, opponents: Sequence[str]) -> list[str]:
    won = [
        np.sum([pairs_of(each, rules, name) for name in opponents], axis=0)
        for each in (card, other)
    ]
    games = np.full(len(won[0]), 2 * len(opponents))
    found = difference(won[0], won[1], games)
    shares = [f"{100 * float(each.sum() / games.sum()):.1f}" for each in won]
    half = 100 * (found.high - found.value)
    return [*shares, f"{100 * found.value:+.1f} ± {half:.1f}"]


def difference(
    won: NDArray[np.float64], of_other: NDArray[np.float64], games: NDArray[np.int64]
) -> Estimate:
    """Return the difference of two shares of games won on the same decks, with its interval.

    Args:
        won: [P] games won of each pair of games.
        of_other: [P] the same of the other.
        games: [P] played.
    """
    return mean(won - of_other, games)


def pairs_of(card: Card, rules: str, opponent: str) -> NDArray[np.float64]:
    """Return the games that a card's agent won of each pair, [P] from 0 to 2."""
    text = card["matches"][rules][opponent]["pairs"]
    return np.array([int(digit) for digit in text], dtype=np.float64) / 2


def require_one_protocol(cards: Sequence[Card]) -> Mapping[str, Any]:
    """Return the protocol of cards.

    Raises:
        ResultError: no cards, or of different protocols: their numbers cannot be compared.
    """
    if not cards:
        raise ResultError("no cards")
    first: Mapping[str, Any] = cards[0]["protocol"]
    for card in cards[1:]:
        if card["protocol"] != first:
            raise ResultError(
                f"the cards of {cards[0]['agent']['name']} ({first['name']}) and "
                f"{card['agent']['name']} ({card['protocol']['name']}) are of different protocols: "
                "their numbers cannot be compared"
            )
    return first
