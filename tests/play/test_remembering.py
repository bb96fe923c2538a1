"""A person's game against an agent that remembers, or a program: it is one game to them."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ginrummy_agents.external import ExternalPolicy
from ginrummy_env.core.chance import Purpose
from ginrummy_env.core.rules import EAAI
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_training.play.saved_game import AGENT, YOU, ForfeitError, SavedGame
from ginrummy_training.play.web.game import WebError, WebGame

BOT = Path(__file__).parents[1] / "helpers" / "arena_bot.py"
SHORT = replace(EAAI, target=40)


class Diary:
    """Plays as `simple` and writes down what it is told."""

    def __init__(self):
        self.base = make_policy("simple")
        self.asked, self.deals, self.games = [], [], []

    def act(self, view, rng):
        raise AssertionError("it has a memory: ask act_at")

    def act_at(self, seats, view, rng):
        self.asked.append(int(seats[0]))
        return self.base.act(view, rng)

    def deals_over(self, seats, view):
        assert view.player[0] == AGENT
        self.deals.append((int(seats[0]), int(view.deal_number[0])))

    def games_over(self, seats, view):
        self.games.append(int(seats[0]))

    def forfeit_reason(self, seat):
        return ""


def exec_bot(behaviour="none", after=0):
    return f"exec:{sys.executable} -I {BOT} {behaviour!r} {after}"


def person(game):
    """Do what `simple` would do."""
    view = make_view(game.state, game.rules, YOU)
    game.step(int(make_policy("simple").act(view, game.rng)[0]))


def played(game, policy, deals=None):
    """Play on to the end of the game, or of so many deals."""
    while not game.finished:
        game.answer(policy)
        if not game.state.over[0]:
            person(game)
        elif not game.finished:
            if deals is not None and len(game.ends) + 1 >= deals:
                return
            game.next_deal()
    game.answer(policy)


def started(agent, path=None):
    return SavedGame.start(path, agent, SHORT, Purpose.TERMINAL_GAME, seed=3)


def test_an_agent_hears_of_all_deals_and_the_end_once():
    diary, game = Diary(), started("simple")
    played(game, diary)
    (seat,) = set(diary.asked)
    assert diary.deals == [(seat, number) for number in range(len(game.ends) + 1)]
    assert diary.games == [seat]
    game.leave(diary)
    assert diary.games == [seat]


def test_a_resumed_game_is_a_new_one_to_the_agent(tmp_path):
    first, second = Diary(), Diary()
    game = started("simple", tmp_path / "game.txt")
    played(game, first, deals=1)
    game.leave(first)
    assert first.games == [first.asked[0]]
    again = SavedGame.resume(tmp_path / "game.txt", Purpose.TERMINAL_GAME)
    again.next_deal()
    played(again, second)
    assert len(set(second.asked)) == 1
    assert second.asked[0] != first.asked[0]
    assert [deal for _, deal in second.deals] == list(range(1, len(again.ends) + 1))


def test_a_program_plays_a_whole_game_with_a_person():
    with ExternalPolicy.parse(exec_bot()[5:]) as policy:
        game = started("exec:bot")
        played(game, policy)
        assert game.finished
        assert policy._games == 1
        assert not policy._session.games


def test_a_fault_is_an_error_after_which_the_game_can_go_on():
    with ExternalPolicy.parse(exec_bot("illegal", 3)[5:]) as policy:
        game = started("exec:bot")
        with pytest.raises(ForfeitError, match=r"exec:bot: answered .* not legal"):
            played(game, policy)
        played(game, policy)
        assert policy._games == 2


def test_a_browser_game_with_a_program_is_one_game_to_it(tmp_path):
    agent = exec_bot("illegal", 8)
    game = WebGame(tmp_path, agent, SHORT, seed=3)
    policy = game._policy(agent)
    rng, reason = np.random.default_rng(0), ""
    scene = game.scene()
    while not reason:
        try:
            if scene["status"] == "your move":
                action = rng.choice([each["action"] for each in scene["choices"]])
                scene = game.act(scene["game"], scene["version"], int(action))
            else:
                scene = game.go_on(scene["game"], scene["version"])
        except WebError as error:
            reason = str(error)
    assert "is not legal; legal:" in reason
    assert policy._games <= 2  # the game, and before it perhaps a trial of one move
    scene = game.scene()
    assert game.go_on(scene["game"], scene["version"])["status"] != "agent's move"
    scene = game.new_game(game.scene()["game"], game.scene()["version"], "simple", "eaai")
    assert not policy._session.games
    policy.close()
