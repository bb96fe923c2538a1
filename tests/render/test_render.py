import dataclasses
import re

import numpy as np
import pytest
from render_positions import (
    FIRST,
    LOOSE,
    SECOND,
    dealt,
    ended_deals,
    play,
    random_positions,
    undercut,
)

from ginrummy_env.core.cards import (
    CARD_BIT,
    cards_of,
    format_card,
    hand_of,
    parse_cards,
)
from ginrummy_env.core.deadwood import deadwood, least_after_discard
from ginrummy_env.core.rules import CLASSIC, MINI, MODERN, NANO, OKLAHOMA, PRESETS, Rules
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.view import make_view
from ginrummy_env.render import (
    position_line,
    position_svg,
    position_text,
)
from ginrummy_env.render.reading import read_position

# Text


def test_text_of_the_opening():
    state = dealt(FIRST, SECOND, "7h")
    assert (
        position_text(make_view(state, CLASSIC), ascii=True)
        == """\
 Deal 1, turn 1                          classic to 100 - knock with 10 or less
 ------------------------------------------------------------------------------

                   points     deals won
  You                   0             0
  Opponent              0             0   dealer

  Opponent ## ## ## ## ## ## ## ## ## ##
           10 unseen

  Stock    31 cards
  Pile     [7h]

  You      4h 5h 6h | 9h 9d 9c | As 2s 4c Kd
           run        set        deadwood 17

 The cards are dealt.
 You to move: take 7h or pass.
"""
    )


def test_text_of_a_hand_that_may_knock():
    """Of eleven cards the spare one is named, and what a knock would leave."""
    state = play(dealt(FIRST, SECOND, "7h", "8h Qs"), "take, discard As, draw, discard 2d, draw")
    assert (
        position_text(make_view(state, CLASSIC))
        == """\
 Deal 1, turn 3                          classic to 100 · knock with 10 or less
 ──────────────────────────────────────────────────────────────────────────────

                   points     deals won
  You                   0             0
  Opponent              0             0   dealer

  Opponent ░░ ░░ ░░ ░░ ░░ ░░ ░░ ░░ ░░ ░░
           10 unseen

  Stock    29 cards
  Pile     A♠ [2♦]

  You      4♥ 5♥ 6♥ 7♥ │ 9♥ 9♦ 9♣ │ 2♠ 4♣ Q♠    │ K♦
           run           set        deadwood 16   spare

 Known to Opponent: 7♥.
 Opponent drew, discarded 2♦. You drew Q♠.
 You to move: discard.
"""
    )


def test_text_of_an_undercut_shows_both_hands_laid_down():
    """The knocker's melds and deadwood are in the defender's picture too."""
    assert (
        position_text(make_view(undercut(), CLASSIC, 1))
        == """\
 Deal 1, turn 1                          classic to 100 · knock with 10 or less
 ──────────────────────────────────────────────────────────────────────────────

                   points     deals won
  You                  11             1   dealer
  Opponent              0             0

  Opponent A♠ 2♠ 3♠ │ 4♥ 5♥ 6♥ │ 9♥ 9♦ 9♣ │ 4♣
           run        run        set        deadwood 4

  Stock    30 cards
  Pile     Q♠ [K♦]

  You      J♠ J♥ J♦ │ K♠ K♥ K♣ │ 7♥ 9♠    │ A♦ 2♦
           set        set        laid off   deadwood 3

 You laid off 7♥ on 4♥ 5♥ 6♥.
 You laid off 9♠ on 9♥ 9♦ 9♣.
 Opponent knocked, You undercut and won 11 points.
 10 for the undercut + deadwood 4 − 3 = 11
"""
    )


def test_text_of_a_game_that_is_over():
    rules = Rules(target=11)
    text = position_text(make_view(undercut(rules), rules, 1), ascii=True)
    assert "  You                  11             1           231   dealer\n" in text
    assert text.endswith(" You won the game 11 : 0, with bonuses 231 : 0.\n")


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        pytest.param(Rules(turn_bound=1), "turn 1 was the last", id="bound"),
        pytest.param(Rules(void_stock=30), "the stock is down to 30", id="stock"),
    ],
)
def test_a_void_deal_says_why_and_keeps_the_hands_hidden(rules, reason):
    """RULES, One deal, 7."""
    state = play(dealt(FIRST, SECOND, "7h", rules=rules), "pass, pass, draw, discard Kd", rules)
    assert state.outcome[0] == Outcome.VOID
    text = position_text(make_view(state, rules))
    assert f" Void, {reason}: nobody scores.\n" in text
    assert "10 unseen" in text


