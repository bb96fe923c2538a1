"""``reset``: its options, its seeds, and what may not happen before it, in every environment."""

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from tables import READY_DECK, Eager, Quiet, Script

import ginrummy_env
from ginrummy_env import GinRummyEnv, GinRummySelfPlayEnv, GinRummyVectorEnv
from ginrummy_env.core.deal import decks


def sb3_env(count, *arguments, **options):
    pytest.importorskip("stable_baselines3")
    return ginrummy_env.GinRummyVecEnv(count, *arguments, **options)


def reset(env, options):
    if hasattr(env, "set_options"):
        env.set_options(options)
        return env.reset()
    return env.reset(seed=0, options=options)


@pytest.mark.parametrize(
    "make",
    [
        GinRummyEnv,
        lambda: GinRummyVectorEnv(2),
        lambda: GinRummySelfPlayEnv(2),
        lambda: sb3_env(2),
    ],
    ids=["single", "vector", "two seats", "sb3"],
)
def test_reset_options_have_the_same_names_everywhere(make):
    """A misspelt one is refused, with what there is, and changes nothing."""
    env = make()
    reset(env, {"deck": READY_DECK, "dealer": 1})
    games = env.games if hasattr(env, "games") else env
    assert (games.state.deck == READY_DECK).all()
    assert (games.state.dealer == 1).all()
    for wrong, says in [
        ({"decks": [READY_DECK]}, r"unknown reset option 'decks' \(did you mean 'deck'\?\)"),
        ({"dealers": [1]}, "did you mean 'dealer'"),
        ({"scores": [80, 90]}, "unknown reset option 'scores'"),
        ({"dealer": 2}, "dealer=.*from 0 to 1"),
        ({"dealer": True}, "dealer=.*from 0 to 1"),
        ({"deck": [0] * 52}, "appears twice"),
        ({"deck": READY_DECK[1:]}, "deck"),
    ]:
        with pytest.raises(ValueError, match=says):
            reset(env, wrong)
        assert (games.state.deck == READY_DECK).all()


@pytest.mark.parametrize(
    "make", [GinRummyEnv, lambda: GinRummyVectorEnv(3), lambda: GinRummySelfPlayEnv(3)]
)
def test_reset_options_that_are_no_dict_are_refused(make):
    with pytest.raises(ValueError, match=r"options=\['deck'\]: a dict is needed"):
        make().reset(options=["deck"])


@pytest.mark.parametrize(
    ("make", "action"),
    [
        (GinRummyEnv, 50),
        (lambda: GinRummyVectorEnv(3), [50] * 3),
        (lambda: GinRummyVectorEnv(3, autoreset_mode="Disabled"), [50] * 3),
        (lambda: GinRummySelfPlayEnv(3), [50] * 3),
        (lambda: sb3_env(3), np.array([50] * 3)),
        (ginrummy_env.raw_env, 50),
    ],
    ids=["single", "vector", "disabled", "two seats", "sb3", "pettingzoo"],
)
def test_nothing_is_played_before_the_first_reset(make, action):
    env = make()
    with pytest.raises(ResetNeeded, match="nothing has been dealt yet: call reset"):
        env.step(action)
    if hasattr(env, "action_masks"):
        with pytest.raises(ResetNeeded, match="nothing has been dealt yet: call reset"):
            env.action_masks()


@pytest.mark.parametrize("seed", [7, [7, 8, 9, 10], None])
def test_a_partial_first_reset_seeds_all_rows(seed):
    """The rows left out are named when they are stepped, and have their own streams later."""
    partial, whole = GinRummyVectorEnv(4), GinRummyVectorEnv(4)
    mask = np.array([True, False, True, False])
    partial.reset(seed=seed, options={"reset_mask": mask})
    with pytest.raises(ResetNeeded, match="row 1: nothing has been dealt yet"):
        partial.step([106] * 4)
    partial.reset(options={"reset_mask": ~mask})
    whole.reset(seed=seed)
    if seed is None:
        assert len({deck.tobytes() for deck in partial.games.state.deck}) == 4
        assert (partial.games.episodes.seeds != 0).all()
    else:
        assert np.array_equal(partial.games.state.deck, whole.games.state.deck)


def test_a_given_deck_that_the_opponent_ends_at_once_is_reported():
    """The deal that was set up is in ``info["skipped"]``; another one has been dealt."""
    options = {"episode": "deal", "seat": 1}
    given = {"deck": READY_DECK, "dealer": 1}
    script = ("take", "knock Kh")
    env = GinRummyEnv(Script(*script), **options)
    _, info = env.reset(seed=0, options=given)
    assert [deal["outcome"] for deal in info["skipped"]] == ["knock"]
    assert info["skipped"][0]["winner"] == 0
    assert (env.games.state.deck != READY_DECK).any()
    _, info = GinRummyEnv(Quiet(), **options).reset(seed=0, options=given)
    assert not info.get("skipped")
    vector = GinRummyVectorEnv(1, Script(*script), **options)
    _, infos = vector.reset(seed=0, options=given)
    assert infos["skipped"][0][0]["outcome"] == "knock"
    *_, infos = vector.step([int(np.flatnonzero(vector.action_masks()[0])[0])])
    assert not any(infos.get("skipped", []))
    sb3 = sb3_env(1, Script(*script), **options)
    sb3.set_options(given)
    sb3.reset()
    assert sb3.reset_infos[0]["skipped"][0]["outcome"] == "knock"


def test_skipped_deals_are_reported_with_the_episode_that_takes_their_place():
    rules = {"knock_limit": 60}  # so that many deals end at once
    env = GinRummyVectorEnv(64, Eager(), episode="deal", rules=rules, autoreset_mode="SameStep")
    _, infos = env.reset(seed=0)
    reported = sum(len(deals) for deals in infos.get("skipped", []) if deals)
    rng = np.random.default_rng(0)
    for _ in range(60):
        masks = infos["action_mask"]
        *_, infos = env.step((rng.random(masks.shape) * masks).argmax(axis=1))
        reported += sum(len(deals) for deals in infos.get("skipped", []) if deals)
    assert reported == env.games.skipped.sum() > 0


def test_the_owner_of_an_environment_can_replay_its_deals():
    """``provenance()`` names the deck in play, also through wrappers; infos do not."""
    import gymnasium

    env = gymnasium.make(ginrummy_env.GYMNASIUM_ID)
    env.reset(seed=5)
    found = env.get_wrapper_attr("provenance")()
    deck = decks(*(np.array([found[name]], np.uint64) for name in found))
    assert (deck[0] == env.unwrapped.games.state.deck[0]).all()
    aec, parallel = ginrummy_env.env(), ginrummy_env.parallel_env()
    aec.reset(seed=5)
    parallel.reset(seed=5)
    assert aec.provenance() == parallel.provenance() == found
    for several in (GinRummyVectorEnv(3), GinRummySelfPlayEnv(3), sb3_env(3)):
        if hasattr(several, "env_method"):
            several.seed(5)
            several.reset()
            assert several.env_method("provenance")[0] == found
        else:
            several.reset(seed=5)
        rows = several.provenance()
        assert {name: int(each[0]) for name, each in rows.items()} == found
        state = several.games.state if hasattr(several, "games") else several.state
        assert (decks(*rows.values()) == state.deck).all()
