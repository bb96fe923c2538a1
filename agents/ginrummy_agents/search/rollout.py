"""Deals played to their end by fast rules, hundreds of thousands at once.

A rollout starts in a full state that somebody made up (a sampled world), so both sides may be moved
by what is known of it; each still decides by its own hand and the upcard alone. Cards are bit masks
throughout, the side to move and the other change places after every turn, and deals that have ended
leave the batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents import compiled
from ginrummy_agents.rules.work_lists import dearest, least_discards, ranks
from ginrummy_agents.search.settle import arranged, left_over, quick_settle, signed
from ginrummy_agents.tables import WORTH
from ginrummy_env.core.cards import CARD_BIT, DEAREST, FULL_DECK, NUM_CARDS, hand_points
from ginrummy_env.core.melds import EVERY_SUIT, cards_in_runs, ranks_in_pairs, ranks_in_threes
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import Outcome
from ginrummy_env.core.types import Flags, Hands, Points, Rows

FREE, STOCK, TAKE, OPENING = range(4)
"""How the first card is drawn: by the side's rule, from the stock, from the pile, or, for the
second player asked in the opening, from the pile if they want it, else the other's turn."""

_1, _2, _16, _32 = (np.uint64(shift) for shift in (1, 2, 16, 32))


ALWAYS, NEVER = 0, 99
"""Least deadwood to knock with: any, and none but gin."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a side plays in rollouts.

    It takes the upcard iff that is melded and lowers its deadwood. It throws the dearest loose
    card, or one that may not become a meld with another loose card if that costs at most ``alone``
    points, or one with a single way to if that costs at most ``weak``. It lays gin down, and knocks
    if it has at least ``knock_from`` points (the rules say how many at most): a player who can win
    much by waiting does not knock with few.
    """

    knock_from: tuple[int, ...] = (NEVER,)
    """By own turn of the deal; the last holds from there on."""
    alone: int = 3
    weak: int = 1


@dataclass(slots=True)
class Starts:
    """R positions to play on from, seen from the searching player's side."""

    mine: Hands  # [R] uint64, ten cards (`Rules.hand_size`)
    theirs: Hands  # [R] uint64, as many
    upcard: Hands  # [R] uint64, one bit; 0 if it is not on offer
    pile: Hands  # [R] uint64, the discard pile with the upcard, and cards that the deck lacks
    deck: NDArray[np.int8]  # [W, 52] the decks of the worlds
    world: Rows  # [R] the deck of each
    cut: NDArray[np.int64]  # [R] cards of its stock that are put below the others before play
    stock: NDArray[np.int64]  # [R] cards left in the stock
    turn: NDArray[np.int64]  # [R] discards made
    my_move: Flags  # [R]
    first: NDArray[np.int8]  # [R] FREE, STOCK, TAKE or OPENING
    limit: Points  # [R] int16, knock limit
    doubled: Flags  # [R] whether the points count twice
    manner: NDArray[np.int8]  # [R] the place of the opponent's style among those given

    def __len__(self) -> int:
        """Return R."""
        return len(self.mine)


@dataclass(slots=True)
class Ends:
    """How R rollouts ended."""

    points: Points  # [R] int16, what the searching player won less what the opponent won
    outcome: NDArray[np.int8]  # [R] Outcome
    i_knocked: Flags  # [R]

    @classmethod
    def void(cls, count: int) -> "Ends":
        """Return ends of deals that nobody knocked in."""
        return cls(
            np.zeros(count, dtype=np.int16),
            np.full(count, Outcome.VOID, dtype=np.int8),
            np.zeros(count, dtype=np.bool_),
        )


@dataclass(slots=True)
class _Styles:
    """Styles as arrays; the searching player's is the first."""

    knock_from: NDArray[np.int16]  # [S, T]
    slack: Points  # [S, 2] int16, `alone` and `weak`

    @classmethod
    def of(cls, styles: Sequence[Style]) -> "_Styles":
        """Return the arrays; thresholds that end early keep their last value."""
        longest = max(len(style.knock_from) for style in styles)
        knock_from = [
            [*each.knock_from, *[each.knock_from[-1]] * (longest - len(each.knock_from))]
            for each in styles
        ]
        slack = [(each.alone, each.weak) for each in styles]
        return cls(np.array(knock_from, dtype=np.int16), np.array(slack, dtype=np.int16))


@dataclass(slots=True)
class Discards:
    """What K hands of eleven cards can leave."""

    least: Points  # [K] int16, least deadwood
    best: Hands  # [K] uint64, a card that leaves it
    chosen: Hands  # [K] uint64, the card that goes if play continues
    after: Points  # [K] int16, deadwood then

    def into(self, other: "Discards", rows: Rows, places: Rows) -> None:
        """Write some rows of this into places of another."""
        for each in fields(self):
            getattr(other, each.name)[places] = getattr(self, each.name)[rows]

    @classmethod
    def empty(cls, count: int) -> "Discards":
        """Return rows to be filled."""
        points, cards = (np.empty((2, count), dtype=dtype) for dtype in (np.int16, np.uint64))
        return cls(points[0], cards[0], cards[1], points[1])


