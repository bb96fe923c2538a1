"""docs/API.md says what the code says: layout, results, options."""

import inspect
from pathlib import Path

import pytest

import ginrummy_env
from ginrummy_env.core.observation import layout
from ginrummy_env.envs.deal_infos import RESULT_KEYS

PAGE = (Path(__file__).parents[1] / "docs" / "API.md").read_text(encoding="utf-8")


def test_the_layout_is_the_one_in_the_code():
    rows = [f"| {e.start} | `{e.name}` | {e.size} | {e.text} |" for e in layout()]
    table = "\n".join(["| from | name | numbers | meaning |", "|---:|---|---:|---|", *rows])
    assert table in PAGE, f"docs/API.md needs this table:\n{table}"


def test_the_results_are_those_in_the_code():
    rows = [f"| `{key}` | {text} |" for key, text in RESULT_KEYS.items()]
    table = "\n".join(["| key | value |", "|---|---|", *rows])
    assert table in PAGE, f"docs/API.md needs this table:\n{table}"


@pytest.mark.parametrize(
    "environment",
    [
        ginrummy_env.raw_env,
        ginrummy_env.GinRummyEnv,
        ginrummy_env.GinRummyVectorEnv,
        ginrummy_env.GinRummyVecEnv,
        ginrummy_env.GinRummySelfPlayEnv,
    ],
)
def test_every_option_is_there_and_has_its_default(environment):
    section = PAGE.partition("## Options")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    table = {line.split("|")[1].strip().strip("`"): line for line in rows}
    for name, parameter in inspect.signature(environment).parameters.items():
        if name == "num_envs":
            continue
        assert name in table, f"option {name} is missing in docs/API.md"
        default = parameter.default
        if name == "autoreset_mode":
            default = default.value
        if default is not None or name != "assignment":  # which is told in words
            assert f"`{default!r}`".replace("'", '"') in table[name], f"{name}: {default!r}"
