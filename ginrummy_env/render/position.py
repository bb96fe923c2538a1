"""What there is to show of a position, and the sentences that say it; `reading` fills it in."""

from collections.abc import Callable
from dataclasses import dataclass

from ginrummy_env.core.actions import BIG_GIN, DRAW_STOCK, KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import NO_CARD, POINTS
from ginrummy_env.core.state import Outcome, Phase

Cards = tuple[int, ...]
CardName = Callable[[int], str]
"""How a renderer writes a card within a sentence."""

NAMES = ("You", "Opponent")
"""What the viewer and the opponent are called by default."""

OUTCOME_WORDS = {
    Outcome.GIN: "gin",
    Outcome.BIG_GIN: "big gin",
    Outcome.KNOCK: "knock",
    Outcome.UNDERCUT: "undercut",
    Outcome.EQUAL: "equal deadwood",
    Outcome.GIN_ANSWERED: "gin answered by gin",
    Outcome.VOID: "void",
}


@dataclass(frozen=True, slots=True)
class Group:
    """Cards that lie together."""

    kind: str
    """``run``, ``set``, ``deadwood``, ``spare``, ``laid off``, ``taken`` (by the opponent)."""
    cards: Cards
    onto: Cards = ()
    """The meld that they are laid off on."""

    @property
    def points(self) -> int:
        """Points of the cards."""
        return int(POINTS[list(self.cards)].sum())

    @property
    def label(self) -> str:
        """The kind, and for deadwood its points."""
        return f"{self.kind} {self.points}" if self.kind == "deadwood" else self.kind


@dataclass(frozen=True, slots=True)
class Side:
    """One player."""

    name: str
    score: int
    deals_won: int
    final_score: int | None
    """Bonuses written, once the game is over."""
    is_dealer: bool
    to_move: bool
    won_deal: bool
    groups: tuple[Group, ...]
    """The cards seen, none twice."""
    unseen: int
    """How many cards are not."""
    known: Cards
    """Cards in the hand that the other player knows."""


