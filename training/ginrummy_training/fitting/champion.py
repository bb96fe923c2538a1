"""Fits the weights of `ginrummy_agents.rules.champion` to the results of deals.

Each round plays the agent of the round before against some opponents, with a share of its draws,
discards and knocks chosen at random, and notes the features of what it did with the net points
that the deal then brought. A ridge regression on each of the four kinds of choice gives the next
weights: what a choice is worth if play continues as this round's agent plays.

``ginrummy fit champion --rules eaai`` (or ``classic``) writes a set into
agents/ginrummy_agents/data/champion.json. The decks are those of no match, whatever the seed.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.rules.base import staying
from ginrummy_agents.rules.champion import Champion, open_to_taking
from ginrummy_agents.rules.champion_features import (
    NAMES,
    TAKE,
    Features,
    Weights,
    keep_features,
    knock_features,
    stock_features,
)
from ginrummy_agents.rules.lookahead import Lookahead, candidates
from ginrummy_agents.rules.work_lists import pick_one
from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, PASS, TAKE_UPCARD
from ginrummy_env.core.cards import CARD_BIT
from ginrummy_env.core.chance import FirstGame, Purpose, Random, policy_keys
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.rules import Rules, as_rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.types import Rows
from ginrummy_env.core.view import View
from ginrummy_env.files import write_whole
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.evaluation.play_deals import play_deals, points_of

Actions = NDArray[np.int16]


@dataclass(frozen=True)
class Settings:
    """What is tuned, and on what."""

    rules: str = "eaai"
    opponents: tuple[str, ...] = ("simple", "simple", "simple")
    """Each plays ``games`` a round; "self" is the agent of the round before."""
    rounds: int = 4
    games: int = 3000
    seed: int = 1
    draws: float = 0.15
    """How often it is drawn at random where the upcard can be of use."""
    discards: float = 0.15
    """How often a candidate is thrown at random."""
    knocks: float = 0.3
    """How often it is knocked at random (every second time) where that is legal and not gin."""
    ridge: float = 50.0
    """Strength of the penalty, in observations of each feature's own spread."""


@dataclass(slots=True)
class Notes:
    """What was done: features, the deal it was done in, and the scores then."""

    features: dict[str, list[Features]] = field(default_factory=dict)
    deals: dict[str, list[NDArray[np.int64]]] = field(default_factory=dict)

    def add(self, kind: str, features: Features, deals: NDArray[np.int64]) -> None:
        """Note choices of one kind."""
        self.features.setdefault(kind, []).append(features.astype(np.float32))
        self.deals.setdefault(kind, []).append(deals)


def champion_with(weights: Weights) -> Champion:
    """Return a champion that has these weights under all rules."""

    class Tuned(Champion):
        def weights(self, view: View) -> Weights:
            return weights

    return Tuned()


class Explorer:
    """Plays as another policy does, but now and then by chance."""

    def __init__(self, base: Policy, settings: Settings) -> None:
        """``settings`` say how often it leaves the base policy."""
        self._base, self._settings = base, settings

    def act(self, view: View, rng: Random) -> Actions:
        """Return the base's actions, some of them replaced."""
        actions = self._base.act(view, rng)
        uniforms = rng.random((len(view), 4))
        rows = draws_weighed(view)
        if rows.size:
            refuse = np.where(view.phase[rows] == Phase.OPENING, PASS, DRAW_STOCK)
            by_chance = np.where(uniforms[rows, 1] < 0.5, TAKE_UPCARD, refuse)
            explore = uniforms[rows, 0] < self._settings.draws
            actions[rows] = np.where(explore, by_chance, actions[rows])
        rows = discards_weighed(view, actions)
        if rows.size:
            actions[rows] = self._discard(view, rows, actions[rows], uniforms[rows])
        return actions

    def _discard(self, view: View, rows: Rows, actions: Actions, uniforms: Features) -> Actions:
        hands = view.hand[rows]
        some = candidates(hands, CARD_BIT[view.taken_card[rows]], staying(view, rows))
        by_chance = uniforms[:, 0] < self._settings.discards
        cards = np.where(by_chance, pick_one(some, uniforms[:, 1]), actions % KNOCK)
        left = deadwood(hands & ~CARD_BIT[cards])
        chance = uniforms[:, 2] < self._settings.knocks
        knocks = np.where(chance, uniforms[:, 3] < 0.5, (actions >= KNOCK) & ~by_chance)
        knocks = (knocks & (left <= view.knock_limit[rows])) | (left == 0)
        return (cards + KNOCK * knocks).astype(np.int16)


def draws_weighed(view: View) -> Rows:
    """Return the rows in which the upcard may be taken and can be of use."""
    rows = np.flatnonzero(np.isin(view.phase, [Phase.OPENING, Phase.DRAW]) & view.to_move)
    return rows[open_to_taking(view, rows)]


def discards_weighed(view: View, actions: Actions) -> Rows:
    """Return the rows in which a card goes, with a knock or without."""
    return np.flatnonzero((view.phase == Phase.DISCARD) & view.to_move & (actions < DRAW_STOCK))


def note(
    notes: Notes, options: Champion, view: View, actions: Actions, deals: NDArray[np.int64]
) -> None:
    """Note the features of what was done; ``options`` gives those of draws. Changes ``notes``."""
    rows = draws_weighed(view)
    took = actions[rows] == TAKE_UPCARD
    if took.any():
        take, _ = options.draw_options(view, rows[took])
        notes.add("take", take, deals[rows[took]])
    if not took.all():
        notes.add("stock", stock_features(view, rows[~took]), deals[rows[~took]])
    rows = discards_weighed(view, actions)
    if rows.size:
        cards, knocked = actions[rows] % KNOCK, actions[rows] >= KNOCK
        hands = view.hand[rows] & ~CARD_BIT[cards]
        left = deadwood(hands)
        noted = knocked & (left > 0)
        if noted.any():
            notes.add("knock", knock_features(view, rows[noted], left[noted]), deals[rows[noted]])
        kept = ~knocked
        features = keep_features(view, rows[kept], hands[kept], cards[kept])
        notes.add("keep", features, deals[rows[kept]])


