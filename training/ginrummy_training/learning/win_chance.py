"""How likely a game is won from a score: what a deal is worth in terms of the game.

Points are not what a game is about: 20 points at 90 : 40 win it, at 0 : 0 they help a little.
Paying each deal with the change it makes to the chance of winning adds up to exactly the pay for
winning the game, but every deal is paid for its own part: the same aim with far less noise to learn
from (potential-based shaping: Ng, Harada and Russell, 1999).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.chance import Purpose, RowRandom, policy_keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy

TEACHING_GAMES = 3 << 62
"""Game numbers from here on are for learning without an environment: those of the environments
have one of the two highest bits, those of matches neither."""


def deal_points(policy: Policy, rules: Rules, deals: int, seed: int) -> NDArray[np.int16]:
    """Return what single deals of a policy against itself pay player 0, [deals] int16."""
    games = np.arange(deals, dtype=np.uint64) + np.uint64(TEACHING_GAMES)
    state = new_games(seed, games, rules)
    while not state.over.all():
        playing = np.flatnonzero(~state.over)
        part = state.select(playing)
        row_keys = policy_keys(
            Purpose.WIN_CHANCE_DEALS, part.seed, part.game_number, part.step_count
        )
        actions = np.zeros(len(state), dtype=np.int16)
        actions[playing] = policy.act(make_view(part, rules), RowRandom(row_keys))
        step(state, actions, rules)
    sign = np.where(state.winner == NOBODY, 0, 1 - 2 * state.winner.astype(np.int16))
    return (sign * state.points).astype(np.int16)


class WinChance:
    """The chance of winning from each score, if deals pay as in a sample and both are as strong.

    Attributes:
        table: [target + 1, target + 1] float64, by my score and the opponent's; a score at the
            target stands for any above it.
    """

    def __init__(self, points: ArrayLike, target: int) -> None:
        """Work the table out from the scores near the end to 0 : 0.

        Args:
            points: what deals paid player 0; they are counted for both sides, so that neither is
                the stronger.
            target: points that win a game.

        Raises:
            ValueError: a sample in which no deal has paid anything.
        """
        paid = np.abs(np.asarray(points))
        paid = paid[paid > 0]
        if not paid.size:
            raise ValueError("no deal has paid anything: there is nothing to reckon with")
        share = np.bincount(np.minimum(paid, target), minlength=target + 1) / len(paid)
        table = np.zeros((target + 1, target + 1))
        table[target, :target] = 1.0
        for mine in reversed(range(target)):
            for his in reversed(range(target)):
                # A deal is won by either alike; void ones change nothing and are left out.
                won = _after(share, table[mine:, his])
                lost = _after(share, table[mine, his:])
                table[mine, his] = (won + lost) / 2
        self.table = table
        self.target = target

    def __call__(self, scores: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the chance of whoever stands in column 0, [N], from scores [N, 2]."""
        capped = np.minimum(scores, self.target)
        return self.table[capped[:, 0], capped[:, 1]]


def _after(share: NDArray[np.float64], line: NDArray[np.float64]) -> float:
    """Return the mean of ``line`` after a deal: entry p after p points, the last for any above."""
    last = len(line) - 1
    return float(share[1:last] @ line[1:last] + share[last:].sum() * line[last])
