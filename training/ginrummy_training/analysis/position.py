"""Why a move: the candidates of one position in sampled worlds, as a table and a plot.

A position comes from a record or is typed: a hand, the discard pile and what is known of the
opponent. Every candidate is tried in the same worlds, and none is given up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ginrummy_agents.search.candidates import Candidates, candidates_of
from ginrummy_agents.search.policy import Search
from ginrummy_agents.search.reasons import HALF, Gain, OpponentBelief, opponent_belief, why
from ginrummy_agents.search.trial import ENDINGS, Trial
from ginrummy_env.core.actions import format_action
from ginrummy_env.core.cards import (
    NO_CARD,
    NUM_CARDS,
    cards_of,
    format_card,
    hand_of,
    parse_hand,
)
from ginrummy_env.core.cards import parse_card as card_of
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.deal import knock_limits
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.view import OPPONENT, View, make_view
from ginrummy_env.policy import make_policy
from ginrummy_env.records.recorder import GameRecord, replay

MANY = 100.0
"""Standard errors behind at which a candidate is given up: never."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """One candidate."""

    action: int
    value: float
    """Chance of winning the game, or points of the deal."""
    error: float
    """Standard error of the value."""
    gain: float
    """Over what the base policy does, in the same worlds."""
    gain_error: float
    endings: tuple[float, ...]
    """Shares, in the order of ENDINGS."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "action": format_action(self.action),
            "value": self.value,
            "error": self.error,
            "gain": self.gain,
            "gain_error": self.gain_error,
            "endings": dict(zip(ENDINGS, self.endings, strict=True)),
        }


def typed_view(
    hand: str,
    pile: str,
    rules: Rules,
    *,
    known: str = "",
    thrown: str = "",
    declined: str = "",
    taken: str = "",
    scores: tuple[int, int] = (0, 0),
    dealer: bool = False,
    opening: bool = False,
) -> View:
    """Return the view of a typed position, one row, the viewer to move.

    Args:
        hand: ten cards before the draw, eleven before the discard (or as the rules deal).
        pile: the discard pile, oldest first.
        rules: the settings.
        known: the opponent's cards taken from the pile.
        thrown: which cards of the pile the opponent has thrown.
        declined: upcards that the opponent left.
        taken: the upcard taken this turn, if it was.
        scores: of the viewer and of the opponent.
        dealer: whether the viewer dealt.
        opening: whether the first upcard is offered.

    Raises:
        ValueError: no such position.
    """
    mine, theirs = int(parse_hand(hand)), int(parse_hand(known))
    cards = [card_of(word) for word in pile.split()]
    size = mine.bit_count()
    few = rules.hand_size
    if size not in (few, few + 1):
        raise ValueError(f"hand {hand!r}: {size} cards, {few} or {few + 1} are needed")
    for card in (*cards_of(mine | theirs), *cards):
        if not _all([card]) & int(rules.full_deck):
            raise ValueError(
                f"{format_card(card)} is not in a deck of {rules.num_suits} suits and "
                f"{rules.num_ranks} ranks"
            )
    _require_one_place(
        {"hand": list(cards_of(mine)), "pile": cards, "known": list(cards_of(theirs))}
    )
    stock = rules.num_cards - size - few - len(cards)
    phase = Phase.DISCARD if size > few else Phase.OPENING if opening else Phase.DRAW
    if phase != Phase.DISCARD and not cards:
        raise ValueError("the discard pile is empty: before a draw there must be an upcard")
    if stock <= rules.void_stock or len(cards) > rules.num_pile:
        raise ValueError(f"{len(cards)} cards in the pile leave {stock} in the stock: it is over")
    just = card_of(taken) if taken else NO_CARD
    if just != NO_CARD and (phase != Phase.DISCARD or not mine & _all([just])):
        raise ValueError(f"taken {taken}: no card of a hand before the discard")
    if not cards and just == NO_CARD:
        raise ValueError("no discard pile, and no card taken from it")
    row = np.array([cards[0] if cards else just], dtype=np.int8)
    discarded = int(parse_hand(thrown))
    my_known = _all([just])

    def one(value: Any, dtype: type) -> Any:
        return np.array([value], dtype=dtype)

    return View(
        rules=rules,
        player=one(0, np.int8),
        to_move=one(True, np.bool_),
        is_dealer=one(dealer, np.bool_),
        phase=one(phase, np.int8),
        turn=one(max(len(cards) - 1, 0), np.int32),
        hand=one(mine, np.uint64),
        drawn_card=one(just, np.int8),
        taken_card=one(just, np.int8),
        upcard=one(cards[-1] if cards else NO_CARD, np.int8),
        discard_pile=one(cards + [NO_CARD] * (rules.num_pile - len(cards)), np.int8),
        discard_count=one(len(cards), np.int8),
        stock_count=one(stock, np.int8),
        first_upcard=row,
        knock_limit=knock_limits(row, rules),
        known=one([my_known, theirs], np.uint64),
        taken=one([my_known, theirs], np.uint64),
        discarded=one([_all(cards[1:]) & ~discarded, discarded], np.uint64),
        declined=one([0, parse_hand(declined)], np.uint64),
        history=np.zeros((1, 0), dtype=np.uint8),
        step_count=one(0, np.int32),
        scores=one(scores, np.int16),
        deals_won=one([0, 0], np.int32),
        deal_number=one(0, np.int32),
        outcome=one(Outcome.NONE, np.int8),
        winner=one(NOBODY, np.int8),
        points=one(0, np.int16),
        knocker=one(NOBODY, np.int8),
        knocker_deadwood=one(-1, np.int16),
        defender_deadwood=one(-1, np.int16),
        opponent_hand=one(0, np.uint64),
    )


