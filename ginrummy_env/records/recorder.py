"""Records of games: made from batches, written, read, replayed and kept in files.

`writer` shows the format. Whatever is read is played again by the engine: each action must be
legal, and cards, results, melds, lay-offs and totals must be those that the record states.

>>> from ginrummy_env.core.game import new_games
>>> from ginrummy_env.core.rules import CLASSIC
>>> from ginrummy_env.core.step import step
>>> state = new_games(5, [17], CLASSIC)
>>> step(state, [105], CLASSIC)
>>> text = write(record_of(state, 0, CLASSIC))
>>> restored = replay(read(text))[-1].select([-1])
>>> bool((restored.hands == state.hands).all())
True
"""

import io
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.settlement import DealEnd, deal_ends
from ginrummy_env.core.state import NOBODY, BatchState, Outcome, require_rows
from ginrummy_env.core.types import Rows
from ginrummy_env.files import write_whole
from ginrummy_env.records.data import (
    Annotation,
    DealRecord,
    GameRecord,
    RecordError,
)
from ginrummy_env.records.parser import MAX_LINE, GameText, parse_games
from ginrummy_env.records.replay import complete, complete_texts, replay
from ginrummy_env.records.writer import write_game

__all__ = [
    "Annotation",
    "DealEnd",
    "DealRecord",
    "GameRecord",
    "RecordError",
    "Recorder",
    "complete",
    "deal_record",
    "deal_records",
    "load",
    "read",
    "read_all",
    "record_of",
    "replay",
    "save",
    "write",
]


# Text and files


def write(record: GameRecord) -> str:
    """Return a record as text. `read` gives the record back, and writing that the same text.

    Raises:
        RecordError: the rules do not allow the record.
    """
    (whole,) = complete([record])
    return write_game(whole)


def read(text: str) -> GameRecord:
    """Return the record that a text holds, after playing it.

    Raises:
        RecordError: the text is corrupt or the rules do not allow it; says the line and why.
    """
    texts = list(_parse(text))
    if not texts:
        raise RecordError("the text holds no record", 1)
    if len(texts) > 1:
        raise RecordError("a second record: `read_all` reads any number", texts[1].line)
    return complete_texts(texts)[0]


def read_all(text: str) -> list[GameRecord]:
    """Return all records of a text (see `read`)."""
    return complete_texts(list(_parse(text)))


def _parse(text: str) -> Iterator[GameText]:
    return parse_games(io.StringIO(text, newline=None))


def save(path: str | os.PathLike[str], records: Iterable[GameRecord]) -> None:
    """Write records into a file, which is replaced as a whole or not at all.

    Raises:
        RecordError: the rules do not allow a record.
        OSError: the file cannot be written.
    """
    write_whole(path, "\n".join(map(write_game, complete(list(records)))))


def load(path: str | os.PathLike[str]) -> list[GameRecord]:
    """Return all records of a file, after playing them.

    Raises:
        RecordError: see `read`; says the file too.
        OSError: the file cannot be read.
    """
    # Bytes that are no UTF-8 become characters that are no text, which are found with their line.
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        try:
            return complete_texts(list(parse_games(_lines(file))))
        except RecordError as error:
            raise RecordError(error.reason, error.line, os.fspath(path)) from None


def _lines(file: TextIO) -> Iterator[str]:
    """Yield the lines of a file, those that are too long only as far as that can be seen."""
    while line := file.readline(MAX_LINE + 2):
        yield line


# From batches


def deal_records(state: BatchState, rows: ArrayLike, rules: Rules) -> list[DealRecord]:
    """Return the deals of these rows, over or not, from what the state keeps of them.

    Args:
        state: N games.
        rows: [K] row numbers, none twice, or [N] bool.
        rules: the settings.
    """
    part = state.select(require_rows(rows, len(state)))
    return [
        DealRecord(number=number, dealer=dealer, deck=deck, actions=history[:count], end=end)
        for number, dealer, deck, history, count, end in zip(
            part.deal_number.tolist(),
            part.dealer.tolist(),
            part.deck[:, NUM_CARDS - rules.num_cards :].tolist(),
            part.history.tolist(),
            part.step_count.tolist(),
            deal_ends(part, rules),
            strict=True,
        )
    ]


def deal_record(state: BatchState, row: int, rules: Rules) -> DealRecord:
    """Return the deal of one row, over or not (see `deal_records`)."""
    return deal_records(state, [row], rules)[0]


def record_of(
    state: BatchState, row: int, rules: Rules, players: tuple[str, str] | None = None
) -> GameRecord:
    """Return a record of the deal of one row alone, as a part of its game.

    It holds the deck and the seed: it is for the owner of the games, not for a player of a deal in
    play. `viewer.Replay` with ``viewer=`` shows what one player saw.

    Args:
        state: N games.
        row: a row number.
        rules: the settings.
        players: their names.
    """
    return _game_of(state, row, deal_record(state, row, rules), rules, players)


