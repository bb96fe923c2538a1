"""The arena's protocol: what is sent about a view; see docs/ARENA.md, and `answers`.

One JSON object per line. Messages are made from views alone, so a program is sent what its seat may
see and nothing else. A message that asks for a move is put together from ready-made pieces of text:
with hundreds of games at once a decision must cost microseconds.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import (
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    TAKE_UPCARD,
    format_action,
)
from ginrummy_env.core.cards import (
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    cards_of,
    format_card,
    format_hand,
)
from ginrummy_env.core.melds import MELD_MASK, NO_MELD
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.view import ME, OPPONENT, View, players_of
from ginrummy_env.policy import Melds, Showdown

VERSION = 1
"""Of the protocol. A program that speaks another one is refused."""

MOVE, LAY_DOWN, DEAL_OVER, GAME_OVER = "move", "lay_down", "deal_over", "game_over"

SECTIONS = ("text", "words")
"""What a program may ask for beyond the usual: the position as text, the legal actions in words."""

_NUMBERS = [str(number) for number in range(1 << 10)]
_PHASES = {phase: phase.name.lower() for phase in Phase}
_CARDS = [f'"{format_card(card)}"' for card in range(NUM_CARDS)] + ["null"]  # [-1] is NO_CARD
_OUTCOMES = {outcome: outcome.name.lower() for outcome in Outcome}
_WHO = ("you", "opponent")
_NAMES = {ME: "you", OPPONENT: "opponent", NOBODY: "nobody"}


def hello(rules: Rules, own_melds: bool = False) -> bytes:
    """Return the first line of all: the version, the rules and the names of the actions.

    Args:
        rules: the settings.
        own_melds: whether the program lays down melds of its own choice.
    """
    return line(
        {
            "type": "hello",
            "protocol": VERSION,
            "rules": rules_name(rules),
            "settings": rules.to_dict(),
            "melds": "own" if own_melds else "exact",
            "actions": [format_action(action) for action in range(NUM_ACTIONS)],
        }
    )


def line(message: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"


@cache
def _lane_text() -> list[list[str]]:
    """Return the cards of each suit's 8,192 patterns as text, a space behind each card."""
    texts = []
    for suit in range(NUM_SUITS):
        names = [f"{format_card(suit * NUM_RANKS + rank)} " for rank in range(NUM_RANKS)]
        lanes = [""]
        for name in names:
            lanes += [each + name for each in lanes]
        texts.append(lanes)
    return texts


def hand_texts(hands: NDArray[np.uint64]) -> list[str]:
    """Return hands as text, suits in the order s h d c and ranks from the ace.

    Args:
        hands: [N] uint64.

    >>> hand_texts(np.uint64([0, 0x2001 | 1 << 13 + 16]))
    ['', 'As']
    """
    spades, hearts, diamonds, clubs = _lane_text()
    lanes = np.ascontiguousarray(hands).view(np.uint16).reshape(-1, NUM_SUITS) & 0x1FFF
    return [(spades[s] + hearts[h] + diamonds[d] + clubs[c])[:-1] for s, h, d, c in lanes.tolist()]


@cache
def _event_words() -> tuple[list[str], list[str]]:
    """Return each action as an event by you and by the opponent, in quotes."""
    both = []
    for who in _WHO:
        words = []
        for action in range(NUM_ACTIONS):
            if action < KNOCK:
                said = f"discard {format_card(action)}"
            elif action < DRAW_STOCK:
                said = f"knock {format_card(action - KNOCK)}"
            else:
                said = format_action(action)
            words.append(f'"{who} {said}"')
        both.append(words)
    return both[0], both[1]


