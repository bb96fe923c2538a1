"""Checkpoints: the last two are kept, and none is used that does not have its SHA-256."""

import json

import pytest

from ginrummy_training.learning.checkpoints import INDEX, Checkpoints
from ginrummy_training.storage import ResultError


def file_of(text):
    return text.encode()


def folder_of(text):
    def write(path):
        (path / "inner").mkdir(parents=True)
        (path / "inner" / "weights").write_text(text)
        (path / "settings").write_text("same")

    return write


def text_of(path):
    return (path / "inner" / "weights" if path.is_dir() else path).read_text()


@pytest.fixture(params=[(".pt", file_of), ("", folder_of)], ids=["files", "folders"])
def written(request, tmp_path):
    """Three checkpoints were written; returns the folder, and what makes another."""
    suffix, make = request.param
    checkpoints = Checkpoints(tmp_path, suffix)
    assert checkpoints.open() is None
    for text in ("one", "two", "three"):
        checkpoints.write(make(text), f"step {text}")
    return tmp_path, suffix, make


def test_the_last_two_are_kept(written):
    folder, suffix, _ = written
    assert text_of(Checkpoints(folder, suffix).open()) == "three"
    assert text_of(Checkpoints(folder, suffix).open(previous=True)) == "two"
    assert len(list(folder.glob("checkpoint-*"))) == 2


def damaged(path, how):
    file = path / "inner" / "weights" if path.is_dir() else path
    if how == "flip":
        content = bytearray(file.read_bytes())
        content[0] ^= 1
        file.write_bytes(content)
    elif how == "missing":
        file.unlink()
    else:
        file.rename(file.with_name("other"))


@pytest.mark.parametrize("how", ["flip", "missing", "renamed"])
def test_a_damaged_one_is_named_and_the_other_offered_if_intact(written, how):
    folder, suffix, make = written
    before, last = sorted(folder.glob("checkpoint-*"))
    damaged(last, how)
    with pytest.raises(ResultError, match=rf"{last.name}: corrupt.*\(step two\) is intact"):
        Checkpoints(folder, suffix).open()
    checkpoints = Checkpoints(folder, suffix)
    assert text_of(checkpoints.open(previous=True)) == "two"
    checkpoints.write(make("again"), "step again")  # what it came from stays, the damaged one goes
    assert text_of(checkpoints.open(previous=True)) == "two"
    assert text_of(Checkpoints(folder, suffix).open()) == "again"
    assert len(list(folder.glob("checkpoint-*"))) == 2
    damaged(max(folder.glob("checkpoint-*")), how)
    damaged(before, how)
    with pytest.raises(ResultError, match=r"corrupt or missing[^;]*$"):
        Checkpoints(folder, suffix).open()


def test_one_that_was_being_written_is_not_used(written):
    """Killed before the index was written: the file is there, the index names the one before."""
    folder, suffix, make = written
    index = (folder / INDEX).read_bytes()
    checkpoints = Checkpoints(folder, suffix)
    checkpoints.open()
    checkpoints.write(make("four"), "step four")
    (folder / INDEX).write_bytes(index.replace(b"step three", b"step 3"))
    checkpoints = Checkpoints(folder, suffix)
    assert text_of(checkpoints.open()) == "three"
    checkpoints.write(make("five"), "step five")
    assert text_of(Checkpoints(folder, suffix).open()) == "five"
    assert len(list(folder.glob("checkpoint-*"))) == 2


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"last": {"name": "../x", "sha256": "", "about": ""}}']
)
def test_a_corrupt_index_is_named(tmp_path, content):
    (tmp_path / INDEX).write_bytes(content)
    with pytest.raises(ResultError, match=r"checkpoint\.json: corrupt"):
        Checkpoints(tmp_path).open()
    (tmp_path / INDEX).write_text(
        json.dumps({"last": {"name": "../x", "sha256": "", "about": ""}, "previous": None})
    )
    with pytest.raises(ResultError, match="is not a name"):
        Checkpoints(tmp_path).open()


def test_there_is_no_previous_one(tmp_path):
    with pytest.raises(ResultError, match="no checkpoint yet"):
        Checkpoints(tmp_path).open(previous=True)
    Checkpoints(tmp_path).write(b"one", "step one")
    with pytest.raises(ResultError, match="no checkpoint before the last"):
        Checkpoints(tmp_path).open(previous=True)
