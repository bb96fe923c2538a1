"""A person at the keyboard is a policy too: shown the view, asked for an action."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import (
    BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    PASS,
    TAKE_UPCARD,
    format_action,
    parse_action,
)
from ginrummy_env.core.cards import CARD_BIT, NUM_CARDS, cards_of, format_card
from ginrummy_env.core.chance import Random
from ginrummy_env.core.deadwood import NOT_HELD, deadwood, deadwood_after_discard
from ginrummy_env.core.layoff import knocker_arrangement
from ginrummy_env.core.melds import MELD_MASK, NO_MELD
from ginrummy_env.core.rules import rules_name
from ginrummy_env.core.view import ME, View, players_of
from ginrummy_env.render import position_text
from ginrummy_env.render.position import points_words
from ginrummy_env.render.text import sign_name
from ginrummy_training.play.wrapping import wrapped

HELP = """\
  draw              take the top card of the stock            (short: s)
  take              take the upcard                           (t)
  pass              leave the first upcard                    (p)
  d Ks              discard the king of spades                (discard Ks, or just Ks)
  knock Ks          discard it and lay down; gin is a knock   (k Ks)
  big gin           lay down eleven melded cards              (where the rules have it)
  melds             your cards in the best melds, and what each discard leaves   (m)
  log               what has been done in this deal           (l)
  show              the table again
  help              this list                                 (h, ?)
  quit              stop playing                              (q)
A card is written as it is shown, T♣, or with a letter for the suit, s h d c: Tc. The ten is T; 10
does too: 10♣ or 10c."""


CardName = Callable[[int], str]
"""How a card is written."""


class QuitGame(Exception):
    """The person wants to stop."""


class Human:
    """A policy that asks a person. Rows of a batch are asked one after another."""

    def __init__(
        self,
        ask: Callable[[str], str] | None = None,
        show: Callable[[str], object] = print,
        *,
        opponent: str = "Opponent",
        color: bool = False,
        ascii: bool = False,
        width: Callable[[], int] | None = None,
    ) -> None:
        """Say how to talk to the person.

        Args:
            ask: shows a prompt and returns a line; raises EOFError when there is none. `input` if
                None.
            show: shows text.
            opponent: what the other player is called.
            color: whether the terminal has colours.
            ascii: letters for the suits.
            width: returns the columns at which lines are broken; None: they are not.
        """
        self.ask, self._show, self.width = ask or input, show, width
        self.names = ("You", opponent)
        self.color, self.ascii = color, ascii
        self.card: CardName = format_card if ascii else sign_name

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return the person's action for each row where it is their move.

        Args:
            view: N rows; only what this player may see is shown.
            rng: not used.

        Raises:
            QuitGame: they want to stop, or there is no more input.
        """
        actions = np.full(len(view), -1, dtype=np.int16)
        for row in np.flatnonzero(view.to_move):
            actions[row] = self._choose(view.select([row]))
        return actions

    def show(self, text: str) -> None:
        """Show a text, its lines broken where the terminal ends."""
        self._show(text if self.width is None else wrapped(text, self.width()))

    def table(self, view: View) -> None:
        """Show the table as the player sees it."""
        self.show(position_text(view, names=self.names, color=self.color, ascii=self.ascii))

    def line(self, prompt: str) -> str:
        """Return what the person types, in lower case.

        Raises:
            QuitGame: they type quit, or there is no more input.
        """
        try:
            typed = " ".join(self.ask(prompt).lower().split())
        except EOFError:
            raise QuitGame from None
        if typed in ("quit", "q", "exit"):
            raise QuitGame
        return typed

    def _choose(self, view: View) -> int:
        """Ask until there is a legal action."""
        legal = np.flatnonzero(view.action_masks()[0]).tolist()
        self.table(view)
        if len(legal) == 1:
            self.line(f"Only one thing can be done: {format_action(legal[0])}. Press Enter. ")
            return int(legal[0])
        while True:
            typed = self.line(f"{_choices(legal)}> ")
            if typed in ("help", "h", "?"):
                self.show(HELP)
            elif typed in ("melds", "m"):
                self.show(melds_text(view, self.card))
            elif typed in ("log", "l"):
                self.show(log_text(view, self.names, self.card))
            elif typed in ("show", ""):
                self.table(view)
            else:
                try:
                    action = read_action(typed)
                except ValueError as error:
                    self.show(f"{error}. Type help for what can be typed.")
                    continue
                if action in legal:
                    return action
                self.show(why_not(view, action, legal, self.card))


def read_action(typed: str) -> int:
    """Return the action that a person's words mean.

    Raises:
        ValueError: they mean none.

    >>> read_action("d ks") == read_action("discard Ks") == read_action("Ks") == 12
    True
    """
    short = {"s": "draw", "t": "take", "p": "pass", "d": "discard", "k": "knock", "gin": "knock"}
    first, _, rest = typed.partition(" ")
    first = short.get(first, first)
    if first in ("discard", "knock") and not rest:
        raise ValueError(f"which card? Type for example: {first} Ks")
    try:
        if first not in ("draw", "take", "pass", "big", "discard", "knock"):
            return parse_action(f"discard {typed}")
        return parse_action(f"{first} {rest}".strip())
    except ValueError:
        if first in ("discard", "knock"):
            raise ValueError(f"{rest!r} is not a card") from None
        raise ValueError(f"{typed!r} is not understood") from None