def test_the_line_for_logs():
    line = position_line(make_view(undercut(), CLASSIC, 0), names=("ada", "bob"))
    assert line == (
        "deal 1 turn 1 | 0:11 | limit 10 | stock 30 upcard Kd"
        " | ada: As 2s 3s / 4h 5h 6h / 9h 9d 9c / deadwood 4 4c"
        " | bob: Js Jh Jd / Ks Kh Kc / laid off 7h / laid off 9s / deadwood 3 Ad 2d"
        " | ada knocked, bob undercut and won 11 points."
    )


@pytest.mark.parametrize(("upcard", "limit"), [("Kd", 10), ("8c", 8), ("7c", 7)])
def test_the_knock_limit_of_oklahoma_is_shown(upcard, limit):
    """The limit of this deal, not the default."""
    hand = "5s 6s 7s 9h 9d 9c Qd Qc Qs 8h"
    state = dealt(hand, "As 2s Ah 2h Ad 2d Ac 2c 3d 3c", upcard, "Kc", OKLAHOMA)
    view = make_view(play(state, "pass, pass, draw", OKLAHOMA), OKLAHOMA)
    assert f"knock with {limit} or less" in position_text(view)
    assert f"| limit {limit} |" in position_line(view)
    assert f">Knock with {limit} or less<" in position_svg(view)
    offers = {10: "or knock with K♣ (leaves 8)", 8: "or knock with K♣ (leaves 8)", 7: "discard."}
    assert position_text(view).splitlines()[-1].endswith(offers[limit] + "." * (limit > 7))


def test_names_of_players_cannot_break_lines_or_ascii():
    view = make_view(dealt(FIRST, SECOND, "7h"), CLASSIC)
    assert "\n" not in position_line(view, names=("a\nb", "José"))
    assert position_line(view, names=("a\nb", "José")).isascii()
    assert position_text(view, names=("a\nb", "José"), ascii=True).isascii()
    assert "José" in position_text(view, names=("a\nb", "José"))


@pytest.mark.parametrize("rules", [MINI, NANO, Rules(num_ranks=6, hand_size=5, big_gin=True)])
def test_small_decks_are_drawn_with_as_many_cards_as_there_are(rules):
    letters = {format_card(card) for card in cards_of(rules.full_deck)}
    for state in random_positions(rules, games=6, steps=30, every=3):
        view = make_view(state, rules)
        for row in np.flatnonzero(~state.over):
            position = read_position(view, row)
            held = [card for group in position.me.groups for card in group.cards]
            assert sorted(held) == cards_of(view.hand[row])
            spare = [group for group in position.me.groups if group.kind == "spare"]
            assert bool(spare) == (position.phase == Phase.DISCARD)
            taken = sum(len(group.cards) for group in position.opponent.groups)
            assert position.opponent.unseen + taken == rules.hand_size
        text = position_text(view, ascii=True)
        assert set(re.findall(r"\b[A2-9TJQK][shdc]\b", text)) <= letters
        assert position_svg(view).startswith("<svg")
        assert position_line(view)


def test_gin_only_is_said_so():
    rules = Rules(knock_limit=0)
    assert "gin only" in position_text(make_view(dealt(FIRST, SECOND, "7h", rules=rules), rules))


@pytest.mark.parametrize("seed", range(3))
def test_text_is_narrow_and_colour_and_ascii_change_nothing_else(seed):
    for state in random_positions(seed=seed, every=30):
        for player in (0, 1):
            view = make_view(state, LOOSE, player)
            for row in range(0, len(view), 6):
                names = ("a_very_long_name_indeed", "player_1")
                plain = position_text(view, row, names=names)
                assert max(map(len, plain.splitlines())) <= 80
                colored = position_text(view, row, names=names, color=True)
                assert re.sub("\x1b\\[[0-9;]*m", "", colored) == plain
                ascii_text = position_text(view, row, names=names, ascii=True)
                assert ascii_text.isascii()
                assert max(map(len, ascii_text.splitlines())) <= 80
                assert position_line(view, row, names=names).isascii()


# How hands are grouped


def test_eleven_cards_are_grouped_after_the_discard_that_leaves_least():
    for state in random_positions():
        rows = np.flatnonzero(state.phase == Phase.DISCARD)
        view = make_view(state, LOOSE)
        for row in rows[::3]:
            groups = read_position(view, row).me.groups
            (spare,) = groups[-1].cards
            assert groups[-1].kind == "spare"
            assert spare != view.taken_card[row]
            ten = view.hand[row : row + 1] & ~CARD_BIT[spare]
            least = least_after_discard(view.hand[row : row + 1], view.taken_card[row : row + 1])
            assert deadwood(ten) == least == sum(g.points for g in groups if g.kind == "deadwood")


