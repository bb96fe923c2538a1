"""The command line: what it prints and writes, and one clear line where something is wrong."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from ginrummy_env.core.actions import PASS
from ginrummy_env.core.rules import CLASSIC, EAAI, Rules
from ginrummy_env.records.recorder import load
from ginrummy_training.cli import console
from ginrummy_training.cli.arguments import parse_rules
from ginrummy_training.cli.commands import agents, bench
from ginrummy_training.cli.main import COMMANDS, main
from ginrummy_training.cli.project import demo
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_result import MatchResult
from ginrummy_training.learning.settings import TrainSettings

ROOT = Path(__file__).parents[2]
PLAY = ("--games", "20", "--workers", "1", "--seed", "3")
SHORT = ("--rules", "eaai,target=30")
"""A match takes as long as its longest game."""


def run(capsys, *arguments):
    """Run the command line here; return its exit code, output and errors."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def start(*arguments, **options):
    """Run the command line as a process of its own."""
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "ginrummy_training", *map(str, arguments)],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_examples(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"ginrummy {command}" in out.partition("examples:")[2]
    assert max(map(len, out.splitlines())) <= 100
    if "With --trust" in out and command not in ("agents", "ladder"):  # it is of `ladder add`
        assert re.search(r"^ +--trust\b", out, re.MULTILINE)


@pytest.mark.parametrize("command", ["ladder add", "ladder page", "fit champion", "fit belief"])
def test_help_of_a_part_of_a_command_fits_a_terminal(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "100")
    code, out, _ = run(capsys, *command.split(), "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    assert command.startswith("fit") or out.count(f"ginrummy {command} ") >= 2  # usage, examples


def test_the_help_names_every_command(capsys):
    _, out, _ = run(capsys, "--help")
    for command in COMMANDS:
        assert re.search(rf"^ +{command}\b", out, re.MULTILINE)


def test_match_prints_and_writes(capsys, tmp_path):
    code, out, _ = run(
        capsys, "match", "simple", "gold", *PLAY, *SHORT, "--out", tmp_path,
        "--records", "3",
    )  # fmt: skip
    assert code == 0
    assert "simple – gold, " in out
    assert "20 games in pairs with the same cards, seed 3" in " ".join(out.split())
    for row in ("games won", "deals won", "deals ended: undercut", "time per decision"):
        assert row in out
    summary = json.loads((tmp_path / "match.json").read_text())
    assert summary["match"]["agents"] == ["simple", "gold"]
    assert summary["match"]["seed"] == 3
    assert summary["match"]["settings"]["target"] == 30
    with (tmp_path / "games.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["pair"] for row in rows[:4]] == ["0", "0", "1", "1"]
    won = sum(row["winner"] == "0" for row in rows)
    assert summary["games_won"]["a"]["value"] == won / 20
    code, out, _ = run(capsys, "replay", tmp_path / "records.txt", "--game", "3", "--lines")
    assert code == 0
    assert "deal 1 turn 1" in out


def test_the_same_command_gives_the_same_output(capsys):
    texts = []
    for _ in range(2):
        _, out, _ = run(capsys, "match", "simple", "gold", *PLAY, *SHORT)
        texts.append(re.sub(r"\n.*time per decision.*\n|\n[\d.]+ s\n", "\n", out))
    assert texts[0] == texts[1]


def test_tournament_prints_and_writes(capsys, tmp_path):
    code, out, _ = run(
        capsys, "tournament", "simple", "gold", "simple:0", *PLAY, *SHORT, "--out", tmp_path
    )
    assert code == 0
    assert "20 games per pairing, seed 3" in " ".join(out.split())
    assert "Games won" in out
    names = {path.name for path in tmp_path.iterdir()}
    assert {"tournament.json", "ratings.csv", "pairings.csv", "cross_table.csv"} <= names
    assert {"cross_table.png", "ratings.png", "endings.png"} <= names


def test_agents_are_listed(capsys):
    code, out, _ = run(capsys, "agents")
    assert code == 0
    for name in ("random", "gold", "simple"):
        assert re.search(rf"^{name} +\w+", out, re.MULTILINE)
    assert "knock=" in out


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("eaai", EAAI),
        ("Classic", CLASSIC),
        ("gin_bonus=25", Rules(gin_bonus=25)),
        ("classic,big_gin=true,turn_bound=none", Rules(big_gin=True, turn_bound=None)),
        ("target=250, next_dealer=loser", Rules(target=250, next_dealer="loser")),
        ("eaai,gin_bonus=20", Rules(**{**EAAI.to_dict(), "gin_bonus": 20})),
    ],
)
def test_rules_can_be_written(text, rules):
    assert parse_rules(text) == rules


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["match", "simple"], "required: AGENT"),
        (["match", "simple", "grandmaster"], "unknown policy 'grandmaster'"),
        (["match", "simple", "gold:knock=999"], "knock=999"),
        (["match", "simple", "gold:speed=1"], "speed"),
        (["match", "simple", "gold", "--games", "3"], "an even number"),
        (["match", "simple", "gold", "--games", "x"], "'x' is not a whole number"),
        (["match", "simple", "gold", "--seed", "-1"], "'-1' is not a whole number from 0"),
        (["match", "simple", "gold", "--rules", "house"], "unknown preset 'house'"),
        (["match", "simple", "gold", "--rules", "gin_bonus=x"], "gin_bonus='x'"),
        (["match", "simple", "gold", "--rules", "bonus=1"], "unknown setting 'bonus'"),
        (["match", "simple", "gold", "--rules", "target=1,eaai"], "'eaai' is not a setting"),
        (["match", "simple", "gold", "--workers", "0"], "workers=0"),
        (["match", "simple", "gold", "--records", "2"], "--out"),
        (["tournament", "simple"], "two agents"),
        (["tournament", "simple", "simple"], "twice"),
        (["play", "nobody"], "unknown policy 'nobody'"),
        (["replay", "no such file"], "no such file: No such file"),
        (["match", "simple", "json:dumps"], "'json:dumps': calling dumps() failed"),
        (["fly"], "no command 'fly'"),
        (["mtach", "simple", "gold"], "did you mean 'match'?"),
        (["match", "simple", "glod"], "did you mean 'gold'?"),
        (["match", "simple", "gold", "--game", "20"], "did you mean '--games'?"),
        (["match", "simple", "gold", "--rules", "clasic"], "did you mean 'classic'?"),
        (["match", "simple", "gold", "--rules", "gin_bonsu=1"], "did you mean 'gin_bonus'?"),
        (["match", "simple", "gold", "--games", "-4"], "'-4'"),
        (["match", "simple", "gold", "--games", "1.5e4"], "'1.5e4'"),
        (["train", "x", "--set", "stesp=1"], "did you mean 'steps'?"),
        (
            ["analyse", "--hand", "As 2s 3s 4s 5s 6s 7s 8s 9s Th", "--pile", "Kd Th"],
            "Th is in --hand and in --pile",
        ),
        (
            ["analyse", "--hand", "As 2s 3s 4s 5s 6s 7s 8s 9s Th", "--pile", "Kd Qd Kd"],
            "Kd is twice in --pile",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(capsys, arguments, says):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("ginrummy")
    assert says in err


def test_damaged_files_are_said_in_one_line(capsys, tmp_path):
    (tmp_path / "games.npz").write_bytes(b"rubbish")
    (tmp_path / "game.txt").write_text("ginrummy record 1\nrules none\n")
    wrong = [
        ("match", "simple", "gold", *PLAY, "--out", tmp_path),
        ("replay", tmp_path / "game.txt"),
    ]
    for arguments in wrong:
        code, _, err = run(capsys, *arguments)
        assert code == 2
        assert err.count("\n") == 1
        assert str(tmp_path) in err


def test_the_games_of_another_match_are_not_touched(capsys, tmp_path):
    run(capsys, "match", "simple", "gold", *PLAY, *SHORT, "--out", tmp_path)
    other = ("match", "simple", "gold", "--games", "20", *SHORT, "--out", tmp_path)
    code, _, err = run(capsys, *other)
    assert code == 2
    assert "another match: seed is 3 there and 0 here" in err


def test_replay_refuses_what_is_not_there(capsys, tmp_path):
    run(capsys, "match", "simple", "gold", *PLAY, *SHORT, "--out", tmp_path, "--records", "1")
    file = tmp_path / "records.txt"
    for options, says in (
        (["--game", "2"], "has 1 games"),
        (["--deal", "0"], "counted from 1"),
        (["--deal", "900"], "the record has deals 1 to"),
    ):
        code, _, err = run(capsys, "replay", file, *options)
        assert code == 2
        assert says in err


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_stops_and_the_same_command_goes_on(capsys, tmp_path, workers):
    arguments = ["match", "simple", "gold", "--seed", "3", *SHORT, "--out", tmp_path]
    arguments += ["--batch", "64"]
    process = start(*arguments, "--games", "60000", "--workers", workers, start_new_session=True)
    deadline = time.monotonic() + 600
    while not (tmp_path / "games.npz").exists() and time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert out == ""
    assert err.strip().count("\n") == 0
    assert "run the same command to resume" in err
    assert 0 < MatchResult.load(tmp_path / "games.npz", 200).table["done"].sum()
    code, _, _ = run(capsys, *arguments, "--games", "200")
    assert code == 0
    fresh = play_match("simple", "gold", games=200, seed=3, rules=SHORT[1])
    kept = MatchResult.load(tmp_path / "games.npz", 200)
    assert kept.table.tobytes() == fresh.table.tobytes()


def test_ctrl_c_in_a_destructor_is_not_lost(capsys, monkeypatch):
    """Python ignores what is raised there: it is raised again."""

    class Interrupted:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def run_agents(options):
        Interrupted()
        time.sleep(60)
        return 0

    monkeypatch.setattr(agents, "run", run_agents)
    assert run(capsys, "agents") == (130, "", "ginrummy agents: interrupted\n")


def test_a_person_can_play_to_the_end(tmp_path):
    """All through standard input: somebody who tries everything until it is allowed."""
    cards = [rank + suit for suit in "shdc" for rank in "A23456789TJQK"]
    turn = ["pass", "draw"]
    turn += [f"knock {card}" for card in cards] + [f"d {card}" for card in cards]
    process = start(
        "play", "gold", "--rules", "eaai,target=10", "--seed", "2", "--out", tmp_path / "game.txt",
        stdin=subprocess.PIPE,
    )  # fmt: skip
    out, err = process.communicate("\n".join(["help", "melds", *turn * 100]), timeout=600)
    assert process.returncode == 0, err
    assert "won the game" in out
    assert "You do not hold" in out
    replayed = start("replay", tmp_path / "game.txt")
    out, err = replayed.communicate(timeout=600)
    assert replayed.returncode == 0, err
    assert "won the game" in out
    piped = start("replay", tmp_path / "game.txt")
    piped.stdout.readline()
    piped.stdout.close()  # as `| head` does
    assert piped.wait(timeout=600) == 0
    assert piped.stderr.read() == ""
    piped.stderr.close()


def test_bench_runs_the_benchmarks_of_a_checkout(monkeypatch, capsys, tmp_path):
    called = []

    def record(command, cwd, check):
        called.append((command, cwd))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(bench.subprocess, "run", record)
    code, _, _ = run(capsys, "bench", "--quick", "--only", "core", "--out", tmp_path / "b.json")
    ((command, folder),) = called
    assert code == 0
    assert command[1:] == ["-m", "benchmarks", "--seed", "0", "--quick", "--only", "core", "--out",
                           str(tmp_path / "b.json")]  # fmt: skip
    assert folder == ROOT


def test_bench_measures_where_there_is_no_checkout(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    code, out, _ = run(capsys, "bench", "--quick", *SHORT, "--out", tmp_path / "b.json")
    assert code == 0
    assert "simple – simple, " in out
    speeds = json.loads((tmp_path / "b.json").read_text())["speeds"]
    assert speeds["simple"]["games_a_second"] > 0
    code, _, err = run(capsys, "bench", "--only", "core")
    assert code == 2
    assert "checkout" in err


def test_the_cost_of_a_cluster(capfd):
    code, out, _ = run(capfd, "cluster", "cost", "--workers", "10", "--hours", "1")
    assert code == 0
    assert out.startswith("10 CPUs, 1 h")
    assert run(capfd, "cluster", "cost", "--help")[1].startswith("usage: ginrummy cluster cost")


def test_one_process_for_little_and_one_a_core_for_much(monkeypatch):
    monkeypatch.setattr(console.os, "sched_getaffinity", lambda pid: range(4), raising=False)
    options = type("Options", (), {"workers": None, "games": 900})
    assert console.workers_for(options) == 1
    options.games = 2_500
    assert console.workers_for(options) == 2
    assert console.workers_for(options, pairings=10) == 4
    options.workers = 3
    assert console.workers_for(options) == 3


@pytest.mark.parametrize("seconds", [0, 1])
def test_the_demonstration_runs(capsys, tmp_path, monkeypatch, seconds):
    monkeypatch.setattr(demo, "LADDER", ("simple", "gold"))
    monkeypatch.chdir(tmp_path)  # the agent is named by its file: a short path fits the figures
    command = ("demo", "--games=4", "--first-games=10", "--workers=1", f"--seconds={seconds}")
    code, out, _ = run(capsys, *command, "--out=demo")
    assert code == 0
    assert "champion – simple, eaai: 10 games" in out
    assert "Ratings under eaai" in out
    assert out.count("games won against `simple`") == 2 * seconds
    assert "learned.npz" in out or not seconds
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"tournament.json", "endings.png", "game.html"} <= names
    assert "file://" in out


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_a_killed_terminal_game_loses_nothing(capsys, monkeypatch, tmp_path, name):
    path = tmp_path / "games" / "game.txt"
    process = start(
        "play", "gold", "--seed", "3", "--out", path, stdin=subprocess.PIPE,
        # `nohup` would leave HUP ignored here.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )  # fmt: skip
    process.stdin.write("pass\n")
    process.stdin.flush()
    typed = ""
    while typed.count("melds, help]") < 2:  # the person is asked for the next move
        typed += process.stdout.read(1)
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert process.returncode == -getattr(signal, name)
    (record,) = load(path)
    assert record.deals[0].actions[0] == PASS
    monkeypatch.setattr("builtins.input", lambda prompt: "quit")
    code, out, err = run(capsys, "play", "--out", path)
    assert (code, err) == (0, "")
    assert f"The game is in {path}; run the same command to resume." in " ".join(out.split())
    assert load(path) == [record]


def test_a_path_that_cannot_be_written_is_refused_before_the_game(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("builtins.input", lambda prompt: pytest.fail("asked for a move"))
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "game.txt", tmp_path):
        code, out, err = run(capsys, "play", "--out", path)
        assert code == 2
        assert out == ""
        assert str(path.parent) in err


def test_files_are_replaced_by_force_only(capsys, tmp_path):
    record, page = tmp_path / "games.txt", tmp_path / "game.html"
    commands = (
        (record, ("match", "simple", "gold", *PLAY, *SHORT, "--record", record)),
        (page, ("replay", record, "--html", page)),
    )
    for path, command in commands:
        assert run(capsys, *command)[0] == 0
        before = path.stat().st_mtime_ns
        code, out, err = run(capsys, *command)
        assert code == 2
        assert out == ""
        assert f"{path} exists: name another file" in err
        assert path.stat().st_mtime_ns == before
        assert run(capsys, *command, "--force")[0] == 0
        assert path.stat().st_mtime_ns > before


@pytest.mark.parametrize("arguments", [[], ["--help"], ["analyse"], ["fit"], ["cluster"]])
def test_a_command_without_arguments_prints_its_help(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert out.startswith("usage: ginrummy")


def test_a_misspelled_file_suggests_its_neighbour(capsys, tmp_path):
    (tmp_path / "game.txt").touch()
    _, _, err = run(capsys, "replay", tmp_path / "gmae.txt")
    assert "did you mean 'game.txt'?" in err


def test_show_prints_the_settings_of_the_run(capsys, tmp_path):
    settings = TrainSettings(steps=65_536, width=48).to_dict()
    (tmp_path / "settings.json").write_text(json.dumps({"settings": settings}))
    for command in ("train", "imitate"):
        code, out, _ = run(capsys, command, tmp_path, "--show", "--set", "seed=9")
        assert code == 0
        assert {"width = 48", "steps = 65536", "seed = 9"} <= set(out.splitlines())


@pytest.mark.parametrize(
    "results", ["training/ablations.csv", "search/eaai-curve.json", "search/belief.json"]
)
def test_kept_results_are_drawn_again(capsys, tmp_path, results):
    out = tmp_path / "picture.png"
    code, text, _ = run(capsys, "plot", ROOT / "results" / results, "--out", out)
    assert (code, text) == (0, f"written: {out}\n")
    assert out.read_bytes().startswith(b"\x89PNG")
    code, _, err = run(capsys, "plot", ROOT / "results" / results, "--out", out)
    assert code == 2
    assert "--force" in err


def test_a_tournament_is_drawn_again(capsys, tmp_path):
    code, text, _ = run(capsys, "plot", ROOT / "results" / "ladder-eaai", "--out", tmp_path)
    assert code == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"cross_table.png", "ratings.png", "endings.png"}
    assert text.count("written:") == 3


def test_what_has_no_picture_is_refused(capsys, tmp_path):
    code, _, err = run(
        capsys, "plot", ROOT / "results" / "experiments" / "E4.json", "--out", tmp_path / "a.png"
    )
    assert code == 2
    assert "neither a tournament, nor" in err


def test_words_stand_left_and_numbers_right(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    table = {"agent": ["a", "longer"], "won": [5.25, 50], "games": [8, 80]}
    console.show_frame(pd.DataFrame(table))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    head, first, second = (line for line in lines if line and "─" not in line)
    assert head.index("agent") == first.index("a") == second.index("longer")
    assert head.index("won") + 3 == first.index("5.25") + 4 == second.index("50") + 2
    assert len(head) == len(first) == len(second)


@pytest.mark.parametrize("command", ["match", "compare"])
def test_long_names_are_whole_and_tables_narrow(capsys, command):
    """At most 100 columns where the output is no terminal; names are broken, not cut."""
    first, other = "lookahead:knock=0,weight=12,decay=0.8,outs=6", "heuristic:knock=5,score=33"
    names = [first, f"{other},danger=0.4"]
    code, out, _ = run(capsys, command, *names, "--rules", "target=10", "--games", "2")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    assert "…" not in out


def test_a_missing_package_names_its_extra(capsys, monkeypatch):
    def missing(*_):
        raise ModuleNotFoundError("No module named 'ray'", name="ray.tune")

    monkeypatch.setattr("ginrummy_training.cli.main.parser_of", missing)
    assert (
        run(capsys, "match")[2]
        == "ginrummy match: ray.tune is missing: pip install -e '.[scale]'\n"
    )
