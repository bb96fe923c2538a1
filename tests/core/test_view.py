"""What one player may see, and what he may do."""

import copy
import pickle

import numpy as np
import oracle
import pytest
from cases import LAYOFFS
from positions import (
    VARIANTS,
    differences,
    hidden_cards,
    knock_with,
    lists_of,
    meld_lists,
    play,
    play_deals,
    positions,
    rich_decks,
    stacked_deck,
    view_bytes,
)

from ginrummy_env.core.cards import NO_CARD, hand_of, hand_points, parse_hand
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.melds import MELD_MASK
from ginrummy_env.core.rules import CLASSIC, EAAI, MODERN, OKLAHOMA, OPENSPIEL, RLCARD
from ginrummy_env.core.settlement import lay_down
from ginrummy_env.core.state import FIELD_NAMES, NOBODY, Outcome, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import (
    ARRAY_NAMES,
    ME,
    OPPONENT,
    View,
    make_view,
    players_of,
)

BY_PLAYER = ("known", "taken", "discarded", "declined", "scores", "deals_won")
SHARED = (
    "phase", "turn", "taken_card", "upcard", "discard_pile", "discard_count", "stock_count",
    "first_upcard", "knock_limit", "step_count", "deal_number", "outcome", "points",
    "knocker_deadwood", "defender_deadwood",
)  # fmt: skip


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS, scope="module")
def seen(request):
    """Positions of random play, from the first to the last, and the rules."""
    return positions(request.param, games=25, seed=3), request.param


def test_the_view_is_the_state_from_one_side(seen):
    """Columns 0 and 1 are the viewer and his opponent; everything else is public."""
    state, rules = seen
    for player in (0, 1):
        view = make_view(state, rules, player)
        assert len(view) == len(state)
        assert (view.player == player).all()
        assert (view.hand == state.hands[:, player]).all()
        assert (view.to_move == ((state.player == player) & ~state.over)).all()
        assert (view.is_dealer == (state.dealer == player)).all()
        for name in SHARED:
            assert (getattr(view, name) == getattr(state, name)).all(), name
        for name in BY_PLAYER:
            expected = getattr(state, name)[:, [player, 1 - player]]
            assert (getattr(view, name) == expected).all(), name
        for name in ("winner", "knocker"):
            side = getattr(state, name)
            expected = np.where(side == NOBODY, NOBODY, np.where(side == player, ME, OPPONENT))
            assert (getattr(view, name) == expected).all(), name
        assert (view.drawn_card == np.where(view.to_move, state.drawn_card, NO_CARD)).all()
        longest = state.step_count.max()
        assert (view.history == state.history[:, :longest]).all()


def test_all_fields_are_looked_at():
    """A field of the view that the test above does not know is a field that may leak."""
    of_one = {"player", "hand", "to_move", "is_dealer", "drawn_card", "history", "opponent_hand"}
    assert {*SHARED, *BY_PLAYER, *of_one, "winner", "knocker"} == set(ARRAY_NAMES)
    assert not {"seed", "game_number", "deck", "hands", "player_0"} & set(ARRAY_NAMES)


def test_what_is_unseen(seen):
    """The stock and what the opponent holds unknown, and nothing else."""
    state, rules = seen
    for player in (0, 1):
        viewers = np.full(len(state), player)
        assert (make_view(state, rules, player).unseen == hidden_cards(state, viewers)).all()


def test_masks_are_those_of_the_state(seen):
    state, rules = seen
    view = make_view(state, rules)
    assert (view.player == state.player).all()
    assert (view.action_masks() == action_masks(state, rules)).all()


def test_who_is_not_to_move_may_do_nothing(seen):
    """He sees his own ten cards, and his mask is all zero."""
    state, rules = seen
    view = make_view(state, rules, 1 - state.player)
    assert not view.action_masks().any()
    assert (view.drawn_card == NO_CARD).all()
    assert (view.hand == state.hands[np.arange(len(state)), 1 - state.player]).all()
    both = make_view(state, rules, np.arange(len(state)) % 2)
    expected = action_masks(state, rules) & (state.player == np.arange(len(state)) % 2)[:, None]
    assert (both.action_masks() == expected).all()


def test_a_hand_is_shown_when_it_is_laid_down(seen):
    """After a knock both hands are public; before it, and after a void deal, neither."""
    state, rules = seen
    laid_down = np.isin(
        state.outcome,
        [Outcome.GIN, Outcome.BIG_GIN, Outcome.KNOCK, Outcome.UNDERCUT, Outcome.EQUAL,
         Outcome.GIN_ANSWERED],
    )  # fmt: skip
    assert laid_down.any()
    for player in (0, 1):
        shown = make_view(state, rules, player).opponent_hand
        assert (shown == np.where(laid_down, state.hands[:, 1 - player], 0)).all()