def test_groups_hold_each_card_once():
    for state in random_positions():
        for row, hand in enumerate(make_view(state, LOOSE).hand):
            groups = read_position(make_view(state, LOOSE), row).me.groups
            assert hand_of([card for group in groups for card in group.cards]) == hand


def test_the_best_melding_of_eleven_is_not_best_to_discard_from():
    """4s4d4h 2s2c2h Ad2d3d leaves two aces; throwing the 3d makes gin."""
    state = dealt("As Ac Ad 2s 2c 2d 2h 4s 4d 4h", "Ks Kh Kc 7s 7d 7c Jd 3c 8s 9d", "Qs", "3d")
    view = make_view(play(state, "pass, pass, draw"), CLASSIC)
    assert [group.label for group in read_position(view).me.groups] == ["set"] * 3 + ["spare"]
    assert "or gin with 3♦." in position_text(view)


def test_a_long_run_is_one_group():
    state = dealt("Ah 2h 3h 4h 5h 6h 7h 8s 9d Kc", "As Ac Ad 2s 2c 2d 3s 3c 3d 4s", "Qs")
    groups = read_position(make_view(state, CLASSIC)).me.groups
    assert groups[0].cards == tuple(parse_cards("Ah 2h 3h 4h 5h 6h 7h"))


def test_a_run_to_a_king_and_one_from_an_ace_stay_apart():
    state = dealt("Js Qs Ks Ah 2h 3h 8s 9d Kc 5c", "As Ac Ad 2s 2c 2d 3s 3c 3d 4s", "Qd")
    groups = read_position(make_view(state, CLASSIC)).me.groups
    assert [group.label for group in groups] == ["run", "run", "deadwood 32"]


def loose_points(side):
    return sum(group.points for group in side.groups if group.kind == "deadwood")


def test_big_gin_and_gin_answered_by_gin_add_up():
    hand = "As Ac Ad 2s 2c 2d 2h 4s 4d 4h"
    rules = dataclasses.replace(MODERN, gin_answered_by_gin="undercut")
    state = dealt(hand, "Ks Kh Kc 7s 7d 7c Jd 3c 8s 9d", "Qs", "4c", rules)
    big = make_view(play(state, "pass, pass, draw, big gin", rules), rules, 1)
    assert " Opponent had big gin and won 61 points.\n" in position_text(big)
    assert position_text(big).startswith(" Deal 1, turn 1 ")
    assert " 31 for big gin + deadwood 30 = 61\n" in position_text(big)
    state = dealt(hand, "Ks Kh Kc 7s 7d 7c Jd Qd Td 9d", "Qs", "Kd", rules)
    answered = make_view(play(state, "pass, pass, draw, knock Kd", rules), rules, 1)
    assert " Opponent had gin, You too and won 25 points.\n" in position_text(answered)
    assert " 25 for the undercut = 25\n" in position_text(answered)


def test_a_spade_doubles_the_points():
    rules = dataclasses.replace(OKLAHOMA, oklahoma_ace=1)
    state = undercut(rules)
    assert " 2 × (10 for the undercut + deadwood 4 − 3) = 22\n" in position_text(
        make_view(state, rules, 1)
    )


@pytest.mark.parametrize("name", ["classic", "eaai", "modern", "oklahoma", "openspiel", "rlcard"])
def test_the_points_of_a_deal_add_up(name):
    """RULES, Scoring a deal: the sum that is shown is the points that were booked."""
    rules = PRESETS[name]
    # Random play knocks often if it may, but the limit of Oklahoma is what it is.
    loose = rules if rules.oklahoma else dataclasses.replace(rules, knock_limit=60)
    for state in ended_deals(loose):
        position = read_position(make_view(state, loose, 0))
        terms = sum(number for number, _ in position.account)
        assert terms * (2 if position.doubled else 1) == state.points[0] or not position.account
        assert bool(position.sum_words()) == (state.points[0] > 0)
        if state.knocker[0] != NOBODY:
            left = [
                [g.points for g in side.groups if g.kind == "deadwood"] for side in position.sides
            ]
            if state.knocker[0] == 1:
                left.reverse()
            assert sum(left[0]) == state.knocker_deadwood[0]
            assert sum(left[1]) == state.defender_deadwood[0]
