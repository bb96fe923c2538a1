"""Hot loops compiled by numba: what the next draw would leave, rollouts.

They do what `rules.next_draw` and `search.rollout` do with arrays, bit for bit, one hand or deal
after another. Imported only where `compiled.in_use`. The functions have the names
of those that they repeat, but take one hand. Cards are uint64 throughout: with a plain integer
numba would make floats of them. Those of sampled hands are in `search.hand_kernels`.
"""

from functools import partial
from typing import Any

import numpy as np

from ginrummy_agents.compiled import kernel_of
from ginrummy_agents.tables import WORTH
from ginrummy_env.core.cards import CARD_BIT, DEAREST, FULL_DECK, LANE_POINTS
from ginrummy_env.core.cards import POINTS as _POINTS
from ginrummy_env.core.melds import EVERY_SUIT as _EVERY_SUIT

EVERY_SUIT, ALL_CARDS = np.uint64(_EVERY_SUIT), np.uint64(FULL_DECK)
CARDS, POINTS = CARD_BIT[:52].copy(), _POINTS.astype(np.int64)
_0, _1, _2, _16, _32, _48 = (np.uint64(number) for number in (0, 1, 2, 16, 32, 48))
_LANE = np.uint64(0x1FFF)
_NONE = np.int64(0)

TABLES = (LANE_POINTS, DEAREST, WORTH, CARDS, POINTS, EVERY_SUIT, ALL_CARDS)
_kernel = kernel_of((__file__,), TABLES)
_inlined = partial(_kernel, forceinline=True)


@_inlined
def points_of(hand: Any) -> Any:
    """Return the points of all cards."""
    spades, hearts = LANE_POINTS[hand & _LANE], LANE_POINTS[(hand >> _16) & _LANE]
    diamonds, clubs = LANE_POINTS[(hand >> _32) & _LANE], LANE_POINTS[(hand >> _48) & _LANE]
    return np.int64(spades) + np.int64(hearts) + np.int64(diamonds) + np.int64(clubs)


@_inlined
def ranks(hand: Any) -> Any:
    """Return the ranks of which there is a card."""
    either = hand | (hand >> _16)
    return (either | (either >> _32)) & _LANE


@_inlined
def ranks_in_pairs(hand: Any) -> Any:
    """Return the ranks of which there are two cards or more."""
    both, either = hand & (hand >> _16), hand | (hand >> _16)
    return (both | (both >> _32) | (either & (either >> _32))) & _LANE


@_inlined
def cards_in_threes(hand: Any) -> Any:
    """Return the cards of ranks of which there are three or four."""
    other = hand >> _16
    both, either = hand & other, hand | other
    threes = ((both & (either >> _32)) | ((both >> _32) & either)) & _LANE
    return (threes * EVERY_SUIT) & hand


@_inlined
def cards_in_runs(hand: Any) -> Any:
    """Return the cards that belong to a run."""
    lowest = hand & (hand >> _1) & (hand >> _2)
    return lowest | (lowest << _1) | (lowest << _2)


@_inlined
def arranged(hand: Any) -> Any:
    """Return the cards left over by a good arrangement, and those in its sets."""
    runs, sets = cards_in_runs(hand), cards_in_threes(hand)
    if runs & sets == _0:
        return hand & ~(runs | sets), sets
    rest = hand & ~sets
    loose_1 = rest & ~cards_in_runs(rest)  # sets first
    rest = hand & ~runs
    sets_2 = cards_in_threes(rest)  # runs first
    loose_2 = rest & ~sets_2
    if points_of(loose_1) < points_of(loose_2):
        return loose_1, sets
    return loose_2, sets_2


@_inlined
def threes_of(hand: Any) -> Any:
    """Return the cards of each rank of which there are three or four, for up to three ranks."""
    threes = ranks(cards_in_threes(hand))
    lowest = threes & (~threes + _1)
    threes &= ~lowest
    middle = threes & (~threes + _1)
    first, second = (lowest * EVERY_SUIT) & hand, (middle * EVERY_SUIT) & hand
    return first, second, ((threes & ~middle) * EVERY_SUIT) & hand


@_inlined
def ways(cards: Any) -> Any:
    """Return in how many ways the cards of a rank, 0, 3 or 4, can be used for a set or not."""
    if cards == _0:
        return 1
    rest = cards & (cards - _1)
    rest &= rest - _1
    return 2 if rest & (rest - _1) == _0 else 6


@_inlined
def way(cards: Any, number: Any) -> Any:
    """Return the set: none, all cards, or all but one of four."""
    if number == 0:
        return _0
    if number == 1:
        return cards
    left = cards
    for _ in range(number - 2):
        left &= left - _1
    return cards & ~(left & (~left + _1))


@_inlined
def left_of(hand: Any, free: Any) -> Any:
    """Return the points of cards in no run; with ``free`` less those of the dearest of them."""
    loose = hand & ~cards_in_runs(hand)
    points = points_of(loose)
    return points - np.int64(DEAREST[ranks(loose)]) if free else points


