"""The planes of advice say what `champion` would do."""

from dataclasses import replace

import numpy as np
import pytest

from ginrummy_agents.learned.advice import ADVICE
from ginrummy_agents.learned.inputs import feature_names, feature_sizes, features
from ginrummy_env.core.actions import KNOCK, TAKE_UPCARD
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.rules import as_rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy

FIRST = len(feature_names(True, False, True)) - feature_sizes(True, False, True)[1]


def advice(view):
    planes = features(view, units=True, advice=True)[:, FIRST * NUM_CARDS :]
    return planes[:, : len(ADVICE) * NUM_CARDS].reshape(-1, len(ADVICE), NUM_CARDS)


def turns(rules, games=32, steps=40):
    state, agent, rng = (
        new_games(5, games, rules),
        make_policy("champion"),
        np.random.default_rng(5),
    )
    for _ in range(steps):
        view = make_view(state, rules)
        actions = agent.act(view, rng)
        yield view, actions
        step(state, actions, rules)
        next_deals(state, rules)


@pytest.mark.parametrize("rules", ["eaai", "classic", "oklahoma", "mini"])
def test_who_follows_it_plays_as_champion(rules):
    met = dict.fromkeys(ADVICE, 0)
    for view, actions in turns(as_rules(rules)):
        discards, knocks, takes = advice(view).transpose(1, 0, 2)
        choosing = np.flatnonzero((view.phase == Phase.DISCARD) & (actions < 2 * KNOCK))
        cards = actions[choosing] % KNOCK
        assert (discards[choosing, cards] == 1).all()
        assert (discards.max(axis=1) <= 1).all()
        knocked = actions[choosing] >= KNOCK
        assert np.array_equal(knocks[choosing].max(axis=1) > 1, knocked)
        offered = np.flatnonzero(
            ((view.phase == Phase.OPENING) | (view.phase == Phase.DRAW)) & (view.upcard >= 0)
        )
        taken = actions[offered] == TAKE_UPCARD
        assert np.array_equal(takes[offered, view.upcard[offered]] > 1, taken)
        for name, rows in zip(ADVICE, (choosing, knocked, taken), strict=True):
            met[name] += len(rows) if rows is choosing else int(rows.sum())
    assert min(met.values()) > 10


def test_only_who_is_to_move_is_advised_and_each_row_by_itself():
    for view, _ in turns(as_rules("eaai"), games=16, steps=30):
        together = advice(view)
        for row in (0, 7):
            assert advice(view.select([row])).tobytes() == together[row].tobytes()
        waiting = replace(view, to_move=np.zeros(len(view), dtype=np.bool_))
        assert not advice(waiting).any()


def test_names_and_sizes_agree():
    names, (planes, scalars) = (
        feature_names(True, False, True, True),
        feature_sizes(True, False, True, True),
    )
    assert names[FIRST : FIRST + len(ADVICE)] == tuple(ADVICE)
    assert len(names) == planes + scalars
