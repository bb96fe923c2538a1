"""The options that every environment has, on every environment."""

import copy
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from tables import READY_DECK, Quiet, Random, eager, some_legal

import ginrummy_env
from ginrummy_env import (
    GinRummyEnv,
    GinRummySelfPlayEnv,
    GinRummyVectorEnv,
    OpponentPool,
    make_policy,
)
from ginrummy_env.core.cards import cards_of
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.view import make_view
from ginrummy_env.envs import features_of
from ginrummy_env.envs.observing import last_actions
from ginrummy_env.records.recorder import read, replay

ROWS = 3


def sb3_env(**options):
    pytest.importorskip("stable_baselines3")
    return ginrummy_env.GinRummyVecEnv(ROWS, Random(), **options)


ENVIRONMENTS = {
    "pettingzoo": ginrummy_env.env,
    "single": lambda **options: GinRummyEnv(Random(), **options),
    "vector": lambda **options: GinRummyVectorEnv(
        ROWS, Random(), autoreset_mode="SameStep", **options
    ),
    "sb3": sb3_env,
    "two seats": lambda **options: GinRummySelfPlayEnv(ROWS, **options),
}
every_environment = pytest.mark.parametrize("name", ENVIRONMENTS)


class Played:
    """One way to play all environments: what they hand out of a position, as arrays of N rows."""

    def __init__(self, name, seed=1, **options):
        self.env = ENVIRONMENTS[name](**options)
        self.name = name
        self.paid = []
        self.over = False
        if name == "sb3":
            self.env.seed(seed)
        self._begin({} if name == "sb3" else {"seed": seed})

    @property
    def state(self):
        inner = self.env.unwrapped if self.name == "pettingzoo" else self.env
        return inner.games.state if hasattr(inner, "games") else inner._games.state

    @property
    def seats(self):
        inner = self.env
        return inner.games.seats if hasattr(inner, "games") else self.state.player

    def _begin(self, given):
        env = self.env
        if self.name == "pettingzoo":
            env.reset(**given)
            self.seen, *_, self.info = env.last()
        elif self.name == "sb3":
            self.seen, self.info = env.reset(), list(env.reset_infos)
        else:
            self.seen, self.info = env.reset(**given)

    @property
    def rules(self):
        return (self.env.unwrapped if self.name == "pettingzoo" else self.env).rules

    def masks(self):
        return make_view(self.state, self.rules, self.seats).action_masks()

    def reset(self, **options):
        if self.name == "sb3":
            self.env.set_options(options)
            self.env.seed(1)
            self.env.reset()
        else:
            self.env.reset(seed=1, options=options)

    def step(self, number, choose=eager):
        env = self.env
        actions = np.array([choose(mask, number) for mask in self.masks()])
        if self.name == "pettingzoo":
            env.step(int(actions[0]))
            self.paid.append([env.rewards["player_0"], env.rewards["player_1"]])
            self.over = any(env.terminations.values())
            if self.over:
                self._begin({})
            self.seen, *_, self.info = env.last()
        elif self.name == "single":
            self.seen, paid, terminated, _, self.info = env.step(actions[0])
            self.paid.append([paid])
            self.over = terminated
            if terminated:
                self._begin({})
        elif self.name == "sb3":
            self.seen, paid, dones, self.info = env.step(actions)
            self.paid.append(paid)
            self.over = dones.any()
        else:
            self.seen, paid, *over, self.info = env.step(actions)
            self.paid.append(paid)
            self.over = np.any(over)


@every_environment
@pytest.mark.parametrize("where", ["info", "observation", "both"])
def test_masks_are_where_they_are_asked_for(name, where):
    played = Played(name, mask_in=where)
    for number in range(6):
        masks = played.masks().astype(np.int8)
        if where == "info":
            assert not isinstance(played.seen, dict)
        else:
            assert (np.atleast_2d(played.seen["action_mask"]) == masks).all()
            assert played.seen["action_mask"].dtype == np.int8
        if name != "sb3":  # where action_masks() is asked for them
            assert ("action_mask" in played.info) == (where != "observation")
        if "action_mask" in played.info:
            assert (np.atleast_2d(played.info["action_mask"]) == masks).all()
        played.step(number)
    with pytest.raises(ValueError, match="mask_in='obs': one of 'info', 'observation', 'both'"):
        ENVIRONMENTS[name](mask_in="obs")


