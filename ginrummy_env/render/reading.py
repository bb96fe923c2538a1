"""From a view to what there is to show of it: the one reading that all renderers draw.

Hands are grouped as a person sorts them. Ten cards are grouped for the least deadwood. Of eleven
cards one must go: the *spare* card is the one whose discard leaves the least deadwood (the dearest
of equals, never one that may not go), and the other ten are grouped. (So with hands of other sizes,
see `Rules.hand_size`.)
"""

from collections.abc import Sequence

import numpy as np

from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, TAKE_UPCARD
from ginrummy_env.core.cards import (
    CARD_BIT,
    NO_CARD,
    NUM_RANKS,
    POINTS,
    RANK,
    SUIT,
    cards_of,
    hand_of,
)
from ginrummy_env.core.checks import whole
from ginrummy_env.core.deadwood import deadwood_after_discard
from ginrummy_env.core.deal import doubled
from ginrummy_env.core.layoff import knocker_arrangement
from ginrummy_env.core.legal import forbidden_cards
from ginrummy_env.core.melds import MELDS, NO_MELD
from ginrummy_env.core.rules import rules_name
from ginrummy_env.core.scoring import final_scores
from ginrummy_env.core.settlement import LaidDown
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.view import ME, OPPONENT, View, players_of
from ginrummy_env.render.position import NAMES, Cards, Group, Position, Side

_LONGEST_NAME, _LONGEST_RULES = 16, 24


def read_position(
    view: View,
    row: int = 0,
    *,
    opponent: View | None = None,
    names: Sequence[str] = NAMES,
) -> Position:
    """Return what there is to show of one row of a view.

    Args:
        view: N rows; only this is shown.
        row: which of them.
        opponent: the opponent's view of the same games, to show their cards too.
        names: what the viewer and the opponent are called.

    Raises:
        ValueError: a row that there is not, or an ``opponent`` that is not the other player's view
            of the same game.
    """
    row = whole("row", row, -len(view), len(view) - 1)
    one = view.select([row])
    mine = int(one.hand[0])
    theirs = int(one.opponent_hand[0]) if opponent is None else _open_hand(view, opponent, row)
    to_move = bool(one.to_move[0])
    phase = Phase(int(one.phase[0]))
    over = phase >= Phase.DEAL_OVER
    laid = None if one.knocker[0] == NOBODY else one.laid_down()
    names = [_short(name) for name in names]
    groups: list[tuple[Group, ...]] = []
    for player, hand in ((ME, mine), (OPPONENT, theirs)):
        if laid is not None and one.opponent_hand[0]:
            groups.append(_laid_groups(laid, hand, int(one.knocker[0]) == player))
        elif hand:
            groups.append(_hand_groups(one, hand))
        else:
            known = tuple(_by_rank(cards_of(one.known[0, player])))
            groups.append((Group("taken", known),) if known else ())
    count = one.rules.hand_size + (phase == Phase.DISCARD and not to_move)
    seen = sum(len(group.cards) for group in groups[OPPONENT])
    finals = final_scores(one.scores, one.deals_won, one.rules)[0].tolist()
    sides = [
        Side(
            name=names[player],
            score=int(one.scores[0, player]),
            deals_won=int(one.deals_won[0, player]),
            final_score=finals[player] if phase == Phase.GAME_OVER else None,
            is_dealer=bool(one.is_dealer[0]) == (player == ME),
            to_move=not over and to_move == (player == ME),
            won_deal=bool(one.winner[0] == player),
            groups=groups[player],
            unseen=0 if player == ME or theirs else count - seen,
            known=tuple(cards_of(one.known[0, player])),
        )
        for player in (ME, OPPONENT)
    ]
    legal = np.flatnonzero(one.action_masks()[0]).tolist() if to_move else []
    account = _account(one)
    rules = rules_name(one.rules)
    return Position(
        me=sides[ME],
        opponent=sides[OPPONENT],
        rules=rules if len(rules) <= _LONGEST_RULES else "own rules",
        target=one.rules.target,
        deal=int(one.deal_number[0]) + 1,
        turn=int(one.turn[0]) + (not over or one.outcome[0] == Outcome.BIG_GIN),
        knock_limit=int(one.knock_limit[0]),
        phase=phase,
        stock_count=int(one.stock_count[0]),
        pile=tuple(one.discard_pile[0, : one.discard_count[0]].tolist()),
        drawn=int(one.drawn_card[0]),
        knocks=_knocks(one, legal),
        events=_events(one, names),
        may=frozenset(action for action in legal if action >= DRAW_STOCK),
        outcome=Outcome(int(one.outcome[0])),
        knocker=None if one.knocker[0] == NOBODY else names[one.knocker[0]],
        account=account,
        doubled=bool(account) and bool(doubled(one.first_upcard, one.rules)[0]),
        points=int(one.points[0]),
        void_reason=_void_reason(one),
    )


