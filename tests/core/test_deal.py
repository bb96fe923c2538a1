"""The cut, the shuffle and the deal (RULES, One deal, 1 and 2)."""

import random

import numpy as np
import oracle
import pytest
from cases import OKLAHOMA, card
from positions import chi_square_p, lists_of

from ginrummy_env.core import deal as deal_module
from ginrummy_env.core.deal import decks, doubled, first_dealers, knock_limits, require_decks
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, Rules
from ginrummy_env.core.state import Phase

DECK_0 = [18, 37, 24, 12, 34, 3, 29, 10, 22, 8, 23, 14]
DECK_1 = [21, 31, 35, 46, 38, 7, 18, 29, 27, 12, 48, 40]
DEALERS_0 = [0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]


def rows_of(deck_rows):
    return set(map(tuple, deck_rows.tolist()))


# Decks are a function of (seed, game, deal)


def test_a_deck_has_all_52_cards():
    some = decks(0, np.arange(500), 0)
    assert (some.shape, some.dtype) == ((500, 52), np.int8)
    assert (np.sort(some, axis=1) == np.arange(52)).all()


def test_the_batch_and_the_order_of_its_rows_do_not_matter():
    seeds, games, deals = np.arange(60) % 3, np.arange(60) // 3, np.arange(60) % 5
    batch = decks(seeds, games, deals)
    for row in range(60):
        assert (decks(seeds[row], games[row], deals[row])[0] == batch[row]).all()
    order = np.random.default_rng(0).permutation(60)
    assert (decks(seeds[order], games[order], deals[order]) == batch[order]).all()


def test_every_seed_game_and_deal_has_its_own_deck():
    """64 rows, 64 decks; seed 0 shares none with seed 1, or games with deals."""
    assert len(rows_of(decks(0, np.arange(64), 0))) == 64
    assert len(rows_of(decks(np.arange(100), 0, 0))) == 100
    near = np.arange(20)
    grid = np.stack(np.meshgrid(near, near, near), axis=-1).reshape(-1, 3)
    assert len(rows_of(decks(*grid.T))) == 20**3


def test_a_deck_can_be_named_years_later():
    """Decks of three numbers stay what they are: a change is a new version of the environment."""
    assert decks(0, 0, 0)[0, :12].tolist() == DECK_0
    assert decks(2**64 - 1, 5, 3)[0, :12].tolist() == DECK_1
    assert first_dealers(0, np.arange(16)).tolist() == DEALERS_0


def test_each_card_is_at_each_place_equally_often():
    """20,000 decks; the counts are permutation matrices, so they have 51 * 51 free numbers."""
    count = 20_000
    dealt = decks(7, np.arange(count), 0)
    counts = np.zeros((52, 52))
    np.add.at(counts, (np.broadcast_to(np.arange(52), dealt.shape), dealt), 1)
    assert chi_square_p(counts, count / 52, freedom=51 * 51, scale=51 / 52) > 1e-4


@pytest.mark.parametrize("what", ["games", "deals", "seeds"])
def test_neighbouring_decks_are_independent(what):
    """A card's places in two decks one after another: every pair of places equally often."""
    count = np.arange(40_000)
    named = {"games": (0, count, 0), "deals": (0, 0, count), "seeds": (count, 0, 0)}[what]
    place = decks(*named).argmax(axis=1)  # where the king of clubs lies
    pairs = np.zeros((52, 52))
    np.add.at(pairs, (place[:-1], place[1:]), 1)
    assert chi_square_p(pairs, (len(count) - 1) / 52**2) > 1e-4


def test_neighbouring_cards_of_a_deck_are_independent():
    """The card that follows each card: all 51 others equally often."""
    dealt = decks(3, np.arange(3_000), 1)
    pairs = np.zeros((52, 52))
    np.add.at(pairs, (dealt[:, :-1], dealt[:, 1:]), 1)
    assert not pairs.diagonal().any()
    counts = pairs[~np.eye(52, dtype=bool)]
    assert chi_square_p(counts, counts.mean()) > 1e-4


def test_the_global_generators_play_no_part():
    """Neither read nor changed."""
    states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = new_games(4, 8, CLASSIC).deck
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    assert (new_games(4, 8, CLASSIC).deck == first).all()
    random.setstate(states[0])
    new_games(4, 8, CLASSIC)
    assert random.getstate() == states[0]


# The cut


def test_the_cut_is_fair():
    """RULES, One deal, 1. Within 4 standard errors of one half, in games and in seeds."""
    for named in ((0, np.arange(40_000)), (np.arange(40_000), 0)):
        dealers = first_dealers(*named)
        assert set(dealers.tolist()) == {0, 1}
        assert abs(dealers.mean() - 0.5) < 4 * 0.5 / np.sqrt(40_000)
        same_again = (dealers[1:] == dealers[:-1]).mean()
        assert abs(same_again - 0.5) < 4 * 0.5 / np.sqrt(40_000)


