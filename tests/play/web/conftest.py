"""Debian's Chromium driven by Playwright where both are there."""

import os
import shutil

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """Records are written after every move; that they reach the disk needs no test here."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


# For a module: Playwright's event loop must not be running in the tests of others.
@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A phone's page. What goes wrong in it fails the test."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    page.wrong = wrong
    yield page
    context.close()
    assert wrong == []