@_kernel
def least(hand: Any, free: Any) -> Any:
    """Return the least deadwood; with ``free``, after the best discard of a hand of ten or eleven.

    Every choice of sets is tried: three ranks at most, with up to six ways each. Where all cards of
    such a hand are melded, a meld of four or more can spare one.
    """
    best = left_of(hand, free)
    first, second, third = threes_of(hand)
    if first == _0:
        return best
    for a in range(ways(first)):
        for b in range(ways(second)):
            for c in range(ways(third)):
                sets = way(first, a) | way(second, b) | way(third, c)
                best = min(best, left_of(hand & ~sets, free))
    return best


@_inlined
def melding_cards(hand: Any) -> Any:
    """Return the cards not held that would be in some meld with cards of the hand."""
    below, above = hand << _1, hand >> _1
    runs = (below & above) | (below & (hand << _2)) | (above & (hand >> _2))
    return (runs | (ranks_in_pairs(hand) * EVERY_SUIT)) & ALL_CARDS & ~hand


@_kernel
def ahead(hand: Any, left: Any, unseen: Any, best: Any, counts: Any) -> Any:
    """Return the six numbers that `draws_ahead` writes; ``counts`` [256] is room for it."""
    nine = least(hand, True)
    melding = melding_cards(hand)
    counts[:] = 0
    total, helps = _NONE, _NONE
    for card in range(52):
        bit = CARDS[card]
        if unseen & bit != _0:
            if melding & bit != _0:
                value = least(hand | bit, True)
            else:
                value = min(left, nine + POINTS[card])
            counts[value] += 1
            total += value
            helps += value < left
    seen, some, seven, lowest = _NONE, _NONE, _NONE, np.int64(-1)
    for value in range(256):
        if counts[value]:
            if lowest < 0:
                lowest = np.int64(value)
            some += value * max(min(counts[value], best - seen), 0)
            seven += value * max(min(counts[value], 7 - seen), 0)
            seen += counts[value]
            if seen >= best and seen >= 7:
                break
    if seen < 7:
        seven += left * (7 - seen)
        lowest = left if lowest < 0 else min(lowest, left)
    return total, some, seven, lowest, helps, counts[0]


@_kernel
def draws_ahead(hands: Any, lefts: Any, unseens: Any, best: Any, found: Any) -> None:
    """Write what the next draw could leave, over the unseen cards.

    Args:
        hands: [P] ten cards.
        lefts: [P] their least deadwood.
        unseens: [P] the cards that may come.
        best: how many of the lowest values are added up.
        found: [P, 6] written: the sum of all values, of the ``best`` lowest, of the 7 lowest (the
            deadwood now for each that is missing), the lowest of these, how many values are below
            the deadwood now, and how many are 0.
    """
    counts = np.zeros(256, dtype=np.int64)
    for row in range(len(hands)):
        found[row] = ahead(hands[row], np.int64(lefts[row]), unseens[row], best, counts)


@_kernel
def least_discard(hand: Any, stays: Any) -> Any:
    """Return the least deadwood that a discard leaves, and the dearest card that leaves it."""
    lowest, points, chosen = 1000, -1, _0
    left = hand & ~stays
    while left != _0:
        card = left & (~left + _1)
        left &= ~card
        after, worth = least(hand & ~card, False), points_of(card)
        if after < lowest or (after == lowest and worth > points):
            lowest, points, chosen = after, worth, card
    return lowest, chosen


@_kernel
def spared(hand: Any, stays: Any) -> Any:
    """Return what is left after throwing a card that a meld can spare, and the card."""
    low = hand & (hand >> _1) & (hand >> _2)
    first_of_four = low & (low >> _1) & ~(low << _1)
    both = hand & (hand >> _16)
    fours = (both & (both >> _32) & _LANE) * EVERY_SUIT
    cards = (first_of_four | fours) & ~stays
    card = cards & (~cards + _1)
    left = points_of(arranged(hand & ~card)[0])
    if card == _0 or left > 0:
        return least_discard(hand, stays)
    return left, card


@_inlined
def connected(loose: Any, coming: Any) -> Any:
    """Return the cards that could make a meld, and those with two ways or more."""
    one, two = loose & (loose >> _1), loose & (loose >> _2)
    below, above = one & (coming << _1), one & (coming >> _2)
    inside = two & (coming >> _1)
    either, both = below | above, below & above
    near = either | (either << _1)
    far = inside | (inside << _2)
    pairs = ranks_in_pairs(loose)
    same = ((pairs & ranks(coming)) * EVERY_SUIT) & loose
    strong = both | (both << _1) | (((pairs & ranks_in_pairs(coming)) * EVERY_SUIT) & loose)
    strong |= (near & far) | (same & (near | far)) | (either & (either << _1))
    return near | far | same, strong


