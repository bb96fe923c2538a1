"""Records played again by the engine: what they leave out is found, what they state is checked."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from ginrummy_env.core.actions import IllegalActionError, format_action
from ginrummy_env.core.cards import NO_CARD, format_card
from ginrummy_env.core.checks import quoted
from ginrummy_env.core.game import new_games, next_dealers
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.settlement import DealEnd, deal_ends
from ginrummy_env.core.state import NOBODY, BatchState, Phase, concatenate
from ginrummy_env.core.step import step
from ginrummy_env.core.types import Rows
from ginrummy_env.records.data import (
    MAX_SCORE,
    DealRecord,
    GameRecord,
    Pair,
    RecordError,
)
from ginrummy_env.records.parser import DealText, GameText
from ginrummy_env.records.writer import end_lines, ending_line


def complete(records: Sequence[GameRecord]) -> list[GameRecord]:
    """Return the records with the ends of all deals, which are found by playing them.

    Args:
        records: any; ends that they have already are compared.

    Raises:
        RecordError: the rules do not allow it, or an end is another.
    """
    return _checked([_Game(record, None) for record in records])


def complete_texts(texts: Sequence[GameText]) -> list[GameRecord]:
    """Return the records of texts, complete, after comparing all that the texts state.

    Raises:
        RecordError: with the line.
    """
    return _checked([_Game(text.record, text) for text in texts])


def replay(record: GameRecord) -> list[BatchState]:
    """Play a record again and return every position of it.

    Args:
        record: a game or a part of one.

    Returns:
        One batch for each deal, whose rows are the positions in order: row t stands before action
        t, and the last row is where the deal has ended or stands. So
        ``replay(record)[-1].select([-1])`` is the game as it can be played on.

    Raises:
        RecordError: the rules do not allow it, or an end is not the one stated.
    """
    (record,) = complete([record])
    deals = [_Deal(deal, record, None) for deal in record.deals]
    starts = [(record.start_scores, record.start_deals_won)]
    starts += [(d.end.scores, d.end.deals_won) for d in record.deals[:-1] if d.end is not None]
    positions: list[tuple[Rows, BatchState]] = []
    last = _play(deals, record.rules, starts, positions)
    positions.append((np.arange(len(deals)), last))
    rows = np.concatenate([rows for rows, _ in positions])
    everything = concatenate([state for _, state in positions])
    return [everything.select(np.flatnonzero(rows == row)) for row in range(len(deals))]


@dataclass(slots=True)
class _Game:
    record: GameRecord
    text: GameText | None

    def deals(self) -> list["_Deal"]:
        """Return its deals."""
        texts: Sequence[DealText | None] = [None] * len(self.record.deals)
        if self.text:
            texts = self.text.deals
        pairs = zip(self.record.deals, texts, strict=True)
        return [_Deal(deal, self.record, text) for deal, text in pairs]

    def error(self, reason: str, deal: int) -> RecordError:
        """Return an error about the first line of a deal."""
        line = self.text.deals[deal].line if self.text else None
        return RecordError(f"deal {self.record.deals[deal].number}: {reason}", line)


@dataclass(slots=True)
class _Deal:
    record: DealRecord
    game: GameRecord
    text: DealText | None

    def error(self, step: int, reason: str) -> RecordError:
        """Return an error about an action."""
        line = self.text.steps[step].line if self.text else None
        return RecordError(f"deal {self.record.number}, action {step}: {reason}", line)

    def value_error(self, step: int, reason: str) -> RecordError:
        """Return an error about the values that are given to an action's alternatives."""
        places = [annotation.step for annotation in self.record.annotations]
        line = self.text.annotation_lines[places.index(step)] if self.text else None
        return RecordError(f"deal {self.record.number}, values {step}: {reason}", line)


