"""What a choice is worth: features of a position, and linear estimates from them.

`Champion` asks four questions of the same kind: how many points is the deal worth if these ten
cards are kept, if one knocks now, if the upcard is taken, if the stock is drawn from. Each answer
is a weighted sum of features. The weights were fitted to the results of deals
(``fitting.champion``) and lie in ``data/champion.json``, a set for rules like EAAI and one for
rules like CLASSIC.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.arrays import require_finite
from ginrummy_agents.rules.base import makes_meld
from ginrummy_agents.rules.lookahead import own_turns
from ginrummy_agents.rules.next_draw import (
    ADJOINING,
    around,
    compiled_draws,
    deadwood_cards,
    least_after_each_draw,
)
from ginrummy_agents.rules.work_lists import Left
from ginrummy_agents.thresholds import plays_like_eaai
from ginrummy_env.core.cards import CARD_BIT, POINTS
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.melds import EVERY_SUIT
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Cards, Hands, Rows
from ginrummy_env.core.view import OPPONENT, View

Features = NDArray[np.float64]

OUTLOOK = (
    "deadwood",
    "deadwood up to 10",
    "loose cards",
    "next draw: mean",  # of the least deadwood after it, over all unseen cards
    "next draw: mean of the 7 best",
    "next draw: best",
    "next draw: helps",  # share of unseen cards that lower deadwood, times 30
    "next draw: gin",  # share of unseen cards that make gin, times 30
)
OPPONENT_CARDS = (
    "opponent took",
    "opponent holds of these",
)  # cards from the discard pile, up to 4 and 5
THROWN = (
    "points",
    "two of theirs make a run with it",
    "their neighbours",
    "theirs two away",
    "two of theirs have its rank",
    "one of theirs has its rank",
    "no run is left with it",
    "neighbours gone",
    "two away gone",
    "two of its rank gone",
    "one of its rank gone",
    "adjoining cards they refused",
)


def by_turn(names: tuple[str, ...], degree: int = 2) -> tuple[str, ...]:
    """Return the names of features whose weights change with the turn."""
    return tuple(
        f"{name}{power}" for power in ("", " × t", " × t²")[: degree + 1] for name in names
    )


KEEP = by_turn(("1", *OUTLOOK, *THROWN, *OPPONENT_CARDS))
"""Features of ten cards that are kept after a discard."""

KNOCK = (
    *by_turn(
        ("1", "deadwood", "deadwood²", "they took 1", "they took 2", "they took 3", "they hold"),
        degree=1,
    ),
    *("1 × t²", "deadwood × t²", "first turn", "second turn"),
)
STOCK = (*by_turn(("1", *OUTLOOK, *OPPONENT_CARDS)), "opening", "opening, dealer")
TAKE = (
    *by_turn(("1", "worth of the best ten", "melds", "deadwood saved", "saves none"), degree=1),
    *("opening", "opening, dealer"),
)
NAMES = {"keep": KEEP, "knock": KNOCK, "stock": STOCK, "take": TAKE}
"""The four estimates and their features, in the order of the columns."""


@dataclass(frozen=True)
class Weights:
    """The weights of the four estimates, one per feature."""

    keep: Features
    knock: Features
    stock: Features
    take: Features


@cache
def weights_of(rules: Rules) -> Weights:
    """Return the weights for these rules: those of CLASSIC or EAAI, whichever is nearer.

    See `thresholds`.
    """
    path: Any = files("ginrummy_agents").joinpath("data", "champion.json")
    sets = json.loads(path.read_text(encoding="utf-8"))
    chosen = sets["eaai" if plays_like_eaai(rules) else "classic"]["weights"]
    weights = {
        kind: np.array([chosen[kind][name] for name in names], dtype=np.float64)
        for kind, names in NAMES.items()
    }
    require_finite(weights)
    return Weights(**weights)


def discard_weights(view: View) -> Features:
    """Return the weights by which discards differ, at the turn of each row, [N, 20].

    They are those of `outlook` and `thrown` in `Weights.keep`; the other features of the ten cards
    kept are the same whichever card goes.
    """
    by_power = weights_of(view.rules).keep.reshape(3, -1)[:, 1 : 1 + len(OUTLOOK) + len(THROWN)]
    turns = _turns(view, np.arange(len(view)), 10)[:, None]
    found: Features = by_power[0] + turns * by_power[1] + turns**2 * by_power[2]
    return found


def _columns(*columns: NDArray[Any]) -> Features:
    return np.stack([column.astype(np.float64) for column in columns], axis=1)


def estimate(features: Features, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the estimates of P choices, [P]: each row's products with the weights, summed.

    Not by ``@``: BLAS adds in an order that depends on how many rows there are, and choices of
    equal worth, such as the same card in two suits, would then depend on the batch.
    """
    return np.ascontiguousarray(features * weights).sum(axis=1)


def _by_turn(features: Features, turns: NDArray[np.float64], degree: int = 2) -> Features:
    """Return the features, their products with the turn, and with its square."""
    return np.concatenate(
        [features * turns[:, None] ** power for power in range(degree + 1)], axis=1
    )


def _turns(view: View, rows: Rows, last: int) -> NDArray[np.float64]:
    """Return the own turn, 0 for the first and 1 from turn ``last`` on."""
    return (np.minimum(own_turns(view, rows), last) - 1.0) / (last - 1)


