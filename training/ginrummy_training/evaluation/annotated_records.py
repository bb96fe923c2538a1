"""Annotated records: next to each decision the values of the candidates and the estimate.

>>> from ginrummy_training.evaluation.match import Match, record_games
>>> from ginrummy_env.core.rules import EAAI
>>> match = Match(("simple", "simple"), EAAI, seed=5)
>>> annotate(record_games(match, 2), "simple")[0].deals[0].annotations  # `simple` reports none
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
"""Most values next to a decision: the best ones, and that of the action taken."""

DECISIONS = 4_000
"""Most decisions of a game with values; a game of ordinary length has some 400."""


def record_match(
    match: Match,
    games: int,
    policies: dict[str, str | Policy] | None = None,
    records: Sequence[GameRecord] | None = None,
) -> list[GameRecord]:
    """Return the first games of a match as records, with what the agents thought.

    Args:
        match: it.
        games: how many.
        policies: by name; the registered agent if a name is not here.
        records: of these games; they are played again without.
    """
    behind = policies or {}
    a, b = (make_policy(behind.get(name, name)) for name in match.agents)
    numbers = np.arange(games)
    row_keys = policy_keys(Purpose.MATCH, np.uint64(match.seed), numbers)
    plain = record_games(match, games, policies) if records is None else records
    return [
        annotate_game(record, (a, b) if number % 2 == 0 else (b, a), row_keys[number])
        for number, record in enumerate(plain)
    ]


def one_deal(record: GameRecord, number: int) -> GameRecord:
    """Return one deal of a game as a record of its own, with the scores that it began from.

    Args:
        record: a game.
        number: of the deal, from 0.

    Raises:
        ValueError: the game has no such deal.
    """
    if not 0 <= number < len(record.deals):
        raise ValueError(f"deal {number}: the game has deals 0 to {len(record.deals) - 1}")
    before = record.deals[number - 1].end if number else None
    return replace(
        record,
        deals=record.deals[number : number + 1],
        start_scores=before.scores if before else record.start_scores,
        start_deals_won=before.deals_won if before else record.start_deals_won,
    )


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
    """Return a record with what the policies think; a policy that reports nothing adds no remark.

    Args:
        record: a game.
        policies: of players 0 and 1.
        game_key: what all chance in the policies follows from, as in a match.
        judge: the policy that is asked, if it is not the player's own; named in the notes.
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
    """Return the remarks of one player on their decisions of a deal, by step."""
    positions = states.select(rows)
    moments = (positions.deal_number.astype(np.int64) << 32) | positions.step_count
    row_keys = np.full(len(rows), game_key, dtype=np.uint64)
    view = make_view(positions, record.rules)
    explanation = explain(policy, view, RowRandom(keys(row_keys, moments)))
    if explanation is None:
        return {}
    if judge:
        explanation.unit = f"{judge}: {explanation.unit}"[:MAX_NOTE]
    actions = [deal.actions[row] for row in rows.tolist()]
    remarks = {}
    for place, (row, action) in enumerate(zip(rows.tolist(), actions, strict=True)):
        remark = remark_on(explanation, place, row, action)
        if remark is not None:
            remarks[row] = remark
    return remarks


def remark_on(explanation: Explanation, place: int, step: int, action: int) -> Annotation | None:
    """Return one row of an explanation as a remark, or None if it has fewer than two values.

    Args:
        explanation: of several decisions.
        place: which row of it.
        step: which action of the deal.
        action: what was done.
    """
    values = explanation.values[place]
    known = np.flatnonzero(~np.isnan(values))
    if known.size < 2:
        return None
    best = known[np.argsort(-values[known], kind="stable")][:CANDIDATES].tolist()
    if action in known.tolist() and action not in best:
        best[-1] = action
    intervals: tuple[tuple[int, float], ...] = ()
    if explanation.search is not None:
        base, gains = int(explanation.search.base[place]), explanation.search.gains(place)
        if base in gains and base not in best:
            best[-2 if best[-1] == action else -1] = base
        halves = {each: gains[each].half for each in (base, *best) if each in gains}
        if halves.keys() == set(best) and np.isfinite(list(halves.values())).all():
            intervals = tuple((each, float(f"{half:.4g}")) for each, half in halves.items())
    shares: tuple[tuple[int, float], ...] = ()
    if explanation.opponent is not None:
        rounded = np.round(explanation.opponent[place], 2)
        shares = tuple((card, float(rounded[card])) for card in np.flatnonzero(rounded).tolist())
    return Annotation(
        step=step,
        values=tuple((each, float(f"{values[each]:.4g}")) for each in best),
        intervals=intervals,
        note=explanation.unit,
        estimate=shares,
    )
