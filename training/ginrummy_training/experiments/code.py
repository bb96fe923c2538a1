"""A sign of the code that a result hangs on: a changed agent makes kept results void."""

import ast
import hashlib
import importlib.util
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ginrummy_agents.registry import AGENTS
from ginrummy_env.policy import make_policy

COUNTED = ("ginrummy_agents", "ginrummy_env.core", "ginrummy_env.policy")
"""Code of these packages decides how a game goes."""

PLAY = ("ginrummy_env.core.step", "ginrummy_env.core.game")
"""The modules from which all that decides a deal is found. How a match numbers its games and deals
its decks is not counted: tests hold it as it is."""


def modules_of(agents: Iterable[str]) -> list[str]:
    """Return the modules in which some agents are written, those they are built on included.

    >>> modules_of(["search:64,base=gold", "simple"])
    ['ginrummy_agents.rules.gold', 'ginrummy_agents.search.policy', 'ginrummy_agents.rules.simple']
    """
    found = set()
    for agent in agents:
        found.add(type(make_policy(agent)).__module__)
        # An agent may be named as another's parameter.
        for word in re.split(r"[:,;=]", agent)[1:]:
            if word in AGENTS:
                found.add(type(make_policy(word)).__module__)
    return sorted(found)


def fingerprint(agents: Iterable[str], also: Iterable[str] = ()) -> str:
    """Return a sign of the rules' code and that of some agents: eight hexadecimal digits.

    Args:
        agents: those that play.
        also: further modules that count.

    Comments, docstrings and the looks of the code do not change it; files of numbers that the code
    names do.
    """
    digest = hashlib.sha256()
    seen: set[str] = set()
    waiting = [*PLAY, *also, *modules_of(agents)]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        tree, folder = _parsed(module)
        waiting += [name for name in _imports(tree) if name.startswith(COUNTED)]
    for module in sorted(seen):
        tree, folder = _parsed(module)
        digest.update(f"{module}\n{ast.dump(tree)}\n".encode())
        for path in _named_files(tree, folder):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


@cache
def _parsed(module: str) -> tuple[ast.Module, Path]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"no module {module}")
    path = Path(spec.origin)
    return _without_docstrings(ast.parse(path.read_text(encoding="utf-8"))), path.parent


def _imports(tree: ast.Module) -> list[str]:
    """Return the modules that one imports; of `from a import b` a and, if it is one, a.b."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            if node.module.startswith(COUNTED):
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                found += [name for name in inside if _is_module(name)]
    return found


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            # Texts that stand alone: docstrings, and those below a constant.
            node.body = [  # type: ignore[attr-defined]
                each
                for each in body
                if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            ]
    return tree


def _data_folder(folder: Path) -> Path:
    """Return where the package of the agents keeps its files of numbers."""
    return next((up / "data" for up in (folder, *folder.parents) if (up / "data").is_dir()), folder)


def _named_files(tree: ast.Module, folder: Path) -> list[Path]:
    """Return the files of numbers that stand in the code by name."""
    names = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.endswith((".npz", ".json"))
    }
    return sorted(path for path in _data_folder(folder).glob("*") if path.name in names)