def events(view: View, since: Sequence[int]) -> list[str]:
    """Return what has happened in each game, as the inside of a JSON list of texts.

    Args:
        view: N rows.
        since: [N] how many actions of the deal have been reported before.

    Returns:
        N texts such as ``"opponent take 7h","opponent discard Kd"``. A card taken is named; so is
        the card that you drew last, and no other from the stock.
    """
    mine, others = _event_words()
    who = players_of(view)
    first = min(since, default=0)  # what all rows have been told of need not be looked at
    found = []
    rows = zip(
        view.history[:, first:].tolist(),
        who[:, first:].tolist(),
        view.step_count.tolist(),
        since,
        view.drawn_card.tolist(),
        strict=True,
    )
    for row, (history, players, count, start, drawn) in enumerate(rows):
        said = []
        for at in range(start - first, count - first):
            action = history[at]
            words = (others if players[at] else mine)[action]
            if action == TAKE_UPCARD:
                words = f'{words[:-1]} {_taken_at(view, row, at + first)}"'
            elif action == DRAW_STOCK and drawn != NO_CARD and at == count - first - 1:
                words = f'{words[:-1]} {format_card(drawn)}"'
            said.append(words)
        found.append(",".join(said))
    return found


def _taken_at(view: View, row: int, at: int) -> str:
    """Return the upcard that was taken as action ``at``: the last discard not taken since."""
    taken = 0
    for action in view.history[row, :at][::-1].tolist():
        if action == TAKE_UPCARD:
            taken += 1
        elif action < DRAW_STOCK:
            if not taken:
                return format_card(action % NUM_CARDS)
            taken -= 1
    return format_card(view.first_upcard[row])


def move_requests(
    view: View,
    games: Sequence[int],
    since: Sequence[int],
    masks: NDArray[np.bool_],
    sections: Iterable[str] = (),
) -> list[bytes]:
    """Return the lines that ask for a move, one per row.

    Args:
        view: N rows in which it is the viewer's move.
        games: [N] the numbers by which the program knows the games.
        since: [N] how many actions of the deal have been reported before.
        masks: [N, 108] bool, the legal actions.
        sections: what the program asked for.
    """
    rows, actions = np.nonzero(masks)
    ends = np.cumsum(np.bincount(rows, minlength=len(view))).tolist()
    legal = [_NUMBERS[action] for action in actions.tolist()]
    wanted = _wanted(view, actions, ends, sections)
    lines, start = [], 0
    columns = zip(
        games,
        view.deal_number.tolist(),
        view.is_dealer.tolist(),
        view.phase.tolist(),
        view.turn.tolist(),
        hand_texts(view.hand),
        view.upcard.tolist(),
        view.drawn_card.tolist(),
        view.stock_count.tolist(),
        view.knock_limit.tolist(),
        view.scores.tolist(),
        events(view, since),
        ends,
        wanted,
        strict=True,
    )
    for (
        game,
        deal,
        dealer,
        phase,
        turn,
        hand,
        up,
        drawn,
        stock,
        limit,
        scores,
        seen,
        end,
        more,
    ) in columns:
        lines.append(
            f'{{"type":"move","game":{game},"deal":{deal},"dealer":"{_WHO[1 - dealer]}",'
            f'"phase":"{_PHASES[phase]}","turn":{turn},"hand":"{hand}","upcard":{_CARDS[up]},'
            f'"drawn":{_CARDS[drawn]},"stock":{stock},"knock_limit":{limit},"scores":{scores},'
            f'"events":[{seen}],"legal":[{",".join(legal[start:end])}]{more}}}\n'.encode()
        )
        start = end
    return lines


def _wanted(
    view: View, actions: NDArray[np.intp], ends: list[int], sections: Iterable[str]
) -> list[str]:
    """Return the sections that a program asked for, as JSON to put behind the rest of a message."""
    found = [""] * len(view)
    if "words" in sections:
        words = [f'"{format_action(action)}"' for action in actions.tolist()]
        starts = [0, *ends[:-1]]
        found = [f',"words":[{",".join(words[a:b])}]' for a, b in zip(starts, ends, strict=True)]
    if "text" in sections:
        from ginrummy_env.render.text import position_text

        for row in range(len(view)):
            text = position_text(view, row, ascii=True)
            found[row] += f',"text":{json.dumps(text)}'
    return found


