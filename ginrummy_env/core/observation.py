"""A view as numbers: card planes of 52, then scalars, all in [-1, 1].

`layout` is the only description: observations are written, sliced, documented and tested from it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import (
    CARD_BIT,
    FULL_DECK,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    Hands,
    card_planes,
)
from ginrummy_env.core.deadwood import NOT_HELD, deadwood_after_discard, melded_cards
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import ME, OPPONENT, View

Flat = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Entry:
    """One part of an observation.

    Attributes:
        name: what it is called.
        size: how many numbers: 52 for a plane, one a card; else scalars.
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
        """Where it stands in an observation."""
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
        "cards that the opponent took from the pile and still holds; all his cards once they are "
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
    "unseen": ("cards never seen: in the stock or unknown in his hand", lambda v: v.unseen),
}


@dataclass(slots=True)
class _Work:
    """What several derived parts need, worked out once."""

    melded: Hands
    deadwood: NDArray[np.int16]


_DERIVED: dict[str, tuple[str, Callable[[View, _Work], NDArray[np.generic]]]] = {
    "melded": (
        "my cards that are melded in an arrangement of least deadwood",
        lambda v, w: card_planes(w.melded),
    ),
    "after_discard": (
        "with eleven cards, (100 - least deadwood after discarding the card) / 100; else 0",
        lambda v, w: _after_discard(v.hand),
    ),
    "makes_meld": (
        "cards that would make a new meld with mine",
        lambda v, w: card_planes(cards_that_meld(v.hand)),
    ),
}


def _flag(values: NDArray[np.generic]) -> Flat:
    return values.astype(np.float32)


def _share(values: NDArray[np.generic], whole: float) -> Flat:
    return np.minimum(values.astype(np.float32) / np.float32(whole), np.float32(1))


_SCALARS: dict[str, tuple[str, Callable[[View, _Work], Flat]]] = {
    **{
        f"phase_{phase.name.lower()}": (
            f"1 in phase {phase.name}",
            lambda v, w, phase=phase: _flag(v.phase == phase),  # type: ignore[misc]
        )
        for phase in Phase
    },
    "to_move": ("1 if it is my move", lambda v, w: _flag(v.to_move)),
    "is_dealer": ("1 if I dealt", lambda v, w: _flag(v.is_dealer)),
    "stock": ("cards in the stock / 31", lambda v, w: _share(v.stock_count, 31)),
    "turn": ("discards made in this deal / 100, at most 1", lambda v, w: _share(v.turn, 100)),
    "my_score": (
        "my points of the game / the target, at most 1",
        lambda v, w: _share(v.scores[:, ME], v.rules.target),
    ),
    "opponent_score": (
        "the opponent's points of the game / the target, at most 1",
        lambda v, w: _share(v.scores[:, OPPONENT], v.rules.target),
    ),
    "my_deals_won": (
        "deals that I have won / 10, at most 1",
        lambda v, w: _share(v.deals_won[:, ME], 10),
    ),
    "opponent_deals_won": (
        "deals that the opponent has won / 10, at most 1",
        lambda v, w: _share(v.deals_won[:, OPPONENT], 10),
    ),
    "deadwood": ("my least deadwood / 100, at most 1", lambda v, w: _share(w.deadwood, 100)),
    "knock_limit": (
        "the knock limit in force / 10, at most 1",
        lambda v, w: _share(v.knock_limit, 10),
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
    names += [(name, text, 1) for name, (text, _) in _SCALARS.items()]
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
    raw = np.stack([part(view) for _, part in _RAW.values()], axis=1)
    at = raw.shape[1] * NUM_CARDS
    observation[:, :at] = card_planes(raw).view(np.uint8).reshape(count, at)
    work = _Work(*melded_cards(view.hand))
    if derived:
        for _, plane in _DERIVED.values():
            observation[:, at : at + NUM_CARDS] = plane(view, work)
            at += NUM_CARDS
    for place, (_, scalar) in enumerate(_SCALARS.values(), start=at):
        observation[:, place] = scalar(view, work)
    return observation


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
        f"observations of {observation.shape[-1]} numbers where {_SIZES[True]} (with derived "
        f"planes) or {_SIZES[False]} are needed"
    )


def scalars(observation: Flat) -> Flat:
    """Return the scalars of observations, [..., S] float32; a view of the observation."""
    return observation[..., -len(_SCALARS) :]


def cards_that_meld(hands: Hands) -> Hands:
    """Return the cards that would stand in a meld with cards of the hand, if they came.

    Args:
        hands: [N] uint64.

    Returns:
        [N] uint64, none of the hand's own.
    """
    one, two = np.uint64(1), np.uint64(2)
    below, above = hands << one, hands >> one
    runs = (below & (hands << two)) | (above & (hands >> two)) | (below & above)
    # Two of a rank or more: the suits are added up in two bits a rank, here as "two seen" flags.
    lane = [hands >> np.uint64(16 * suit) & np.uint64(0x1FFF) for suit in range(NUM_SUITS)]
    some = lane[0]
    pairs = np.zeros_like(hands)
    for suit in lane[1:]:
        pairs |= some & suit
        some = some | suit
    sets = pairs * np.uint64(0x0001000100010001)
    return (runs | sets) & FULL_DECK & ~hands


def _after_discard(hands: Hands) -> NDArray[np.float32]:
    plane = np.zeros((len(hands), NUM_CARDS), dtype=np.float32)
    rows = np.flatnonzero(np.bitwise_count(hands) == 11)
    if rows.size:
        plane[rows] = _WORTH.take(deadwood_after_discard(hands[rows]))
    return plane


_WORTH = (np.maximum(100 - np.arange(NOT_HELD + 1), 0) / 100).astype(np.float32)
"""[256] float32, the number that stands for each deadwood; 0 for NOT_HELD."""
