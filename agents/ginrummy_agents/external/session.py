"""A program that is ready: the games that it plays, and the waiting for its answers."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Self

from ginrummy_agents.external import protocol
from ginrummy_agents.external.answers import Answer, read_answer, read_ready
from ginrummy_agents.external.process import Limits, Program, ProgramError
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.view import View
from ginrummy_env.policy import Forfeit, Melds, Showdown

Fault = tuple[Forfeit, str]
"""What a program did wrong, and the reason in words."""


@dataclass(slots=True)
class Game:
    """One game as the program knows it."""

    number: int
    seat: int
    deal: int = -1
    reported: int = 0
    """Actions of this deal that the program has been sent."""
    seconds: float = 0.0
    melds: Melds | None = None
    """That came with the knock in this deal."""
    shown: Showdown | None = None
    """What lies on the table, where the players' own melds settled the deal."""


@dataclass(slots=True)
class Session:
    """A program from its start to its end, and the games that it has in play, by seat."""

    program: Program
    name: str
    sections: tuple[str, ...]
    rules: Rules
    limits: Limits
    games: dict[int, Game] = field(default_factory=dict)

    @classmethod
    def start(cls, command: list[str], limits: Limits, rules: Rules, own_melds: bool) -> Self:
        """Start a program and wait until it is ready.

        Raises:
            ProgramError: it cannot be started, or does not answer as the protocol asks.
        """
        program = Program(command, limits.memory_mb)
        try:
            program.send(protocol.hello(rules, own_melds))
            first, *more = program.lines(limits.start_seconds)
            if more:
                raise ValueError("wrote more than one line before it was asked for a move")
            name, sections = read_ready(first)
        except BaseException as error:
            program.close()
            if isinstance(error, ValueError):
                raise ProgramError(f"{shlex.join(command)}: {error}") from None
            raise
        return cls(program, name, sections, rules, limits)

    def since(self, games: Sequence[Game], view: View) -> list[int]:
        """Return from which action on each deal is to be reported, and note that it will be."""
        since = []
        deals, counts = view.deal_number.tolist(), view.step_count.tolist()
        for game, deal, count in zip(games, deals, counts, strict=True):
            if game.deal != deal:
                game.deal, game.reported = deal, 0
                game.melds = game.shown = None
            since.append(game.reported)
            game.reported = count
        return since

    def ask(
        self,
        games: Sequence[Game],
        requests: Sequence[bytes],
        take: Callable[[int, Answer], Fault | None],
    ) -> list[tuple[Game, Fault]]:
        """Send requests, read the answers until each game has its own, and return the faults.

        Args:
            games: [K].
            requests: [K] lines.
            take: is given each game's place and answer; returns the fault in it, if there is one.

        Raises:
            ProgramError: the program ended, fell silent, or wrote what belongs to no game.
        """
        faults: list[tuple[Game, Fault]] = []
        self.program.send(b"".join(requests))
        waiting = {game.number: place for place, game in enumerate(games)}
        last = monotonic()
        while waiting:
            lines = self.program.lines(self.limits.move_seconds)
            now = monotonic()
            share, last = (now - last) / len(lines), now
            for content in lines:
                try:
                    answer = read_answer(content)
                except ValueError as error:
                    raise ProgramError(str(error), Forfeit.UNREADABLE) from None
                place = waiting.pop(answer.game, None)
                if place is None:
                    said = f"answered for game {answer.game}, which was not waiting for an answer"
                    raise ProgramError(said, Forfeit.UNREADABLE)
                game = games[place]
                game.seconds += share
                fault = take(place, answer)
                if fault is None and game.seconds > self.limits.game_seconds:
                    most = f"{self.limits.game_seconds:g} seconds"
                    fault = Forfeit.TIMEOUT, f"took more than {most} for one game"
                if fault is not None:
                    faults.append((game, fault))
        return faults
