"""A deal as a game of OpenSpiel: its own tests of games, and its algorithms, unchanged."""

import pickle
from collections import Counter

import numpy as np
import pytest

from ginrummy_env.core.actions import DRAW_STOCK, PASS
from ginrummy_env.core.cards import cards_of
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import PRESETS, as_rules
from ginrummy_env.core.state import NOBODY
from ginrummy_env.core.step import step

pyspiel = pytest.importorskip("pyspiel")
from ginrummy_env.compat import openspiel_game  # noqa: E402

SEVERAL = [
    {"rules": "nano"},
    {"rules": "mini,turn_bound=6", "dealer": 0},
    {"rules": "eaai,turn_bound=8"},
    {"rules": "openspiel,turn_bound=10"},
    {"rules": "mini,at_void_stock=knock_with_discard,turn_bound=14,discard_taken_upcard=true"},
    {"rules": "modern,turn_bound=12,knock_limit=60"},
]


def load(**parameters):
    return pyspiel.load_game("ginrummy_env", parameters)


def played(game, seed, stop=None):
    """Every state of a random deal, clones, up to the end or the first that ``stop`` wants."""
    rng = np.random.default_rng(seed)
    state = game.new_initial_state()
    while True:
        yield state.clone()
        if state.is_terminal() or (stop is not None and stop(state)):
            return
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            action = rng.choice(outcomes, p=np.array(chances) / sum(chances))
        else:
            action = rng.choice(state.legal_actions())
        state.apply_action(int(action))


def sampler(seed):
    return pyspiel.UniformProbabilitySampler(seed, 0.0, 1.0)


@pytest.mark.parametrize("parameters", SEVERAL, ids=lambda p: p["rules"])
def test_passes_openspiels_random_simulations(parameters, capfd):
    pyspiel.random_sim_test(load(**parameters), num_sims=2, serialize=True, verbose=False)
    capfd.readouterr()


@pytest.mark.parametrize("parameters", SEVERAL, ids=lambda p: p["rules"])
def test_the_core_plays_the_same_deal(parameters):
    game = load(**parameters)
    *states, last = played(game, seed=5)
    rules = as_rules(parameters["rules"])
    drawn = [event.card for event in last.deal.events if event.action == DRAW_STOCK]
    first, second = last.deal.hand(1 - game.dealer), last.deal.hand(game.dealer)
    deck = [card for pair in zip(first, second, strict=True) for card in pair]
    deck += [last.deal.upcard, *drawn]
    deck += sorted(set(cards_of(rules.full_deck)) - set(deck))
    core = new_games(0, 1, rules, dealers=[game.dealer], decks=[deck])
    for state in states:
        if state.is_chance_node():
            continue
        assert state.current_player() == core.player[0]
        assert state.legal_actions() == np.flatnonzero(action_masks(core, rules)[0]).tolist()
        event = last.deal.events[core.step_count[0]]
        step(core, [event.action], rules)
    winner = core.winner.item(0)
    points = 0 if winner == NOBODY else core.points.item(0) * (1 if winner == 0 else -1)
    assert core.over[0]
    assert last.returns() == [points, -points]


def test_every_hand_is_dealt_alike_and_once():
    game = load(rules="nano")
    hands, waiting = Counter(), [(game.new_initial_state(), 1.0)]
    while waiting:
        state, chance = waiting.pop()
        if len(state.history()) == 3:
            hands[tuple(state.history())] += chance
            continue
        for card, probability in state.chance_outcomes():
            waiting.append((state.child(card), chance * probability))
    assert len(hands) == 56
    assert all(list(hand) == sorted(hand) for hand in hands)
    assert all(chance == pytest.approx(1 / 56) for chance in hands.values())


def test_what_a_player_has_seen_is_a_string_and_a_tensor():
    """The same string if and only if the same tensor; and each of them holds the ones before."""
    game = load(rules="nano")
    by_string, by_tensor = {}, {}
    for seed in range(60):
        before = ["", ""]
        for state in played(game, seed):
            for player in (0, 1):
                text = state.information_state_string(player)
                tensor = bytes(np.float32(state.information_state_tensor(player)))
                if not state.is_terminal():
                    assert by_string.setdefault(text, tensor) == tensor
                    assert by_tensor.setdefault(tensor, text) == text
                assert text.startswith(before[player])
                before[player] = text
    assert len(by_string) > 400


