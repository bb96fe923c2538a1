"""The learned agent: the exported network is torch's, its files are safe, nothing hidden leaks."""

import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces
from positions import permute_hidden

from ginrummy_agents.learned.inputs import AHEAD, feature_names, feature_sizes, features
from ginrummy_agents.learned.policy import (
    Network,
    NetworkPolicy,
    PolicyFileError,
    Ppo,
    Scratch,
    drawn,
    shipped,
)
from ginrummy_agents.rules.champion_features import weights_of
from ginrummy_agents.rules.lookahead import Lookahead, candidates
from ginrummy_agents.search.policy import Search
from ginrummy_agents.win_chance import win_chance_of
from ginrummy_env.core.cards import CARD_BIT, NUM_CARDS, card_planes
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.rules import CLASSIC, EAAI, MODERN, Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy


def positions(rules, steps=60, games=64, seed=1):
    """States of games between `lookahead` and itself, every fifth step."""
    state, agent, rng = new_games(seed, games, rules), Lookahead(), np.random.default_rng(seed)
    for number in range(steps):
        step(state, agent.act(make_view(state, rules), rng), rules)
        next_deals(state, rules)
        if number % 5 == 0:
            yield state.copy()


@pytest.fixture(scope="module")
def views():
    return [make_view(state, EAAI) for state in positions(EAAI, games=32)]


def torch_policy(derived=True, ahead=True, width=24, layers=2, convolutions=0):
    torch = pytest.importorskip("torch")
    from ginrummy_training.learning.network import SuitPolicy

    torch.manual_seed(3)
    planes, scalars = feature_sizes(derived, ahead)
    space = spaces.Box(-2, 2, (planes * NUM_CARDS + scalars,), np.float32)
    policy = SuitPolicy(
        space, spaces.Discrete(108), lambda _: 1e-3,
        derived=derived, ahead=ahead, width=width, layers=layers,
        convolutions=convolutions, filters=8,
    )  # fmt: skip
    for head in (policy.action_net.card, policy.action_net.other):
        torch.nn.init.normal_(head.weight)  # as they begin, all actions are nearly alike
    return policy


def exported(policy, derived=True, ahead=True):
    from ginrummy_training.learning.network import arrays_of

    return Network(arrays_of(policy), {"derived": derived, "ahead": ahead})


@pytest.fixture(scope="module")
def network():
    return exported(torch_policy())


@pytest.fixture(scope="module")
def convolved():
    return exported(torch_policy(convolutions=2))


class TestNetwork:
    @pytest.mark.parametrize("ahead", [True, False])
    @pytest.mark.parametrize("derived", [True, False])
    @pytest.mark.parametrize(("layers", "convolutions"), [(1, 0), (3, 0), (2, 1), (2, 2)])
    def test_it_computes_what_torch_does(self, views, derived, ahead, layers, convolutions):
        import torch

        policy = torch_policy(derived, ahead, layers=layers, convolutions=convolutions)
        made = exported(policy, derived, ahead)
        for view in views:
            seen = features(view, derived, ahead)
            with torch.no_grad():
                expected = policy.action_net(policy.extract_features(torch.from_numpy(seen)))
            np.testing.assert_allclose(made.logits(seen), expected.numpy(), rtol=0, atol=1e-5)

    def test_rows_do_not_depend_on_their_batch(self, network, views):
        seen = np.concatenate([features(view) for view in views] * 3)
        assert len(seen) > 1024  # more than go through the layers at once
        together = network.logits(seen)
        alone = np.concatenate([network.logits(row[None]) for row in seen[:50]])
        np.testing.assert_allclose(together[:50], alone, atol=1e-5)

    @pytest.mark.parametrize("which", ["network", "convolved"])
    def test_suits_renamed_rename_the_actions(self, request, which, views):
        """No suit is worth more than another: the network can't learn otherwise."""
        network = request.getfixturevalue(which)
        order = [2, 0, 3, 1]
        planes, _ = feature_sizes(True, True)
        seen = features(views[-1])
        turned = seen.copy()
        cards = turned[:, : planes * NUM_CARDS].reshape(len(seen), planes, 4, 13)
        cards[:] = cards[:, :, order]
        before, after = network.logits(seen), network.logits(turned)
        by_card = before[:, :104].reshape(-1, 2, 4, 13)[:, :, order].reshape(-1, 104)
        np.testing.assert_allclose(after[:, :104], by_card, atol=1e-4)
        np.testing.assert_allclose(after[:, 104:], before[:, 104:], atol=1e-4)


