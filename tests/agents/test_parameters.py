"""Every parameter of every agent: what is refused when the policy is made, and what is taken."""

from pathlib import Path

import numpy as np
import pytest

from ginrummy_agents.learned.policy import shipped
from ginrummy_agents.registry import AGENTS
from ginrummy_env.core.rules import EAAI
from ginrummy_env.policy import make_policy

PARAMETERS = [(agent, each) for agent in AGENTS.values() for each in agent.parameters]
WRONG = {
    bool: ["no", "yes", 1, 0, 1.0, None, float("nan"), "'true'"],
    int: [2.5, 2.0, True, np.bool_(True), "3", None, float("nan"), float("inf"), -(10**9), 10**9],
    float: [float("nan"), float("inf"), -float("inf"), True, np.bool_(True), "1.5", None, 1j, 1e99],
    str: [True, None, b"bytes", ["list"], "no-such-thing"],
}
"""Values that no parameter with a default of this type takes."""


@pytest.mark.parametrize(
    ("agent", "parameter"), PARAMETERS, ids=[f"{a.name}:{p.name}" for a, p in PARAMETERS]
)
def test_wrong_values_are_refused_when_the_policy_is_made(agent, parameter):
    for value in WRONG[type(parameter.default)]:
        with pytest.raises(ValueError, match=r".+"):
            agent(**{parameter.name: value})
    for value in (parameter.default, np.array([parameter.default])[0]):
        made = getattr(agent(**{parameter.name: value}), parameter.name)
        assert made == parameter.default
        assert type(made) is type(parameter.default)


@pytest.mark.parametrize(
    "path", ["lr=0.1/best.npz", "007", "1e3", "true", "a,b/best.npz", "a, b,c=1/best.npz", "a,b"]
)
def test_a_path_that_looks_like_something_else(path, tmp_path, monkeypatch):
    """The learned agent's file is named as it stands: `ppo:007` is not the file 7."""
    monkeypatch.chdir(tmp_path)
    name = f"runs/{path}"
    file = Path(name)
    file.parent.mkdir(parents=True)
    file.write_bytes(shipped(EAAI).read_bytes())
    assert make_policy(f"ppo:{name},temperature=1").path == name
    monkeypatch.chdir("runs")
    if "=" not in path:
        assert make_policy(f"ppo:{path}").path == path
        assert make_policy(f"ppo:path={path}").path == path
