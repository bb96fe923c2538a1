"""Hands, decks and positions for the tests: random ones, rich ones, and deals played at random.

What is checked stands in the tests; here is only what they set up, and how two states, or the core
and the oracle, are put side by side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import strategies as st

from ginrummy_env.core.actions import (
    BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    PASS,
    TAKE_UPCARD,
    parse_action,
    random_actions,
)
from ginrummy_env.core.cards import (
    CARD_BIT,
    NO_CARD,
    NUM_CARDS,
    card_planes,
    cards_of,
    hand_of,
    parse_cards,
)
from ginrummy_env.core.deadwood import deadwood_after_discard, pack_planes
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks, mover_hands
from ginrummy_env.core.melds import MELDS, NO_MELD
from ginrummy_env.core.rules import CLASSIC, MINI, MODERN, NANO, OPENSPIEL, Rules
from ginrummy_env.core.settlement import lay_down, void_reasons
from ginrummy_env.core.state import FIELD_NAMES, NOBODY, BatchState, Outcome, Phase, concatenate
from ginrummy_env.core.step import step
from ginrummy_env.core.view import ARRAY_NAMES, View

# Actions and phases as the vectors and the oracle write them

CODES = [
    *(f"D{card}" for card in range(NUM_CARDS)),
    *(f"K{card}" for card in range(NUM_CARDS)),
    *"SUPG",
]
"""The vectors' code of each action number."""
NUMBER = {code: action for action, code in enumerate(CODES)}
PHASES = {
    Phase.OPENING: "opening",
    Phase.FIRST_DRAW: "draw",
    Phase.DRAW: "draw",
    Phase.DISCARD: "discard",
    Phase.WALL: "wall",
    Phase.DEAL_OVER: "over",
    Phase.GAME_OVER: "over",
}


def codes(mask) -> set[str]:
    """The codes of the actions that a mask flags."""
    return {CODES[action] for action in np.flatnonzero(mask)}


# Rules under which the same positions allow different things

VARIANTS = {
    "classic": CLASSIC,
    "modern": MODERN,
    "openspiel": OPENSPIEL,
    "the wall soon": Rules(at_void_stock="knock_with_discard", void_stock=20, big_gin=True),
    "taking on soon": Rules(at_void_stock="take_discard", void_stock=24, turn_bound=20),
    "gin only": Rules(knock_limit=0, big_gin=True, discard_taken_upcard=True),
    "mini": replace(MINI, big_gin=True),
    "nano": NANO,
    "hands of five, six ranks": Rules(
        num_ranks=6, hand_size=5, knock_limit=5, at_void_stock="knock_with_discard"
    ),
}
under_variants = pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)


# Hands

FEW_RANKS = [
    [13 * suit + rank for suit in range(4) for rank in range(low, low + 5)] for low in range(9)
]
FEW_SUITS = [
    [13 * suit + rank for suit in suits for rank in range(13)]
    for suits in [(0, 1), (0, 3), (1, 2), (2, 3)]
]
POOLS = [list(range(NUM_CARDS)), *FEW_RANKS, *FEW_SUITS]
"""All cards, and the rich pools: cards drawn from few ranks or few suits meld in many ways."""


def random_hands(rng, count, size, pool=range(NUM_CARDS)) -> np.ndarray:
    """``count`` hands of ``size`` cards of the pool, [count] uint64."""
    order = rng.random((count, len(pool))).argsort(axis=1)[:, :size]
    return hand_of(np.asarray(pool)[order])


def rich_hands(rng, count, size) -> np.ndarray:
    """About ``count`` hands from every pool in equal shares."""
    share = count // len(POOLS) + 1
    return np.concatenate([random_hands(rng, share, size, pool) for pool in POOLS])


def lists_of(hands) -> list[list[int]]:
    """The cards of each hand, ascending."""
    return [cards_of(hand) for hand in hands]


@st.composite
def card_lists(draw, *sizes, pools=POOLS):
    """Different cards, as many as one of ``sizes``, often from few ranks or suits."""
    pool, size = draw(st.sampled_from(pools)), draw(st.sampled_from(sizes))
    return draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size, unique=True))


