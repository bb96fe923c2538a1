"""Positions and score sheets as plain values, which the page turns into boxes and letters.

A *frame* is one position. Each of its two sides carries what is seen of the hand: ``open``, the
cards as their owner sees them, and ``seen``, as the other player does. A page for one player holds
the other side's ``seen`` only, so what that player may not see is not in it.
"""

from collections.abc import Sequence
from typing import Any

from ginrummy_env.core.actions import BIG_GIN, DRAW_STOCK, KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import NO_CARD, NUM_CARDS
from ginrummy_env.core.state import NOBODY, NUM_PLAYERS
from ginrummy_env.core.view import View
from ginrummy_env.records.recorder import Annotation, GameRecord
from ginrummy_env.render.html import spoken_name
from ginrummy_env.render.position import OUTCOME_WORDS, Group, Position, Side, points_words
from ginrummy_env.render.reading import read_position
from ginrummy_env.render.text import sign_name

Json = dict[str, Any]

CARD_NAMES = [[sign_name(card), spoken_name(card)] for card in range(NUM_CARDS)]
"""[52] each card in short and in words, for the page."""


def action_words(action: int, upcard: int = NO_CARD) -> str:
    """Return an action as written on a button.

    >>> action_words(104), action_words(52 + 22), action_words(105, 11)
    ('draw from the stock', 'knock with T♥', 'take Q♠')
    """
    if action == DRAW_STOCK:
        return "draw from the stock"
    if action == TAKE_UPCARD:
        return f"take {sign_name(upcard)}" if upcard != NO_CARD else "take the upcard"
    if action == PASS:
        return "pass"
    if action == BIG_GIN:
        return "big gin"
    if action >= KNOCK:
        return f"knock with {sign_name(action - KNOCK)}"
    return f"discard {sign_name(action)}"


def frame(positions: dict[int, Position]) -> Json:
    """Return one position of a game.

    Args:
        positions: by player, what they see; of one player or of both.

    Returns:
        Plain values, without anything that is in none of the positions.
    """
    one = next(iter(positions.values()))
    sides = []
    for player in range(NUM_PLAYERS):
        own, other = positions.get(player), positions.get(1 - player)
        side = own.me if own else other.opponent if other else None
        assert side is not None
        entry: Json = {
            "score": int(side.score),
            "won": int(side.deals_won),
            "dealer": bool(side.is_dealer),
            "toMove": bool(side.to_move),
            "wonDeal": bool(side.won_deal),
        }
        if own:
            entry["open"] = _hand(own.me)
            if own.drawn != NO_CARD:
                entry["drawn"] = own.drawn
        if other:
            entry["seen"] = _hand(other.opponent)
        known = own.me.known if own else other.opponent.known if other else ()
        if known and not one.over:
            entry["known"] = list(known)
        sides.append(entry)
    return {
        "deal": one.deal,
        "turn": int(one.turn),
        "limit": one.limit_words,
        "stock": one.stock_count,
        "pile": list(one.pile),
        "sides": sides,
        "over": bool(one.over),
        "say": {str(player): _sentences(position) for player, position in positions.items()},
    }


def _hand(side: Side) -> Json:
    """Return a hand group by group, with the points of what is in no meld."""
    hand: Json = {"groups": [_group(group) for group in side.groups]}
    if side.unseen:
        hand["unseen"] = side.unseen
    else:
        hand["deadwood"] = sum(group.points for group in side.groups if group.kind == "deadwood")
    return hand


def _group(group: Group) -> Json:
    entry: Json = {"kind": group.kind, "label": group.label, "cards": list(group.cards)}
    if group.onto:
        entry["onto"] = list(group.onto)
    return entry


def _sentences(position: Position) -> list[str]:
    """Return what has just been done or how the deal ended, sentence by sentence."""
    if not position.over:
        return [position.last_turn(sign_name), position.to_do(sign_name)]
    lines = [position.result(sign_name)]
    if position.knocker is not None:
        lines += layoff_sentences(position) or ["Nothing was laid off."]
    lines += [line for line in (position.sum_words(), position.game_result()) if line]
    return lines


