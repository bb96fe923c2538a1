"""A view as numbers: card planes of 52, then scalars, all in [-1, 1].

`layout` is the only description: observations are written, sliced, documented and tested from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import (
    CARD_BIT,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    card_planes,
)
from ginrummy_env.core.deadwood import NOT_HELD, deadwood_after_discard, melded_cards
from ginrummy_env.core.melds import melding_cards
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Flat, Hands, Points
from ginrummy_env.core.view import ME, OPPONENT, View


@dataclass(frozen=True, slots=True)
class Entry:
    """One part of an observation.

    Attributes:
        name: what it is called.
        size: how many numbers: 52 for a plane, one per card; else scalars.
        start: index of the first.
        low, high: bounds of the numbers.
        text: what they mean.
    """

    name: str
    size: int
    start: int
    low: float
    high: float
    text: str

    @property
    def slice(self) -> slice:
        """Where it is in an observation."""
        return slice(self.start, self.start + self.size)

    @property
    def is_plane(self) -> bool:
        """Whether it is a card plane."""
        return self.size == NUM_CARDS


# Raw planes: a set of cards of the view each.
_RAW: dict[str, tuple[str, Callable[[View], Hands]]] = {
    "hand": ("my cards", lambda v: v.hand),
    "upcard": ("top of the discard pile", lambda v: CARD_BIT[v.upcard]),
    "discard_pile": ("the discard pile, the upcard included", lambda v: v.discards),
    "opponent_known": (
        "cards that the opponent took from the pile and still holds; the whole hand once it is "
        "laid down",
        lambda v: v.known[:, OPPONENT] | v.opponent_hand,
    ),
    "my_known": ("my cards that the opponent has seen me take", lambda v: v.known[:, ME]),
    "opponent_discarded": (
        "cards that the opponent has discarded in this deal",
        lambda v: v.discarded[:, OPPONENT],
    ),
    "my_discarded": ("cards that I have discarded in this deal", lambda v: v.discarded[:, ME]),
    "opponent_declined": (
        "upcards that the opponent passed or left for the stock",
        lambda v: v.declined[:, OPPONENT],
    ),
    "drawn_card": ("the card that I have just drawn or taken", lambda v: CARD_BIT[v.drawn_card]),
    "unseen": (
        "cards never seen: in the stock or unknown in the opponent's hand",
        lambda v: v.unseen,
    ),
}


# Derived planes: [K, 52] numbers from K hands, their melded cards and the rules.
_DERIVED: dict[str, tuple[str, Callable[[Hands, Hands, Rules], NDArray[Any]]]] = {
    "melded": (
        "my cards that are melded in an arrangement of least deadwood",
        lambda hands, melded, rules: card_planes(melded).view(np.uint8),
    ),
    "after_discard": (
        "after drawing, (100 - least deadwood after discarding the card) / 100; else 0",
        lambda hands, melded, rules: _after_discard(hands, rules),
    ),
    "makes_meld": (
        "cards that would make a new meld with mine",
        lambda hands, melded, rules: card_planes(melding_cards(hands, rules.full_deck)).view(
            np.uint8
        ),
    ),
}

# Scalars: what stands for 1 (more is cut to 1; None: the target), and the number of the view.
_SCALARS: dict[str, tuple[str, int | None, Callable[[View, Points], NDArray[Any]]]] = {
    **{
        f"phase_{phase.name.lower()}": (
            f"1 in phase {phase.name}",
            1,
            lambda view, deadwood, phase=int(phase): view.phase == phase,  # type: ignore[misc]
        )
        for phase in Phase
    },
    "to_move": ("1 if it is my move", 1, lambda view, deadwood: view.to_move),
    "is_dealer": ("1 if I dealt", 1, lambda view, deadwood: view.is_dealer),
    "stock": ("cards in the stock / 31", 31, lambda view, deadwood: view.stock_count),
    "turn": (
        "discards made in this deal / 100, at most 1",
        100,
        lambda view, deadwood: view.turn,
    ),
    "my_score": (
        "my points of the game / the target, at most 1",
        None,
        lambda view, deadwood: view.scores[:, ME],
    ),
    "opponent_score": (
        "the opponent's points of the game / the target, at most 1",
        None,
        lambda view, deadwood: view.scores[:, OPPONENT],
    ),
    "my_deals_won": (
        "deals that I have won / 10, at most 1",
        10,
        lambda view, deadwood: view.deals_won[:, ME],
    ),
    "opponent_deals_won": (
        "deals that the opponent has won / 10, at most 1",
        10,
        lambda view, deadwood: view.deals_won[:, OPPONENT],
    ),
    "deadwood": ("my least deadwood / 100, at most 1", 100, lambda view, deadwood: deadwood),
    "knock_limit": (
        "the knock limit in force / 10, at most 1",
        10,
        lambda view, deadwood: view.knock_limit,
    ),
}


def layout(derived: bool = True) -> tuple[Entry, ...]:
    """Return the parts of an observation in their order: planes first, then scalars.

    Args:
        derived: with the planes that a person would work out, or only what is seen.
    """
    names = [(name, text, NUM_CARDS) for name, (text, _) in _RAW.items()]
    if derived:
        names += [(name, text, NUM_CARDS) for name, (text, _) in _DERIVED.items()]
    names += [(name, text, 1) for name, (text, _, _) in _SCALARS.items()]
    entries: list[Entry] = []
    start = 0
    for name, text, size in names:
        entries.append(Entry(name, size, start, 0.0, 1.0, text))
        start += size
    return tuple(entries)


OBSERVATION_LAYOUT = layout()
"""The parts of an observation with the derived planes (the default)."""

_SIZES = {derived: sum(entry.size for entry in layout(derived)) for derived in (False, True)}


def observation_size(derived: bool = True) -> int:
    """Return how many numbers an observation has."""
    return _SIZES[derived]


def observe(view: View, derived: bool = True) -> Flat:
    """Return the view as numbers.

    Args:
        view: N rows.
        derived: with the derived planes (three more).

    Returns:
        [N, size] float32 in [-1, 1], a new array; see `layout`.
    """
    count = len(view)
    observation = np.empty((count, _SIZES[derived]), dtype=np.float32)
    raw = np.empty((count, len(_RAW)), dtype=np.uint64)
    for place, (_, part) in enumerate(_RAW.values()):
        raw[:, place] = part(view)
    melded, deadwood = melded_cards(view.hand)
    # In pieces, so that intermediate results stay within the processor's cache.
    for start in range(0, count, _PIECE):
        rows = slice(start, start + _PIECE)
        at = raw.shape[1] * NUM_CARDS
        observation[rows, :at] = card_planes(raw[rows]).view(np.uint8).reshape(-1, at)
        if derived:
            for _, plane in _DERIVED.values():
                observation[rows, at : at + NUM_CARDS] = plane(
                    view.hand[rows], melded[rows], view.rules
                )
                at += NUM_CARDS
    block = np.empty((count, len(_SCALARS)), dtype=np.float32)
    for place, (_, _, number) in enumerate(_SCALARS.values()):
        block[:, place] = number(view, deadwood)
    block *= scalar_factors(view.rules.target)
    np.minimum(block, 1, out=block)
    observation[:, -len(_SCALARS) :] = block
    return observation


_PIECE = 4096


@cache
def scalar_factors(target: int) -> Flat:
    """Return the factor of each scalar, [S] float32."""
    wholes = [target if whole is None else whole for _, whole, _ in _SCALARS.values()]
    return (1 / np.array(wholes)).astype(np.float32)


def planes(observation: Flat) -> Flat:
    """Return the card planes of observations as pictures, for convolutions.

    Args:
        observation: [..., size] float32, with or without derived planes.

    Returns:
        [..., C, 4, 13] float32: planes, suits, ranks; a view of the observation.

    Raises:
        ValueError: a size that no layout has.
    """
    for derived, size in _SIZES.items():
        if observation.shape[-1] == size:
            count = sum(entry.is_plane for entry in layout(derived))
            cards = observation[..., : count * NUM_CARDS]
            return cards.reshape(*observation.shape[:-1], count, NUM_SUITS, NUM_RANKS)
    raise ValueError(
        f"observations of {observation.shape[-1]} numbers, expected {_SIZES[True]} (with "
        f"derived planes) or {_SIZES[False]}"
    )


def scalars(observation: Flat) -> Flat:
    """Return the scalars of observations, [..., S] float32; a view of the observation."""
    return observation[..., -len(_SCALARS) :]


def _after_discard(hands: Hands, rules: Rules) -> NDArray[np.float32]:
    plane = np.zeros((len(hands), NUM_CARDS), dtype=np.float32)
    rows = (np.bitwise_count(hands) == rules.hand_size + 1).nonzero()[0]
    if rows.size:
        plane[rows] = _WORTH.take(deadwood_after_discard(hands[rows]))
    return plane


_WORTH = (np.maximum(100 - np.arange(NOT_HELD + 1), 0) / 100).astype(np.float32)
"""[256] float32, the number that stands for each deadwood; 0 for NOT_HELD."""
