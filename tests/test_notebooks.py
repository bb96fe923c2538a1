"""The notebooks run from top to bottom on small settings, and ship as they ran on full ones."""

import ast
import base64
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

import ginrummy_env
from ginrummy_training.analysis import notebook_cache as kept
from ginrummy_training.analysis import notebook_runner
from ginrummy_training.analysis.notebook_runner import (
    NotebookError,
    chosen,
    execute,
    sources_mark,
)
from ginrummy_training.cli.main import main
from ginrummy_training.storage import ResultError

ROOT = Path(__file__).parents[1]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))

each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)

OWN_AGENT = "02_benchmark_strategies"
"""The one that shows how an agent is written, and so defines something."""

MOST_BYTES = 1_500_000


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def written_to_stderr(notebook):
    return [
        output.text
        for cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(kept.FOLDER_VARIABLE, str(tmp_path / "kept"))
    return tmp_path


def test_there_are_notebooks():
    assert [path.stem[:3] for path in PATHS[:3]] == ["01_", "02_", "03_"]


@each
def test_it_runs_on_small_settings_without_a_warning(path, own_folder):
    notebook = execute(path, own_folder, fast=True)
    written = written_to_stderr(notebook)
    assert [text for text in written if "compiled when first used" not in text] == []
    assert notebook.metadata["ginrummy_env"]["settings"] == "small"


@each
def test_it_ships_as_it_ran_on_full_settings(path):
    """Its outputs are of its code, run in order, by this version."""
    notebook = read(path)
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    about = dict(notebook.metadata["ginrummy_env"])
    assert about == {
        "version": ginrummy_env.__version__,
        "settings": "full",
        "cells": sources_mark(notebook),
    }
    assert not [o for cell in cells for o in cell.outputs if o.output_type == "error"]
    assert written_to_stderr(notebook) == []


@each
def test_it_shows_pictures_that_are_not_too_wide_for_a_phone(path):
    pictures = [
        base64.b64decode(output.data["image/png"])
        for cell in code_cells(read(path))
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    assert pictures
    assert all(int.from_bytes(picture[16:20], "big") <= 800 for picture in pictures)
    assert path.stat().st_size < MOST_BYTES


@each
def test_nothing_in_it_hangs_on_the_machine(path):
    text = path.read_text(encoding="utf-8")
    for place in (str(ROOT), str(Path.home()), "/tmp/", "/home/", "site-packages"):
        assert place not in text, f"{place} stands in {path.name}"
    assert not re.search(r"<[\w.]+ (object )?at 0x[0-9a-f]+>", text)


def installs(cell):
    return "install" in cell.metadata.get("tags", ())


SHORT = [path for path in PATHS if any(map(installs, code_cells(read(path))))]
"""Those that begin with a cell which installs the project, as on Colab."""

each_short = pytest.mark.parametrize("path", SHORT, ids=lambda path: path.stem)


@each_short
def test_it_begins_with_a_title_the_installation_and_short_parameters(path):
    title, install, parameters = read(path).cells[:3]
    assert title.source.startswith("# ")
    assert installs(install)
    assert "FAST = set_up()" in parameters.source
    assert all(len(cell.source.splitlines()) <= 10 for cell in (install, parameters))


@each_short
def test_it_names_its_sources_at_its_end(path):
    assert "## References" in read(path).cells[-1].source
    assert "REFERENCES.md" in read(path).cells[-1].source


@each_short
def test_its_tables_are_aligned_in_each_cell_and_no_picture_is_svg(path):
    """Viewers on the web drop style sheets and SVG."""
    for cell in code_cells(read(path)):
        for output in cell.outputs:
            html = output.get("data", {}).get("text/html", "")
            assert "<svg" not in html or "<iframe" in html
            assert "<table" not in html or "<td>" not in html


@each
def test_its_parameters_come_first_and_it_has_no_logic_of_its_own(path):
    cells = [cell for cell in code_cells(read(path)) if not installs(cell)]
    assert [cell.metadata.get("tags") for cell in cells].index(["parameters"]) == 0
    assert re.search(r"FAST = (fast|set_up)\(\)", cells[0].source)
    tree = ast.parse("\n".join(cell.source for cell in cells))
    defined = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
    ]
    if path.stem == OWN_AGENT:
        assert [type(node) for node in defined] == [ast.ClassDef, ast.FunctionDef]
        lines = ast.unparse(defined[0]).splitlines()
        assert len(lines) <= 10, "an agent in ten lines"
    else:
        assert defined == []


def write(folder, *sources):
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source, id=f"c{n}") for n, source in enumerate(sources)]
    )
    path = folder / "a.ipynb"
    nbformat.write(notebook, path)
    return path


