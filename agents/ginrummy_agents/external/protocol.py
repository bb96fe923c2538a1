"""The arena's protocol: what is sent about a view, and what an answer means; see docs/ARENA.md.

One JSON object per line. Messages are made from views alone, so a program is sent what its seat may
see and nothing else. A message that asks for a move is put together from ready-made pieces of text:
with hundreds of games at once a decision must cost microseconds.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import (
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    TAKE_UPCARD,
    format_action,
    parse_action,
)
from ginrummy_env.core.cards import (
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    format_card,
    format_hand,
)
from ginrummy_env.core.melds import MELDS, NO_MELD
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.view import ME, View, players_of

VERSION = 1
"""Of the protocol. A program that speaks another one is refused."""

MOVE, DEAL_OVER, GAME_OVER = "move", "deal_over", "game_over"

SECTIONS = ("text", "words")
"""What a program may ask for beyond the usual: the position as text, the legal actions in words."""

_NUMBERS = [str(number) for number in range(1 << 10)]
_PHASES = {phase: phase.name.lower() for phase in Phase}
_CARDS = [f'"{format_card(card)}"' for card in range(NUM_CARDS)] + ["null"]  # [-1] is NO_CARD
_WHO = ("you", "opponent")


def hello(rules: Rules) -> bytes:
    """Return the first line of all: the version, the rules and the names of the actions."""
    return line(
        {
            "type": "hello",
            "protocol": VERSION,
            "rules": rules_name(rules),
            "settings": rules.to_dict(),
            "actions": [format_action(action) for action in range(NUM_ACTIONS)],
        }
    )


def line(message: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def read_ready(content: bytes) -> tuple[str, tuple[str, ...]]:
    """Return a program's name, and the sections that it asks for, from its first line.

    Raises:
        ValueError: it is not the answer to `hello`; says what was wrong.
    """
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or given.get("type") != "ready":
        raise ValueError(
            f'answered {shortened(content)} to hello; {{"type": "ready", "protocol": {VERSION}}} '
            "is needed"
        )
    if given.get("protocol") != VERSION:
        raise ValueError(f"speaks protocol {given.get('protocol')!r}; this is protocol {VERSION}")
    name, sections = given.get("name", ""), given.get("send", [])
    if not isinstance(name, str) or len(name) > 64:
        raise ValueError("its name must be a text of at most 64 characters")
    if not isinstance(sections, list) or not all(each in SECTIONS for each in sections):
        raise ValueError(f"send={sections!r}: a list with any of {', '.join(SECTIONS)} is needed")
    return name, tuple(sections)


def shortened(content: bytes) -> str:
    """Return the start of what a program wrote, fit for an error message."""
    text = content[:80].decode(errors="replace")
    return repr(text + ("..." if len(content) > 80 else ""))


def read_answer(content: bytes) -> tuple[int, int | None, str]:
    """Return the game, the action and what is wrong with it, from an answer's line.

    The action may be its number or its words. It may still not be legal.

    Returns:
        (game, action, ""), or (game, None, what is wrong).

    Raises:
        ValueError: the line does not even name a game.
    """
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError(f"wrote {shortened(content)}, which is not JSON") from None
    game = given.get("game") if isinstance(given, dict) else None
    if not isinstance(game, int) or isinstance(game, bool):
        raise ValueError(f'wrote {shortened(content)}, which has no number as "game"')
    action = given.get("action")
    if isinstance(action, str):
        try:
            return game, parse_action(action), ""
        except ValueError as error:
            return game, None, str(error)
    if isinstance(action, bool) or not isinstance(action, int):
        return game, None, f"answered {shortened(content)}: the number or the words of an action"
    if not 0 <= action < NUM_ACTIONS:
        return game, None, f"answered action {action}: there are 0 to {NUM_ACTIONS - 1}"
    return game, action, ""


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
    found = []
    rows = zip(view.history.tolist(), who.tolist(), view.step_count.tolist(), since, strict=True)
    for row, (history, players, count, start) in enumerate(rows):
        said = []
        for at in range(start, count):
            action = history[at]
            words = (others if players[at] else mine)[action]
            if action == TAKE_UPCARD:
                words = f"{words[:-1]} {_taken_at(view, row, history, at)}"
            elif action == DRAW_STOCK and at == count - 1 and view.drawn_card[row] != NO_CARD:
                words = f"{words[:-1]} {format_card(view.drawn_card[row])}"
            else:
                said.append(words)
                continue
            said.append(words + '"')
        found.append(",".join(said))
    return found


def _taken_at(view: View, row: int, history: list[int], at: int) -> str:
    """Return the upcard that was taken as action ``at``: the last discard not taken since."""
    taken = 0
    for action in reversed(history[:at]):
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


def deal_reports(view: View, games: Sequence[int], since: Sequence[int]) -> list[bytes]:
    """Return the lines that report the end of deals, one per row; no answer is due.

    Args:
        view: N rows whose deal is over.
        games: [N] the numbers by which the program knows the games.
        since: [N] how many actions of the deal have been reported before.
    """
    lines = []
    knocked = np.flatnonzero(view.knocker != NOBODY)
    laid = view.select(knocked).laid_down() if knocked.size else None
    place = dict(zip(knocked.tolist(), range(len(knocked)), strict=True))
    for row, (game, seen) in enumerate(zip(games, events(view, since), strict=True)):
        message: dict[str, Any] = {
            "type": DEAL_OVER,
            "game": game,
            "deal": int(view.deal_number[row]),
            "dealer": _WHO[1 - int(view.is_dealer[row])],
            "events": json.loads(f"[{seen}]"),
            "outcome": Outcome(int(view.outcome[row])).name.lower(),
            "winner": _name(view.winner[row]),
            "points": int(view.points[row]),
            "scores": view.scores[row].tolist(),
            "hand": format_hand(view.hand[row]),
        }
        if laid is not None and row in place:
            at = place[row]
            melds = _melds(laid.knocker_melds[at])
            message |= {
                "knocker": _name(view.knocker[row]),
                "opponent_hand": format_hand(view.opponent_hand[row]),
                "knocker_melds": melds,
                "defender_melds": _melds(laid.defence.melds[at]),
                "layoffs": [
                    [format_hand(cards), meld]
                    for cards, meld in zip(laid.defence.layoffs[at], melds, strict=False)
                    if cards
                ],
                "deadwood": {
                    "knocker": int(view.knocker_deadwood[row]),
                    "defender": int(view.defender_deadwood[row]),
                },
            }
        lines.append(line(message))
    return lines


def _name(player: int) -> str:
    return "nobody" if player == NOBODY else _WHO[0 if player == ME else 1]


def _melds(numbers: NDArray[np.int16]) -> list[str]:
    return [
        " ".join(format_card(card) for card in MELDS[number])
        for number in numbers.tolist()
        if number != NO_MELD
    ]