def test_what_is_laid_down(seen):
    """Melds, lay-offs and what counts, the same from either side, as the oracle has them."""
    state, rules = seen
    ended = state.select(state.knocker != NOBODY)
    sides = [make_view(ended, rules, player).laid_down() for player in (0, 1)]
    for name in ("deadwood", "melds", "layoffs", "deadwood_cards"):
        one, other = (getattr(side.defence, name) for side in sides)
        assert (one == other).all(), name
    melds, defence = sides[0].knocker_melds, sides[0].defence
    assert (melds == sides[1].knocker_melds).all()
    assert (defence.deadwood == ended.defender_deadwood).all()
    rows = np.arange(len(ended))
    mine, his = ended.hands[rows, ended.knocker], ended.hands[rows, 1 - ended.knocker]
    left = mine & ~np.bitwise_or.reduce(MELD_MASK[melds], axis=1)
    assert (hand_points(left) == ended.knocker_deadwood).all()
    own = np.bitwise_or.reduce(MELD_MASK[defence.melds], axis=1)
    laid = np.bitwise_or.reduce(defence.layoffs, axis=1)
    assert (own | laid | defence.deadwood_cards == his).all()
    piles = [[card for card in pile if card != NO_CARD] for pile in ended.discard_pile.tolist()]
    for row, (hand, pile) in enumerate(zip(lists_of(mine), piles, strict=True)):
        assert meld_lists(melds[row]) == oracle.knocker_arrangement(hand, pile)


def test_nothing_is_laid_down_before_the_end():
    state = new_games(0, 3, CLASSIC)
    with pytest.raises(ValueError, match="row 0: nobody has knocked"):
        make_view(state, CLASSIC).laid_down()
    assert len(make_view(state, CLASSIC).select([]).laid_down().knocker_melds) == 0


@pytest.mark.parametrize("player", [0, 1])
def test_a_knock_as_both_see_it(player):
    """The defender sees the knocker's melds, deadwood cards and their points."""
    case = LAYOFFS[2]
    state = knock_with(case.knocker, case.defender, "Qc", CLASSIC, upcard="8c", player=player)
    view = make_view(state, CLASSIC, 1 - player)
    assert (view.knocker[0], view.winner[0]) == (OPPONENT, OPPONENT)
    assert view.opponent_hand == parse_hand(case.knocker)
    assert (view.knocker_deadwood[0], view.defender_deadwood[0]) == (3, 56)
    laid = view.laid_down()
    assert sorted(map(len, meld_lists(laid.knocker_melds[0]))) == [3, 3, 3]
    assert np.bitwise_or.reduce(laid.defence.layoffs[0]) == parse_hand("4s 8s")
    assert (make_view(state, CLASSIC, player).knocker[0]) == ME


# What is remembered


def test_the_opponent_remembers_what_was_taken():
    """The nine is player 0's until he throws it; then it lies on the pile."""
    deck = stacked_deck("As 3h 5d 7c 9s Jh Kd 2c 4s 6h", "", "9h")
    state = new_games(0, 1, CLASSIC, dealers=[1], decks=[deck])
    nine = parse_hand("9h")
    view = make_view(play(state, CLASSIC, "take"), CLASSIC, 1)
    assert view.known.tolist() == [[0, int(nine)]]
    assert view.taken_card[0] == 21
    assert not view.unseen[0] & nine
    view = make_view(play(state, CLASSIC, "discard Kd"), CLASSIC, 1)
    assert view.known.tolist() == [[0, int(nine)]]
    assert make_view(state, CLASSIC, 0).known.tolist() == [[int(nine), 0]]
    play(state, CLASSIC, "draw")
    step(state, state.drawn_card, CLASSIC)
    play(state, CLASSIC, "draw, discard 9h")
    view = make_view(state, CLASSIC, 1)
    assert not view.known.any()
    assert view.taken[0, OPPONENT] == view.discarded[0, OPPONENT] & nine == nine
    assert view.discards[0] & nine
    assert (view.declined[0, OPPONENT] & nine, view.upcard[0]) == (0, 21)


def test_taken_discarded_and_declined_are_what_the_history_tells(seen):
    """Replayed from the actions: who took, threw and left what, and what he still holds."""
    state, rules = seen
    ends = state.select(state.over)
    view = make_view(ends, rules, 0)
    who = players_of(view)
    for row in range(len(ends)):
        taken, thrown, left, known = ([set(), set()] for _ in range(4))
        pile = [int(ends.first_upcard[row])]
        for action, player in zip(view.history[row], who[row], strict=True):
            if action == 105:
                taken[player].add(pile[-1])
                known[player].add(pile.pop())
            elif action in (104, 106):
                left[player].add(pile[-1])
            elif action < 104:
                thrown[player].add(int(action) % 52)
                known[player].discard(int(action) % 52)
                pile.append(int(action) % 52)
        names = ("taken", "discarded", "declined", "known")
        for name, sets in zip(names, (taken, thrown, left, known), strict=True):
            masks = getattr(view, name)[row]
            assert lists_of(masks) == [sorted(sets[0]), sorted(sets[1])], name
        assert [card for card in view.discard_pile[row].tolist() if card != NO_CARD] == pile
        assert view.discards[row] == hand_of(pile or [NO_CARD])


