"""Self-play: games of any agents as data, every decision a row, in Parquet shards.

    ginrummy selfplay lookahead --games 10000 --rules eaai --out data/lookahead

A shard is a function of the plan and of the numbers of its games alone. So it is the same to the
last byte whichever process or machine makes it, one that is there already is not made again, and
more games may be added later. `shards` writes and reads the files, `positions` says what a row is.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ginrummy_env
from agents.explain import Explanation, act_and_explain, explain
from ginrummy_env.core.cards import Rows
from ginrummy_env.core.chance import RowRandom, keys, require_seed
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import Rules, as_rules, rules_name
from ginrummy_env.core.state import NOBODY, BatchState
from ginrummy_env.core.view import View, make_view
from ginrummy_env.policy import Policy, make_policy, parse_spec
from training.files import ResultError, write_json, write_whole
from training.lockstep import Games, Lockstep, deck_numbers
from training.match import agent_name, typed_command, versions
from training.positions import COLUMNS, Columns, columns_of, joined
from training.shards import (
    CARD,
    FORMAT,
    GAME_COLUMNS,
    GAMES,
    POSITIONS,
    Shard,
    Values,
    arrow,
    games_file,
    games_in,
    load,
    positions_file,
    read_card,
    shard_name,
)
from training.table import Table
from training.win_chance import TEACHING_GAMES
from training.workers import run_apart

__all__ = ["Plan", "load", "make_shard", "plan_of", "selfplay"]

REPORT_SECONDS = 0.5
"""How often is told how many games have been played."""

Say = Callable[[int], None]
"""Called with how many games have ended since it was last called."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played, and how it is cut into shards. It decides every byte of every shard."""

    agents: tuple[str | Policy, ...]
    """Each once."""
    pairs: tuple[tuple[int, int], ...]
    """Who plays whom, by their numbers; games 2k and 2k + 1 are of pair k mod the number of these,
    on the same decks with the seats swapped."""
    rules: Rules
    seed: int
    shard_games: int
    max_deals: int
    values: bool
    """Whether what the agents think is kept."""

    @property
    def names(self) -> list[str]:
        """What the agents are called."""
        return [agent_name(agent) for agent in self.agents]

    def settings(self) -> dict[str, Any]:
        """Return it as JSON can hold it; folders whose settings differ hold different data."""
        return {
            "agents": [_about(agent) for agent in self.agents],
            "pairs": [list(pair) for pair in self.pairs],
            "rules": self.rules.to_dict(),
            "seed": self.seed,
            "shard_games": self.shard_games,
            "max_deals": self.max_deals,
            "values": self.values,
        }

    def range_of(self, number: int, games: int) -> range:
        """Return the games of a shard if there are so many in all."""
        return range(number * self.shard_games, min((number + 1) * self.shard_games, games))


def _about(agent: str | Policy) -> dict[str, Any]:
    """Return an agent's name, and what is in the file that it reads, if it reads one."""
    about: dict[str, Any] = {"name": agent_name(agent)}
    if isinstance(agent, str):
        for value in parse_spec(agent)[1].values():
            if isinstance(value, str) and Path(value).is_file():
                about["sha256"] = hashlib.sha256(Path(value).read_bytes()).hexdigest()
    return about


def plan_of(
    agents: Sequence[str | Policy],
    *,
    rules: str | Rules | dict[str, Any] = "classic",
    seed: int = 0,
    shard_games: int = 1_000,
    max_deals: int = 1_000,
    values: bool = True,
) -> Plan:
    """Return a plan for agents: one plays itself, of several everyone plays everyone.

    Raises:
        ValueError: no such agent or rules, or a bad number.
    """
    if not agents:
        raise ValueError("at least one agent is needed")
    for name, number in (("shard_games", shard_games), ("max_deals", max_deals)):
        if number < 1:
            raise ValueError(f"{name}={number}: at least 1 is needed")
    if shard_games % 2:
        raise ValueError(f"shard_games={shard_games}: an even number is needed, games are in pairs")
    every = [agents[0], agents[0]] if len(agents) == 1 else list(agents)
    names = [agent_name(agent) for agent in every]
    unique = dict(zip(names, every, strict=True))
    for agent in unique.values():
        make_policy(agent)
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
        values,
    )


