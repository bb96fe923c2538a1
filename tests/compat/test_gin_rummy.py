"""PettingZoo's gin_rummy_v4 on our core: its interface, and its faults mended.

The faults are those of PettingZoo 1.26.1; docs/MIGRATION.md lists them by these tests' names.
"""

import copy
import inspect
import pickle

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from ginrummy_env.compat import gin_rummy_v4
from ginrummy_env.compat.actions import IllegalOldActionError
from ginrummy_env.core.cards import cards_of, hand_of

MODES = pytest.mark.parametrize("faithful", [False, True])


def play(env, seed, rng, knock=True):
    """Play a deal, yielding the environment before each step; knock as soon as possible."""
    env.reset(seed=seed)
    for _ in env.agent_iter():
        yield env
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        legal = np.flatnonzero(observation["action_mask"])
        knocks = legal[legal >= 58]
        env.step(int(knocks[0] if knock and len(knocks) else rng.choice(legal)))


def held(env, player):
    """The cards of a player, as observations write them."""
    flags = np.zeros(52, dtype=np.int8)
    flags[cards_of(env.unwrapped._game.state.hands[0, player])] = 1
    return flags


def totals(env, seed, rng):
    """What a deal pays in all."""
    total = dict.fromkeys(env.possible_agents, 0.0)
    for _ in play(env, seed, rng):
        total[env.agent_selection] += env.last(observe=False)[1]
    return total


@MODES
@pytest.mark.filterwarnings("ignore:Observation:UserWarning")
def test_pettingzoo_finds_nothing_wrong(faithful):
    api_test(gin_rummy_v4.env(faithful=faithful), num_cycles=300)
    seed_test(lambda: gin_rummy_v4.env(faithful=faithful), num_cycles=300)


@MODES
def test_names_arguments_and_spaces_are_the_old_ones(faithful):
    parameters = list(inspect.signature(gin_rummy_v4.raw_env).parameters)
    assert parameters[:4] == ["knock_reward", "gin_reward", "opponents_hand_visible", "render_mode"]
    for visible, rows in ((False, 4), (True, 5)):
        env = gin_rummy_v4.env(opponents_hand_visible=visible, faithful=faithful)
        assert env.possible_agents == ["player_0", "player_1"]
        for agent in env.possible_agents:
            space = env.observation_space(agent)
            assert space["observation"].shape == (rows, 52)
            assert space["observation"].dtype == space["action_mask"].dtype == np.int8
            assert space["action_mask"].shape == (110,)
            assert env.action_space(agent).n == 110
            assert env.observation_space(agent) is space
    assert gin_rummy_v4.raw_env.metadata["name"] == "gin_rummy_v4"


@MODES
def test_both_see_their_own_cards_and_only_the_mover_a_mask(faithful):
    """Fault: the player who waited was shown the mover's hand and mask."""
    env = gin_rummy_v4.env(opponents_hand_visible=True, faithful=faithful)
    rng = np.random.default_rng(0)
    for seed in range(30):
        for env_then in play(env, seed, rng):
            for player, agent in enumerate(env.possible_agents):
                seen = env_then.observe(agent)
                assert (seen["observation"][0] == held(env, player)).all()
                over = env.unwrapped._game.over
                moves = agent == env.agent_selection and not over
                assert seen["action_mask"].any() == moves


@MODES
def test_no_observation_tells_the_unseen_cards_apart(faithful):
    """Never the leak: with other cards in the stock and the other hand, both see the same."""
    rng = np.random.default_rng(0)
    env = gin_rummy_v4.raw_env(opponents_hand_visible=True, faithful=faithful)
    for seed in range(20):
        for steps, _ in enumerate(play(env, seed, rng)):
            state = env._game.state
            if steps % 7 or state.outcome[0]:
                continue
            for player, agent in enumerate(env.possible_agents):
                other = copy.deepcopy(env)
                hidden = int(state.hands[0, 1 - player] & ~state.known[0, 1 - player])
                stock = state.stock[0]
                pool = rng.permutation(cards_of(hidden) + stock)
                count = hidden.bit_count()
                mixed = other._game.state
                mixed.hands[0, 1 - player] &= state.known[0, 1 - player]
                mixed.hands[0, 1 - player] |= hand_of(pool[:count])
                mixed.deck[0, 52 - len(stock) :] = pool[count:]
                other._mask = None
                one, two = env.observe(agent), other.observe(agent)
                assert (one["observation"] == two["observation"]).all()
                assert (one["action_mask"] == two["action_mask"]).all()


@pytest.mark.parametrize(
    ("faithful", "paid"),
    [
        pytest.param(False, 0.5, id="kept"),
        pytest.param(True, 0.2, id="faithful: lost, as in the old results"),
    ],
)
def test_rewards_after_a_seeded_reset(faithful, paid):
    """Fault: a seed set the rewards to RLCard's, 0.2 for a knock."""
    env, rng = gin_rummy_v4.env(knock_reward=0.5, faithful=faithful), np.random.default_rng(0)
    seen = {max(totals(env, seed, rng).values()) for seed in range(40)}
    assert {reward for reward in seen if 0 < reward < 1} == {paid}