def layoff_sentences(position: Position) -> list[str]:
    """Return the lay-offs at the end of a deal, each with what it saves."""
    lines = []
    for side in position.sides:
        for group in side.groups:
            if group.onto:
                cards, meld = (" ".join(map(sign_name, each)) for each in (group.cards, group.onto))
                kind = "set" if group.onto[0] % 13 == group.onto[1] % 13 else "run"
                lines.append(
                    f"{side.name} laid off {cards} on the {kind} {meld}: "
                    f"{points_words(group.points)} of deadwood fewer."
                )
    return lines


def view_frame(view: View, names: Sequence[str]) -> Json:
    """Return the position that one player sees, as a frame.

    Args:
        view: one row.
        names: of players 0 and 1.
    """
    player = int(view.player[0])
    return frame({player: read_position(view, names=(names[player], names[1 - player]))})


def decision(annotation: Annotation, action: int, upcard: int) -> Json:
    """Return what a player thought of the candidates, best first.

    Args:
        annotation: of the record.
        action: what was done.
        upcard: top of the discard pile, or NO_CARD.
    """
    entry: Json = {}
    if annotation.values:
        ranked = sorted(annotation.values, key=lambda pair: -pair[1])
        entry["values"] = [
            [action_words(each, upcard), value, each == action] for each, value in ranked
        ]
        worth = dict(annotation.values)
        if action in worth:
            entry["loss"] = ranked[0][1] - worth[action]
        halves = dict(annotation.intervals)
        if len(halves) > 1 and halves.keys() == worth.keys():
            base = annotation.intervals[0][0]
            entry["base"] = action_words(base, upcard)
            entry["gains"] = [[value - worth[base], halves[each]] for each, value in ranked]
    if annotation.estimate:
        entry["estimate"] = [0.0] * NUM_CARDS
        for card, share in annotation.estimate:
            entry["estimate"][card] = share
    if annotation.note:
        entry["note"] = annotation.note
    return entry


def sheet(record: GameRecord, names: Sequence[str], sums: dict[int, str] | None = None) -> Json:
    """Return the score sheet: one row per deal that is over, and the bonuses of a game that is.

    Args:
        record: the game so far.
        names: of players 0 and 1.
        sums: by the deal's number, how its points add up.
    """
    rows = []
    for deal in record.deals:
        if deal.end is None:
            continue
        end = deal.end
        rows.append(
            {
                "deal": deal.number + 1,
                "result": OUTCOME_WORDS[end.outcome],
                "winner": "" if end.winner == NOBODY else names[end.winner],
                "sum": (sums or {}).get(deal.number, ""),
                "points": [end.points if end.winner == p else 0 for p in range(NUM_PLAYERS)],
                "scores": list(end.scores),
            }
        )
    return {
        "start": list(record.start_scores),
        "rows": rows,
        "bonuses": bonuses(record),
        "target": record.rules.target,
    }


def bonuses(record: GameRecord) -> list[Json]:
    """Return the lines below the last deal of a game that is over, down to the final scores.

    Source: RULES, The game.
    """
    final = record.final_scores
    if final is None:
        return []
    rules, winner, won = record.rules, record.winner, record.deals_won
    lines = [
        {
            "words": f"boxes: deals won × {rules.box_bonus}",
            "points": [count * rules.box_bonus for count in won],
        },
        {"words": "game bonus", "points": _for(winner, rules.game_bonus)},
    ]
    if won[1 - winner] == 0:
        lines.append({"words": "shutout bonus", "points": _for(winner, rules.shutout_bonus)})
    return [*lines, {"words": "final scores", "points": list(final)}]


def _for(winner: int, points: int) -> list[int]:
    return [points if player == winner else 0 for player in range(NUM_PLAYERS)]
