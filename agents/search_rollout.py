"""Deals played to their end by fast rules, hundreds of thousands at once.

A rollout starts in a full state that somebody made up (a sampled world), so both sides may be moved
by what is known of it; each still decides by its own hand and the upcard alone. Cards are bit masks
throughout, the side to move and the other change places after every turn, and deals that have ended
leave the batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.choose import DEAREST, WORTH, dearest, least_discards, ranks
from ginrummy_env.core.cards import CARD_BIT, LANE_POINTS, NUM_CARDS, Hands, Points, Rows, lanes
from ginrummy_env.core.deadwood import deadwood, lane_sum
from ginrummy_env.core.layoff import defender_deadwood, knocker_arrangement
from ginrummy_env.core.melds import EVERY_SUIT, cards_in_runs, ranks_in_threes
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import DEFENDER, KNOCKER, NO_SIDE, score_gin, score_knock
from ginrummy_env.core.state import Outcome
from ginrummy_env.core.step import may_lay_off

Flags = NDArray[np.bool_]

FREE, STOCK, TAKE, OPENING = range(4)
"""How the first card is drawn: by the side's rule, from the stock, from the pile, or, for the
second player asked in the opening, from the pile if he wants it, else the other's turn."""

_1, _2, _16, _32 = (np.uint64(shift) for shift in (1, 2, 16, 32))


@dataclass(frozen=True, slots=True)
class Style:
    """How a side plays in rollouts.

    It takes the upcard iff that is melded and lowers its deadwood; throws the dearest loose card,
    or one without neighbours if that costs at most ``slack`` points; knocks with ``knock`` or less
    in its first ``knock_turns`` turns and with ``later`` or less afterwards (0: gin).
    """

    knock_turns: int = 0
    knock: int = 98
    later: int = 0
    slack: int = 4


@dataclass(slots=True)
class Starts:
    """R positions to play on from, seen from the searching player's side."""

    mine: Hands  # [R] uint64, ten cards
    his: Hands  # [R] uint64, ten cards
    upcard: Hands  # [R] uint64, one bit; 0 if it is not on offer
    pile: Hands  # [R] uint64, the discard pile with the upcard
    deck: NDArray[np.int8]  # [W, 52] the decks of the worlds
    world: Rows  # [R] the deck of each
    stock: NDArray[np.int64]  # [R] cards left in the stock
    turn: NDArray[np.int64]  # [R] discards made
    my_move: Flags  # [R]
    first: NDArray[np.int8]  # [R] FREE, STOCK, TAKE or OPENING
    limit: Points  # [R] int16, knock limit
    doubled: Flags  # [R] whether the points count twice

    def __len__(self) -> int:
        """Return R."""
        return len(self.mine)

    def select(self, rows: Rows) -> "Starts":
        """Return some of the positions, with all decks."""
        part = {
            each.name: getattr(self, each.name)[rows]
            for each in fields(self)
            if each.name != "deck"
        }
        return Starts(deck=self.deck, **part)


@dataclass(slots=True)
class Ends:
    """How R rollouts ended."""

    points: Points  # [R] int16, what I won less what he won
    outcome: NDArray[np.int8]  # [R] Outcome
    i_knocked: Flags  # [R]


