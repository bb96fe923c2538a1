"""Programs as policies: many games at once in one process, limits, forfeits with their reasons."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import fields
from hashlib import file_digest, sha256
from shutil import which
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.external import protocol
from ginrummy_agents.external.answers import Answer
from ginrummy_agents.external.own_melds import flaw
from ginrummy_agents.external.process import Limits, ProgramError
from ginrummy_agents.external.session import Fault, Game, Session
from ginrummy_env.core.actions import format_action
from ginrummy_env.core.chance import Random
from ginrummy_env.core.checks import one_of
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.view import View
from ginrummy_env.policy import Forfeit, Melds, Showdown

MAX_FAILURES = 3
"""A program that ends this many times without finishing a game is not started again."""

SETTLEMENTS = ("exact", "own")
"""Values of the option ``melds``."""

_CLOSE_SECONDS = 0.2


class ExternalPolicy:
    """A program that plays by the arena's protocol (docs/ARENA.md).

    The program is started when it is first asked, in each process that uses the policy, and ended
    when the policy is closed or forgotten, or this process ends. Whatever it does wrong costs it
    the game in which it happened; if it ends or falls silent, it loses all games it had in play and
    is started again for the next ones.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        limits: Limits | None = None,
        *,
        own_melds: bool = False,
    ) -> None:
        """Keep the command; nothing is started yet.

        Args:
            command: as a shell would split it (no shell is used), or its words.
            limits: what the program may use.
            own_melds: whether matches settle its deals by the players' own melds and a greedy
                lay-off, as the AAAI-21 challenge does (see `own_melds`), not by the exact rules.

        Raises:
            ValueError: an empty command.
        """
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if not words:
            raise ValueError("exec: a command is needed, such as exec:./mybot")
        self.command = words
        self.limits = limits or Limits()
        self.own_melds = own_melds
        self.name = ""
        """What the program calls itself, once it has been started."""
        self._session: Session | None = None
        self._reasons: dict[int, tuple[Forfeit, str]] = {}
        self._failures = 0
        self._started = False
        self._games = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the policy that a text describes: the command, then options behind semicolons.

        >>> ExternalPolicy.parse("./bot --fast; move_seconds=2").limits.move_seconds
        2.0

        Raises:
            ValueError: an unknown limit, or a value that it does not allow.
        """
        command, *given = text.split(";")
        kinds: dict[str, type[float] | type[int]] = {
            each.name: int if each.name == "memory_mb" else float for each in fields(Limits)
        }
        limits: dict[str, Any] = {}
        melds = "exact"
        for part in given:
            name, _, value = (piece.strip() for piece in part.partition("="))
            if name == "melds":
                melds = one_of("exec: melds", value, SETTLEMENTS)
                continue
            if name not in kinds:
                known = ", ".join([*kinds, "melds"])
                raise ValueError(f"exec: unknown limit {name!r}; the limits are {known}")
            try:
                limits[name] = kinds[name](value)
            except ValueError:
                raise ValueError(f"exec: {name}={value!r}: a number is needed") from None
        return cls(command, Limits(**limits), own_melds=melds == "own")

    def __repr__(self) -> str:
        return f"ExternalPolicy({shlex.join(self.command)!r})"

    def fingerprint(self) -> str:
        """Return what decides how the program plays, as far as files tell: command and contents."""
        digest = sha256()
        for word in self.command:
            digest.update(word.encode() + b"\0")
            path = which(word) or word
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    digest.update(file_digest(file, "sha256").digest())
        settled = " own melds" if self.own_melds else ""
        return f"{shlex.join(self.command)} {digest.hexdigest()[:16]} {self.limits}{settled}"

    def __getstate__(self) -> dict[str, Any]:
        """Give the command and limits; a process of its own is started where it is loaded."""
        return {"command": self.command, "limits": self.limits, "own_melds": self.own_melds}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_session", None) is not None:
            self.close()

    def act(self, view: View, rng: Random) -> NDArray[np.int16]:
        """Return a move for each row; every call is a new game to the program.

        Raises:
            ProgramError: the program did something wrong.
        """
        seats = -1 - np.arange(len(view), dtype=np.int64)
        try:
            actions = self.act_at(seats, view, rng)
            for seat in seats[(actions < 0) & view.to_move].tolist():
                raise ProgramError(f"{self!r} {self.forfeit_reason(seat)}")
        finally:
            self.games_over(seats, view)
        return actions

    def act_at(self, seats: NDArray[np.int64], view: View, rng: Random) -> NDArray[np.int16]:
        """Return a move for each row, a `Forfeit` where the program has lost the game by a fault.

        Args:
            seats: [N] a number for each game that stays the same from its start to its end.
            view: N rows.
            rng: not used: a program has its own random numbers.

        Raises:
            ProgramError: the program could not even be started.
        """
        actions = np.zeros(len(view), dtype=np.int16)
        rows = np.flatnonzero(view.to_move).tolist()
        session = self._ready(view.rules, seats[rows].tolist())
        if session is not None:
            asked = [row for row in rows if int(seats[row]) not in self._reasons]
            self._ask_for_moves(session, asked, seats, view, actions)
        for row in rows:
            if int(seats[row]) in self._reasons:
                actions[row] = self._reasons[int(seats[row])][0]
        return actions

    def _ask_for_moves(
        self,
        session: Session,
        asked: list[int],
        seats: NDArray[np.int64],
        view: View,
        actions: NDArray[np.int16],
    ) -> None:
        """Ask for moves in some rows, and write them into ``actions``."""
        part = view if len(asked) == len(view) else view.select(asked)
        masks = part.action_masks()
        games = [self._game(session, int(seats[row])) for row in asked]
        since = session.since(games, part)
        numbers = [game.number for game in games]

        def take(place: int, answer: Answer) -> Fault | None:
            if answer.action is None:
                return Forfeit.UNREADABLE, answer.wrong or "answered with no action"
            if not masks[place, answer.action]:
                legal = ", ".join(map(format_action, np.flatnonzero(masks[place]).tolist()))
                what = format_action(answer.action)
                return Forfeit.ILLEGAL, f"answered {what}, which is not legal; legal: {legal}"
            games[place].melds = answer.melds
            actions[asked[place]] = answer.action
            return None

        lines = protocol.move_requests(part, numbers, since, masks, session.sections)
        self._ask(session, games, lines, take)

    def _ask(
        self,
        session: Session,
        games: list[Game],
        requests: list[bytes],
        take: Callable[[int, Answer], Fault | None],
    ) -> None:
        """Ask, see `Session.ask`; forfeit what a fault costs."""
        try:
            for game, fault in session.ask(games, requests, take):
                self._forfeit(session, game.seat, *fault)
        except ProgramError as error:
            self._lost(session, error.kind, str(error))
        except BaseException:
            # Ctrl-C, say: answers to what was asked would be taken for those to the next question.
            self._lost(session, Forfeit.ENDED, "was stopped while it was asked for a move")
            raise

    def lay_down(
        self, seats: NDArray[np.int64], view: View, knocked: Sequence[Melds] | None
    ) -> list[Melds | Forfeit | None]:
        """Return the program's melds: those that came with its knock, or asked for as defender.

        Args:
            seats: [N].
            view: N rows in which somebody has knocked.
            knocked: what the knockers have laid down; None: these seats are the knockers.
        """
        session = self._session
        asked = [row for row, seat in enumerate(seats.tolist()) if seat not in self._reasons]
        melds: dict[int, Melds | None] = {}
        if session is not None and asked:
            games = [self._game(session, int(seats[row])) for row in asked]
            if knocked is None:
                melds = {row: game.melds for row, game in zip(asked, games, strict=True)}
                for row, game in zip(asked, games, strict=True):
                    if game.melds is None:
                        continue
                    wrong = flaw(game.melds, int(view.hand[row]), int(view.knock_limit[row]))
                    if wrong:
                        self._forfeit(session, game.seat, Forfeit.ILLEGAL, wrong)
            else:
                self._ask_for_melds(session, asked, games, view, knocked, melds)
        return [
            self._reasons[seat][0] if seat in self._reasons else melds.get(row)
            for row, seat in enumerate(seats.tolist())
        ]

    def _ask_for_melds(
        self,
        session: Session,
        asked: list[int],
        games: list[Game],
        view: View,
        knocked: Sequence[Melds],
        melds: dict[int, Melds | None],
    ) -> None:
        """Ask for the defender's melds in some rows, and write them into ``melds``."""

        def take(place: int, answer: Answer) -> Fault | None:
            row = asked[place]
            if answer.melds is None:
                return Forfeit.UNREADABLE, answer.wrong or "laid down no list of melds"
            melds[row] = answer.melds
            wrong = flaw(answer.melds, int(view.hand[row]))
            return (Forfeit.ILLEGAL, wrong) if wrong else None

        part = view if len(asked) == len(view) else view.select(asked)
        since = session.since(games, part)
        shown = [knocked[row] for row in asked]
        numbers = [game.number for game in games]
        self._ask(session, games, protocol.meld_requests(part, numbers, since, shown), take)

    def laid_down(self, seats: NDArray[np.int64], shown: Sequence[Showdown]) -> None:
        """Note what lies on the table, for the reports of these deals."""
        for seat, table in zip(seats.tolist(), shown, strict=True):
            if self._session is not None and seat not in self._reasons:
                self._game(self._session, seat).shown = table

    def deals_over(self, seats: NDArray[np.int64], view: View) -> None:
        """Report deals that have ended, ``view`` being what the seats see of them then."""
        session = self._session
        rows = [row for row, seat in enumerate(seats.tolist()) if seat not in self._reasons]
        if session is None or not rows:
            return
        part = view if len(rows) == len(view) else view.select(rows)
        games = [self._game(session, int(seats[row])) for row in rows]
        since = session.since(games, part)
        shown = {row: game.shown for row, game in enumerate(games) if game.shown is not None}
        numbers = [game.number for game in games]
        session.program.send(b"".join(protocol.deal_reports(part, numbers, since, shown)))

    def games_over(self, seats: NDArray[np.int64], view: View) -> None:
        """Report games that have ended, and forget them."""
        session = self._session
        for seat, scores in zip(seats.tolist(), view.scores.tolist(), strict=True):
            if session is not None and seat in session.games:
                self._failures = 0
                message = {"type": protocol.GAME_OVER, "game": session.games[seat].number}
                session.program.send(protocol.line(message | {"scores": scores}))
        self._forget(seats.tolist())

    def _forget(self, seats: list[int]) -> None:
        for seat in seats:
            self._reasons.pop(seat, None)
            if self._session is not None:
                self._session.games.pop(seat, None)

    def forfeit_reason(self, seat: int) -> str:
        """Return why the program has lost the game at a seat, "" if it has not."""
        return self._reasons[seat][1] if seat in self._reasons else ""

    def close(self) -> None:
        """End the program. It is started again if it is asked again."""
        session, self._session = self._session, None
        if session is not None:
            try:
                session.program.flush(_CLOSE_SECONDS)
            except ProgramError:
                pass  # it has ended already; nobody waits for an answer
            session.program.close()

    def _ready(self, rules: Rules, seats: list[int]) -> Session | None:
        """Return the program, started if need be; None if that fails, the seats being lost."""
        if self._session is not None and self._session.rules != rules:
            self.close()
        if self._session is None:
            try:
                if self._failures >= MAX_FAILURES:
                    raise ProgramError(f"ended {self._failures} times without finishing a game")
                self._session = Session.start(self.command, self.limits, rules, self.own_melds)
            except ProgramError as error:
                if not self._started:
                    raise
                self._failures += 1
                for seat in seats:
                    self._reasons.setdefault(seat, (Forfeit.ENDED, str(error)))
                return None
            self._started, self.name = True, self._session.name
        return self._session

    def _game(self, session: Session, seat: int) -> Game:
        """Return a game as the program knows it; numbers are never used twice."""
        known = session.games.get(seat)
        if known is None:
            known = session.games[seat] = Game(self._games, seat)
            self._games += 1
        return known

    def _forfeit(self, session: Session, seat: int, kind: Forfeit, reason: str) -> None:
        """Note that a game is lost, and say so to the program."""
        self._reasons[seat] = (kind, reason)
        known = session.games.pop(seat)
        message = {"type": protocol.GAME_OVER, "game": known.number, "forfeit": reason}
        session.program.send(protocol.line(message))

    def _lost(self, session: Session, kind: Forfeit, reason: str) -> None:
        """Give up a program that has ended or fallen silent: all its games are forfeited."""
        self._session = None
        self._failures += 1
        for seat in session.games:
            self._reasons[seat] = (kind, reason)
        session.program.close()