def _choices(legal: list[int]) -> str:
    """Return in short what can be done."""
    kinds = []
    if any(action < KNOCK for action in legal):
        kinds.append("d CARD")
    if any(KNOCK <= action < DRAW_STOCK for action in legal):
        kinds.append("knock CARD")
    kinds += [format_action(a) for a in (DRAW_STOCK, TAKE_UPCARD, PASS, BIG_GIN) if a in legal]
    return f"[{', '.join(kinds)}, melds, help] "


def why_not(view: View, action: int, legal: list[int], card_name: CardName = sign_name) -> str:
    """Return why an action is not legal, in a sentence."""
    if action < DRAW_STOCK:
        card = action % NUM_CARDS
        name = card_name(card)
        if not any(other < DRAW_STOCK for other in legal):
            ways = " or ".join(format_action(other) for other in legal)
            return f"First you have to draw a card: {ways}."
        if not view.hand[0] & CARD_BIT[card]:
            return f"You do not hold {name}."
        if view.taken_card[0] == card and not view.rules.discard_taken_upcard:
            return f"You have just taken {name} from the pile: it has to stay this turn."
        if action >= KNOCK:
            left = points_words(int(deadwood(view.hand & ~CARD_BIT[card])[0]))
            most = int(view.knock_limit[0])
            return f"Without {name} you have {left} of deadwood; {most} is the most to knock."
        return "At this point you have to knock."
    if action == BIG_GIN:
        return f"Big gin needs {view.rules.hand_size + 1} melded cards, and rules that have it."
    ways = " or ".join(format_action(other) for other in legal if other >= DRAW_STOCK)
    return f"You cannot {format_action(action)} now; you can {ways or 'discard a card'}."


def melds_text(view: View, card_name: CardName = format_card) -> str:
    """Return a player's cards in the best melds, and after a draw what each discard leaves."""
    hands = view.hand[:1]
    lines = []
    if np.bitwise_count(hands[0]) == view.rules.hand_size:
        lines.append(_arranged(view, hands, card_name))
        lines.append(f"Knock with {int(view.knock_limit[0])} or less ({rules_name(view.rules)}).")
        return "\n".join(lines)
    after = deadwood_after_discard(hands)[0].astype(int)
    forbidden = -1 if view.rules.discard_taken_upcard else int(view.taken_card[0])
    cards = [card for card in np.argsort(after, kind="stable").tolist() if after[card] != NOT_HELD]
    limit = int(view.knock_limit[0])
    for card in cards:
        left = after[card]
        note = "gin" if left == 0 else "may knock" if left <= limit else ""
        if card == forbidden:
            note = "just taken, has to stay"
        rest = _arranged(view, hands & ~CARD_BIT[card], card_name)
        lines.append(f"  without {card_name(card)}: {rest}{f'  ({note})' if note else ''}")
    return "\n".join(lines)


def _arranged(view: View, hands: NDArray[np.uint64], card_name: CardName) -> str:
    """Return cards in the engine's arrangement: melds, deadwood and its points."""
    melds, points = knocker_arrangement(hands, view.discards[:1], view.rules.full_deck)
    chosen = MELD_MASK[melds[0][melds[0] != NO_MELD]]
    rest_mask = hands[0] & ~np.bitwise_or.reduce(chosen, initial=np.uint64(0))
    *melded, rest = (" ".join(map(card_name, cards_of(mask))) for mask in (*chosen, rest_mask))
    words = melded or ["no meld"]
    return " | ".join([*words, f"deadwood {int(points[0])}: {rest}" if rest else "gin"])


def log_text(view: View, names: tuple[str, str], card_name: CardName = format_card) -> str:
    """Return the actions of the deal so far, one line per turn; opponent's draws stay hidden."""
    turns: list[tuple[str, list[str]]] = []
    upcards: list[int] = [int(view.first_upcard[0])]
    for player, action in zip(players_of(view)[0].tolist(), view.history[0].tolist(), strict=True):
        if player < 0:
            break
        words = format_action(action)
        if action == TAKE_UPCARD:
            words = f"take {card_name(upcards.pop())}"
        elif action < DRAW_STOCK:
            upcards.append(action % NUM_CARDS)
            words = f"{words.split()[0]} {card_name(upcards[-1])}"
        name = names[0] if player == ME else names[1]
        if not turns or turns[-1][0] != name:
            turns.append((name, []))
        turns[-1][1].append(words)
    if not turns:
        return "Nothing yet."
    width = max(map(len, names))
    return "\n".join(f"  {name:<{width}}  {', '.join(deeds)}" for name, deeds in turns)