@every_environment
def test_masks_may_be_flags_and_observations_have_another_name(name):
    plain = Played(name, mask_in="both")
    other = Played(name, mask_in="both", mask_dtype="bool", observation_key="observations")
    for number in range(4):
        assert set(other.seen) == {"observations", "action_mask"}
        assert (other.seen["observations"] == plain.seen["observation"]).all()
        seen = [other.seen, other.info] if "action_mask" in other.info else [other.seen]
        for part in seen:
            assert part["action_mask"].dtype == np.bool_
            assert (np.atleast_2d(part["action_mask"]) == plain.masks()).all()
        plain.step(number)
        other.step(number)
    if name != "two seats":  # which has no spaces
        space = other.env.observation_space
        space = space("player_0") if name == "pettingzoo" else space
        one = {key: part[0] for key, part in other.seen.items()} if name == "sb3" else other.seen
        assert space.contains(one)
    for wrong in ("", "action_mask", 3):
        with pytest.raises(ValueError, match=f"observation_key={wrong!r}: a name is needed"):
            ENVIRONMENTS[name](observation_key=wrong)
    with pytest.raises(ValueError, match="mask_dtype='float': one of 'int8', 'bool'"):
        ENVIRONMENTS[name](mask_dtype="float")
    with pytest.raises(ValueError, match="observations are dicts only with mask_in"):
        ENVIRONMENTS[name](mask_in="info", observation_key="observations")


@every_environment
def test_the_last_actions_are_shown(name):
    """The player's own as their numbers, the opponent's 108 higher, the latest last."""
    options = {"mask_in": "both"} if name == "pettingzoo" else {}
    played = Played(name, history=4, **options)
    for number in range(8):
        state, shown = played.state, np.atleast_2d(played.seen["history"])
        for row in range(len(state)):
            count = int(state.step_count[row])
            taken = state.history[row, max(0, count - 4) : count].astype(int).tolist()
            assert [each % 108 for each in shown[row].tolist() if each >= 0] == taken
            assert (shown[row] >= 0).sum() == len(taken)
            if count and state.phase[row] == 2:  # a draw follows the opponent's discard
                assert shown[row, -1] >= 108
            if count and state.phase[row] == 3:  # a discard follows one's own draw
                assert 104 <= shown[row, -1] <= 105
        played.step(number, some_legal)
    for wrong in (-1, 2.5, True):
        with pytest.raises(ValueError, match="history="):
            ENVIRONMENTS[name](history=wrong)


@every_environment
def test_hidden_cards_are_handed_out_on_request_only(name):
    """Own hand, opponent's hand, stock; never in the observation."""
    played, plain = Played(name, privileged=True), Played(name)
    for number in range(6):
        state, seats = played.state, played.seats
        if name == "pettingzoo":
            shown, seats = played.env.state()[None], np.zeros(1, dtype=int)
            assert played.env.unwrapped.state_space.contains(shown[0])
        elif name == "sb3":
            shown = np.stack([info["state"] for info in played.info])
        else:
            shown = np.atleast_2d(played.info["state"])
        assert shown.dtype == np.float32
        for row, planes in enumerate(shown.reshape(-1, 3, 52)):
            own, theirs, stock = (np.flatnonzero(plane).tolist() for plane in planes)
            assert own == cards_of(state.hands[row, seats[row]])
            assert theirs == cards_of(state.hands[row, 1 - seats[row]])
            assert stock == sorted(state.stock[row])
        assert str(played.seen) == str(plain.seen)
        for each in (played, plain):
            each.step(number)
    if name == "pettingzoo":
        with pytest.raises(NotImplementedError, match="privileged=True"):
            plain.env.unwrapped.state()
    else:
        assert "state" not in (plain.info[0] if name == "sb3" else plain.info)
    with pytest.raises(ValueError, match="privileged='yes': True or False"):
        ENVIRONMENTS[name](privileged="yes")