def batches(*sizes):
    """Strategy: lists of hands, so that hands of a batch are seen to leave each other alone."""
    return st.lists(card_lists(*sizes), min_size=1, max_size=8)


def meld_lists(numbers) -> list[list[int]]:
    """An arrangement as the oracle writes it, from a row of meld numbers."""
    return [list(MELDS[number]) for number in numbers if number != NO_MELD]


# Decks and deals


def stacked_deck(nondealer: str, dealer: str, upcard: str, stock: str = "") -> list[int]:
    """A deck that deals these cards.

    The stock goes on with all other cards, ascending; of a dealer who is "" every other one of
    them is his.
    """
    first, second = parse_cards(nondealer), parse_cards(dealer)
    given = [*first, *second, *parse_cards(upcard), *parse_cards(stock)]
    assert len(set(given)) == len(given), "a card stands twice"
    rest = [card for card in range(NUM_CARDS) if card not in given]
    if not second:
        second = rest[:20:2]
        rest = [card for card in rest if card not in second]
    assert len(first) == len(second) == 10
    hands = [card for pair in zip(first, second, strict=True) for card in pair]
    return [*hands, *parse_cards(upcard), *parse_cards(stock), *rest]


def play(state: BatchState, rules: Rules, text: str) -> BatchState:
    """Take the actions that the words name, separated by commas, in every row; return the state."""
    for words in text.split(","):
        step(state, np.full(len(state), parse_action(words)), rules)
    return state


def knock_with(
    knocker: str, defender: str, discard: str, rules: Rules, *, upcard: str, player: int = 0
) -> BatchState:
    """One deal in which the player draws ``discard`` in the first turn and knocks with it."""
    deck = stacked_deck(knocker, defender, upcard, stock=discard)
    state = new_games(0, 1, rules, dealers=[1 - player], decks=[deck])
    return play(state, rules, f"pass, pass, draw, knock {discard}")


def likely_actions(
    state: BatchState, rules: Rules, rng, *, knocks: float = 0.5, greed: float = 0.9
) -> np.ndarray:
    """A legal action for each row; -1 where the deal is over.

    Args:
        knocks: how often a player who may knock does. Big gin, which is rare, is laid down as
            often as not.
        greed: how often a discard is one that leaves least deadwood: else few deals end in a knock.
    """
    masks = action_masks(state, rules)
    big_gin = masks[:, BIG_GIN] & (rng.random(len(state)) < 0.5)
    ends = np.zeros(NUM_ACTIONS, dtype=bool)
    ends[KNOCK:DRAW_STOCK] = ends[BIG_GIN] = True
    may_end, may_stay = (masks & ends).any(axis=1), (masks & ~ends).any(axis=1)
    ending = may_end & (~may_stay | (rng.random(len(state)) < knocks))
    masks &= np.where(ending[:, None], ends, ~ends)
    greedy = np.flatnonzero(
        masks[:, :KNOCK].any(axis=1) & ~ending & (rng.random(len(state)) < greed)
    )
    if greedy.size:
        after = deadwood_after_discard(mover_hands(state)[greedy]).astype(int)
        after[~masks[greedy, :KNOCK]] = 999
        masks[greedy, :KNOCK] &= after == after.min(axis=1, keepdims=True)
    actions = random_actions(masks, rng.random(len(state)))
    return np.where(big_gin, BIG_GIN, actions)


def play_deals(state: BatchState, rules: Rules, rng, **habits) -> Iterator[BatchState]:
    """Yield the state, which is stepped in place, before every step and once all deals are over."""
    yield state
    while not state.over.all():
        step(state, likely_actions(state, rules, rng, **habits), rules)
        yield state


def positions(rules: Rules, *, games: int = 20, seed: int = 0, decks=None, **habits) -> BatchState:
    """Every position of some deals played at random, those at the end included."""
    rng = np.random.default_rng(seed)
    seen = []
    for state in play_deals(new_games(seed, games, rules, decks=decks), rules, rng, **habits):
        fresh = ~state.over if seen else np.ones(games, dtype=bool)
        seen.append(state.select(fresh))
    return concatenate([*seen, state])