class TestFeatures:
    def test_names_and_sizes_agree(self, views):
        for derived in (True, False):
            for ahead in (True, False):
                planes, scalars = feature_sizes(derived, ahead)
                assert len(feature_names(derived, ahead)) == planes + scalars
                seen = features(views[3], derived, ahead)
                assert seen.shape[1] == planes * NUM_CARDS + scalars
                assert np.abs(seen).max() <= 2

    def test_the_planes_ahead_stand_at_candidates_only(self, views):
        first = feature_sizes(True, False)[0]
        for view in views:
            seen = features(view)[:, first * NUM_CARDS :]
            ahead = seen[:, : len(AHEAD) * NUM_CARDS].reshape(len(view), len(AHEAD), NUM_CARDS)
            rows = np.flatnonzero(view.phase == Phase.DISCARD)
            assert not ahead[view.phase != Phase.DISCARD, :3].any()
            stays = np.where(view.taken_card[rows] >= 0, CARD_BIT[view.taken_card[rows]], 0)
            taken = CARD_BIT[view.taken_card[rows]]
            worth = card_planes(candidates(view.hand[rows], taken, stays.astype(np.uint64)))
            assert (ahead[rows, 0].astype(bool) <= worth).all()
            assert (ahead[rows, 0].max(axis=1) == 1).all()  # the best of them
            assert (ahead[rows, 1].max(axis=1) == 1).all()


class TestPlay:
    def test_actions_are_legal_in_every_variant(self, network):
        for rules in (EAAI, CLASSIC, MODERN, Rules(at_void_stock="knock_with_discard")):
            for temperature in (0.0, 1.0):
                policy = NetworkPolicy(network, temperature)
                rng = np.random.default_rng(5)
                state = new_games(9, 32, rules)
                for _ in range(100):  # step raises where an action is not legal
                    step(state, policy.act(make_view(state, rules), rng), rules)
                    next_deals(state, rules)

    def test_no_action_where_it_is_not_his_move(self, network):
        state = new_games(9, 16, EAAI)
        view = make_view(state, EAAI, 1 - state.player)
        assert (NetworkPolicy(network).act(view, np.random.default_rng(0)) == -1).all()

    def test_hidden_cards_change_no_action(self, network):
        rng = np.random.default_rng(2)
        for state in positions(CLASSIC, steps=40, games=32):
            other = permute_hidden(state, state.player, rng)
            assert (other.hands != state.hands).any()
            for temperature in (0.0, 1.0):
                policy = NetworkPolicy(network, temperature)
                actions = [
                    policy.act(make_view(each, CLASSIC), np.random.default_rng(7))
                    for each in (state, other)
                ]
                np.testing.assert_array_equal(*actions)

    def test_draws_follow_the_probabilities(self):
        logits = np.full((20_000, 108), -np.inf, dtype=np.float32)
        logits[:, [3, 50, 107]] = np.log([0.2, 0.7, 0.1])
        actions = drawn(logits, np.random.default_rng(0).random(20_000), 1.0)
        shares = np.bincount(actions, minlength=108) / 20_000
        assert shares[[3, 50, 107]] == pytest.approx([0.2, 0.7, 0.1], abs=0.015)
        assert shares.sum() == pytest.approx(shares[[3, 50, 107]].sum())
        colder = drawn(logits, np.random.default_rng(0).random(20_000), 0.1)
        assert (colder == 50).mean() > 0.99

    def test_rows_without_a_move_do_no_harm(self):
        logits = np.full((2, 108), -np.inf, dtype=np.float32)
        assert drawn(logits, np.array([0.0, 0.999]), 1.0).shape == (2,)

    @pytest.mark.parametrize("temperature", [-1, float("nan"), float("inf"), "warm", True])
    def test_bad_temperatures(self, temperature):
        with pytest.raises(ValueError, match="temperature"):
            Ppo(temperature=temperature)