def _game_of(
    state: BatchState, row: int, deal: DealRecord, rules: Rules, players: tuple[str, str] | None
) -> GameRecord:
    """Return a game of one deal, which began with the scores before it."""
    scores, won = state.scores[row].tolist(), state.deals_won[row].tolist()
    if deal.end is not None and deal.end.winner != NOBODY:
        scores[deal.end.winner] -= deal.end.points
        won[deal.end.winner] -= 1
    return GameRecord(
        rules=rules,
        deals=(deal,),
        seed=int(state.seed[row]),
        game_number=int(state.game_number[row]),
        players=players,
        start_scores=(scores[0], scores[1]),
        start_deals_won=(won[0], won[1]),
    )


class Recorder:
    """Collects the deals of a batch as they end, and makes games of them.

    Call `add` after every step, before the next deals are dealt::

        recorder = Recorder(rules, rows=[0, 1, 2])
        while playing:
            step(state, actions, rules)
            recorder.add(state)
            next_deals(state, rules)
        save("games.txt", recorder.take() + recorder.unfinished(state))
    """

    def __init__(
        self,
        rules: Rules,
        rows: ArrayLike | None = None,
        players: tuple[str, str] | None = None,
    ) -> None:
        """Record these rows ([K], or [N] bool), or all; ``players`` are the names of 0 and 1."""
        self.rules = rules
        self.players = players
        self._rows = rows
        self._open: dict[Hashable, GameRecord] = {}
        self._done: list[GameRecord] = []
        self._known: tuple[NDArray[np.bool_], NDArray[np.uint64]] | None = None

    def add(
        self,
        state: BatchState,
        rows: ArrayLike | None = None,
        keys: Sequence[Hashable] | None = None,
    ) -> None:
        """Record the deals that have ended since the last call.

        Args:
            state: N games.
            rows: [K] the rows whose deal has just ended ([N] bool too), if the caller knows them.
            keys: [K] with ``rows``, names of their games, where a game does not stay in its row.
        """
        ended = self._ended(state) if rows is None else require_rows(rows, len(state))
        names: Sequence[Hashable] = ended.tolist() if keys is None else keys
        if not ended.size:
            return
        deals = deal_records(state, ended, self.rules)
        for key, row, deal in zip(names, ended.tolist(), deals, strict=True):
            game = self._joined(key, state, row, deal)
            if game.finished:
                self._done.append(game)
            else:
                self._open[key] = game

    def take(self) -> list[GameRecord]:
        """Return the games that are over or were broken off by another, and forget them."""
        games, self._done = self._done, []
        return games

    def unfinished(self, state: BatchState | None = None) -> list[GameRecord]:
        """Return the games that are not over; with ``state``, each with the deal in play.

        Rows name the games then: where `add` was given keys, ask without ``state``.
        """
        games = dict(self._open)
        broken_off = []
        if state is not None:
            watched = self._watched(state)
            playing = watched[~state.over[watched]]
            for row, deal in zip(
                playing.tolist(), deal_records(state, playing, self.rules), strict=True
            ):
                game = games.get(row)
                if game is not None and _continues(game, state, row, deal):
                    games[row] = replace(game, deals=(*game.deals, deal))
                    continue
                if game is not None:
                    broken_off.append(game)
                games[row] = _game_of(state, row, deal, self.rules, self.players)
        return broken_off + list(games.values())

    def _watched(self, state: BatchState) -> Rows:
        rows = np.arange(len(state)) if self._rows is None else self._rows
        return require_rows(rows, len(state))

    def _ended(self, state: BatchState) -> Rows:
        """Return the watched rows whose deal is over and was not at the last call."""
        rows = self._watched(state)
        over = state.over[rows] & (state.outcome[rows] != Outcome.NONE)
        names = np.stack(
            [state.seed[rows], state.game_number[rows], state.deal_number[rows].astype(np.uint64)],
            axis=1,
        )
        new = over
        if self._known is not None:
            was_over, old_names = self._known
            new = over & ~(was_over & (names == old_names).all(axis=1))
        self._known = over, names
        return rows[new]

    def _joined(self, key: Hashable, state: BatchState, row: int, deal: DealRecord) -> GameRecord:
        """Return the game that the deal continues, with it; or a new one."""
        game = self._open.pop(key, None)
        if game is not None and _continues(game, state, row, deal):
            return replace(game, deals=(*game.deals, deal))
        if game is not None:
            self._done.append(game)
        return _game_of(state, row, deal, self.rules, self.players)


def _continues(game: GameRecord, state: BatchState, row: int, deal: DealRecord) -> bool:
    same = (game.seed, game.game_number) == (int(state.seed[row]), int(state.game_number[row]))
    return same and deal.number == game.deals[-1].number + 1