@pytest.mark.filterwarnings("error")
def test_what_is_executed_is_written_whole_without_what_hangs_on_the_machine(own_folder):
    write(own_folder, "import sys", "sys.executable", "1 / 2")
    out = own_folder / "out"
    arguments = ["notebooks", "--folder", str(own_folder), "--out", str(out), "--fast", "--force"]
    assert main(arguments) == 0
    first = (out / "a.ipynb").read_bytes()
    notebook = read(out / "a.ipynb")
    assert [cell.execution_count for cell in notebook.cells] == [1, 2, 3]
    assert notebook.cells[1].outputs[0].data["text/plain"] == repr(notebook_runner.sys.executable)
    assert all(cell.metadata == {} for cell in notebook.cells)
    assert main(arguments) == 0
    assert (out / "a.ipynb").read_bytes() == first  # no times, no random names


def test_a_cell_that_fails_is_named_and_nothing_is_written(own_folder, capsys):
    path = write(own_folder, "a = 1", "a / 0")
    before = path.read_bytes()
    with pytest.raises(NotebookError, match=r"(?s)a\.ipynb.*ZeroDivisionError"):
        execute(path, own_folder)
    assert main(["notebooks", "--folder", str(own_folder), "--force"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_ctrl_c_stops_the_kernel_and_leaves_the_notebook_as_it_was(own_folder):
    path = write(own_folder, "import time", "time.sleep(600)")
    before = path.read_bytes()
    command = [sys.executable, "-m", "ginrummy_training", "notebooks", "--force"]
    command += ["--folder", str(own_folder)]
    run = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    for line in run.stdout:
        if "cell 2 of 2" in line:
            break
    time.sleep(3)  # the line is written before the cell is sent: let it arrive
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=600)
    assert run.returncode == 130
    # The kernel may write a line of its own before, depending on where it is interrupted.
    assert told.strip().splitlines()[-1].startswith("interrupted")
    assert path.read_bytes() == before


def test_small_settings_do_not_overwrite_what_ships(own_folder, capsys):
    write(own_folder, "1")
    assert main(["notebooks", "--folder", str(own_folder), "--fast"]) == 2
    assert "--out" in capsys.readouterr().err


def test_only_some_are_executed(tmp_path):
    for name in ("01_a", "02_b", "03_c"):
        (tmp_path / f"{name}.ipynb").touch()
    assert [path.stem for path in chosen(tmp_path, ["02", "03_c"])] == ["02_b", "03_c"]
    assert len(chosen(tmp_path, [])) == 3
    with pytest.raises(ValueError, match="01_a, 02_b, 03_c"):
        chosen(tmp_path, ["04"])


def test_fresh_forgets_what_was_kept(own_folder):
    source = (
        "from ginrummy_training.analysis.notebook_cache import kept, kept_root\n"
        "had = kept_root().exists()\n"
        "kept('a', lambda: [{'x': 1}], games=2)\n"
        "had"
    )
    write(own_folder, source)
    out = own_folder / "out"
    arguments = ["notebooks", "--folder", str(own_folder), "--out", str(out), "--fast"]
    kept.kept("b", lambda: [{"x": 1}])
    seen = []
    for more in ([], ["--fresh", "--force"]):
        assert main([*arguments, *more]) == 0
        seen.append(read(out / "a.ipynb").cells[0].outputs[0].data["text/plain"])
    assert seen == ["True", "False"]


def test_a_damaged_notebook_is_named(own_folder):
    path = own_folder / "a.ipynb"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ResultError, match=r"a\.ipynb"):
        execute(path, own_folder)
