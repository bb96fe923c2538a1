"""What may be done (RULES, One deal, 3 to 7; Settings)."""

import numpy as np
import pytest
from cases import OKLAHOMA_HAND
from positions import (
    VARIANTS,
    differences,
    play,
    play_deals,
    positions,
    rich_decks,
    stacked_deck,
    under_variants,
)

from ginrummy_env.core.actions import (
    BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    PASS,
    TAKE_UPCARD,
    IllegalActionError,
    format_action,
    parse_action,
)
from ginrummy_env.core.cards import (
    CARD_BIT,
    NO_CARD,
    card_planes,
    cards_of,
    format_card,
    format_hand,
)
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks, mover_hands, require_legal
from ginrummy_env.core.rules import CLASSIC, MODERN, OKLAHOMA, Rules
from ginrummy_env.core.state import Phase, concatenate
from ginrummy_env.core.step import step


def legal(state, rules, row=0) -> set[str]:
    return {format_action(action) for action in np.flatnonzero(action_masks(state, rules)[row])}


def one_deal(nondealer, upcard, stock="", *, rules=CLASSIC):
    """A deal of these cards; player 0 is the non-dealer."""
    deck = stacked_deck(nondealer, "", upcard, stock)
    return new_games(0, 1, rules, dealers=[1], decks=[deck])


LOOSE = "As 3h 5d 7c 9s Jh Kd 2c 4s 6h"
"""Ten cards of which none is melded."""


# The opening


def test_opening():
    """RULES, One deal, 3: take or pass, the other too, then only the stock."""
    state = one_deal(LOOSE, "Qs")
    assert (state.player[0], legal(state, CLASSIC)) == (0, {"take", "pass"})
    play(state, CLASSIC, "pass")
    assert (state.player[0], legal(state, CLASSIC)) == (1, {"take", "pass"})
    play(state, CLASSIC, "pass")
    assert (state.player[0], state.phase[0]) == (0, Phase.FIRST_DRAW)
    assert legal(state, CLASSIC) == {"draw"}


def test_after_the_opening_one_draws_or_takes():
    state = play(one_deal(LOOSE, "Qs"), CLASSIC, "pass, pass, draw, discard Kd")
    assert (state.player[0], legal(state, CLASSIC)) == (1, {"draw", "take"})
    state = play(one_deal(LOOSE, "Qs"), CLASSIC, "take, discard Kd")
    assert (state.player[0], legal(state, CLASSIC)) == (1, {"draw", "take"})
    state = play(one_deal(LOOSE, "Qs"), CLASSIC, "pass, take")
    step(state, action_masks(state, CLASSIC).argmax(axis=1), CLASSIC)
    assert (state.player[0], legal(state, CLASSIC)) == (0, {"draw", "take"})


# Discards


@pytest.mark.parametrize("drawn", ["Kh", "Qd", "8c"])
def test_the_card_drawn_from_the_stock_may_be_thrown(drawn):
    """Each of the eleven cards may go, the drawn one too."""
    state = play(one_deal(LOOSE, "Qs", drawn), CLASSIC, "pass, pass, draw")
    assert legal(state, CLASSIC) == {f"discard {card}" for card in f"{LOOSE} {drawn}".split()}


def test_each_of_eleven_cards_may_be_thrown():
    """1,000 random positions after a draw from the stock."""
    seen = positions(CLASSIC, games=80, seed=1)
    drawn = seen.select((seen.phase == Phase.DISCARD) & (seen.taken_card == NO_CARD))
    assert len(drawn) >= 1000
    masks = action_masks(drawn, CLASSIC)
    assert (masks[:, :KNOCK] == card_planes(mover_hands(drawn))).all()
    assert (masks[:, :KNOCK].sum(axis=1) == 11).all()


def test_the_taken_upcard_may_not_be_thrown():
    """RULES, One deal, 4: not in the same turn; a setting allows it; later it may go."""
    state = play(one_deal(LOOSE, "Qs"), CLASSIC, "take")
    assert legal(state, CLASSIC) == {f"discard {card}" for card in LOOSE.split()}
    free = Rules(discard_taken_upcard=True)
    assert legal(state, free) == legal(state, CLASSIC) | {"discard Qs"}
    play(state, CLASSIC, "discard Kd")
    dealers = cards_of(state.hands[0, 1])
    play(state, CLASSIC, f"draw, discard {format_card(dealers[0])}, draw")
    assert "discard Qs" in legal(state, CLASSIC)


