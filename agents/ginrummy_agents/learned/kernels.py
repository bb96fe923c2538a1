"""The planes that look ahead, compiled by numba: what `inputs` does with arrays, bit for bit."""

from functools import partial
from typing import Any

import numpy as np

from ginrummy_agents.compiled import kernel_of
from ginrummy_agents.kernels import CARDS, EVERY_SUIT, ahead, least, least_discard, ranks
from ginrummy_agents.rules import discard_kernels
from ginrummy_agents.rules.discard_kernels import candidates_listed, count_of, loose_cards
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import OPPONENT

MOST, OUTS = 11, 7
"""Cards of a hand, and draws of which the mean is taken, as `Lookahead` has them."""

OPENING, DRAW, DISCARD = int(Phase.OPENING), int(Phase.DRAW), int(Phase.DISCARD)
TAKE = 3
"""The plane of the upcard; those of discards are before it."""

_0, _1, _2, _3 = (np.uint64(number) for number in (0, 1, 2, 3))
_ONE, _TWO, _TEN, _TWENTY = (np.float32(number) for number in (1, 2, 10, 20))

_kernel = kernel_of((__file__, *discard_kernels.SOURCES), discard_kernels.TABLES)
_inlined = partial(_kernel, forceinline=True)


@_inlined
def fit_for_opponent(bit: Any, theirs: Any, unseen: Any) -> Any:
    """Return how well a card fits what the opponent may hold: see `lookahead`."""
    value: Any
    gone = ~(unseen | theirs)
    down2 = ((gone << _2) | _3) & bit != _0
    down1 = ((gone << _1) | _1) & bit != _0
    up1, up2 = (gone >> _1) & bit != _0, (gone >> _2) & bit != _0
    if (up1 and (down1 or down2)) or (down1 and (up1 or up2)):
        value = -10
    else:
        value = -5 * (np.int64(down1) + np.int64(up1)) - 3 * (np.int64(down2) + np.int64(up2))
    down2, down1 = (theirs << _2) & bit != _0, (theirs << _1) & bit != _0
    up1, up2 = (theirs >> _1) & bit != _0, (theirs >> _2) & bit != _0
    if (down2 and down1) or (down1 and up1) or (up1 and up2):
        value += 20
    else:
        value += 5 * (np.int64(down1) + np.int64(up1)) + 3 * (np.int64(down2) + np.int64(up2))
    others = (ranks(bit) * EVERY_SUIT) & ~bit
    missing, held = count_of(gone & others), count_of(theirs & others)
    if missing:
        value -= 4 if missing == 1 else 10
    if held:
        value += 4 if held == 1 else 20
    return value


@_kernel
def look_ahead(
    phases: Any, to_move: Any, hands: Any, upcards: Any, takens: Any, unseens: Any, known: Any,
    discard_taken: Any, planes: Any,
) -> None:  # fmt: skip
    """Write the planes that look ahead.

    Args:
        phases, to_move, hands, upcards, takens, unseens, known: of a `View` of N rows.
        discard_taken: whether the upcard that was taken may be discarded in the same turn.
        planes: [N, 4, 52] float32, zeros; written.
    """
    cards, lefts = np.empty(MOST, dtype=np.int64), np.empty(MOST, dtype=np.int64)
    outlooks, counts = np.empty(MOST, dtype=np.float32), np.zeros(256, dtype=np.int64)
    for row in range(len(hands)):
        if not to_move[row]:
            continue
        hand, theirs = hands[row], known[row, OPPONENT]
        if phases[row] == OPENING or phases[row] == DRAW:
            if upcards[row] >= 0:
                card = upcards[row]
                planes[row, TAKE, card] = worth_taking(hand, CARDS[card], discard_taken)
            continue
        if phases[row] != DISCARD:
            continue
        taken = CARDS[takens[row]] if takens[row] >= 0 else _0
        stays = _0 if discard_taken else taken
        size, lowest = candidates_listed(hand, taken, stays, cards, lefts)
        draws = max(min(count_of(unseens[row]), OUTS), 1)
        best = np.float32(np.inf)
        for place in range(size):
            after = hand & ~CARDS[cards[place]]
            some = ahead(after, lefts[place], unseens[row], OUTS, counts)[1]
            outlooks[place] = np.float32(some / draws)
            best = min(best, outlooks[place])
        for place in range(size):
            card = cards[place]
            worse = np.float32(lefts[place] - lowest)
            planes[row, 0, card] = _ONE - min(worse / _TEN, _TWO)
            worse = outlooks[place] - best
            planes[row, 1, card] = _ONE - min(worse / _TEN, _TWO)
            fit = fit_for_opponent(CARDS[card], theirs, unseens[row])
            planes[row, 2, card] = np.float32(fit) / _TWENTY


@_kernel
def worth_taking(hand: Any, card: Any, discard_taken: Any) -> Any:
    """Return what the plane of the upcard says."""
    both = hand | card
    saved = least(hand, False) - least_discard(both, _0 if discard_taken else card)[0]
    value = min(max(np.float32(saved) / _TEN, -_ONE), _ONE)
    return value + _ONE if loose_cards(both, True) & card == _0 else value
