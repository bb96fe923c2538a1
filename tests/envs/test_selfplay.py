"""The two-seat environment: its games are the other environments', and each player's own line."""

import copy
import importlib.util
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from ginrummy_env import (
    GinRummySelfPlayEnv,
    GinRummyVectorEnv,
    IllegalActionError,
    gae,
    player_steps,
    raw_env,
)
from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.state import FIELD_NAMES

SHORT = {"rules": {"target": 30, "turn_bound": 20}, "reward": "points", "max_deals": 3}
DEALS = {"episode": "deal", "features": "raw", "rules": "eaai", "split": "eval"}


def eager(masks, rng):
    """Random legal actions, but a knock wherever there is one."""
    knocks = masks.copy()
    knocks[:, :52] = 0
    knocks[:, 104:] = 0
    wanted = np.where(knocks.any(axis=1, keepdims=True), knocks, masks)
    return random_actions(wanted.astype(bool), rng.random(len(masks)))


def play(env, steps, seed=0):
    """Play and return everything that was returned."""
    rng = np.random.default_rng(seed)
    observations, infos = env.reset(seed=seed)
    kept = []
    for _ in range(steps):
        actions = eager(infos["action_mask"], rng)
        step = env.step(actions)
        kept.append((observations, infos["seat"], actions, *step[1:4], step[4]))
        observations, infos = step[0], step[4]
    return kept, infos


@pytest.mark.parametrize("options", [SHORT, DEALS], ids=["game", "deal"])
def test_each_row_is_the_aec_environment_with_its_seed(options):
    """Observations, masks, pay, ends and the games that follow: all through PettingZoo's loop."""
    seeds, rng = [3, 2**64 - 1, 4], np.random.default_rng(1)
    env = GinRummySelfPlayEnv(3, **options)
    singles = [raw_env(**options) for _ in seeds]
    observations, infos = env.reset(seed=seeds)
    for single, seed in zip(singles, seeds, strict=True):
        single.reset(seed=seed)
    finished = 0
    for _ in range(200):
        actions = eager(infos["action_mask"], rng)
        before, seats = (observations.copy(), infos["action_mask"].copy()), infos["seat"]
        observations, rewards, deals_over, games_over, infos = env.step(actions)
        for row, single in enumerate(singles):
            assert single.agent_selection == f"player_{seats[row]}"
            seen = single.observe(single.agent_selection)
            assert np.array_equal(seen["observation"], before[0][row])
            assert np.array_equal(seen["action_mask"], before[1][row])
            single.step(int(actions[row]))
            assert [single.rewards[f"player_{seat}"] for seat in (0, 1)] == rewards[row].tolist()
            ended = any(single.terminations.values()) or any(single.truncations.values())
            assert games_over[row] == ended
            assert infos["truncated"][row] == any(single.truncations.values())
            if ended:
                deal = single.infos["player_0"]["deals"][-1]
                assert dict(infos["deals"][row][0]) == dict(deal)
                assert deals_over[row]
                single.reset()
                finished += 1
    assert finished > 2


def test_rows_of_a_number_have_the_decks_of_the_vector_environment():
    env, vector = GinRummySelfPlayEnv(5, rules="eaai"), GinRummyVectorEnv(5, rules="eaai", seat=0)
    env.reset(seed=7)
    vector.reset(seed=7)
    assert np.array_equal(env.state.deck, vector.games.state.deck)
    env.reset()  # the next game of each row
    again = env.state.deck.copy()
    env.reset(seed=7)
    env.reset()
    assert np.array_equal(env.state.deck, again)
    assert not np.array_equal(env.state.deck, vector.games.state.deck)


def test_pay_is_zero_sum_and_comes_with_the_end_of_a_deal():
    kept, _ = play(GinRummySelfPlayEnv(32, **SHORT), 300)
    rewards, deals, games = (np.stack([step[place] for step in kept]) for place in (3, 4, 5))
    assert (rewards.sum(axis=2) == 0).all()
    assert not rewards[~deals].any()
    assert (deals | ~games).all()
    assert (deals & ~games).any(), "some deals are followed by another of the same game"
    results = [step[6]["deals"] for step in kept]
    for flags, some, paid in zip(deals, results, rewards, strict=True):
        assert [len(each) for each in some] == flags.tolist()
        for row in np.flatnonzero(flags):
            deal = some[row][0]
            points = 0 if deal["winner"] < 0 else deal["points"] * (1 - 2 * deal["winner"])
            assert paid[row, 0] == pytest.approx(points / 100)