def best_discards(
    hands: Hands, stays: Hands, gone: Hands, alone_slack: Points, weak_slack: Points
) -> Discards:
    """Return what discards can leave, and which card goes.

    Args:
        hands: [K] uint64, eleven cards.
        stays: [K] uint64, the card that may not go, or 0.
        gone: [K] uint64, other cards that cannot come.
        alone_slack: [K] points given up to throw a card that cannot make a meld with a loose card.
        weak_slack: [K] points given up to throw a card for which one card at most does.
    """
    loose, _ = arranged(hands)
    left = hand_points(loose)
    may_go = loose & ~stays
    top = DEAREST.take(ranks(may_go))
    best = may_go & WORTH.take(top)
    paired, strong = _connected(loose, FULL_DECK & ~(gone | hands))
    points, chosen = top, best
    for cards, slack in ((may_go & ~strong, weak_slack), (may_go & ~paired, alone_slack)):
        dear = DEAREST.take(ranks(cards))
        use = (cards != 0) & (dear + slack >= top)
        chosen = np.where(use, cards & WORTH.take(dear), chosen)
        points = np.where(use, dear, points)
    found = Discards(left - top, _one(best), _one(chosen), left - points)
    hard = np.flatnonzero(may_go == 0)  # all are melded: which meld can spare a card?
    if hard.size:
        few, cards = _spared(hands[hard], stays[hard])
        found.least[hard] = found.after[hard] = few
        found.best[hard] = found.chosen[hard] = cards
    return found


def _spared(hands: Hands, stays: Hands) -> tuple[Points, Hands]:
    """Return what is left after throwing a card that a meld can spare, and the card."""
    low = hands & (hands >> _1) & (hands >> _2)
    first_of_four = low & (low >> _1) & ~(low << _1)
    both = hands & (hands >> _16)
    fours = ((both & (both >> _32)) & np.uint64(0x1FFF)) * EVERY_SUIT
    cards = _one((first_of_four | fours) & ~stays)
    left = left_over(hands & ~cards)
    wrong = np.flatnonzero((cards == 0) | (left > 0))
    if wrong.size:
        least, every = least_discards(hands[wrong], stays[wrong])
        left[wrong], cards[wrong] = least, _one(dearest(every))
    return left, cards


def _one(cards: Hands) -> Hands:
    """Return the lowest of each hand's cards."""
    return cards & (~cards + _1)


def _connected(loose: Hands, coming: Hands) -> tuple[Hands, Hands]:
    """Return the cards that could make a meld with another and a card that may come.

    Returns:
        (such cards [K] uint64, those among them with two ways or more [K] uint64).
    """
    one, two = loose & (loose >> _1), loose & (loose >> _2)  # the lower card of each pair
    below, above = one & (coming << _1), one & (coming >> _2)
    inside = two & (coming >> _1)
    either, both = below | above, below & above
    near = either | (either << _1)
    far = inside | (inside << _2)
    pairs, some, more = ranks_in_pairs(loose), ranks(coming), ranks_in_pairs(coming)
    same = ((pairs & some) * EVERY_SUIT) & loose
    strong = both | (both << _1) | (((pairs & more) * EVERY_SUIT) & loose)
    strong |= (near & far) | (same & (near | far)) | (either & (either << _1))
    return near | far | same, strong


def melds(hands: Hands, card: Hands) -> Flags:
    """Return whether a card makes a meld with ten others, [K] bool; false for no card."""
    eleven = hands | card
    in_meld = cards_in_runs(eleven) | (ranks_in_threes(eleven) * EVERY_SUIT)
    return (in_meld & card) != 0


