"""docs/RULES.md and the code agree: settings, presets, and the sections that docstrings cite."""

import ast
import re
from dataclasses import fields
from pathlib import Path

from ginrummy_env.core.rules import PRESETS, Rules

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "RULES.md").read_text(encoding="utf-8")


def section(name):
    return re.search(rf"^## {re.escape(name)}$\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[
        1
    ]


def table(name):
    """The cells of a section's table, without its two head lines."""
    rows = [line for line in section(name).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def test_the_settings_are_the_fields_of_rules_with_their_defaults():
    on_page = {
        setting.strip("`"): ast.literal_eval(default.strip("`"))
        for setting, default, _ in table("Settings")
    }
    assert on_page == {field.name: field.default for field in fields(Rules)}


def test_the_presets_are_those_of_the_code():
    on_page = {}
    for preset, settings, _ in table("Presets"):
        pairs = (setting.split("=") for setting in re.findall("`([^`]+)`", settings))
        on_page[preset.strip("`")] = {name: ast.literal_eval(value) for name, value in pairs}
    assert on_page == {name: rules.to_dict() for name, rules in PRESETS.items()}


def test_cited_sections_exist():
    """ "RULES, One deal, 5" names a section, and a point of it."""
    names = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    folders = ("ginrummy_env", "agents", "training", "tests", "benchmarks")
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        # A citation may go on in the next line, behind the sign of a comment.
        text = re.sub(r"\s*\n\s*(?:#\s*)?", " ", path.read_text(encoding="utf-8"))
        for cited in re.findall(r"\bRULES, ([A-Z][^.;:)\"]*)", text):
            name = next((name for name in names if cited.startswith(name)), None)
            assert name, f"{path}: RULES has no section for {cited!r}"
            point = re.match(r", (\d+)", cited.removeprefix(name))
            if point and name == "One deal":
                assert re.search(rf"^{point[1]}\. ", section(name), re.MULTILINE), (
                    f"{path}: {cited}"
                )