@pytest.mark.parametrize("wrong", [107, 108, -1, 10**6, 0.5, "draw"], ids=lambda wrong: str(wrong))
def test_a_wrong_action_changes_nothing(wrong):
    env = GinRummySelfPlayEnv(3)
    _, infos = env.reset(seed=1)
    before = env.state.copy()
    actions = infos["action_mask"].argmax(axis=1).tolist()
    actions[1] = wrong
    with pytest.raises(ValueError, match="row 1" if isinstance(wrong, int) else "action") as error:
        env.step(actions)
    assert isinstance(wrong, int) == isinstance(error.value, IllegalActionError)
    assert all(
        np.array_equal(getattr(before, name), getattr(env.state, name)) for name in FIELD_NAMES
    )
    with pytest.raises(ValueError, match="2"):
        env.step(actions[:2])


def test_reset_comes_first_and_bad_arguments_are_named():
    with pytest.raises(ResetNeeded, match="reset"):
        GinRummySelfPlayEnv(2).step([104, 104])
    with pytest.raises(ValueError, match="2 seeds, expected num_envs=3"):
        GinRummySelfPlayEnv(3).reset(seed=[1, 2])
    for options, word in (({"episode": "hand"}, "episode"), ({"max_deals": 0}, "max_deals")):
        with pytest.raises(ValueError, match=word):
            GinRummySelfPlayEnv(2, **options)
    with pytest.raises(ValueError, match="num_envs=0"):
        GinRummySelfPlayEnv(0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_continue_identically(copied):
    env = GinRummySelfPlayEnv(4, **SHORT)
    _, infos = play(env, 50)
    other, rng, twin = copied(env), np.random.default_rng(2), np.random.default_rng(2)
    theirs = infos
    for _ in range(60):
        *ours, infos = env.step(eager(infos["action_mask"], rng))
        *same, theirs = other.step(eager(theirs["action_mask"], twin))
        assert all(np.array_equal(a, b) for a, b in zip(ours, same, strict=True))


def plain_gae(seats, rewards, over, values, gamma, lam):
    """Advantages of one game, player by player, decision by decision; None where not known."""
    steps, found = len(over), [None] * len(over)
    for player in (0, 1):
        own = [step for step in range(steps + 1) if seats[step] == player]
        advantage = 0.0
        for place in reversed(range(len(own))):
            step = own[place]
            if step == steps:
                continue
            after = own[place + 1] if place + 1 < len(own) else steps
            ends = [t for t in range(step, after) if over[t]]
            if not ends and (place + 1 == len(own)):
                continue  # it is not known what follows
            paid = sum(rewards[t][player] for t in range(step, ends[0] + 1 if ends else after))
            if ends:
                advantage = paid - values[step]
            else:
                ahead = lam * advantage if after < steps else 0.0
                advantage = paid + gamma * (values[after] + ahead) - values[step]
            found[step] = advantage
    return found


@pytest.mark.parametrize("of_deals", [True, False])
def test_gae_is_that_of_each_players_own_decisions(of_deals):
    rng = np.random.default_rng(0)
    kept, infos = play(GinRummySelfPlayEnv(24, **SHORT), 150)
    seats = np.stack([*(step[1] for step in kept), infos["seat"]])
    rewards, deals, games = (np.stack([step[place] for step in kept]) for place in (3, 4, 5))
    over = deals if of_deals else games
    values = rng.normal(size=seats.shape)
    steps = player_steps(seats, rewards, over)
    ours = gae(steps, values, gamma=0.9, gae_lambda=0.8)
    for row in range(24):
        plain = plain_gae(seats[:, row], rewards[:, row], over[:, row], values[:, row], 0.9, 0.8)
        assert steps.known[:, row].tolist() == [each is not None for each in plain]
        assert np.allclose(ours[:, row], [each or 0.0 for each in plain])
    # The return with lambda 1 is the pay of the rest of the episode, where it is seen whole.
    whole = gae(steps, np.zeros(seats.shape), gae_lambda=1)
    at, row = np.argwhere(over)[-1]
    assert whole[at, row] == pytest.approx(rewards[at, row, seats[at, row]])


def test_player_steps_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match=r"\(4, 2\) and \(3, 2, 2\) are needed"):
        player_steps(np.zeros((3, 2)), np.zeros((3, 2, 2)), np.zeros((3, 2), bool))


def test_the_example_learns_from_both_seats(monkeypatch, capsys):
    pytest.importorskip("torch")
    path = Path(__file__).parents[2] / "examples" / "selfplay_ppo.py"
    monkeypatch.syspath_prepend(path.parent)  # as Python does for a script
    spec = importlib.util.spec_from_file_location("selfplay_ppo", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    for name, value in (("GAMES", 8), ("STEPS", 8), ("BATCH", 32)):
        monkeypatch.setattr(example, name, value)
    monkeypatch.setattr(example, "points_a_deal", lambda *given, **named: 0.0)
    monkeypatch.setattr(sys, "argv", ["selfplay_ppo.py", "--updates", "10"])
    example.main()
    assert "640 decisions" in capsys.readouterr().out