def _require_one_place(places: dict[str, list[int]]) -> None:
    """Raise ValueError if a card is in two places, or twice in one."""
    where: dict[int, str] = {}
    for place, cards in places.items():
        for card in cards:
            if card in where:
                two = f"twice in --{place}" if where[card] == place else (
                    f"in --{where[card]} and in --{place}"
                )  # fmt: skip
                raise ValueError(f"{format_card(card)} is {two}: a card is in one place")
            where[card] = place


def _all(cards: Sequence[int]) -> int:
    """Return the mask of these cards, NO_CARD left out."""
    return int(hand_of(np.array([NO_CARD, *cards], dtype=np.int8)))


def recorded_view(record: GameRecord, deal: int, step: int) -> tuple[View, int]:
    """Return the view of the player to move before an action of a record, and the action.

    Args:
        record: a game.
        deal: its place in the record, from 0.
        step: the action's place in the deal, from 0.

    Raises:
        ValueError: no such deal or action.
    """
    if not 0 <= deal < len(record.deals):
        raise ValueError(f"deal {deal + 1}: the record has {len(record.deals)}")
    actions = record.deals[deal].actions
    if not 0 <= step < len(actions):
        raise ValueError(f"step {step + 1}: deal {deal + 1} has {len(actions)}")
    state = replay(record)[deal].select([step])
    return make_view(state, record.rules), int(actions[step])


@dataclass(frozen=True, slots=True)
class Weighing:
    """The candidates of a position, and how a search chooses from them."""

    search: Search
    candidates: tuple[Weighed, ...]
    """The best first."""
    base_name: str
    base: int
    """What the search's base policy does: gains are over it."""
    chosen: int
    """What the search does: the base's action unless another is ahead by more than its margin."""
    done: int | None
    """What was done, in a record."""
    opponent: OpponentBelief
    likely: tuple[tuple[int, float], ...]
    """Unseen cards that are clearly likelier than others to be the opponent's, with chances."""
    even: float
    """The chance of each if all were equally likely."""

    def sentences(self) -> list[str]:
        """Return what the search would do and why, and what it takes the opponent for."""
        gains = {each.action: Gain(each.gain, each.gain_error) for each in self.candidates}
        if self.done is not None and self.done not in (self.base, self.chosen):
            del gains[self.done]  # the search may not have weighed it
        told = why(self.search, self.base_name, self.base, self.chosen, gains, format_action)
        lines = [f"The search would {format_action(self.chosen)}. {told}"]
        lines.append(self.opponent.words("The opponent"))
        any_card = f"{100 * self.even:.0f} %"
        if self.likely:
            cards = ", ".join(f"{format_card(card)} {100 * x:.0f} %" for card, x in self.likely)
            lines.append(f"Likeliest in their hand: {cards} (the mean unseen card: {any_card}).")
        else:
            lines.append(f"No unseen card is much likelier than others in their hand: {any_card}.")
        return lines


MOST_LIKELY = 8
"""Cards of the opponent's that are named."""

