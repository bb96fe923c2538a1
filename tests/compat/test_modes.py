"""What the old game got wrong in its rules: as it was with ``faithful``, mended without.

The hands are those of the list of faults in docs/MIGRATION.md. In both modes a deck is given: in
the old game eleven cards go to the non-dealer and ten to the dealer, in ours ten each in turn and
the upcard after them.
"""

import numpy as np
import pytest

from ginrummy_env.compat import gin_rummy_v4
from ginrummy_env.compat.actions import (
    DECLARE_DEAD,
    DISCARD,
    DRAW_CARD,
    GIN,
    KNOCK,
    PICK_UP_DISCARD,
    SCORE_0,
    SCORE_1,
    format_old_action,
)
from ginrummy_env.core.cards import parse_card, parse_cards

KNOCKER = "5s 6s 7s 9c Tc Jc Ks Kc Kd Jd"
FOUR_SETS = "2c 2d 2h 4c 4d 4h Ac Ad Ah As"


def deal(mine, theirs, eleventh, faithful):
    """Player 0, the non-dealer, holds eleven cards, the last one taken if there is an upcard."""
    ten, others, last = parse_cards(mine), parse_cards(theirs), parse_card(eleventh)
    used = {*ten, *others, last}
    stock = [card for card in range(52) if card not in used]
    turns = [card for pair in zip(ten, others, strict=True) for card in pair]
    deck = [*ten, last, *others, *stock] if faithful else [*turns, last, *stock]
    env = gin_rummy_v4.raw_env(faithful=faithful)
    env.reset(options={"deck": deck, "dealer": 1})
    if not faithful:
        env.step(PICK_UP_DISCARD)
    return env


def legal(env):
    return np.flatnonzero(env.last()[0]["action_mask"]).tolist()


def words(env):
    return [format_old_action(action) for action in legal(env)]


def pay(env, *actions):
    for action in actions:
        env.step(action)
    while not all(env.terminations.values()):
        assert legal(env) in ([SCORE_0], [SCORE_1])
        env.step(legal(env)[0])
    return list(env.rewards.values())


@pytest.mark.parametrize(
    ("faithful", "paid"),
    [
        pytest.param(True, [0.5, 0.0], id="the knocker is paid all the same"),
        pytest.param(False, [-0.02, 0.5], id="the defender has won, the knocker's 2 points count"),
    ],
)
def test_undercut(faithful, paid):
    env = deal(KNOCKER, FOUR_SETS, "2s", faithful)
    assert pay(env, KNOCK + parse_card("Jd")) == paid


@pytest.mark.parametrize(
    ("faithful", "left"),
    [
        pytest.param(True, 69, id="none"),
        pytest.param(False, 51, id="Kh goes on the kings, 8c on the run"),
    ],
)
def test_layoffs(faithful, left):
    env = deal(KNOCKER, "8h 8c Qd 4h 4c 6d 7d 9h Kh 3c", "2s", faithful)
    assert pay(env, KNOCK + parse_card("Jd")) == [0.5, -left / 100]


def test_faithful_gin_is_compulsory_and_by_default_a_choice():
    mine = "5s 6s 7s 9c Tc Jc Ks Kc Kd Kh"
    env = deal(mine, "2c 2d 2h 4c 4d 4h Ac Ad Ah Qd", "Qs", faithful=True)
    assert words(env) == ["gin"]
    assert pay(env, GIN) == [1.0, -0.1]
    env = deal(mine, "2c 2d 2h 4c 4d 4h Ac Ad Ah Qd", "Qs", faithful=False)
    assert "gin" not in words(env)  # the queen was just taken, so it may not go
    env = deal("5s 6s 7s 9c Tc Jc Ks Kc Kd Qs", "2c 2d 2h 4c 4d 4h Ac Ad Ah Qd", "Kh", False)
    assert {"gin", "knock Qs", "discard Qs", "discard Ks"} <= set(words(env))
    assert pay(env, GIN) == [1.0, -0.1]


@pytest.mark.parametrize("faithful", [True, False])
def test_only_the_old_game_lets_one_knock_with_the_taken_card(faithful):
    env = deal("2c 2d 2h 4c 4d 4h Ac Ad 3h Qd", KNOCKER, "Qs", faithful)
    if not faithful:
        # By our rules player 0 has taken the queen: he may not throw it in any way.
        assert not {"discard Qs", "knock Qs"} & set(words(env))
        return
    env.step(DISCARD + parse_card("Qs"))
    env.step(PICK_UP_DISCARD)
    assert "discard Qs" not in words(env)
    assert "knock Qs" in words(env)


def test_the_opening():
    """Faithful: eleven cards and no upcard. Else the first upcard, which both may leave."""
    env = deal(KNOCKER, FOUR_SETS, "2s", faithful=True)
    assert env.last()[0]["observation"].sum(axis=1).tolist() == [11, 0, 0, 0]
    env = gin_rummy_v4.raw_env()
    env.reset(seed=1)
    first = env.agent_selection
    for moves, agent in enumerate((first, *(a for a in env.agents if a != first), first)):
        assert env.agent_selection == agent
        assert env.last()[0]["observation"].sum(axis=1).tolist() == [10, 1, 0, 0]
        assert legal(env) == ([DRAW_CARD, PICK_UP_DISCARD] if moves < 2 else [DRAW_CARD])
        env.step(DRAW_CARD)
    assert env.agent_selection == first
    assert env.last()[0]["observation"][0].sum() == 11


@pytest.mark.parametrize("faithful", [True, False])
def test_the_end_of_the_stock(faithful):
    """Two cards are left: take the upcard, or declare the hand dead, which costs both."""
    env = gin_rummy_v4.raw_env(faithful=faithful)
    env.reset(seed=2)
    rng = np.random.default_rng(0)
    while DECLARE_DEAD not in legal(env):
        choices = [action for action in legal(env) if action < KNOCK and action != PICK_UP_DISCARD]
        env.step(int(rng.choice(choices)))
    assert legal(env) == [PICK_UP_DISCARD, DECLARE_DEAD]
    env.step(DECLARE_DEAD)
    if faithful:
        assert not any(env.rewards.values())
        assert (env.agent_selection, legal(env)) == ("player_0", [SCORE_0])
        env.step(SCORE_0)
        assert (env.agent_selection, legal(env)) == ("player_1", [SCORE_1])
        env.step(SCORE_1)
    assert all(env.terminations.values())
    assert all(reward < 0 for reward in env.rewards.values())


def test_by_default_infos_have_the_result_as_in_our_own_environments():
    env = deal(KNOCKER, FOUR_SETS, "2s", faithful=False)
    env.step(KNOCK + parse_card("Jd"))
    told = env.infos["player_0"]["deals"][0]
    assert (told["outcome"], told["winner"], told["points"]) == ("undercut", 1, 2)