@pytest.mark.parametrize("parameters", SEVERAL, ids=lambda p: p["rules"])
def test_a_resampled_state_cannot_be_told_apart(parameters):
    game, other = load(**parameters), 0
    for number, state in enumerate(played(game, seed=3)):
        player = number % 2
        again = state.resample_from_infostate(player, sampler(number))
        for read in ("information_state_string", "observation_string"):
            assert getattr(again, read)(player) == getattr(state, read)(player)
        assert again.observation_tensor(player) == state.observation_tensor(player)
        assert again.current_player() == state.current_player()
        if again.current_player() == player:
            assert again.legal_actions() == state.legal_actions()
        other += str(again) != str(state)
    assert other > 3


def test_all_states_that_fit_are_resampled_alike():
    """The opponent has drawn and discarded the two: dealt or drawn, in 504 and 126 of 630 ways.

    Ten cards are not seen; they hold four and the two. It was dealt with three of the other nine
    and one of six drawn, or drawn to four of the nine.
    """
    game = load(rules="mini")
    state = game.new_initial_state()
    own, upcard, two = [13, 14, 15, 16], 17, 1
    for action in [0, 1, 2, 3, *own, upcard, PASS, PASS, DRAW_STOCK, 4, two]:
        state.apply_action(action)
    rng, drawn, hands = np.random.default_rng(1), 0, Counter()
    for _ in range(1500):
        deal = state.resample_from_infostate(1, lambda: rng.random()).deal
        drawn += deal.events[-2].card == two
        hands.update(set(deal.hand(0)) - {two})
    assert drawn / 1500 == pytest.approx(0.2, abs=0.04)
    # Each of the other nine was dealt in (504 * 3 + 126 * 4) / 9 of the 630 ways.
    assert len(hands) == 9
    assert min(hands.values()) / 1500 == pytest.approx(224 / 630, abs=0.05)
    assert max(hands.values()) / 1500 == pytest.approx(224 / 630, abs=0.05)


def test_a_game_is_written_and_read():
    for name, rules in PRESETS.items():
        settings = f"{name},turn_bound=20" if rules.turn_bound is None else name
        game = load(rules=settings, dealer=0)
        again = pyspiel.load_game(str(game))
        assert again.rules == game.rules == as_rules(settings)
        unpickled = pickle.loads(pickle.dumps(game))
        assert (unpickled.rules, unpickled.dealer) == (game.rules, 0)
        assert unpickled.new_initial_state().clone().is_chance_node()
    assert pyspiel.load_game("ginrummy_env(rules=eaai turn_bound:30)").rules.turn_bound == 30
    *_, last = played(load(rules="nano"), seed=1)
    assert str(pickle.loads(pickle.dumps(last))) == str(last)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rules": "nanoo"}, "did you mean 'nano'"),
        ({"rules": "openspiel"}, "turn_bound=None: a game of OpenSpiel has a greatest length"),
        ({"rules": "nano", "dealer": 2}, "dealer=2"),
    ],
)
def test_what_is_no_game_is_refused_with_the_reason(parameters, message):
    with pytest.raises(ValueError, match=message):
        load(**parameters)


def test_an_action_that_is_not_legal_is_refused():
    *_, state = played(load(rules="nano"), 0, stop=lambda state: state.is_player_node())
    with pytest.raises(ValueError, match="legal: take, pass"):
        state.apply_action(0)


def test_points_stay_within_the_bounds_and_games_within_their_length():
    game = load(rules="nano,gin_bonus=9")
    assert (game.min_utility(), game.max_utility()) == (-20, 20)
    for seed in range(30):
        *_, last = played(game, seed)
        assert abs(last.returns()[0]) <= game.max_utility()
        assert sum(last.returns()) == 0
        assert len(last.deal.events) <= 8
        assert len(last.history()) - len(last.deal.events) <= game.max_chance_nodes_in_history()
    assert game.max_game_length() == 8 + game.max_chance_nodes_in_history() == 16