@pytest.mark.parametrize(
    ("cuts", "dealer"),
    [
        pytest.param("Kh 2s", 0, id="king before two"),
        pytest.param("2s Kh", 1, id="two before king"),
        pytest.param("As 2c", 1, id="the ace is low"),
        pytest.param("Ts Jh", 1, id="the ranks count, not the points"),
        pytest.param("3s 3c 4h 5h", 1, id="equal ranks: cut again"),
        pytest.param("3s 3c 4h 4s 9d 8d", 0, id="equal twice: cut again twice"),
    ],
)
def test_the_higher_rank_deals(monkeypatch, cuts, dealer):
    """RULES, One deal, 1: suits do not count."""
    cut = [card(text) for text in cuts.split()]
    order = np.int8([cut + [other for other in range(52) if other not in cut]])
    monkeypatch.setattr(deal_module, "_shuffled", lambda row_keys: order)
    assert first_dealers(0, 0).tolist() == [dealer]


def test_the_cut_tells_nothing_of_the_deck():
    """The non-dealer's first card is as often a high one whoever deals."""
    games = np.arange(20_000)
    rank = decks(0, games, 0)[:, 0] % 13
    dealers = first_dealers(0, games)
    assert abs(rank[dealers == 0].mean() - rank[dealers == 1].mean()) < 4 * 3.742 * 2 / 20_000**0.5


# The deal


@pytest.mark.parametrize("dealer", [0, 1])
def test_dealing(dealer):
    """RULES, One deal, 2: one card at a time, the non-dealer first; upcard; 31 left."""
    deck = list(range(51, -1, -1))
    state = new_games(0, 1, CLASSIC, dealers=[dealer], decks=[deck])
    hands = lists_of(state.hands[0])
    assert hands[1 - dealer] == sorted(deck[0:20:2])
    assert hands[dealer] == sorted(deck[1:20:2])
    assert (state.upcard[0], state.first_upcard[0]) == (deck[20], deck[20])
    assert state.discard_pile[0].tolist() == [deck[20]] + [-1] * 31
    assert state.stock == [deck[21:]]
    assert (state.player[0], state.phase[0]) == (1 - dealer, Phase.OPENING)


@pytest.mark.parametrize("case", OKLAHOMA, ids=lambda case: case.name)
def test_the_first_upcard_sets_the_limit(case):
    """RULES, Settings."""
    rules = Rules(oklahoma=True, knock_limit=4)
    assert knock_limits(np.int8([card(case.first_upcard)]), rules).tolist() == [case.knock_limit]


@pytest.mark.parametrize(
    "settings",
    [{}, {"knock_limit": 0}, {"oklahoma": True}, {"oklahoma": True, "oklahoma_ace": 0},
     {"oklahoma_ace": 0}, {"oklahoma_spades_double": True},
     {"oklahoma": True, "oklahoma_spades_double": True}],
)  # fmt: skip
def test_limits_and_doubling_of_every_upcard(settings):
    """Only Oklahoma looks at the upcard: with it an ace is 1 or gin only, and spades may double."""
    rules, upcards = Rules(**settings), np.arange(52, dtype=np.int8)
    assert knock_limits(upcards, rules).tolist() == [
        oracle.knock_limit(settings, upcard) for upcard in range(52)
    ]
    assert doubled(upcards, rules).tolist() == [
        oracle.doubled(settings, upcard) for upcard in range(52)
    ]


# Decks that are given


def test_a_deck_can_be_given():
    given = decks(1, np.arange(3), 0)
    for form in (given, given.astype(np.int64), given.astype(np.uint8), given.tolist()):
        taken = require_decks(form, 3)
        assert (taken == given).all()
        assert taken.dtype == np.int8


GOOD = list(range(52))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param([[*range(51), 50]], "deck 0: Qc appears twice", id="a card twice"),
        pytest.param([GOOD, [0, *range(51)]], "deck 1: As appears twice", id="in the second deck"),
        pytest.param([[*range(51), 52]], "52 is not a card: cards are 0..51", id="no such card"),
        pytest.param([[*range(51), -1]], "-1 is not a card: cards are 0..51", id="no card"),
        pytest.param([GOOD[:51]], r"shape \(1, 51\), expected \(\d, 52\)", id="a card missing"),
        pytest.param(GOOD, r"shape \(52,\), expected \(\d, 52\)", id="one deck, not a batch"),
        pytest.param([[float(each) for each in GOOD]], "whole numbers .* not float64", id="floats"),
        pytest.param([["As"] * 52], "whole numbers .*, not <U2", id="text"),
    ],
)
def test_what_is_no_deck(given, message):
    count = 2 if len(given) == 2 else 1
    with pytest.raises(ValueError, match=message):
        require_decks(given, count)
    with pytest.raises(ValueError, match=message):
        new_games(0, count, CLASSIC, decks=given)


def test_as_many_decks_as_games():
    with pytest.raises(ValueError, match=r"decks of shape \(1, 52\), expected \(2, 52\)"):
        new_games(0, 2, CLASSIC, decks=[GOOD])
