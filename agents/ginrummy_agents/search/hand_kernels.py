"""Hot loops of sampled hands, compiled by numba: exchanges with the stock, and one turn undone.

They do what `worlds` and `evidence` do with arrays, bit for bit: floats are multiplied and added in
the same order. Imported only where `compiled.in_use`.
"""

from typing import Any

import numpy as np

from ginrummy_agents.compiled import kernel_of
from ginrummy_agents.kernels import (
    CARDS,
    EVERY_SUIT,
    POINTS,
    ahead,
    arranged,
    least,
    melds,
    points_of,
)
from ginrummy_agents.rules import discard_kernels
from ginrummy_agents.rules.discard_kernels import candidates_listed, count_of, loose_cards
from ginrummy_agents.rules.next_draw import ADJOINING

_0, _1, _2, _3 = (np.uint64(number) for number in range(4))
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

_kernel = kernel_of(
    (__file__, *discard_kernels.SOURCES), (*discard_kernels.TABLES, POINTS, ADJOINING)
)


@_kernel
def swapped(
    hands: Any, unknown: Any, deck: Any, stock: Any, logs: Any, slopes: Any, chances: Any, fits: Any
) -> None:
    """Exchange cards with the stock as `worlds.sample_worlds` says. Changes hands and deck.

    Args:
        hands: [W] the opponent's.
        unknown: [W] the cards among them that are not known.
        deck: [W, 52] the stock at the end.
        stock: [W] its size.
        logs: [N, 52] logarithms of the cards' weights; W / N worlds for each row.
        slopes: [W] what a point of deadwood takes off.
        chances: [W, S, 3] numbers in [0, 1): which card goes, which one comes.
        fits: [W, S] the least change of the logarithm that is accepted.
    """
    cards = np.empty(11, dtype=np.int64)
    each = len(hands) // len(logs)
    for world in range(len(hands)):
        size, count, row = 0, np.int64(stock[world]), world // each
        for card in range(52):
            if unknown[world] & CARDS[card] != _0:
                cards[size] = card
                size += 1
        if size == 0 or count == 0:
            continue
        hand = hands[world]
        left = points_of(arranged(hand)[0])
        for number in range(chances.shape[1]):
            out_at = int(chances[world, number, 0] * size)
            in_at = 51 - int(chances[world, number, 1] * count)
            out, new = cards[out_at], np.int64(deck[world, in_at])
            other = (hand & ~CARDS[out]) | CARDS[new]
            after = points_of(arranged(other)[0])
            score = logs[row, new] - logs[row, out] - slopes[world] * (after - left)
            if score > fits[world, number]:
                hand, left = other, after
                cards[out_at], deck[world, in_at] = new, out
        hands[world] = hand


@_kernel
def worth(hand: Any, left: Any, unseen: Any, card: Any, theirs: Any, refused: Any, weights: Any,
          counts: Any) -> Any:  # fmt: skip
    """Return what ten cards and throwing one are worth, as far as discards differ."""
    bit = CARDS[card]
    count = max(count_of(unseen), 1)
    total, _, seven, lowest, helps, gins = ahead(hand, left, unseen, 7, counts)
    value = 0.0
    value += left * weights[0]
    value += (left if left < 10 else 10) * weights[1]
    value += count_of(loose_cards(hand, False)) * weights[2]
    value += total / count * weights[3]
    value += seven / 7 * weights[4]
    value += lowest * weights[5]
    value += helps / count * 30 * weights[6]
    value += gins / count * 30 * weights[7]
    gone = _ALL ^ (unseen | theirs)
    down2, down1 = (((gone << _2) | _3) & bit) != _0, (((gone << _1) | _1) & bit) != _0
    up1, up2 = ((gone >> _1) & bit) != _0, ((gone >> _2) & bit) != _0
    blocked = (up1 and (down1 or down2)) or (down1 and (up1 or up2))
    their_down2, their_down1 = ((theirs << _2) & bit) != _0, ((theirs << _1) & bit) != _0
    their_up1, their_up2 = ((theirs >> _1) & bit) != _0, ((theirs >> _2) & bit) != _0
    run = (their_down2 and their_down1) or (their_down1 and their_up1)
    run = run or (their_up1 and their_up2)
    others = (EVERY_SUIT << np.uint64(card % 13)) & ~bit
    rank_theirs, rank_gone = count_of(theirs & others), count_of(gone & others)
    value += POINTS[card] * weights[8]
    value += (1 if run else 0) * weights[9]
    value += (0 if run else their_down1 + their_up1) * weights[10]
    value += (0 if run else their_down2 + their_up2) * weights[11]
    value += (rank_theirs >= 2) * weights[12]
    value += (rank_theirs == 1) * weights[13]
    value += (1 if blocked else 0) * weights[14]
    value += (0 if blocked else down1 + up1) * weights[15]
    value += (0 if blocked else down2 + up2) * weights[16]
    value += (rank_gone >= 2) * weights[17]
    value += (rank_gone == 1) * weights[18]
    value += count_of(ADJOINING[card] & refused) * weights[19]
    return value


@_kernel
def undone(
    hands: Any, source: Any, thrown: Any, taken: Any, offered: Any, upcards: Any, pile: Any,
    known: Any, theirs: Any, refused: Any, full_deck: Any, may_discard_taken: Any, weights: Any,
    uniforms: Any, least_left: Any, dearer: Any, worse: Any, wrong: Any, before: Any,
) -> None:  # fmt: skip
    """Write what `evidence.Undone` says of W hands after one of M turns.

    Args:
        hands: [W] ten cards.
        source: [W] the turn of each.
        thrown, taken, upcards: [M] cards, -1 for none.
        offered: [M] whether the upcard could be taken.
        pile: [M] when they were about to discard.
        known: [M] their cards known before they drew.
        theirs, refused: [M] cards of the searching player that they know, and that the searching
            player threw or left.
        full_deck, may_discard_taken: of the rules.
        weights: [M, 20] see `champion_features.discard_weights`.
        uniforms: [W] which unknown card was drawn.
        least_left, dearer, worse, wrong, before: [W] written.
    """
    counts = np.zeros(256, dtype=np.int64)
    lefts, cards = np.empty(11, dtype=np.int64), np.empty(11, dtype=np.int64)
    for row in range(len(hands)):
        turn, hand = source[row], hands[row]
        if thrown[turn] >= 0:
            hand |= CARDS[thrown[turn]]
            took = CARDS[taken[turn]] if taken[turn] >= 0 else _0
            stays = _0 if may_discard_taken else took
            unseen = full_deck & ~(hand | pile[turn] | theirs[turn])
            size, lowest = candidates_listed(hand, took, stays, cards, lefts)
            best, mine, more = -np.inf, -np.inf, np.inf
            for place in range(size):
                card = cards[place]
                value = worth(
                    hand & ~CARDS[card], lefts[place], unseen, card, theirs[turn],
                    refused[turn], weights[turn], counts,
                )  # fmt: skip
                best = max(best, value)
                if card == thrown[turn]:
                    mine, more = value, float(lefts[place] - lowest)
            least_left[row], dearer[row], worse[row] = lowest, more, best - mine
            if took == _0:
                unknown = hand & ~known[turn]
                for _ in range(int(uniforms[row] * count_of(unknown))):
                    unknown &= unknown - _1
                took = unknown & (~unknown + _1)
            hand &= ~took
        before[row] = hand
        if offered[turn]:
            upcard = CARDS[upcards[turn]]
            wants = melds(hand, upcard) and least(hand | upcard, True) < least(hand, False)
            wrong[row] = wants != (taken[turn] >= 0)
