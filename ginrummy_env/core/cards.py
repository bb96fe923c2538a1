"""Cards, and hands as bit masks.

A card is 0..51: ``suit * 13 + rank``, suits in the order s h d c, the ace rank 0.
A hand is one ``uint64``; each suit has a lane of 16 bits, the ace lowest::

    bits   63..48  47..32    31..16  15..0
    suit   clubs   diamonds  hearts  spades
    lane   . . . K Q J T 9 8 7 6 5 4 3 2 A

The three empty bits above each king keep the suits apart: a shift by one or two ranks never
carries a card into the next lane. ``hands.view(np.uint16)`` is the four suits (see `lanes`).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.types import Hands, Points

NUM_SUITS = 4
NUM_RANKS = 13
NUM_CARDS = NUM_SUITS * NUM_RANKS
HAND_SIZE = 10
NO_CARD = -1
"""Where a card could stand and none does."""

LANE_BITS = 16
NUM_LANE_PATTERNS = 1 << NUM_RANKS
"""The 8,192 sets of ranks that a suit of a hand can hold."""

SUIT_LETTERS = "shdc"
_SIGNS = str.maketrans("♠♥♦♣", SUIT_LETTERS, "\ufe0e\ufe0f")
RANK_LETTERS = "A23456789TJQK"
SUIT_NAMES = ("spades", "hearts", "diamonds", "clubs")

SUIT = np.arange(NUM_CARDS, dtype=np.int8) // NUM_RANKS
"""[52] int8, the suit of each card."""

RANK = np.arange(NUM_CARDS, dtype=np.int8) % NUM_RANKS
"""[52] int8, the rank of each card, the ace 0."""

RANK_POINTS = np.minimum(np.arange(1, NUM_RANKS + 1), 10).astype(np.int16)
"""[13] int16: ace 1, two to ten their number, jack, queen and king 10. Source: RULES, Cards."""

POINTS = RANK_POINTS[RANK]
"""[52] int16, the points of each card."""

CARD_BIT = np.zeros(NUM_CARDS + 1, dtype=np.uint64)
CARD_BIT[:NUM_CARDS] = np.uint64(1) << (LANE_BITS * SUIT.astype(np.uint64) + RANK.astype(np.uint64))
"""[53] uint64, the bit of each card in a hand; ``CARD_BIT[NO_CARD]`` is 0."""

FULL_DECK = np.bitwise_or.reduce(CARD_BIT)
"""uint64, all 52 cards."""

_IN_DECK = (SUIT <= np.arange(NUM_SUITS + 1)[:, None, None] - 1) & (
    RANK <= np.arange(NUM_RANKS + 1)[:, None] - 1
)
DECKS: tuple[tuple[np.uint64, ...], ...] = tuple(
    tuple(np.bitwise_or.reduce(CARD_BIT[:NUM_CARDS][cards]) for cards in by_ranks)
    for by_ranks in _IN_DECK
)
"""[5][14] uint64, the cards of a deck by its number of suits and of ranks: the first of each."""

# Per suit pattern: the flags of its ranks, and the points of its cards.
_PATTERNS = np.arange(NUM_LANE_PATTERNS, dtype=np.uint16)
LANE_RANKS: NDArray[np.bool_] = (
    _PATTERNS[:, None] >> np.arange(NUM_RANKS, dtype=np.uint16) & 1
) > 0
"""[8192, 13] bool, the ranks in each suit pattern."""

LANE_POINTS = (LANE_RANKS @ RANK_POINTS).astype(np.uint8)
"""[8192] uint8, the points of all cards of a suit pattern (85 at most)."""

DEAREST = np.where(LANE_RANKS, RANK_POINTS, 0).max(axis=1).astype(np.uint8)
"""[8192] uint8, the points of the highest rank of a pattern."""

_LANE_POINTS_16 = LANE_POINTS.astype("<u2")
_SUM_OF_FOUR = np.uint64(0x0001000100010001)  # times this, four lanes are added up in the top one


def lanes(hands: Hands) -> NDArray[np.uint16]:
    """Return the four suits of each hand as bit patterns of its ranks.

    Args:
        hands: [...] uint64.

    Returns:
        [..., 4] uint16; bit r of lane s is the card ``13 * s + r``. A view where the machine
        allows it: do not write into it.
    """
    contiguous = np.ascontiguousarray(hands, dtype="<u8")
    return contiguous.view("<u2").reshape(*np.shape(hands), NUM_SUITS)


def hand_size(hands: Hands) -> NDArray[np.uint8]:
    """Return how many cards each hand holds, [...] uint8."""
    return np.bitwise_count(hands)


def hand_points(hands: Hands) -> Points:
    """Return the points of all cards of each hand, melded or not, [...] int16."""
    words = _LANE_POINTS_16.take(lanes(hands)).view("<u8")[..., 0] * _SUM_OF_FOUR
    return (words >> np.uint64(48)).astype(np.int16)


def card_planes(hands: Hands) -> NDArray[np.bool_]:
    """Return one flag per card.

    Args:
        hands: [...] uint64.

    Returns:
        [..., 52] bool, true where the card is held.
    """
    return LANE_RANKS.take(lanes(hands), axis=0).reshape(*np.shape(hands), NUM_CARDS)


def hand_of(cards: ArrayLike) -> Hands:
    """Return the hands that hold the given cards.

    Args:
        cards: [..., k] integers, cards or NO_CARD.

    Returns:
        [...] uint64.

    Raises:
        ValueError: a number is not a card, or a card appears twice in one hand.

    >>> format_hand(hand_of([0, 12, 51]))
    'As Ks Kc'
    """
    array = np.asarray(cards)
    if array.size == 0:
        return np.zeros(array.shape[:-1], dtype=np.uint64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"cards are whole numbers 0..51, not {array.dtype}")
    outside = array[(array < NO_CARD) | (array >= NUM_CARDS)]
    if outside.size:
        raise ValueError(f"{outside[0]} is not a card: cards are 0..51 (suit * 13 + rank)")
    bits = CARD_BIT[array]
    hands = np.asarray(np.bitwise_or.reduce(bits, axis=-1), dtype=np.uint64)
    if (np.bitwise_count(hands) != (array != NO_CARD).sum(axis=-1)).any():
        for hand in array.reshape(-1, array.shape[-1]).tolist():
            twice = [c for c in hand if c != NO_CARD and hand.count(c) > 1]
            if twice:
                raise ValueError(f"{format_card(twice[0])} appears twice")
    return hands


def cards_of(hand: int | np.uint64) -> list[int]:
    """Return the cards of one hand, ascending.

    >>> cards_of(parse_hand("Kc As"))
    [0, 51]
    """
    hand = int(hand)
    return [card for card in range(NUM_CARDS) if hand & int(CARD_BIT[card])]


def format_card(card: int) -> str:
    """Return a card as text.

    >>> format_card(22), format_card(NO_CARD)
    ('Th', '--')
    """
    if card == NO_CARD:
        return "--"
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"{card} is not a card: cards are 0..51 (suit * 13 + rank)")
    return RANK_LETTERS[card % NUM_RANKS] + SUIT_LETTERS[card // NUM_RANKS]


def parse_card(text: str) -> int:
    """Return the card that a text names: a rank of A 2..9 T (or 10) J Q K, then a suit of s h d c.

    The signs ♠ ♥ ♦ ♣ stand for the suits too.

    Raises:
        ValueError: the text names no card.

    >>> parse_card("Th"), parse_card("10H"), parse_card("T♥"), parse_card("kc")
    (22, 22, 22, 51)
    """
    name = text.strip().translate(_SIGNS)
    rank, suit = name[:-1].upper(), name[-1:].lower()
    if rank == "10":
        rank = "T"
    if len(rank) != 1 or rank not in RANK_LETTERS or suit not in SUIT_LETTERS or not suit:
        raise ValueError(
            f"{text!r} is not a card: write a rank of A 2..9 T J Q K, then a suit of s h d c"
        )
    return SUIT_LETTERS.index(suit) * NUM_RANKS + RANK_LETTERS.index(rank)


def format_hand(hand: int | np.uint64) -> str:
    """Return the cards of one hand as text, spades first, the ace lowest.

    >>> format_hand(parse_hand("Kc 2s As"))
    'As 2s Kc'
    """
    return " ".join(format_card(card) for card in cards_of(hand))


def parse_cards(text: str) -> list[int]:
    """Return the cards that a text names, in its order.

    Raises:
        ValueError: a word is not a card, or a card appears twice.

    >>> parse_cards("Kc, As")
    [51, 0]
    """
    cards: list[int] = []
    for word in text.replace(",", " ").split():
        card = parse_card(word)
        if card in cards:
            raise ValueError(f"{format_card(card)} appears twice in {text!r}")
        cards.append(card)
    return cards


def parse_hand(text: str) -> np.uint64:
    """Return the hand that a text names, one uint64.

    Raises:
        ValueError: a word is not a card, or a card appears twice.

    >>> hex(parse_hand("As 2s Ah"))
    '0x10003'
    """
    return np.uint64(sum(int(CARD_BIT[card]) for card in parse_cards(text)))
