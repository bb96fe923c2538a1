"""With the compiled kernels and without them everything is the same, bit for bit."""

import os
import subprocess
import sys

import numpy as np
import pytest
from positions import positions, rich_decks, rich_hands

from ginrummy_agents import compiled
from ginrummy_agents.learned.inputs import features
from ginrummy_agents.rules.champion_features import outlook
from ginrummy_agents.rules.lookahead import Lookahead
from ginrummy_agents.search.rollout import ALWAYS, NEVER, Starts, Style, roll_out
from ginrummy_env.core.cards import CARD_BIT, FULL_DECK
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, EAAI, MINI, NANO, Rules
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy

pytestmark = pytest.mark.skipif(not compiled.available(), reason="the extra `fast` is not there")

STYLES = [
    (Style(), [Style((ALWAYS,), 0, 0), Style()]),
    (Style((6, 6, 7, NEVER)), [Style((NEVER,), 9, 5), Style((ALWAYS,) * 7 + (NEVER,))]),
]
RULES = [
    EAAI,
    CLASSIC,
    Rules(layoff_on_gin=True, discard_taken_upcard=True, void_stock=6, turn_bound=25),
]
SMALL = [MINI, NANO, Rules(num_ranks=8, hand_size=5), Rules(num_ranks=9, num_suits=3, hand_size=7)]


def both_ways(ask):
    """What a call returns with kernels and without."""
    with compiled.kernels(True):
        fast = ask()
    with compiled.kernels(False):
        return fast, ask()


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("styles", STYLES)
def test_rollouts_end_the_same(rules, styles):
    """From deals at their start, half of them rich in melds, with every kind of first draw."""
    rng, count = np.random.default_rng(1), 1_500
    decks = np.concatenate(
        [new_games(3, count // 2, rules).deck, rich_decks(rng, count)[: count // 2]]
    )
    state = new_games(3, len(decks), rules, decks=decks)
    rows, upcards = np.arange(len(state)), CARD_BIT[state.first_upcard]
    starts = Starts(
        mine=state.hands[:, 0], theirs=state.hands[:, 1], upcard=upcards, pile=upcards,
        deck=state.deck, world=rows, stock=np.full(len(rows), 31),
        cut=rng.integers(0, 31, len(rows)),
        turn=rng.integers(0, 9, len(rows)), my_move=rng.random(len(rows)) < 0.5,
        first=rng.integers(0, 4, len(rows)).astype(np.int8), limit=state.knock_limit,
        doubled=rng.random(len(rows)) < 0.2, manner=rng.integers(0, 2, len(rows)).astype(np.int8),
    )  # fmt: skip
    fast, plain = both_ways(lambda: roll_out(starts, *styles, rules))
    for name in ("points", "outcome", "i_knocked"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name))


@pytest.mark.parametrize("outs", [1, 7, 30])
def test_the_draws_ahead_are_the_same(outs):
    """From hands rich in melds, with few cards left to come and with many."""
    rng = np.random.default_rng(1)
    hands = rich_hands(rng, 3_000, 10)
    few = rng.integers(0, 1 << 63, len(hands)).astype(np.uint64)
    few[::3] &= few[::-1][::3] & few[1]
    unseen, left = FULL_DECK & ~hands & few, deadwood(hands).astype(np.uint8)
    assert np.bitwise_count(unseen).min() < 7
    for ask in (
        lambda: Lookahead(outs=outs).outlook(hands, left, unseen),
        lambda: outlook(hands, left, unseen),
    ):
        fast, plain = both_ways(ask)
        np.testing.assert_array_equal(fast, plain)


@pytest.mark.parametrize("rules", [*RULES, *SMALL])
def test_the_planes_that_look_ahead_are_the_same(rules):
    """For both players, with legal views of the one who waits."""
    state = positions(rules, games=40, seed=6, knocks=0.2)
    for player in (0, 1):
        view = make_view(state, rules, player)
        fast, plain = both_ways(lambda view=view: features(view))
        assert fast.tobytes() == plain.tobytes()
        assert features(view.select([3])).tobytes() == plain[3].tobytes()


@pytest.mark.parametrize(
    "spec",
    ["lookahead", "champion", "ppo", "search:12", "search:8,margin=0,value=points,waits=true"],
)
@pytest.mark.parametrize("rules", [*RULES, *SMALL])
def test_agents_decide_the_same(spec, rules):
    view = make_view(positions(rules, games=12, seed=8, knocks=0.2), rules)
    policy, row_keys = make_policy(spec), keys(9, np.arange(len(view)))
    fast, plain = both_ways(lambda: policy.act(view, RowRandom(row_keys)))
    np.testing.assert_array_equal(fast, plain)


def test_the_variable_turns_the_kernels_off(monkeypatch):
    monkeypatch.setenv(compiled.VARIABLE, "0")
    assert not compiled.in_use()
    monkeypatch.delenv(compiled.VARIABLE)
    assert compiled.in_use()


def test_a_first_use_that_takes_long_says_so_once(monkeypatch, capsys):
    monkeypatch.setattr(compiled, "NOTICE_SECONDS", 0.0)
    monkeypatch.setattr(compiled, "_used", set())
    from threading import Event

    shown = Event()
    monkeypatch.setattr(compiled, "_notice", lambda what: (print(what), shown.set()))
    for _ in range(2):
        with compiled.first_use("a kernel"):
            assert shown.wait(10)
    assert capsys.readouterr().out == "a kernel\n"


def test_code_on_disk_is_not_used_with_other_tables(tmp_path):
    """The tables become part of the compiled code, and numba does not look at them."""
    program = """
import sys
import numpy as np
import ginrummy_env.core.cards as cards
cards.LANE_POINTS = cards.LANE_POINTS + np.uint8(int(sys.argv[1]))
from ginrummy_agents.kernels import points_of
print(points_of(np.uint64(1)), sum(points_of.stats.cache_hits.values()))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", program, more],
            env=environment, text=True, capture_output=True, check=True,
        ).stdout.split()
        for more in ("0", "0", "10")
    ]  # fmt: skip
    assert said == [["1", "0"], ["1", "1"], ["41", "0"]]
