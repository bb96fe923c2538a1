"""Every environment plays decks of other sizes: same spaces, only cards of the deck."""

import gymnasium
import numpy as np
import pytest

import ginrummy_env
from ginrummy_env.core.cards import card_planes, cards_of
from ginrummy_env.core.observation import observation_size, planes
from ginrummy_env.core.rules import MINI, NANO

small_rules = pytest.mark.parametrize("rules", [MINI, NANO], ids=["mini", "nano"])


def legal(rng, masks):
    """A legal action for each row; 0 where an episode has ended, which the next step ignores."""
    return np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])


@small_rules
def test_observations_and_masks_name_only_cards_of_the_deck(rules):
    envs = ginrummy_env.GinRummyVectorEnv(16, rules=rules, opponent="random", privileged=True)
    outside = ~card_planes(rules.full_deck)
    observations, infos = envs.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(100):
        assert observations.shape == (16, observation_size())
        assert not planes(observations).reshape(16, -1, 52)[:, :, outside].any()
        masks = infos["action_mask"]
        assert not masks[:, :104].reshape(16, 2, 52)[:, :, outside].any()
        assert not infos["state"].reshape(16, -1, 52)[:, :, outside].any()
        observations, _, _, _, infos = envs.step(legal(rng, masks))


@small_rules
def test_one_game_and_a_batch_play_the_same(rules):
    """The plain steps of a single game, and the core's of all rows, from the same seed."""
    one = ginrummy_env.GinRummySelfPlayEnv(1, rules=rules)
    many = ginrummy_env.GinRummySelfPlayEnv(4, rules=rules)
    aec = ginrummy_env.raw_env(rules=rules)
    (seen, infos), (all_seen, all_infos) = one.reset(seed=5), many.reset(seed=5)
    aec.reset(seed=5)
    rng = np.random.default_rng(0)
    for _ in range(60):
        assert (seen[0] == all_seen[0]).all()
        assert (infos["action_mask"][0] == all_infos["action_mask"][0]).all()
        last = aec.observe(aec.agent_selection)
        assert (last["observation"] == seen[0]).all()
        assert (last["action_mask"] == infos["action_mask"][0]).all()
        actions = legal(rng, all_infos["action_mask"])
        aec.step(int(actions[0]))
        seen, rewards, _, ended, infos = one.step(actions[:1])
        all_seen, all_rewards, _, _, all_infos = many.step(actions)
        assert (rewards[0] == all_rewards[0]).all()
        if ended[0]:
            return


def test_a_deck_is_given_and_a_wrong_one_is_named():
    env = gymnasium.make("ginrummy_env/GinRummy-v0", rules="nano", opponent="random")
    deck = cards_of(NANO.full_deck)
    env.reset(seed=0, options={"deck": deck, "dealer": 1})
    assert env.unwrapped.games.state.deck[0, -8:].tolist() == deck
    with pytest.raises(ValueError, match=r"decks of shape \(52,\), expected \(1, 8\)"):
        env.reset(options={"deck": list(range(52))})
    with pytest.raises(ValueError, match="hand_size=10: the deck has 20 cards"):
        gymnasium.make("ginrummy_env/GinRummy-v0", rules={"num_ranks": 5})