@every_environment
def test_deadwood_got_rid_of_pays_at_once(name):
    """Rewards differ from those without by the change of the potential, which ends at 0."""
    options = {"episode": "deal", "reward": "points"}
    shaped, plain = (Played(name, shaping=each, **options) for each in (0.5, 0.0))
    before = -deadwood(shaped.state.hands.reshape(-1)).reshape(-1, 2) / 100
    for number in range(10):
        seats = shaped.seats.copy()
        for each in (shaped, plain):
            each.step(number)
        now = -deadwood(shaped.state.hands.reshape(-1)).reshape(-1, 2) / 100
        if shaped.over:
            break
        expected = 0.5 * (now - before)
        if name in ("single", "vector", "sb3"):
            expected = expected[np.arange(len(seats)), seats]
        difference = np.array(shaped.paid[-1]) - np.array(plain.paid[-1])
        assert np.ravel(difference) == pytest.approx(np.ravel(expected), abs=1e-6)
        before = now
    assert number > 2
    with pytest.raises(ValueError, match="shaping=nan"):
        ENVIRONMENTS[name](shaping=float("nan"))


@every_environment
def test_a_hook_decides_what_deals_pay(name):
    """It gets the deals that have ended, their rules and rewards so far."""
    seen = []

    def hook(ended):
        seen.extend(ended.results())
        return np.stack([ended.rewards[:, 0] + 7, ended.rewards[:, 1] - 7], axis=1)

    options = {"episode": "deal", "rules": {"turn_bound": 2}}
    played = Played(name, reward_hook=hook, **options)
    for number in range(12):
        played.step(number)
    paid = np.concatenate([np.ravel(each) for each in played.paid])
    assert {6.0, 7.0, 8.0} & set(np.abs(paid).tolist())
    assert seen
    wrong = Played(name, reward_hook=lambda ended: [1.0], **options)
    with pytest.raises(Exception, match="reward_hook returned"):  # noqa: PT012
        for number in range(12):
            wrong.step(number)
    with pytest.raises(ValueError, match="reward_hook=3: a function"):
        ENVIRONMENTS[name](reward_hook=3)


@every_environment
def test_deals_of_full_games_are_episodes(name):
    """The next episode is the next deal of the same game, with its score."""
    options = {"episode": "deal_of_game", "rules": {"target": 60, "knock_limit": 50}}
    played = Played(name, reward="chance", **options)
    before, episodes, continued = played.state.copy(), 0, 0
    total = 0.0
    for number in range(90):
        played.step(number)
        total += np.ravel(played.paid[-1])[0]
        now = played.state
        same = int(now.game_number[0]) == int(before.game_number[0])
        if int(now.deal_number[0]) != int(before.deal_number[0]) or not same:
            episodes += 1
            continued += same and now.scores[0].sum() > 0
            if not same:
                if name in ("pettingzoo", "two seats"):
                    assert total == pytest.approx(1) or total == pytest.approx(-1)
                assert now.scores[0].tolist() == [0, 0]
                total = 0.0
        before = now.copy()
    assert episodes > continued > 0
    with pytest.raises(ValueError, match="is paid for a game"):
        ENVIRONMENTS[name](episode="deal_of_game")
    with pytest.raises(ValueError, match="needs a game"):
        ENVIRONMENTS[name](episode="deal", reward="chance")


@every_environment
def test_observations_may_look_ahead(name):
    """Planes that the package of agents registers; they are those of the learned agent's inputs."""
    from ginrummy_agents.learned.inputs import features

    played = Played(name, features="ahead", mask_in="info")
    for number in range(4):
        expected = features(make_view(played.state, played.rules, played.seats))
        assert np.array_equal(np.atleast_2d(played.seen), expected)
        played.step(number)
    assert features_of("ahead").size == expected.shape[1]
    with pytest.raises(ValueError, match="features='ahed': one of 'raw', 'derived', 'ahead'"):
        ENVIRONMENTS[name](features="ahed")


