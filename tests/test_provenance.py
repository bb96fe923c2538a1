"""Fingerprints: equal for the same policy, different for anything that plays differently."""

import subprocess
import sys
import threading
from dataclasses import dataclass
from importlib.machinery import ModuleSpec

import numpy as np
import pytest

from ginrummy_agents.learned.policy import NetworkPolicy, load_network, shipped
from ginrummy_env.core.rules import CLASSIC, EAAI
from ginrummy_training import source_code
from ginrummy_training.provenance import (
    ENGINE,
    agent_name,
    code_fingerprint,
    difference,
    environment,
    fingerprints,
    policy_fingerprint,
    typed_command,
)
from ginrummy_training.source_code import modules_of, without_docstrings


@dataclass
class Custom:
    """A policy of a test: anything may be its parameter."""

    given: object = None

    def act(self, view, rng):
        raise NotImplementedError


def parts(given):
    return policy_fingerprint(Custom(given))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.1, 0.2),
        (1, True),
        (None, "None"),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 2}),
        (np.arange(3), np.arange(3.0)),
        (np.arange(4), np.arange(4).reshape(2, 2)),
        ("search:8,base=gold", "search:8,base=simple"),
        (EAAI, CLASSIC),
        (np.random.default_rng(1), np.random.default_rng(2)),
        ({1, 2}, {1, 3}),
        (Custom(1), Custom(2)),
        (len, max),
    ],
)
def test_parameters_of_objects_count(one, other):
    assert parts(one) != parts(other)
    assert parts(one) == parts(one)


def test_a_policy_is_the_same_in_every_process():
    texts = ["search:8,base=gold", "ppo", "champion"]
    code = f"from ginrummy_training.provenance import *; print(fingerprints({texts}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(fingerprints(texts))


def test_networks_and_text_forms():
    nets = [NetworkPolicy(load_network(shipped(rules))) for rules in (EAAI, CLASSIC, EAAI)]
    one, other, again = map(policy_fingerprint, nets)
    assert one == again
    assert one["code"] == other["code"]
    assert one["parameters"] != other["parameters"]
    assert policy_fingerprint("simple:0") == policy_fingerprint("simple:knock=0")
    assert agent_name(nets[0]) == "ppo"


def test_every_file_that_a_parameter_names_counts(tmp_path):
    path = tmp_path / "bot.py"
    for given in (str(path), path, ["x", {"y": path}], f"python {path} --fast"):
        path.write_text("one")
        before = parts(given)
        assert [name for name in before if name.startswith("file ")] == [f"file {path}"]
        path.write_text("two")
        after = parts(given)
        assert {name for name in before if before[name] != after[name]} == {f"file {path}"}


def test_what_cannot_be_compared_is_refused_or_says_itself_what_it_is():
    with pytest.raises(ValueError, match=r"Custom cannot be compared .* a method fingerprint"):
        parts(threading.Lock())

    class Own(Custom):
        def fingerprint(self):
            return f"version {self.version}"

    made = []
    for version in (1, 2, 1):
        own = Own(threading.Lock())
        own.version = version
        made.append(policy_fingerprint(own))
    assert made[0] == made[2] != made[1]


def test_the_code_of_an_agent_and_of_its_base_counts():
    assert "ginrummy_agents.rules.lookahead" in modules_of(("ginrummy_agents.search.policy",))
    codes = {policy_fingerprint(name)["code"] for name in ("simple", "hein", "gold", "champion")}
    assert len(codes) == 4
    assert policy_fingerprint("hein")["code"] == policy_fingerprint("hein:0.5")["code"]
    assert policy_fingerprint("hein") != policy_fingerprint("hein:0.5")
    assert code_fingerprint([*ENGINE, "ginrummy_training.experiments.deals"]) != code_fingerprint()
    assert set(environment()) == {"ginrummy_env", "numpy", "code"}


def test_comments_and_docstrings_do_not_count():
    def sign(text):
        return source_code.ast.dump(without_docstrings(source_code.ast.parse(text)))

    plain = "def f(x):\n    return x + 1\n"
    assert sign(plain) == sign(
        '"""About."""\n\n\ndef f(x):\n    """Words."""\n    return (x + 1)  # so\n'
    )
    assert sign(plain) != sign("def f(x):\n    return x + 2\n")


SCRIPT = """
LIMIT = {limit}
def helper(x):
    return x in {{"a", "b", "c"}} or x + {number}
class Bot:
    def act(self, view, rng):
        return helper(LIMIT)
games = {games}
"""


def test_of_a_script_only_what_the_policy_uses_counts():
    def made(**settings):
        script = {"__name__": "__main__"}
        exec(SCRIPT.format(**settings), script)
        return policy_fingerprint(script["Bot"]())

    base = {"limit": 1, "number": 2, "games": 3}
    assert made(**{**base, "games": 4}) == made(**base)
    assert made(**{**base, "number": 4}) != made(**base)
    assert made(**{**base, "limit": 4}) != made(**base)


def test_the_helpers_of_a_bot_in_a_file_of_its_own_count(tmp_path, monkeypatch):
    (tmp_path / "my_bot.py").write_text("import json\nfrom my_help import f\n")
    (tmp_path / "my_help.py").write_text("from ginrummy_env.core import melds\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = modules_of(("my_bot",))
    assert {"my_bot", "my_help", "ginrummy_env.core.melds"} <= found
    assert "json" not in found


def test_a_result_may_be_added_to_but_names_what_has_changed():
    here = fingerprints(["simple", "gold"])
    there = fingerprints(["simple", "hein"])
    assert difference(here, there) == ""
    there["policies"]["simple"] = {**there["policies"]["simple"], "code": "0"}
    assert difference(here, there) == "the code of simple has changed"
    assert "does not say" in difference(here, None)


@pytest.mark.parametrize("module", ["ginrummy_training", "ginrummy_training.cli.main"])
def test_a_command_run_as_a_module_is_named_ginrummy(module, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["somewhere/main.py", "match", "a b"])
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", ModuleSpec(module, None))
    assert typed_command() == "ginrummy match 'a b'"
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    assert typed_command() == "main.py match 'a b'"