def outlook(hands: Hands, left: Left, unseen: Hands) -> Features:
    """Return what ten cards are and what the next draw could make of them: `OUTLOOK`, [P, 8].

    Args:
        hands: [P] uint64, ten cards.
        left: [P] uint8, their deadwood.
        unseen: [P] uint64, the cards that may come.
    """
    count = np.maximum(np.bitwise_count(unseen), 1)
    sums = compiled_draws(hands, left, unseen, 7)
    if sums is not None:
        total, _, seven, least, helps, gins = sums.T
    else:
        after = least_after_each_draw(hands, left, unseen)
        lowest = np.partition(after, 6, axis=1)[:, :7]
        lowest = np.where(lowest == 255, left[:, None], lowest)
        total = np.where(after != 255, after, 0).sum(axis=1, dtype=np.int64)
        seven, least = lowest.sum(axis=1, dtype=np.int64), lowest.min(axis=1)
        helps, gins = (after < left[:, None]).sum(axis=1), (after == 0).sum(axis=1)
    return _columns(
        left,
        np.minimum(left, 10),
        np.bitwise_count(deadwood_cards(hands)),
        total / count,
        seven / 7,
        least,
        helps / count * 30,
        gins / count * 30,
    )


def opponent_cards(view: View, rows: Rows) -> Features:
    """Return how many cards the opponent took and still holds: `OPPONENT_CARDS`, [P, 2]."""
    return _columns(
        np.minimum(np.bitwise_count(view.taken[rows, OPPONENT]), 4),
        np.minimum(np.bitwise_count(view.known[rows, OPPONENT]), 5),
    )


def thrown(view: View, rows: Rows, cards: Cards) -> Features:
    """Return what is known of a card that is thrown: `THROWN`, [P, 12].

    Gone are cards that are neither unseen nor known to be the opponent's, and the places beyond a
    suit's ends.
    """
    bits = CARD_BIT[cards]
    theirs = view.known[rows, OPPONENT]
    gone = ~(view.unseen[rows] | theirs)
    down2, down1, up1, up2 = around(gone, bits, beyond=True)
    blocked = (up1 & (down1 | down2)) | (down1 & (up1 | up2))
    their_down2, their_down1, their_up1, their_up2 = around(theirs, bits)
    run = (their_down2 & their_down1) | (their_down1 & their_up1) | (their_up1 & their_up2)
    others = (EVERY_SUIT << (cards % 13).astype(np.uint64)) & ~bits
    rank_theirs, rank_gone = np.bitwise_count(theirs & others), np.bitwise_count(gone & others)
    refused = view.discarded[rows, OPPONENT] | view.declined[rows, OPPONENT]
    return _columns(
        POINTS[cards],
        run,
        ~run * (their_down1 * 1 + their_up1),
        ~run * (their_down2 * 1 + their_up2),
        rank_theirs >= 2,
        rank_theirs == 1,
        blocked,
        ~blocked * (down1 * 1 + up1),
        ~blocked * (down2 * 1 + up2),
        rank_gone >= 2,
        rank_gone == 1,
        np.bitwise_count(ADJOINING[cards] & refused),
    )


def keep_features(view: View, rows: Rows, hands: Hands, cards: Cards) -> Features:
    """Return the features of keeping ten cards and throwing one: `KEEP`, [P, 69].

    Args:
        view: N rows.
        rows: [P] row numbers.
        hands: [P] uint64, the ten cards that are kept.
        cards: [P] the card that is thrown.
    """
    left = deadwood(hands).astype(np.uint8)
    ahead = outlook(hands, left, view.unseen[rows])
    parts = (np.ones((len(rows), 1)), ahead, thrown(view, rows, cards), opponent_cards(view, rows))
    plain = np.concatenate(parts, axis=1)
    return _by_turn(plain, _turns(view, rows, 10))


def knock_features(view: View, rows: Rows, left: NDArray[np.integer]) -> Features:
    """Return the features of knocking with an amount of deadwood: `KNOCK`, [K, 18]."""
    took = np.bitwise_count(view.taken[rows, OPPONENT])
    holds = np.bitwise_count(view.known[rows, OPPONENT])
    one, deadwood_left = np.ones(len(rows)), left.astype(np.float64)
    plain = _columns(
        one, deadwood_left, deadwood_left**2 / 10, took == 1, took == 2, took >= 3, holds
    )
    turns, own = _turns(view, rows, 12), own_turns(view, rows)
    squared = _columns(turns**2, deadwood_left * turns**2, own == 1, own == 2)
    return np.concatenate([_by_turn(plain, turns, 1), squared], axis=1)


def stock_features(view: View, rows: Rows) -> Features:
    """Return the features of not taking the upcard: `STOCK`, [K, 35]."""
    hands = view.hand[rows]
    ahead = outlook(hands, deadwood(hands).astype(np.uint8), view.unseen[rows])
    plain = np.concatenate([np.ones((len(rows), 1)), ahead, opponent_cards(view, rows)], axis=1)
    turned = _by_turn(plain, _turns(view, rows, 10))
    return np.concatenate([turned, _opening(view, rows)], axis=1)


def take_features(view: View, rows: Rows, worth: Features, left: NDArray[np.integer]) -> Features:
    """Return the features of taking the upcard: `TAKE`, [K, 12].

    Args:
        view: N rows.
        rows: [K] row numbers.
        worth: [K] the estimate for the best ten cards that can then be kept.
        left: [K] the least deadwood that these can have.
    """
    saved = deadwood(view.hand[rows]) - left
    melds = makes_meld(view.hand[rows], view.upcard[rows])
    plain = _columns(np.ones(len(rows)), worth, melds, saved, saved <= 0)
    turned = _by_turn(plain, _turns(view, rows, 10), 1)
    return np.concatenate([turned, _opening(view, rows)], axis=1)


def _opening(view: View, rows: Rows) -> Features:
    opening = view.phase[rows] == Phase.OPENING
    return _columns(opening, opening & view.is_dealer[rows])
