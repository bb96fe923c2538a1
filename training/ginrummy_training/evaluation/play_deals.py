"""Single deals between two policies, all at once, for fits and measurements.

Matches of whole games are played by `lockstep`.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.chance import RowRandom, further_keys
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY, BatchState
from ginrummy_env.core.step import step
from ginrummy_env.core.types import Rows
from ginrummy_env.core.view import View, make_view
from ginrummy_env.policy import Policy


class OnDecision(Protocol):
    """What is called with every decision before it is carried out."""

    def __call__(self, policy: int, rows: Rows, view: View, actions: NDArray[np.int16], /) -> None:
        """Take note.

        Args:
            policy: 0 or 1, whose decisions these are.
            rows: [K] the deals.
            view: K rows, as the policy saw them.
            actions: [K] what it does.
        """
        ...


def play_deals(
    policies: tuple[Policy, Policy],
    state: BatchState,
    seats: NDArray[np.integer],
    row_keys: NDArray[np.uint64],
    rules: Rules,
    on_decision: OnDecision | None = None,
) -> None:
    """Play deals to their end. Changes ``state`` in place.

    Args:
        policies: the two sides.
        state: N deals.
        seats: [N] the player, 0 or 1, that the first policy is.
        row_keys: [N] what policies draw follows from these and the step's number in the deal.
        rules: the settings.
        on_decision: called with every decision.
    """
    actions = np.full(len(state), -1, dtype=np.int16)
    while not state.over.all():
        live = np.flatnonzero(~state.over)
        second = state.player[live] != seats[live]
        for number, policy in enumerate(policies):
            rows = live[second == number]
            if rows.size:
                some = state.select(rows)
                view = make_view(some, rules)
                rng = RowRandom(further_keys(row_keys[rows], some.step_count))
                actions[rows] = policy.act(view, rng)
                if on_decision is not None:
                    on_decision(number, rows, view, actions[rows])
        step(state, actions, rules)


def points_of(state: BatchState, players: NDArray[np.integer] | int) -> NDArray[np.int16]:
    """Return what deals that are over brought to a player of each, [N]; negative: lost points."""
    sign = np.where(state.winner == NOBODY, 0, np.where(state.winner == players, 1, -1))
    return (sign * state.points).astype(np.int16)
