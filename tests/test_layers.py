"""How the packages may import from each other, how large they may be, and what is public."""

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FOLDERS = {
    "ginrummy_env": ROOT,
    "ginrummy_agents": ROOT / "agents",
    "ginrummy_training": ROOT / "training",
    "benchmarks": ROOT,
}
"""The folder that holds each package; each package may import from those before it."""

ORDER = {
    "ginrummy_env": (
        {"files"},
        {"core"},
        {"policy"},
        {"records", "render"},
        {"envs", "viewer"},
        {"compat"},
    ),
    "ginrummy_agents": (
        {"arrays", "compiled", "parameters", "tables", "thresholds"},
        {"kernels"},
        {"win_chance"},
        {"rules"},
        {"search", "learned", "external"},
        {"explain"},
        {"registry"},
    ),
    "ginrummy_training": (
        {"storage", "source_code", "statistics", "progress"},
        {"provenance", "plotting"},
        {"evaluation"},
        {"dataset"},
        {"learning"},
        {"fitting", "cluster", "strength"},
        {"rllib"},
        {"analysis"},
        {"experiments"},
        {"play"},
        {"cli"},
        {"__main__"},
    ),
}
"""The rooms of each package, lowest first: each may import from those in the sets before its own.

`play` is a room apart: it imports nothing else of `ginrummy_training`."""

CORE_ORDER = (
    "types", "checks", "cards", "rules", "chance", "melds", "deadwood", "layoff", "scoring",
    "actions", "state", "deal", "legal", "settlement", "game", "step", "view", "sampling",
    "observation", "single_game",
)  # fmt: skip
"""The modules of core; each may import only those before it."""

HEAVY = ("torch", "stable_baselines3", "pygame", "ray", "matplotlib", "pandas")
"""What `import ginrummy_env` must not load."""

MOST_LINES = 400
MOST_MODULES = 16
MOST_MODULES_OF_CORE = 20


@cache
def modules():
    """The path of every module of the packages, by its dotted name."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in sorted((folder / package).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(module):
    """Every module that a module imports, wherever in it; of `from a import b` a.b if it is one."""
    path = modules()[module]
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")
            base = above[: len(above) - node.level + 1] if node.level else []
            name = ".".join([*base, *filter(None, [node.module])])
            inside = {f"{name}.{alias.name}" for alias in node.names}
            found |= {each if each in modules() else name for each in inside}
    return found - {module}


def place(module):
    """The package and the room in it that a module belongs to, as numbers that grow upwards."""
    package, _, rest = module.partition(".")
    room = rest.partition(".")[0]
    order = ORDER.get(package, ())
    levels = [number for number, rooms in enumerate(order) if room in rooms]
    return list(FOLDERS).index(package), *(levels or [len(order)])


def room(module):
    package = module.split(".")[0]
    return module.split(".")[: 2 if package in ORDER else 1]


@pytest.mark.parametrize("package", FOLDERS)
def test_packages_and_their_rooms_import_only_from_below(package):
    for module in modules():
        if module.split(".")[0] == package:
            ours = {name for name in imports(module) if name in modules()}
            above = {
                name for name in ours if room(name) != room(module) and place(name) >= place(module)
            }
            assert not above, f"{module} imports {above}, which is not below it"


@pytest.mark.parametrize("package", ORDER)
def test_every_room_has_its_place_in_the_order(package):
    rooms = {room(module)[1] for module in modules() if module.startswith(package + ".")}
    missing = rooms - set().union(*ORDER[package])
    assert not missing, f"{package}: give {missing} a place in ORDER"


def test_nothing_imports_in_a_circle():
    graph = {module: imports(module) for module in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("modules import each other: " + " <- ".join(error.args[1]))


def test_playing_needs_environments_and_agents_only():
    for module in modules():
        if module.startswith("ginrummy_training.play"):
            others = {
                name
                for name in imports(module)
                if name.startswith("ginrummy_training") and room(name) != room(module)
            }
            assert not others, f"{module} imports {others}"


def test_core_imports_numpy_and_the_standard_library_only():
    allowed = {"numpy", *sys.stdlib_module_names}
    for module in modules():
        if module.startswith("ginrummy_env.core"):
            others = {
                name
                for name in imports(module)
                if not name.startswith("ginrummy_env.core") and name.split(".")[0] not in allowed
            }
            assert not others, f"{module} imports {others}"


def test_modules_of_core_import_only_those_above_them():
    for module in modules():
        if module.startswith("ginrummy_env.core."):
            name = module.split(".")[2]
            assert name in CORE_ORDER, f"give {module} its place in CORE_ORDER"
            allowed = {f"ginrummy_env.core.{each}" for each in CORE_ORDER[: CORE_ORDER.index(name)]}
            others = {each for each in imports(module) if each in modules()} - allowed
            assert not others, f"{module} imports {others}, not above it in CORE_ORDER"


def test_folders_and_modules_stay_small():
    files = [path.relative_to(ROOT) for path in modules().values()]
    for folder, count in Counter(path.parent for path in files).items():
        core = folder.as_posix() == "ginrummy_env/core"
        most = MOST_MODULES_OF_CORE if core else MOST_MODULES
        assert count - 1 <= most, f"{folder}: {count - 1} modules, at most {most}"
    lines = {
        path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines())
        for path in files
    }
    long = {path for path, count in lines.items() if count > MOST_LINES}
    assert not long, f"at most {MOST_LINES} lines: {[(path, lines[path]) for path in long]}"


@pytest.mark.parametrize(
    "package",
    [
        name
        for name, path in modules().items()
        if path.stem == "__init__" and name.split(".")[0] in ORDER
    ],
)
def test_packages_list_their_public_names_and_modules(package):
    """`__all__` says what is public: names of the package itself, or modules in it."""
    loaded = import_module(package)
    for name in loaded.__all__:
        assert f"{package}.{name}" in modules() or hasattr(loaded, name), f"{package}.{name}"


def test_names_of_tests_have_a_dozen_words_at_most():
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                words = node.name.split("_")[1:]
                assert len(words) <= 12, f"{path.name}: {node.name} has {len(words)} words"


def test_importing_ginrummy_env_loads_nothing_heavy():
    code = f"import sys, ginrummy_env; print(*[m for m in {HEAVY} if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert loaded.stdout.split() == []
