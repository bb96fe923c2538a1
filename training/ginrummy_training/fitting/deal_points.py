"""How many points deals are worth, for the chance of winning a game: `ginrummy_agents.win_chance`.

``ginrummy fit deal-points`` writes
agents/ginrummy_agents/data/winchance.npz.
"""

from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.win_chance import MOST_POINTS, WinChance
from ginrummy_env.core.chance import FirstGame, Purpose, policy_keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import Rules, as_rules
from ginrummy_env.files import write_whole
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.evaluation.play_deals import play_deals

PLAYERS = {
    "classic": "lookahead:knock_turns=7",
    "eaai": "lookahead",
    "modern": "lookahead",
    "oklahoma": "lookahead:knock_turns=7",
    "straight": "lookahead:knock_turns=0",
    "mini": "lookahead:knock_turns=7",
    "nano": "lookahead:knock_turns=7",
}
"""Who plays against itself under each preset."""


def points_of_deals(
    policy: Policy, other: Policy, rules: Rules, deals: int, seed: int
) -> NDArray[np.int64]:
    """Play first deals and return how often a deal won was worth 0, 1, ... 255 points, [256].

    Args:
        policy: the non-dealer in even deals.
        other: the dealer in even deals.
        rules: the settings.
        deals: how many.
        seed: of the decks and of what the players draw.
    """
    numbers = np.arange(deals, dtype=np.uint64)
    state = new_games(seed, np.uint64(FirstGame.DEAL_POINTS_FIT) + numbers, rules)
    row_keys = policy_keys(Purpose.DEAL_POINTS_FIT, np.uint64(seed), numbers)
    play_deals((policy, other), state, np.arange(deals) % 2, row_keys, rules)
    won = state.winner >= 0
    return np.bincount(np.minimum(state.points[won], MOST_POINTS), minlength=MOST_POINTS + 1)


def fit(out: Path, deals: int, seed: int) -> None:
    """Play deals of every preset, print a summary and write how often they are worth each number.

    Args:
        out: a file (.npz).
        deals: of each preset.
        seed: of the decks and the players.
    """
    shares = {}
    for preset, name in PLAYERS.items():
        policy, rules = make_policy(name), as_rules(preset)
        counts = points_of_deals(policy, policy, rules, deals, seed)
        shares[preset] = (counts / counts.sum()).astype(np.float32)
        chance = WinChance(shares[preset], rules.target).table
        mean, half = float(shares[preset] @ np.arange(len(counts))), rules.target // 2
        print(
            f"{preset}: {counts.sum()} deals won, {mean:.1f} points; "
            f"ahead {half}:0 {chance[half, 0]:.3f}"
        )
    file = BytesIO()
    np.savez_compressed(file, **shares)
    write_whole(out, file.getvalue())