@MODES
def test_rewards_without_a_seed_are_those_asked_for(faithful):
    env, rng = gin_rummy_v4.env(knock_reward=0.3, faithful=faithful), np.random.default_rng(0)
    seen = {max(totals(env, None, rng).values()) for _ in range(40)}
    assert {reward for reward in seen if 0 < reward < 1} == {0.3}


@MODES
@pytest.mark.parametrize("make", [gin_rummy_v4.env, gin_rummy_v4.raw_env])
@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_is_the_same_deal_and_goes_its_own_way(faithful, make, twin_of):
    """Fault: deepcopy gave another deal, without a word, and pickle forgot an argument."""
    env = make(opponents_hand_visible=True, faithful=faithful)
    rng = np.random.default_rng(1)
    for step, _ in enumerate(play(env, 1, rng)):
        if step == 25:
            break
    twin = twin_of(env)
    before = env.observe(env.agent_selection)
    assert before["observation"].shape == (5, 52)
    seen = []
    for each in (twin, env):
        same = each.last()[0]
        assert (same["observation"] == before["observation"]).all()
        choices = np.random.default_rng(5)
        path = []
        while each.agents:
            observation, reward, terminated, _, _ = each.last()
            path.append((each.agent_selection, reward, observation["observation"].tobytes()))
            legal = np.flatnonzero(observation["action_mask"])
            each.step(None if terminated else int(choices.choice(legal)))
        # The next deals of the stream are the same as well.
        each.reset()
        path.append(each.last()[0]["observation"].tobytes())
        seen.append(path)
    assert seen[0] == seen[1]


@MODES
def test_a_picture_shows_the_mover_and_hides_the_other(faithful):
    """Fault: the picture showed the mover's hand in both places."""
    env = gin_rummy_v4.env(render_mode="ansi", faithful=faithful)
    env.reset(seed=3)
    assert "10 unseen" in env.render()
    env = gin_rummy_v4.env(render_mode="rgb_array", faithful=faithful)
    env.reset(seed=3)
    pixels = env.render()
    assert pixels.ndim == 3
    assert pixels.shape[2] == 3
    assert pixels.dtype == np.uint8
    env.close()


@MODES
def test_the_last_observation_is_not_empty(faithful):
    """Fault: at the end both saw zeros."""
    env, rng = gin_rummy_v4.env(faithful=faithful), np.random.default_rng(0)
    for env_then in play(env, 4, rng):
        if all(env_then.terminations.values()):
            assert env_then.observe(env.agent_selection)["observation"][0].sum() == 10


@MODES
def test_an_illegal_action_is_refused_by_raw_env_and_loses_in_env(faithful):
    """Fault: RLCard accepted a dead hand at any time, and a knock with any deadwood."""
    raw = gin_rummy_v4.raw_env(faithful=faithful)
    raw.reset(seed=1)
    before = raw.last()[0]
    for action in (4, 0, 110, -1, 2.5, None):
        with pytest.raises(IllegalOldActionError, match="is not legal; legal: "):
            raw.step(action)
    assert (raw.last()[0]["observation"] == before["observation"]).all()
    env = gin_rummy_v4.env(faithful=faithful)
    env.reset(seed=1)
    mover = env.agent_selection
    env.step(4)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards[mover] == -1
    assert sum(env.rewards.values()) == -1


@MODES
def test_whole_numbers_of_any_kind_are_actions(faithful):
    """What ``model.predict`` returns is a 0-d array; a truth value is no action."""
    for kind in (int, np.int64, np.uint8, np.array):
        for make in (gin_rummy_v4.env, gin_rummy_v4.raw_env):
            env = make(faithful=faithful)
            env.reset(seed=1)
            legal = np.flatnonzero(env.last()[0]["action_mask"])
            env.step(kind(legal[0]))
            assert not any(env.terminations.values())
    for wrong in (True, np.array([2]), np.array(2.0)):
        with pytest.raises(IllegalOldActionError, match="is not legal"):
            env.unwrapped.step(wrong)


@MODES
def test_a_seed_begins_a_stream_and_no_seed_goes_on(faithful):
    def deals(env, seeds):
        for seed in seeds:
            env.reset(seed=seed)
            yield [held(env, player).tolist() for player in range(2)]

    one, two = (gin_rummy_v4.env(faithful=faithful) for _ in range(2))
    first = list(deals(one, [7, None, None, 8]))
    assert first == list(deals(two, [7, None, None, 8]))
    assert len({str(deal) for deal in first}) == 4


@MODES
def test_a_seed_below_zero_is_refused(faithful):
    with pytest.raises(ValueError, match="-1"):
        gin_rummy_v4.env(faithful=faithful).reset(seed=-1)
