"""Every ```python block of README.md and docs/ runs as it stands, alone, in an empty folder.

A block that can't is preceded by `<!-- not run: the reason -->` on the line above its fence.
"""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>\S[^\n]*?) -->\n)?^```python[^\n]*\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


def blocks():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start("code")) + 1
            reason = block["reason"]
            marks = [pytest.mark.skip(reason=reason)] if reason else []
            yield pytest.param(page, line, block["code"], id=f"{page.stem}-{line}", marks=marks)


@pytest.mark.parametrize(("page", "line", "code"), list(blocks()))
def test_block(page, line, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if ">>> " in code:  # a session: what it prints is checked too
        test = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), line - 1)
        failed = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed
        assert failed == 0
    else:
        source = "\n" * (line - 1) + code  # a traceback gives the line of the page
        exec(compile(source, page, "exec"), {"__name__": "__main__"})
