"""One program as a child process: lines in, lines out, limits, and nothing left behind."""

import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from ginrummy_env.core.checks import whole
from ginrummy_env.policy import Forfeit

MAX_LINE = 1 << 16
"""Bytes of the longest line that a program may write."""

GUARD = Path(__file__).with_name("guard.py")

_CHUNK = 1 << 16


class ProgramError(ValueError):
    """A program that cannot be used, or that has ended. The message says why.

    Attributes:
        kind: what it costs: see `Forfeit`.
    """

    def __init__(self, message: str, kind: Forfeit = Forfeit.ENDED) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use.

    Raises:
        ValueError: a limit that is not above 0.
    """

    move_seconds: float = 10.0
    """Longest silence while an answer is due."""
    game_seconds: float = 600.0
    """Time for all decisions of one game."""
    start_seconds: float = 60.0
    """Time until the program says that it is ready."""
    memory_mb: int = 4096
    """Data memory of each of its processes; not limited if 0."""

    def __post_init__(self) -> None:
        for name in ("move_seconds", "game_seconds", "start_seconds"):
            value = getattr(self, name)
            if isinstance(value, bool) or not 0 < value < float("inf"):
                raise ValueError(f"{name}={value!r}: a number of seconds above 0 is needed")
        object.__setattr__(self, "memory_mb", whole("memory_mb", self.memory_mb, 0))


class Program:
    """A running program. Its standard input and output are the protocol's, errors are kept.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(self, command: list[str], memory_mb: int = 0) -> None:
        """Start it in a process group of its own, under `guard`."""
        self.command = command
        ours, theirs = socket.socketpair()
        self._lifeline = ours
        self._errors = tempfile.TemporaryFile()
        guard = [sys.executable, "-I", str(GUARD), str(theirs.fileno()), str(memory_mb)]
        self._process = subprocess.Popen(
            [*guard, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._unsent = bytearray()
        self._unread = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._writing = False

    @property
    def group(self) -> int:
        """The number of the process group that it and all that it starts belong to."""
        return self._process.pid

    def send(self, lines: bytes) -> None:
        """Queue lines; they are written while answers are read, or by `flush`."""
        self._unsent += lines

    def lines(self, seconds: float) -> list[bytes]:
        """Return the lines that the program has written, at least one; waits for the first.

        Args:
            seconds: the longest time to wait.

        Raises:
            ProgramError: no line came in time, one is too long, or the program has ended.
        """
        deadline = monotonic() + seconds
        while (end := self._unread.rfind(b"\n")) < 0:
            if len(self._unread) > MAX_LINE:
                raise ProgramError(f"wrote a line of over {MAX_LINE} bytes", Forfeit.UNREADABLE)
            self._exchange(deadline, seconds)
        lines = bytes(self._unread[:end]).split(b"\n")
        del self._unread[: end + 1]
        if max(map(len, lines)) > MAX_LINE:
            raise ProgramError(f"wrote a line of over {MAX_LINE} bytes", Forfeit.UNREADABLE)
        return lines

    def flush(self, seconds: float) -> None:
        """Write what is queued, as far as the program takes it within this time."""
        deadline = monotonic() + seconds
        while self._unsent and monotonic() < deadline:
            self._exchange(deadline, seconds)

    def _exchange(self, deadline: float, seconds: float) -> None:
        """Write what can be written and read what can be read, waiting until the deadline."""
        if self._unsent and not self._write():
            self._selector.register(self._in, selectors.EVENT_WRITE)
            self._writing = True
        left = deadline - monotonic()
        ready = self._selector.select(max(left, 0)) if left > 0 else []
        if self._writing:
            self._selector.unregister(self._in)
            self._writing = False
        if not ready:
            if deadline - monotonic() <= 0:
                raise ProgramError(f"did not answer in {seconds:g} seconds", Forfeit.TIMEOUT)
            return
        if any(key.fd == self._out for key, _ in ready):
            content = os.read(self._out, _CHUNK)
            if not content:
                raise ProgramError(self._ended())
            self._unread += content

    def _write(self) -> bool:
        """Write what the pipe takes; return whether nothing is left."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self._in, memoryview(self._unsent)[:_CHUNK])]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            raise ProgramError(self._ended()) from None
        return True

    def _ended(self) -> str:
        """Return how the program ended, with the last line that it wrote to standard error."""
        self._lifeline.settimeout(1.0)
        try:
            how = self._lifeline.recv(400).decode(errors="replace")
        except OSError:
            how = ""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        written = self._errors.read().decode(errors="replace").strip().splitlines()
        return (how or "closed its standard output") + (f": {written[-1][:300]}" if written else "")

    def close(self) -> None:
        """End the program and all that it has started. Once closed, nothing more happens."""
        if self._process.returncode is not None:
            return
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended by itself
        self._process.wait()
        self._selector.close()
        self._lifeline.close()
        self._errors.close()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                pass  # nothing is left in it that anybody could read
