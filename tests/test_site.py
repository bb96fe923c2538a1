"""The documentation site builds without a warning, and shows all that is public."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ginrummy_training.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built once: some ten seconds of a core."""
    pytest.importorskip("material", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "agents", "training"))
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def pages(site):
    return {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}


def test_every_page_and_notebook_of_the_repository_is_there(site):
    for folder in ("docs", "notebooks"):
        for path in [*(ROOT / folder).glob("*.md"), *(ROOT / folder).glob("*.ipynb")]:
            below = "notebooks/" if folder == "notebooks" else ""
            assert (site / f"{below}{path.stem}.html").exists(), path.name


def test_the_reference_comes_from_docstrings(site):
    reference = site / "reference"
    deadwood = (reference / "ginrummy_env.core.deadwood.html").read_text()
    assert "deadwood_after_discard" in deadwood
    assert "Returns:" in deadwood
    assert "&gt;&gt;&gt;" not in re.sub(r"(?s)<pre.*?</pre>", "", deadwood)  # examples are code
    assert "make_policy" in (reference / "ginrummy_env.html").read_text()


def test_the_command_line_page_has_every_command(site):
    page = (site / "reference" / "command_line.html").read_text()
    for command in COMMANDS:
        assert f">ginrummy {command}<" in page


def test_links_between_files_of_the_repository_work_on_the_site(site):
    for name, text in pages(site).items():
        for target in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', text):
            if name != "404.html":  # its links are from the root of a server
                assert (site / name).parent.joinpath(target).exists(), (name, target)


def test_nothing_is_fetched_from_elsewhere(site):
    for name, text in pages(site).items():
        fetched = re.findall(r'<(?:script|img|iframe|link)\b[^>]*(?:src|href)="(\w+:)?//', text)
        assert fetched == [], name


def test_search_finds_text_and_docstrings(site):
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {entry["location"].split("#")[0]: entry["text"] for entry in index["docs"]}
    assert "RULES.html" in found
    assert "reference/ginrummy_env.core.melds.html" in found
    assert "notebooks/01_quickstart.html" in found


def test_search_works_from_the_disk_without_a_server(site):
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    page = subprocess.run(
        [
            *(chromium, "--headless", "--no-sandbox", "--virtual-time-budget=20000", "--dump-dom"),
            f"{(site / 'index.html').as_uri()}?q=undercut",
        ],
        capture_output=True,
        text=True,
    ).stdout
    assert re.search(r'md-search-result__meta">\d+ matching documents', page)
