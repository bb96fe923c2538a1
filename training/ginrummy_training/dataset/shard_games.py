"""One shard of self-play: the plan, the games with every decision recorded, and its two files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.explain import Explanation, act_and_explain
from ginrummy_env.core.chance import FirstGame, RowRandom, require_seed
from ginrummy_env.core.checks import flag, whole
from ginrummy_env.core.rules import Rules, as_rules
from ginrummy_env.core.state import NOBODY, BatchState
from ginrummy_env.core.types import Rows
from ginrummy_env.core.view import View
from ginrummy_env.policy import Policy, SeatPolicy, make_policy
from ginrummy_training.dataset.schema import Columns, columns_of, joined
from ginrummy_training.dataset.shards import Shard, Values, games_file, positions_file
from ginrummy_training.evaluation.game_table import Table
from ginrummy_training.evaluation.lockstep import (
    Games,
    Lockstep,
    deck_numbers,
    settles_by_own_melds,
)
from ginrummy_training.provenance import agent_name, fingerprints

REPORT_SECONDS = 0.5
"""Seconds between reports of how many games have ended."""

Report = Callable[[int], None]
"""Called with the number of games that have ended since the last call."""

MOST_GAMES = 10**12
"""Of a data set."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played, and how it is split into shards. It determines every byte of every shard."""

    agents: tuple[str | Policy, ...]
    """Each once."""
    pairs: tuple[tuple[int, int], ...]
    """Who plays whom, as indices of ``agents``; games 2k and 2k + 1 are of pair k modulo the number
    of pairs, on the same decks with the seats swapped."""
    rules: Rules
    seed: int
    shard_games: int
    max_deals: int
    values: bool
    """Whether the agents' values of actions are stored."""

    @property
    def names(self) -> list[str]:
        """The agents' names."""
        return [agent_name(agent) for agent in self.agents]

    def settings(self) -> dict[str, Any]:
        """Return the plan as JSON can hold it; folders whose settings differ hold other data."""
        return {
            "agents": self.names,
            "pairs": [list(pair) for pair in self.pairs],
            "rules": self.rules.to_dict(),
            "seed": self.seed,
            "shard_games": self.shard_games,
            "max_deals": self.max_deals,
            "values": self.values,
        }

    def made_by(self) -> dict[str, Any]:
        """Return the fingerprints of the agents and of the code that writes the rows."""
        agents = dict(zip(self.names, self.agents, strict=True))
        return fingerprints(agents, also=["ginrummy_training.dataset.schema"])

    def range_of(self, number: int, games: int) -> range:
        """Return the numbers of a shard's games, given the number of games in all."""
        return range(number * self.shard_games, min((number + 1) * self.shard_games, games))


def plan_of(
    agents: Sequence[str | Policy],
    *,
    rules: str | Rules | dict[str, Any] = "classic",
    seed: int = 0,
    shard_games: int = 1_000,
    max_deals: int = 1_000,
    values: bool = True,
) -> Plan:
    """Return a plan: one agent plays itself; of several, everyone plays everyone.

    Raises:
        ValueError: no such agent or rules, two agents of one name, or a bad number.
    """
    if not agents:
        raise ValueError("at least one agent is needed")
    shard_games = whole("shard_games", shard_games, 2, 1_000_000)
    max_deals = whole("max_deals", max_deals, 1, 1_000_000)
    if shard_games % 2:
        raise ValueError(f"shard_games={shard_games}: an even number is needed, games are in pairs")
    every = [agents[0], agents[0]] if len(agents) == 1 else list(agents)
    names = [agent_name(agent) for agent in every]
    unique = dict(zip(names, every, strict=True))
    for name, agent in zip(names, every, strict=True):
        if agent is not unique[name] and not isinstance(agent, str):
            raise ValueError(f"two agents are called {name!r}: give each a name of its own")
    for name, agent in unique.items():
        if settles_by_own_melds(make_policy(agent)):
            raise ValueError(f"{name}: data are settled by the rules; leave out melds=own")
    if len(unique) > 127:
        raise ValueError(f"{len(unique)} agents: at most 127 are possible")
    place = {name: number for number, name in enumerate(unique)}
    return Plan(
        tuple(unique.values()),
        tuple((place[a], place[b]) for a, b in combinations(names, 2)),
        as_rules(rules),
        require_seed(seed),
        shard_games,
        max_deals,
        flag("values", values),
    )


