"""The opponent's last turns, as they saw them: replayed from what a view shows of the deal.

All that a player sees but their own cards is public, so the view of the one who moved can be made
again for every turn, to be filled with cards that somebody made up for them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents import compiled
from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT, NO_CARD
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.types import Flags, Hands, Int8, Rows
from ginrummy_env.core.view import OPPONENT, View, players_of


@dataclass(slots=True)
class PastTurn:
    """One turn of the opponent in M deals."""

    rows: Rows  # [M] the deals, ascending
    draw: View  # M rows: the opponent's view when they were about to draw, without their cards
    discard: View  # M rows: the same when they were about to discard; not read where they passed
    offered: Flags  # [M] whether the upcard was theirs to take
    thrown: Int8  # [M] the card that they discarded; NO_CARD where they passed in the opening

    @property
    def took(self) -> Int8:
        """The upcard that they took, [M]; NO_CARD where they drew from the stock or passed."""
        return self.discard.taken_card


def past_turns(view: View, most: int) -> list[PastTurn]:
    """Return the opponent's last turns, the latest first.

    A pass in the opening counts as a turn.

    Args:
        view: N rows. Without a history, as of positions typed in, there are no turns.
        most: turns looked back for.
    """
    theirs = players_of(view) == OPPONENT
    ends = theirs & ((view.history < KNOCK) | (view.history == PASS))  # [N, H]
    left = ends[:, ::-1].cumsum(axis=1)[:, ::-1]  # their turns from here on
    most = min(most, int(left[:, 0].max(initial=0)) if left.shape[1] else 0)
    if most < 1:
        return []
    public, found = _replayed(view, theirs), []
    for number in range(1, most + 1):
        rows, steps = np.nonzero(ends & (left == number))
        actions = view.history[rows, steps].astype(np.int64)
        passed = actions == PASS
        drew = np.where(passed, steps, steps - 1)
        taken = np.where(
            ~passed & (view.history[rows, drew] == TAKE_UPCARD),
            public["upcard"][drew, rows],
            NO_CARD,
        ).astype(np.int8)
        start = public["turn"][drew, rows] == 0
        phases = np.where(~start, Phase.DRAW, np.where(drew < 2, Phase.OPENING, Phase.FIRST_DRAW))
        found.append(
            PastTurn(
                rows=rows,
                draw=_eyes(view, public, rows, drew, phases, np.full_like(taken, NO_CARD)),
                discard=_eyes(
                    view, public, rows, steps, np.full_like(phases, Phase.DISCARD), taken
                ),
                offered=phases != Phase.FIRST_DRAW,
                thrown=np.where(passed, NO_CARD, actions).astype(np.int8),
            )
        )
    return found


_MASKS = ("known", "taken", "discarded", "declined")


def _replayed(view: View, theirs: Flags) -> dict[str, NDArray[Any]]:
    """Return what is public before each action, by the names of the view's fields.

    Masks are [H + 1, N, 2] from the opponent's side, numbers [H + 1, N].
    """
    length, count = view.history.shape[1], len(view)
    masks = np.zeros((len(_MASKS), length + 1, count, 2), dtype=np.uint64)
    upcards = np.empty((length + 1, count), dtype=np.int8)
    upcards[0] = view.first_upcard
    turns, drawn = (np.zeros((length + 1, count), dtype=np.int32) for _ in range(2))
    sides = 1 - theirs.astype(np.int64)
    if compiled.in_use():
        from ginrummy_agents.search import hand_kernels

        with compiled.first_use("what the search makes of the opponent's turns"):
            hand_kernels.replay(
                view.history, sides, view.first_upcard, masks, upcards, turns, drawn
            )
    else:
        _replay(view.history, sides, masks, upcards, turns, drawn)
    stock = drawn[-1] + view.stock_count - drawn
    return dict(zip(_MASKS, masks, strict=True)) | {
        "upcard": upcards,
        "turn": turns,
        "stock_count": stock.astype(np.int8),
    }


def _replay(
    history: NDArray[np.uint8],
    sides: NDArray[np.int64],
    masks: Hands,
    upcards: NDArray[np.int8],
    turns: NDArray[np.int32],
    drawn: NDArray[np.int32],
) -> None:
    """Write what `_replayed` returns, from the first step on, which stands."""
    every, none = np.arange(len(history)), np.uint64(0)
    for step in range(history.shape[1]):
        action, side = history[:, step].astype(np.int64), sides[:, step]
        throws, takes = action < KNOCK, action == TAKE_UPCARD
        thrown = np.where(throws, CARD_BIT[np.where(throws, action, NO_CARD)], none)
        top = CARD_BIT[upcards[step]]
        taken = np.where(takes, top, none)
        left = np.where((action == DRAW_STOCK) | (action == PASS), top, none)
        now = masks[:, step + 1]
        now[:] = masks[:, step]
        for mask, more in zip(now, (taken, taken, thrown, left), strict=True):
            mask[every, side] |= more
        now[0, every, side] &= ~thrown
        upcards[step + 1] = np.where(throws, action, np.where(takes, NO_CARD, upcards[step]))
        turns[step + 1] = turns[step] + throws
        drawn[step + 1] = drawn[step] + (action == DRAW_STOCK)


def _eyes(
    view: View,
    public: dict[str, NDArray[Any]],
    rows: Rows,
    steps: Rows,
    phases: NDArray[np.integer],
    taken: Int8,
) -> View:
    """Return the opponent's views before some steps; their cards and the pile's order are empty."""
    count = len(rows)

    def full(value: int, dtype: Any = np.int8) -> NDArray[Any]:
        return np.full(count, value, dtype=dtype)

    nothing = np.zeros((count, 0), dtype=np.int8)
    return View(
        rules=view.rules,
        player=1 - view.player[rows],
        to_move=full(1, np.bool_),
        is_dealer=~view.is_dealer[rows],
        phase=phases.astype(np.int8),
        hand=full(0, np.uint64),
        drawn_card=taken,
        taken_card=taken,
        discard_pile=nothing,
        discard_count=full(0),
        first_upcard=view.first_upcard[rows],
        knock_limit=view.knock_limit[rows],
        history=nothing.astype(np.uint8),
        step_count=steps.astype(np.int32),
        scores=view.scores[rows, ::-1],
        deals_won=view.deals_won[rows, ::-1],
        deal_number=view.deal_number[rows],
        outcome=full(Outcome.NONE),
        winner=full(NOBODY),
        points=full(0, np.int16),
        knocker=full(NOBODY),
        knocker_deadwood=full(-1, np.int16),
        defender_deadwood=full(-1, np.int16),
        opponent_hand=full(0, np.uint64),
        **{name: values[steps, rows] for name, values in public.items()},
    )