def best_discards(
    hands: Hands, stays: Hands, slack: NDArray[np.int64] | int
) -> tuple[Points, Points, Hands, Hands]:
    """Return what a discard can leave, and which card goes.

    Args:
        hands: [K] uint64, eleven cards.
        stays: [K] uint64, the card that may not go, or 0.
        slack: points that may be lost to keep cards with neighbours.

    Returns:
        (least deadwood [K] int16, deadwood after the chosen discard [K] int16, a card that leaves
        the least [K] uint64, the chosen card [K] uint64).
    """
    runs = cards_in_runs(hands)
    sets = (ranks_in_threes(hands) * EVERY_SUIT) & hands
    # A set that shares no card with a run is laid down in some best arrangement: without it three
    # cards are loose, of which one can go.
    loose = hands & ~(runs | sets)
    left = lane_sum(LANE_POINTS.take(lanes(loose))).astype(np.int16)
    may_go = loose & ~stays
    top = DEAREST.take(ranks(may_go))
    best = may_go & WORTH.take(top)
    best &= ~best + _1  # the lowest bit
    least = left - top
    # Cards that could become a meld with another loose card.
    pairs = loose & (loose >> _16)
    near = (loose << _1) | (loose >> _1) | (loose << _2) | (loose >> _2)
    either = loose | (loose >> _16)
    two = (pairs | (pairs >> _32) | (either & (either >> _32))) & np.uint64(0x1FFF)
    alone = may_go & ~(near | two * EVERY_SUIT)
    alone_top = DEAREST.take(ranks(alone))
    chosen = alone & WORTH.take(alone_top)
    chosen &= ~chosen + _1
    use = (chosen != 0) & (alone_top.astype(np.int64) + slack >= top)
    chosen = np.where(use, chosen, best)
    after = left - np.where(use, alone_top, top)
    hard = np.flatnonzero(((runs & sets) != 0) | (may_go == 0))
    if hard.size:
        few, cards = least_discards(hands[hard], stays[hard])
        cards = dearest(cards)
        cards &= ~cards + _1
        least[hard] = after[hard] = few
        best[hard] = chosen[hard] = cards
    return least, after, best, chosen


def melds(hands: Hands, card: Hands) -> Flags:
    """Return whether a card makes a meld with ten others, [K] bool; false for no card."""
    eleven = hands | card
    in_meld = cards_in_runs(eleven) | (ranks_in_threes(eleven) * EVERY_SUIT)
    return (in_meld & card) != 0


def roll_out(starts: Starts, me: Style, him: Style, rules: Rules) -> Ends:
    """Play deals to their end.

    Rules that this simplifies: eleven melded cards are gin even where big gin is to be had, and a
    stock that is down to the void size ends the deal.

    Args:
        starts: R positions.
        me: how the searching player goes on.
        him: how his opponent plays.
        rules: the settings.
    """
    count = len(starts)
    ends = Ends(
        np.zeros(count, dtype=np.int16),
        np.full(count, Outcome.VOID, dtype=np.int8),
        np.zeros(count, dtype=np.bool_),
    )
    knocks: list[tuple[Rows, Hands, Hands, Hands, Flags]] = []
    rows = np.arange(count)
    mover = starts.my_move.copy()
    own = np.where(mover, starts.mine, starts.his)
    other = np.where(mover, starts.his, starts.mine)
    own_left, other_left = deadwood(own), deadwood(other)
    upcard, pile, limit = starts.upcard.copy(), starts.pile.copy(), starts.limit
    turn = starts.turn.copy()
    deck = starts.deck.reshape(-1)
    end = (starts.world + 1) * NUM_CARDS
    place = end - starts.stock
    end = end - rules.void_stock
    bound = rules.turn_bound if rules.turn_bound is not None else 1000
    first: NDArray[np.int8] | None = starts.first

    while rows.size:
        wanted = melds(own, upcard)
        if first is not None:
            wanted = (wanted & ((first == FREE) | (first == OPENING))) | (first == TAKE)
        takes = np.flatnonzero(wanted)
        stays = np.zeros_like(upcard) if rules.discard_taken_upcard else upcard
        slack = np.where(mover, me.slack, him.slack)
        eleven = own | upcard
        result = best_discards(eleven[takes], stays[takes], slack[takes])
        accepted = result[0] < own_left[takes]
        if first is not None:
            accepted |= first[takes] == TAKE
            given_up = first == OPENING
            given_up[takes[accepted]] = False
            passed = np.flatnonzero(given_up)
            if passed.size:
                own[passed], other[passed] = other[passed], own[passed]
                own_left[passed], other_left[passed] = other_left[passed], own_left[passed]
                mover[passed] ^= True
        drawing = np.ones(len(rows), dtype=np.bool_)
        drawing[takes[accepted]] = False
        draws = np.flatnonzero(drawing)
        cards = CARD_BIT.take(deck.take(place[draws]))
        place[draws] += 1
        eleven[draws] = own[draws] | cards
        pile[~drawing] &= ~upcard[~drawing]
        drawn = best_discards(eleven[draws], np.zeros(len(draws), dtype=np.uint64), slack[draws])
        pairs: Iterator[tuple[NDArray[Any], NDArray[Any]]] = zip(result, drawn, strict=True)
        least, after, best, chosen = (_merged(a, takes, accepted, b, draws) for a, b in pairs)
        wish = _wish(mover, turn, me, him)
        knocked = least <= np.minimum(wish, limit)
        thrown = np.where(knocked, best, chosen)
        own = eleven & ~thrown
        pile |= thrown
        turn += 1
        over = knocked | (place >= end) | (turn >= bound)
        if over.any():
            out = np.flatnonzero(knocked)
            if out.size:
                knocks.append((rows[out], own[out], other[out], pile[out], mover[out]))
            on = np.flatnonzero(~over)
            own, other, thrown, pile = own[on], other[on], thrown[on], pile[on]
            after, other_left, limit = after[on], other_left[on], limit[on]
            rows, mover, turn, place, end = rows[on], mover[on], turn[on], place[on], end[on]
        own, other = other, own
        own_left, other_left = other_left, after
        mover = ~mover
        upcard = thrown
        first = None
    if knocks:
        _settle(ends, knocks, starts, rules)
    return ends


