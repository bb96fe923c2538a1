"""The games of the self-play learner: what a rollout holds, and how it is played."""

from collections import Counter
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from ginrummy_agents.learned.advice import with_advice
from ginrummy_agents.learned.inputs import feature_names, feature_sizes, with_ahead
from ginrummy_agents.learned.scaling import scaled, scaled_sizes
from ginrummy_agents.win_chance import win_chance
from ginrummy_env import GinRummySelfPlayEnv, Policy, make_policy
from ginrummy_env.core.actions import DRAW_STOCK, KNOCK
from ginrummy_env.core.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, card_planes
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.deadwood import deadwood, knock_discards
from ginrummy_env.core.types import Flat
from ginrummy_env.core.view import View
from ginrummy_training.learning.selfplay.network import (
    HIDDEN_PLANES,
    HIDDEN_SCALARS,
    NOT_LEGAL,
    Actor,
    by_suit,
    hidden_planes,
)
from ginrummy_training.learning.selfplay.settings import POOL, SELF, SelfPlaySettings

POINTS_A_UNIT = 50
"""Points of a deal that are a reward of 1."""

_GAMES, _OPPONENTS, _HELD, _EXPERT = 111, 113, 114, 115
"""What random numbers are for, part of their key."""
_KNOCKS = slice(KNOCK, DRAW_STOCK)


class Rollout:
    """T decisions in each of N games, and what came of them."""

    def __init__(self, settings: SelfPlaySettings, games: int) -> None:
        """Make room; one position more than decisions is seen."""
        planes, scalars = feature_sizes(
            settings.derived, settings.ahead, settings.units, settings.advice
        )
        steps = settings.num_steps
        own, hidden = planes * NUM_RANKS, HIDDEN_PLANES * NUM_RANKS
        self.cards = torch.empty(steps + 1, games, NUM_SUITS, own)
        self.common = torch.empty(steps + 1, games, own + scalars)
        """What is `network.of_all_suits`, then scalars."""
        self.scalars = self.common[:, :, own:]
        self.hidden_cards = torch.empty(steps + 1, games, NUM_SUITS, hidden)
        self.hidden_common = torch.empty(steps + 1, games, hidden + HIDDEN_SCALARS)
        self.hidden_scalars = self.hidden_common[:, :, hidden:]
        self.masks = torch.empty(steps + 1, games, 108, dtype=torch.bool)
        self.actions = torch.empty(steps, games, dtype=torch.long)
        self.logs = torch.empty(steps, games)
        self.expert = torch.empty(steps, games, dtype=torch.long)
        """What the expert would do, as long as there is one."""
        self.seats = np.empty((steps + 1, games), dtype=np.int8)
        self.ahead = np.empty((steps + 1, games), dtype=np.float32)
        """The mover's lead in deadwood, in units of the reward."""
        self.rewards = np.empty((steps, games, 2), dtype=np.float32)
        self.over = np.empty((steps, games), dtype=np.bool_)
        self.learned = np.empty((steps, games), dtype=np.bool_)
        """Whether the learner made the decision and had a choice."""

    def write(
        self, step: int, planes: Flat | NDArray[np.bool_], scalars: Flat, *, hidden: bool = False
    ) -> None:
        """Write what is seen in a step, or what is hidden: planes [N, C × 52], scalars [N, S]."""
        cards = (self.hidden_cards if hidden else self.cards)[step]
        common = (self.hidden_common if hidden else self.common)[step]
        by_suit(planes, out=cards.numpy())
        own = cards.shape[2]
        torch.sum(cards, 1, out=common[:, :own])
        common[:, own:] = torch.from_numpy(scalars)

    def seen(self, rows: torch.Tensor, *, hidden: bool = False) -> list[torch.Tensor]:
        """Return decisions by their number: what `Actor` takes, with ``hidden`` what `Critic`."""
        parts = [self.cards, self.common, self.hidden_cards, self.hidden_common]
        some = parts if hidden else parts[:2]
        return [
            part.flatten(0, 1).flatten(1).index_select(0, rows).view(-1, *part.shape[2:])
            for part in some
        ]


