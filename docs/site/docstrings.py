"""Makes Markdown of docstrings for the site: examples and literal blocks as code."""

import re
from typing import Any

from griffe import Extension, Object

SESSION = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?! *$).*)*", re.MULTILINE)
"""An interactive session, to the next empty line."""


def as_markdown(text: str) -> str:
    """Return a docstring with its sessions fenced, and ``::`` before literal blocks as ``:``."""

    def fenced(found: re.Match[str]) -> str:
        indent = found["indent"]
        return f"{indent}```pycon\n{found[0]}\n{indent}```"

    return SESSION.sub(fenced, re.sub(r"::$", ":", text, flags=re.MULTILINE))


class Docstrings(Extension):
    """Changes each docstring as it is read."""

    def on_instance(self, *, obj: Object, **kwargs: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