def _merged(
    taken: NDArray[Any],
    takes: Rows,
    accepted: Flags,
    drawn: NDArray[Any],
    draws: Rows,
) -> NDArray[Any]:
    """Return one array of both kinds of rows."""
    merged = np.empty(int(accepted.sum()) + len(draws), dtype=drawn.dtype)
    merged[draws] = drawn
    merged[takes[accepted]] = taken[accepted]
    return merged


def _wish(mover: Flags, turn: NDArray[np.int64], me: Style, him: Style) -> NDArray[np.int64]:
    """Return the most deadwood that each side to move wants to knock with, [K]."""
    own_turn = turn // 2 + 1
    mine = np.where(own_turn <= me.knock_turns, me.knock, me.later)
    his = np.where(own_turn <= him.knock_turns, him.knock, him.later)
    return np.where(mover, mine, his)


def _settle(
    ends: Ends,
    knocks: list[tuple[Rows, Hands, Hands, Hands, Flags]],
    starts: Starts,
    rules: Rules,
) -> None:
    """Score the deals that were knocked. Changes ``ends`` in place."""
    rows, knocker, defender, pile, mine = (
        np.concatenate(each) for each in zip(*knocks, strict=True)
    )
    points, outcome = settle(knocker, defender, pile, rules)
    points = np.where(starts.doubled[rows], 2 * points, points)
    ends.points[rows] = np.where(mine, points, -points)
    ends.outcome[rows] = outcome
    ends.i_knocked[rows] = mine


def settle(
    knocker: Hands, defender: Hands, pile: Hands, rules: Rules
) -> tuple[Points, NDArray[np.int8]]:
    """Return what knocks are worth to the knocker, and how they end.

    Args:
        knocker: [K] uint64, his ten cards.
        defender: [K] uint64, the other's ten.
        pile: [K] uint64, the discard pile with the knock discard.
        rules: the settings.

    Returns:
        (points [K] int16, negative if the defender wins them; Outcome [K] int8).
    """
    left = deadwood(knocker)
    rest = np.empty_like(left)
    gin = left == 0
    bare = np.flatnonzero(gin) if not rules.layoff_on_gin else np.zeros(0, dtype=np.intp)
    rest[bare] = deadwood(defender[bare])
    full = np.flatnonzero(~gin | rules.layoff_on_gin)
    if full.size:
        laid, _ = knocker_arrangement(knocker[full], pile[full])
        rest[full] = defender_deadwood(defender[full], laid, may_lay_off(left[full], rules))
    side, points = score_knock(left, rest, rules)
    outcome = np.full(len(left), Outcome.KNOCK, dtype=np.int8)
    outcome[side == DEFENDER] = Outcome.UNDERCUT
    outcome[side == NO_SIDE] = Outcome.EQUAL
    gins = np.flatnonzero(gin)
    if gins.size:
        alone = deadwood(defender[gins])
        big = np.zeros(len(gins), dtype=np.bool_)
        side[gins], points[gins], answered = score_gin(rest[gins], alone, big, rules)
        outcome[gins] = np.where(answered, Outcome.GIN_ANSWERED, Outcome.GIN)
    signs = np.zeros(len(left), dtype=np.int16)
    signs[side == KNOCKER], signs[side == DEFENDER] = 1, -1
    return signs * points, outcome
