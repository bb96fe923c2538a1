"""Digests of source code: of modules with all that they import of this project, and of classes.

Comments, docstrings and layout do not count. Data files that the code names do, and so do agents
that it names in text.
"""

import ast
import hashlib
import importlib.util
import types
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ginrummy_env.policy import ENTRY_POINTS

COUNTED = (
    "ginrummy_agents",
    "ginrummy_env.core",
    "ginrummy_env.policy",
    "ginrummy_training.evaluation.lockstep",
    "ginrummy_training.evaluation.game_table",
)
"""Imports of these packages and modules are followed: they decide how a game goes."""

OWN = ("ginrummy_env", "ginrummy_agents", "ginrummy_training")

LIBRARIES = ("site-packages", "dist-packages")
"""Of a module in such a folder that is not of this project its own code counts alone."""


NO_CODE = (
    "__doc__", "__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__",
)  # fmt: skip
"""Attributes of a class that say nothing about what it does."""


def is_counted(module: str) -> bool:
    """Return whether a module is one of `COUNTED`, or in one of them."""
    return any(module == name or module.startswith(f"{name}.") for name in COUNTED)


@cache
def code_digest(modules: tuple[str, ...]) -> str:
    """Return a digest of modules and of all that they import of `COUNTED` or of their own package.

    Raises:
        ValueError: there is no such module.
    """
    seen = modules_of(modules)
    found = hashlib.sha256()
    for module in sorted(seen):
        tree, path = _parsed(module)
        found.update(f"{module}\n{ast.dump(tree)}\n".encode())
        for file in _data_files(tree, path.parent):
            found.update(file.read_bytes())
    return found.hexdigest()


def modules_of(modules: tuple[str, ...]) -> set[str]:
    """Return modules with all that they import of `COUNTED` or of their own package."""
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += _followed(module)
    return seen


@cache
def _followed(module: str) -> tuple[str, ...]:
    """Return the modules whose code counts because this one's does."""
    tree, path = _parsed(module)
    names = _imports(tree, module, is_package=path.name == "__init__.py")
    top = module.partition(".")[0]
    if top in OWN:
        agents = _named_agents(tree) if module.startswith("ginrummy_agents") else set()
        found = {name for name in names if is_counted(name)} | agents
    elif any(part in LIBRARIES for part in path.parts):
        found = set()
    else:
        beside = {file.stem for file in path.parent.glob("*.py")} if top == module else set()
        found = {
            name
            for name in names
            if is_counted(name) or (name.partition(".")[0] in {top, *beside} and _is_module(name))
        }
    return tuple(sorted(name for name in found if _is_module(name)))


@cache
def _parsed(module: str) -> tuple[ast.Module, Path]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise ValueError(f"no source code of the module {module}")
    path = Path(spec.origin)
    return without_docstrings(ast.parse(path.read_bytes())), path


def _imports(tree: ast.Module, module: str, is_package: bool) -> set[str]:
    """Return the names that a module imports; of `from a import b` both a and a.b."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*above, *filter(None, [node.module])])
            found |= {name, *(f"{name}.{alias.name}" for alias in node.names)}
    return found


@cache
def _is_module(name: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):  # its parent is no package
        return False
    return spec is not None and (spec.origin or "").endswith(".py")


def _texts(tree: ast.Module) -> set[str]:
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _named_agents(tree: ast.Module) -> set[str]:
    """Return the modules of the agents that the code names, such as the base of a search."""
    names = {text.partition(":")[0] for text in _texts(tree)}
    makers = (point.load() for point in entry_points(group=ENTRY_POINTS) if point.name in names)
    kinds = (getattr(maker, "make", maker) for maker in makers)
    return {kind.__module__ for kind in kinds if is_counted(kind.__module__)}


def _data_files(tree: ast.Module, folder: Path) -> list[Path]:
    """Return the data files that the code names; a package keeps them in its folder data/."""
    names = {text for text in _texts(tree) if text.endswith((".npz", ".json"))}
    if not names:
        return []
    data = next((up / "data" for up in (folder, *folder.parents) if (up / "data").is_dir()), folder)
    return sorted(path for path in data.glob("*") if path.name in names)


def without_docstrings(tree: ast.Module) -> ast.Module:
    """Return a tree without the texts that stand alone: docstrings, and those below a constant."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                each
                for each in body
                if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            ]
    return tree


def definition_digest(definition: Any) -> str:
    """Return a digest of a class or function by its compiled code.

    For what a script or a notebook defines: of its module only what the definition uses counts, so
    that other lines of the script may change.
    """
    found = hashlib.sha256()
    _digest_definition(definition, found, set())
    return found.hexdigest()


def _digest_definition(value: Any, found: Any, seen: set[int]) -> None:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, types.FunctionType):
        _digest_code(value.__code__, found)
        used = _names(value.__code__)
        for name in sorted(used & set(value.__globals__)):
            found.update(name.encode())
            _digest_definition(value.__globals__[name], found, seen)
    elif isinstance(value, type) and value.__module__ == "__main__":
        for name, each in sorted(vars(value).items()):
            if name not in NO_CODE:
                found.update(name.encode())
                _digest_definition(each, found, seen)
    elif isinstance(value, classmethod | staticmethod):
        _digest_definition(value.__func__, found, seen)
    elif isinstance(value, property):
        for each in (value.fget, value.fset):
            _digest_definition(each, found, seen)
    elif value is None or isinstance(value, bool | int | float | str | bytes | tuple):
        found.update(repr(value).encode())


def _digest_code(code: types.CodeType, found: Any) -> None:
    found.update(code.co_code + repr((code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _digest_code(constant, found)
        elif isinstance(constant, frozenset):  # its order differs from process to process
            found.update(repr(sorted(map(repr, constant))).encode())
        else:
            found.update(repr(constant).encode())


def _names(code: types.CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))