CLEARLY = 1.2
"""How many times the chance of the mean unseen card a card needs to be named."""


def weigh(view: View, search: Search, seed: int, action: int | None = None) -> Weighing:
    """Return what a search makes of a position; no candidate is given up.

    Args:
        view: one row, the viewer to move.
        search: what weighs the candidates.
        seed: of the sampled worlds.
        action: what was done; weighed too.

    Raises:
        ValueError: nothing is to be decided.
    """
    if not bool(view.to_move[0]) or view.phase[0] not in (Phase.OPENING, Phase.DRAW, Phase.DISCARD):
        raise ValueError("there is nothing to weigh: one action, or nobody to move")
    row_keys = keys(np.uint64(seed), np.zeros(1, dtype=np.uint64))
    base = make_policy(search.base_spec(view.rules)).act(view, RowRandom(row_keys))
    found = candidates_of(view, base, search.discards)
    actions = found.actions.tolist()
    added = action is not None and action not in actions
    if action is not None and added:
        actions.append(action)
    alone = len(actions) == 1
    if alone:  # it is tried all the same, against itself
        actions *= 2
    tried = Candidates(
        np.zeros(len(actions), dtype=np.intp),
        np.array(actions, dtype=np.int16),
        np.zeros(1, dtype=np.intp),
    )
    trial = search.weigh(view, tried, row_keys, give_up=MANY)
    several = weighed(trial)[: 1 if alone else None]
    if added:
        trial.dropped[-1] = True  # the search itself does not weigh it
    chosen = int(trial.choice(search.margin)[0])
    belief = search.card_belief(view.rules)
    chances = np.zeros(NUM_CARDS) if belief is None else belief.chances(view)[0]
    unseen = list(cards_of(int(view.unseen[0])))
    even = (view.rules.hand_size - int(view.known[0, OPPONENT]).bit_count()) / max(len(unseen), 1)
    likely = [card for card in unseen if chances[card] > CLEARLY * even]
    ranked = sorted(likely, key=lambda card: -chances[card])[:MOST_LIKELY]
    return Weighing(
        search,
        tuple(sorted(several, key=lambda each: -each.value)),
        search.base_spec(view.rules),
        int(found.actions[0]),
        chosen,
        action,
        opponent_belief(search, view, RowRandom(keys(row_keys, OPPONENT))),
        tuple((card, float(chances[card])) for card in ranked),
        even,
    )


def weighed(trial: Trial) -> list[Weighed]:
    """Return what came out for each candidate of a trial of one position."""
    count = np.maximum(trial.count, 1)
    mean = trial.value / count
    error = np.sqrt(np.maximum(trial.square / count - mean**2, 0) / np.maximum(count - 1, 1))
    gain, gain_error = trial.mean_gain()
    return [
        Weighed(
            int(trial.found.actions[place]),
            float(mean[place]),
            float(error[place]),
            float(gain[place]),
            float(gain_error[place]),
            tuple((trial.endings[place] / count[place]).tolist()),
        )
        for place in range(len(mean))
    ]


def table(found: Weighing) -> Table:
    """Return the candidates as a table for the terminal.

    A tick marks what the search would do; a star what was done.
    """
    win = found.search.value == "win"
    scale, unit = (100, "%") if win else (1, "points")
    base = format_action(found.base)
    shown = Table(
        title="Candidates in the same sampled worlds, with 95 % intervals",
        title_justify="left", box=SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False,
    )  # fmt: skip
    shown.add_column("candidate", no_wrap=True)
    shown.add_column(f"{'wins game' if win else 'deal'}, {unit}", justify="right", no_wrap=True)
    shown.add_column(f"over {base}", justify="right", no_wrap=True)
    for name in ENDINGS:
        words = name.replace("opponent's ", "their\n").replace("undercut", "under-\ncut")
        shown.add_column(f"{words}\n%", justify="right")
    for each in found.candidates:
        marks = "✓" * (each.action == found.chosen) + "*" * (each.action == found.done)
        gain = f"{scale * each.gain:+.2f} ± {scale * HALF * each.gain_error:.2f}"
        shown.add_row(
            f"{format_action(each.action)} {marks}",
            f"{scale * each.value:.1f} ± {scale * HALF * each.error:.1f}",
            "–" if each.action == found.base else gain,
            *(f"{100 * share:.0f}" for share in each.endings),
        )
    return shown
