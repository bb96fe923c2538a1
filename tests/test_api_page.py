"""docs/API.md says what the code says: layout, results, options."""

import inspect
from dataclasses import fields
from pathlib import Path

import ginrummy_env
from ginrummy_env.core.observation import layout
from ginrummy_env.envs.deal_infos import RESULT_KEYS
from ginrummy_env.envs.options import (
    DEFAULTS,
    EpisodeKeywords,
    EpisodeOptions,
    LearnerKeywords,
    PettingZooKeywords,
)

PAGE = (Path(__file__).parents[1] / "docs" / "API.md").read_text(encoding="utf-8")


def test_the_layout_is_the_one_in_the_code():
    rows = [f"| {e.start} | `{e.name}` | {e.size} | {e.text} |" for e in layout()]
    table = "\n".join(["| from | name | numbers | meaning |", "|---:|---|---:|---|", *rows])
    assert table in PAGE, f"docs/API.md needs this table:\n{table}"


def test_the_results_are_those_in_the_code():
    rows = [f"| `{key}` | {text} |" for key, text in RESULT_KEYS.items()]
    table = "\n".join(["| key | value |", "|---|---|", *rows])
    assert table in PAGE, f"docs/API.md needs this table:\n{table}"


def test_every_option_is_there_and_has_its_default():
    """The options of all environments, and what their constructors take beside them."""
    section = PAGE.partition("## Options")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    table = {line.split("|")[1].strip().strip("`"): line for line in rows}
    assert {*PettingZooKeywords.__annotations__, *LearnerKeywords.__annotations__} == set(DEFAULTS)
    for name, default in DEFAULTS.items():
        assert name in table, f"option {name} is missing in docs/API.md"
        assert f"`{default!r}`".replace("'", '"') in table[name], f"{name}: {default!r}"
    for environment in (
        ginrummy_env.GinRummyEnv,
        ginrummy_env.GinRummyVectorEnv,
        ginrummy_env.GinRummyVecEnv,
    ):
        parameters = set(inspect.signature(environment).parameters)
        assert parameters - {"num_envs", "options"} <= set(table)


def test_every_option_of_episodes_can_be_given_to_every_environment():
    assert set(EpisodeKeywords.__annotations__) == {each.name for each in fields(EpisodeOptions)}
