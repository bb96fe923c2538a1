"""The wheel holds what the three packages need, data files too, and works outside the checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ginrummy_env

ROOT = Path(__file__).parents[1]
PACKAGES = ("ginrummy_env", "ginrummy_agents", "ginrummy_training")


def run(*command, cwd):
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    dist = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", dist, cwd=ROOT)
    (path,) = dist.glob("*.whl")
    return path


def committed():
    """Files that git knows under the three packages."""
    listed = run("git", "ls-files", "-z", "--", "ginrummy_env", "agents", "training", cwd=ROOT)
    return {
        name.removeprefix("agents/").removeprefix("training/")
        for name in listed.split("\0")
        if name and (ROOT / name).exists()
    }


def test_the_wheel_has_every_committed_file_of_the_packages(wheel):
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    with zipfile.ZipFile(wheel) as archive:
        assert committed() <= set(archive.namelist())


def test_the_wheel_adds_the_three_packages_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        top = {name.split("/")[0] for name in archive.namelist()}
    assert top == {*PACKAGES, f"ginrummy_env-{ginrummy_env.__version__}.dist-info"}


def test_the_installed_wheel_imports_beside_others_agents_and_training(wheel, tmp_path):
    """Other projects install packages called `agents` (openai-agents) and `training`."""
    target = tmp_path / "site"
    for other in ("agents", "training"):
        (target / other).mkdir(parents=True)
        (target / other / "__init__.py").write_text("OWNER = 'somebody else'")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index")
    run(*pip, "--disable-pip-version-check", "--target", target, wheel, cwd=tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import agents, training, importlib, importlib.metadata\n"
        "assert agents.OWNER == training.OWNER == 'somebody else'\n"
        f"for name in {PACKAGES}: print(importlib.import_module(name).__file__)\n"
        "print(importlib.metadata.version('ginrummy_env'))"
    )
    *files, version = run(sys.executable, "-c", code, cwd=tmp_path).splitlines()
    assert [Path(file).parent for file in files] == [target / name for name in PACKAGES]
    assert version == ginrummy_env.__version__