def test_observers_have_parts_and_refuse_what_they_have_not():
    from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

    game = load(rules="nano")
    *_, state = played(game, 0, stop=lambda state: state.is_player_node())
    for kind, parts in (
        (INFO_STATE_OBS_TYPE, {"player", "hand", "upcard", "actions", "draws"}),
        (None, {"planes", "scalars"}),
    ):
        observation = make_observation(game, kind)
        observation.set_from(state, 0)
        assert set(observation.dict) == parts
        assert sum(part.size for part in observation.dict.values()) == observation.tensor.size
        assert observation.tensor.any()
    everything = pyspiel.IIGObservationType(
        perfect_recall=True, public_info=True, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS
    )
    with pytest.raises(ValueError, match="SINGLE_PLAYER"):
        make_observation(game, everything)


# OpenSpiel's algorithms, unchanged


def test_external_sampling_mccfr():
    game = load(rules="nano")
    solver = pyspiel.ExternalSamplingMCCFRSolver(game, seed=1)
    for _ in range(3):
        solver.run_iteration()
    *_, state = played(game, 0, stop=lambda state: state.is_player_node())
    policy = solver.average_policy().action_probabilities(state)
    assert sum(policy.values()) == pytest.approx(1)


def test_information_set_mcts_plays_a_full_deal_against_rollouts():
    from open_spiel.python.algorithms import evaluate_bots, ismcts, mcts

    game = load(rules="eaai,turn_bound=4")
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(0))
    searching = ismcts.ISMCTSBot(
        game, evaluator, uct_c=100, max_simulations=6, random_state=np.random.RandomState(1)
    )
    rolling = mcts.MCTSBot(game, 100, 4, evaluator, random_state=np.random.RandomState(2))
    rng = np.random.RandomState(3)
    bots = [rolling, pyspiel.make_uniform_random_bot(1, 7)]
    assert sum(evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)) == 0
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.current_player() == 0:
            state.apply_action(searching.step(state))
        elif state.is_chance_node():
            state.apply_action(state.chance_outcomes()[0][0])
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert sum(state.returns()) == 0


def test_neural_fictitious_self_play_learns_on_the_rl_environment():
    pytest.importorskip("torch")
    from open_spiel.python import rl_environment
    from open_spiel.python.pytorch import nfsp

    environment = rl_environment.Environment(load(rules="nano"))
    size = environment.observation_spec()["info_state"][0]
    actions = environment.action_spec()["num_actions"]
    agents = [
        nfsp.NFSP(
            player, size, actions, [16], reservoir_buffer_capacity=200, anticipatory_param=0.5,
            batch_size=8, learn_every=4, min_buffer_size_to_learn=8, replay_buffer_capacity=200,
        )
        for player in (0, 1)
    ]  # fmt: skip
    for _ in range(12):
        time_step = environment.reset()
        while not time_step.last():
            player = time_step.observations["current_player"]
            output = agents[player].step(time_step)
            time_step = environment.step([output.action])
        for agent in agents:
            agent.step(time_step)
    assert sum(time_step.rewards) == 0
    assert any(loss is not None for agent in agents for loss in agent.loss)


def test_the_module_says_what_it_registers():
    assert openspiel_game.SHORT_NAME in pyspiel.registered_names()


def test_shimmy_makes_a_pettingzoo_environment_of_it():
    shimmy = pytest.importorskip("shimmy")

    env = shimmy.OpenSpielCompatibilityV0(game_name="ginrummy_env", config={"rules": "nano"})
    won = []
    for seed in range(6):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            assert observation.shape == env.observation_space(agent).shape
            over = terminated or truncated
            env.step(None if over else int(np.flatnonzero(info["action_mask"])[-1]))
        assert env.game_state.is_terminal()
        won.append(env.game_state.returns()[0])
    assert any(won)
