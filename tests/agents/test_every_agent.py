"""What holds for every agent: legal, blind to what is hidden, and the same game in any batch."""

import random
from functools import cache

import numpy as np
import oracle
import pytest
from positions import VARIANTS, permute_hidden, positions, rich_decks

from ginrummy_agents.registry import AGENTS
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.rules import PRESETS, Rules
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy

RULE_AGENTS = [
    "random",
    "gold",
    "simple",
    "simple:0",
    "heuristic",
    "hein",
    "myopic",
    "lookahead",
    "lookahead:7",
    "champion",
]
"""All but those that search or have learned, which have test files of their own."""

seen_positions = cache(positions)
"""The same positions for every agent, which may not change them."""

every_agent = pytest.mark.parametrize("name", RULE_AGENTS)


def rules_at_random(rng) -> Rules:
    """Settings that no preset has together."""

    def one_of(*values):
        return values[rng.integers(len(values))]

    return Rules(
        knock_limit=int(rng.integers(0, 30)),
        oklahoma=bool(rng.integers(2)),
        oklahoma_ace=int(rng.integers(2)),
        gin_bonus=int(rng.integers(0, 60)),
        undercut_bonus=int(rng.integers(0, 60)),
        equal_deadwood=one_of("undercut", "knocker", "nobody"),
        layoff_on_gin=bool(rng.integers(2)),
        gin_answered_by_gin=one_of("gin_wins", "undercut", "nobody"),
        big_gin=bool(rng.integers(2)),
        next_dealer=one_of("winner", "loser", "alternate"),
        target=int(rng.integers(1, 400)),
        void_stock=int(rng.integers(0, 31)),
        at_void_stock=one_of("end", "knock_with_discard", "take_discard"),
        turn_bound=int(rng.integers(1, 120)),
        discard_taken_upcard=bool(rng.integers(2)),
    )


@cache
def positions_under_any_rules():
    """Settings, and the positions of deals that are rich in melds under them."""
    rng = np.random.default_rng(4)
    found = []
    for seed in range(12):
        rules, decks = rules_at_random(rng), rich_decks(rng, 12)
        found.append((rules, positions(rules, games=12, seed=seed, decks=decks, knocks=0.2)))
    choose = random.Random(5)
    for seed in range(30):
        rules = Rules(**oracle.random_small_rules(choose))
        found.append((rules, positions(rules, games=6, seed=seed, knocks=0.2)))
    return found


@cache
def with_hidden_cards_exchanged(rules):
    """Positions, and the same three times with the cards exchanged that the mover cannot see."""
    state = positions(rules, games=15, seed=8, knocks=0.2)
    rng = np.random.default_rng(7)
    others = [permute_hidden(state, state.player, rng) for _ in range(3)]
    assert all((other.hands != state.hands).any() for other in others)
    return state, others


def require_legal(policy, state, rules, rng):
    """Ask the policy; say that its actions are legal, and -1 exactly where there are none."""
    view = make_view(state, rules)
    actions = policy.act(view, rng)
    assert actions.dtype == np.int16
    assert actions.shape == (len(state),)
    masks = view.action_masks()
    some = masks.any(axis=1)
    assert (actions[~some] == -1).all()
    assert masks[some, actions[some]].all()
    return actions


@every_agent
@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_legal_under_every_preset(name, rules):
    """Its own games with itself, and the positions that random play comes to."""
    policy, rng = make_policy(name), np.random.default_rng(1)
    require_legal(policy, seen_positions(rules, games=12, seed=2), rules, rng)
    state = new_games(3, 80, rules)
    for _ in range(45):
        step(state, require_legal(policy, state, rules, rng), rules)
        next_deals(state, rules)


@every_agent
def test_legal_under_any_rules(name):
    policy, rng = make_policy(name), np.random.default_rng(4)
    for rules, state in positions_under_any_rules():
        require_legal(policy, state, rules, rng)


@every_agent
def test_of_no_views_no_actions(name):
    rules = PRESETS["classic"]
    view = make_view(new_games(0, 3, rules), rules).select(np.zeros(0, dtype=int))
    assert make_policy(name).act(view, np.random.default_rng(0)).shape == (0,)


@every_agent
def test_not_to_move(name):
    """The player who waits is asked for nothing."""
    rules = PRESETS["classic"]
    state = seen_positions(rules, games=5, seed=6)
    view = make_view(state, rules, 1 - state.player)
    assert (make_policy(name).act(view, np.random.default_rng(0)) == -1).all()


@every_agent
@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_hidden_cards_change_nothing(name, rules):
    """Stock and unknown cards exchanged, the action is the same."""
    policy = make_policy(name)
    state, others = with_hidden_cards_exchanged(rules)
    row_keys = keys(9, np.arange(len(state)))
    actions = policy.act(make_view(state, rules), RowRandom(row_keys))
    for other in others:
        again = policy.act(make_view(other, rules), RowRandom(row_keys))
        assert (again == actions).all()


@every_agent
def test_a_row_alone_and_in_any_order(name):
    """What it does depends on its own view and its own random numbers."""
    policy, rules = make_policy(name), PRESETS["classic"]
    state = seen_positions(rules, games=15, seed=10, knocks=0.2)
    row_keys = keys(11, np.arange(len(state)))
    actions = policy.act(make_view(state, rules), RowRandom(row_keys))
    order = np.random.default_rng(12).permutation(len(state))
    shuffled = policy.act(make_view(state.select(order), rules), RowRandom(row_keys[order]))
    assert (shuffled == actions[order]).all()
    for row in order[:40]:
        alone = policy.act(make_view(state.select([row]), rules), RowRandom(row_keys[[row]]))
        assert alone[0] == actions[row]


@every_agent
def test_it_has_no_memory(name):
    """The same object and a new one, before and after other games, act alike."""
    rules = PRESETS["eaai"]
    state = seen_positions(rules, games=10, seed=13, knocks=0.2)
    policy = make_policy(name)
    first = policy.act(make_view(state, rules), np.random.default_rng(0))
    policy.act(make_view(new_games(1, 50, rules), rules), np.random.default_rng(1))
    assert (policy.act(make_view(state, rules), np.random.default_rng(0)) == first).all()
    fresh = make_policy(name).act(make_view(state, rules), np.random.default_rng(0))
    assert (fresh == first).all()


@every_agent
def test_the_view_is_left_as_it_is(name):
    rules = PRESETS["classic"]
    state = seen_positions(rules, games=10, seed=14)
    view = make_view(state, rules)
    before = view.select(np.arange(len(view)))
    make_policy(name).act(view, np.random.default_rng(0))
    for field in ("hand", "known", "taken", "discard_pile", "scores", "history", "knock_limit"):
        assert (getattr(view, field) == getattr(before, field)).all()


def test_one_uniform_number_a_row_is_asked_for():
    """So a game in a match is the same whatever else an agent is asked in between."""

    class Asked:
        def random(self, size):
            sizes.append(size)
            return np.zeros(size)

    state = positions(PRESETS["classic"], games=3, seed=15)
    for name in RULE_AGENTS:
        sizes = []
        make_policy(name).act(make_view(state, PRESETS["classic"]), Asked())
        assert sizes == [(len(state),)]


def test_every_rule_agent_is_listed_here():
    names = {name.partition(":")[0] for name in RULE_AGENTS}
    assert names == set(AGENTS) - {"search", "ppo", "scratch"}
