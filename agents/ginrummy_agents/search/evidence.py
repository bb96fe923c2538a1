"""How well sampled hands explain what the opponent was seen to do.

For each hand, the turns of the opponent are undone one by one from the latest: the card thrown goes
back into the hand, and the card drawn out of it. That is the upcard they took, or any of their
unknown cards alike if they drew from the stock. Of each turn three things are asked, for each
manner that they may have (`manners`): would they have thrown this card from these eleven, knocked
instead, taken the upcard or left it. What they would not have done makes a hand unlikely, not
impossible: nobody plays exactly as thought here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents import compiled
from ginrummy_agents.rules.base import lowers_deadwood, makes_meld, staying
from ginrummy_agents.rules.champion_features import discard_weights, outlook, thrown
from ginrummy_agents.rules.lookahead import candidates_listed
from ginrummy_agents.rules.work_lists import group_starts
from ginrummy_agents.search.belief import ten_of_52
from ginrummy_agents.search.manners import Manner, manners
from ginrummy_agents.search.past import PastTurn
from ginrummy_env.core.cards import CARD_BIT, card_planes
from ginrummy_env.core.chance import Random
from ginrummy_env.core.types import Flags, Float, Hands, Points, Rows
from ginrummy_env.core.view import ME, OPPONENT, View

MOST_TURNS = 3
"""Turns back that are of any use."""

DISCARD_DOUBTS = (0.05, 0.3, 0.5)
"""Weight left to a hand from which the card would never have been thrown, by turns back: further
back a hand is known less well, as what was drawn is made up."""

DRAW_DOUBTS = (0.1, 0.4, 0.6)
"""The same of an upcard that would have been left where it was taken, or the other way round."""


@dataclass(slots=True)
class Undone:
    """What one turn of the opponent says of W hands, and the hands before it."""

    least: Points  # [W] int16, least deadwood that a discard would have left
    dearer: Float  # [W] points by which the discard left more; infinite if it is not a candidate
    worse: Float  # [W] points of the deal by which `Champion` thinks it worse than the best
    wrong: Flags  # [W] whether they would not have taken the upcard, or not have left it
    before: Hands  # [W] uint64


def log_likelihoods(view: View, theirs: Hands, rng: Random, past: Sequence[PastTurn]) -> Float:
    """Return how likely the opponent's last turns are with each hand and manner, up to a factor.

    Args:
        view: N rows.
        theirs: [N, K] uint64, hands of the opponent that agree with the view.
        rng: randomness of N rows.
        past: the opponent's last turns, the latest first (`past.past_turns`).

    Returns:
        [N, K, M] logarithms; 0 with decks of other sizes, in which hands are weighed otherwise.
    """
    count, kinds = theirs.shape[1], manners(view.rules)
    logs = np.zeros((*theirs.shape, len(kinds)))
    # As many numbers in any batch, whatever the other rows have behind them.
    uniforms = rng.random((len(view), MOST_TURNS, count))
    if not ten_of_52(view.rules):
        return logs
    hands = theirs.copy()
    for back, turn in enumerate(past):
        source = np.repeat(np.arange(len(turn.rows)), count)
        drawn = uniforms[turn.rows, back].reshape(-1)
        found = undone(turn, source, hands[turn.rows].reshape(-1), drawn)
        own_turn = turn.draw.turn[source] // 2
        limits = view.knock_limit[turn.rows][source]
        threw = turn.thrown[source] >= 0
        draws = np.where(found.wrong, np.log(DRAW_DOUBTS[back]), 0.0)
        doubt = DISCARD_DOUBTS[back]
        for kind, manner in enumerate(kinds):
            loss = found.worse if manner.weighs else found.dearer
            likely = doubt + (1 - doubt) * np.exp(-loss / manner.scale)
            knocks = would_knock(manner, own_turn, found.least, limits)
            likely *= np.where(knocks, manner.knock_doubt ** (1 / (1 + back)), 1.0)
            told = draws + np.where(threw, np.log(likely), 0.0)
            logs[turn.rows, :, kind] += told.reshape(-1, count)
        hands[turn.rows] = found.before.reshape(-1, count)
    return logs


def would_knock(
    manner: Manner, own_turn: NDArray[np.integer], least: Points, limits: Points
) -> Flags:
    """Return whether players of a manner knock with an amount of deadwood, [W] bool.

    Args:
        manner: theirs.
        own_turn: [W] from 0.
        least: [W] least deadwood.
        limits: [W] the rules' knock limit.
    """
    wish = np.array(manner.style.knock_from)
    wish = wish[np.minimum(own_turn, len(wish) - 1)]
    return ((least == 0) | (least >= wish)) & (least <= limits)


def undone(turn: PastTurn, source: Rows, hands: Hands, uniforms: Float) -> Undone:
    """Return what a turn says of hands.

    Args:
        turn: of M deals.
        source: [W] the deal of each hand, among the M.
        hands: [W] uint64, the opponent's cards after the turn.
        uniforms: [W] numbers in [0, 1): which of their unknown cards was drawn.
    """
    count = len(hands)
    found = Undone(
        np.full(count, 99, dtype=np.int16),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count, dtype=np.bool_),
        hands.copy(),
    )
    if compiled.in_use():
        _compiled(turn, source, hands, uniforms, found)
        return found
    rows = np.flatnonzero(turn.thrown[source] >= 0)
    if rows.size:
        eyes, cards = turn.discard.select(source[rows]), turn.thrown[source[rows]]
        eyes.hand = hands[rows] | CARD_BIT[cards]
        found.least[rows], found.dearer[rows], found.worse[rows] = _discarded(eyes, cards)
        drawn = CARD_BIT[eyes.taken_card]
        stock = np.flatnonzero(eyes.taken_card < 0)
        unknown = eyes.hand[stock] & ~turn.draw.known[source[rows[stock]], ME]
        ends = card_planes(unknown).cumsum(axis=1, dtype=np.int8)
        number = (uniforms[rows[stock]] * ends[:, -1]).astype(np.int8)
        drawn[stock] = CARD_BIT[(ends <= number[:, None]).sum(axis=1)]
        found.before[rows] = eyes.hand & ~drawn
    eyes = turn.draw.select(source)
    eyes.hand = found.before
    rows = np.flatnonzero(turn.offered[source])
    wants = makes_meld(eyes.hand[rows], eyes.upcard[rows]) & lowers_deadwood(eyes, rows)
    found.wrong[rows] = wants != (turn.took[source[rows]] >= 0)
    return found


def _discarded(eyes: View, cards: NDArray[np.int8]) -> tuple[Points, Float, Float]:
    """Return `Undone.least`, `dearer` and `worse` of the opponent's views before discards."""
    every = np.arange(len(eyes))
    stays = staying(eyes, every)
    places, listed, left = candidates_listed(eyes.hand, CARD_BIT[eyes.taken_card], stays)
    least = np.minimum.reduceat(left, group_starts(places)).astype(np.int16)
    dearer, worse = np.full(len(eyes), np.inf), np.full(len(eyes), np.inf)
    mine = listed == cards[places]
    some = places[mine]
    dearer[some] = left[mine].astype(np.int16) - least[some]
    # A card not worth a thought is never thrown: no need to weigh the others.
    weighed = np.isin(places, some)
    if not some.size:
        return least, dearer, worse
    places, listed, left, mine = places[weighed], listed[weighed], left[weighed], mine[weighed]
    kept = eyes.hand[places] & ~CARD_BIT[listed]
    features = np.concatenate(
        [outlook(kept, left.astype(np.uint8), eyes.unseen[places]), thrown(eyes, places, listed)],
        axis=1,
    )
    weights, worth = discard_weights(eyes)[places], np.zeros(len(places))
    for feature, weight in zip(features.T, weights.T, strict=True):
        worth += feature * weight
    worse[some] = np.maximum.reduceat(worth, group_starts(places)) - worth[mine]
    return least, dearer, worse


def _compiled(turn: PastTurn, source: Rows, hands: Hands, uniforms: Float, found: Undone) -> None:
    """Write what a turn says into ``found``, by the compiled kernel."""
    from ginrummy_agents.search import hand_kernels

    eyes = turn.discard
    columns = (
        hands,
        source,
        turn.thrown,
        turn.took,
        turn.offered,
        turn.draw.upcard,
        eyes.discards,
        turn.draw.known[:, ME],
        eyes.known[:, OPPONENT],
        eyes.discarded[:, OPPONENT] | eyes.declined[:, OPPONENT],
    )
    with compiled.first_use("what the search makes of the opponent's turns"):
        hand_kernels.undone(
            *map(np.ascontiguousarray, columns),
            eyes.rules.full_deck,
            eyes.rules.discard_taken_upcard,
            discard_weights(eyes),
            uniforms,
            found.least,
            found.dearer,
            found.worse,
            found.wrong,
            found.before,
        )
