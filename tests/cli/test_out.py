"""``--out`` of every command: what is there is not overwritten without ``--force``."""

import argparse

import pytest

from ginrummy_training.cli.main import COMMANDS, main, parser_of

HAND = ("--hand", "4s 5s 6s 9h 9d 9c Kh Kd 2c 3c Qs", "--pile", "7h Jd")

FILES = {
    "analyse": (HAND, "why.png"),
    "bench": (("--only", "nothing"), "bench.json"),
    "compare": (("simple", "gold"), "table.csv"),
    "curves": (("run",), "curves.png"),
    "fit champion": (("--rules", "eaai"), "weights.json"),
    "fit belief": ((), "belief.npz"),
    "fit deal-points": ((), "points.npz"),
    "ladder page": (("results/ladder-eaai",), "LADDER.md"),
    "plot": (("gain.json",), "gain.png"),
    "render": ((), "position.svg"),
    "search-gain": (("search:4",), "gain.json"),
}
"""The rest of the command, and a file to name as ``--out``."""

FOLDERS = {
    "benchmark": (("simple", "--protocol", "smoke"), "card.json"),
    "exact": (("random", "--rules", "nano,turn_bound=1"), "exact.json"),
    "demo": ((), "game.html"),
    "experiments": (("--only", "E1"), "E1.json"),
    "fit belief-check": ((), "belief.json"),
    "exploit": (("simple", "--steps", "0", "--candidates", "gold"), "exploit.json"),
    "match": (("simple", "gold"), "games.npz"),
    "notebooks": (("--only", "01", "--folder", "notebooks"), "01_quickstart.ipynb"),
    "tournament": (("simple", "gold"), "tournament.json"),
}
"""The rest of the command, and a file that it writes into the folder of ``--out``."""

NO_FORCE = {
    "selfplay": "data of the same games is extended, others are refused: test_selfplay",
    "java-bridge": "classes that are compiled again",
}
"""Commands with ``--out`` and without ``--force``, and why they need none."""


def parsers():
    """Every command's parser, those of `fit` one by one."""
    for command in COMMANDS:
        parser = parser_of(command)
        yield command, parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from ((f"{command} {name}", each) for name, each in action.choices.items())


def test_every_command_with_out_has_force():
    options = {name: set(parser._option_string_actions) for name, parser in parsers()}
    writers = {name for name, flags in options.items() if "--out" in flags}
    resumed = "play"  # the same command resumes a game; tests/play has what it refuses
    assert writers == {*FILES, *FOLDERS, *NO_FORCE, resumed}
    assert {name for name in writers if "--force" not in options[name]} == set(NO_FORCE)


@pytest.mark.parametrize("command", [*FILES, *FOLDERS])
def test_what_is_there_is_not_overwritten(capsys, tmp_path, command):
    arguments, name = (FILES | FOLDERS)[command]
    path = tmp_path / name
    path.write_text("kept")
    out = path if command in FILES else tmp_path
    code = main([*command.split(), *arguments, "--out", str(out)])
    printed = capsys.readouterr()
    assert code == 2
    assert str(path) in printed.err
    assert "--force" in printed.err or "corrupt" in printed.err
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [(name, "kept")]
