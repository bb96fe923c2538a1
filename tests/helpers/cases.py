"""Positions that other gin rummy programs got wrong, with the right values.

Each row is named after the fault it guards against. The tables hold text in the project's notation
("Ts" is the ten of spades) and plain values, nothing computed by the oracle or the core, so that
the tests of both can share them. ``cards`` and ``card`` turn text into card numbers.
"""

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple


def card(text: str) -> int:
    """Return the number of a card: ``card("Ts") == 9``."""
    rank, suit = text
    return "shdc".index(suit) * 13 + "A23456789TJQK".index(rank)


def cards(text: str) -> list[int]:
    """Return the numbers of cards separated by spaces, in the order of the text."""
    return [card(each) for each in text.split()]


class DeadwoodCase(NamedTuple):
    """A hand and its least deadwood (RULES, Cards)."""

    name: str
    hand: str
    deadwood: int


class DiscardCase(NamedTuple):
    """Eleven cards, and the discards to knock with (RULES, One deal, 5)."""

    name: str
    hand: str
    knock_limit: int
    discards: dict[str, int]
    """Card to the deadwood of the ten left; every other discard leaves more than the limit."""


class OklahomaCase(NamedTuple):
    """Eleven cards, the first upcard, and what one may knock with if it sets the limit."""

    name: str
    first_upcard: str
    knock_limit: int
    hand: str
    discards: dict[str, int]


class LayoffCase(NamedTuple):
    """Ten cards each after a knock, default rules (RULES, One deal, 6, and Scoring a deal)."""

    name: str
    knocker: str
    defender: str
    knocker_deadwood: int
    alone: int
    """The defender's deadwood without lay-offs."""
    defender_deadwood: int
    """After own melds and lay-offs, chosen together."""
    outcome: str
    points: int
    """Positive: the knocker's; negative: the defender's."""


class ScoreCase(NamedTuple):
    """Two deadwoods, the rules that differ, and what they score (RULES, Scoring a deal)."""

    name: str
    knocker_deadwood: int
    defender_deadwood: int
    outcome: str
    winner: str | None
    points: int
    """The winner's."""
    rules: Mapping[str, object] = MappingProxyType({})
    big: bool = False
    """Big gin."""
    answered: bool = False
    """The defender's own ten cards have deadwood 0."""


DEADWOOD = [
    DeadwoodCase("no run over the king", "Qs Ks As Qh Kh Ah 2d 4d 6c 8c", 62),
    DeadwoodCase("no run around the corner", "Ks As 2s Kd Ad 2d 5h 7h 9c Jc", 57),
    DeadwoodCase("aces beside runs to the king", "Ts Js Qs Ks Th Jh Qh Kh Ad Ac", 2),
    DeadwoodCase("a run of seven", "3h 4h 5h 6h 7h 8h 9h Ts Td Tc", 0),
    DeadwoodCase("a run of ten", "As 2s 3s 4s 5s 6s 7s 8s 9s Ts", 0),
    DeadwoodCase("a set of four or a run takes the nine", "2h 3h 4h 5h 9s 9h 9d 9c Ks Kh", 20),
    DeadwoodCase(
        "best for eleven cards, not best to discard from", "As Ac Ad 2s 2c 2d 2h 3d 4s 4d 4h", 2
    ),
]

SETS_OF_THREE = [
    " ".join(rank + suit for suit in suits)
    for rank in "A23456789TJQK"
    for suits in combinations("shdc", 3)
]
"""All 52 of them; each has deadwood 0, neighbours in the encoding or not."""

DISCARDS = [
    DiscardCase(
        "eleven in a row",
        "3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks",
        10,
        {"3s": 0, "4s": 3, "5s": 7}
        | {"6s": 0, "7s": 0, "8s": 0, "9s": 0, "Ts": 0}
        | {"Qs": 10, "Ks": 0},
    ),
    DiscardCase("one card only", "3s 5s 6s 4h 5h 6h 7h 6d 3c 5c 6c", 10, {"7h": 10}),
    DiscardCase(
        "sets and runs compete", "4s 5s 6s 3h 4h 5h 6h 5d Ac 3c 6c", 10, {"6c": 9, "5d": 10}
    ),
    DiscardCase(
        "gin is not the only way to knock",
        "As 2s 3s 4h 5h 6h 9c 9d 9s 9h Kh",
        10,
        {"Kh": 0, "9c": 10, "9d": 10, "9s": 10, "9h": 10},
    ),
    DiscardCase(
        "melds that a sorted hand hides",
        "Js Jh Jd 2c 3c 4c 5c As Ah Ad 8s",
        10,
        {"8s": 0, "2c": 8, "5c": 8, "As": 10, "Ah": 10, "Ad": 10},
    ),
    DiscardCase(
        "gin only, and the melds change with the discard",
        "As Ac Ad 2s 2c 2d 2h 3d 4s 4d 4h",
        0,
        {"3d": 0},
    ),
]

