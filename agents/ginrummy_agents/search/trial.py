"""Candidates tried in sampled worlds: what came out, and who is ahead."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.search.candidates import Candidates
from ginrummy_agents.search.manners import manners
from ginrummy_agents.search.rollout import FREE, OPENING, STOCK, TAKE, Ends, Starts, Style, roll_out
from ginrummy_agents.search.settle import settle
from ginrummy_agents.search.worlds import Worlds
from ginrummy_agents.win_chance import win_chance
from ginrummy_env.core.actions import KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT, FULL_DECK
from ginrummy_env.core.deal import doubled
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import Outcome
from ginrummy_env.core.types import Float, Rows
from ginrummy_env.core.view import View

ENDINGS = (
    "gin",
    "knock",
    "undercut",
    "opponent's gin",
    "opponent's knock",
    "opponent's undercut",
    "void",
)


SURE = 32
"""Worlds in all of which a knock has to win the game to be made for that alone."""


@dataclass(slots=True)
class Trial:
    """Sums over the worlds so far, for each candidate."""

    found: Candidates
    win: bool
    """Whether deals are worth the chance of winning the game, or points."""
    count: Float = field(init=False)  # [C] worlds
    value: Float = field(init=False)  # [C] sum of the values
    square: Float = field(init=False)  # [C] sum of their squares
    gain: Float = field(init=False)  # [C] sum of the gains over the base's action
    gain_square: Float = field(init=False)  # [C]
    endings: Float = field(init=False)  # [C, 7] how deals ended, see ENDINGS
    dropped: NDArray[np.bool_] = field(init=False)  # [C]

    def __post_init__(self) -> None:
        count = len(self.found.actions)
        self.count, self.value, self.square = (np.zeros(count) for _ in range(3))
        self.gain, self.gain_square = np.zeros(count), np.zeros(count)
        self.endings = np.zeros((count, len(ENDINGS)))
        self.dropped = np.zeros(count, dtype=np.bool_)

    @property
    def base(self) -> Rows:
        """[C] the place of the base's action of the same position."""
        return self.found.starts[self.found.rows]

    def live(self) -> Rows:
        """Return the places of candidates that are worth more worlds, and of their bases."""
        others = ~self.dropped
        others[self.found.starts] = False
        wanted = others.copy()
        wanted[self.base[others]] = True
        return np.flatnonzero(wanted)

    def mean_gain(self) -> tuple[Float, Float]:
        """Return each candidate's mean gain over the base's action, and its standard error."""
        count = np.maximum(self.count, 1)
        mean = self.gain / count
        spread = np.maximum(self.gain_square / count - mean**2, 0)
        return mean, np.sqrt(spread / np.maximum(count - 1, 1))

    def drop(self, errors: float) -> None:
        """Give up candidates that are this many standard errors behind the base's action."""
        mean, error = self.mean_gain()
        self.dropped |= mean + errors * error < 0
        self.dropped[self.found.starts] = False

    def choice(self, margin: float) -> NDArray[np.int16]:
        """Return the action of the largest mean gain of more than ``margin`` standard errors, [N].

        The base's action if there is none, and first of all a knock that wins the game in every
        world of `SURE` or more.
        """
        mean, error = self.mean_gain()
        good = (mean > 0) & (mean > margin * error) & ~self.dropped
        wins = self.win & (self.found.actions >= KNOCK) & (self.found.actions < 2 * KNOCK)
        wins &= (self.count >= SURE) & (self.value >= self.count)
        good |= wins
        mean = np.where(wins, 1 + mean, mean)
        mean = np.where(good, mean, -1.0)
        mean[self.found.starts] = np.where(wins[self.found.starts], 2.0, 0.0)
        order = np.lexsort((-mean, self.found.rows))
        return self.found.actions[order[self.found.starts]]


