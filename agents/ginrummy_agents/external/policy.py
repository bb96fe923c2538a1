"""Programs as policies: many games at once in one process, limits, forfeits with their reasons."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from hashlib import file_digest, sha256
from shutil import which
from time import monotonic
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.external import protocol
from ginrummy_agents.external.process import Limits, Program, ProgramError
from ginrummy_env.core.actions import format_action
from ginrummy_env.core.chance import Random
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.view import View
from ginrummy_env.policy import Forfeit

MAX_FAILURES = 3
"""A program that ends so many times without finishing a game is not started again."""

_CLOSE_SECONDS = 0.2


@dataclass(slots=True)
class _Seat:
    """One game as the program knows it."""

    game: int
    deal: int = -1
    reported: int = 0
    """Actions of this deal that the program has been told of."""
    seconds: float = 0.0


@dataclass(slots=True)
class _Running:
    """A program that is ready."""

    program: Program
    sections: tuple[str, ...]
    rules: Rules
    seats: dict[int, _Seat] = field(default_factory=dict)


class ExternalPolicy:
    """A program that plays by the arena's protocol (docs/ARENA.md).

    The program is started when it is first asked, in each process that uses the policy, and ended
    when the policy is closed or forgotten, or this process ends. Whatever it does wrong costs it
    the game in which it happened; if it ends or falls silent, it loses all games it had in play and
    is started again for the next ones.
    """

    def __init__(self, command: str | Sequence[str], limits: Limits | None = None) -> None:
        """Keep the command; nothing is started yet.

        Args:
            command: as a shell would split it (no shell is used), or its words.
            limits: what the program may use.

        Raises:
            ValueError: an empty command.
        """
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if not words:
            raise ValueError("exec: a command is needed, such as exec:./mybot")
        self.command = words
        self.limits = limits or Limits()
        self.name = ""
        """What the program calls itself, once it has been started."""
        self._running: _Running | None = None
        self._reasons: dict[int, tuple[Forfeit, str]] = {}
        self._failures = 0
        self._started = False
        self._games = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the policy that a text describes: the command, then limits behind semicolons.

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
        for part in given:
            name, _, value = (piece.strip() for piece in part.partition("="))
            if name not in kinds:
                raise ValueError(f"exec: unknown limit {name!r}; the limits are {', '.join(kinds)}")
            try:
                limits[name] = kinds[name](value)
            except ValueError:
                raise ValueError(f"exec: {name}={value!r}: a number is needed") from None
        return cls(command, Limits(**limits))

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
        return f"{shlex.join(self.command)} {digest.hexdigest()[:16]} {self.limits}"

    def __getstate__(self) -> dict[str, Any]:
        """Give the command and limits; a process of its own is started where it is loaded."""
        return {"command": self.command, "limits": self.limits}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["command"], state["limits"])  # type: ignore[misc]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_running", None) is not None:
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
            self._forget(seats.tolist())
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
        running = self._ready(view.rules, seats[rows].tolist())
        if running is not None:
            asked = [row for row in rows if int(seats[row]) not in self._reasons]
            self._ask(running, asked, seats, view, actions)
        for row in rows:
            if int(seats[row]) in self._reasons:
                actions[row] = self._reasons[int(seats[row])][0]
        return actions

    def _ask(
        self,
        running: _Running,
        asked: list[int],
        seats: NDArray[np.int64],
        view: View,
        actions: NDArray[np.int16],
    ) -> None:
        """Ask for moves in some rows, and write them into ``actions``."""
        part = view if len(asked) == len(view) else view.select(asked)
        masks = part.action_masks()
        known = [self._seat(running, int(seats[row])) for row in asked]
        since = self._since(known, part)
        games = [seat.game for seat in known]
        running.program.send(
            b"".join(protocol.move_requests(part, games, since, masks, running.sections))
        )
        waiting = {seat.game: place for place, seat in enumerate(known)}
        try:
            self._listen(running, waiting, known, seats[asked], masks, actions, asked)
        except ProgramError as error:
            self._lost(running, error.kind, str(error))
        except BaseException:
            # Ctrl-C, say: answers to what was asked would be taken for those to the next question.
            self._lost(running, Forfeit.ENDED, "was stopped while it was asked for a move")
            raise

    def _listen(
        self,
        running: _Running,
        waiting: dict[int, int],
        known: list[_Seat],
        seats: NDArray[np.int64],
        masks: NDArray[np.bool_],
        actions: NDArray[np.int16],
        asked: list[int],
    ) -> None:
        """Read answers until every game that waits for one has it."""
        last = monotonic()
        while waiting:
            lines = running.program.lines(self.limits.move_seconds)
            now = monotonic()
            share, last = (now - last) / len(lines), now
            for content in lines:
                try:
                    game, action, wrong = protocol.read_answer(content)
                except ValueError as error:
                    raise ProgramError(str(error), Forfeit.UNREADABLE) from None
                place = waiting.pop(game, None)
                if place is None:
                    raise ProgramError(
                        f"answered for game {game}, which waited for no answer", Forfeit.UNREADABLE
                    )
                seat = known[place]
                seat.seconds += share
                kind = Forfeit.UNREADABLE if wrong else Forfeit.ILLEGAL
                if action is not None and not masks[place, action]:
                    legal = ", ".join(map(format_action, np.flatnonzero(masks[place]).tolist()))
                    wrong = f"answered {format_action(action)}, which is not legal; legal: {legal}"
                elif action is not None and seat.seconds > self.limits.game_seconds:
                    kind = Forfeit.TIMEOUT
                    wrong = f"took more than {self.limits.game_seconds:g} seconds for one game"
                if wrong or action is None:
                    self._forfeit(running, int(seats[place]), kind, wrong)
                else:
                    actions[asked[place]] = action

    def deals_over(self, seats: NDArray[np.int64], view: View) -> None:
        """Report deals that have ended, ``view`` being what the seats see of them then."""
        running = self._running
        if running is None:
            return
        rows = [row for row, seat in enumerate(seats.tolist()) if seat not in self._reasons]
        if not rows:
            return
        part = view.select(rows)
        known = [self._seat(running, int(seats[row])) for row in rows]
        since = self._since(known, part)
        running.program.send(
            b"".join(protocol.deal_reports(part, [seat.game for seat in known], since))
        )

    def games_over(self, seats: NDArray[np.int64], view: View) -> None:
        """Report games that have ended, and forget them."""
        running = self._running
        for seat, scores in zip(seats.tolist(), view.scores.tolist(), strict=True):
            if running is not None and seat in running.seats:
                self._failures = 0
                message = {"type": protocol.GAME_OVER, "game": running.seats[seat].game}
                running.program.send(protocol.line(message | {"scores": scores}))
        self._forget(seats.tolist())

    def _forget(self, seats: list[int]) -> None:
        for seat in seats:
            self._reasons.pop(seat, None)
            if self._running is not None:
                self._running.seats.pop(seat, None)

    def forfeit_reason(self, seat: int) -> str:
        """Return why the program has lost the game at a seat, "" if it has not."""
        return self._reasons[seat][1] if seat in self._reasons else ""

    def close(self) -> None:
        """End the program. It is started again if it is asked again."""
        running, self._running = self._running, None
        if running is not None:
            try:
                running.program.flush(_CLOSE_SECONDS)
            except ProgramError:
                pass  # it has ended already; nobody waits for an answer
            running.program.close()

    def _ready(self, rules: Rules, seats: list[int]) -> _Running | None:
        """Return the program, started if need be; None if that fails, the seats being lost."""
        if self._running is not None and self._running.rules != rules:
            self.close()
        if self._running is None:
            try:
                if self._failures >= MAX_FAILURES:
                    raise ProgramError(f"ended {self._failures} times without finishing a game")
                self._running = self._start(rules)
            except ProgramError as error:
                if not self._started:
                    raise
                self._failures += 1
                for seat in seats:
                    self._reasons.setdefault(seat, (Forfeit.ENDED, str(error)))
                return None
        return self._running

    def _start(self, rules: Rules) -> _Running:
        program = Program(self.command, self.limits.memory_mb)
        try:
            program.send(protocol.hello(rules))
            first, *more = program.lines(self.limits.start_seconds)
            if more:
                raise ValueError("wrote more than one line before it was asked for a move")
            self.name, sections = protocol.read_ready(first)
        except BaseException as error:
            program.close()
            if isinstance(error, ValueError):
                raise ProgramError(f"{shlex.join(self.command)}: {error}") from None
            raise
        self._started = True
        return _Running(program, sections, rules)

    def _seat(self, running: _Running, seat: int) -> _Seat:
        """Return a game as the program knows it; numbers are never used twice."""
        known = running.seats.get(seat)
        if known is None:
            known = running.seats[seat] = _Seat(self._games)
            self._games += 1
        return known

    @staticmethod
    def _since(known: list[_Seat], view: View) -> list[int]:
        """Return from which action on each deal is to be reported, and note that it will be."""
        since = []
        deals, counts = view.deal_number.tolist(), view.step_count.tolist()
        for seat, deal, count in zip(known, deals, counts, strict=True):
            if seat.deal != deal:
                seat.deal, seat.reported = deal, 0
            since.append(seat.reported)
            seat.reported = count
        return since

    def _forfeit(self, running: _Running, seat: int, kind: Forfeit, reason: str) -> None:
        """Note that a game is lost, and say so to the program."""
        self._reasons[seat] = (kind, reason)
        known = running.seats.pop(seat)
        message = {"type": protocol.GAME_OVER, "game": known.game, "forfeit": reason}
        running.program.send(protocol.line(message))

    def _lost(self, running: _Running, kind: Forfeit, reason: str) -> None:
        """Give up a program that has ended or fallen silent: all its games are forfeited."""
        self._running = None
        self._failures += 1
        for seat in running.seats:
            self._reasons[seat] = (kind, reason)
        running.program.close()
