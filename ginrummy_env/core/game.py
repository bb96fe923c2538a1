"""The game: deals up to the target score, who deals next, and games in rows of a batch."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.chance import MAX_SEED
from ginrummy_env.core.checks import whole, whole_numbers
from ginrummy_env.core.deal import deal, decks, first_dealers, require_decks
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY, BatchState, Phase, require_rows
from ginrummy_env.core.types import Int8, Rows


def new_games(
    seed: ArrayLike,
    games: ArrayLike,
    rules: Rules,
    *,
    dealers: ArrayLike | None = None,
    decks: ArrayLike | None = None,
) -> BatchState:
    """Return games at the start of their first deal.

    Args:
        seed: a whole number 0..2**64 - 1, or [N] of them.
        games: [N] game numbers, or one number N for games 0..N-1. With the seed they decide every
            deck: not the size of the batch, the row or what is played.
        rules: the settings.
        dealers: [N] the first dealers (0 or 1); by the cut if None.
        decks: [N, Rules.num_cards] the first decks in dealing order; by chance if None.

    Returns:
        N rows, the non-dealers to move.

    Raises:
        ValueError: an invalid seed, dealer or deck.

    Source: RULES, One deal, 1 to 3.
    """
    numbers = np.asarray(games)
    if numbers.ndim == 0:
        numbers = np.arange(whole("games", games, 0))
    state = BatchState.empty(len(numbers), rules)
    restart(state, np.arange(len(numbers)), seed, numbers, rules, dealers=dealers, decks=decks)
    return state


def restart(
    state: BatchState,
    rows: ArrayLike,
    seed: ArrayLike,
    games: ArrayLike,
    rules: Rules,
    *,
    dealers: ArrayLike | None = None,
    decks: ArrayLike | None = None,
) -> None:
    """Start new games in the given rows. Changes ``state`` in place; see `new_games`.

    Args:
        state: the batch.
        rows: [K] row numbers, none twice, or [N] bool.
        seed: a whole number, or [K].
        games: [K] game numbers.
        rules: the settings.
        dealers: [K] first dealers, or None for the cut.
        decks: [K, Rules.num_cards] first decks, or None for chance.
    """
    rows = require_rows(rows, len(state))
    seeds = _a_row("seed", whole_numbers("seed", seed, 0, MAX_SEED, np.uint64), rows)
    numbers = _a_row(
        "game number", whole_numbers("game number", games, 0, MAX_SEED, np.uint64), rows
    )
    if dealers is None:
        dealing = first_dealers(seeds, numbers)
    else:
        dealing = _a_row("dealer", whole_numbers("dealer", dealers, 0, 1, np.int8), rows)
    given = None if decks is None else require_decks(decks, len(rows), rules)
    state.seed[rows], state.game_number[rows] = seeds, numbers
    state.dealer[rows] = dealing
    state.deal_number[rows] = 0
    state.scores[rows] = state.deals_won[rows] = 0
    _deal(state, rows, given, rules)


def next_deals(
    state: BatchState, rules: Rules, rows: ArrayLike | None = None, decks: ArrayLike | None = None
) -> None:
    """Deal the next deal of games whose deal is over. Changes ``state`` in place.

    Args:
        state: the batch.
        rules: the settings.
        rows: [K] row numbers, none twice, or [N] bool; all rows in phase DEAL_OVER if None.
        decks: [K, Rules.num_cards] decks in dealing order; by chance if None.

    Raises:
        ValueError: a row whose deal is not over, or whose game is; a bad deck.

    Source: RULES, One deal, 1.
    """
    if rows is None:
        chosen = (state.phase == Phase.DEAL_OVER).nonzero()[0]
    else:
        chosen = require_rows(rows, len(state))
        wrong = chosen[state.phase[chosen] != Phase.DEAL_OVER]
        if wrong.size:
            phase = Phase(int(state.phase[wrong[0]])).name
            raise ValueError(f"row {wrong[0]}: no next deal in phase {phase}, only in DEAL_OVER")
    if not chosen.size:
        return
    given = None if decks is None else require_decks(decks, len(chosen), rules)
    state.dealer[chosen] = next_dealers(state.dealer[chosen], state.winner[chosen], rules)
    state.deal_number[chosen] += 1
    _deal(state, chosen, given, rules)


def next_dealers(dealer: Int8, winner: Int8, rules: Rules) -> Int8:
    """Return who deals after these deals, [N] int8.

    Args:
        dealer: [N] who dealt.
        winner: [N] who won, or NOBODY: then the same player deals again.
        rules: ``next_dealer``.

    Source: RULES, One deal, 1; RULES, Settings.
    """
    following = {"winner": winner, "loser": 1 - winner, "alternate": 1 - dealer}
    return np.where(winner == NOBODY, dealer, following[rules.next_dealer])


def game_winners(state: BatchState, rules: Rules) -> Int8:
    """Return who has won each game, [N] int8; NOBODY where it is not over."""
    leader = (state.scores[:, 1] > state.scores[:, 0]).astype(np.int8)
    won = (state.phase == Phase.GAME_OVER) & (state.scores >= rules.target).any(axis=1)
    return np.where(won, leader, NOBODY).astype(np.int8)


def _deal(state: BatchState, rows: Rows, given: Int8 | None, rules: Rules) -> None:
    if given is None:
        given = decks(state.seed[rows], state.game_number[rows], state.deal_number[rows], rules)
    deal(state, rows, given, rules)


def _a_row(name: str, values: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """Return one value for each row, given as such or as one for all."""
    if values.shape not in ((), rows.shape):
        raise ValueError(f"{name}s of shape {values.shape} for {len(rows)} rows")
    return np.broadcast_to(values, rows.shape)
