"""PettingZoo: what the AEC environment promises beyond PettingZoo's own checks (test_api)."""

import copy
import pickle

import numpy as np
import pytest
from cases import cards
from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel
from tables import (
    READY_DECK,
    UNDERCUT_DECK,
    eager,
    global_random_state,
    some_legal,
)

import ginrummy_env
from ginrummy_env.core.actions import IllegalActionError
from ginrummy_env.core.cards import cards_of
from ginrummy_env.core.observation import layout, observe
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import make_view
from ginrummy_env.envs.aec_env import ParallelGame

AGENTS = ["player_0", "player_1"]
KNOCK_KH = 52 + 25


def plane(observation, name):
    """The cards of a plane of an observation."""
    entry = next(entry for entry in layout() if entry.name == name)
    return set(np.flatnonzero(observation[entry.slice]).tolist())


def steps(env, count, seed=0, choose=some_legal):
    """Play, yielding the environment before each action; episodes follow one another."""
    env.reset(seed=seed)
    for number in range(count):
        if not env.agents:
            env.reset()
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            env.step(None)
            continue
        yield env
        env.step(choose(env.observe(agent)["action_mask"], number))


def test_each_agent_observes_his_own_view():
    """His own hand, and a mask of zeros while he is not to move, whoever asks."""
    for env in steps(ginrummy_env.env(episode="deal"), 800, choose=eager):
        state = env.unwrapped._games.state
        for number, agent in enumerate(AGENTS):
            seen = env.observe(agent)
            assert plane(seen["observation"], "hand") == set(cards_of(state.hands[0, number]))
            assert bool(seen["action_mask"].any()) == (agent == env.agent_selection)
            own = observe(make_view(state, env.unwrapped.rules, [number]))
            assert np.array_equal(seen["observation"], own[0])


