"""How games begin that the options of a reset set up: decks, scores, or a record's position."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.checks import quoted, whole, whole_numbers
from ginrummy_env.core.deal import require_decks
from ginrummy_env.core.game import next_deals
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import BatchState, Phase, concatenate
from ginrummy_env.core.types import Int8, Rows
from ginrummy_env.envs.options import EpisodeOptions, reset_options
from ginrummy_env.records.data import GameRecord
from ginrummy_env.records.recorder import read
from ginrummy_env.records.replay import replay

START_OPTIONS = ("scores", "deals_won", "deal_number", "decks", "record", "deal", "action")
"""What the option ``start`` of a reset can set."""
MOST_DEALS = 10_000
"""The largest number of a deal, or of deals won, that a game can start with."""

Decks = Int8
"""[D, C] in dealing order, C the rules' number of cards (52)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How games begin in K rows. What is None is as in any game: by chance, or 0.

    Attributes:
        dealers: [K] first dealers.
        decks: for each of the K rows [D, C], the decks of its first D deals.
        scores, deals_won: [K, 2] of players 0 and 1 before the first deal.
        deal_number: [K] of the first deal, which decides its deck.
        positions: K games from records, to be played on; then all else is None.
    """

    dealers: NDArray[np.int64] | None = None
    decks: Sequence[Decks] | None = None
    scores: NDArray[np.int64] | None = None
    deals_won: NDArray[np.int64] | None = None
    deal_number: NDArray[np.int64] | None = None
    positions: BatchState | None = None


def read_start(options: Mapping[str, Any], count: int, episodes: EpisodeOptions) -> Start | None:
    """Return what the options of a reset set up; None if nothing.

    Args:
        options: ``deck``, the cards (52) in dealing order, for all rows, or one deck for each of K;
            ``dealer``, 0 or 1, or [K]; ``start``, a dict with ``scores`` and ``deals_won``, two
            numbers by player, or [K, 2]; ``deal_number``, or [K]; ``decks`` of the game's first
            deals, [D, 52], or K such lists; or ``record``, a game's record or its text, or K of
            them, from whose position the game is played on: that before action number ``action``
            (where the record ends if missing) of its ``deal``, counted from 0 (its last). Each may
            be missing or None.
        count: K, the rows that are reset.
        episodes: the rules, and what an episode is.

    Raises:
        ValueError: a value that there cannot be; says what is allowed.
    """
    deck, dealer, start = (options.get(name) for name in ("deck", "dealer", "start"))
    given: dict[str, Any] = {}
    if start is not None:
        if not isinstance(start, Mapping):
            raise ValueError(f"start={quoted(start)}: a dict is needed, such as {{'scores': ...}}")
        given = reset_options(start, *START_OPTIONS)
        given = {name: value for name, value in given.items() if value is not None}
    others = given.keys() - {"record", "deal", "action"}
    if "record" in given:
        others |= {name for name in ("deck", "dealer") if options.get(name) is not None}
        if others:
            raise ValueError(f"start: the record decides {', '.join(sorted(others))} too")
        return Start(positions=_positions(given, count, episodes.rules))
    if len(others) < len(given):
        raise ValueError("start: 'deal' and 'action' are places in a record: 'record' is needed")
    found: dict[str, Any] = {}
    if deck is not None:
        if "decks" in given:
            raise ValueError("start: 'decks' begins with the first deal's: leave 'deck' out")
        size = episodes.rules.num_cards
        everywhere = np.shape(deck) == (size,)
        alone = np.broadcast_to(deck, (count, size)) if everywhere else deck
        alone = require_decks(alone, count, episodes.rules)
        found["decks"] = list(alone[:, None])
    if dealer is not None:
        found["dealers"] = _each("dealer", dealer, (count,), 1)
    most = {"scores": episodes.rules.target - 1}
    for name, value in given.items():
        if name == "decks":
            found[name] = _decks(value, count, episodes)
        else:
            shape = (count,) if name == "deal_number" else (count, 2)
            found[name] = _each(name, value, shape, most.get(name, MOST_DEALS))
    return Start(**found) if found else None


def deal_on(state: BatchState, rules: Rules, rows: Rows, decks: dict[int, Decks]) -> None:
    """Deal the next deals of games, from decks that were set up as long as there are any.

    Args:
        state: the batch.
        rules: the settings.
        rows: [K] rows of ``state`` whose deal is over, none twice.
        decks: by row [D, C], the decks of the next deals; those that are dealt are taken out.
    """
    given = [row for row in rows.tolist() if row in decks] if decks else []
    next_deals(state, rules, np.setdiff1d(rows, given) if given else rows)
    if given:
        coming = [decks.pop(row) for row in given]
        next_deals(state, rules, given, decks=[each[0] for each in coming])
        for row, each in zip(given, coming, strict=True):
            if len(each) > 1:
                decks[row] = each[1:]


def _positions(given: Mapping[str, Any], count: int, rules: Rules) -> BatchState:
    """Return where the games of records stand, [K]."""
    values = given["record"]
    one = isinstance(values, str | GameRecord)
    records = [values] if one else list(values) if isinstance(values, Sequence) else []
    if not all(isinstance(each, str | GameRecord) for each in records) or (
        not one and len(records) != count
    ):
        raise ValueError(
            f"record={quoted(values)}: a game's record (`records.data.GameRecord`) or its text is "
            f"needed, or {count}, one for each row"
        )
    places = [
        None if name not in given else _each(name, given[name], (count,), MOST_DEALS).tolist()
        for name in ("deal", "action")
    ]
    found = [
        _position(each, rules, *(numbers and numbers[row] for numbers in places))
        for row, each in enumerate(records * (count if one else 1))
    ]
    return concatenate(found)


def _position(
    record: GameRecord | str, rules: Rules, deal: int | None, action: int | None
) -> BatchState:
    record = read(record) if isinstance(record, str) else record
    if record.rules != rules:
        raise ValueError(
            f"record: its rules are {rules_name(record.rules)!r}, the environment's "
            f"{rules_name(rules)!r}"
        )
    last = len(record.deals) - 1
    deal = last if deal is None else whole("deal", deal, 0, last)
    positions = replay(record)[deal]
    most = len(positions) - 1
    position = positions.select([most if action is None else whole("action", action, 0, most)])
    if position.phase[0] >= Phase.DEAL_OVER:
        raise ValueError(
            f"record: deal {deal} is over there, nothing is left to decide: give 'action', a whole "
            f"number from 0 to {most - 1}"
        )
    return position


def deck_list(value: Any, rules: Rules) -> Decks:
    """Return the decks of a game's first deals, [D, C].

    Raises:
        ValueError: anything else.
    """
    shape = np.shape(value)
    if len(shape) != 2 or not shape[0]:
        raise ValueError(
            f"decks={quoted(value)}: the decks of the first deals are needed, [D, 52], or with "
            "several rows one such list for each"
        )
    return require_decks(value, shape[0], rules)


def _decks(value: Any, count: int, episodes: EpisodeOptions) -> list[Decks]:
    """Return the decks of the first deals of each of K games."""
    of_rows = isinstance(value, Sequence | np.ndarray) and len(value) == count
    if of_rows and np.ndim(value[0]) == 2:
        found = [deck_list(each, episodes.rules) for each in value]
    else:
        found = [deck_list(value, episodes.rules)] * count
    if episodes.episode == "deal" and any(len(each) > 1 for each in found):
        raise ValueError("decks: with episode='deal' one deal is played, so one deck is needed")
    return found


def _each(name: str, value: ArrayLike, shape: tuple[int, ...], most: int) -> NDArray[np.int64]:
    """Return an option of a reset as whole numbers of one shape, given as such or for one row."""
    numbers = whole_numbers(name, value, 0, most, np.int64)
    if numbers.shape not in (shape, shape[1:]):
        raise ValueError(
            f"{name}={quoted(value)}: shape {shape[1:]} is needed, or {shape} for each row"
        )
    return np.broadcast_to(numbers, shape)
