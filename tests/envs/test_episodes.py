"""Rewards, ends of episodes, streams of games: what all environments have in common."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from cases import cards

from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, PRESETS, Rules
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.state import NOBODY, Outcome
from ginrummy_env.core.view import make_view
from ginrummy_env.envs.deal_infos import RESULT_KEYS
from ginrummy_env.envs.episodes import Episodes
from ginrummy_env.envs.options import EpisodeOptions
from ginrummy_env.policy import make_policy

MODES = [(episode, reward) for episode in ("game", "deal") for reward in ("win", "points", "final")]


def play(count, options, seed=0, sloppy=0.05):
    """Play all rows to the end of their episode: the sums of rewards, the deals.

    The players are `simple`, but for some random actions.
    """
    games = Episodes(count, options)
    rows = np.arange(count)
    games.seed(rows, seed, rows)
    games.start(rows)
    rng = np.random.default_rng(seed)
    policy = make_policy("simple")
    sums, deals = np.zeros((count, 2)), []
    while not games.state.over.all():
        view = make_view(games.state, options.rules)
        masks = view.action_masks()
        actions = policy.act(view, rng)
        careless = random_actions(masks, rng.random(count))
        actions = np.where(rng.random(count) < sloppy, careless, actions)
        ended = games.step(actions)
        if ended is not None:
            sums[ended.rows] += ended.rewards
            deals.append(ended)
    return games, sums, deals


@pytest.mark.parametrize(("episode", "reward"), MODES)
@pytest.mark.parametrize("rules", ["classic", "eaai", "oklahoma"])
def test_rewards_are_zero_sum_and_add_up_to_the_score(episode, reward, rules):
    """Zero-sum in every mode; the sum over an episode is the record's score."""
    short = replace(PRESETS[rules], target=40)
    options = EpisodeOptions(rules=short, episode=episode, reward=reward)
    games, sums, deals = play(64 if episode == "game" else 512, options)
    for ended in deals:
        assert (ended.rewards.sum(axis=1) == 0).all()
        assert not np.signbit(ended.rewards[ended.rewards == 0]).any()  # nothing prints as -0.0
    state = games.state
    if reward == "points":
        expected = state.scores
    elif reward == "final":
        expected = final_scores(state.scores, state.deals_won, options.rules)
    elif episode == "game":
        expected = 100 * (state.scores >= options.rules.target)
    else:
        expected = 100 * (state.winner[:, None] == [0, 1])
    difference = (expected[:, 0] - expected[:, 1]) / 100
    assert sums[:, 0] == pytest.approx(difference, abs=1e-9)
    assert sums[:, 1] == pytest.approx(-difference, abs=1e-9)


@pytest.mark.parametrize("reward", ["win", "points", "final"])
def test_the_sign_of_the_reward_is_that_of_the_points(reward):
    """Winner > 0 > loser, an undercut costs the knocker, a void deal pays nobody.

    Ten thousand deals would be few for a rate, but a sign is a sign.
    """
    rules = Rules(box_bonus=0)
    _, _, deals = play(3000, EpisodeOptions(rules=rules, episode="deal", reward=reward), sloppy=0.3)
    outcomes = set()
    for ended in deals:
        state = ended.state
        outcomes |= set(state.outcome.tolist())
        won = np.where(state.winner == 0, 1, np.where(state.winner == 1, -1, 0))
        assert (np.sign(ended.rewards[:, 0]) == won).all()
        void = state.outcome == Outcome.VOID
        assert (ended.rewards[void] == 0).all()
        undercut = np.flatnonzero(state.outcome == Outcome.UNDERCUT)
        assert (ended.rewards[undercut, state.knocker[undercut]] < 0).all()
    assert {Outcome.VOID, Outcome.KNOCK, Outcome.UNDERCUT} <= outcomes


def test_a_void_deal_is_won_by_nobody():
    """No winner (not 0), no points, no deal won, in what is told too."""
    rules = Rules(turn_bound=2)
    games, _, deals = play(8, EpisodeOptions(rules=rules, episode="deal", reward="points"))
    voids = [r for ended in deals for r in ended.results() if r["outcome"] == "void"]
    assert voids
    assert not any(np.signbit(ended.rewards[ended.rewards == 0]).any() for ended in deals)
    for told in voids:
        assert told["winner"] == NOBODY
        assert told["points"] == 0
        assert told["knocker"] == NOBODY
        assert told["scores"] == [0, 0] == told["deals_won"]
        assert told["void_reason"] == "bound"
    assert games.state.over.all()


