"""The self-play learner: both seats learn, resuming changes nothing, what it exports plays."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from ginrummy_agents.learned.inputs import feature_sizes, features
from ginrummy_agents.learned.policy import Network, NetworkPolicy
from ginrummy_agents.learned.scaling import NEAR, plane_numbers, scaled, scaled_names
from ginrummy_env.core.cards import NUM_CARDS, NUM_RANKS, card_planes
from ginrummy_env.core.deadwood import deadwood, least_after_discard
from ginrummy_env.core.game import new_games
from ginrummy_env.core.observation import observe
from ginrummy_env.core.rules import EAAI, as_rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_training.cli.main import main
from ginrummy_training.evaluation.match import play_match
from ginrummy_training.learning.curves import read_curves
from ginrummy_training.learning.selfplay.learner import Learner
from ginrummy_training.learning.selfplay.network import (
    NOT_LEGAL,
    Actor,
    actor_arrays,
    by_suit,
    chosen,
    of_all_suits,
    rectified,
)
from ginrummy_training.learning.selfplay.run import selfplay_train
from ginrummy_training.learning.selfplay.settings import PRESETS, SMOKE, SelfPlaySettings
from ginrummy_training.learning.setting_fields import SettingError

TINY = replace(
    SMOKE, steps=1_024, batch=128, checkpoint_every=512, pool_every=512, eval_every=1_024,
    eval_games=2, retest_games=2, max_deals=2, tensorboard=False,
)  # fmt: skip


def lookahead_views(steps=40, games=48):
    """Views of games between `simple` and itself."""
    state, agent = new_games(3, games, EAAI), make_policy("simple")
    rng = np.random.default_rng(3)
    for number in range(steps):
        view = make_view(state, EAAI)
        if number % 4 == 3:
            yield view
        step(state, agent.act(view, rng), EAAI)


def weights(folder, name="last.npz"):
    return Network.load(folder / name).arrays


class TestInputs:
    @pytest.mark.parametrize("rules", ["mini", "nano"])
    def test_the_critic_sees_only_cards_of_the_deck(self, rules):
        learner = Learner(replace(TINY, rules=rules))
        learner.begin(0)
        learner.update(0)
        rollout = learner.rollout
        seen = rollout.hidden_cards.reshape(-1, 4, 3, NUM_RANKS).transpose(1, 2).reshape(-1, 3, 52)
        assert seen[:, 2].any()
        assert not seen[:, :, torch.from_numpy(~card_planes(as_rules(rules).full_deck))].any()

    def test_scaled_units_are_tens_of_points(self):
        for view in lookahead_views():
            seen, names = features(view, units=True), scaled_names()
            assert seen.shape[1] == sum(feature_sizes(True, False, True) * np.array([NUM_CARDS, 1]))
            assert len(names) == sum(feature_sizes(True, False, True))
            compared = seen[:, NUM_CARDS * names.index("after_discard_compared") :][:, :NUM_CARDS]
            choosing = view.phase == Phase.DISCARD
            assert not compared[~choosing].any()
            least = deadwood(view.hand).astype(int)
            least[choosing] = least_after_discard(view.hand[choosing])
            np.testing.assert_allclose(seen[:, -3], np.minimum(least / 10, 3), atol=1e-5)
            assert (compared[choosing].max(axis=1) == 1).all()
            assert np.array_equal(seen[:, :NUM_CARDS], observe(view)[:, :NUM_CARDS])

    def test_the_planes_of_neighbours_are_found_by_name(self):
        assert [scaled_names()[place] for place in plane_numbers(NEAR)] == list(NEAR)


class TestNetwork:
    @pytest.mark.parametrize(
        "changes",
        [
            {},
            {"near": 0, "direct": False},
            {"units": False, "near": 0},
            {"layers": 3, "width": 24},
            {"advice": True},
        ],
        ids=lambda changes: ",".join(changes) or "smoke",
    )
    def test_the_exported_policy_computes_what_torch_does(self, changes, tmp_path):
        settings = replace(SMOKE, **changes)
        torch.manual_seed(5)
        actor = Actor(settings)
        for parameter in actor.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        flags = ("derived", "ahead", "units", "advice")
        about = {name: getattr(settings, name) for name in flags}
        (tmp_path / "policy.npz").write_bytes(Network(actor_arrays(actor), about).to_bytes())
        network = Network.load(tmp_path / "policy.npz")
        planes = feature_sizes(*about.values())[0]
        for view in lookahead_views():
            seen = network.features(view)
            cards = torch.from_numpy(by_suit(seen[:, : planes * NUM_CARDS]))
            scalars = torch.from_numpy(seen[:, planes * NUM_CARDS :])
            with torch.no_grad():
                expected = actor(cards, of_all_suits(cards, scalars)).numpy()
            scale = np.abs(expected).max()
            np.testing.assert_allclose(network.logits(seen), expected, rtol=0, atol=1e-5 * scale)

    @pytest.mark.parametrize("changes", [{}, {"near": 0, "direct": False, "layers": 2}])
    def test_a_run_begins_with_the_weights_of_a_file(self, changes, tmp_path):
        settings = replace(TINY, **changes)
        torch.manual_seed(6)
        arrays = actor_arrays(Actor(settings))
        about = {name: getattr(settings, name) for name in ("derived", "ahead", "units")}
        (tmp_path / "first.npz").write_bytes(Network(arrays, about).to_bytes())
        begun = replace(settings, begin=str(tmp_path / "first.npz"), critic_first=1_000)
        learner = Learner(begun)
        learner.begin(0)
        learner.update(0)  # only the critic learns yet
        for name, array in actor_arrays(learner.actor).items():
            assert np.array_equal(array, arrays[name]), name
        learner.update(1_000)
        assert not np.array_equal(actor_arrays(learner.actor)["card"], arrays["card"])
        with pytest.raises(SettingError, match="needs the settings width="):
            replace(begun, width=8).check()

    def test_a_policy_that_holds_knocks_with_less_only(self):
        """From the given turn on, as if the rules had that limit."""
        arrays = actor_arrays(Actor(SMOKE))
        arrays["card_bias"][NUM_RANKS:] = 50  # knocks whenever it may
        about = {"derived": True, "ahead": False, "units": True}
        free = NetworkPolicy(Network(arrays, about))
        held = NetworkPolicy(Network(arrays, {**about, "hold": 4, "hold_from": 2}))
        met = 0
        for view in lookahead_views():
            left = np.full(len(view), 99)
            choosing = view.to_move & (view.phase == Phase.DISCARD)
            left[choosing] = least_after_discard(view.hand[choosing])
            knocks = [
                each.act(view, np.random.default_rng(0)) // NUM_CARDS == 1 for each in (free, held)
            ]
            may = choosing & (left <= view.knock_limit)
            assert np.array_equal(knocks[0], may)
            assert np.array_equal(knocks[1], may & ((left <= 4) | (view.turn < 4)))
            met += int((knocks[0] & ~knocks[1]).sum())
        assert met

    @pytest.mark.parametrize("used", [(True, True), (True, False), (False, True)])
    def test_the_gradient_of_a_rectified_layer_is_that_of_its_steps(self, used):
        torch.manual_seed(2)
        given = [torch.randn(3, 4, 5), torch.randn(3, 5)]
        weights = [torch.randn(3, 4, 5) * used[0], torch.randn(3, 5) * used[1]]
        found = []
        for plain in (True, False):
            own, common = (each.clone().requires_grad_() for each in given)
            if plain:
                out = torch.relu(own + common[:, None])
                outs = (out, out.mean(1))
            else:
                outs = rectified(1 * own, common)
            kept = [i for i in (0, 1) if used[i]]
            sum((outs[i] * weights[i]).sum() for i in kept).backward()
            found.append([*(each.detach() for each in outs), own.grad, common.grad])
        for expected, got in zip(*found, strict=True):
            torch.testing.assert_close(got, expected)

    def test_the_gradient_of_a_choice_is_that_of_its_steps(self):
        torch.manual_seed(3)
        given, legal = torch.randn(6, 108), torch.rand(6, 108) < 0.2
        actions = legal.float().multinomial(1)[:, 0]
        legal[0] = torch.arange(108) == actions[0]  # no choice
        of_log, of_entropy = torch.randn(6), torch.randn(6)
        found = []
        for plain in (True, False):
            logits = given.clone().requires_grad_()
            if plain:
                logs = logits.masked_fill(~legal, NOT_LEGAL).log_softmax(1)
                entropy = -(logs.exp() * logs.masked_fill(~legal, 0)).sum(1)
                outs = logs.gather(1, actions[:, None])[:, 0], entropy
            else:
                outs = chosen(logits, legal, actions)
            (outs[0] @ of_log + outs[1] @ of_entropy).backward()
            found.append([*(each.detach() for each in outs), logits.grad])
        for expected, got in zip(*found, strict=True):
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)

    def test_what_lies_around_a_card_moves_with_it(self):
        """The layer of neighbours is the same at each rank, so far as the suit does not end."""
        settings = replace(SMOKE, direct=False)
        torch.manual_seed(1)
        near = Actor(settings).near
        cards = torch.zeros(1, 4, feature_sizes(True, False, True)[0], 13)
        cards[0, 1, 0, 4:6] = 1
        moved = cards.roll(2, dims=3)
        suits = torch.zeros(1, 4, settings.width)
        with torch.no_grad():
            a, b = (
                near(each.flatten(2), of_all_suits(each.flatten(2), cards[:, 0, 0, :0]), suits)[
                    0, :, :NUM_RANKS
                ]
                for each in (cards, moved)
            )
        assert torch.allclose(a[:, 2:8], b[:, 4:10], atol=1e-6)
        assert not torch.allclose(a[:, 2:8], b[:, 2:8], atol=1e-6)


class TestLearning:
    def test_an_expert_is_imitated_first(self):
        """With the planes of advice the first turns of `champion` are learned in seconds."""
        learner = Learner(replace(TINY, advice=True, expert="champion", imitate=10**6, epochs=4))
        learner.begin(0)
        alike = [learner.update(512 * number)["alike"] for number in range(8)]
        assert np.mean(alike[-3:]) > np.mean(alike[:3]) + 0.05
        assert "entropy" in learner.update(10**6)  # then it learns by playing

    @pytest.mark.parametrize("changes", [{}, {"joint": False, "oracle": False}])
    def test_gradients_reach_every_weight_and_both_seats_are_learned_from(self, changes):
        learner = Learner(replace(TINY, num_steps=32, **changes))
        before = {
            name: value.clone()
            for network in (learner.actor, learner.critic)
            for name, value in network.state_dict().items()
        }
        learner.begin(0)
        for number in range(2):
            learner.update(1_024 * number)
            seats = learner.rollout.seats[:-1][learner.rollout.learned]
            assert 0.3 < seats.mean() < 0.7
        for network in (learner.actor, learner.critic):
            for name, parameter in network.named_parameters():
                assert parameter.grad is not None, name
                assert not torch.equal(parameter, before[name]), name

    @pytest.mark.parametrize(
        ("precision", "used"), [("float32", "highest"), ("bfloat16", "medium")]
    )
    def test_matrix_products_are_as_exact_as_asked_while_it_learns(self, precision, used):
        learner = Learner(replace(TINY, precision=precision))
        met = set()
        for network in (learner.actor, learner.critic):
            network.register_forward_hook(
                lambda *given: met.add(torch.get_float32_matmul_precision())
            )
        learner.begin(0)
        learner.update(0)
        assert met == {used}
        assert torch.get_float32_matmul_precision() == "highest"

    def test_players_are_held_to_limits_that_they_see(self):
        learner = Learner(replace(TINY, num_envs=256, num_steps=48, batch=256, held=1.0))
        learner.begin(0)
        learner.update(0)
        held = learner.table.held
        assert 0.4 < (held == 0).mean() < 0.7
        assert held.max() == 9
        r, at = learner.rollout, learner.table._limit_at
        planes = feature_sizes(True, False, True)[0]
        seen = r.scalars[..., at - planes * NUM_CARDS]
        assert set(torch.unique(torch.round(10 * seen)).tolist()) == set(range(10))
        knocked = r.masks[:, :, NUM_CARDS : 2 * NUM_CARDS].any(2)
        tens = r.scalars[..., scaled_names().index("deadwood_tens") - planes]
        assert knocked.any()
        assert (tens[knocked] <= seen[knocked] + 1e-6).all()  # a legal knock is within the limit
        assert knocked[seen > 0.85].any()

    def test_decisions_of_opponents_are_not_learned_from(self):
        learner = Learner(replace(TINY, num_steps=64))
        learner.begin(0)
        simple = make_policy("simple")
        learner.table.invite([simple], np.where(np.arange(32) < 16, 0, -1))
        learner.update(0)
        learned, seats = learner.rollout.learned, learner.rollout.seats[:-1]
        theirs = (np.arange(32) < 16) & (seats == np.arange(32) % 2)
        assert not learned[theirs].any()
        assert learned[:, :16].any(axis=0).all()
        assert learned[:, 16:][seats[:, 16:] == 0].any()

    def test_who_meets_agents_alone_learns_as_they_will_play(self):
        """Held to gin from the third turn on, and the agent in the other seat is not."""
        changes = {"opponents": (("simple", 1.0),), "hold": 0, "hold_from": 2, "held": 0.0}
        learner = Learner(replace(TINY, num_envs=64, num_steps=64, **changes))
        learner.begin(0)
        learner.table.invite([make_policy("simple")], np.zeros(64, dtype=int))
        learner.update(0)
        r, at = learner.rollout, learner.table._limit_at
        planes = feature_sizes(True, False, True)[0]
        scalars, names = r.scalars[:-1].numpy(), scaled_names()
        gin = scalars[:, :, at - planes * NUM_CARDS] == 0
        mine = r.seats[:-1] != np.arange(64) % 2
        turns = np.rint(20 * scalars[:, :, names.index("turn_twentieths") - planes])
        assert np.array_equal(gin, mine & (turns // 2 >= 2))
        tens = scalars[:, :, names.index("deadwood_tens") - planes]
        knocks = r.masks[:-1, :, NUM_CARDS : 2 * NUM_CARDS].any(2).numpy()
        assert not knocks[gin & (tens > 0)].any()
        assert knocks[~gin & (tens > 0)].any()

    def test_a_better_discard_is_learned_within_seconds(self):
        """The plane of compared discards gets weight: less deadwood is left than at first."""
        learner = Learner(
            replace(TINY, num_envs=64, num_steps=32, batch=512, learning_rate=3e-3, entropy=0.01)
        )
        learner.begin(0)
        for number in range(8):
            learner.update(number)
        assert learner.actor.direct[plane_numbers(("after_discard_compared",))[0], 0] > 0.01


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    seen = []
    result = selfplay_train(
        folder, TINY, report=lambda text: None, progress=lambda *state: seen.append(state)
    )
    assert seen[-1] == ("training", TINY.steps, TINY.steps)
    return folder, result


class TestRun:
    def test_a_resumed_run_is_the_uninterrupted_one(self, run, tmp_path):
        folder = tmp_path / "cut"
        stopped = "stopped after the first lap"

        def stop(text):
            raise KeyboardInterrupt(stopped)

        # The first evaluation is in the second lap: what the checkpoint has is the first lap.
        with pytest.raises(KeyboardInterrupt, match=stopped):
            selfplay_train(folder, TINY, report=stop)
        assert json.loads((folder / "settings.json").read_text())
        result = selfplay_train(folder, resume=True, report=lambda text: None)
        assert result["best"] == run[1]["best"]
        for name, array in weights(run[0]).items():
            assert np.array_equal(array, weights(folder)[name]), name
        for name in ("pool-000000000000.npz", "pool-000000000512.npz"):
            assert weights(folder, name).keys() == weights(run[0], name).keys()

    def test_two_workers_learn_as_one_policy(self, tmp_path):
        folder = tmp_path / "two"
        selfplay_train(folder, replace(TINY, steps=512, workers=2), report=lambda text: None)
        assert Network.load(folder / "last.npz").about["steps"] == 512
        assert not (folder / ".workers").exists()

    def test_its_files_are_those_of_train(self, run):
        folder, result = run
        assert json.loads((folder / "result.json").read_text()) == result
        about = json.loads((folder / "settings.json").read_text())
        assert SelfPlaySettings().changed(about["settings"]) == TINY
        assert [point[0] for point in read_curves(folder)["simple"]] == [TINY.steps]
        rows = list(csv.DictReader((folder / "log.csv").read_text().splitlines()))
        assert float(rows[0]["train/entropy"]) > 0.5
        played = play_match(
            NetworkPolicy(Network.load(folder / "best.npz")), "simple", games=2, rules="eaai",
            max_deals=2,
        )  # fmt: skip
        assert played.complete

    def test_the_command_line_runs_and_resumes_it(self, tmp_path, capsys):
        folder = str(tmp_path / "run")
        given = [f"--set={name}={getattr(TINY, name)}" for name in ("steps", "batch", "eval_games",
                 "retest_games", "checkpoint_every", "max_deals")]  # fmt: skip
        assert main(["train", folder, "--selfplay", "--preset", "smoke", *given]) == 0
        assert main(["train", folder, "--selfplay", "--resume", "--set", "steps=2048"]) == 0
        assert json.loads((tmp_path / "run" / "result.json").read_text())["steps"] == 2_048
        assert "resuming after 1,024 decisions" in capsys.readouterr().out

    def test_a_run_that_ended_between_checkpoints_learns_on(self, tmp_path, capsys):
        """Its pool has no member of the places that it has passed since, and needs none."""
        changes = {"checkpoint_every": 1_024, "pool_every": 1_024, "opponents": {"pool": 1.0}}
        settings = TINY.changed({**changes, "steps": 1_536, "eval_every": 10_000})
        selfplay_train(tmp_path, settings, report=lambda text: None)
        assert main(["train", str(tmp_path), "--selfplay", "--resume", "--set", "steps=6000"]) == 0
        assert json.loads((tmp_path / "result.json").read_text())["steps"] >= 6_000


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ahead": True}, "ahead=False"),
        ({"units": False}, "needs units=True"),
        ({"oracle": False}, "oracle=True"),
        ({"advice": True, "units": False, "near": 0}, "needs units=True"),
        ({"expert": "champion"}, "either both or neither"),
        ({"imitate": 10}, "either both or neither"),
        ({"workers": 3}, "does not divide"),
        ({"batch": 100}, "does not divide"),
        ({"opponents": {}}, "table of shares"),
        ({"opponents": {"self": 0}}, "above 0"),
        ({"eval_games": 3}, "even"),
        ({"entropi": 1}, "entropy"),
        ({"reward": "win"}, "chance"),
    ],
)
def test_bad_settings_are_named(changes, words):
    with pytest.raises(SettingError, match=words):
        SMOKE.changed(changes)


def test_presets_survive_their_text_form():
    for settings in PRESETS.values():
        assert SelfPlaySettings().changed(json.loads(json.dumps(settings.to_dict()))) == settings


def test_scaling_changes_no_observation_in_place():
    view = next(lookahead_views())
    seen = observe(view)
    kept = seen.copy()
    scaled(seen)
    assert np.array_equal(seen, kept)
