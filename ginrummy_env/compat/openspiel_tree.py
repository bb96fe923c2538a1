"""The whole tree of a small deal as a game of OpenSpiel's own, for its exact algorithms.

>>> small = load_tree("nano,turn_bound=1")
>>> solver = pyspiel.CFRPlusSolver(small.game)
>>> for _ in range(10):
...     solver.evaluate_and_update_policy()
>>> pyspiel.exploitability(small.game, solver.average_policy()) < 0.5
True

OpenSpiel holds the tree (its ``efg_game``) and walks it in C++, some hundred times as fast as the
Python states of `openspiel_game`; the game is the same, up to where chance acts (`deal_tree`).
OpenSpiel numbers actions and information states of such a game by itself: `TreeGame` translates.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from ginrummy_env.compat.chance_deal import ACTION_WORDS
from ginrummy_env.compat.deal_tree import CHANCE, MOST_NODES, OVER, DealTree, deal_tree
from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.rules import Rules, as_rules, rules_name

Probabilities = NDArray[np.float64]
"""[G, 108] of each action in each information set of a `DealTree`."""


@dataclass
class TreeGame:
    """A game of OpenSpiel and the tree that it is made of."""

    game: Any
    """The `pyspiel.Game`."""
    tree: DealTree

    @cached_property
    def keys(self) -> list[str]:
        """OpenSpiel's information states, one for each information set of the tree."""
        players = self.tree.player.tolist()
        numbers = _numbers_of(self.tree)
        return [f"{player}-{player}-{each}-" for player, each in zip(players, numbers, strict=True)]

    @cached_property
    def action_numbers(self) -> list[list[int]]:
        """OpenSpiel's numbers of the legal actions of each information set, ours ascending, [G].

        OpenSpiel has numbers of its own for the actions of each information set, in its order.
        """
        table = pyspiel.GetRandomPolicy(self.game, 0).policy_table()
        return [[number for number, _ in table[key]] for key in self.keys]

    def policy(self, probabilities: Probabilities) -> Any:
        """Return a policy as a `pyspiel.TabularPolicy`.

        Args:
            probabilities: [G, 108] of each action; 0 where it is not legal, 1 in all.
        """
        chances = np.split(probabilities[self.tree.legal], self._ends)
        return pyspiel.TabularPolicy(
            {
                key: list(zip(numbers, row.tolist(), strict=True))
                for key, numbers, row in zip(self.keys, self.action_numbers, chances, strict=True)
            }
        )

    def probabilities(self, policy: Any) -> Probabilities:
        """Return what a `pyspiel.TabularPolicy` does in each information set, [G, 108] float64."""
        table = policy.policy_table()
        found = np.zeros(self.tree.legal.shape)
        found[self.tree.legal] = [chance for key in self.keys for _, chance in table[key]]
        return found

    @property
    def _ends(self) -> NDArray[np.int64]:
        """Where the legal actions of each information set end among all, but for the last."""
        return np.cumsum(self.tree.legal.sum(axis=1))[:-1]


def load_tree(rules: str | Rules, dealer: int = 1, most: int = MOST_NODES) -> TreeGame:
    """Return the tree of a deal as a game of OpenSpiel.

    Args:
        rules: of a small deck, such as ``"nano"``.
        dealer: 0 or 1; the other player opens.
        most: nodes of the tree at which it is refused.

    Raises:
        ValueError: the tree is larger, or has no end.
    """
    tree = deal_tree(as_rules(rules), dealer, most)
    game = pyspiel.load_efg_game(_efg(tree))
    return TreeGame(game, tree)


def _numbers_of(tree: DealTree) -> list[int]:
    """Return the number of each information set among its player's, from 1, [G]."""
    firsts = np.searchsorted(tree.player, [0, 1])
    return (np.arange(len(tree.player)) - firsts[tree.player] + 1).tolist()


def _efg(tree: DealTree) -> str:
    """Return a tree in Gambit's format: its nodes in preorder."""
    children = np.lexsort((tree.label, tree.parent))
    sizes = np.bincount(tree.parent + 1, minlength=len(tree.parent) + 1)
    ends = np.cumsum(sizes).tolist()
    children, sizes = children.tolist(), sizes.tolist()
    heads = _decision_lines(tree)
    kinds, sets = tree.kind.tolist(), tree.information_set.tolist()
    points = tree.points.tolist()
    beginnings = sizes[0]
    share = " ".join(f'"{number}" {1 / beginnings:.17g}' for number in range(beginnings))
    name = f"ginrummy_env {rules_name(tree.rules)}"
    lines = [f'EFG 2 R "{name}" {{ "0" "1" }}', f'c "" 1 "" {{ {share} }} 0']
    chance = 1
    waiting = children[: ends[0]][::-1]
    while waiting:
        node = waiting.pop()
        kind = kinds[node]
        after = children[ends[node] : ends[node + 1]]
        if kind == OVER:
            lines.append(f't "" {node + 1} "" {{ {points[node]} {-points[node]} }}')
        elif kind == CHANCE:
            chance += 1
            cards = " ".join(f'"{tree.label[each]}" {1 / len(after):.17g}' for each in after)
            lines.append(f'c "" {chance} "" {{ {cards} }} 0')
        else:
            lines.append(heads[sets[node]])
        waiting += after[::-1]
    return "\n".join(lines) + "\n"


def _decision_lines(tree: DealTree) -> list[str]:
    """Return the line of each information set, [G]."""
    words = [f'"{word}"' for word in ACTION_WORDS[:NUM_ACTIONS]]
    return [
        f'p "" {player + 1} {number} "" {{ '
        + " ".join(words[action] for action in np.flatnonzero(legal).tolist())
        + " } 0"
        for player, number, legal in zip(
            tree.player.tolist(), _numbers_of(tree), tree.legal, strict=True
        )
    ]