class Recorded(Lockstep):
    """Games in which every decision is recorded.

    The decks are reserved for learning: no match or environment uses them, so no agent is measured
    on decks that it has learned from.
    """

    def __init__(self, policies: Sequence[Policy], games: Games, plan: Plan) -> None:
        """Start all games."""
        self._wanted = plan.values
        self._who = {id(policy): number for number, policy in enumerate(policies)}
        self._rows: list[Columns] = []
        self._values: list[Values] = []
        self._results: list[Columns] = []
        super().__init__(
            policies,
            games,
            plan.rules,
            seed=plan.seed,
            batch=len(games),
            max_deals=plan.max_deals,
        )

    def decks(self, games: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return game numbers that no match uses."""
        return deck_numbers(games) + np.uint64(FirstGame.LEARNING)

    def decide(self, policy: Policy, view: View, rng: RowRandom, places: Rows) -> NDArray[np.int16]:
        """Ask the policy; record what it sees, its action and its values."""
        explained: Explanation | None = None
        if self._wanted and not isinstance(policy, SeatPolicy):
            actions, explained = act_and_explain(policy, view, rng)
        else:
            actions = super().decide(policy, view, rng, places)
            self._require_no_forfeit(policy, view, places, actions)
        columns = columns_of(view)
        columns["place"] = places.astype(np.int32)
        columns["agent"] = np.full(len(view), self._who[id(policy)], dtype=np.int8)
        columns["action"] = np.asarray(actions).astype(np.uint8)
        self._rows.append(columns)
        self._values.append(_values(explained, len(view)))
        return actions

    def _require_no_forfeit(
        self, policy: Policy, view: View, places: Rows, actions: NDArray[np.int16]
    ) -> None:
        """Raise ValueError if a policy has lost a game by a fault: data need whole games."""
        lost = np.flatnonzero(actions < 0)
        if lost.size and isinstance(policy, SeatPolicy):
            row = int(lost[0])
            reason = policy.forfeit_reason(int(self.seat_numbers[places[row], view.player[row]]))
            raise ValueError(f"{policy!r} forfeited a game, and data need whole games: {reason}")

    def deals_over(self, state: BatchState, rows: Rows, places: Rows) -> None:
        """Record how deals ended."""
        super().deals_over(state, rows, places)
        self._results.append(
            {
                "place": places,
                **{
                    name: getattr(state, name)[rows]
                    for name in ("deal_number", "outcome", "winner", "knocker", "points")
                },
            }
        )

    def rows(self, table: Table) -> tuple[Columns, Values]:
        """Return all decisions with their outcomes, sorted by game, deal and step.

        Args:
            table: one row per game, in order.
        """
        columns = joined(self._rows)
        order = np.lexsort((columns["step"], columns["deal"], columns["place"]))
        columns = {name: column[order] for name, column in columns.items()}
        values = Values(
            *(
                np.concatenate([getattr(part, name) for part in self._values])
                for name in ("counts", "actions", "values")
            )
        ).select(order)
        place, player = columns.pop("place"), columns["player"]
        columns["game"] = table["game"][place]
        results = {
            name: np.concatenate([part[name] for part in self._results])
            for name in self._results[0]
        }
        deals = results["place"].astype(np.int64) << 32 | results["deal_number"]
        by_deal = np.argsort(deals)
        wanted = place.astype(np.int64) << 32 | columns["deal"]
        found = by_deal[np.searchsorted(deals[by_deal], wanted)]
        winner = results["winner"][found]
        sign = np.where(winner == NOBODY, 0, np.where(winner == player, 1, -1))
        knocker = results["knocker"][found]
        seat_won = table["winner"] ^ table["seat_a"]
        won = np.where(table["winner"][place] == NOBODY, -1, seat_won[place] == player)
        columns["result_outcome"] = results["outcome"][found]
        columns["result_points"] = (sign * results["points"][found]).astype(np.int16)
        columns["result_winner"] = np.where(winner == NOBODY, winner, winner ^ player)
        columns["result_knocker"] = np.where(knocker == NOBODY, knocker, knocker ^ player)
        columns["result_game_won"] = won.astype(np.int8)
        return columns, values


def _values(explained: Explanation | None, count: int) -> Values:
    """Return an explanation's values as rows of unequal length."""
    if explained is None:
        return Values(
            np.zeros(count, dtype=np.int64), np.zeros(0, dtype=np.uint8), np.zeros(0, np.float32)
        )
    known = ~np.isnan(explained.values)
    rows, actions = np.nonzero(known)
    values = explained.values[rows, actions].astype(np.float32)
    return Values(known.sum(axis=1), actions.astype(np.uint8), values)


def make_shard(plan: Plan, number: int, games: int, report: Report | None = None) -> Shard:
    """Play the games of a shard and return its files: a function of the arguments alone.

    Args:
        plan: what is played.
        number: of the shard.
        games: total of all shards.
        report: called now and then, see `Report`.

    Raises:
        IllegalActionError: an agent chose an illegal action.
    """
    numbers = np.array(plan.range_of(number, games), dtype=np.int64)
    pairs = np.array(plan.pairs, dtype=np.int8)[numbers // 2 % len(plan.pairs)]
    policies = [make_policy(agent) for agent in plan.agents]
    played = Recorded(policies, Games(np.zeros(len(numbers), dtype=np.intp), numbers, pairs), plan)
    ended: list[Table] = []
    due = monotonic()
    while played.running:
        played.step()
        if monotonic() >= due or not played.running:
            _, some, _ = played.collect()
            ended.append(some)
            if report is not None:
                report(len(some))
            due = monotonic() + REPORT_SECONDS
    table = np.sort(np.concatenate(ended), order="game")
    columns, values = played.rows(table)
    about = {"games": len(numbers), "first": int(numbers[0]), "last": int(numbers[-1])}
    return Shard(
        number,
        len(numbers),
        len(columns["game"]),
        positions_file(columns, values, plan.names, {**about, "rows": len(columns["game"])}),
        games_file(table, pairs, plan.names, about),
    )