def _play(
    deals: Sequence[_Deal],
    rules: Rules,
    starts: Sequence[tuple[Pair, Pair]] | None = None,
    positions: list[tuple[Rows, BatchState]] | None = None,
) -> BatchState:
    """Play all deals at once and return where they end, a row each.

    Args:
        deals: of any games under these rules.
        rules: the settings.
        starts: scores and deals won before each; zeros if None.
        positions: takes the rows in play and a copy of them before each action.

    Raises:
        RecordError: an action that is not legal, not the player's, or brings another card.
    """
    state = new_games(
        np.array([deal.game.seed or 0 for deal in deals], dtype=np.uint64),
        np.array([deal.game.game_number or 0 for deal in deals], dtype=np.uint64),
        rules,
        dealers=[deal.record.dealer for deal in deals],
        decks=[deal.record.deck for deal in deals],
    )
    state.deal_number[:] = [deal.record.number for deal in deals]
    if starts is not None:
        state.scores[:] = [scores for scores, _ in starts]
        state.deals_won[:] = [won for _, won in starts]
    script = _script(deals)
    ended = BatchState.empty(len(deals), rules)
    rows = np.arange(len(deals))
    for number in range(script.actions.shape[1] + 1):
        done = script.lengths[rows] == number
        if done.any():
            ended.assign(rows[done], state.select(done))
            rows, state = rows[~done], state.select(~done)
        if not rows.size:
            break
        if positions is not None:
            positions.append((rows, state.copy()))
        _take_step(state, rows, deals, script, number, rules)
    return ended


@dataclass(slots=True)
class _Script:
    """The actions of N deals, and what is stated about them, a column each."""

    lengths: NDArray[np.intp]  # [N]
    actions: NDArray[np.int16]  # [N, T]
    players: NDArray[np.int8]  # [N, T] who takes them, NOBODY where that is not stated
    shown: NDArray[np.int8]  # [N, T] the cards they bring, NO_CARD where that is not stated
    values: dict[int, dict[int, list[int]]]
    """By column and row, the actions to which values are given."""


def _script(deals: Sequence[_Deal]) -> _Script:
    lengths = np.array([len(deal.record.actions) for deal in deals])
    shape = len(deals), int(lengths.max())
    script = _Script(
        lengths,
        np.full(shape, -1, dtype=np.int16),
        np.full(shape, NOBODY, dtype=np.int8),
        np.full(shape, NO_CARD, dtype=np.int8),
        defaultdict(dict),
    )
    for row, deal in enumerate(deals):
        script.actions[row, : lengths[row]] = deal.record.actions
        if deal.text and deal.text.steps:
            script.players[row, : lengths[row]] = [step.player for step in deal.text.steps]
            script.shown[row, : lengths[row]] = [step.shown for step in deal.text.steps]
        for annotation in deal.record.annotations:
            script.values[annotation.step][row] = [action for action, _ in annotation.values]
    return script


def _take_step(
    state: BatchState,
    rows: Rows,
    deals: Sequence[_Deal],
    script: _Script,
    number: int,
    rules: Rules,
) -> None:
    """Take the action of this number in the deals of these rows, and compare what is stated."""
    actions = script.actions[rows, number]

    def fail(wrong: NDArray[np.bool_], reason: Callable[[int], str]) -> None:
        if wrong.any():
            place = int(wrong.argmax())
            raise deals[int(rows[place])].error(number, reason(place))

    fail(state.over, lambda place: f"{format_action(actions[place])}, but the deal is over")
    players = script.players[rows, number]
    fail(
        (players != NOBODY) & (players != state.player),
        lambda place: f"player {state.player[place]} is to move",
    )
    for row, valued in script.values.get(number, {}).items():
        (place,) = np.flatnonzero(rows == row)
        legal = action_masks(state.select([place]), rules)[0]
        for action in valued:
            if not legal[action]:
                raise deals[row].value_error(number, f"{format_action(action)} is not legal")
    try:
        step(state, actions, rules)
    except IllegalActionError as error:
        legal_words = ", ".join(map(format_action, error.legal))
        reason = f"{format_action(error.action)} is not legal; legal: {legal_words}"
        raise deals[int(rows[error.row or 0])].error(number, reason) from None
    shown = script.shown[rows, number]
    fail(
        (shown != NO_CARD) & (shown != state.drawn_card),
        lambda place: (
            f"the card is {format_card(int(state.drawn_card[place]))}, "
            f"not {format_card(int(shown[place]))}"
        ),
    )