def test_a_game_ends_by_its_target_or_is_truncated_never_both():
    """Void deals do not end a game; ``max_deals`` truncates it, and then nobody has won."""
    for reward in ("win", "final", "points"):
        options = EpisodeOptions(reward=reward, max_deals=3)
        games, sums, deals = play(256, options)
        terminated, truncated = np.zeros(256, dtype=int), np.zeros(256, dtype=int)
        for ended in deals:
            assert not (ended.terminated & ended.truncated).any()
            terminated[ended.rows] += ended.terminated
            truncated[ended.rows] += ended.truncated
        assert (terminated + truncated == 1).all()
        assert 0 < truncated.sum() < 256
        assert (terminated == (games.state.scores.max(axis=1) >= 100)).all()
        assert (games.state.deal_number[truncated == 1] == 2).all()
        if reward != "points":
            assert (sums[truncated == 1] == 0).all()
            assert (sums[terminated == 1] != 0).all()


def test_options_survive_deals_copies_and_pickles():
    """Gin 25 is still 25, and a gin against ten points pays 35."""
    options = pickle.loads(pickle.dumps(EpisodeOptions(rules={"gin_bonus": 25}, reward="points")))
    assert options.rules == Rules(gin_bonus=25)
    _, _, deals = play(256, options)
    gins = 0
    for ended in deals:
        for told, pays in zip(ended.results(), ended.rewards, strict=True):
            if told["outcome"] == "gin":
                gins += 1
                defender = 1 - told["winner"]
                assert told["points"] == 25 + told["deadwood"][defender]
                assert pays[told["winner"]] == told["points"] / 100
    assert gins > 10


@pytest.mark.parametrize("rules", list(PRESETS))
def test_results_tell_what_the_state_says(rules):
    """Outcome, hands, melds, lay-offs and deadwood agree with each other and with the state."""
    _, _, deals = play(200, EpisodeOptions(rules=rules, episode="deal"))
    points = [min(card % 13 + 1, 10) for card in range(52)]
    for ended in deals:
        state = ended.state
        for place, told in enumerate(ended.results()):
            assert set(told) == set(RESULT_KEYS)
            assert told["outcome"] == Outcome(state.outcome[place]).name.lower()
            assert told["scores"] == state.scores[place].tolist()
            if told["knocker"] == NOBODY:
                assert told["melds"] == [[], []]
                assert told["deadwood"] == []
                continue
            knocker = told["knocker"]
            laid_off = [card for text, _ in told["layoffs"] for card in cards(text)]
            for player in (0, 1):
                hand = cards(told["hands"][player])
                melded = [card for meld in told["melds"][player] for card in cards(meld)]
                gone = melded + (laid_off if player != knocker else [])
                assert len(set(gone)) == len(gone)
                assert set(gone) <= set(hand)
                left = sum(points[card] for card in hand if card not in gone)
                assert told["deadwood"][player] == left
            assert all(meld in told["melds"][knocker] for _, meld in told["layoffs"])
            assert told["deadwood"][knocker] == deadwood(state.hands[[place], knocker])[0]
    assert pickle.loads(pickle.dumps(deals[0].results()[0])) == deals[0].results()[0].to_dict()


def test_streams_share_no_deck():
    """Rows of one seed, neighbouring seeds, train and eval, environments and matches."""

    def decks(seed, split, episodes=4):
        games = Episodes(64, EpisodeOptions(split=split))
        rows = np.arange(64)
        games.seed(rows, seed, rows)
        found = []
        for _ in range(episodes):
            games.start(rows)
            found += [deck.tobytes() for deck in games.state.deck]
        return found

    found = []
    for seed in (0, 1, 2):
        found += decks(seed, "train") + decks(seed, "eval")
        found += [deck.tobytes() for deck in new_games(seed, 256, CLASSIC).deck]
    assert len(set(found)) == len(found)


def test_a_row_plays_the_same_games_in_any_batch():
    """One row alone is row 0 of eight."""
    one, eight = (Episodes(count, EpisodeOptions()) for count in (1, 8))
    for games in (one, eight):
        rows = np.arange(len(games))
        games.seed(rows, 5, rows)
    for _ in range(3):
        for games in (one, eight):
            games.start(np.arange(len(games)))
        assert (one.state.deck[0] == eight.state.deck[0]).all()
        assert one.state.dealer[0] == eight.state.dealer[0]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"episode": "match"}, "episode='match'"),
        ({"reward": "money"}, "reward='money'"),
        ({"split": "test"}, "split='test'"),
        ({"max_deals": 0}, "max_deals=0"),
        ({"max_deals": 1.5}, "max_deals=1.5"),
        ({"max_deals": -3}, "max_deals=-3"),
        ({"max_deals": True}, "max_deals=True"),
        ({"report_deals": "no"}, "report_deals='no'"),
        ({"features": "drived"}, "features='drived'.*did you mean 'derived'"),
        ({"features": True}, "features=True"),
        ({"rules": "bridge"}, "unknown preset 'bridge'"),
        ({"rules": {"gin": 25}}, "unknown setting 'gin'"),
    ],
)
def test_wrong_options_are_named(wrong, says):
    with pytest.raises(ValueError, match=says):
        EpisodeOptions(**wrong)
