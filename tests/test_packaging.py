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
    run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", dist, ROOT, cwd=dist
    )
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
        names = set(archive.namelist())
    assert committed() <= names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == set(PACKAGES)


def test_the_installed_wheel_imports_outside_the_checkout(wheel, tmp_path):
    target = tmp_path / "site"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index")
    run(*pip, "--disable-pip-version-check", "--target", target, wheel, cwd=tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import importlib, importlib.metadata\n"
        f"for name in {PACKAGES}: print(importlib.import_module(name).__file__)\n"
        "print(importlib.metadata.version('ginrummy_env'))"
    )
    *files, version = run(sys.executable, "-c", code, cwd=tmp_path).splitlines()
    assert [Path(file).parent for file in files] == [target / name for name in PACKAGES]
    assert version == ginrummy_env.__version__