@pytest.mark.parametrize("free", [False, True])
def test_the_taken_upcard_may_not_be_knocked_with(free):
    """RULES, One deal, 4: knocking or not."""
    rules = Rules(discard_taken_upcard=free)
    state = one_deal("As 2s 3s 4h 5h 6h 9c 9d 9s 8h", "Kh")
    play(state, rules, "take")
    assert ("knock Kh" in legal(state, rules)) == free
    assert ("discard Kh" in legal(state, rules)) == free
    assert "knock 8h" in legal(state, rules), "throwing the eight leaves the king: 10"


def test_knocking_is_never_compulsory():
    """RULES, One deal, 5: with gin in the hand all eleven discards stay legal."""
    hand = "As 2s 3s 4h 5h 6h 9c 9d 9s 9h"
    state = one_deal(hand, "Qs", "Kh")
    play(state, CLASSIC, "pass, pass, draw")
    knocks = {f"knock {card}" for card in "Kh 9c 9d 9s 9h".split()}
    assert legal(state, CLASSIC) == {f"discard {card}" for card in f"{hand} Kh".split()} | knocks
    straight = Rules(knock_limit=0)
    state.knock_limit[:] = 0
    assert legal(state, straight) & knocks == {"knock Kh"}


@pytest.mark.parametrize(
    ("upcard", "knocks"), [("Kd", {"knock 8h", "knock Kc"}), ("8d", {"knock Kc"}), ("7d", set())]
)
def test_the_upcard_sets_the_limit(upcard, knocks):
    """The limit of the deal is in the state and in the mask."""
    hand = OKLAHOMA_HAND.replace(" Kc", "")
    state = one_deal(hand, upcard, "Kc", rules=OKLAHOMA)
    assert state.knock_limit == min(10, "A23456789TJQK".index(upcard[0]) + 1)
    play(state, OKLAHOMA, "pass, pass, draw")
    assert {words for words in legal(state, OKLAHOMA) if "knock" in words} == knocks


# Big gin


def test_eleven_melded_cards_are_big_gin():
    """RULES, Settings: only where the rules have it; the discards stay."""
    state = one_deal("As 2s 3s 4h 5h 6h 9c 9d 9s 7h", "Qs", "9h")
    play(state, MODERN, "pass, pass, draw")
    assert "big gin" in legal(state, MODERN)
    assert {"knock 7h", "knock 9h", "discard 7h", "discard As"} <= legal(state, MODERN)
    assert "big gin" not in legal(state, CLASSIC)
    with pytest.raises(IllegalActionError, match="'big gin', is not legal"):
        step(state, [BIG_GIN], CLASSIC)


def test_big_gin_with_the_taken_card():
    """What was taken may not be thrown, but all eleven may be laid down."""
    state = one_deal("As 2s 3s 4h 5h 6h 9c 9d 9s 7h", "9h")
    play(state, MODERN, "take")
    assert {"big gin", "knock 7h"} <= legal(state, MODERN)
    assert "knock 9h" not in legal(state, MODERN)


def test_ten_melded_cards_are_not():
    state = one_deal("As 2s 3s 4h 5h 6h 9c 9d 9s 9h", "Qs", "Kh")
    play(state, MODERN, "pass, pass, draw")
    assert "big gin" not in legal(state, MODERN)


# The wall


def at_the_wall(mode, hand, thrown):
    """Player 1 has thrown a card with the stock at the void size, and player 0 holds ``hand``.

    Player 0 has passed, player 1 too; player 0 drew ``8c`` and threw it, as did player 1 with his.
    """
    rules = Rules(at_void_stock=mode, void_stock=29)
    state = one_deal(hand, "Qs", f"8c {thrown}", rules=rules)
    play(state, rules, f"pass, pass, draw, discard 8c, draw, discard {thrown}")
    return state, rules


NEARLY = "As 2c 3c 4c 5h 6h 7h 9c 9d Ks"
"""With 9s one can knock: 9s, 9c, 9d, two runs and an ace, throwing the king."""


