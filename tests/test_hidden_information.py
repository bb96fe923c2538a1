"""One door for hidden information: what an agent is handed tells no card that it has not seen.

Handed to an agent are observations, masks, infos, views, the random numbers of its policy and what
``render()`` shows; what is made of a view for it are explanations, the requests of the arena and
the record of a deal in progress. Each position is compared with one that looks the same to the
agent: the cards that it has not seen lie otherwise, and the following deals come from another seed.
"""

import copy
import itertools
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from positions import permute_hidden, view_bytes
from tables import eager

import ginrummy_env
from ginrummy_agents.explain import act_and_explain
from ginrummy_agents.external import protocol
from ginrummy_env import GinRummyEnv, GinRummySelfPlayEnv, GinRummyVectorEnv
from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.cards import NO_CARD
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.rules import CLASSIC, EAAI, OPENSPIEL, Rules
from ginrummy_env.core.state import FIELD_NAMES, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_env.records.recorder import record_of
from ginrummy_env.viewer import Replay

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
OPTIONS = {
    "plain": {},
    "all": {
        "features": "ahead",
        "history": 12,
        "mask_in": "both",
        "privileged": True,
        "episode": "deal_of_game",
        "reward": "chance",
        "shaping": 0.1,
    },
}
"""Options of environments: none, and all that change what is handed out."""
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


def without_state(infos):
    """Take out what ``privileged`` shows by intention; return it, or None."""
    if not isinstance(infos, dict):
        return [without_state(info) for info in infos]
    return infos.pop("state", None)


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
    hidden = without_state(infos)
    seen = env.games.observations(), env.action_masks(), infos, pictures
    return contents(seen), view_bytes(env.games.views()), contents(hidden)


def batch_of(library, options):
    """A batch whose first positions have been dealt."""
    if library == "gymnasium":
        env = GinRummyVectorEnv(ROWS, "simple", autoreset_mode="SameStep", **options)
        env.reset(seed=SEED)
        return env
    pytest.importorskip("stable_baselines3")
    env = ginrummy_env.GinRummyVecEnv(ROWS, "simple", **options)
    env.seed(SEED)
    env.reset()
    return env


BATCHES = [(name, "gymnasium", "plain") for name in RULES] + [
    ("void soon", "sb3", "plain"),
    ("void soon", "gymnasium", "all"),
    ("classic", "sb3", "all"),
]


@pytest.mark.parametrize(("rules", "library", "options"), BATCHES)
def test_learners_of_a_batch_are_handed_nothing_hidden(rules, library, options):
    """Full games, at more than 10,000 positions."""
    given = {"rules": RULES[rules], "render_mode": "ansi", **OPTIONS[options]}
    env = batch_of(library, given)
    rng = np.random.default_rng(0)
    for number in range(48):
        env.step(random_legal(env.action_masks(), rng))
        if number % 6 == 5:
            twin = copy.deepcopy(env)
            state = twin.games.state
            lay_otherwise(state, twin.games.seats, rng)
            twin.games.episodes.seeds ^= np.uint64(1)
            assert (state.deck != env.games.state.deck).any(axis=1).mean() > 0.9
            (*one, hidden), (*two, otherwise) = map(handed_to_learners, (env, twin))
            assert one == two
            assert (hidden != otherwise) == (options == "all")


BOTH_SEATS = [(rules, "plain") for rules in RULES] + [("classic", "all")]


@pytest.mark.parametrize(("rules", "options"), BOTH_SEATS)
def test_players_of_both_seats_are_handed_nothing_hidden(rules, options):
    """The player to move; and how a deal ended, if cards that were not shown lay otherwise."""
    rules, options = RULES[rules], OPTIONS[options]
    env, twin, reseeded = (GinRummySelfPlayEnv(ROWS, rules=rules, **options) for _ in range(3))
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
            handed = [each._observe({}) for each in (env, twin)]
            assert (len({str(without_state(infos)) for _, infos in handed}) > 1) == bool(options)
            assert contents(handed[0]) == contents(handed[1])
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


@pytest.mark.parametrize(
    ("rules", "options"), [("classic", "plain"), ("void soon", "plain"), ("classic", "all")]
)
def test_agents_of_single_environments_are_handed_nothing_hidden(rules, options):
    """PettingZoo's two interfaces, and Gymnasium's."""
    rng = np.random.default_rng(0)
    options = {"rules": RULES[rules], "render_mode": "ansi", **OPTIONS[options]}
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
                [each.games.observations(), each._info(), each.render()] for each in (single, other)
            )
            without_state([one[1], two[1]])
            assert contents(one) == contents(two)
        action = eager(aec.observe(agent)["action_mask"], number)
        aec.step(action)
        parallel.step(dict.fromkeys(parallel.agents, action))
        if any(aec.terminations.values()):
            aec.reset()
            parallel.reset()
        *_, terminated, _, info = single.step(eager(info["action_mask"], number))
        if terminated:
            _, info = single.reset()


@under_all_rules
def test_what_is_made_of_views_tells_nothing_hidden(rules):
    """Explanations, requests of the arena, records of deals in progress; in full games."""
    rng = np.random.default_rng(0)
    state = new_games(SEED, ROWS, rules)
    agents = [make_policy(name) for name in ("champion", "ppo", "search:4,margin=0")]

    def made_of(batch):
        view = make_view(batch, rules)
        rows = np.flatnonzero(view.to_move)
        some = view.select(rows)
        thoughts = []
        for agent, most in zip(agents, (ROWS, ROWS, 3), strict=True):
            part = some.select(np.arange(min(most, len(some))))
            actions, explained = act_and_explain(agent, part, RowRandom(keys(np.arange(len(part)))))
            parts = explained.values, explained.opponent
            thoughts.append((actions.tolist(), [contents(part) for part in parts]))
        few, texts = some.select(np.arange(8)), []
        for part, sections in ((some, ("words",)), (few, ("text",))):
            every = range(len(part)), [0] * len(part), part.action_masks(), sections
            texts += protocol.move_requests(part, *every)
        pages = [
            Replay(
                replace(record_of(batch, row, rules), seed=None, game_number=None),
                viewer=int(batch.player[row]),
            ).data
            for row in rows[:2]
        ]
        return thoughts, texts, json.dumps(pages)

    for number in range(48):
        if number % 6 == 5:
            other = state.copy()
            lay_otherwise(other, other.player, rng)
            assert (other.deck != state.deck).any(axis=1).mean() > 0.9
            assert made_of(other) == made_of(state)
        next_deals(state, rules)
        step(state, random_legal(make_view(state, rules).action_masks(), rng), rules)


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
                games._opponent_actions(np.arange(ROWS))
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