@_inlined
def best_discard(hand: Any, stays: Any, gone: Any, alone: Any, weak: Any) -> Any:
    """Return least deadwood, a card that leaves it, the card that goes, and deadwood then."""
    loose = arranged(hand)[0]
    may_go = loose & ~stays
    if may_go == _0:
        least, card = spared(hand, stays)
        return least, card, card, least
    left = points_of(loose)
    top = np.int64(DEAREST[ranks(may_go)])
    best = may_go & WORTH[top]
    paired, strong = connected(loose, ALL_CARDS & ~(gone | hand))
    points, chosen = top, best
    cards = may_go & ~strong
    if cards != _0:
        dear = np.int64(DEAREST[ranks(cards)])
        if dear + weak >= top:
            points, chosen = dear, cards & WORTH[dear]
    cards = may_go & ~paired
    if cards != _0:
        dear = np.int64(DEAREST[ranks(cards)])
        if dear + alone >= top:
            points, chosen = dear, cards & WORTH[dear]
    return left - top, best & (~best + _1), chosen & (~chosen + _1), left - points


@_inlined
def melds(hand: Any, card: Any) -> Any:
    """Return whether a card makes a meld with ten others."""
    eleven = hand | card
    return ((cards_in_runs(eleven) | cards_in_threes(eleven)) & card) != _0


@_inlined
def quick_deadwoods(knocker: Any, defender: Any, off_gin: Any) -> Any:
    """Return the knocker's deadwood, the defender's after lay-offs, and without them."""
    loose, sets = arranged(knocker)
    left = points_of(loose)
    defender_loose, defender_sets = arranged(defender)
    alone = points_of(defender_loose)
    rest = alone
    if left > 0 or off_gin:
        runs = knocker & ~loose & ~sets
        fourths = (ranks(cards_in_threes(sets)) * EVERY_SUIT) & ~sets
        for kept in (defender & ~defender_sets, defender):
            joined = kept | runs
            rest = min(rest, points_of(joined & ~cards_in_runs(joined) & ~fourths))
    return left, rest, alone


@_kernel
def roll_out(
    mine: Any, theirs: Any, upcards: Any, piles: Any, deck: Any, world: Any, cuts: Any, stock: Any,
    turns: Any, my_move: Any, may_take: Any, must_take: Any, may_pass: Any, limits: Any,
    manner: Any, knock_from: Any, slack: Any, void_stock: Any, bound: Any, may_discard_taken: Any,
    off_gin: Any, deadwoods: Any, knocker: Any,
) -> None:  # fmt: skip
    """Play every deal to its end.

    Args:
        mine, ..., manner: [R] the columns of `rollout.Starts`, the decks flat; what may and must be
            done with the first upcard in place of ``first``; the opponent's style counted from 1.
        knock_from, slack: [S, T], [S, 2] the styles, the searching player's first.
        void_stock, bound, may_discard_taken, off_gin: of the rules.
        deadwoods: [R, 3] written where somebody knocked: `quick_deadwoods`.
        knocker: [R] written: 1 the searching player knocked, 0 the opponent did, -1 void.
    """
    for row in range(len(mine)):
        mover = my_move[row]
        own, other = (mine[row], theirs[row]) if mover else (theirs[row], mine[row])
        own_left, other_left = points_of(arranged(own)[0]), points_of(arranged(other)[0])
        upcard, pile, turn, first = upcards[row], piles[row], turns[row], True
        bottom, top = (world[row] + 1) * 52, (world[row] + 1) * 52 - stock[row]
        place, left_in_stock = top + cuts[row], stock[row]
        while True:
            style = 0 if mover else manner[row]
            alone, weak = np.int64(slack[style, 0]), np.int64(slack[style, 1])
            wanted = melds(own, upcard)
            if first:
                wanted = (wanted and may_take[row]) or must_take[row]
            accepted = False
            eleven = own | upcard
            if wanted:
                stays = _0 if may_discard_taken else upcard
                least, best, chosen, after = best_discard(eleven, stays, pile, alone, weak)
                accepted = least < own_left or (first and must_take[row])
            if accepted:
                pile &= ~upcard
            else:
                if first and may_pass[row]:
                    own, other = other, own
                    own_left, other_left = other_left, own_left
                    mover = not mover
                eleven = own | CARDS[deck[place]]
                place = place + 1 if place + 1 < bottom else top
                left_in_stock -= 1
                least, best, chosen, after = best_discard(eleven, _0, pile, alone, weak)
            style = 0 if mover else manner[row]
            wish = knock_from[style, min(turn // 2, knock_from.shape[1] - 1)]
            knocks = (least == 0 or least >= wish) and least <= limits[row]
            thrown = best if knocks else chosen
            own = eleven & ~thrown
            pile |= thrown
            turn += 1
            if knocks:
                left, rest, without = quick_deadwoods(own, other, off_gin)
                deadwoods[row, 0], deadwoods[row, 1], deadwoods[row, 2] = left, rest, without
                knocker[row] = 1 if mover else 0
                break
            if left_in_stock <= void_stock or turn >= bound:
                knocker[row] = -1
                break
            own, other = other, own
            own_left, other_left = other_left, after
            mover = not mover
            upcard = thrown
            first = False