def roll_out(starts: Starts, me: Style, opponents: Sequence[Style], rules: Rules) -> Ends:
    """Play deals to their end.

    Rules that this simplifies: eleven melded cards are gin even where big gin is to be had, and a
    stock that is down to the void size ends the deal.

    Args:
        starts: R positions.
        me: how the searching player plays.
        opponents: how the other side plays, by ``Starts.manner``.
        rules: the settings.
    """
    styles = _Styles.of((me, *opponents))
    if compiled.in_use():
        return _compiled(starts, styles, rules)
    count = len(starts)
    ends = Ends.void(count)
    knocks: list[tuple[Rows, Hands, Hands, Flags]] = []
    rows = np.arange(count)
    mover = starts.my_move.copy()
    own = np.where(mover, starts.mine, starts.theirs)
    other = np.where(mover, starts.theirs, starts.mine)
    own_left, other_left = left_over(own), left_over(other)
    upcard, pile, limit = starts.upcard.copy(), starts.pile.copy(), starts.limit
    turn, manner = starts.turn.copy(), starts.manner.astype(np.int64) + 1
    deck, drawn_count = starts.deck.reshape(-1), np.zeros(count, dtype=np.int64)
    stock, cut, bottom = starts.stock, starts.cut, (starts.world + 1) * NUM_CARDS
    bound = rules.turn_bound if rules.turn_bound is not None else 1000
    first: NDArray[np.int8] | None = starts.first

    while rows.size:
        wanted = melds(own, upcard)
        if first is not None:
            wanted = (wanted & ((first == FREE) | (first == OPENING))) | (first == TAKE)
        takes = np.flatnonzero(wanted)
        stays = np.zeros_like(upcard) if rules.discard_taken_upcard else upcard
        alone, weak = styles.slack[np.where(mover, 0, manner)].T
        eleven = own | upcard
        taken = best_discards(eleven[takes], stays[takes], pile[takes], alone[takes], weak[takes])
        accepted = taken.least < own_left[takes]
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
        place = cut[draws] + drawn_count[draws]
        place = np.where(place < stock[draws], place - stock[draws], place - 2 * stock[draws])
        cards = CARD_BIT.take(deck.take(bottom[draws] + place))
        drawn_count[draws] += 1
        eleven[draws] = own[draws] | cards
        pile[~drawing] &= ~upcard[~drawing]
        none = np.zeros(len(draws), dtype=np.uint64)
        drawn = best_discards(eleven[draws], none, pile[draws], alone[draws], weak[draws])
        found = Discards.empty(len(rows))
        taken.into(found, np.flatnonzero(accepted), takes[accepted])
        drawn.into(found, np.arange(len(draws)), draws)
        own_turn = np.minimum(turn // 2, styles.knock_from.shape[1] - 1)
        wish = styles.knock_from[np.where(mover, 0, manner), own_turn]
        knocked = ((found.least == 0) | (found.least >= wish)) & (found.least <= limit)
        thrown = np.where(knocked, found.best, found.chosen)
        after = found.after
        own = eleven & ~thrown
        pile |= thrown
        turn += 1
        over = knocked | (stock - drawn_count <= rules.void_stock) | (turn >= bound)
        if over.any():
            out = np.flatnonzero(knocked)
            if out.size:
                knocks.append((rows[out], own[out], other[out], mover[out]))
            on = np.flatnonzero(~over)
            own, other, thrown, pile = own[on], other[on], thrown[on], pile[on]
            after, other_left, limit = after[on], other_left[on], limit[on]
            rows, mover, turn, manner = rows[on], mover[on], turn[on], manner[on]
            stock, cut, bottom = stock[on], cut[on], bottom[on]
            drawn_count = drawn_count[on]
        own, other = other, own
        own_left, other_left = other_left, after
        mover = ~mover
        upcard = thrown
        first = None
    if knocks:
        _settle(ends, knocks, starts, rules)
    return ends


def _compiled(starts: Starts, styles: _Styles, rules: Rules) -> Ends:
    """Return what `roll_out` does, by the compiled kernel."""
    from ginrummy_agents import kernels

    count = len(starts)
    deadwoods, knocker = np.empty((count, 3), dtype=np.int16), np.empty(count, dtype=np.int8)
    first = starts.first
    columns = (
        starts.mine,
        starts.theirs,
        starts.upcard,
        starts.pile,
        starts.deck.reshape(-1),
        starts.world.astype(np.int64, copy=False),
        starts.cut,
        starts.stock.astype(np.int64, copy=False),
        starts.turn.astype(np.int64, copy=False),
        starts.my_move,
        (first == FREE) | (first == OPENING),
        first == TAKE,
        first == OPENING,
        starts.limit,
        starts.manner.astype(np.int64) + 1,
    )
    with compiled.first_use("the rollouts of the search"):
        # Numba's type of a compiled function counts a starred argument as one.
        roll: Callable[..., None] = kernels.roll_out
        roll(
            *map(np.ascontiguousarray, columns),
            styles.knock_from,
            styles.slack,
            rules.void_stock,
            rules.turn_bound if rules.turn_bound is not None else 1000,
            rules.discard_taken_upcard,
            rules.layoff_on_gin,
            deadwoods,
            knocker,
        )
    ends = Ends.void(count)
    rows = np.flatnonzero(knocker >= 0)
    left, rest, alone = deadwoods[rows].T
    _write(ends, rows, knocker[rows] == 1, signed(left, rest, alone, rules), starts)
    return ends


def _settle(
    ends: Ends,
    knocks: list[tuple[Rows, Hands, Hands, Flags]],
    starts: Starts,
    rules: Rules,
) -> None:
    """Score the deals that were knocked. Changes ``ends`` in place."""
    rows, knocker, defender, mine = (np.concatenate(each) for each in zip(*knocks, strict=True))
    _write(ends, rows, mine, quick_settle(knocker, defender, rules), starts)


def _write(
    ends: Ends,
    rows: Rows,
    mine: Flags,
    settled: tuple[Points, NDArray[np.int8]],
    starts: Starts,
) -> None:
    """Write what knocks of the searching player or of the opponent came to into ``ends``."""
    points, outcome = settled
    points = np.where(starts.doubled[rows], 2 * points, points)
    ends.points[rows] = np.where(mine, points, -points)
    ends.outcome[rows] = outcome
    ends.i_knocked[rows] = mine
