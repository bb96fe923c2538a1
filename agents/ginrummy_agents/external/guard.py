"""Runs a program and leaves nothing behind: ``python guard.py LIFELINE MEMORY_MB COMMAND ...``.

LIFELINE is the number of an open socket whose other end the host holds. When the host is gone, for
whatever reason, the socket closes and the whole process group is killed. When the program ends, how
it ended is written to the socket, and what it started is killed. Standard library only; nothing of
the project is imported, so that a start takes milliseconds.
"""

import os
import resource
import signal
import socket
import subprocess
import sys
import threading


def _kill_all() -> None:
    os.killpg(0, signal.SIGKILL)


def _watch(lifeline: socket.socket) -> None:
    while lifeline.recv(64):
        pass
    _kill_all()


def main(arguments: list[str]) -> None:
    """Run the program, watch the lifeline, kill the group at the end."""
    descriptor, memory_mb, *command = arguments
    lifeline = socket.socket(fileno=int(descriptor))
    if int(memory_mb):
        limit = int(memory_mb) << 20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()
    try:
        program = subprocess.Popen(command)
    except OSError as error:
        lifeline.sendall(f"cannot be started: {error.strerror or error}".encode())
        return
    # The program has these; a pipe ends only when everybody has closed it.
    os.close(0)
    os.close(1)
    code = program.wait()
    if code < 0:
        ended = f"was killed by {signal.Signals(-code).name}"
    else:
        ended = f"ended with exit status {code}"
    lifeline.sendall(ended.encode())
    _kill_all()


if __name__ == "__main__":
    main(sys.argv[1:])