def try_out(
    trial: Trial,
    view: View,
    live: Rows,
    worlds: Worlds,
    me: Style,
    cuts: int,
) -> None:
    """Try candidates in further worlds. Changes ``trial`` in place.

    Args:
        trial: of N positions.
        view: N rows.
        live: [L] places of candidates, each with its base.
        worlds: k for each position.
        me: how the searching player plays on.
        cuts: how often each world is played, with its stock cut at as many places.
    """
    count = len(worlds.theirs) // len(view)
    rows = trial.found.rows[live]
    ends = _play(worlds, view, rows, trial.found.actions[live], count, me, cuts)
    points = ends.points.reshape(len(live), count * cuts)
    if trial.win:
        value = win_chance(view.scores[rows], points, view.rules)
    else:
        value = points.astype(np.float64)
    value = value.reshape(len(live), count, cuts).mean(axis=2)
    place = np.full(len(trial.count), -1)
    place[live] = np.arange(len(live))
    gain = value - value[place[trial.base[live]]]
    trial.count[live] += count
    trial.value[live] += value.sum(axis=1)
    trial.square[live] += (value**2).sum(axis=1)
    trial.gain[live] += gain.sum(axis=1)
    trial.gain_square[live] += (gain**2).sum(axis=1)
    kinds = _endings(ends).reshape(len(live), count * cuts)
    for kind in range(len(ENDINGS)):
        trial.endings[live, kind] += (kinds == kind).sum(axis=1) / cuts


def _endings(ends: Ends) -> NDArray[np.int8]:
    """Return the place in ENDINGS of each end, [R]. An undercut belongs to who got its points."""
    place = np.full(len(Outcome), 6, dtype=np.int8)
    place[[Outcome.GIN, Outcome.BIG_GIN]] = 0
    place[Outcome.KNOCK] = 1
    place[Outcome.UNDERCUT] = 2
    mine = ends.i_knocked ^ (ends.outcome == Outcome.UNDERCUT)
    kinds = place[ends.outcome]
    return np.where((kinds < 3) & ~mine, kinds + 3, kinds).astype(np.int8)


def _play(
    worlds: Worlds,
    view: View,
    rows: Rows,
    actions: NDArray[np.int16],
    count: int,
    me: Style,
    cuts: int,
) -> Ends:
    """Do each of L actions in each of its position's worlds and play on.

    Returns:
        L * count * cuts results.
    """
    rules: Rules = view.rules
    knocks = (actions >= KNOCK) & (actions < 2 * KNOCK)
    throws = actions < 2 * KNOCK
    takes = actions == TAKE_UPCARD
    passes = actions == PASS
    cards = np.where(throws, actions % KNOCK, -1)
    bits = CARD_BIT[cards]
    upcards = CARD_BIT[view.upcard[rows]]
    first = np.full(len(rows), STOCK, dtype=np.int8)
    first[takes] = TAKE
    first[throws] = FREE
    first[passes & ~view.is_dealer[rows]] = OPENING
    stock, turn = view.stock_count[rows].astype(np.int64), view.turn[rows].astype(np.int64) + throws
    # A discard that brings the stock's end or the turn bound: void.
    bound = rules.turn_bound if rules.turn_bound is not None else 1000
    void = throws & ((stock <= rules.void_stock) | (turn >= bound))
    mine, pile = (
        view.hand[rows] & ~bits,
        view.discards[rows] | bits | (FULL_DECK & ~rules.full_deck),
    )
    twice = doubled(view.first_upcard[rows], rules)
    world = rows[:, None] * count + np.arange(count)

    ends = Ends.void(len(rows) * count * cuts)
    each = np.arange(len(ends.points)).reshape(len(rows), -1)
    laid = np.flatnonzero(knocks)
    if laid.size:
        hands = worlds.theirs[world[laid]].reshape(-1)
        own, piles = (np.repeat(column[laid], count) for column in (mine, pile))
        points, outcome = settle(own, hands, piles, rules)
        places = each[laid].reshape(-1)
        points = np.where(np.repeat(twice[laid], count), 2 * points, points)
        ends.points[places], ends.outcome[places] = points.repeat(cuts), outcome.repeat(cuts)
        ends.i_knocked[places] = True
    on = np.flatnonzero(~(knocks | void))
    if on.size:
        place = np.repeat(on, count * cuts)
        at = world[on].repeat(cuts)
        starts = Starts(
            mine=mine[place],
            theirs=worlds.theirs[at],
            upcard=np.where(throws, bits, upcards)[place],
            pile=pile[place],
            deck=worlds.deck,
            world=at,
            cut=(np.arange(cuts) * stock[on, None] // cuts).repeat(count, axis=0).reshape(-1),
            stock=stock[place],
            turn=turn[place],
            my_move=~(throws | passes)[place],
            first=first[place],
            limit=view.knock_limit[rows[place]],
            doubled=twice[place],
            manner=worlds.manner[at],
        )
        played = roll_out(starts, me, [kind.style for kind in manners(rules)], rules)
        places = each[on].reshape(-1)
        ends.points[places], ends.outcome[places] = played.points, played.outcome
        ends.i_knocked[places] = played.i_knocked
    return ends
