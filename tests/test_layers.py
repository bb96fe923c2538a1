"""Imports go one way: core <- ginrummy_env <- ginrummy_agents <- ginrummy_training."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS = ("ginrummy_env.core", "ginrummy_env", "ginrummy_agents", "ginrummy_training")
"""Each may import from itself and from those before it."""

CORE_ORDER = (
    "cards", "rules", "chance", "melds", "deadwood", "layoff", "scoring", "actions", "state",
    "deal", "legal", "game", "step", "view", "sampling", "observation", "single_game",
)  # fmt: skip
"""The modules of core; each may import only those before it."""

HEAVY = ("torch", "stable_baselines3", "pygame", "ray", "matplotlib", "pandas")
"""What `import ginrummy_env` must not load."""


def sources(package):
    """The Python files of a package; those of core are not among those of ginrummy_env."""
    files = sorted((folder_of(package) / package.replace(".", "/")).rglob("*.py"))
    return [file for file in files if package != "ginrummy_env" or layer(dotted(file)) == 1]


def folder_of(package):
    """The folder that holds a package: agents/ and training/ each hold one."""
    return ROOT / {"ginrummy_agents": "agents", "ginrummy_training": "training"}.get(package, "")


def dotted(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] in ("agents", "training") else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(name):
    """The number of the layer that a module belongs to, or None for those of others."""
    for number, package in enumerate(LAYERS):
        if name == package or name.startswith(package + "."):
            return number
    return None


def imports(path):
    """Every module that a file imports, wherever in it; of `from a import b` both a and a.b."""
    package = dotted(path) if path.stem == "__init__" else dotted(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")
            base = above[: len(above) - node.level + 1] if node.level else []
            name = ".".join([*base, *filter(None, [node.module])])
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", LAYERS)
def test_packages_import_only_from_layers_below(package):
    for path in sources(package):
        above = {name for name in imports(path) if (layer(name) or 0) > LAYERS.index(package)}
        assert not above, f"{path}: {above} is above {package}"


def test_core_imports_numpy_and_the_standard_library_only():
    allowed = {"numpy", "ginrummy_env", *sys.stdlib_module_names}
    for path in sources("ginrummy_env.core"):
        others = {name.partition(".")[0] for name in imports(path)} - allowed
        assert not others, f"{path} imports {others}"


def test_modules_of_core_import_only_those_above_them():
    for path in sources("ginrummy_env.core"):
        if path.stem == "__init__":
            continue
        assert path.stem in CORE_ORDER, f"{path}: give the new module its place in CORE_ORDER"
        allowed = CORE_ORDER[: CORE_ORDER.index(path.stem)]
        for name in imports(path):
            if layer(name) == 0 and name != LAYERS[0]:
                module = name.split(".")[2]
                assert module in allowed, f"{path} imports {module}, which is not above it"


def test_importing_ginrummy_env_loads_nothing_heavy():
    code = f"import sys, ginrummy_env; print(*[m for m in {HEAVY} if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert loaded.stdout.split() == []
