"""The AAAI-21 challenge's own engine, where somebody has it, against the games played here.

    python tests/helpers/challenge_engine.py JAR --games 20000 --out runs/engine MATCH_FOLDER ...

The jar holds the challenge's classes (its package `ginrummy`). The engine's games are kept in
games.npz of the folder --out and are not played again. Each number in comparison.json has its 95 %
interval, and each difference of a match played here from the engine that of the difference.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ginrummy_training.evaluation.match_result import MatchResult
from ginrummy_training.storage import write_json

HELPER = Path(__file__).with_name("EngineMatch.java")
BASELINE = "ginrummy.SimpleGinRummyPlayer"
COLUMNS = (
    "winner", "deals", "void",
    "gin_a", "knock_a", "undercut_a", "gin_b", "knock_b", "undercut_b",
)  # fmt: skip
KINDS = ("void", "gin", "knock", "undercut")


def challenge_jar():
    """Return the challenge's jar: $EAAI_JAR, or one beside the project; None if there is none."""
    beside = Path(__file__).parents[3] / "shared" / "eaai" / "ginrummy.jar"
    path = Path(os.environ.get("EAAI_JAR", beside))
    return path if path.is_file() and shutil.which("javac") else None


def play(jar, games, player=BASELINE):
    """Return the games of a player against itself in the challenge's engine: {column: [games]}."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-d", folder, str(HELPER)], check=True)
        command = ["java", "-XX:+UseSerialGC", "-cp", folder, "EngineMatch"]
        made = subprocess.run(
            [*command, str(jar), player, str(games)], check=True, capture_output=True, text=True
        )
    rows = np.array([line.split(",") for line in made.stdout.split()], dtype=np.int64)
    return dict(zip(COLUMNS, rows.T, strict=True))


def shares(deals, endings):
    """Return deals a game and each ending's share of deals, as (value, standard error).

    Args:
        deals: [C] in each independent cluster of games, with the games of a cluster in ``games``.
        endings: {kind: [C]}.
    """
    found = {}
    for name, counts in endings.items():
        share = counts.sum() / deals.sum()
        left = counts - share * deals
        found[name] = (
            share,
            np.sqrt((left**2).sum() * len(deals) / (len(deals) - 1)) / deals.sum(),
        )
    return found


def of_engine(table):
    """Return what happened in the engine's games: {name: (value, standard error)}."""
    deals = table["deals"]
    endings = {
        kind: table[kind] if kind == "void" else table[f"{kind}_a"] + table[f"{kind}_b"]
        for kind in KINDS
    }
    return {
        "games won": (
            1 - table["winner"].mean(), table["winner"].std(ddof=1) / np.sqrt(len(deals))
        ),
        "deals a game": (deals.mean(), deals.std(ddof=1) / np.sqrt(len(deals))),
        **shares(deals, endings),
    }  # fmt: skip


def of_match(folder):
    """Return the same of a match played here; its pairs of games are the clusters."""
    result = MatchResult.load(Path(folder) / "games.npz")
    assert result.complete, f"{folder}: not all games have been played"
    deals = result.pairs("deals")
    endings = {
        kind: result.pairs(kind)
        if kind == "void"
        else result.pairs(f"{kind}_a") + result.pairs(f"{kind}_b")
        for kind in KINDS
    }
    won = (result.table["winner"] == 0).reshape(-1, 2).mean(axis=1)
    of_root = 1 / np.sqrt(len(deals))
    return {
        "games won": (won.mean(), won.std(ddof=1) * of_root),
        "deals a game": (deals.mean() / 2, deals.std(ddof=1) / 2 * of_root),
        **shares(deals, endings),
    }


def interval(value, error):
    """Return a number with its 95 % interval, as JSON can hold it."""
    half = 1.96 * error
    return {"value": float(value), "low": float(value - half), "high": float(value + half)}


def differences(here, engine):
    """Return a match's numbers less the engine's, each with the interval of the difference."""
    return {
        name: interval(here[name][0] - engine[name][0], np.hypot(here[name][1], engine[name][1]))
        for name in engine
    }


def main():
    """Play, or compare what has been played."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jar", type=Path)
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("matches", nargs="*", help="folders of matches of the baseline or its port")
    options = parser.parse_intermixed_args()
    kept = options.out / "games.npz"
    if not kept.exists():
        options.out.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(kept, **play(options.jar, options.games))
    engine = of_engine(np.load(kept))
    found = {"engine": {name: interval(*each) for name, each in engine.items()}}
    for folder in options.matches:
        here = of_match(folder)
        found[Path(folder).name] = {
            "here": {name: interval(*each) for name, each in here.items()},
            "less the engine": differences(here, engine),
        }
    about = {"player": BASELINE, "games": len(np.load(kept)["winner"])}
    write_json(options.out / "comparison.json", about | found)
    for name, numbers in found.items():
        print(name, numbers)


if __name__ == "__main__":
    main()