def oracle_deals(state: BatchState, rules: dict) -> list[oracle.Deal]:
    """The oracle's deals of the same decks and dealers."""
    decks = [[card for card in deck if card != NO_CARD] for deck in state.deck.tolist()]
    dealers = state.dealer.tolist()
    return [oracle.Deal(*dealt, rules) for dealt in zip(decks, dealers, strict=True)]


def rich_decks(rng, count, rules=CLASSIC) -> np.ndarray:
    """Decks in which the non-dealer holds, and often draws, cards of a few ranks or two suits.

    A small deck is one of them without the cards that it has not.
    """
    decks = np.empty((count, NUM_CARDS), dtype=int)
    for deck in decks:
        pool = rng.permutation(POOLS[rng.integers(1, len(POOLS))])
        his = np.concatenate([np.arange(0, 20, 2), np.arange(21, NUM_CARDS, 2)])[: len(pool)]
        deck[his] = pool
        deck[~np.isin(np.arange(NUM_CARDS), his)] = rng.permutation(
            np.setdiff1d(np.arange(NUM_CARDS), pool)
        )
    return decks[np.isin(decks, cards_of(rules.full_deck))].reshape(count, rules.num_cards)


def play_beside(state: BatchState, rules: Rules, deals: list[oracle.Deal], rng, **habits) -> None:
    """Play all deals to their end, and the oracle's beside them: the same choices at every step."""
    for now in play_deals(state, rules, rng, **habits):
        masks = action_masks(now, rules)
        for row, deal in enumerate(deals):
            while deal.result is None and len(deal.actions) < now.step_count[row]:
                deal.play(CODES[now.history[row, len(deal.actions)]])
            assert PHASES[now.phase[row]] == deal.phase, deal.actions
            assert codes(masks[row]) == deal.legal(), (deal.rules, deal.deck, deal.actions)
            if deal.result is None:
                assert now.player[row] == deal.player
                assert now.knock_limit[row] == deal.knock_limit
                assert lists_of(now.hands[row]) == [sorted(hand) for hand in deal.hands]
    ended = zip(results(state, rules), deals, strict=True)
    for result, deal in ended:
        assert result == without_ties(deal.result), (deal.rules, deal.deck, deal.actions)


def results(state: BatchState, rules: Rules) -> list[dict]:
    """How each deal ended, as the vectors and the oracle write it (but for ``tie_results``)."""
    knocked = np.flatnonzero(state.knocker != NOBODY)
    ended = state.select(knocked)
    laid = lay_down(ended.hands, ended.knocker, ended.discards, rules)
    melds = dict(zip(knocked.tolist(), map(meld_lists, laid.knocker_melds), strict=True))

    def or_none(number):
        return None if number < 0 else int(number)

    return [
        {
            "outcome": Outcome(state.outcome[row]).name.lower(),
            "winner": or_none(state.winner[row]),
            "points": int(state.points[row]),
            "knocker": or_none(state.knocker[row]),
            "knocker_deadwood": or_none(state.knocker_deadwood[row]),
            "opponent_deadwood": or_none(state.defender_deadwood[row]),
            "melds": melds.get(row),
            "void_reason": reason,
            "turns": int(state.turn[row]),
            "stock_left": int(state.stock_count[row]),
            "hands": lists_of(state.hands[row]),
        }
        for row, reason in enumerate(void_reasons(state, rules))
    ]


def without_ties(result: dict) -> dict:
    """A result of the vectors or the oracle without what other orders of the tie would give."""
    return {name: value for name, value in result.items() if name != "tie_results"}


# Comparing, and hiding


def differences(one: BatchState, other: BatchState) -> list[str]:
    """The fields in which two states differ. A history may be padded to another width."""
    one, other = one.copy(), other.copy()
    width = max(one.history.shape[1], other.history.shape[1])
    one.widen(width)
    other.widen(width)
    return [
        name
        for name in FIELD_NAMES
        if getattr(one, name).dtype != getattr(other, name).dtype
        or not np.array_equal(getattr(one, name), getattr(other, name))
    ]


