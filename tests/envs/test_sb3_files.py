"""Models of Stable-Baselines3 in files, named as agents: played only if the file is trusted."""

import json
import zipfile

import pytest

pytest.importorskip("sb3_contrib")

import sb3_contrib
import stable_baselines3

from ginrummy_env import GinRummyVecEnv, SB3Policy, make_policy
from ginrummy_env.envs.sb3_policy import TRUST, algorithm_of, trusting
from ginrummy_training.cli.main import main
from ginrummy_training.provenance import policy_fingerprint

ALGORITHMS = {
    "MaskablePPO": sb3_contrib.MaskablePPO,
    "QRDQN": sb3_contrib.QRDQN,
    "PPO": stable_baselines3.PPO,
    "A2C": stable_baselines3.A2C,
    "DQN": stable_baselines3.DQN,
}


def save(path, algorithm="MaskablePPO", seed=0):
    env = GinRummyVecEnv(2, "random", features="raw")
    made = ALGORITHMS[algorithm]
    made("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, seed=seed, device="cpu").save(path)
    return path


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_file_says_which_algorithm_saved_it(algorithm, tmp_path):
    path = save(tmp_path / "model.zip", algorithm)
    assert algorithm_of(path) is ALGORITHMS[algorithm]
    assert type(SB3Policy.load(path).model) is ALGORITHMS[algorithm]


def test_what_is_no_model_is_refused(tmp_path):
    text, other = tmp_path / "text.zip", tmp_path / "other.zip"
    text.write_text("no archive")
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("data", json.dumps({"policy_class": {"__module__": "elsewhere"}}))
    with pytest.raises(ValueError, match=r"text.zip is not a model of Stable-Baselines3"):
        SB3Policy.load(text)
    with pytest.raises(ValueError, match="its policy is of elsewhere"):
        SB3Policy.load(other)
    with pytest.raises(FileNotFoundError):
        SB3Policy.load(tmp_path / "missing.zip")


def test_a_match_needs_trust_to_unpickle_a_file(tmp_path, monkeypatch, capsys):
    """Refused before anything is loaded; with --trust the match is played, in processes too."""
    monkeypatch.delenv(TRUST, raising=False)
    path = save(tmp_path / "model.zip")
    command = ["match", f"sb3:{path}", "random", "--games", "4", "--rules", "target=10"]
    assert main(command) == 2
    assert "can run any code. If you trust it: --trust" in capsys.readouterr().err
    out = tmp_path / "match"
    assert main([*command, "--trust", "--workers", "2", "--out", str(out)]) == 0
    made_by = json.loads((out / "match.json").read_text())["made_by"]
    assert f"sb3:{path}" in made_by["policies"]
    with pytest.raises(ValueError, match="can run any code"):  # trust has ended with the command
        make_policy(f"sb3:{path}")


def test_the_fingerprint_is_that_of_the_content(tmp_path):
    """The same file elsewhere is the same policy; another model under the same name is not."""
    path, moved = save(tmp_path / "model.zip"), tmp_path / "moved.zip"
    moved.write_bytes(path.read_bytes())
    with trusting():
        first = policy_fingerprint(f"sb3:{path}")
        assert policy_fingerprint(f"sb3:{moved}") == first
        assert policy_fingerprint(f"sb3:{path},deterministic=true") != first
        save(path, seed=1)
        assert policy_fingerprint(f"sb3:{path}") != first
        for wrong in ("sb3:", f"sb3:{path},temperature=1", f"sb3:{path},deterministic=3"):
            with pytest.raises(ValueError, match="deterministic"):
                make_policy(wrong)