def _checked(games: Sequence[_Game]) -> list[GameRecord]:
    by_rules: dict[Rules, list[int]] = defaultdict(list)
    for number, game in enumerate(games):
        by_rules[game.record.rules].append(number)
    records = [game.record for game in games]
    for rules, numbers in by_rules.items():
        state = _play([deal for number in numbers for deal in games[number].deals()], rules)
        row = 0
        for number in numbers:
            count = len(games[number].record.deals)
            _add_up(games[number], state, np.arange(row, row + count))
            row += count
        ends = iter(deal_ends(state, rules))
        for number in numbers:
            records[number] = _with_ends(games[number], [next(ends) for _ in records[number].deals])
    return records


def _add_up(game: _Game, state: BatchState, rows: Rows) -> None:
    """Write the scores of a game's deals into their rows, and check that one follows the other."""
    record, text = game.record, game.text
    scores, won = list(record.start_scores), list(record.start_deals_won)
    line = text.start_line if text else None
    if any(score and not count for score, count in zip(scores, won, strict=True)):
        raise RecordError(f"start scores {scores}, but won {won}: points without a deal won", line)
    if sum(won) > record.deals[0].number:
        number = record.deals[0].number
        raise RecordError(f"won {won} before deal {number}, the first: more than were played", line)
    for place, row in enumerate(rows.tolist()):
        deal = record.deals[place]
        if max(scores) >= record.rules.target:
            raise game.error(f"the game was over before, with scores {scores}", place)
        if place:
            before = state.select([row - 1])
            if not before.over[0]:
                phase = Phase(int(before.phase[0])).name
                raise game.error(f"the deal before it is not over (phase {phase})", place)
            if deal.number != record.deals[place - 1].number + 1:
                raise game.error(f"number {record.deals[place - 1].number + 1} is next", place)
            dealer = int(next_dealers(before.dealer, before.winner, record.rules)[0])
            if deal.dealer != dealer:
                raise game.error(f"dealer {dealer} is next, not {deal.dealer}", place)
        winner = int(state.winner[row])
        if winner != NOBODY:
            scores[winner] += int(state.points[row])
            won[winner] += 1
        if max(won) > MAX_SCORE:
            raise game.error(f"{max(won)} deals won: more than can be counted", place)
        state.scores[row], state.deals_won[row] = scores, won


def _with_ends(game: _Game, ends: Sequence[DealEnd | None]) -> GameRecord:
    """Return the record with these ends, after comparing them with what it states."""
    deals = []
    for place, (deal, end) in enumerate(zip(game.record.deals, ends, strict=True)):
        if game.text:
            _compare_text(game, place, end)
        elif deal.end is not None and deal.end != end:
            raise game.error(_difference(deal.end, end), place)
        deals.append(replace(deal, end=end))
    record = replace(game.record, deals=tuple(deals))
    if game.text:
        line, ending = game.text.ending
        if ending.lower() != ending_line(record):
            raise RecordError(f"{quoted(ending)}, but here {ending_line(record)!r} is right", line)
        if game.text.check:
            line, stated, right = game.text.check
            if stated != right:
                raise RecordError(
                    f"check {stated:08x}, but the lines above give {right:08x}: "
                    "the record has been changed since it was written",
                    line,
                )
    return record


def _difference(stated: DealEnd, end: DealEnd | None) -> str:
    if end is None:
        return "it states an end, but the deal is not over"
    names = [f.name for f in fields(DealEnd) if getattr(stated, f.name) != getattr(end, f.name)]
    return "; ".join(
        f"{name}={getattr(stated, name)!r}, but playing gives {getattr(end, name)!r}"
        for name in names
    )


def _compare_text(game: _Game, place: int, end: DealEnd | None) -> None:
    assert game.text is not None
    text = game.text.deals[place]
    if end is None:
        if text.end:
            raise RecordError("the deal is not over here", text.end[0][0])
        return
    right = end_lines(end)
    last = text.end[-1][0] if text.end else text.steps[-1].line
    for number, words in enumerate(right):
        if number >= len(text.end):
            raise RecordError(f"the deal is over: {words!r} is missing after this line", last)
        line, stated = text.end[number]
        if stated.lower() != words.lower():
            raise RecordError(f"{quoted(stated, 200)}, but playing gives {words!r}", line)
    if len(text.end) > len(right):
        line, stated = text.end[len(right)]
        raise RecordError(f"{quoted(stated)}: one line too many", line)
