"""Further planes of card inputs: room for them, and the rows that those of the upcard are for."""

import numpy as np

from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Flat, Rows
from ginrummy_env.core.view import View


def with_room(seen: Flat, planes: int, further: int) -> tuple[Flat, Flat]:
    """Return inputs with further planes of zeros behind their own, and these planes to write to.

    Args:
        seen: [N, size] float32, ``planes`` × 52 numbers and scalars.
        planes: how many planes there are.
        further: how many are put behind them.

    Returns:
        ([N, size + ``further`` × 52] float32, a new array; [N, ``further``, 52], a view of it).
    """
    at = planes * NUM_CARDS
    behind = at + further * NUM_CARDS
    wider = np.zeros((len(seen), seen.shape[1] + behind - at), dtype=np.float32)
    wider[:, :at] = seen[:, :at]
    wider[:, behind:] = seen[:, at:]
    return wider, wider[:, at:behind].reshape(len(seen), further, NUM_CARDS)


def offered(view: View) -> Rows:
    """Return the rows in which the player to move may take the upcard or leave it."""
    phases = (view.phase == Phase.OPENING) | (view.phase == Phase.DRAW)
    return np.flatnonzero(phases & view.to_move & (view.upcard >= 0))