OKLAHOMA_HAND = "5s 6s 7s 9h 9d 9c Qd Qc Qs 8h Kc"
OKLAHOMA = [
    OklahomaCase("a king: ten", "Kd", 10, OKLAHOMA_HAND, {"8h": 10, "Kc": 8}),
    OklahomaCase("an eight: eight", "8d", 8, OKLAHOMA_HAND, {"Kc": 8}),
    OklahomaCase("a seven: seven", "7d", 7, OKLAHOMA_HAND, {}),
]

LAYOFFS = [
    LayoffCase(
        name="no card is both melded and laid off",
        knocker="6h 7h 8h 3c 3d 3s Ks Kd Kc 2h",
        defender="9h Th Jh 4s 4d 4c Qc 7s 5d Ad",
        knocker_deadwood=2,
        alone=23,
        defender_deadwood=23,
        outcome="knock",
        points=21,
    ),
    LayoffCase(
        name="the knocker lays nothing off",
        knocker="3s 4s 5s 9h 9d 9c Kd Kc Ks 2h",
        defender="2s 2c 2d Qh Qc Qd Jh 8c 7d Ac",
        knocker_deadwood=2,
        alone=26,
        defender_deadwood=26,
        outcome="knock",
        points=24,
    ),
    LayoffCase(
        name="counted after the lay-offs",
        knocker="5s 6s 7s Jd Jh Jc 2d 2h 2c 3h",
        defender="4s 8s Kd Qh Ts 9d 7c Ac 6d 3d",
        knocker_deadwood=3,
        alone=68,
        defender_deadwood=56,
        outcome="knock",
        points=53,
    ),
    LayoffCase(
        name="equal deadwood is an undercut",
        knocker="4s 5s 6s Jh Qh Kh 9d 9c 9h 7c",
        defender="8d 8s 8c Ts Td Tc 2h 2d 2c 7h",
        knocker_deadwood=7,
        alone=7,
        defender_deadwood=7,
        outcome="undercut",
        points=-10,
    ),
]

EQUAL_KNOCKER = {"equal_deadwood": "knocker"}
EQUAL_NOBODY = {"equal_deadwood": "nobody"}
ANSWER_NOBODY = {"gin_answered_by_gin": "nobody"}
ANSWER_UNDERCUT = {"gin_answered_by_gin": "undercut"}
BIG_GIN = {"big_gin": True}
BIG_GIN_50 = {"big_gin": True, "big_gin_bonus": 50}
GIN_25 = {"gin_bonus": 25}
UNDERCUT_25 = {"undercut_bonus": 25}

SCORES = [
    ScoreCase("the difference", 4, 30, "knock", "knocker", 26),
    ScoreCase("neither gin nor undercut", 6, 20, "knock", "knocker", 14),
    ScoreCase("undercut: 10 and the difference", 9, 7, "undercut", "defender", 12),
    ScoreCase("equal deadwood is an undercut", 7, 7, "undercut", "defender", 10),
    ScoreCase("gin: 20 and the deadwood", 0, 25, "gin", "knocker", 45),
    ScoreCase("gin against nothing left", 0, 0, "gin", "knocker", 20),
    ScoreCase("gin against gin", 0, 0, "gin", "knocker", 20, answered=True),
    ScoreCase("gin bonus 25", 0, 10, "gin", "knocker", 35, GIN_25),
    ScoreCase("undercut bonus 25", 9, 7, "undercut", "defender", 27, UNDERCUT_25),
    ScoreCase("equal: the knocker, for nothing", 7, 7, "knock", "knocker", 0, EQUAL_KNOCKER),
    ScoreCase("equal: nobody", 7, 7, "equal", None, 0, EQUAL_NOBODY),
    ScoreCase("equal: nobody; one less", 7, 6, "undercut", "defender", 11, EQUAL_NOBODY),
    ScoreCase("equal: nobody; gin", 0, 0, "gin", "knocker", 20, EQUAL_NOBODY),
    ScoreCase("answered: nobody", 0, 0, "gin_answered", None, 0, ANSWER_NOBODY, answered=True),
    ScoreCase(
        "answered: undercut", 0, 0, "gin_answered", "defender", 10, ANSWER_UNDERCUT, answered=True
    ),
    ScoreCase("not answered by lay-offs", 0, 0, "gin", "knocker", 20, ANSWER_UNDERCUT),
    ScoreCase("big gin", 0, 12, "big_gin", "knocker", 43, BIG_GIN, big=True),
    ScoreCase("big gin bonus 50", 0, 12, "big_gin", "knocker", 62, BIG_GIN_50, big=True),
    ScoreCase(
        name="big gin is not answered",
        knocker_deadwood=0,
        defender_deadwood=0,
        outcome="big_gin",
        winner="knocker",
        points=31,
        rules=BIG_GIN | ANSWER_UNDERCUT,
        big=True,
        answered=True,
    ),
]
