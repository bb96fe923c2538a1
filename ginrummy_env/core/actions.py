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
    count, width = masks.shape
    places = np.flatnonzero(masks)
    rows = places // width
    ends = np.searchsorted(rows, np.arange(count), side="right")
    starts = np.concatenate([[0], ends[:-1]])
    picked = starts + ((ends - starts) * uniforms).astype(np.intp)
    empty = ends == starts
    if empty.any():
        chosen = np.full(count, -1, dtype=np.int16)
        some = ~empty
        chosen[some] = places[picked[some]] % width
        return chosen
    return (places[picked] - np.arange(count) * width).astype(np.int16)