class Recorded(Lockstep):
    """Games whose every decision is noted.

    Decks are those of teaching: neither matches nor environments have them, so that no agent is
    measured on cards from which it has learned.
    """

    def __init__(self, policies: Sequence[Policy], games: Games, plan: Plan) -> None:
        """Start all the games at once."""
        self._values = plan.values
        self._who = {id(policy): number for number, policy in enumerate(policies)}
        self._rows: list[Columns] = []
        self._thoughts: list[Values] = []
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
        """Return game numbers that no match has."""
        return deck_numbers(games) + np.uint64(TEACHING_GAMES)

    def decide(self, policy: Policy, view: View, rng: RowRandom, places: Rows) -> NDArray[np.int16]:
        """Ask the policy, and note what it sees, does and thinks."""
        told: Explanation | None = None
        if self._values:
            actions, told = act_and_explain(policy, view, rng)
        else:
            actions = policy.act(view, rng)
        columns = columns_of(view)
        columns["place"] = places.astype(np.int32)
        columns["agent"] = np.full(len(view), self._who[id(policy)], dtype=np.int8)
        columns["action"] = np.asarray(actions).astype(np.uint8)
        self._rows.append(columns)
        self._thoughts.append(_values(told, len(view)))
        return actions

    def deals_over(self, state: BatchState, rows: Rows, places: Rows) -> None:
        """Note how deals have ended."""
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
        """Return all decisions, sorted by game, deal and step, with what came of them.

        Args:
            table: a row a game, in the order of the games.
        """
        columns = joined(self._rows)
        order = np.lexsort((columns["step"], columns["deal"], columns["place"]))
        columns = {name: column[order] for name, column in columns.items()}
        thoughts = Values(
            *(
                np.concatenate([getattr(part, name) for part in self._thoughts])
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
        return columns, thoughts


def _values(told: Explanation | None, count: int) -> Values:
    """Return an explanation's values in rows of unequal length."""
    if told is None:
        return Values(
            np.zeros(count, dtype=np.int64), np.zeros(0, dtype=np.uint8), np.zeros(0, np.float32)
        )
    known = ~np.isnan(told.values)
    rows, actions = np.nonzero(known)
    values = told.values[rows, actions].astype(np.float32)
    return Values(known.sum(axis=1), actions.astype(np.uint8), values)


def make_shard(plan: Plan, number: int, games: int, say: Say | None = None) -> Shard:
    """Play the games of a shard and return its files: a function of what it is given alone.

    Args:
        plan: what is played.
        number: of the shard.
        games: how many games there are in all shards.
        say: is told how it goes.

    Raises:
        IllegalActionError: an agent did what it may not.
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
            if say is not None:
                say(len(some))
            due = monotonic() + REPORT_SECONDS
    table = np.sort(np.concatenate(ended), order="game")
    columns, thoughts = played.rows(table)
    about = {"games": len(numbers), "first": int(numbers[0]), "last": int(numbers[-1])}
    return Shard(
        number,
        positions_file(columns, thoughts, plan.names, {**about, "rows": len(columns["game"])}),
        games_file(table, pairs, plan.names, about),
    )


def write_shard(folder: Path, shard: Shard) -> None:
    """Write a shard, each file whole, that of the games last."""
    name = shard_name(shard.number)
    write_whole(folder / POSITIONS / name, shard.positions)
    write_whole(folder / GAMES / name, shard.games)


@dataclass(slots=True)
class Progress:
    """How far self-play has come; called, it tells `tell` so."""

    games: int
    """In all."""
    done: int = 0
    """Games that have ended."""
    tell: Callable[[int, int], None] = field(default=lambda done, games: None)

    def __call__(self, more: int) -> None:
        """So many further games have ended."""
        self.done += more
        self.tell(self.done, self.games)


Maker = Callable[[Plan, Sequence[int], int, Say], Iterable[Shard]]
"""What makes the shards of these numbers, in any order, if there are so many games in all."""


def selfplay(
    folder: Path,
    plan: Plan,
    games: int,
    *,
    workers: int = 1,
    maker: Maker | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Play games and keep them, or those that are missing.

    Args:
        folder: for the shards and the data card.
        plan: what is played; a folder that holds something keeps its own.
        games: how many in all, an even number. A folder with fewer is added to.
        workers: processes. They change the speed, never a byte.
        maker: makes the shards in their place, somewhere else.
        tell: is told how many games of how many have been played.

    Returns:
        The data card.

    Raises:
        ValueError: a bad number, or a plan that is not the folder's.
        ResultError: the folder is damaged.
    """
    arrow()  # found missing at once
    if games < 2 or games % 2:
        raise ValueError(f"games={games}: an even number is needed, games are in pairs")
    if workers < 1:
        raise ValueError(f"workers={workers}: at least 1 is needed")
    card = _begin(folder, plan, games)
    numbers = range(-(-games // plan.shard_games))
    missing = [
        number
        for number in numbers
        if min(_games_kept(folder, number)) < len(plan.range_of(number, games))
    ]
    progress = Progress(games, tell=tell or (lambda done, games: None))
    progress(games - sum(len(plan.range_of(number, games)) for number in missing))
    if maker is not None:
        for shard in maker(plan, missing, games, progress):
            write_shard(folder, shard)
    elif workers == 1 or len(missing) < 2:
        for number in missing:
            write_shard(folder, make_shard(plan, number, games, progress))
    elif missing:
        shares = [
            (folder, plan, missing[worker::workers], games)
            for worker in range(min(workers, len(missing)))
        ]
        run_apart(_work, shares, progress)
    return _finish(folder, card)


def _work(share: tuple[Path, Plan, list[int], int], send: Callable[[Any], None]) -> None:
    """Make and write a worker's shards."""
    folder, plan, numbers, games = share
    for number in numbers:
        write_shard(folder, make_shard(plan, number, games, send))


def _games_kept(folder: Path, number: int) -> tuple[int, int]:
    """Return how many games the two files of a shard are of."""
    name = shard_name(number)
    return games_in(folder / POSITIONS / name), games_in(folder / GAMES / name)


def _begin(folder: Path, plan: Plan, games: int) -> dict[str, Any]:
    """Return the folder's data card, a new one if it has none.

    Raises:
        ValueError: the folder holds something else.
    """
    here = plan.settings()
    if (folder / CARD).exists():
        card = read_card(folder)
        there = card["settings"]
        for name in here:
            if here[name] != there.get(name):
                raise ValueError(
                    f"{folder} holds other data: {name} is {there.get(name)!r} there and "
                    f"{here[name]!r} here; name another folder"
                )
        version = card["versions"].get("ginrummy_env")
        if version != ginrummy_env.__version__:
            raise ValueError(
                f"{folder} was played with ginrummy_env {version}, this is "
                f"{ginrummy_env.__version__}; name another folder"
            )
        return card
    if any((folder / part).exists() for part in (POSITIONS, GAMES)):
        raise ResultError(f"{folder}: shards without a {CARD}; name another folder")
    pyarrow, _ = arrow()
    card = {
        "format": FORMAT,
        "about": "Gin rummy: every decision of the games that agents played, and the games. "
        "docs/DATA.md of ginrummy_env says what each column means.",
        "rules": rules_name(plan.rules),
        "settings": here,
        "units": dict(zip(plan.names, _units(plan), strict=True)),
        "command": typed_command(),
        "versions": {**versions(), "pyarrow": pyarrow.__version__},
        "games": 0,
        "positions": 0,
        "bytes": 0,
        "schema": {
            POSITIONS: [
                {"name": each.name, "type": each.dtype, "who": each.who, "about": each.text}
                for each in COLUMNS
            ],
            GAMES: [{"name": name, "type": kind} for name, kind in GAME_COLUMNS],
        },
    }
    write_json(folder / CARD, card)
    return card


def _units(plan: Plan) -> list[str | None]:
    """Return what each agent's values are, None for those that tell nothing."""
    if not plan.values:
        return [None] * len(plan.agents)
    games = np.array([TEACHING_GAMES], dtype=np.uint64)
    view = make_view(new_games(np.uint64(plan.seed), games, plan.rules), plan.rules)
    told = [explain(make_policy(agent), view, RowRandom(keys([0]))) for agent in plan.agents]
    return [each.unit if each is not None else None for each in told]


def _finish(folder: Path, card: dict[str, Any]) -> dict[str, Any]:
    """Count what is there and write the data card."""
    _, parquet = arrow()
    positions = sorted((folder / POSITIONS).glob("[0-9]*.parquet"))
    games = sorted((folder / GAMES).glob("[0-9]*.parquet"))
    card["games"] = sum(parquet.read_metadata(path).num_rows for path in games)
    card["positions"] = sum(parquet.read_metadata(path).num_rows for path in positions)
    card["bytes"] = sum(path.stat().st_size for path in (*positions, *games))
    write_json(folder / CARD, card)
    return card
