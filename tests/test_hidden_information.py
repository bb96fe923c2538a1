"""One door for hidden information: what an agent is handed tells no card that it has not seen.

Handed to an agent are observations, masks, infos, views, the random numbers of its policy and what
``render()`` shows. Each position is compared with one that looks the same to the agent: the cards
that it has not seen lie otherwise, and the following deals come from another seed.
"""

import copy
import itertools
import pickle

import numpy as np
import pytest
from positions import permute_hidden, view_bytes
from tables import eager

import ginrummy_env
from ginrummy_env import GinRummyEnv, GinRummySelfPlayEnv, GinRummyVectorEnv
from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.cards import NO_CARD
from ginrummy_env.core.rules import CLASSIC, EAAI, OPENSPIEL, Rules
from ginrummy_env.core.state import FIELD_NAMES, Phase
from ginrummy_env.core.view import make_view

SEED = 0xC0FFEE1234567
"""A seed whose digits and bytes are in nothing by chance."""
ROWS = 256

RULES = {
    "classic": CLASSIC,
    "eaai": EAAI,
    "openspiel": OPENSPIEL,
    "void soon": Rules(turn_bound=7),
    "the wall": Rules(at_void_stock="knock_with_discard", void_stock=24, big_gin=True),
}
under_all_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


def lay_otherwise(state, players, rng):
    """Deal the cards that these players have not seen otherwise, and reseed what follows."""
    other = permute_hidden(state, players, rng)
    for name in FIELD_NAMES:
        setattr(state, name, getattr(other, name))
    state.seed ^= np.uint64(0x5EED5EED)
    state.game_number += np.uint64(77)


def contents(handed):
    """What is handed, as something to compare; results of deals are looked at."""
    if isinstance(handed, np.ndarray) and handed.dtype != object:
        return handed.dtype.str, handed.shape, handed.tobytes()
    if isinstance(handed, list | tuple | np.ndarray):
        return [contents(each) for each in handed]
    if hasattr(handed, "keys"):
        return {name: contents(handed[name]) for name in handed}
    return handed


def random_legal(masks, rng):
    return random_actions(masks, rng.random(len(masks)))


def handed_to_learners(env):
    """All that the learners of a batch are handed in their position."""
    env.games._masks = None
    if isinstance(env, GinRummyVectorEnv):
        infos = env._infos({})
        pictures = [
            env._screen.show(env.games.state, env.rules, row, int(env.games.seats[row]))
            for row in (0, 1)
        ]
    else:
        for row in range(ROWS):
            env._note_reset(row)
        infos, pictures = env.reset_infos, env.env_method("render", indices=[0, 1])
    seen = env.games.observations(), env.action_masks(), infos, pictures
    return contents(seen), view_bytes(env.games.views())


def batches(rules, count):
    options = {"rules": rules, "render_mode": "ansi"}
    yield GinRummyVectorEnv(ROWS, "simple", autoreset_mode="SameStep", **options)
    if count > 1:
        yield ginrummy_env.GinRummyVecEnv(ROWS, "simple", **options)


BATCHES = [(name, 0) for name in RULES] + [("void soon", 1)]


@pytest.mark.parametrize(("rules", "kind"), BATCHES)
def test_learners_of_a_batch_are_handed_nothing_hidden(rules, kind):
    """Full games, at more than 10,000 positions, of Gymnasium (0) and Stable-Baselines3 (1)."""
    if kind:
        pytest.importorskip("stable_baselines3")
    env = list(batches(RULES[rules], kind + 1))[kind]
    if kind:
        env.seed(SEED)
        env.reset()
    else:
        env.reset(seed=SEED)
    rng = np.random.default_rng(0)
    for number in range(48):
        env.step(random_legal(env.action_masks(), rng))
        if number % 6 == 5:
            twin = copy.deepcopy(env)
            state = twin.games.state
            lay_otherwise(state, twin.games.seats, rng)
            twin.games.episodes.seeds ^= np.uint64(1)
            assert (state.deck != env.games.state.deck).any(axis=1).mean() > 0.9
            assert handed_to_learners(twin) == handed_to_learners(env)


@under_all_rules
def test_players_of_both_seats_are_handed_nothing_hidden(rules):
    """The player to move; and how a deal ended, if cards that were not shown lay otherwise."""
    env, twin, reseeded = (GinRummySelfPlayEnv(ROWS, rules=rules) for _ in range(3))
    for each in (env, twin, reseeded):
        each.reset(seed=SEED)
    rng = np.random.default_rng(0)
    outcomes = set()
    for number in range(40):
        actions = random_legal(make_view(env.state, rules).action_masks(), rng)
        for each in (twin, reseeded):
            each._games.state = env.state.copy()
        lay_otherwise(twin.state, env.seats, rng)
        reseeded.state.seed ^= np.uint64(1)
        if number % 8 == 7:
            assert contents(twin._observe({})) == contents(env._observe({}))
            assert view_bytes(twin.views()) == view_bytes(env.views())
        *_, infos = env.step(actions)
        ended = [row for row, deals in enumerate(infos["deals"]) if deals]
        if not ended:
            continue
        *_, same = reseeded.step(actions)
        *_, otherwise = twin.step(actions)
        for row in ended:
            deals = contents(infos["deals"][row])
            outcomes.add(deals[0]["outcome"])
            assert contents(same["deals"][row]) == deals
            if deals[0]["outcome"] == "void":
                assert contents(otherwise["deals"][row]) == deals
                assert not any(deals[0]["hands"])
    assert "void" in outcomes or rules.turn_bound != 7


