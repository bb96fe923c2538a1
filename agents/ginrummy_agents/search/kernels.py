"""The search's hot loops, compiled by numba: rollouts, and exchanges of cards in sampled hands.

They do what `rollout.roll_out` and `worlds` do with arrays, bit for bit, one deal after another.
Imported only where `compiled.in_use`. The functions have the names of those that they repeat, but
take one hand. Cards are uint64 throughout: with a plain integer numba would make floats of them.
"""

# mypy: disallow_untyped_decorators=False

from typing import Any

import numpy as np
from numba import njit

from ginrummy_agents.rules.work_lists import WORTH
from ginrummy_env.core.cards import CARD_BIT, DEAREST, FULL_DECK, LANE_POINTS
from ginrummy_env.core.melds import EVERY_SUIT as _EVERY_SUIT

EVERY_SUIT, ALL_CARDS = np.uint64(_EVERY_SUIT), np.uint64(FULL_DECK)
CARDS = CARD_BIT[:52].copy()
_0, _1, _2, _16, _32, _48 = (np.uint64(number) for number in (0, 1, 2, 16, 32, 48))
_LANE = np.uint64(0x1FFF)


@njit(cache=True, forceinline=True)
def points_of(hand: Any) -> Any:
    """Return the points of all cards."""
    spades, hearts = LANE_POINTS[hand & _LANE], LANE_POINTS[(hand >> _16) & _LANE]
    diamonds, clubs = LANE_POINTS[(hand >> _32) & _LANE], LANE_POINTS[(hand >> _48) & _LANE]
    return np.int64(spades) + np.int64(hearts) + np.int64(diamonds) + np.int64(clubs)


@njit(cache=True, forceinline=True)
def ranks(hand: Any) -> Any:
    """Return the ranks of which there is a card."""
    either = hand | (hand >> _16)
    return (either | (either >> _32)) & _LANE


@njit(cache=True, forceinline=True)
def ranks_in_pairs(hand: Any) -> Any:
    """Return the ranks of which there are two cards or more."""
    both, either = hand & (hand >> _16), hand | (hand >> _16)
    return (both | (both >> _32) | (either & (either >> _32))) & _LANE


@njit(cache=True, forceinline=True)
def cards_in_threes(hand: Any) -> Any:
    """Return the cards of ranks of which there are three or four."""
    other = hand >> _16
    both, either = hand & other, hand | other
    threes = ((both & (either >> _32)) | ((both >> _32) & either)) & _LANE
    return (threes * EVERY_SUIT) & hand


@njit(cache=True, forceinline=True)
def cards_in_runs(hand: Any) -> Any:
    """Return the cards that belong to a run."""
    lowest = hand & (hand >> _1) & (hand >> _2)
    return lowest | (lowest << _1) | (lowest << _2)


@njit(cache=True, forceinline=True)
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


@njit(cache=True)
def deadwood(hand: Any) -> Any:
    """Return the least deadwood: every choice of sets is tried, one rank after another."""
    best = points_of(hand & ~cards_in_runs(hand))
    threes = ranks(cards_in_threes(hand))
    first = np.zeros(3, dtype=np.uint64)  # the ranks that can make sets: three at most
    count = 0
    while threes != _0:
        lowest = threes & (~threes + _1)
        first[count] = (lowest * EVERY_SUIT) & hand
        threes &= ~lowest
        count += 1
    ways = np.zeros((3, 6), dtype=np.uint64)  # none, all, and all but one
    numbers = np.ones(3, dtype=np.int64)
    for place in range(count):
        cards = first[place]
        ways[place, 1] = cards
        numbers[place] = 2
        left = cards
        while left != _0:
            one = left & (~left + _1)
            left &= ~one
            other = cards & ~one
            if cards_in_threes(other) != _0:
                ways[place, numbers[place]] = other
                numbers[place] += 1
    for a in range(numbers[0]):
        for b in range(numbers[1]):
            for c in range(numbers[2]):
                rest = hand & ~(ways[0, a] | ways[1, b] | ways[2, c])
                best = min(best, points_of(rest & ~cards_in_runs(rest)))
    return best


@njit(cache=True)
def least_discard(hand: Any, stays: Any) -> Any:
    """Return the least deadwood that a discard leaves, and the dearest card that leaves it."""
    least, points, chosen = 1000, -1, _0
    left = hand & ~stays
    while left != _0:
        card = left & (~left + _1)
        left &= ~card
        after, worth = deadwood(hand & ~card), points_of(card)
        if after < least or (after == least and worth > points):
            least, points, chosen = after, worth, card
    return least, chosen


@njit(cache=True)
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


@njit(cache=True, forceinline=True)
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


@njit(cache=True, forceinline=True)
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


@njit(cache=True, forceinline=True)
def melds(hand: Any, card: Any) -> Any:
    """Return whether a card makes a meld with ten others."""
    eleven = hand | card
    return ((cards_in_runs(eleven) | cards_in_threes(eleven)) & card) != _0


@njit(cache=True, forceinline=True)
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


@njit(cache=True)
def roll_out(
    mine: Any, theirs: Any, upcards: Any, piles: Any, deck: Any, world: Any, stock: Any, turns: Any,
    my_move: Any, may_take: Any, must_take: Any, may_pass: Any, limits: Any, waits: Any,
    me: Any, opponent: Any, void_stock: Any, bound: Any, may_discard_taken: Any, off_gin: Any,
    deadwoods: Any, knocker: Any,
) -> None:  # fmt: skip
    """Play every deal to its end.

    Args:
        mine, ..., waits: [R] the columns of `rollout.Starts`, the decks flat; what may and must be
            done with the first upcard in place of ``first``.
        me, opponent: [5] the fields of a `Style`.
        void_stock, bound, may_discard_taken, off_gin: of the rules.
        deadwoods: [R, 3] written where somebody knocked: `quick_deadwoods`.
        knocker: [R] written: 1 the searching player knocked, 0 the opponent did, -1 void.
    """
    for row in range(len(mine)):
        mover = my_move[row]
        own, other = (mine[row], theirs[row]) if mover else (theirs[row], mine[row])
        own_left, other_left = points_of(arranged(own)[0]), points_of(arranged(other)[0])
        upcard, pile, turn, first = upcards[row], piles[row], turns[row], True
        end = (world[row] + 1) * 52
        place = end - stock[row]
        end -= void_stock
        while True:
            style = me if mover else opponent
            alone, weak = style[3], style[4]
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
                place += 1
                least, best, chosen, after = best_discard(eleven, _0, pile, alone, weak)
            style = me if mover else opponent
            wish = style[1] if turn // 2 + 1 <= style[0] else style[2]
            if not mover and waits[row]:
                wish = 0
            knocks = least <= min(wish, limits[row])
            thrown = best if knocks else chosen
            own = eleven & ~thrown
            pile |= thrown
            turn += 1
            if knocks:
                left, rest, without = quick_deadwoods(own, other, off_gin)
                deadwoods[row, 0], deadwoods[row, 1], deadwoods[row, 2] = left, rest, without
                knocker[row] = 1 if mover else 0
                break
            if place >= end or turn >= bound:
                knocker[row] = -1
                break
            own, other = other, own
            own_left, other_left = other_left, after
            mover = not mover
            upcard = thrown
            first = False


@njit(cache=True)
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
