"""Opponents that remember: what environments tell them of their games."""

import copy
import gc
import os
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from ginrummy_agents.external import ExternalPolicy
from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.state import NOBODY, Outcome
from ginrummy_env.core.view import View
from ginrummy_env.envs.gym_env import GinRummyEnv
from ginrummy_env.envs.opponents import MAX_FORFEITS, OpponentError, OpponentPool
from ginrummy_env.envs.vector_env import GinRummyVectorEnv
from ginrummy_env.policy import Forfeit, SeatPolicy, make_policy

BOT = Path(__file__).parents[1] / "helpers" / "arena_bot.py"


class Diary:
    """Plays as `simple`, and writes down what it is told."""

    name = "diary"

    def __init__(self, forfeits=()):
        self.base = make_policy("simple")
        self.forfeits = set(forfeits)
        self.asked, self.deals, self.games = [], [], []
        self.decisions = 0

    def act(self, view, rng):
        raise AssertionError("it has a memory: ask act_at")

    def act_at(self, seats, view, rng):
        self.asked += zip(seats.tolist(), view.deal_number.tolist(), strict=True)
        actions = self.base.act(view, rng)
        for row in range(len(view)):
            self.decisions += 1
            if self.decisions in self.forfeits or "always" in self.forfeits:
                actions[row] = Forfeit.ILLEGAL
        return actions

    def deals_over(self, seats, view):
        assert (view.outcome > 0).all()
        assert not view.to_move.any()
        self.deals += zip(
            seats.tolist(), view.deal_number.tolist(), view.scores.tolist(), strict=True
        )

    def games_over(self, seats, view):
        self.games += zip(seats.tolist(), view.scores.tolist(), strict=True)

    def forfeit_reason(self, seat):
        return f"out of luck at seat {seat}"

    @property
    def seats(self):
        return list(dict.fromkeys(seat for seat, _ in self.asked))


def legal(mask, rng):
    return random_actions(np.atleast_2d(mask).astype(bool), rng.random(len(np.atleast_2d(mask))))


def play(env, steps, seed=3):
    """Play random legal actions in a vector environment; return what ended."""
    rng = np.random.default_rng(seed)
    _, infos = env.reset(seed=seed)
    ended = []
    for _ in range(steps):
        _, _, terminated, truncated, infos = env.step(legal(env.action_masks(), rng))
        ended.append((terminated, truncated, infos))
    return ended


def test_a_game_has_one_seat_from_its_start_to_its_end():
    diary = Diary()
    assert isinstance(diary, SeatPolicy)
    env = GinRummyVectorEnv(3, diary, rules={"target": 40})
    ended = sum(int((terminated | truncated).sum()) for terminated, truncated, _ in play(env, 400))
    assert ended > 3
    assert len(diary.games) == ended
    assert len({seat for seat, _ in diary.games}) == ended
    for seat, scores in diary.games:
        deals = [deal for at, deal, _ in diary.deals if at == seat]
        assert deals == list(range(len(deals)))
        assert max(scores) >= 40
        assert [score for at, _, score in diary.deals if at == seat][-1] == scores


@pytest.mark.parametrize(
    ("episode", "reward", "one_deal"), [("deal", "points", True), ("deal_of_game", "points", False)]
)
def test_episodes_of_deals_are_games_or_parts_of_one(episode, reward, one_deal):
    diary = Diary()
    env = GinRummyVectorEnv(2, diary, episode=episode, reward=reward, rules={"target": 60})
    play(env, 200)
    assert diary.games
    per_game = [sum(at == seat for at, _, _ in diary.deals) for seat, _ in diary.games]
    assert (max(per_game) == 1) == one_deal


def test_a_reset_in_mid_game_gives_the_game_up():
    diary = Diary()
    env = GinRummyEnv(diary)
    rng = np.random.default_rng(1)
    for _ in range(3):
        _, info = env.reset(seed=5)
        for _ in range(4):
            _, _, _, _, info = env.step(legal(info["action_mask"], rng)[0])
    assert len(diary.seats) == 3
    assert [seat for seat, _ in diary.games] == diary.seats[:2]
    env.close()
    assert [seat for seat, _ in diary.games] == diary.seats


def test_another_opponent_begins_a_game_of_its_own():
    first, second = Diary(), Diary()
    env = GinRummyVectorEnv(2, first)
    play(env, 5)
    env.set_opponent(second)
    assert sorted(seat for seat, _ in first.games) == sorted(first.seats)
    env.step(legal(env.action_masks(), np.random.default_rng(0)))
    with pytest.raises(ValueError, match="unknown policy"):
        env.set_opponent("nobody")
    assert not second.games
    assert not set(first.seats) & set(second.seats)


def test_policies_of_a_pool_hear_of_their_own_games_only():
    diaries = [Diary(), Diary()]
    env = GinRummyVectorEnv(4, OpponentPool([*diaries, "simple"]), rules={"target": 20})
    play(env, 150)
    for diary in diaries:
        assert diary.games
        assert {seat for seat, _ in diary.games} <= {seat for seat, _, _ in diary.deals}
    assert not set(diaries[0].seats) & set(diaries[1].seats)


