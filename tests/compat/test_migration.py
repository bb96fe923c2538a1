"""docs/MIGRATION.md: its code runs, and it names every cause that the OpenSpiel bridge knows."""

import re
from pathlib import Path

from openspiel import CAUSES, UNEXPLAINED

PAGE = (Path(__file__).parents[2] / "docs" / "MIGRATION.md").read_text(encoding="utf-8")


def test_the_code_runs():
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert blocks
    for code in blocks:
        exec(compile(code, "MIGRATION.md", "exec"), {"__name__": "__main__"})


def test_every_cause_of_a_difference_is_named():
    assert all(f"**{cause}**" in PAGE for cause in CAUSES if cause != UNEXPLAINED)


def test_the_tests_that_it_names_exist():
    for name in re.findall(r"`(?:tests/compat/)?(test_\w+\.py)`", PAGE):
        assert (Path(__file__).parent / name).exists(), name