@pytest.mark.parametrize("rules", [CLASSIC, RULES["void soon"]], ids=["classic", "void soon"])
def test_agents_of_single_environments_are_handed_nothing_hidden(rules):
    """PettingZoo's two interfaces, and Gymnasium's."""
    rng = np.random.default_rng(0)
    options = {"rules": rules, "render_mode": "ansi"}
    aec, parallel = ginrummy_env.raw_env(**options), ginrummy_env.parallel_env(**options)
    single = GinRummyEnv("simple", **options)
    aec.reset(seed=SEED)
    parallel.reset(seed=SEED)
    _, info = single.reset(seed=SEED)
    for number in range(150):
        agent = aec.agent_selection
        if number % 5 == 4:
            twin, other = copy.deepcopy(aec), copy.deepcopy(single)
            lay_otherwise(twin._games.state, [int(agent[-1])], rng)
            twin._moved()
            for env in (aec, parallel.unwrapped):
                for handed in ("observe", "view"):
                    pair = [getattr(each, handed)(agent) for each in (env, twin)]
                    one, two = map(view_bytes if handed == "view" else contents, pair)
                    assert one == two
                assert env.render() == twin.render()
                assert contents(env.infos[agent]["deals"]) == contents(twin.infos[agent]["deals"])
            lay_otherwise(other.games.state, other.games.seats, rng)
            other.games._masks = None
            one, two = (
                contents([each.games.observations(), each._info(), each.render()])
                for each in (single, other)
            )
            assert one == two
        action = eager(aec.observe(agent)["action_mask"], number)
        aec.step(action)
        parallel.step(dict.fromkeys(parallel.agents, action))
        if any(aec.terminations.values()):
            aec.reset()
            parallel.reset()
        *_, terminated, _, info = single.step(eager(info["action_mask"], number))
        if terminated:
            _, info = single.reset()


class Notes:
    """Any legal action; keeps the views and random numbers that it is handed."""

    def act(self, view, rng):
        drawn = rng.random((len(view), 2))
        self.handed = view_bytes(view), drawn.tobytes()
        return random_actions(view.action_masks(), drawn[:, 0])


def test_policies_are_handed_nothing_hidden():
    """An opponent's view and random numbers, as its own opponent's cards and the stock lie."""
    env = GinRummyVectorEnv(ROWS, Notes(), seat=0)
    env.reset(seed=SEED)
    rng = np.random.default_rng(0)
    for _ in range(40):
        if not env._over.any():
            handed = []
            for otherwise in (False, True):
                games = copy.deepcopy(env).games
                state = games.state
                state.player[:] = 1  # the opponent, as if it were its move to draw
                state.phase[:] = Phase.DRAW
                state.drawn_card[:] = state.taken_card[:] = NO_CARD
                if otherwise:
                    state.hands[:], state.deck[:] = _permuted(state, rng)
                games._opponent_actions(state, np.arange(ROWS))
                handed.append(games.others.policies[0].handed)
            assert handed[0] == handed[1]
        masks = env.action_masks()
        masks[env._over, 0] = True
        env.step(random_legal(masks, rng))


def _permuted(state, rng):
    other = permute_hidden(state, np.ones(len(state), dtype=int), rng)
    return other.hands, other.deck


def test_nothing_handed_out_names_the_seed():
    """Neither in words nor in bytes, deals that have ended included."""
    seeds = SEED.to_bytes(7, "little"), str(SEED).encode(), hex(SEED).encode()

    def check(*handed):
        written = pickle.dumps(handed) + repr(handed).encode()
        assert not any(seed in written for seed in seeds)

    rules = Rules(turn_bound=9, target=20)
    vector = GinRummyVectorEnv(32, "simple", rules=rules, autoreset_mode="SameStep")
    both = GinRummySelfPlayEnv(32, rules=rules)
    check(*vector.reset(seed=SEED))
    check(*both.reset(seed=SEED))
    rng = np.random.default_rng(0)
    deals = 0
    for _ in range(30):
        check(*vector.step(random_legal(vector.action_masks(), rng)))
        *handed, infos = both.step(random_legal(make_view(both.state, rules).action_masks(), rng))
        check(*handed, infos)
        for result in itertools.chain(*infos["deals"]):
            state = result._deals.state
            assert not state.seed.any()
            assert not state.game_number.any()
            deals += 1
    assert deals > 20
    with pytest.raises(AssertionError):
        check(vector.provenance())  # the owner's: it would be found
    aec, single = ginrummy_env.env(rules=rules), GinRummyEnv(rules=rules)
    aec.reset(seed=SEED)
    check(single.reset(seed=SEED))
    for number, agent in enumerate(aec.agent_iter()):
        seen, *rest, info = aec.last()
        check(seen, *rest, info, aec.view(agent))
        aec.step(None if rest[1] or rest[2] else eager(seen["action_mask"], number))
