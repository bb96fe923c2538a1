"""Everything that can happen in a deal of a small game, walked level by level in batches.

    tree = deal_tree(as_rules("nano"))
    tree.kind, tree.parent, tree.points     # one entry for each history
    for level in walk(as_rules("nano")):    # the same, with the states of each level
        level.state

The tree is that of the game `openspiel_game`, but chance deals the hands and the upcard at once,
and a stock of one card is drawn from without chance. Every history is one node; positions that a
player cannot tell apart have the same number in ``seen``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.compat.chance_deal import ACTION_WORDS, CARD_WORDS
from ginrummy_env.core.actions import DRAW_STOCK
from ginrummy_env.core.cards import NO_CARD, NUM_CARDS, cards_of, format_hand
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import NOBODY, NUM_PLAYERS, BatchState, concatenate
from ginrummy_env.core.step import step
from ginrummy_env.core.types import Flags, Hands, Int8, Points, Rows

Numbers = NDArray[np.int64]

CHANCE, OVER = 2, 3
"""Kinds of nodes besides 0 and 1, a decision of that player."""

MOST_NODES = 2_000_000
"""A tree that grows larger is refused."""

_DRAWN = 256
"""In what a player sees, their own draw of card c is ``_DRAWN + c``; all else is the action."""
_CODES = 512


@dataclass(slots=True)
class Level:
    """The nodes after the same number of actions: M decisions and ended deals, and C of chance."""

    state: BatchState
    """M rows."""
    nodes: Numbers
    """[M] the number of each in the tree; those of chance come before, up to ``nodes[0]``."""
    parent: Numbers
    """[M] the node before, -1 at the beginning."""
    label: Numbers
    """[M] what led here: the action of a decision, the card of a chance node; the deal at first."""
    seen: Numbers
    """[M, 2] the number of what each player has seen."""
    chance_parent: Numbers
    """[C] the decision to draw before each chance node."""


@dataclass(slots=True)
class Seen:
    """What one player may have seen, S different things, each one step more than another."""

    hands: Hands
    """[B] uint64, the hand of each beginning."""
    upcards: Int8
    """[B] its upcard. Beginnings have the numbers 0 to B - 1."""
    parent: Numbers
    """[S] what was seen before; -1 at a beginning."""
    code: Numbers
    """[S] what came then: an action, or ``256 + card`` for a card that they drew."""

    def words(self, player: int) -> list[str]:
        """Return each in the words of an information state of `openspiel_game`."""
        words = [
            f"player {player}, {format_hand(hand)}, upcard {CARD_WORDS[upcard]}"
            for hand, upcard in zip(self.hands, self.upcards.tolist(), strict=True)
        ]
        first = len(words)
        codes = zip(self.parent[first:].tolist(), self.code[first:].tolist(), strict=True)
        for parent, code in codes:
            drawn = code >= _DRAWN
            word = f"draw {CARD_WORDS[code - _DRAWN]}" if drawn else ACTION_WORDS[code]
            words.append(f"{words[parent]}, {word}")
        return words


class Walk:
    """A walk of the tree; iterate over it once. ``seen`` grows with it."""

    def __init__(self, rules: Rules, dealer: int = 1, most: int = MOST_NODES) -> None:
        """Prepare to walk.

        Args:
            rules: of a small deck, with a turn bound.
            dealer: 0 or 1.
            most: nodes at which the walk is given up.

        Raises:
            ValueError: rules whose tree is larger, or without end.
        """
        self._rules, self._dealer, self._most = rules, dealer, most
        if rules.turn_bound is None:
            raise ValueError("turn_bound=None: the tree of such a deal has no end")
        cards, size = rules.num_cards, rules.hand_size
        deals = comb(cards, size) * comb(cards - size, size) * (cards - 2 * size)
        if deals > most:
            raise _too_large(rules, f"{deals:,} beginnings", most)
        self._parents: list[list[Numbers]] = [[], []]
        self._codes: list[list[Numbers]] = [[], []]
        self._hands: list[tuple[Hands, Int8]] = []
        self.count = 0

    def __iter__(self) -> Iterator[Level]:
        """Walk; see `Level`.

        Raises:
            ValueError: the tree is too large.
        """
        level = self._beginnings()
        while len(level.state):
            yield level
            level = self._next(level)

    @property
    def seen(self) -> tuple[Seen, Seen]:
        """What players 0 and 1 have seen, so far as the tree has been walked."""
        mine, theirs = (
            Seen(hands, upcards, np.concatenate(parents), np.concatenate(codes))
            for (hands, upcards), parents, codes in zip(
                self._hands, self._parents, self._codes, strict=True
            )
        )
        return mine, theirs

    def _beginnings(self) -> Level:
        rules = self._rules
        decks = _decks(rules)
        dealers = np.full(len(decks), self._dealer)
        state = new_games(0, np.arange(len(decks)), rules, dealers=dealers, decks=decks)
        seen = np.zeros((len(decks), NUM_PLAYERS), dtype=np.int64)
        for player in range(NUM_PLAYERS):
            both = np.stack([state.hands[:, player], state.first_upcard.astype(np.uint64)], axis=1)
            unique, seen[:, player] = np.unique(both, axis=0, return_inverse=True)
            self._hands.append((unique[:, 0].copy(), unique[:, 1].astype(np.int8)))
            nothing = np.full(len(unique), -1, dtype=np.int64)
            self._parents[player].append(nothing)
            self._codes[player].append(nothing)
        self.count = len(decks)
        numbers = np.arange(len(decks))
        return Level(state, numbers, np.full(len(decks), -1), numbers, seen, numbers[:0])

    def _next(self, level: Level) -> Level:
        rules, state = self._rules, level.state
        masks = action_masks(state, rules)
        rows, actions = np.nonzero(masks)
        stock = state.stock_count[rows].astype(np.int64)
        draws = actions == DRAW_STOCK
        by_chance = np.flatnonzero(draws & (stock > 1))
        chance_nodes = self.count + np.arange(len(by_chance))
        # One child for each action; of a draw by chance, one for each card of the stock.
        times = np.where(draws, stock, 1)
        edges = np.repeat(np.arange(len(rows)), times)
        place = np.arange(len(edges)) - np.repeat(np.cumsum(times) - times, times)
        parent = level.nodes[rows]
        parent[by_chance] = chance_nodes
        self.count += len(by_chance) + len(edges)
        if self.count > self._most:
            raise _too_large(rules, "more", self._most)
        nodes = self.count - len(edges) + np.arange(len(edges))
        source, action = rows[edges], actions[edges]
        after = state.select(source)
        cards = _turn_up(after, np.flatnonzero(draws[edges]), place[draws[edges]])
        mover = after.player.copy()
        step(after, action.astype(np.int16), rules)
        seen = self._see(level.seen[source], mover, action, cards)
        label = np.where(np.isin(edges, by_chance), cards, action)
        return Level(after, nodes, parent[edges], label, seen, level.nodes[rows[by_chance]])

    def _see(self, before: Numbers, mover: Int8, action: Numbers, cards: Numbers) -> Numbers:
        """Return what the players have seen after an action, [M, 2]."""
        seen = np.empty_like(before)
        for player in range(NUM_PLAYERS):
            shown = (action == DRAW_STOCK) & (mover == player)
            codes = np.where(shown, _DRAWN + cards, action)
            unique, numbers = np.unique(before[:, player] * _CODES + codes, return_inverse=True)
            seen[:, player] = sum(map(len, self._parents[player])) + numbers
            self._parents[player].append(unique // _CODES)
            self._codes[player].append(unique % _CODES)
        return seen


def walk(rules: Rules, dealer: int = 1, most: int = MOST_NODES) -> Iterator[Level]:
    """Walk the whole tree of a deal; see `Walk`."""
    return iter(Walk(rules, dealer, most))


def _too_large(rules: Rules, what: str, most: int) -> ValueError:
    return ValueError(
        f"the tree of rules {rules_name(rules)} is too large to be walked: {what}, at most "
        f"{most:,} nodes are allowed; a smaller deck, smaller hands or a lower turn_bound make it "
        "smaller"
    )


def _decks(rules: Rules) -> NDArray[np.int8]:
    """Return one deck for each way to deal the hands and the upcard, [D, num_cards] int8."""
    cards, size = cards_of(rules.full_deck), rules.hand_size
    decks = []
    for first in combinations(cards, size):
        others = [card for card in cards if card not in first]
        for second in combinations(others, size):
            dealt = [card for pair in zip(first, second, strict=True) for card in pair]
            rest = [card for card in others if card not in second]
            decks += [[*dealt, up, *(card for card in rest if card != up)] for up in rest]
    return np.array(decks, dtype=np.int8)


def _turn_up(state: BatchState, rows: Rows, places: Rows) -> Numbers:
    """Make the card at a place of the stock its next one in some rows.

    Returns:
        [M] the card in these rows, else NO_CARD.
    """
    cards = np.full(len(state), NO_CARD, dtype=np.int64)
    top = NUM_CARDS - state.stock_count[rows].astype(np.int64)
    chosen = state.deck[rows, top + places].copy()
    state.deck[rows, top + places] = state.deck[rows, top]
    state.deck[rows, top] = chosen
    cards[rows] = chosen
    return cards


@dataclass(slots=True)
class DealTree:
    """The tree of a deal: T nodes, one for each history.

    Decisions of a player that look alike to them are one information set, of which there are G:
    those of player 0 first, each with the actions that are legal in it.
    """

    rules: Rules
    dealer: int
    kind: Int8
    """[T] 0 or 1: a decision of that player; CHANCE; or OVER."""
    parent: Numbers
    """[T] the node before, -1 at the beginning."""
    label: Numbers
    """[T] what led here: an action, the card of a chance node, or the number of the beginning."""
    points: Points
    """[T] int16, what player 0 gets where the deal is over."""
    outcome: Int8
    """[T] how it is over: `Outcome`."""
    information_set: Numbers
    """[T] of a decision, else -1."""
    player: Int8
    """[G] whose each information set is."""
    legal: Flags
    """[G, 108] the actions that are legal in it."""
    seen: Numbers
    """[G] what its player has seen, by its place in ``words``."""
    words: tuple[list[str], list[str]]
    """What each player may have seen, as information states of `openspiel_game`."""
    states: BatchState
    """G rows: one of the histories of each information set. Its player may see only their view."""

    @property
    def information_states(self) -> list[str]:
        """The information sets in words, [G]."""
        numbers = zip(self.player.tolist(), self.seen.tolist(), strict=True)
        return [self.words[player][seen] for player, seen in numbers]


def deal_tree(rules: Rules, dealer: int = 1, most: int = MOST_NODES) -> DealTree:
    """Walk the tree of a deal and return it.

    Args:
        rules: of a small deck, such as the preset "nano".
        dealer: 0 or 1; the other player opens.
        most: nodes at which it is given up.

    Raises:
        ValueError: the tree is larger, or has no end.
    """
    walking = Walk(rules, dealer, most)
    kinds: list[Int8] = []
    parents: list[Numbers] = []
    labels: list[Numbers] = []
    points: list[Points] = []
    outcomes: list[Int8] = []
    keys: list[Numbers] = []  # what was seen and by whom in one number; -1 of no decision
    examples: list[BatchState] = []  # one history of each information set
    sets: list[Numbers] = []  # and the key of each
    for level in walking:
        state, chance = level.state, len(level.chance_parent)
        over, rows = state.over, np.arange(len(state))
        kinds += [np.full(chance, CHANCE, np.int8), np.where(over, OVER, state.player)]
        parents += [level.chance_parent, level.parent]
        labels += [np.full(chance, DRAW_STOCK), level.label]
        won = np.where(state.winner == 0, state.points, -state.points)
        points += [np.zeros(chance, np.int16), np.where(state.winner == NOBODY, 0, won)]
        outcomes += [np.zeros(chance, np.int8), state.outcome]
        key = np.where(over, -1, 2 * level.seen[rows, state.player] + state.player)
        keys += [np.full(chance, -1), key]
        unique, first = np.unique(key, return_index=True)
        sets.append(unique[unique >= 0])
        examples.append(state.select(first[unique >= 0]))
    key, found = np.concatenate(keys), np.concatenate(sets)
    order = np.lexsort((found, found % 2))
    number = np.full(int(found.max()) + 1, -1)
    number[found[order]] = np.arange(len(found))
    states = concatenate(examples).select(order)
    mine, theirs = walking.seen
    return DealTree(
        rules=rules,
        dealer=dealer,
        kind=np.concatenate(kinds).astype(np.int8),
        parent=np.concatenate(parents),
        label=np.concatenate(labels),
        points=np.concatenate(points),
        outcome=np.concatenate(outcomes),
        information_set=np.where(key < 0, -1, number[key]),
        player=states.player.copy(),
        legal=action_masks(states, rules),
        seen=found[order] // 2,
        words=(mine.words(0), theirs.words(1)),
        states=states,
    )