def test_at_the_wall_one_takes_only_to_knock():
    """``knock_with_discard``: take if a knock is possible then, and knock; or pass."""
    state, rules = at_the_wall("knock_with_discard", NEARLY, "9s")
    assert (state.phase[0], state.player[0]) == (Phase.WALL, 0)
    assert legal(state, rules) == {"take", "pass"}
    play(state, rules, "take")
    assert {words for words in legal(state, rules) if "discard" in words} == set()
    assert legal(state, rules) == {"knock As", "knock Ks"}
    state, rules = at_the_wall("knock_with_discard", NEARLY, "Jc")
    assert legal(state, rules) == {"pass"}


def test_at_the_wall_one_may_go_on_taking():
    """``take_discard``: in any case, without the stock."""
    state, rules = at_the_wall("take_discard", NEARLY, "Jc")
    assert legal(state, rules) == {"take", "pass"}
    play(state, rules, "take")
    assert {f"discard {card}" for card in NEARLY.split()} == legal(state, rules)
    play(state, rules, "discard Ks")
    assert (state.phase[0], state.player[0]) == (Phase.WALL, 1)
    assert legal(state, rules) == {"take", "pass"}


def test_what_is_taken_at_the_wall_may_not_be_knocked_with():
    """A hand that could knock only with the card it takes may not take it."""
    done = "As 2c 3c 4c 5h 6h 7h 9c 9d 9s"
    state, rules = at_the_wall("knock_with_discard", done, "Ac")
    assert legal(state, rules) == {"take", "pass"}
    state, rules = at_the_wall("knock_with_discard", "Kh Jc 3c 4c 5h 6h 7h 9c 9d 8s", "Ad")
    assert legal(state, rules) == {"pass"}


def test_without_a_wall_the_deal_is_over():
    state, rules = at_the_wall("end", NEARLY, "9s")
    assert state.over.all()
    assert legal(state, rules) == set()


# Masks and the check of actions agree


def spread_positions(rules, seed=0):
    """Positions of random decks and of rich ones, in which big gin and the wall come."""
    rng = np.random.default_rng(seed)
    state = new_games(0, 60, rules, decks=rich_decks(rng, 60, rules))
    seen = [positions(rules, games=20, seed=seed, knocks=0.1)]
    for now in play_deals(state, rules, rng, knocks=0.05, greed=1.0):
        seen.append(now.select(~now.over))
    return concatenate(seen)


@under_variants
def test_what_the_mask_flags_can_be_done_and_nothing_else(rules):
    """Legal actions in hundreds of positions, the others in a dozen, by the check in `step`."""
    seen = spread_positions(rules)
    masks = action_masks(seen, rules)
    rows, actions = np.nonzero(masks)
    require_legal(seen.select(rows), actions.astype(np.int16), rules)
    rng = np.random.default_rng(0)
    for row in rng.permutation(np.flatnonzero(~seen.over))[:12]:
        position = seen.select([row])
        for action in np.flatnonzero(~masks[row]):
            with pytest.raises(IllegalActionError):
                require_legal(position, np.int16([action]), rules)


@under_variants
def test_masks_agree_with_themselves(rules):
    """Somebody can act until the deal is over; a knock leaves few enough points; one knows how."""
    seen = spread_positions(rules, seed=3)
    masks = action_masks(seen, rules)
    assert masks.dtype == np.bool_
    assert (masks.any(axis=1) == ~seen.over).all()
    knocks, throws = masks[:, KNOCK:DRAW_STOCK], masks[:, :KNOCK]
    held = card_planes(mover_hands(seen))
    assert not (knocks & ~held).any()
    assert not (throws & ~held).any()
    barred = CARD_BIT[seen.taken_card]
    if not rules.discard_taken_upcard:
        assert not (card_planes(barred) & (knocks | throws)).any()
    if rules.at_void_stock != "knock_with_discard":
        assert not (knocks & ~throws).any(), "who may knock with a card may throw it"
    assert (masks[:, DRAW_STOCK] == np.isin(seen.phase, [Phase.FIRST_DRAW, Phase.DRAW])).all()
    assert (masks[:, PASS] == np.isin(seen.phase, [Phase.OPENING, Phase.WALL])).all()
    takes = np.isin(seen.phase, [Phase.OPENING, Phase.DRAW, Phase.WALL])
    assert not (masks[:, TAKE_UPCARD] & ~takes).any()
    assert not masks[:, BIG_GIN].any() or rules.big_gin


