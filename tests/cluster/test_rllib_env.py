"""The environment that RLlib plays in: alone and in a batch, what is shown and what is paid."""

import numpy as np
import pytest
from ray.tune.registry import ENV_CREATOR, _global_registry

from ginrummy_env.core.actions import IllegalActionError
from ginrummy_env.core.rules import EAAI
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_training.learning.win_chance import WinChance, deal_points
from ginrummy_training.rllib.env import (
    MASK,
    NAME,
    OBSERVATIONS,
    GinRummyMultiAgentEnv,
    GinRummyVectorMultiAgentEnv,
    register,
)


class TestEnvironment:
    def played(self, env, episodes, seed=5):
        """Play at random; yield (agent, observation, what the step brought)."""
        rng = np.random.default_rng(1)
        seen, _ = env.reset(seed=seed)
        for _ in range(episodes):
            while True:
                ((agent, observation),) = seen.items()
                action = int(rng.choice(np.flatnonzero(observation[MASK])))
                stepped = env.step({agent: action})
                yield agent, observation, stepped
                seen = stepped[0]
                if stepped[2]["__all__"] or stepped[3]["__all__"]:
                    break
            seen, _ = env.reset()

    def test_it_is_registered_and_its_spaces_hold_what_it_shows(self):
        register()
        env = _global_registry.get(ENV_CREATOR, NAME)({"rules": "eaai"})
        assert isinstance(env, GinRummyMultiAgentEnv)
        assert env.possible_agents == ["player_0", "player_1"]
        for agent, observation, stepped in self.played(env, 3):
            assert env.observation_spaces[agent].contains(observation)
            for name, last in stepped[0].items():
                assert env.observation_spaces[name].contains(last)
            assert observation[MASK].any()

    def test_both_are_shown_the_end_and_paid_against_each_other(self):
        ends = 0
        for _, _, (seen, rewards, terminated, truncated, infos) in self.played(
            GinRummyMultiAgentEnv({"rules": "eaai"}), 4
        ):
            assert sum(rewards.values()) == 0
            assert not truncated["__all__"]
            if terminated["__all__"]:
                assert set(seen) == {"player_0", "player_1"}
                assert not any(each[MASK].any() for each in seen.values())
                deal = infos["player_0"]["deal"]
                paid = 0 if deal["winner"] < 0 else deal["points"] / 100
                winner = f"player_{max(deal['winner'], 0)}"
                assert rewards[winner] == pytest.approx(paid)
                ends += 1
            else:
                assert len(seen) == 1
                assert set(rewards.values()) == {0.0}
        assert ends == 4

    def test_deals_follow_in_one_game_and_chances_add_up_to_it(self):
        rules = EAAI.to_dict() | {"target": 60}
        chance = WinChance.of_points(deal_points(make_policy("simple"), EAAI, 500, 1), 60)
        env = GinRummyMultiAgentEnv({"rules": rules, "reward": "chance", "chance": chance})
        policy, rng = make_policy("simple"), np.random.default_rng(1)
        total, games, deals = np.zeros(2), 0, 0
        env.reset(seed=2)
        while games < 3:
            mover = f"player_{env.games.movers[0]}"
            view = make_view(env.games.games.state, env.games.games.options.rules)
            stepped = env.step({mover: int(policy.act(view, rng)[0])})
            total += list(stepped[1].values())
            if stepped[2]["__all__"]:
                deals += 1
                final = stepped[4]["player_0"]["deal"]["final_scores"]
                if final:
                    np.testing.assert_allclose(np.abs(total), 1)
                    games, total = games + 1, np.zeros(2)
                env.reset()
        assert deals > games

    def test_games_are_cut_off(self):
        env = GinRummyMultiAgentEnv(
            {"rules": "classic", "episode": "game", "reward": "win", "max_deals": 1}
        )
        *_, last = self.played(env, 1)
        assert last[2][3] == {"player_0": True, "player_1": True, "__all__": True}
        assert not last[2][2]["__all__"]

    def test_one_seed_gives_the_same_games(self):
        def actions(seed):
            env = GinRummyMultiAgentEnv({"rules": "eaai"})
            return [
                (agent, observation[OBSERVATIONS].tobytes())
                for agent, observation, _ in self.played(env, 1, seed)
            ]

        assert actions(5) == actions(5)
        assert actions(5)[0] != actions(6)[0]

    def test_together_they_play_what_they_play_alone(self):
        config = {"rules": EAAI.to_dict() | {"target": 30}}
        rng = np.random.default_rng(0)
        many = GinRummyVectorMultiAgentEnv(6, config)
        alone = [GinRummyMultiAgentEnv(config) for _ in range(6)]
        seen, _ = many.reset(seed=9)
        for row, env in enumerate(alone):  # the same streams: a seed of them all, a slot each
            env.games.seed(np.zeros(1, dtype=np.intp), 9, row)
            env._seeded = True
            np.testing.assert_equal(env.reset()[0], seen[row])
        over, resets = np.zeros(6, dtype=bool), 0
        for _ in range(400):
            actions = []
            for row in range(6):
                if over[row]:
                    actions.append({})  # it is reset in this step
                    continue
                ((agent, observation),) = seen[row].items()
                actions.append({agent: int(rng.choice(np.flatnonzero(observation[MASK])))})
            seen, rewards, terminated, _, _ = many.step(actions)
            for row, env in enumerate(alone):
                if over[row]:
                    resets += 1
                    np.testing.assert_equal(seen[row], env.reset()[0])
                    assert not terminated[row]["__all__"]
                else:
                    expected = env.step(actions[row])
                    np.testing.assert_equal(seen[row], expected[0])
                    assert rewards[row] == expected[1]
                    assert terminated[row] == expected[2]
            over = np.array([each["__all__"] for each in terminated])
        assert resets > 6

    def test_what_is_not_allowed(self):
        env = GinRummyMultiAgentEnv({"rules": "eaai"})
        seen, _ = env.reset(seed=1)
        (agent,) = seen
        with pytest.raises(IllegalActionError):
            env.step({agent: 0})
        other = "player_1" if agent == "player_0" else "player_0"
        with pytest.raises(ValueError, match=f"where {agent} is to move"):
            env.step({other: 106})
        for config, says in (
            ({"rewards": "win"}, "unknown setting 'rewards' of env_config"),
            ({"episode": "match"}, "one of 'game', 'deal', 'deal_of_game'"),
            ({"reward": "chance"}, "needs a chance of winning"),
            ({"reward": "win"}, "is paid for a game"),
        ):
            with pytest.raises(ValueError, match=says):
                GinRummyMultiAgentEnv(config)