@dataclass(frozen=True, slots=True)
class Position:
    """What one player sees, ready to be drawn."""

    me: Side
    opponent: Side
    rules: str
    target: int
    deal: int
    """Counted from 1."""
    turn: int
    """The turn that is played, counted from 1; at the end how many there were."""
    knock_limit: int
    phase: Phase
    stock_count: int
    pile: Cards
    """Oldest first; the last is the upcard."""
    drawn: int
    """The card I have drawn this turn, or NO_CARD."""
    knocks: tuple[tuple[int, int], ...]
    """What I may knock with: card and deadwood that is left, least first."""
    events: tuple[tuple[str, int, int], ...]
    """What was done in this deal: name, action, and the card that all saw or NO_CARD."""
    may: frozenset[int]
    """My legal actions other than discards and knocks."""
    outcome: Outcome
    knocker: str | None
    account: tuple[tuple[int, str], ...]
    """Where the points of the deal come from: numbers to be added, and how to write them."""
    doubled: bool
    """Whether the sum of ``account`` counts twice."""
    points: int
    void_reason: str

    @property
    def sides(self) -> tuple[Side, Side]:
        """The viewer and the opponent."""
        return self.me, self.opponent

    @property
    def over(self) -> bool:
        """Whether the deal is over."""
        return self.phase >= Phase.DEAL_OVER

    @property
    def limit_words(self) -> str:
        """The knock limit, in words."""
        if self.knock_limit == 0:
            return "gin only"
        return f"knock with {self.knock_limit} or less"

    def last_turn(self, card: CardName) -> str:
        """Return the last turn that was ended, and what the player to move has drawn since."""
        if not self.events:
            return "The cards are dealt."
        turns: list[tuple[str, list[str]]] = []
        for name, action, seen in self.events[-3:]:
            if not turns or turns[-1][0] != name:
                turns.append((name, []))
            turns[-1][1].append(_deed(action, seen, self.me.name == name, self.drawn, card))
        shown = turns[-2:] if self.phase == Phase.DISCARD else turns[-1:]
        return " ".join(f"{name} {', '.join(deeds)}." for name, deeds in shown)

    def to_do(self, card: CardName) -> str:
        """Return whose move it is and what may be done, or how the deal ended."""
        if self.over:
            return self.result(card)
        mover = self.me if self.me.to_move else self.opponent
        return f"{mover.name} to move: {self._choice(card)}."

    def _choice(self, card: CardName) -> str:
        upcard = card(self.pile[-1]) if self.pile else ""
        if self.phase == Phase.OPENING:
            return f"take {upcard} or pass"
        if self.phase == Phase.FIRST_DRAW:
            return "both passed, draw from the stock"
        if self.phase == Phase.DRAW:
            return f"draw from the stock or take {upcard}"
        if self.phase == Phase.WALL:
            may_take = not self.me.to_move or TAKE_UPCARD in self.may
            return f"the stock is out, take {upcard} or pass" if may_take else "pass"
        if BIG_GIN in self.may:
            return "big gin, or discard"
        if not self.knocks:
            return "discard"
        best = self.knocks[0][1]
        word = "gin" if best == 0 else "knock"
        cards = [card(c) for c, left in self.knocks if left == best]
        ways = " or ".join(cards[:3]) + (" …" if len(cards) > 3 else "")
        return f"discard, or {word} with {ways}" + (f" (leaves {best})" if best else "")

    def result(self, card: CardName) -> str:
        """Return how the deal ended, in a sentence."""
        if self.outcome == Outcome.NONE:
            return "Nothing has been dealt yet."
        words = OUTCOME_WORDS[self.outcome]
        if self.outcome == Outcome.VOID:
            return f"Void, {self.void_reason}: nobody scores."
        winner = next((side.name for side in self.sides if side.won_deal), None)
        if winner is None:
            return f"{self.knocker} laid down, {words}: nobody scores."
        if self.outcome == Outcome.UNDERCUT:
            return f"{self.knocker} knocked, {winner} undercut and won {points_words(self.points)}."
        if self.outcome == Outcome.GIN_ANSWERED:
            return f"{self.knocker} had gin, {winner} too and won {points_words(self.points)}."
        verb = "knocked" if self.outcome in (Outcome.KNOCK, Outcome.EQUAL) else f"had {words}"
        return f"{winner} {verb} and won {points_words(self.points)}."

    def sum_words(self) -> str:
        """Return how the points of the deal add up; empty if nobody scored."""
        if not self.points:
            return ""
        terms = "".join(
            f" {'−' if number < 0 else '+'} {words}" for number, words in self.account
        ).removeprefix(" + ")
        return f"{f'2 × ({terms})' if self.doubled else terms} = {self.points}"

    def game_result(self) -> str:
        """Return who won the game, in a sentence; empty if it is not over."""
        if self.phase != Phase.GAME_OVER or self.me.score == self.opponent.score:
            return ""
        first, second = sorted(self.sides, key=lambda side: side.score, reverse=True)
        return (
            f"{first.name} won the game {first.score} : {second.score}, "
            f"with bonuses {first.final_score} : {second.final_score}."
        )


def points_words(points: int) -> str:
    """Return a number of points in words.

    >>> points_words(1), points_words(20)
    ('1 point', '20 points')
    """
    return f"{points} point{'' if points == 1 else 's'}"


def _deed(action: int, seen: int, mine: bool, drawn: int, card: CardName) -> str:
    if action == DRAW_STOCK:
        return f"drew {card(drawn)}" if mine and drawn != NO_CARD else "drew"
    if action == TAKE_UPCARD:
        return f"took {card(seen)}"
    if action == PASS:
        return "passed"
    if action == BIG_GIN:
        return "laid down all cards"
    if action >= KNOCK:
        return f"knocked with {card(seen)}"
    return f"discarded {card(seen)}"
