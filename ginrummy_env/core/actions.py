"""Action numbers, their names, and what to say when one is not legal."""

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.cards import NUM_CARDS, format_card, parse_card

DISCARD = 0
"""Actions 0..51 discard that card."""
KNOCK = NUM_CARDS
"""Actions 52..103 knock (or gin), discarding card ``action - KNOCK``."""
DRAW_STOCK = 2 * NUM_CARDS
TAKE_UPCARD = DRAW_STOCK + 1
PASS = DRAW_STOCK + 2
BIG_GIN = DRAW_STOCK + 3
"""Lay down eleven melded cards (only where the rules have it)."""
NUM_ACTIONS = BIG_GIN + 1

NO_ACTION = 255
"""Fills the unused end of a history of actions."""

_WORDS = {DRAW_STOCK: "draw", TAKE_UPCARD: "take", PASS: "pass", BIG_GIN: "big gin"}


class IllegalActionError(ValueError):
    """An action that the rules do not allow in its position. Nothing has been changed.

    Attributes:
        row: the row of the batch, or None where there is no batch.
        action: the action's number.
        legal: the numbers of the actions that were legal.
    """

    def __init__(self, row: int | None, action: int, legal: list[int]) -> None:
        """Say which action it was and which were legal."""
        self.row, self.action, self.legal = row, action, legal
        where = "" if row is None else f"row {row}: "
        words = "; legal: " + ", ".join(format_action(a) for a in legal) if legal else ""
        super().__init__(f"{where}{describe(action)} is not legal{words}")

    def __reduce__(self) -> tuple[type, tuple[int | None, int, list[int]]]:
        """Pickle by the arguments, as worker processes need."""
        return type(self), (self.row, self.action, self.legal)


def describe(action: int) -> str:
    """Return an action with its number, also one that does not exist.

    >>> describe(104), describe(999)
    ("action 104, 'draw',", 'action 999 (there are 0..107)')
    """
    if 0 <= action < NUM_ACTIONS:
        return f"action {action}, {format_action(action)!r},"
    return f"action {action} (there are 0..{NUM_ACTIONS - 1})"


def format_action(action: int) -> str:
    """Return an action in words.

    >>> [format_action(a) for a in (12, 64, 104, 105, 106, 107)]
    ['discard Ks', 'knock Ks', 'draw', 'take', 'pass', 'big gin']
    """
    action = int(action)
    if action in _WORDS:
        return _WORDS[action]
    if DISCARD <= action < KNOCK:
        return f"discard {format_card(action)}"
    if KNOCK <= action < DRAW_STOCK:
        return f"knock {format_card(action - KNOCK)}"
    raise ValueError(f"{action} is not an action: actions are 0..{NUM_ACTIONS - 1}")


def parse_action(text: str) -> int:
    """Return the number of an action in words.

    Raises:
        ValueError: the words name no action.

    >>> parse_action("knock Ks"), parse_action("Draw")
    (64, 104)
    """
    words = text.lower().split()
    for action, name in _WORDS.items():
        if words == name.split():
            return action
    if len(words) == 2 and words[0] in ("discard", "knock"):
        return parse_card(words[1]) + (KNOCK if words[0] == "knock" else DISCARD)
    raise ValueError(
        f"{text!r} is not an action: write draw, take, pass, big gin, discard CARD or knock CARD"
    )


def random_actions(masks: NDArray[np.bool_], uniforms: NDArray[np.float64]) -> NDArray[np.int16]:
    """Return one of the flagged actions of each row, all equally likely.

    Args:
        masks: [N, A] bool (or int8).
        uniforms: [N] numbers in [0, 1), one per row.

    Returns:
        [N] int16; -1 where nothing is flagged.

    >>> random_actions(np.array([[False, True, True]]), np.array([0.9])).tolist()
    [2]
    """
    count, width = masks.shape
    if count < _PACKED_FROM or width % 4 or width > 2 * _LOW:
        return _pick_from_list(masks, uniforms)
    return _pick_from_words(masks, uniforms)


_PACKED_FROM = 512
"""Rows from which on packing the flags into words is faster than listing them."""

_LOW = 56
"""The low word holds the first 56 actions, the high one the rest."""

_BYTES, _HIGH_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_PLACES = [[place for place in range(8) if byte >> place & 1] for byte in range(256)]
_PLACE_OF_BIT = np.array([p + [0] * (8 - len(p)) for p in _PLACES], dtype=np.uint64).reshape(-1)
"""[2048] the place of the k-th bit that is set in a byte, at ``8 * byte + k``."""


def _pick_from_list(masks: NDArray[np.bool_], uniforms: NDArray[np.float64]) -> NDArray[np.int16]:
    """Pick from the list of all flagged actions."""
    count, width = masks.shape
    places = np.flatnonzero(masks)  # row * A + action, ascending
    counts = np.bincount(places // width, minlength=count)
    picked = np.cumsum(counts) - counts + (uniforms * counts).astype(np.intp)
    if counts.all():
        return (places[picked] % width).astype(np.int16)
    chosen = np.full(count, -1, dtype=np.int16)
    some = np.flatnonzero(counts)
    chosen[some] = places[picked[some]] % width
    return chosen


def _pick_from_words(masks: NDArray[np.bool_], uniforms: NDArray[np.float64]) -> NDArray[np.int16]:
    """Pick from the flags as two words of bits a row; the same actions as `_pick_from_list`."""
    low, high = _words(masks)
    in_low = np.bitwise_count(low).astype(np.uint64)
    total = in_low + np.bitwise_count(high)
    rank = (uniforms * total).astype(np.uint64)  # which of the flagged actions, from 0
    is_high = rank >= in_low
    word = np.where(is_high, high, low)
    rank -= in_low * is_high
    # Byte j of `upto`: how many bits are set in the bytes up to j (at most 56, so none runs over).
    upto = np.bitwise_count(word.view(np.uint8)).view(np.uint64) * _BYTES
    # The high bit of byte j stays where upto is at most the rank: these bytes lie before the bit.
    before = ((rank * _BYTES | _HIGH_BITS) - upto) & _HIGH_BITS
    shift = np.bitwise_count(before).astype(np.uint64) << np.uint64(3)
    rank -= (upto << np.uint64(8)) >> shift & np.uint64(255)
    index = (word >> shift & np.uint64(255)) << np.uint64(3) | rank
    place = _PLACE_OF_BIT.take(index.astype(np.intp), mode="clip")
    place += shift + is_high * np.uint64(_LOW)
    return np.where(total > 0, place.astype(np.int16), np.int16(-1))


def _words(masks: NDArray[np.bool_]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the first 56 flags of each row and the rest as bits, two of [N] uint64.

    All rows are packed at once, which is much faster than row by row; two rows fill whole bytes,
    so the second of a pair may start in the middle of one.
    """
    count, width = masks.shape
    pair = width // 4  # bytes of two rows
    bits = np.zeros((count + 1) // 2 * pair + 16, dtype=np.uint8)
    packed = np.packbits(masks.reshape(-1), bitorder="little")
    bits[: len(packed)] = packed

    def words(first: int, size: int) -> NDArray[np.uint64]:
        found = np.empty(count, dtype=np.uint64)
        for parity in (0, 1):
            offset, shift = divmod(parity * width + first, 8)
            rows = (count + 1 - parity) // 2
            unaligned = np.ndarray(rows, "<u8", bits.data, offset, (pair,))
            found[parity::2] = unaligned >> np.uint64(shift)
        return found & np.uint64((1 << size) - 1)

    return words(0, min(width, _LOW)), words(_LOW, max(0, width - _LOW))
