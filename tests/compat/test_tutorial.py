"""A training script for PettingZoo's gin_rummy_v4 runs with only its import changed."""

import math
from pathlib import Path

import pytest

OLD_IMPORT = "from pettingzoo.classic import gin_rummy_v4\n"
NEW_IMPORT = "from ginrummy_env.compat import gin_rummy_v4\n"


def test_an_old_training_script_runs_with_only_the_import_changed():
    pytest.importorskip("sb3_contrib")
    script = (Path(__file__).parent / "training_script.txt").read_text(encoding="utf-8")
    assert script.count(OLD_IMPORT) == 1
    names = {"__name__": "training_script"}
    exec(compile(script.replace(OLD_IMPORT, NEW_IMPORT), "training_script", "exec"), names)
    assert names["MODEL"].num_timesteps == 512
    assert names["MODEL"].observation_space.shape == (4, 52)
    assert names["MODEL"].action_space.n == 110
    assert all(math.isfinite(total) for total in names["TOTALS"].values())
    assert any(names["TOTALS"].values())