@pytest.mark.parametrize("rules", [CLASSIC, OPENSPIEL, RLCARD])
def test_players_of_the_history(rules):
    """Who took each action, as it was when it was taken."""
    state = new_games(2, 30, rules)
    movers = []
    for now in play_deals(state, rules, np.random.default_rng(0)):
        movers.append(np.where(now.over, -1, now.player))
    for player in (0, 1):
        who = players_of(make_view(state, rules, player))
        expected = np.stack(movers[:-1], axis=1)
        assert (who == np.where(expected == -1, -1, expected ^ player)).all()
        assert who.dtype == np.int8


def test_the_limit_in_force_is_seen():
    state = new_games(0, 60, OKLAHOMA)
    view = make_view(state, OKLAHOMA)
    expected = [oracle.knock_limit({"oklahoma": True}, card) for card in view.upcard.tolist()]
    assert view.knock_limit.tolist() == expected
    assert view.rules == OKLAHOMA
    assert view.select([3]).rules == OKLAHOMA


# Copies


def test_a_view_is_a_copy():
    """It stays as it is when the game goes on, and writing into it changes no game."""
    state = new_games(0, 20, MODERN, decks=rich_decks(np.random.default_rng(0), 20))
    kept = []
    for now in play_deals(state, MODERN, np.random.default_rng(1)):
        view = make_view(now, MODERN)
        masks = view.action_masks()
        for name in ARRAY_NAMES:
            for field in FIELD_NAMES:
                assert not np.shares_memory(getattr(view, name), getattr(now, field)), name
        kept.append((view, view_bytes(view), masks, masks.copy()))
    for view, before, masks, masks_before in kept:
        assert view_bytes(view) == before
        assert (masks == masks_before).all()
    view = make_view(state, MODERN, 0)
    before = state.copy()
    for name in ARRAY_NAMES:
        getattr(view, name)[...] = 1
    view.discards[:] = view.unseen[:] = 0
    view.action_masks()[:] = True
    assert differences(state, before) == []


def test_asking_a_view_changes_nothing():
    view = make_view(positions(CLASSIC, games=5), CLASSIC)
    before = view_bytes(view)
    first = view.action_masks()
    assert (view.action_masks() == first).all()
    players_of(view)
    _ = view.unseen, view.discards, view.select([0])
    assert view_bytes(view) == before


@pytest.mark.parametrize(
    "make",
    [copy.deepcopy, lambda view: pickle.loads(pickle.dumps(view)),
     lambda view: view.select(np.arange(len(view)))],
    ids=["deepcopy", "pickle", "select"],
)  # fmt: skip
def test_copies_of_a_view(make):
    """With its rules."""
    view = make_view(positions(EAAI, games=4), EAAI, 0)
    before, other = view_bytes(view), make(view)
    assert view_bytes(other) == before
    assert other.rules == EAAI
    for name in ARRAY_NAMES:
        getattr(other, name)[...] = 0
    assert view_bytes(view) == before


def test_chosen_rows():
    state = positions(CLASSIC, games=4)
    view = make_view(state, CLASSIC)
    rows = [5, 0, 5]
    assert view_bytes(view.select(rows)) == {
        name: getattr(view, name)[rows].tobytes() for name in ARRAY_NAMES
    }
    flags = state.phase == Phase.DISCARD
    assert view_bytes(view.select(flags)) == view_bytes(view.select(np.flatnonzero(flags)))
    assert len(view.select([])) == 0
    assert view.select([]).action_masks().shape == (0, 108)


def test_a_view_without_rows():
    view = make_view(new_games(0, 0, CLASSIC), CLASSIC)
    assert len(view) == 0
    assert view.action_masks().shape == (0, 108)


@pytest.mark.parametrize("players", [2, -1, 0.5, [0, 1], [0, 1, 2], "0", None])
def test_players_are_0_or_1(players):
    state = new_games(0, 3, CLASSIC)
    if players is None:
        assert (make_view(state, CLASSIC, players).player == state.player).all()
        return
    with pytest.raises(ValueError, match="0 or 1, or 3 of them, are needed") as error:
        make_view(state, CLASSIC, players)
    assert f"players={players}" in str(error.value)


def test_laying_down_by_player_or_by_side():
    """`lay_down` takes the hands of players 0 and 1, or of the viewer and the opponent."""
    *_, state = play_deals(new_games(0, 50, CLASSIC), CLASSIC, np.random.default_rng(0))
    ended = state.select(state.knocker != NOBODY)
    straight = lay_down(ended.hands, ended.knocker, ended.discards, CLASSIC)
    swapped = lay_down(ended.hands[:, ::-1], 1 - ended.knocker, ended.discards, CLASSIC)
    assert (straight.knocker_melds == swapped.knocker_melds).all()
    assert (straight.defence.deadwood == swapped.defence.deadwood).all()
    assert isinstance(make_view(ended, CLASSIC), View)
