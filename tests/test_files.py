"""Files that are written whole or not at all, and what a killed writer leaves behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ginrummy_env import files
from ginrummy_env.files import remove_leftovers, require_free, write_whole

KILLED = """
import os, signal, sys
from ginrummy_env import files
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
files.write_whole(sys.argv[1], b"half")
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_whole(path, "whole")
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    assert path.read_text() == "whole"
    monkeypatch.setattr(files, "_cleaned", set())  # as in another process
    write_whole(tmp_path / "other.json", "{}")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.json", "result.json"]


def test_files_of_writers_that_are_at_work_stay(tmp_path):
    mine = tmp_path / f".a.{files._machine()}.{os.getpid()}.0.part"
    remote = tmp_path / ".a.elsewhere.1.0.part"
    other = tmp_path / ".a.part"
    for path in (mine, remote, other):
        path.touch()
    remove_leftovers(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    old = time.time() - files.LEFTOVER_SECONDS - 10
    os.utime(remote, (old, old))
    remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([mine, other])


def test_a_failed_write_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_whole(path, b"before")

    def full(handle):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_exists_is_free_only_by_force(tmp_path):
    path = tmp_path / "game.txt"
    require_free(path)
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError, match=r"game\.txt exists: .*--force"):
        require_free(path)
    require_free(path, force=True)