@every_environment
def test_games_can_start_late(name):
    """With scores, deals won and the number of the deal, which decides the deck."""
    start = {"scores": [30, 12], "deals_won": [2, 1], "deal_number": 3}
    played = Played(name)
    played.reset(start=start)
    state = played.state
    assert (state.scores == [30, 12]).all()
    assert (state.deals_won == [2, 1]).all()
    assert (state.deal_number == 3).all()
    decks = state.deck.copy()
    played.reset(start={**start, "deal_number": 0})
    assert (played.state.deck != decks).any(axis=1).all()
    for wrong, says in [
        ({"score": [1, 2]}, "unknown reset option 'score'.*did you mean 'scores'"),
        ({"scores": [100, 0]}, "scores=100: a whole number from 0 to 99"),
        ({"scores": 80}, "shape"),
        ([80, 90], r"start=.*a dict is needed"),
    ]:
        with pytest.raises(ValueError, match=says):
            played.reset(start=wrong)


def test_the_parallel_api_starts_where_it_is_told():
    start = {"scores": [80, 90], "deals_won": [2, 1], "deal_number": 3}
    parallel, aec = ginrummy_env.parallel_env(), ginrummy_env.env()
    seen, _ = parallel.reset(seed=1, options={"start": start})
    aec.reset(seed=1, options={"start": start})
    found, expected = (env.unwrapped._games.state for env in (parallel, aec))
    assert found.scores.tolist() == [[80, 90]]
    assert found.deal_number.tolist() == [3]
    assert (found.deck == expected.deck).all()
    for agent in parallel.agents:
        assert (seen[agent]["observation"] == aec.observe(agent)["observation"]).all()
    with pytest.raises(ValueError, match="scores=100: a whole number from 0 to 99"):
        parallel.reset(options={"start": {"scores": [100, 0]}})


def test_opponents_may_be_functions_or_drawn_from_a_pool():
    """Each episode draws one; who comes how often follows the weights, and not the rows."""
    function = make_policy("simple").act
    env = GinRummyEnv(lambda view, rng: function(view, rng), seat=0)
    env.reset(seed=1, options={"deck": READY_DECK, "dealer": 1})
    env.step(106)
    pool = OpponentPool(["simple", Quiet(), function], weights=[0, 1, 3])
    vector = GinRummyVectorEnv(400, pool, episode="deal")
    vector.reset(seed=5)
    counts = np.bincount(vector.games.others.assignment, minlength=3)
    assert counts[0] == 0
    assert 60 < counts[1] < 140
    alone = GinRummyVectorEnv(7, copy.deepcopy(pool), episode="deal")
    alone.reset(seed=5)
    assert (alone.games.others.assignment == vector.games.others.assignment[:7]).all()
    vector.reset()
    assert (np.bincount(vector.games.others.assignment, minlength=3) != counts).any()
    made = gymnasium.make(ginrummy_env.GYMNASIUM_ID, opponent=pool)
    made.reset(seed=1)
    for wrong in ([], ["nobody"], [object()]):
        with pytest.raises(ValueError, match=r"policy"):
            OpponentPool(wrong)
    for wrong in ([1, 2], [0, 0, 0], [1, -1, 1], [1, np.nan, 1]):
        with pytest.raises(ValueError, match=r"weight"):
            OpponentPool(["simple", "gold", "random"], wrong)
    with pytest.raises(ValueError, match="a pool draws"):
        GinRummyVectorEnv(2, pool, assignment=[0, 1])


def test_actions_are_drawn_as_by_gymnasium():
    """The same numbers for the same seed and mask; what Gymnasium refuses is refused."""
    ours, theirs = ginrummy_env.raw_env().action_space("player_0"), gymnasium.spaces.Discrete(108)
    assert ours == theirs
    ours.seed(5), theirs.seed(5)
    rng = np.random.default_rng(1)
    for share in np.linspace(0, 1, 200):
        mask = (rng.random(108) < share).astype(np.int8)
        drawn, expected = ours.sample(mask), theirs.sample(mask)
        assert (drawn, type(drawn)) == (expected, type(expected))
    assert ours.sample() == theirs.sample()
    assert copy.deepcopy(ours).sample(mask) == theirs.sample(mask)
    for wrong in (mask.astype(bool), mask[:50], 2 * mask):
        with pytest.raises(AssertionError, match="of the sample mask"):
            ours.sample(wrong)


