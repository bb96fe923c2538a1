"""Records with what a policy thought beside each decision: values of candidates, and the estimate.

>>> from ginrummy_training.evaluation.match import Match, record_games
>>> from ginrummy_env.core.rules import EAAI
>>> match = Match(("simple", "simple"), EAAI, seed=5)
>>> annotate(record_games(match, 2), "simple")[0].deals[0].annotations  # `simple` tells nothing
()
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.explain import Explanation, explain
from ginrummy_env.core.chance import Purpose, RowRandom, keys, policy_keys
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy, make_policy
from ginrummy_env.records.data import MAX_NOTE
from ginrummy_env.records.recorder import Annotation, DealRecord, GameRecord, replay
from ginrummy_training.evaluation.match import record_games
from ginrummy_training.evaluation.match_result import Match

CANDIDATES = 8
"""At most so many values stand beside a decision: the best, and that of what was done."""

DECISIONS = 4_000
"""At most so many decisions of a game carry values; a game of ordinary length has some 400."""


def record_match(
    match: Match, games: int, policies: dict[str, str | Policy] | None = None
) -> list[GameRecord]:
    """Return the first games of a match as records, with what the agents thought.

    Args:
        match: it.
        games: how many.
        policies: what stands behind a name; the registered agent if it is not here.
    """
    behind = policies or {}
    a, b = (make_policy(behind.get(name, name)) for name in match.agents)
    numbers = np.arange(games)
    row_keys = policy_keys(Purpose.MATCH, np.uint64(match.seed), numbers)
    return [
        annotate_game(record, (a, b) if number % 2 == 0 else (b, a), row_keys[number])
        for number, record in enumerate(record_games(match, games, policies))
    ]


def annotate(records: Sequence[GameRecord], policy: str | Policy) -> list[GameRecord]:
    """Return records with what one policy thinks of both players' decisions.

    Args:
        records: any.
        policy: such as ``"search:128"``.

    Raises:
        ValueError: no such policy.
        RecordError: the rules do not allow a record.
    """
    judge = make_policy(policy)
    row_keys = keys(Purpose.ANNOTATION, np.arange(len(records)))
    return [
        annotate_game(record, (judge, judge), key, str(policy) if isinstance(policy, str) else "")
        for record, key in zip(records, row_keys, strict=True)
    ]


def annotate_game(
    record: GameRecord, policies: tuple[Policy, Policy], game_key: np.uint64, judge: str = ""
) -> GameRecord:
    """Return a record with what the policies think; one that tells nothing leaves no remark.

    Args:
        record: a game.
        policies: of players 0 and 1.
        game_key: what all chance in the policies follows from, as in a match.
        judge: who is asked, if it is not the player himself; stands in the notes.
    """
    deals = []
    left = DECISIONS
    for deal, states in zip(record.deals, replay(record), strict=True):
        found: dict[int, Annotation] = {}
        count = min(len(deal.actions), left)
        for player, policy in enumerate(policies):
            rows = np.flatnonzero(states.player[:count] == player)
            if rows.size:
                found |= _think(record, deal, states, rows, policy, game_key, judge)
        left -= len(found)
        annotations = tuple(found[step] for step in sorted(found))
        deals.append(replace(deal, annotations=annotations or deal.annotations))
    return replace(record, deals=tuple(deals))


def _think(
    record: GameRecord,
    deal: DealRecord,
    states: BatchState,
    rows: NDArray[np.intp],
    policy: Policy,
    game_key: np.uint64,
    judge: str,
) -> dict[int, Annotation]:
    """Return the remarks of one player on his decisions of a deal, by step."""
    positions = states.select(rows)
    moments = (positions.deal_number.astype(np.int64) << 32) | positions.step_count
    row_keys = np.full(len(rows), game_key, dtype=np.uint64)
    view = make_view(positions, record.rules)
    told = explain(policy, view, RowRandom(keys(row_keys, moments)))
    if told is None:
        return {}
    if judge:
        told.unit = f"{judge}: {told.unit}"[:MAX_NOTE]
    actions = [deal.actions[row] for row in rows.tolist()]
    remarks = {}
    for place, (row, action) in enumerate(zip(rows.tolist(), actions, strict=True)):
        remark = remark_on(told, place, row, action)
        if remark is not None:
            remarks[row] = remark
    return remarks


def remark_on(told: Explanation, place: int, step: int, action: int) -> Annotation | None:
    """Return one row of an explanation as a remark, or None if it says nothing of the values.

    Args:
        told: the explanation.
        place: which row of it.
        step: which action of the deal.
        action: what was done.
    """
    values = told.values[place]
    known = np.flatnonzero(~np.isnan(values))
    if known.size < 2:
        return None
    best = known[np.argsort(-values[known], kind="stable")][:CANDIDATES].tolist()
    if action in known.tolist() and action not in best:
        best[-1] = action
    shares: tuple[tuple[int, float], ...] = ()
    if told.opponent is not None:
        rounded = np.round(told.opponent[place], 2)
        shares = tuple((card, float(rounded[card])) for card in np.flatnonzero(rounded).tolist())
    return Annotation(
        step=step,
        values=tuple((each, float(f"{values[each]:.4g}")) for each in best),
        note=told.unit,
        estimate=shares,
    )
