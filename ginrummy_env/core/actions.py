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

    def __init__(self, row: int | None, action: int, legal: list[int], why: str = "") -> None:
        """Say which action it was and which were legal."""
        self.row, self.action, self.legal = row, action, legal
        where = "" if row is None else f"row {row}: "
        words = ", ".join(format_action(a) for a in legal) or "none, the deal is over"
        because = f" ({why})" if why else ""
        super().__init__(f"{where}{describe(action)} is not legal{because}; legal: {words}")

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
    raise ValueError(f"{action} is not an action: there are 0..{NUM_ACTIONS - 1}")


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
        uniforms: [N] numbers in [0, 1), one a row.

    Returns:
        [N] int16; -1 where nothing is flagged.

    >>> random_actions(np.array([[False, True, True]]), np.array([0.9])).tolist()
    [2]
    """
    words = _as_words(masks)
    counts = np.bitwise_count(words)
    first = counts[:, 0]
    total = first + counts[:, 1]
    rank = (uniforms * total).astype(np.uint8)  # which of the flagged actions, from 0
    behind = rank >= first
    word = np.where(behind, words[:, 1], words[:, 0])
    place = _place_of_bit(word, np.where(behind, rank - first, rank))
    place += np.uint8(64) * behind
    return np.where(total > 0, place.astype(np.int16), np.int16(-1))


def _as_words(masks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return [N, A] flags, A at most 128, as bits of two words, [N, 2] uint64."""
    packed = np.zeros((len(masks), 16), dtype=np.uint8)
    bits = np.packbits(masks, axis=1, bitorder="little")
    packed[:, : bits.shape[1]] = bits
    return packed.view("<u8")


def _place_of_bit(words: NDArray[np.uint64], rank: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the place of the bit of that rank (the lowest set bit has rank 0), [N] uint8.

    Halves the word six times: the bit is in the lower half if that has more set bits than the rank.
    """
    place = np.zeros(len(words), dtype=np.uint8)
    left = rank.astype(np.uint8)
    for width in (32, 16, 8, 4, 2, 1):
        low = (words >> place) & np.uint64((1 << width) - 1)
        count = np.bitwise_count(low)
        above = left >= count
        left -= count * above
        place += np.uint8(width) * above
    return place