def test_history_agrees_with_the_view():
    env = GinRummySelfPlayEnv(4)
    env.reset(seed=3)
    assert (last_actions(env.views(), 3) == -1).all()


@every_environment
def test_games_can_have_planned_decks(name):
    """The first deals of the game have them; then chance deals."""
    decks = np.array([np.random.default_rng(seed).permutation(52) for seed in range(2)])
    played = Played(name, rules={"turn_bound": 2, "target": 500}, reward="points")
    played.reset(start={"decks": decks})
    seen = [played.state.deck.copy()]
    numbers = played.state.deal_number.copy()
    for number in range(60):
        played.step(number, some_legal)
        now = played.state.deal_number
        for row in np.flatnonzero(now != numbers):
            if now[row] < 2:
                assert (played.state.deck[row] == decks[now[row]]).all()
            elif now[row] == 2:
                assert (played.state.deck[row] != decks[1]).any()
        numbers = now.copy()
    assert (seen[0] == decks[0]).all()
    assert (numbers >= 2).any()
    rows = len(numbers)
    if rows > 1:  # one list for each row, of any length
        each = [decks[:1], decks, decks[1:]]
        if name == "sb3":
            played.env.set_options([{"start": {"decks": some}} for some in each])
            played.env.reset()
        else:
            played.reset(start={"decks": each})
        assert (played.state.deck == decks[[0, 0, 1]]).all()
    for wrong, says in [
        ({"decks": decks[0]}, "the decks of the first deals are needed"),
        ({"decks": [[*range(51), 0]]}, "appears twice"),
        ({"decks": 3}, "the decks of the first deals are needed"),
        ({"deal": 0}, "'record' is needed"),
    ]:
        with pytest.raises(ValueError, match=says):
            played.reset(start=wrong)
    with pytest.raises(ValueError, match="leave 'deck' out"):
        played.reset(deck=READY_DECK, start={"decks": decks})
    with pytest.raises(ValueError, match="one deck is needed"):
        Played(name, episode="deal").reset(start={"decks": decks})


@every_environment
def test_games_can_go_on_from_a_record(name):
    """From where it ends, or from any position in it; the next deal is the environment's own."""
    text = (Path(__file__).parents[1] / "records" / "in_play.txt").read_text(encoding="utf-8")
    record = read(text)
    (positions,) = replay(record)
    played = Played(name, rules="eaai")
    for given, place in [({}, -1), ({"deal": 0, "action": 2}, 2)]:
        for each in (text, record):
            played.reset(start={"record": each, **given})
            state = played.state
            if name in ("pettingzoo", "two seats"):  # elsewhere the opponent may have moved on
                assert (state.hands == positions.hands[place]).all()
                assert (state.phase == positions.phase[place]).all()
                assert (state.player == positions.player[place]).all()
            assert (state.deck == positions.deck[place]).all()
            assert (state.scores == [0, 54]).all()
            assert (state.deal_number == 2).all()
            count = int(positions.step_count[place])
            assert (state.history[:, :count] == positions.history[place, :count]).all()
    for number in range(30):
        played.step(number)
    finished = (Path(__file__).parents[1] / "records" / "gin_laid_off.txt").read_text()
    classic = Played(name)
    for env, wrong, says in [
        (played, {"record": text, "action": 99}, "action=99: a whole number from 0 to 7"),
        (played, {"record": text, "deal": 1}, "deal=1: a whole number from 0 to 0"),
        (played, {"record": text, "scores": [1, 2]}, "the record decides scores too"),
        (played, {"record": 5}, "a game's record"),
        (played, {"record": "ginrummy record"}, "line 1"),
        (classic, {"record": text}, "its rules are 'eaai', the environment's 'classic'"),
        (classic, {"record": finished}, "nothing is left to decide"),
    ]:
        with pytest.raises(ValueError, match=says):
            env.reset(start=wrong)