class Table:
    """This worker's games: plays rollouts with the policy and with the opponents of some rows."""

    def __init__(self, settings: SelfPlaySettings, rank: int = 0) -> None:
        """Make the games of one worker."""
        self.settings = settings
        games = settings.num_envs // settings.workers
        self.rows = rank * games + np.arange(games)
        self.env = GinRummySelfPlayEnv(
            games, rules=settings.parsed_rules(), reward="points", max_deals=settings.max_deals,
            features="derived" if settings.derived else "raw", report_deals=False,
        )  # fmt: skip
        self.endings: Counter[str] = Counter()
        self.opponents: list[Policy] = []
        self.expert = make_policy(settings.expert) if settings.expert else None
        self.assignment = np.full(games, -1)
        self.theirs = (self.rows % 2).astype(np.int8)
        self.held = np.zeros((games, 2), dtype=np.int16)
        """The knock limit that each player holds to in the deal."""
        self.as_played = not {SELF, POOL} & {name for name, share in settings.opponents if share}
        """Whether the learner keeps to its own `hold` too, as it meets agents alone."""
        names = feature_names(settings.derived, settings.ahead, settings.units, settings.advice)
        planes = feature_sizes(settings.derived, settings.ahead, settings.units, settings.advice)[0]
        self._limit_at = names.index("knock_limit") - planes + NUM_CARDS * planes

    def begin(self, steps: int) -> None:
        """Begin new games: those of the lap that begins after ``steps`` decisions."""
        seeds = keys(_GAMES, self.settings.seed, steps, self.rows)
        self.observations, self.infos = self.env.reset(seed=[int(seed) for seed in seeds])
        self._hold(np.arange(len(self.rows)), steps, -1)

    def _hold(self, rows: NDArray[np.intp], update: int, step: int) -> None:
        """Draw the limits that both players hold to in the deals that begin."""
        limits = self.env.state.knock_limit[rows, None]
        drawn = RowRandom(keys(_HELD, self.settings.seed, update, step + 1, self.rows[rows]))
        free, gin = (drawn.random((len(rows), 2)) >= p for p in (self.settings.held, 0.5))
        lower = np.floor(drawn.random((len(rows), 2)) * limits).astype(np.int16)
        self.held[rows] = np.where(free, limits, np.where(gin, 0, lower))

    def invite(self, policies: list[Policy], assignment: NDArray[np.intp]) -> None:
        """Let policies play one seat of some games: assignment [N], -1 where both are learned."""
        self.opponents, self.assignment = policies, assignment

    def play(self, actor: Actor, rollout: Rollout, noise: torch.Generator, update: int) -> None:
        """Fill a rollout, which begins after ``update`` decisions."""
        expert = self.expert if update < self.settings.imitate else None
        for step in range(self.settings.num_steps):
            self._see(rollout, step)
            masks = rollout.masks[step]
            logits = actor(rollout.cards[step], rollout.common[step])
            logits = torch.where(masks, logits, NOT_LEGAL)
            drawn = torch.rand(logits.shape, generator=noise).clamp_(1e-10, 1 - 1e-7)
            drawn.log_().neg_().log_()
            actions = (logits - drawn).argmax(1)  # by the Gumbel trick
            learned = (masks.sum(1) > 1).numpy()
            if expert is not None:
                draws = keys(_EXPERT, self.settings.seed, update, step, self.rows)
                given = expert.act(self._views(), RowRandom(draws))
                rollout.expert[step] = torch.from_numpy(given.astype(np.int64))
            for number, policy in enumerate(self.opponents):
                rows = np.flatnonzero(
                    (self.assignment == number) & (rollout.seats[step] == self.theirs)
                )
                if rows.size:
                    draws = keys(_OPPONENTS, self.settings.seed, update, step, self.rows[rows])
                    given = policy.act(self.env.views(rows), RowRandom(draws))
                    actions[rows] = torch.from_numpy(given.astype(np.int64))
                    learned[rows] = False
            rollout.learned[step], rollout.actions[step] = learned, actions
            rollout.logs[step] = logits.log_softmax(1).gather(1, actions[:, None])[:, 0]
            scores = self.env.state.scores.copy()
            self.observations, rewards, over, _, self.infos = self.env.step(actions.numpy())
            rollout.over[step], rollout.rewards[step] = over, 0
            if over.any():
                rows = np.flatnonzero(over)
                self._pay(rollout.rewards[step], rows, rewards, scores)
                self._hold(rows, update, step)
        self._see(rollout, self.settings.num_steps)

    def _views(self) -> View:
        """Return the views of those to move, each with the knock limit that they hold to."""
        return replace(self.env.views(), knock_limit=self._limits())

    def _see(self, rollout: Rollout, step: int) -> None:
        """Write what is seen now into the rollout."""
        settings, state, seen = self.settings, self.env.state, self.observations
        if settings.units:
            seen = scaled(seen)
            if settings.advice:
                seen = with_advice(seen, scaled_sizes()[0], self._views())
        elif settings.ahead:
            seen = with_ahead(seen, self.env.views(), settings.derived)
        at = (
            NUM_CARDS
            * feature_sizes(settings.derived, settings.ahead, settings.units, settings.advice)[0]
        )
        games = np.arange(len(state))
        limits = self._limits()
        rollout.write(step, seen[:, :at], seen[:, at:])
        rollout.scalars[step, :, self._limit_at - at] = torch.from_numpy(limits / 10)
        held, deck = self.held[games, 1 - state.player], self.env.rules.full_deck
        hidden, scalars, waiting = hidden_planes(state, held, deck)
        rollout.write(step, hidden, scalars, hidden=True)
        hands = state.hands[games, state.player]
        mine = deadwood(hands)
        rollout.ahead[step] = (waiting.astype(np.float32) - mine) / POINTS_A_UNIT
        rollout.seats[step] = self.infos["seat"]
        masks = self.infos["action_mask"].view(np.bool_)
        low = np.flatnonzero((limits < state.knock_limit) & masks[:, _KNOCKS].any(axis=1))
        if low.size:
            kept = masks[low]
            kept[:, _KNOCKS] &= card_planes(knock_discards(hands[low], limits[low]))
            masks[low] = np.where(kept.any(axis=1)[:, None], kept, masks[low])
        rollout.masks[step] = torch.from_numpy(masks)

    def _limits(self) -> NDArray[np.int16]:
        """Return the knock limit that the player to move in each game keeps to."""
        state, settings = self.env.state, self.settings
        limits = self.held[np.arange(len(state)), state.player]
        if self.as_played:
            holding = (state.player != self.theirs) & (state.turn // 2 >= settings.hold_from)
            limits = np.where(holding, np.minimum(limits, settings.hold), limits)
        return limits.astype(np.int16)

    def _pay(
        self,
        to: Flat,
        rows: NDArray[np.intp],
        rewards: NDArray[np.float64],
        scores: NDArray[np.int16],
    ) -> None:
        """Pay deals that are over, and count how they ended."""
        points = np.rint(100 * rewards[rows, 0]).astype(np.int16)
        if self.settings.reward == "points":
            paid = points / POINTS_A_UNIT
        else:
            rules, before = self.env.rules, scores[rows]
            after = win_chance(before, points, rules)
            paid = 2 * (after - win_chance(before, np.zeros_like(points), rules))
        to[rows, 0], to[rows, 1] = paid, -paid
        self.endings["deals"] += len(rows)
        self.endings["won"] += int((points != 0).sum())