def test_a_step_that_breaks_off_leaves_the_games_at_the_next_reset():
    diary = Diary()
    env = GinRummyVectorEnv(2, [diary, lambda view, rng: 1 // 0], assignment=[0, 1])
    with pytest.raises(OpponentError):
        play(env, 50)
    env.set_opponent(diary)
    env.reset(seed=1)
    assert [seat for seat, _ in diary.games] == diary.seats[: len(diary.games)]


def test_a_forfeit_cuts_the_episode_off_and_pays_nothing():
    diary = Diary(forfeits=[20])
    env = GinRummyVectorEnv(2, diary, autoreset_mode="SameStep")
    rng = np.random.default_rng(2)
    env.reset(seed=2)
    for _ in range(60):
        _, rewards, terminated, truncated, infos = env.step(legal(env.action_masks(), rng))
        if truncated.any():
            break
    row = int(np.flatnonzero(truncated)[0])
    assert not terminated[row]
    assert rewards[row] == 0
    assert infos["final_info"]["forfeit"][row].startswith("out of luck at seat")
    assert len(diary.games) == 1
    for _ in range(30):  # the next game goes on as ever
        env.step(legal(env.action_masks(), rng))


def test_a_single_environment_says_why_the_opponent_forfeited():
    env = GinRummyEnv(Diary(forfeits=[3]))
    rng = np.random.default_rng(2)
    _, info = env.reset(seed=2)
    truncated = False
    while not truncated:
        _, reward, terminated, truncated, info = env.step(legal(info["action_mask"], rng)[0])
    assert not terminated
    assert reward == 0
    assert "out of luck" in info["forfeit"]


def test_an_opponent_that_always_forfeits_is_an_error():
    env = GinRummyVectorEnv(1, Diary(forfeits=["always"]))
    with pytest.raises(OpponentError, match=f"forfeited {MAX_FORFEITS} games"):
        play(env, 20)
    env.set_opponent("simple")
    play(env, 3)


def test_a_copy_of_an_environment_has_tells_its_own_policy():
    env = GinRummyEnv(Diary())
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    twin = copy.deepcopy(env)
    for _ in range(6):
        action = legal(info["action_mask"], rng)[0]
        info = env.step(action)[-1]
        assert (twin.step(action)[-1]["action_mask"] == info["action_mask"]).all()
    assert len(twin.opponent.asked) == len(env.opponent.asked)
    assert len(twin.opponent.seats) == 1


def exec_bot(behaviour="none", after=0):
    return f"exec:{sys.executable} -I {BOT} {behaviour!r} {after}"


def ended(pid):
    for _ in range(200):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("how", ["close", "garbage", "another opponent", "make_vec"])
def test_the_program_of_an_environment_ends_with_it(how, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_PIDS", str(tmp_path / "pids"))
    agent = exec_bot("leaves a child")
    if how == "make_vec":
        env = gymnasium.make_vec("ginrummy_env/GinRummy-v0", num_envs=2, opponent=agent)
    else:
        env = GinRummyEnv(agent, seat=1)
    env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")() if how == "close" else env.action_masks()
    env.step(legal(masks, np.random.default_rng(0)) if how == "make_vec" else int(masks.argmax()))
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(os.path.exists(f"/proc/{pid}") for pid in pids)
    if how == "another opponent":
        env.set_opponent("simple")
    elif how == "garbage":
        del env
        gc.collect()
    else:
        env.close()
    assert all(map(ended, pids))


def test_a_program_in_an_environment_plays_whole_games():
    env = GinRummyVectorEnv(2, exec_bot(), rules={"target": 30})
    finished = sum(int(terminated.sum()) for terminated, _, _ in play(env, 150))
    program = env.games.others.policies[0]
    assert isinstance(program, ExternalPolicy)
    assert finished > 1
    assert program._games <= finished + 4  # a game is one game to it, not one a move
    env.close()


def test_a_fault_of_a_program_ends_the_episode_with_the_reason():
    env = GinRummyVectorEnv(1, exec_bot("illegal", 5), rules={"target": 30})
    reasons = [infos["forfeit"][0] for _, truncated, infos in play(env, 60) if truncated.any()]
    assert len(reasons) == 1
    assert "is not legal; legal:" in reasons[0]
    env.close()


def test_an_opponent_that_fails_as_a_game_ends_can_be_reset():
    class Fails(Diary):
        def games_over(self, seats, view):
            super().games_over(seats, view)
            if len(self.games) == 1:
                raise RuntimeError("cannot take it")

    env = GinRummyEnv(Fails(), seat=0)
    env.reset(seed=1)
    while not env.opponent.asked:
        env.step(int(env.action_masks().argmax()))
    with pytest.raises(OpponentError, match="cannot take it"):
        env.reset(seed=2)
    env.reset(seed=3)
    env.step(int(env.action_masks().argmax()))


def test_an_opponent_sees_its_own_side_alone():
    """Also at the end of deals and games."""

    class Looks(Diary):
        def act_at(self, seats, view, rng):
            self.check(view)
            return super().act_at(seats, view, rng)

        def deals_over(self, seats, view):
            self.check(view)
            unseen = (view.outcome == Outcome.VOID) | (view.knocker == NOBODY)
            assert not view.opponent_hand[unseen].any()
            super().deals_over(seats, view)

        def games_over(self, seats, view):
            self.check(view)
            super().games_over(seats, view)

        def check(self, view):
            assert isinstance(view, View)
            assert (view.player == 1).all()

    env = GinRummyVectorEnv(3, Looks(), seat=0, rules={"target": 30})
    assert sum(int(ended.sum()) for ended, _, _ in play(env, 150)) > 0
