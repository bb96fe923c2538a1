"""The same deals in RLCard's gin rummy and in our old game, step by step."""

import warnings
from collections import Counter

import numpy as np

from ginrummy_env.compat import gin_rummy_v4
from ginrummy_env.compat.actions import GIN, KNOCK
from ginrummy_env.core.cards import cards_of
from ginrummy_env.core.deadwood import deadwood_after_discard

DEALS_A_STREAM = 50
"""Deals from one seed, before the next one is set in both."""
KNOCKING = 0.5
"""How likely `EagerPlay` knocks where it can."""


def make_rlcard(seed):
    import rlcard

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rlcard.make("gin-rummy", config={"seed": seed})


class RandomPlay:
    """Any legal action; one deal in ten ends with a knock."""

    def choose(self, legal, env, state, rng):
        return legal[rng.integers(len(legal))]


class EagerPlay:
    """Keep the least deadwood and knock soon: RLCard's novice, but quicker and less prompt.

    Who always knocks at once never gets to knock with a card just picked up.
    """

    def choose(self, legal, env, state, rng):
        knocks = [action for action in legal if action >= KNOCK]
        if knocks and rng.random() < KNOCKING:
            return knocks[rng.integers(len(knocks))]
        legal = [action for action in legal if action < KNOCK]
        if legal[-1] > GIN:
            hand = state.hands[:, state.player.item(0)]
            left = deadwood_after_discard(hand)[0]
            legal = [a for a in legal if left[a - 6] == min(left[b - 6] for b in legal)]
        return legal[rng.integers(len(legal))]


class NovicePlay:
    """RLCard's own rule agent, which draws NumPy's global random numbers."""

    def __init__(self):
        from rlcard.models.gin_rummy_rule_models import GinRummyNoviceRuleAgent

        self._agent = GinRummyNoviceRuleAgent()

    def choose(self, legal, env, state, rng):
        np.random.seed(rng.integers(2**32))  # noqa: NPY002 - what the agent draws from
        return int(self._agent.step(env.get_state(env.get_player_id())))


class StubbornPlay:
    """Pick up what lies there and never knock: the only way to the bound of 200 moves."""

    def choose(self, legal, env, state, rng):
        legal = [action for action in legal if action < KNOCK]
        return 3 if 3 in legal else legal[rng.integers(len(legal))]


PLAYS = {"random": RandomPlay, "eager": EagerPlay, "novice": NovicePlay, "stubborn": StubbornPlay}

# Of every hundred streams, how many are played so. The novice and the stubborn one take longest.
SHARES = {"random": 50, "eager": 40, "novice": 8, "stubborn": 2}


def play_of(stream):
    """The name of the play of a stream of deals, by its number."""
    place = 37 * stream % 100  # mixes them
    for name, share in SHARES.items():
        if place < share:
            return name
        place -= share
    raise AssertionError(stream)


def compare(seed, deals, play):
    """Play deals of a stream in both; return counts, the differences under "different ...".

    Compared are, at each step: who moves, the legal actions, what the mover sees (with all five
    rows) and what has been paid; and at the deal, dealer and cards.
    """
    counts = Counter()
    peer = make_rlcard(seed)
    ours = gin_rummy_v4.raw_env(
        knock_reward=0.2, gin_reward=1.0, opponents_hand_visible=True, faithful=True
    )
    rng = np.random.default_rng(seed)
    chooser = PLAYS[play]()
    for number in range(deals):
        seen, player = peer.reset()
        ours.reset(seed=seed if number == 0 else None)
        state = ours._game.state
        counts["deals"] += 1
        ginned = False
        while not peer.is_over():
            counts["steps"] += 1
            if ours.agent_selection != f"player_{player}":
                counts["different mover"] += 1
                return counts
            mine = ours.observe(ours.agent_selection)
            legal = sorted(seen["legal_actions"])
            if np.flatnonzero(mine["action_mask"]).tolist() != legal:
                counts["different legal actions"] += 1
                return counts
            if (mine["observation"] != seen["obs"]).any():
                # Which card goes at gin is the engines' choice, and nothing depends on it.
                counts["other gin discard" if ginned else "different observation"] += 1
            action = int(chooser.choose(legal, peer, state, rng))
            ginned |= action == GIN
            seen, player = peer.step(action)
            ours.step(action)
            if ours.rewards != dict(zip(ours.possible_agents, peer.get_payoffs(), strict=True)):
                counts["different payoffs"] += 1
        if not all(ours.terminations.values()):
            counts["different end"] += 1
        ended = "gin" if ginned else ("knock" if state.knocker.item(0) >= 0 else "dead")
        counts[ended] += 1
        for player in range(2):  # the hands at the end
            theirs = {
                13 * "SHDC".index(card.suit) + "A23456789TJQK".index(card.rank)
                for card in peer.game.round.players[player].hand
            }
            if theirs != set(cards_of(state.hands[0, player])) and not ginned:
                counts["different hands"] += 1
    return counts
