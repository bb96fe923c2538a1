"""What a deal is worth once both hands lie on the table, and what a game is."""

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.rules import Rules
from ginrummy_env.core.types import Points

KNOCKER, NO_SIDE, DEFENDER = 1, 0, -1
"""Who wins a deal that somebody ended."""


def score_gin(
    defender: Points, defender_alone: Points, big: NDArray[np.bool_], rules: Rules
) -> tuple[NDArray[np.int8], Points, NDArray[np.bool_]]:
    """Return who wins after gin or big gin, and by how much.

    Args:
        defender: [N] int16, the defender's deadwood after lay-offs.
        defender_alone: [N] int16, the deadwood of the defender's ten cards (no lay-offs).
        big: [N] bool, whether it was big gin (which always wins).
        rules: bonuses, and what gin answered by gin means.

    Returns:
        (side [N] int8: KNOCKER, NO_SIDE or DEFENDER; points [N] int16; answered [N] bool).

    Source: RULES, Scoring a deal; RULES, Settings.
    """
    bonus = np.where(big, rules.big_gin_bonus, rules.gin_bonus)
    points = (bonus + defender).astype(np.int16)
    side = np.full(len(points), KNOCKER, dtype=np.int8)
    answered = np.zeros(len(points), dtype=np.bool_)
    if rules.gin_answered_by_gin != "gin_wins":
        answered = ~big & (defender_alone == 0)
        won = rules.gin_answered_by_gin == "undercut"
        side[answered] = DEFENDER if won else NO_SIDE
        points[answered] = rules.undercut_bonus if won else 0
    return side, points, answered


def score_knock(knocker: Points, defender: Points, rules: Rules) -> tuple[NDArray[np.int8], Points]:
    """Return who wins after a knock with deadwood above 0, and by how much.

    Args:
        knocker: [N] int16, the knocker's deadwood.
        defender: [N] int16, the defender's after lay-offs.
        rules: the undercut bonus, and what equal deadwood means.

    Returns:
        (side [N] int8: KNOCKER, NO_SIDE or DEFENDER; points [N] int16).

    Source: RULES, Scoring a deal.

    >>> from ginrummy_env.core.rules import CLASSIC
    >>> side, points = score_knock(np.int16([4, 9, 7]), np.int16([30, 7, 7]), CLASSIC)
    >>> side.tolist(), points.tolist()
    ([1, -1, -1], [26, 12, 10])
    """
    difference = defender - knocker
    side = np.sign(difference).astype(np.int8)
    side[difference == 0] = _EQUAL[rules.equal_deadwood]
    points = np.abs(difference) + np.where(side == DEFENDER, rules.undercut_bonus, 0)
    return side, points.astype(np.int16)


_EQUAL = {"undercut": DEFENDER, "knocker": KNOCKER, "nobody": NO_SIDE}


def final_scores(scores: Points, deals_won: NDArray[np.int32], rules: Rules) -> NDArray[np.int64]:
    """Return the final scores of games that are over, bonuses written.

    Args:
        scores: [N, 2] int16, points of the deals.
        deals_won: [N, 2] int32.
        rules: target and bonuses.

    Returns:
        [N, 2] int64. Where no player has reached the target, no game or shutout bonus is written.

    Source: RULES, The game.

    >>> from ginrummy_env.core.rules import CLASSIC
    >>> final_scores(np.int16([[104, 30]]), np.int32([[4, 2]]), CLASSIC).tolist()
    [[284, 70]]
    """
    won = scores >= rules.target
    shutout = won & (deals_won[:, ::-1] == 0)
    boxes = deals_won.astype(np.int64) * rules.box_bonus
    return scores + boxes + won * rules.game_bonus + shutout * rules.shutout_bonus
