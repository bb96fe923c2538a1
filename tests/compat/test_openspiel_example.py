"""The example of docs/SMALL_GAMES.md runs."""

import runpy
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

EXAMPLE = Path(__file__).parents[2] / "examples" / "openspiel_cfr.py"


def test_the_example_solves_samples_and_searches(monkeypatch, capsys):
    options = ["--iterations", "8", "--full", "mini,turn_bound=3", "--simulations", "2"]
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *options])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "nano,turn_bound=1: 21,520 histories, 2,520 information sets" in printed
    assert "CFR+    8 iterations: exploitability 0." in printed
    assert "MCCFR: 5 iterations on ginrummy_env(dealer=1,rules=" in printed
    assert "IS-MCTS, 2 simulations, won" in printed