def _short(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "~"


def _open_hand(view: View, opponent: View, row: int) -> int:
    """Return the opponent's hand from their own view of the same game."""
    if len(opponent) != len(view):
        raise ValueError(f"opponent: {len(opponent)} rows where the view has {len(view)}")
    hand = opponent.hand[row]
    if opponent.player[row] == view.player[row]:
        raise ValueError(f"opponent: the view of player {view.player[row]} again, not of the other")
    same = (
        opponent.step_count[row] == view.step_count[row]
        and (opponent.discard_pile[row] == view.discard_pile[row]).all()
    )
    if not same or hand & view.hand[row]:
        raise ValueError("opponent: a view of another game or another moment")
    return int(hand)


def _by_rank(cards: Sequence[int]) -> list[int]:
    return sorted(cards, key=lambda card: (RANK[card], SUIT[card]))


def _meld_group(meld: Cards) -> Group:
    return Group("set" if RANK[meld[0]] == RANK[meld[1]] else "run", meld)


def _groups_of(melds: Sequence[Cards], loose: int, kind: str = "deadwood") -> tuple[Group, ...]:
    groups = [_meld_group(meld) for meld in melds]
    cards = tuple(_by_rank(cards_of(loose)))
    return (*groups, *([Group(kind, cards)] if cards else []))


def _melds_of(numbers: Sequence[int]) -> list[Cards]:
    return [MELDS[number] for number in numbers if number != NO_MELD]


def _hand_groups(one: View, hand: int) -> tuple[Group, ...]:
    """Group a hand in play; see the top of this module."""
    spare = _spare_card(one, hand) if hand.bit_count() > one.rules.hand_size else NO_CARD
    kept = np.uint64(hand) & ~CARD_BIT[spare]
    numbers, _ = knocker_arrangement(np.array([kept]), one.discards, one.rules.full_deck)
    melds: list[Cards] = []
    for meld in _melds_of(numbers[0].tolist()):
        # A run of six or more is numbered as shorter ones end to end: put it together again.
        end_to_end = melds and meld[0] == melds[-1][-1] + 1 and meld[0] % NUM_RANKS
        if end_to_end and _meld_group(meld).kind == _meld_group(melds[-1]).kind == "run":
            melds[-1] += meld
        else:
            melds.append(meld)
    loose = int(kept) & ~int(hand_of([card for meld in melds for card in meld]))
    groups = _groups_of(melds, loose)
    return groups if spare == NO_CARD else (*groups, Group("spare", (spare,)))


def _spare_card(one: View, hand: int) -> int:
    left = deadwood_after_discard(np.array([hand], dtype=np.uint64))[0].astype(int)
    forbidden = int(forbidden_cards(one.taken_card, one.rules)[0])
    cards = [card for card in cards_of(hand) if card != forbidden]
    return min(cards, key=lambda card: (left[card], -int(POINTS[card]), -card))


def _laid_groups(laid: LaidDown, hand: int, knocked: bool) -> tuple[Group, ...]:
    """Group a hand that lies on the table."""
    laid_melds = _melds_of(laid.knocker_melds[0].tolist())
    if knocked:
        loose = hand & ~int(hand_of([card for meld in laid_melds for card in meld]))
        return _groups_of(laid_melds, loose)
    defence = laid.defence
    layoffs = [
        Group("laid off", tuple(cards_of(cards)), laid_melds[place])
        for place, cards in enumerate(defence.layoffs[0])
        if cards
    ]
    own = _groups_of(_melds_of(defence.melds[0].tolist()), 0)
    return (*own, *layoffs, *_groups_of([], int(defence.deadwood_cards[0])))


def _knocks(one: View, legal: list[int]) -> tuple[tuple[int, int], ...]:
    cards = [action - KNOCK for action in legal if KNOCK <= action < DRAW_STOCK]
    if not cards:
        return ()
    left = deadwood_after_discard(one.hand)[0]
    return tuple(sorted(((card, int(left[card])) for card in cards), key=lambda pair: pair[::-1]))


def _events(one: View, names: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    """Return the history with the cards that everybody saw."""
    pile = [int(one.first_upcard[0])]
    events = []
    steps = int(one.step_count[0])
    players = players_of(one)[0, :steps].tolist()
    for player, action in zip(players, one.history[0, :steps].tolist(), strict=True):
        card = NO_CARD
        if action < DRAW_STOCK:
            card = action % KNOCK
            pile.append(card)
        elif action == TAKE_UPCARD:
            card = pile.pop()
        events.append((names[player], action, card))
    return tuple(events)


def _account(one: View) -> tuple[tuple[int, str], ...]:
    """Return the terms of the deal's points. Source: RULES, Scoring a deal."""
    rules, outcome = one.rules, one.outcome[0]
    knocker, defender = int(one.knocker_deadwood[0]), int(one.defender_deadwood[0])
    undercut = (rules.undercut_bonus, f"{rules.undercut_bonus} for the undercut")
    if outcome == Outcome.GIN:
        return (rules.gin_bonus, f"{rules.gin_bonus} for gin"), (defender, f"deadwood {defender}")
    if outcome == Outcome.BIG_GIN:
        bonus = rules.big_gin_bonus
        return (bonus, f"{bonus} for big gin"), (defender, f"deadwood {defender}")
    if outcome == Outcome.KNOCK:
        return (defender, f"deadwood {defender}"), (-knocker, f"{knocker}")
    if outcome == Outcome.UNDERCUT:
        return undercut, (knocker, f"deadwood {knocker}"), (-defender, f"{defender}")
    if outcome == Outcome.GIN_ANSWERED and one.points[0]:
        return (undercut,)
    return ()


def _void_reason(one: View) -> str:
    bound = one.rules.turn_bound
    if bound is not None and one.turn[0] >= bound:
        return f"turn {bound} was the last"
    return f"the stock is down to {one.stock_count[0]}"
