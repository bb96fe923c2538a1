"""Hot loops of sampled hands, compiled by numba: how they are drawn, and turns undone.

They do what `hands`, `past` and `evidence` do with arrays, bit for bit: floats are multiplied and
added in the same order. Imported only where `compiled.in_use`.
"""

from functools import partial
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
from ginrummy_env.core.actions import DRAW_STOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.chance import GAMMA, MIX_1, MIX_2

_0, _1, _2, _3 = (np.uint64(number) for number in range(4))
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

_GAMMA, _MIX_1, _MIX_2 = (np.uint64(each) for each in (GAMMA, MIX_1, MIX_2))

_kernel = kernel_of(
    (__file__, *discard_kernels.SOURCES), (*discard_kernels.TABLES, POINTS, ADJOINING)
)
_inlined = partial(_kernel, forceinline=True)


@_inlined
def random_bits(key: Any, number: Any) -> Any:
    """Return the random number of a key, as `chance.bits`."""
    z = key + np.uint64(number + 1) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@_inlined
def unit(number: Any) -> Any:
    """Return a number in [0, 1) from random bits."""
    return np.float64(np.int64(number >> np.uint64(11))) * 2.0**-53


@_kernel
def sample(
    hands: Any, decks: Any, unseen: Any, unknown: Any, stock: Any, row_keys: Any, fits: Any,
    weights: Any, logs: Any, slopes: Any, swaps: Any,
) -> None:  # fmt: skip
    """Draw hands and stocks, and exchange cards, as `hands.sample_hands` says.

    Args:
        hands: [W] the opponent's known cards; written: all of theirs.
        decks: [W, 52] written at the end of each.
        unseen, unknown, stock: [N] the unseen cards, how many are the opponent's, how many lie in
            the stock.
        row_keys: [N] from which all chance follows.
        fits: [4096] the least changes of the logarithm that are accepted.
        weights, logs, slopes, swaps: the fields of `hands.Odds`.
    """
    cards = np.empty(52, dtype=np.int64)
    each = len(hands) // max(len(unseen), 1)
    numbers = 52 + 3 * swaps
    for world in range(len(hands)):
        row = world // each
        key, at = row_keys[row], (world % each) * numbers
        size = 0
        for card in range(52):
            if unseen[row] & CARDS[card] != _0:
                cards[size] = card
                size += 1
        hand, held, first = hands[world], unknown[row], 52 - size
        total = np.int64(0)
        for place in range(size):
            total += weights[row, cards[place]]
        left = size
        for number in range(size):
            chance = unit(random_bits(key, at + number))
            if number < held:
                target = np.int64(chance * total)
                place, passed = 0, weights[row, cards[0]]
                while passed <= target:
                    place += 1
                    passed += weights[row, cards[place]]
                total -= weights[row, cards[place]]
            else:
                place = int(chance * left)
            card = cards[place]
            if number < held:
                hand |= CARDS[card]
            decks[world, first + number] = card
            left -= 1
            for later in range(place, left):
                cards[later] = cards[later + 1]
        if held > 0 and stock[row] > 0 and swaps > 0:
            points = points_of(arranged(hand)[0])
            at += 52
            for _ in range(swaps):
                out_at = first + int(unit(random_bits(key, at)) * held)
                in_at = 51 - int(unit(random_bits(key, at + 1)) * stock[row])
                out, new = np.int64(decks[world, out_at]), np.int64(decks[world, in_at])
                other = (hand & ~CARDS[out]) | CARDS[new]
                after = points_of(arranged(other)[0])
                score = logs[row, new] - logs[row, out] - slopes[row] * (after - points)
                if score > fits[np.int64(random_bits(key, at + 2) >> np.uint64(52))]:
                    hand, points = other, after
                    decks[world, out_at], decks[world, in_at] = new, out
                at += 3
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
            mine, more, less = -1, np.inf, np.inf
            for place in range(size):
                if cards[place] == thrown[turn]:
                    mine = place
            if mine >= 0:  # a card not worth a thought is never thrown: no need to weigh others
                more, less = float(lefts[mine] - lowest), 0.0
            if mine >= 0 and size > 1:
                best, value = -np.inf, 0.0
                for place in range(size):
                    card = cards[place]
                    each = worth(
                        hand & ~CARDS[card], lefts[place], unseen, card, theirs[turn],
                        refused[turn], weights[turn], counts,
                    )  # fmt: skip
                    best = max(best, each)
                    if place == mine:
                        value = each
                less = best - value
            least_left[row], dearer[row], worse[row] = lowest, more, less
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


@_kernel
def replay(
    history: Any, sides: Any, first_upcards: Any, masks: Any, upcards: Any, turns: Any, drawn: Any
) -> None:
    """Write what is public before each action, as `past.past_turns` says.

    Args:
        history: [N, H] actions.
        sides: [N, H] whose they are, 0 the opponent's.
        first_upcards: [N].
        masks: [4, H + 1, N, 2] written: cards known, taken, discarded and declined.
        upcards, turns, drawn: [H + 1, N] written.
    """
    for row in range(len(history)):
        upcard, turn, count = np.int64(first_upcards[row]), 0, 0
        upcards[0, row] = upcard
        for step in range(history.shape[1]):
            action, side = np.int64(history[row, step]), np.int64(sides[row, step])
            for mask in range(4):
                for each in range(2):
                    masks[mask, step + 1, row, each] = masks[mask, step, row, each]
            if action < 52:
                masks[0, step + 1, row, side] &= ~CARDS[action]
                masks[2, step + 1, row, side] |= CARDS[action]
                upcard = action
                turn += 1
            elif action == TAKE_UPCARD:
                masks[0, step + 1, row, side] |= CARDS[upcard]
                masks[1, step + 1, row, side] |= CARDS[upcard]
                upcard = np.int64(-1)
            elif (action == DRAW_STOCK or action == PASS) and upcard >= 0:
                masks[3, step + 1, row, side] |= CARDS[upcard]
            if action == DRAW_STOCK:
                count += 1
            upcards[step + 1, row], turns[step + 1, row], drawn[step + 1, row] = upcard, turn, count
