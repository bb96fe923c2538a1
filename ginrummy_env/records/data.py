"""What a record of a game holds: plain values, no arrays."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.cards import NUM_CARDS, cards_of
from ginrummy_env.core.chance import MAX_SEED
from ginrummy_env.core.checks import quoted, real, whole
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.settlement import DealEnd
from ginrummy_env.core.state import NOBODY, NUM_PLAYERS

Cards = tuple[int, ...]
Pair = tuple[int, int]
"""One number for each player."""

MAX_ACTIONS = 20_003
"""Most actions of a deal: what the greatest turn bound allows."""
MAX_NAME = 100
MAX_NOTE = 500
"""Most characters of a player's name and of a note."""
MAX_SCORE = 32_767
MAX_DEALS = 2**31 - 1


class RecordError(ValueError):
    """A record that is corrupt, or that the rules do not allow.

    Attributes:
        reason: what is wrong.
        line: the number of the line, from 1, or None where there is no text.
        path: the file, or None.
    """

    def __init__(self, reason: str, line: int | None = None, path: str | None = None) -> None:
        """Say where and what."""
        self.reason, self.line, self.path = reason, line, path
        where = ", ".join(part for part in (path, f"line {line}" if line else None) if part)
        super().__init__(f"{where}: {reason}" if where else reason)

    def __reduce__(self) -> tuple[type, tuple[str, int | None, str | None]]:
        """Pickle by the arguments, as worker processes need."""
        return type(self), (self.reason, self.line, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """Remarks on one action of a deal, for example what a search thought of the candidates.

    Raises:
        ValueError: no remark at all; an invalid or repeated action or card; a number that is not
            finite, or not a probability; text that is not plain.
    """

    step: int
    """Which action of the deal, from 0."""

    values: tuple[tuple[int, float], ...] = ()
    """Legal actions and what each is worth, in any unit."""

    intervals: tuple[tuple[int, float], ...] = ()
    """Of these actions half the width of the 95 % interval of what each is worth more or less than
    the first of them, whose own is 0."""

    note: str = ""
    """One line of at most 500 characters."""

    estimate: tuple[tuple[int, float], ...] = ()
    """Cards and how likely each is in the opponent's hand, from 0 to 1."""

    def __post_init__(self) -> None:
        _set(self, "step", whole("step", self.step, 0, MAX_ACTIONS - 1))
        estimate = tuple(
            (whole("card", card, 0, NUM_CARDS - 1), real("share", share, 0, 1))
            for card, share in self.estimate
        )
        _set(self, "estimate", estimate)
        if len({card for card, _ in estimate}) < len(estimate):
            raise ValueError(f"estimate of action {self.step}: a card appears twice")
        values = tuple(
            (whole("action", action, 0, NUM_ACTIONS - 1), real("value", value))
            for action, value in self.values
        )
        _set(self, "values", values)
        if len({action for action, _ in values}) < len(values):
            raise ValueError(f"values of action {self.step}: an action appears twice")
        halves = tuple(
            (whole("action", action, 0, NUM_ACTIONS - 1), real("half", half, 0))
            for action, half in self.intervals
        )
        _set(self, "intervals", halves)
        if len({action for action, _ in halves}) < len(halves):
            raise ValueError(f"intervals of action {self.step}: an action appears twice")
        if halves and halves[0][1]:
            raise ValueError(
                f"intervals of action {self.step}: the others are compared with the first action, "
                f"so its own is 0, not {halves[0][1]:g}"
            )
        if self.note:
            require_line("note", self.note, MAX_NOTE)
        elif not values and not estimate and not halves:
            raise ValueError(f"annotation of action {self.step}: neither values nor a note")


@dataclass(frozen=True, slots=True, kw_only=True)
class DealRecord:
    """One deal: what was dealt and what was done; the rest follows.

    Raises:
        ValueError: an invalid deck, dealer, action or annotation.
    """

    number: int
    """Of the deal in its game, from 0."""
    dealer: int
    deck: Cards
    """[Rules.num_cards] in dealing order."""
    actions: tuple[int, ...]
    """In order, 0..107."""
    end: DealEnd | None = None
    """None while the deal is not over."""
    annotations: tuple[Annotation, ...] = ()
    """At most one for each action, in order."""

    def __post_init__(self) -> None:
        _set(self, "number", whole("deal number", self.number, 0, MAX_DEALS))
        _set(self, "dealer", whole("dealer", self.dealer, 0, NUM_PLAYERS - 1))
        _set(self, "deck", _numbers("card", self.deck, NUM_CARDS))
        _set(self, "actions", _numbers("action", self.actions, NUM_ACTIONS))
        if len(set(self.deck)) < len(self.deck):
            raise ValueError(f"deck={self.deck}: each card once is needed")
        if len(self.actions) > MAX_ACTIONS:
            raise ValueError(f"{len(self.actions)} actions: at most {MAX_ACTIONS} may be recorded")
        _set(self, "annotations", tuple(self.annotations))
        steps = [annotation.step for annotation in self.annotations]
        if steps != sorted(set(steps)) or (steps and steps[-1] >= len(self.actions)):
            raise ValueError(
                f"annotations of the actions {steps}: ascending numbers below "
                f"{len(self.actions)} are needed, each once"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A game, or a part of one: consecutive deals under one set of rules.

    `recorder.replay` says whether the rules allow it.

    Raises:
        ValueError: an invalid value, such as a name with a line break.
    """

    rules: Rules
    deals: tuple[DealRecord, ...]
    seed: int | None = None
    game_number: int | None = None
    """With the seed, names the game; both are None if chance did not deal."""
    players: tuple[str, str] | None = None
    """The players' names: one line each, at most 100 characters."""
    start_scores: Pair = (0, 0)
    """Points before the first of these deals."""
    start_deals_won: Pair = (0, 0)

    def __post_init__(self) -> None:
        _set(self, "deals", tuple(self.deals))
        if not self.deals:
            raise ValueError("deals=(): at least one deal is needed")
        deck = set(cards_of(self.rules.full_deck))
        for deal in self.deals:
            if set(deal.deck) != deck:
                raise ValueError(
                    f"deal {deal.number}: deck={deal.deck}: the {len(deck)} cards of the rules are "
                    "needed, each once"
                )
        if (self.seed is None) != (self.game_number is None):
            raise ValueError(f"seed={self.seed}, game_number={self.game_number}: both or none")
        for name in ("seed", "game_number"):
            if getattr(self, name) is not None:
                _set(self, name, whole(name, getattr(self, name), 0, MAX_SEED))
        for name in ("players", "start_scores", "start_deals_won"):
            pair = getattr(self, name)
            if pair is not None and (type(pair) is not tuple or len(pair) != NUM_PLAYERS):
                raise ValueError(f"{name}={pair!r}: a tuple of two is needed, one per player")
        for player in self.players or ():
            require_line("name", player, MAX_NAME)
        for name in ("start_scores", "start_deals_won"):
            first, second = (whole(name, number, 0, MAX_SCORE) for number in getattr(self, name))
            _set(self, name, (first, second))

    @property
    def scores(self) -> Pair:
        """Both players' points after the last deal that is over."""
        end = self.last_end
        return end.scores if end else self.start_scores

    @property
    def deals_won(self) -> Pair:
        """How many deals each player has won."""
        end = self.last_end
        return end.deals_won if end else self.start_deals_won

    @property
    def last_end(self) -> DealEnd | None:
        """The end of the last deal that is over, or None."""
        return next((deal.end for deal in reversed(self.deals) if deal.end), None)

    @property
    def finished(self) -> bool:
        """Whether a player has reached the target."""
        return max(self.scores) >= self.rules.target

    @property
    def winner(self) -> int:
        """Who won the game; NOBODY while it is not over."""
        if not self.finished:
            return NOBODY
        return int(self.scores[1] > self.scores[0])

    @property
    def final_scores(self) -> Pair | None:
        """Both players' points with all bonuses, or None while the game is not over."""
        if not self.finished:
            return None
        scores = np.array([self.scores], dtype=np.int16)
        deals_won = np.array([self.deals_won], dtype=np.int32)
        first, second = final_scores(scores, deals_won, self.rules)[0].tolist()
        return first, second


def require_line(what: str, text: str, most: int) -> str:
    """Return the text, or raise ValueError if it would not survive being written in a line."""
    if not isinstance(text, str) or not text or len(text) > most:
        raise ValueError(f"{what} {quoted(text)}: 1 to {most} characters are needed")
    if not text.isprintable() or text != " ".join(text.split()):
        raise ValueError(
            f"{what} {quoted(text)}: one line is needed, with single spaces between its words"
        )
    return text


def _numbers(what: str, numbers: Iterable[int], count: int) -> tuple[int, ...]:
    return tuple(whole(what, number, 0, count - 1) for number in numbers)


def _set(record: object, name: str, value: object) -> None:
    """Set a field of a frozen record while it is made."""
    object.__setattr__(record, name, value)