@dataclass(slots=True)
class Played:
    """The deals of some games: their numbers ascending, and the explorer's net points in them."""

    deals: NDArray[np.int64]
    gained: NDArray[np.float64]


MOST_DEALS = 1000


def play(
    explorer: Explorer,
    opponent: Policy,
    rules: Rules,
    seed: int,
    games: int,
    on_decision: Callable[[View, Actions, NDArray[np.int64]], None],
) -> Played:
    """Play games to their end, the explorer at seat g % 2 of game g.

    Args:
        explorer: whose decisions are noted.
        opponent: any policy.
        rules: the settings.
        seed: of the decks and of what the players draw.
        games: how many.
        on_decision: called with the explorer's views, its actions and the numbers of the deals.

    Returns:
        For each deal, the explorer's net points.
    """
    numbers = np.arange(games)
    state = new_games(
        seed, np.uint64(FirstGame.CHAMPION_FIT) + (numbers // 2).astype(np.uint64), rules
    )
    deals, gained = [], []
    while len(state):
        now = numbers * MOST_DEALS + state.deal_number

        def noted(
            policy: int,
            rows: Rows,
            view: View,
            actions: Actions,
            now: NDArray[np.int64] = now,
        ) -> None:
            if policy == 0:
                on_decision(view, actions, now[rows])

        row_keys = policy_keys(Purpose.CHAMPION_FIT, np.uint64(seed), now)
        play_deals((explorer, opponent), state, numbers % 2, row_keys, rules, noted)
        deals.append(now)
        gained.append(points_of(state, numbers % 2).astype(np.float64))
        on = (state.phase == Phase.DEAL_OVER) & (state.deal_number < MOST_DEALS - 1)
        state, numbers = state.select(on), numbers[on]
        next_deals(state, rules)
    order = np.argsort(np.concatenate(deals))
    return Played(np.concatenate(deals)[order], np.concatenate(gained)[order])


@dataclass(slots=True)
class Sums:
    """What a regression needs of its observations, added up piece by piece."""

    squares: Features
    products: Features
    plain: Features
    total: float = 0.0
    count: int = 0

    def add(self, features: Features, values: NDArray[np.float64]) -> None:
        """Add observations: [M, F] features, [M] values."""
        features = features.astype(np.float64)
        self.squares += features.T @ features
        self.products += features.T @ values
        self.plain += features.sum(axis=0)
        self.total += float(values @ values)
        self.count += len(values)

    def solve(self, ridge: float) -> tuple[Features, float]:
        """Return the weights, and the share of the values' squares that they explain."""
        spread = self.squares.diagonal() / self.count - (self.plain / self.count) ** 2
        penalty = np.diag(ridge * np.maximum(spread, 1e-6))
        solved = np.linalg.solve(self.squares + penalty, self.products)
        weights = np.asarray(solved, dtype=np.float64)
        explained = 2 * weights @ self.products - weights @ self.squares @ weights
        return weights, float(explained / self.total)


def tune(settings: Settings, show: Any = print) -> Weights:
    """Return weights fitted in some rounds; the same settings give the same weights."""
    rules = as_rules(settings.rules)
    zeros = {kind: np.zeros(len(names)) for kind, names in NAMES.items()}
    zeros["take"][TAKE.index("worth of the best ten")] = 1.0
    weights = Weights(**zeros)
    for number in range(settings.rounds):
        begun = monotonic()
        options = champion_with(weights)
        base: Policy = options if number else Lookahead(knock_turns=5)
        sums = {
            kind: Sums(
                np.zeros((len(names), len(names))), np.zeros(len(names)), np.zeros(len(names))
            )
            for kind, names in NAMES.items()
        }
        for place, name in enumerate(settings.opponents):
            opponent = base if name == "self" else make_policy(name)
            notes = Notes()
            seed = settings.seed * 10_000 + number * 100 + place
            played = play(
                Explorer(base, settings),
                opponent,
                rules,
                seed,
                settings.games,
                partial(note, notes, options),
            )
            for kind, pieces in notes.features.items():
                for features, deals in zip(pieces, notes.deals[kind], strict=True):
                    values = played.gained[np.searchsorted(played.deals, deals)]
                    sums[kind].add(features, values)
        fitted = {kind: each.solve(settings.ridge) for kind, each in sums.items()}
        new = {kind: solved for kind, (solved, _) in fitted.items()}
        if not number:
            new["take"] = zeros["take"]  # the estimate that it starts from was not there yet
        weights = Weights(**new)
        said = ", ".join(
            f"{kind} {sums[kind].count:,} ({100 * share:.1f} %)"
            for kind, (_, share) in fitted.items()
        )
        show(f"round {number}: {said}; {monotonic() - begun:.0f} s")
    return weights


def write(path: Path, settings: Settings, weights: Weights) -> None:
    """Put a set of weights, and how it was made, in its place in the file."""
    sets = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    named = {
        kind: {
            name: float(f"{weight:.6g}")
            for name, weight in zip(names, getattr(weights, kind), strict=True)
        }
        for kind, names in NAMES.items()
    }
    made = {
        **asdict(settings),
        "command": f"ginrummy fit champion --rules {settings.rules}",
    }
    sets[settings.rules] = {"made by": made, "weights": named}
    text = json.dumps(dict(sorted(sets.items())), indent=1, ensure_ascii=False)
    write_whole(path, text + "\n")