def view_bytes(view: View) -> dict[str, bytes]:
    """Every array of a view, byte for byte."""
    return {name: np.ascontiguousarray(getattr(view, name)).tobytes() for name in ARRAY_NAMES}


def hidden_cards(state: BatchState, viewers) -> np.ndarray:
    """The cards whose place the viewers cannot know, [N] uint64: written from the rules alone.

    He knows his own cards, the discard pile, what the opponent took from it and still holds, and,
    once somebody has knocked, all that is laid down.
    """
    rows, others = np.arange(len(state)), 1 - np.asarray(viewers)
    deck = np.bitwise_or.reduce(CARD_BIT[state.deck], axis=1)
    hidden = deck & ~state.hands[rows, 1 - others] & ~places(state)[:, 3]
    hidden &= ~state.known[rows, others]
    laid_down = state.knocker != NOBODY
    return np.where(laid_down, hidden & ~state.hands[rows, others], hidden)


def permute_hidden(state: BatchState, viewers, rng) -> BatchState:
    """A copy in which the cards that the viewers cannot see have changed places at random."""
    rows, others = np.arange(len(state)), 1 - np.asarray(viewers)
    hidden = card_planes(hidden_cards(state, viewers))
    ascending = (~hidden).argsort(axis=1, kind="stable")
    shuffled = np.where(hidden, rng.random(hidden.shape), 1 + np.arange(NUM_CARDS)).argsort(axis=1)
    becomes = np.empty_like(ascending)
    np.put_along_axis(becomes, ascending, shuffled, axis=1)
    other = state.copy()
    other.hands[rows, others] = renamed(state.hands[rows, others], becomes)
    in_deck = np.take_along_axis(becomes, state.deck.astype(int) % NUM_CARDS, axis=1)
    other.deck[:] = np.where(state.deck == NO_CARD, NO_CARD, in_deck)
    drawn = np.take_along_axis(becomes, state.drawn_card[:, None] % NUM_CARDS, axis=1)[:, 0]
    other.drawn_card[:] = np.where(state.drawn_card == NO_CARD, NO_CARD, drawn)
    return other


def renamed(hands, becomes) -> np.ndarray:
    """The hands in which each card is replaced by the one it becomes ([52] or [N, 52])."""
    planes, changed = card_planes(hands), np.zeros((len(hands), NUM_CARDS), dtype=bool)
    np.put_along_axis(changed, np.broadcast_to(becomes, planes.shape).astype(int), planes, axis=1)
    return pack_planes(changed)


def suits_exchanged(suits: Sequence[int]) -> np.ndarray:
    """What each card becomes when suit ``s`` becomes ``suits[s]``, [52]."""
    cards = np.arange(NUM_CARDS)
    return 13 * np.asarray(suits)[cards // 13] + cards % 13


def actions_exchanged(actions, becomes) -> np.ndarray:
    """The same actions when each card becomes another."""
    names = np.concatenate([becomes, KNOCK + becomes, [DRAW_STOCK, TAKE_UPCARD, PASS, BIG_GIN]])
    return np.where(np.asarray(actions) < 0, actions, names[actions])


def places(state: BatchState) -> np.ndarray:
    """The cards in the two hands, the stock and the pile, [N, 4] uint64."""
    stock = np.where(
        np.arange(NUM_CARDS) >= NUM_CARDS - state.stock_count[:, None], state.deck, NO_CARD
    )
    pile = np.bitwise_or.reduce(CARD_BIT[state.discard_pile], axis=1)
    stocked = np.bitwise_or.reduce(CARD_BIT[stock], axis=1)
    return np.stack([state.hands[:, 0], state.hands[:, 1], stocked, pile], axis=1)


def chi_square_p(counts, expected, *, freedom: int | None = None, scale: float = 1.0) -> float:
    """How likely counts at least this far from the expected ones are by chance.

    Args:
        freedom: degrees of freedom, one less than the counts if None.
        scale: factor on the statistic, for counts that are not independent draws.
    """
    from scipy.stats import chi2

    counts = np.asarray(counts, dtype=float)
    statistic = scale * ((counts - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, counts.size - 1 if freedom is None else freedom))