def test_nothing_hidden_is_seen():
    """With the unseen cards dealt otherwise, observation, mask, info and text are the same."""
    rng = np.random.default_rng(0)
    for env in steps(ginrummy_env.raw_env(render_mode="ansi"), 300, choose=eager):
        number = int(env.agent_selection == "player_1")
        twin = copy.deepcopy(env)
        state = twin._games.state
        other = 1 - number
        hidden = cards_of(state.hands[0, other] & ~state.known[0, other])
        unseen = rng.permutation(hidden + state.stock[0])
        if env.agent_selection == AGENTS[number]:
            for card in hidden:
                state.hands[0, other] ^= np.uint64(1) << np.uint64(16 * (card // 13) + card % 13)
            for card in unseen[: len(hidden)]:
                card = int(card)
                state.hands[0, other] |= np.uint64(1) << np.uint64(16 * (card // 13) + card % 13)
            stock = unseen[len(hidden) :]
            state.deck[0, 52 - len(stock) :] = stock
        twin._moved()
        agent = AGENTS[number]
        mine, his = env.observe(agent), twin.observe(agent)
        assert mine["observation"].tobytes() == his["observation"].tobytes()
        assert mine["action_mask"].tobytes() == his["action_mask"].tobytes()
        assert env.render() == twin.render()
        assert env.infos[agent] == twin.infos[agent]


def test_infos_tell_of_no_deal_that_goes_on():
    """No card is named before the deal is over, nor of a void deal; else both hands are."""
    told = 0
    for env in steps(ginrummy_env.raw_env(), 1500, choose=eager):
        deal = env._games.state.deal_number[0]
        for agent in AGENTS:
            for result in env.infos[agent].get("deals", []):
                assert result["deal_number"] < deal
                shown = 0 if result["outcome"] == "void" else 10
                assert [len(cards(hand)) for hand in result["hands"]] == [shown, shown]
                told += 1
    assert told


def test_render_shows_the_mover_and_open_cards_only_if_asked():
    """The switch for open cards is off by default."""
    closed = ginrummy_env.raw_env(render_mode="ansi")
    opened = ginrummy_env.raw_env(render_mode="ansi", open_cards=True)
    for env in (closed, opened):
        env.reset(seed=3)
    state = closed._games.state
    other = 1 - int(state.player[0])
    for card in cards_of(state.hands[0, other]):
        name = "A23456789TJQK"[card % 13] + "♠♥♦♣"[card // 13]
        assert name not in closed.render()
        assert name in opened.render()


def test_both_are_paid_in_the_step_that_ends_a_deal():
    """The knock pays at once, the loser too, each exactly once."""
    env = ginrummy_env.raw_env(reward="points", episode="deal")
    env.reset(seed=0, options={"deck": READY_DECK, "dealer": 1})
    assert env.agent_selection == "player_0"
    env.step(105)
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
    env.step(KNOCK_KH)
    told = env.infos["player_1"]["deals"][0]
    assert told["outcome"] == "knock"
    assert told["deadwood"] == [2, told["points"] + 2]
    pay = told["points"] / 100
    assert env.rewards == {"player_0": pay, "player_1": -pay}
    sums = dict.fromkeys(AGENTS, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        sums[agent] += reward
        assert terminated
        assert not truncated
        env.step(None)
    assert sums == {"player_0": pay, "player_1": -pay}


def test_an_undercut_costs_the_knocker():
    env = ginrummy_env.raw_env(reward="points", episode="deal")
    env.reset(options={"deck": UNDERCUT_DECK, "dealer": 1})
    env.step(105)
    env.step(KNOCK_KH)
    assert env.infos["player_0"]["deals"][0]["outcome"] == "undercut"
    assert env.rewards["player_0"] < 0 < env.rewards["player_1"]


@pytest.mark.parametrize("reward", ["win", "points", "final"])
def test_the_rewards_of_last_add_up(reward):
    """The sum that an agent sees over a whole game is his result, whoever moved last."""
    target = 25
    env = ginrummy_env.env(reward=reward, rules={"target": target})
    for seed in range(2):
        env.reset(seed=seed)
        sums = dict.fromkeys(AGENTS, 0.0)
        deals: dict[str, list] = {agent: [] for agent in AGENTS}
        for number, agent in enumerate(env.agent_iter()):
            seen, paid, terminated, _, info = env.last()
            sums[agent] += paid
            deals[agent] += info["deals"]
            last = deals[agent][-1] if deals[agent] else None
            env.step(None if terminated else eager(seen["action_mask"], number))
        numbers = [deal["deal_number"] for deal in deals["player_0"]]
        assert numbers == list(range(len(numbers)))
        assert deals["player_0"] == deals["player_1"]
        scores = {"win": np.array(last["scores"]) >= target, "points": last["scores"]}
        scores = np.array(scores.get(reward, last["final_scores"]), dtype=float)
        expected = (scores[0] - scores[1]) / (1 if reward == "win" else 100)
        assert sums["player_0"] == pytest.approx(expected)
        assert sums["player_1"] == pytest.approx(-expected)


def test_the_life_of_an_agent():
    """One step(None) each after the end, then no agents; another action is refused."""
    env = ginrummy_env.env(episode="deal")
    env.reset(options={"deck": READY_DECK, "dealer": 1})
    env.step(105)
    env.step(KNOCK_KH)
    assert env.agents == AGENTS
    assert all(env.terminations.values())
    with pytest.raises(ValueError, match="None"):
        env.unwrapped.step(3)
    env.step(None)
    env.step(None)
    assert env.agents == []
    env.reset()
    assert env.agents == AGENTS


def test_the_mover_can_always_move():
    """An int8 mask with a 1 in it, sampled without a cast, in the space."""
    for env in steps(ginrummy_env.env(episode="deal", features="raw"), 2000):
        agent = env.agent_selection
        seen = env.observe(agent)
        assert seen["action_mask"].any()
        assert env.observation_space(agent).contains(seen)
        assert seen["action_mask"][env.action_space(agent).sample(seen["action_mask"])]


def test_an_illegal_action_is_refused_and_changes_nothing():
    """In words, with what was legal."""
    env = ginrummy_env.raw_env()
    env.reset(seed=1)
    for number in range(200):
        agent = env.agent_selection
        mask = env.observe(agent)["action_mask"]
        before = pickle.dumps(env._games.state)
        for action in (*np.flatnonzero(mask == 0)[number % 20 :: 20].tolist(), -1, 108):
            with pytest.raises(
                IllegalActionError, match=f"action {action}.* is not legal"
            ) as error:
                env.step(action)
            assert error.value.legal == np.flatnonzero(mask).tolist()
        assert pickle.dumps(env._games.state) == before
        assert env.agent_selection == agent
        env.step(some_legal(mask, number))
    for wrong in (None, True, np.array([106]), 106.0, "pass"):
        with pytest.raises(ValueError, match=r"action=.*: a whole number from 0 to 107 is needed"):
            env.step(wrong)


def test_an_illegal_action_loses_in_the_wrapped_environment(caplog):
    """PettingZoo's convention, -1 and the end; the game itself is as it was."""
    env = ginrummy_env.env()
    env.reset(seed=1)
    agent = env.agent_selection
    before = pickle.dumps(env.unwrapped._games.state)
    env.step(104)  # nobody draws before the upcard has been offered
    assert "Illegal move" in caplog.text
    assert env.rewards == {agent: -1.0, AGENTS[1 - AGENTS.index(agent)]: 0}
    assert all(env.terminations.values())
    assert pickle.dumps(env.unwrapped._games.state) == before
    while env.agents:
        env.step(None)
    env.reset()
    with pytest.raises(AssertionError, match="action space"):
        env.step(108)


def test_copies_go_on_identically():
    """Deepcopy and pickle in mid-deal; the original stays where it is, options are kept."""
    options = {
        "rules": {"gin_bonus": 25, "target": 60},
        "episode": "game",
        "reward": "points",
        "max_deals": 50,
        "features": "raw",
        "render_mode": "ansi",
    }
    env = ginrummy_env.env(**options)
    for number, _ in enumerate(steps(env, 75)):
        if number == 70:
            break
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    mark = pickle.dumps(env.unwrapped._games.state)
    logs = []
    for twin in [*twins, env]:
        log = []
        for number in range(300):
            agent = twin.agent_selection
            seen, *paid, info = twin.last()
            log.append(
                (
                    agent,
                    seen["observation"].tobytes(),
                    seen["action_mask"].tobytes(),
                    paid,
                    str(info),
                )
            )
            twin.step(some_legal(seen["action_mask"], number))
        twin.reset()  # the next game of the same stream
        log.append(twin.observe("player_0")["observation"].tobytes())
        logs.append(log)
        assert twin.unwrapped.rules == Rules(gin_bonus=25, target=60)
        assert twin.unwrapped._games.options == env.unwrapped._games.options
        if twin is not env:
            assert pickle.dumps(env.unwrapped._games.state) == mark
    assert logs[0] == logs[1] == logs[2]


def test_settings_survive_a_seeded_reset():
    env = ginrummy_env.env(rules="eaai", reward="points")
    for _ in range(2):
        env.reset(seed=1)
        env.reset()
        assert env.unwrapped.rules == ginrummy_env.EAAI


def test_what_is_returned_stays_as_it_is_and_is_nobody_elses():
    """Also after the next step; writing into it does not alter the game."""
    env, twin = ginrummy_env.env(), ginrummy_env.env()
    for each in (env, twin):
        each.reset(seed=4)
    kept = []
    for number in range(200):
        seen, other = env.last()[0], twin.last()[0]
        assert np.array_equal(seen["observation"], other["observation"])
        assert np.array_equal(seen["action_mask"], other["action_mask"])
        kept.append((seen, {name: array.copy() for name, array in seen.items()}))
        action = some_legal(seen["action_mask"], number)
        env.step(action)
        twin.step(action)
        seen["observation"][:] = -1
        kept[-1][1]["observation"][:] = -1
        env.observe(env.agent_selection)["action_mask"][:] = 0
    for seen, copied in kept:
        assert all(np.array_equal(seen[name], copied[name]) for name in seen)


def test_seeds():
    """Twice the same; a hundred seeds, a hundred deals; nobody's generator is touched."""
    env = ginrummy_env.env()
    before = global_random_state()
    decks = set()
    for seed in range(100):
        env.reset(seed=seed)
        decks.add(env.unwrapped._games.state.deck.tobytes())
    assert len(decks) == 100
    logs = []
    for _ in range(2):
        log = [
            e.observe(a)["observation"].tobytes() for e in steps(env, 200, seed=7) for a in AGENTS
        ]
        logs.append(log)
    assert logs[0] == logs[1]
    fresh = ginrummy_env.env()
    fresh.reset()
    assert global_random_state() == before
    for wrong in (-1, 1.5, "a"):
        with pytest.raises(ValueError, match="seed="):
            env.reset(seed=wrong)


def test_the_last_observation_shows_the_final_position():
    """Not zeros; the hands, the pile, and what was laid down."""
    env = ginrummy_env.env(episode="deal")
    env.reset(options={"deck": READY_DECK, "dealer": 1})
    env.step(105)
    env.step(KNOCK_KH)
    told = env.infos["player_1"]["deals"][0]
    assert told["melds"][0] == ["As 2s 3s", "9s 9d 9c", "4h 5h 6h"]
    assert told["deadwood"][0] == 2
    hand = set(cards("As 2s 3s 4h 5h 6h 9c 9d 9s 2d"))
    for agent in AGENTS:
        seen = env.observe(agent)
        assert env.observation_space(agent).contains(seen)
        assert not seen["action_mask"].any()
        phase = next(e for e in layout() if e.name == "phase_deal_over")
        assert seen["observation"][phase.slice] == 1
        known = "hand" if agent == "player_0" else "opponent_known"
        assert plane(seen["observation"], known) == hand
        assert plane(seen["observation"], "upcard") == {25}


def test_cards_taken_openly_are_remembered():
    """Until they are thrown."""
    env = ginrummy_env.env()
    env.reset(options={"deck": READY_DECK, "dealer": 1})
    env.step(105)
    env.step(25)  # throws the Kh
    for number in range(40):
        agent = env.agent_selection
        seen = env.observe("player_1")["observation"]
        assert plane(seen, "opponent_known") == {27}  # the 2d
        mask = env.observe(agent)["action_mask"]
        mask[[105, 27]] = 0
        mask[52:104] = 0
        if env.unwrapped._games.state.deal_number[0]:
            break
        env.step(some_legal(mask, number))
    env.reset(options={"deck": READY_DECK, "dealer": 1})
    env.step(105)
    env.step(25)
    env.step(104)
    env.step(int(np.flatnonzero(env.observe("player_1")["action_mask"][:52])[0]))
    env.step(104)
    env.step(27)
    seen = env.observe("player_1")["observation"]
    assert plane(seen, "opponent_known") == set()
    assert 27 in plane(seen, "discard_pile")


def test_the_opening():
    """Ten cards each, one upcard; after two passes the non-dealer can only draw."""
    env = ginrummy_env.env()
    env.reset(seed=2)
    first = env.agent_selection
    assert np.flatnonzero(env.observe(first)["action_mask"]).tolist() == [105, 106]
    env.step(106)
    assert env.agent_selection != first
    assert np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist() == [105, 106]
    env.step(106)
    assert env.agent_selection == first
    assert np.flatnonzero(env.observe(first)["action_mask"]).tolist() == [104]


def test_max_deals_truncates():
    """As ``max_cycles`` does elsewhere."""
    env = ginrummy_env.env(max_deals=2, rules={"turn_bound": 3})
    env.reset(seed=0)
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        if terminated or truncated:
            assert truncated
            assert not terminated
            assert reward == 0
            assert info["deals"][-1]["deal_number"] == 1
            env.step(None)
        else:
            mask = seen["action_mask"].copy()
            mask[52:104] = 0
            env.step(env.action_space(agent).sample(mask))


def test_the_parallel_api():
    """A hundred deals to the end; a step after the end gives five dicts."""
    for env in (
        ginrummy_env.parallel_env(episode="deal", reward="points"),
        turn_based_aec_to_parallel(ginrummy_env.env(episode="deal", reward="points")),
    ):
        for seed in range(50):
            seen, infos = env.reset(seed=seed)
            sums = dict.fromkeys(AGENTS, 0.0)
            number = 0
            while env.agents:
                mover = env.aec_env.agent_selection
                waits = AGENTS[1 - AGENTS.index(mover)]
                waiting = np.flatnonzero(seen[waits]["action_mask"]).tolist()
                assert waiting == ([106] if isinstance(env, ParallelGame) else [])
                if number:
                    assert infos[mover]["active_agent"] == mover
                actions = {
                    agent: some_legal(seen[mover]["action_mask"], number) for agent in AGENTS
                }
                seen, rewards, terminations, truncations, infos = env.step(actions)
                for agent in AGENTS:
                    sums[agent] += rewards[agent]
                number += 1
            assert set(terminations.values()) == {True}
            assert set(truncations.values()) == {False}
            assert sums["player_0"] == -sums["player_1"]
            assert not seen["player_0"]["action_mask"].any()
    assert ginrummy_env.parallel_env(episode="deal").metadata["name"] == "gin_rummy_v0"
    env = ginrummy_env.parallel_env(episode="deal")
    env.reset(seed=0)
    env.agents = []
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_masked_samplers_find_an_action_for_the_player_who_waits():
    """As TorchRL samples for both; what the waiting player chooses is not looked at."""
    env = ginrummy_env.parallel_env(episode="deal")
    seen, _ = env.reset(seed=0)
    while env.agents:
        masks = {agent: seen[agent]["action_mask"] for agent in env.agents}
        assert all(mask.any() for mask in masks.values())
        actions = {agent: env.action_space(agent).sample(masks[agent]) for agent in env.agents}
        seen, *_ = env.step(actions)
    zeros = ginrummy_env.parallel_env(waiting_mask="zeros")
    seen, _ = zeros.reset(seed=0)
    assert sum(seen[agent]["action_mask"].any() for agent in AGENTS) == 1
    with pytest.raises(ValueError, match="waiting_mask='ones': one of 'zeros', 'pass'"):
        ginrummy_env.env(waiting_mask="ones")


def test_the_simultaneous_conversion_says_that_it_does_not_fit():
    with pytest.raises(AssertionError, match="is not generally safe"):
        aec_to_parallel(ginrummy_env.env())


def test_an_illegal_action_ends_the_game_whatever_was_seen_before():
    """A mask that was asked of a wrapper inside, and has been played past, is not looked at."""
    env = ginrummy_env.env()
    env.reset(seed=0)
    inside = env.env.env
    inside.observe(env.agent_selection)  # PettingZoo's wrapper keeps what it hands out
    env.step(106)
    env.step(106)
    env.step(104)
    env.step(106)  # legal when it was observed
    assert set(env.terminations.values()) == {True}


def test_before_reset_the_order_is_enforced():
    """The quick wrapper says what PettingZoo's says."""
    env = ginrummy_env.env()
    for name in ("agents", "agent_selection", "rewards", "infos", "terminations", "num_agents"):
        with pytest.raises(
            AttributeError, match=f"{'agents' if name == 'num_agents' else name} cannot be"
        ):
            getattr(env, name)
    with pytest.raises(AssertionError, match="reset"):
        env.step(0)
    env.reset()
    with pytest.raises(AssertionError, match="need to call step"):
        for _ in env.agent_iter():
            pass


def test_given_decks_and_dealers():
    """Positions can be set up: a deck in dealing order, who deals; of others there is a warning."""
    env = ginrummy_env.raw_env()
    with pytest.warns(UserWarning, match="unknown reset option 'decks' .did you mean 'deck'"):
        env.reset(options={"decks": [READY_DECK]})
    env.reset(options={"deck": READY_DECK, "dealer": 0})
    assert env.agent_selection == "player_1"
    assert env._games.state.phase[0] == Phase.OPENING
    with pytest.raises(ValueError, match="appears twice"):
        env.reset(options={"deck": [0] * 52})
    with pytest.raises(ValueError, match="dealer=2"):
        env.reset(options={"dealer": 2})
    env.step(106)  # a refused reset has changed nothing