def meld_requests(
    view: View, games: Sequence[int], since: Sequence[int], knocked: Sequence[Melds]
) -> list[bytes]:
    """Return the lines that ask defenders for their melds, one per row.

    Args:
        view: N rows in which the opponent has knocked.
        games: [N] the numbers by which the program knows the games.
        since: [N] how many actions of the deal have been reported before.
        knocked: [N] what the knockers have laid down.
    """
    rows = zip(
        games,
        view.deal_number.tolist(),
        view.is_dealer.tolist(),
        hand_texts(view.hand),
        events(view, since),
        knocked,
        strict=True,
    )
    return [
        f'{{"type":"lay_down","game":{game},"deal":{deal},"dealer":"{_WHO[1 - dealer]}",'
        f'"hand":"{hand}","events":[{seen}],"knocker_melds":[{_quoted(melds)}]}}\n'.encode()
        for game, deal, dealer, hand, seen, melds in rows
    ]


def deal_reports(
    view: View,
    games: Sequence[int],
    since: Sequence[int],
    shown: Mapping[int, Showdown] | None = None,
) -> list[bytes]:
    """Return the lines that report the end of deals, one per row; no answer is due.

    Args:
        view: N rows whose deal is over.
        games: [N] the numbers by which the program knows the games.
        since: [N] how many actions of the deal have been reported before.
        shown: by row, what lies on the table where the players' own melds settled the deal.
    """
    tables = _tables(view, shown or {})
    hands, others = hand_texts(view.hand), hand_texts(view.opponent_hand)
    columns = zip(
        games,
        view.deal_number.tolist(),
        view.is_dealer.tolist(),
        events(view, since),
        view.outcome.tolist(),
        view.winner.tolist(),
        view.points.tolist(),
        view.scores.tolist(),
        view.knocker.tolist(),
        view.knocker_deadwood.tolist(),
        view.defender_deadwood.tolist(),
        strict=True,
    )
    lines = []
    for row, (
        game,
        deal,
        dealer,
        seen,
        outcome,
        winner,
        points,
        scores,
        knocker,
        knocking,
        defending,
    ) in enumerate(columns):
        said = (
            f'{{"type":"deal_over","game":{game},"deal":{deal},"dealer":"{_WHO[1 - dealer]}",'
            f'"events":[{seen}],"outcome":"{_OUTCOMES[outcome]}","winner":"{_NAMES[winner]}",'
            f'"points":{points},"scores":{scores},"hand":"{hands[row]}"'
        )
        if knocker != NOBODY:
            table = tables[row]
            layoffs = ",".join(
                f'["{_in_order(cards, meld)}","{_text(meld)}"]'
                for cards, meld in zip(table.layoffs, table.knocker_melds, strict=True)
                if cards
            )
            said += (
                f',"knocker":"{_NAMES[knocker]}","opponent_hand":"{others[row]}",'
                f'"knocker_melds":[{_quoted(table.knocker_melds)}],'
                f'"defender_melds":[{_quoted(table.defender_melds)}],"layoffs":[{layoffs}],'
                f'"deadwood":{{"knocker":{knocking},"defender":{defending}}}'
            )
        lines.append(f"{said}}}\n".encode())
    return lines


def _tables(view: View, shown: Mapping[int, Showdown]) -> dict[int, Showdown]:
    """Return what lies on the table, by row: by the rules where it is not ``shown``."""
    rows = [row for row in np.flatnonzero(view.knocker != NOBODY).tolist() if row not in shown]
    if not rows:
        return dict(shown)
    laid = view.select(rows).laid_down()
    tables = dict(shown)
    for place, row in enumerate(rows):
        knocked, defended = (
            tuple(MELD_MASK[melds[place]].tolist()[: int((melds[place] != NO_MELD).sum())])
            for melds in (laid.knocker_melds, laid.defence.melds)
        )
        layoffs = tuple(laid.defence.layoffs[place, : len(knocked)].tolist())
        tables[row] = Showdown(knocked, defended, layoffs)
    return tables


@lru_cache(1 << 14)
def _text(cards: int) -> str:
    return format_hand(cards)


@lru_cache(1 << 14)
def _in_order(cards: int, meld: int) -> str:
    """Return cards that are laid off on a meld so that each one fits when it comes."""
    grown, said = cards_of(meld), []
    waiting = cards_of(cards)
    while waiting:
        near = min(waiting, key=lambda card: min(abs(card - other) for other in grown))
        waiting.remove(near)
        grown.append(near)
        said.append(format_card(near))
    return " ".join(said)


def _quoted(melds: Melds) -> str:
    return ",".join(f'"{_text(meld)}"' for meld in melds)