class TestFiles:
    @pytest.fixture
    def path(self, network, tmp_path):
        path = tmp_path / "policy.npz"
        path.write_bytes(network.to_bytes())
        return path

    def test_round_trip(self, network, path):
        loaded = Network.load(path)
        assert loaded.derived == network.derived
        for name, array in network.arrays.items():
            np.testing.assert_array_equal(loaded.arrays[name], array)

    def test_a_file_with_convolutions_says_so_by_its_arrays(self, convolved, tmp_path, views):
        path = tmp_path / "convolved.npz"
        path.write_bytes(convolved.to_bytes())
        loaded = Network.load(path)
        assert loaded.num_convolutions == 2
        seen = features(views[3])
        np.testing.assert_allclose(loaded.logits(seen), convolved.logits(seen), atol=1e-5)
        self.rewritten(path, along1=np.zeros((3, 8), np.float32))
        with pytest.raises(PolicyFileError, match="along1 of shape"):
            Network.load(path)

    def test_half_precision_is_half_the_size(self, network, path):
        assert len(network.to_bytes("float16")) < 0.6 * path.stat().st_size

    def test_a_changed_file_is_read_again(self, path, views):
        policy = make_policy(f"ppo:{path}")
        before = policy.act(views[4], np.random.default_rng(0))
        other = Network.load(path)
        other.arrays["card"][:] = -other.arrays["card"]
        other.arrays["card_bias"][:] = -other.arrays["card_bias"]
        path.write_bytes(other.to_bytes())
        assert (policy.act(views[4], np.random.default_rng(0)) != before).any()

    @pytest.mark.parametrize("keep", [0, 1, 100, 0.5, -1])
    def test_damaged_files(self, path, keep):
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * keep) if keep == 0.5 else keep])
        with pytest.raises(PolicyFileError, match=r"policy\.npz: not a policy, or corrupt"):
            Network.load(path)

    def test_flipped_bits(self, path):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0xFF
        path.write_bytes(bytes(content))
        with pytest.raises(PolicyFileError, match=r"policy\.npz"):
            Network.load(path)

    def test_no_such_file(self, tmp_path):
        with pytest.raises(ValueError, match="no such file"):
            make_policy(f"ppo:{tmp_path / 'none.npz'}")

    def test_a_pickle_is_not_opened(self, tmp_path):
        path = tmp_path / "bad.npz"
        np.savez(path, about=np.array([{"format": 1}], dtype=object))
        with pytest.raises(PolicyFileError, match="allow_pickle=False"):
            Network.load(path)

    def test_a_small_file_that_unpacks_to_gigabytes(self, path, tmp_path):
        """Neither what is there nor what a header promises is read into memory."""
        path.write_bytes(b"")
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed,
            packed.open("card.npy", "w", force_zip64=True) as entry,
        ):
            for _ in range(5):
                entry.write(bytes(1 << 26))
        with pytest.raises(PolicyFileError, match="more than 256 MB"):
            Network.load(path)
        header = io.BytesIO()
        described = {"descr": "<f4", "fortran_order": False, "shape": (1 << 45,)}
        np.lib.format.write_array_header_1_0(header, described)
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("card.npy", header.getvalue())
        with pytest.raises(PolicyFileError, match="more values than the file holds"):
            Network.load(path)

    def rewritten(self, path, about=(), **arrays):
        with np.load(path) as file:
            content = {name: file[name] for name in file.files}
        told = {**json.loads(str(content["about"])), **dict(about)}
        file = io.BytesIO()
        np.savez(file, **{**content, **arrays, "about": np.array(json.dumps(told))})
        path.write_bytes(file.getvalue())

    @pytest.mark.parametrize(
        ("about", "arrays", "says"),
        [
            ({"format": 2}, {}, "format 2"),
            ({"features": ["hand"]}, {}, "another version"),
            ({"derived": False}, {}, "own0 of shape"),
            ({}, {"card": np.zeros((2, 26), np.float32)}, "card of shape"),
            ({}, {"extra": np.zeros(2)}, "extra"),
            ({}, {"card_bias": np.full(26, np.nan, np.float32)}, "not finite numbers"),
            ({}, {"card_bias": np.zeros(26, np.int64)}, "not finite numbers"),
            ({}, {"card_bias": np.full(26, 1e300)}, "logits would overflow"),
            ({}, {"card": np.full((24, 26), 3e38, np.float32)}, "logits would overflow"),
            ({}, {"own1": np.full((24, 24), 1e28, np.float32)}, "logits would overflow"),
        ],
    )
    def test_what_does_not_fit_is_named(self, path, about, arrays, says):
        self.rewritten(path, about, **arrays)
        with pytest.raises(PolicyFileError, match=says):
            Network.load(path)


SHIPPED = [("eaai", EAAI), ("classic", CLASSIC)]


@pytest.mark.parametrize("agent", ["ppo", "scratch"])
@pytest.mark.parametrize(("name", "rules"), SHIPPED)
class TestShipped:
    def test_it_is_small_and_says_how_it_was_made(self, name, rules, agent):
        path = shipped(rules, agent)
        assert path.stat().st_size <= 5_000_000
        about = Network.load(path).about
        assert about["rules"] == name
        assert about["steps"] > 0  # improved by PPO, no imitation alone

    def test_it_beats_the_baseline(self, name, rules, agent):
        from ginrummy_training.evaluation.match import play_match

        result = play_match(
            {"ppo": Ppo, "scratch": Scratch}[agent](), "simple", games=120, seed=3, rules=rules
        )
        assert result.games_won("a") > 60


@pytest.mark.parametrize("bonus", [10, 15, 16, 17, 18, 25])
def test_agents_change_their_manner_at_the_same_undercut_bonus(bonus):
    rules = Rules(undercut_bonus=bonus)
    like = EAAI if bonus >= 18 else CLASSIC
    assert shipped(rules) == shipped(like)
    assert Search().base_spec(rules) == Search().base_spec(like)
    assert Search().style(rules) == Search().style(like)
    assert (weights_of(rules).keep == weights_of(like).keep).all()
    assert (win_chance_of(rules).table == win_chance_of(replace(like, target=100)).table).all()


def test_it_plays_without_torch():
    code = (
        "import sys\n"
        "for name in ('torch', 'stable_baselines3', 'sb3_contrib'): sys.modules[name] = None\n"
        "import numpy as np\n"
        "from ginrummy_env.core.game import new_games\n"
        "from ginrummy_env.core.rules import EAAI\n"
        "from ginrummy_env.core.view import make_view\n"
        "from ginrummy_env.policy import make_policy\n"
        "view = make_view(new_games(0, 4, EAAI), EAAI)\n"
        "print(make_policy('ppo').act(view, np.random.default_rng(0)).tolist())"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)) == 4