def test_the_positions_reach_what_is_rare():
    """Big gin, the wall and knocks with the taken card were among them."""
    big_gins = action_masks(spread_positions(MODERN), MODERN)[:, BIG_GIN]
    assert big_gins.sum() > 5
    rules = VARIANTS["the wall soon"]
    seen = spread_positions(rules)
    takes = action_masks(seen.select(seen.phase == Phase.WALL), rules)[:, TAKE_UPCARD]
    assert set(takes.tolist()) == {True, False}


# Actions that are not legal


def test_illegal_actions_in_a_thousand_positions_change_nothing():
    """Refused with the row, the action in words and what was legal."""
    seen = positions(CLASSIC, games=30, seed=4)
    rows = np.flatnonzero(~seen.over)[:1000]
    assert len(rows) == 1000
    masks = action_masks(seen, CLASSIC)
    state = seen.select(rows)
    before = state.copy()
    rng = np.random.default_rng(0)
    legal_ones = masks[rows].argmax(axis=1)
    for place, row in enumerate(rows):
        illegal = np.flatnonzero(~masks[row])
        actions = legal_ones.copy()
        actions[place] = rng.choice([*rng.choice(illegal, 3), -1, NUM_ACTIONS, 32767, -32768])
        with pytest.raises(IllegalActionError) as error:
            step(state, actions, CLASSIC)
        assert (error.value.row, error.value.action) == (place, actions[place])
        assert error.value.legal == np.flatnonzero(masks[row]).tolist()
    assert differences(state, before) == []


def test_the_first_illegal_row_is_named():
    state = new_games(0, 5, CLASSIC)
    with pytest.raises(IllegalActionError, match=r"row 2: action 104, 'draw', .*legal: take, pass"):
        step(state, [PASS, PASS, DRAW_STOCK, 0, PASS], CLASSIC)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        pytest.param([106, 106], r"shape \(2,\), expected \(3,\)", id="too few"),
        pytest.param([[106] * 3], r"shape \(1, 3\), expected \(3,\)", id="two dimensions"),
        pytest.param(106, r"shape \(\), expected \(3,\)", id="one for all"),
        pytest.param([106.0] * 3, "whole numbers, not float64", id="floats"),
        pytest.param([True] * 3, "whole numbers, not bool", id="flags"),
        pytest.param(["pass"] * 3, "whole numbers, not <U4", id="words"),
        pytest.param([106, 2**40, 106], "1099511627776", id="far too great"),
        pytest.param([106, 106, 106 + 2**16], "65642", id="great by 2**16"),
        pytest.param([106, -(2**16) + 106, 106], "-65430", id="less by 2**16"),
    ],
)
def test_what_are_no_actions(actions, message):
    state = new_games(0, 3, CLASSIC)
    before = state.copy()
    with pytest.raises(ValueError, match=message):
        step(state, actions, CLASSIC)
    assert differences(state, before) == []


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int64, np.uint64])
def test_actions_of_any_whole_type(dtype):
    state = new_games(0, 3, CLASSIC)
    step(state, np.array([PASS, TAKE_UPCARD, PASS], dtype=dtype), CLASSIC)
    assert state.step_count.tolist() == [1, 1, 1]


def test_masks_are_new_each_time():
    state = new_games(0, 3, CLASSIC)
    mask = action_masks(state, CLASSIC)
    kept = mask.copy()
    step(state, [PASS] * 3, CLASSIC)
    assert (mask == kept).all()
    mask[:] = True
    assert (action_masks(state, CLASSIC) == kept).all()
    assert cards_of(mover_hands(state)[0]) == cards_of(state.hands[0, state.player[0]])


def test_words_and_masks_name_the_same():
    state = play(one_deal(LOOSE, "Qs", "Kh"), CLASSIC, "pass, pass, draw")
    thrown = [parse_action(words) for words in legal(state, CLASSIC)]
    assert format_hand(mover_hands(state)[0]) == format_hand(sum(int(CARD_BIT[c]) for c in thrown))
