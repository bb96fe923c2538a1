"""The arena's protocol: what a program's answers mean; see docs/ARENA.md, and `protocol`."""

import json
import re
from typing import NamedTuple

from ginrummy_agents.external.protocol import SECTIONS, VERSION
from ginrummy_env.core.actions import NUM_ACTIONS, parse_action
from ginrummy_env.core.cards import parse_hand
from ginrummy_env.policy import Melds


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


class Answer(NamedTuple):
    """What a program wrote about one game."""

    game: int
    action: int | None = None
    """None: there is none, or it is wrong. It may still not be legal."""
    melds: Melds | None = None
    wrong: str = ""
    """What is wrong with it, in words."""


_USUAL = re.compile(rb'\s*\{"game": ?(\d{1,15}), ?"action": ?(\d{1,3})\}\s*').fullmatch


def read_answer(content: bytes) -> Answer:
    """Return what an answer's line says. The action may be its number or its words.

    Raises:
        ValueError: the line does not even name a game.
    """
    usual = _USUAL(content)
    if usual is not None:  # as nearly all answers are
        number, action = usual.groups()
        if int(action) < NUM_ACTIONS:
            return Answer(int(number), int(action))
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError(f"wrote {shortened(content)}, which is not JSON") from None
    game = given.get("game") if isinstance(given, dict) else None
    if not isinstance(game, int) or isinstance(game, bool):
        raise ValueError(f'wrote {shortened(content)}, which has no number as "game"')
    try:
        melds = _read_melds(given["melds"]) if given.get("melds") is not None else None
        return Answer(game, _read_action(given.get("action"), content), melds)
    except ValueError as error:
        return Answer(game, wrong=str(error))


def _read_action(action: object, content: bytes) -> int | None:
    if action is None:
        return None
    if isinstance(action, str):
        return parse_action(action)
    if isinstance(action, bool) or not isinstance(action, int):
        raise ValueError(f"answered {shortened(content)}: the number or the words of an action")
    if not 0 <= action < NUM_ACTIONS:
        raise ValueError(f"answered action {action}: actions are 0 to {NUM_ACTIONS - 1}")
    return action


def _read_melds(melds: object) -> Melds:
    if not isinstance(melds, list) or not all(isinstance(meld, str) for meld in melds):
        raise ValueError('"melds" must be a list of strings such as "5h 6h 7h"')
    return tuple(int(parse_hand(meld)) for meld in melds)
