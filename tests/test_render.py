import dataclasses
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from ginrummy_env.core.actions import parse_action, random_actions
from ginrummy_env.core.cards import (
    CARD_BIT,
    HAND_SIZE,
    NUM_CARDS,
    SUIT_LETTERS,
    cards_of,
    format_card,
    hand_of,
    parse_card,
    parse_cards,
)
from ginrummy_env.core.deadwood import deadwood, least_after_discard
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import CLASSIC, MODERN, OKLAHOMA, PRESETS, Rules
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.render import (
    Picture,
    PixelRenderer,
    position_html,
    position_line,
    position_svg,
    position_text,
)
from ginrummy_env.render.__main__ import main
from ginrummy_env.render.html import spoken_name
from ginrummy_env.render.layout import (
    CARD_HEIGHT,
    CARD_WIDTH,
    HEIGHT,
    WIDTH,
    Card,
    card_sign,
    lay_out,
)
from ginrummy_env.render.position import read_position
from ginrummy_env.render.text import SUIT_SIGNS, sign_name

LOOSE = Rules(knock_limit=55)
"""A limit at which random play knocks often, so that all kinds of ends come up."""


def dealt(first, second, upcard, stock="", rules=CLASSIC):
    """A game whose non-dealer, player 0, holds ``first``; the stock starts with ``stock``."""
    deck = [
        card for pair in zip(parse_cards(first), parse_cards(second), strict=True) for card in pair
    ]
    deck += [parse_card(upcard), *parse_cards(stock)]
    deck += [card for card in range(NUM_CARDS) if card not in deck]
    return new_games(1, 1, rules, dealers=[1], decks=[deck])


def play(state, actions, rules=CLASSIC):
    for action in actions.split(", "):
        step(state, [parse_action(action)], rules)
    return state


def random_positions(rules=LOOSE, games=48, steps=90, every=15, seed=5):
    """States of many games, from the first deal on."""
    rng = np.random.default_rng(seed)
    state = new_games(seed, games, rules)
    for number in range(steps):
        if number % every == 0:
            yield state.copy()
        next_deals(state, rules)
        step(state, random_actions(action_masks(state, rules), rng.random(games)), rules)


def ended_deals(rules, games=64, steps=400, seed=3):
    """One-row states, each at the end of a deal."""
    rng = np.random.default_rng(seed)
    state = new_games(seed, games, rules)
    for _ in range(steps):
        over = np.flatnonzero(state.phase >= Phase.DEAL_OVER)
        yield from (state.select([row]) for row in over)
        if (state.phase == Phase.GAME_OVER).any() or len(over) > games // 2:
            return
        step(state, random_actions(action_masks(state, rules), rng.random(games)), rules)


def hidden_permuted(state, player, rng):
    """The same position with the cards that ``player`` cannot see dealt anew, one row."""
    other = state.copy()
    opponent = 1 - player
    known = int(state.known[0, opponent])
    unknown = cards_of(int(state.hands[0, opponent]) & ~known)
    cards = rng.permutation([*unknown, *state.stock[0]])
    other.hands[0, opponent] = hand_of(cards[: len(unknown)]) | np.uint64(known)
    if state.stock_count[0]:
        other.deck[0, NUM_CARDS - state.stock_count[0] :] = cards[len(unknown) :]
    return other


FIRST = "4h 5h 6h 9h 9d 9c As 2s 4c Kd"
SECOND = "Ks Kh Kc 7s 7d 7c 3d 3c 8s 2d"


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


KNOCKER = "4h 5h 6h 9h 9d 9c As 2s 4c Kd"
DEFENDER = "Ks Kh Kc Js Jh Jd 7h 9s Ad 2d"


def undercut(rules=CLASSIC):
    """Player 0 draws the 3s and knocks with 4; player 1 lays off the 7h and the 9s, and has 3."""
    state = dealt(KNOCKER, DEFENDER, "Qs", "3s", rules)
    return play(state, "pass, pass, draw, knock Kd", rules)


def test_text_of_an_undercut_shows_both_hands_laid_down():
    """B48: the knocker's melds and deadwood are in the defender's picture too."""
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
    """B42: the limit of this deal, not the default."""
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


def test_the_best_melding_of_eleven_cards_is_not_the_best_to_discard_from():
    """4s4d4h 2s2c2h Ad2d3d leaves two aces; throwing the 3d makes gin."""
    state = dealt("As Ac Ad 2s 2c 2d 2h 4s 4d 4h", "Ks Kh Kc 7s 7d 7c Jd 3c 8s 9d", "Qs", "3d")
    view = make_view(play(state, "pass, pass, draw"), CLASSIC)
    assert [group.label for group in read_position(view).me.groups] == ["set"] * 3 + ["spare"]
    assert "or gin with 3♦." in position_text(view)


def test_a_long_run_is_one_group():
    state = dealt("Ah 2h 3h 4h 5h 6h 7h 8s 9d Kc", "As Ac Ad 2s 2c 2d 3s 3c 3d 4s", "Qs")
    groups = read_position(make_view(state, CLASSIC)).me.groups
    assert groups[0].cards == tuple(parse_cards("Ah 2h 3h 4h 5h 6h 7h"))


def test_a_run_up_to_a_king_and_one_from_the_next_ace_are_two_groups():
    state = dealt("Js Qs Ks Ah 2h 3h 8s 9d Kc 5c", "As Ac Ad 2s 2c 2d 3s 3c 3d 4s", "Qd")
    groups = read_position(make_view(state, CLASSIC)).me.groups
    assert [group.label for group in groups] == ["run", "run", "deadwood 32"]


def loose_points(side):
    return sum(group.points for group in side.groups if group.kind == "deadwood")


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


# What may not be seen


def unseen(view, row):
    return cards_of(int(view.unseen[row]))


SHORT_NAME = re.compile(r"(?<!\w)(10|[A2-9TJQK])([shdc♠♥♦♣])(?![a-z])")
SPOKEN = {spoken_name(card): card for card in range(NUM_CARDS)}
SPOKEN_NAME = re.compile("|".join(SPOKEN), re.IGNORECASE)


def named(text):
    """All cards that a text names, in any of the ways in which cards are written."""
    letters = dict(zip(SUIT_SIGNS, SUIT_LETTERS, strict=True))
    short = {parse_card(rank + letters.get(suit, suit)) for rank, suit in SHORT_NAME.findall(text)}
    return short | {SPOKEN[name.lower()] for name in SPOKEN_NAME.findall(text)}


def test_named_finds_every_way_of_writing_a_card():
    for write in (format_card, sign_name, card_sign, spoken_name):
        text = ", ".join(map(write, range(NUM_CARDS)))
        assert named(text) == set(range(NUM_CARDS))


def test_no_rendering_names_an_unseen_card():
    """B50: nothing is hidden on the screen only."""
    checked = 0
    for state in random_positions(rules=CLASSIC):
        for player in (0, 1):
            view = make_view(state, CLASSIC, player)
            for row in range(player, len(view), 12):
                text = "\n".join(
                    [
                        position_text(view, row),
                        position_text(view, row, ascii=True),
                        position_line(view, row),
                        position_html(view, row),
                        repr(Picture(view, row)),
                    ]
                )
                assert not named(text) & set(unseen(view, row))
                assert set(cards_of(int(view.hand[row]))) <= named(text)
                checked += len(unseen(view, row))
    assert checked > 1000


def test_open_cards_are_shown_only_from_the_opponents_own_view():
    state = dealt(FIRST, SECOND, "7h")
    view, other = make_view(state, CLASSIC, 0), make_view(state, CLASSIC, 1)
    for draw in (position_text, position_line, position_html, position_svg):
        assert set(parse_cards(SECOND)) <= named(draw(view, opponent=other))
        assert not set(parse_cards(SECOND)) & named(draw(view))


def test_pictures_are_the_same_whatever_the_hidden_cards_are():
    rng = np.random.default_rng(2)
    renderer = PixelRenderer(300)
    for state in random_positions(rules=CLASSIC, games=12, every=40):
        for row in range(0, 12, 4):
            one = state.select([row])
            if one.phase[0] >= Phase.DEAL_OVER:
                continue
            other = hidden_permuted(one, 0, rng)
            assert (other.hands != one.hands).any()
            views = [make_view(each, CLASSIC, 0) for each in (one, other)]
            assert position_html(views[0]) == position_html(views[1])
            assert (renderer.draw(views[0]) == renderer.draw(views[1])).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(lambda view, other: {"row": 3}, "row=3", id="no such row"),
        pytest.param(lambda view, other: {"opponent": view}, "player 0 again", id="own view"),
        pytest.param(
            lambda view, other: {"opponent": other.select([0, 0])}, "2 rows", id="other rows"
        ),
        pytest.param(
            lambda view, other: {"opponent": make_view(dealt(SECOND, FIRST, "7h"), CLASSIC, 1)},
            "another game",
            id="other game",
        ),
    ],
)
def test_wrong_views_are_refused(change, message):
    state = dealt(FIRST, SECOND, "7h")
    view, other = make_view(state, CLASSIC, 0), make_view(state, CLASSIC, 1)
    with pytest.raises(ValueError, match=message):
        position_text(view, **change(view, other))


# Pictures


def test_svg_is_well_formed_and_every_card_says_its_name():
    view = make_view(dealt(FIRST, SECOND, "7h"), CLASSIC, 0)
    root = ET.fromstring(position_svg(view, names=("<me>", "R&D")))
    space = "{http://www.w3.org/2000/svg}"
    names = [group.attrib["aria-label"] for group in root.iter(f"{space}g")]
    assert "four of hearts, run" in names
    assert "king of diamonds, deadwood" in names
    assert "seven of hearts, upcard" in names
    assert sum(name == "face-down card, unseen" for name in names) == HAND_SIZE
    assert len(names) == len(list(root.iter(f"{space}title")))
    assert "to move: take seven of hearts or pass" in root.attrib["aria-label"]


def test_html_needs_nothing_from_elsewhere():
    html = Picture(make_view(undercut(), CLASSIC))._repr_html_()
    assert "url(" not in html
    assert "<script" not in html
    assert re.findall(r"https?://\S+?(?=\")", html) == ["http://www.w3.org/2000/svg"]
    assert len(html) < 40_000


def test_everything_lies_within_the_picture():
    for rules in (LOOSE, MODERN):
        for state in random_positions(rules=rules):
            for player in (0, 1):
                view, other = (make_view(state, rules, p) for p in (player, 1 - player))
                for row in range(0, len(view), 4):
                    for opponent in (None, other):
                        items = lay_out(read_position(view, row, opponent=opponent))
                        cards = [item for item in items if isinstance(item, Card)]
                        assert all(0 <= c.x <= WIDTH - CARD_WIDTH for c in cards)
                        assert all(0 <= c.y <= HEIGHT - CARD_HEIGHT for c in cards)


def test_pixels():
    renderer = PixelRenderer()
    view = make_view(dealt(FIRST, SECOND, "7h"), CLASSIC, 0)
    pixels = renderer.draw(view)
    assert pixels.shape == (600, 900, 3)
    assert pixels.dtype == np.uint8
    assert pixels.flags.writeable
    assert (pixels == renderer.draw(view)).all()
    other = make_view(dealt(FIRST.replace("Kd", "Qd"), SECOND, "7h"), CLASSIC, 0)
    changed = np.argwhere((pixels != renderer.draw(other)).any(axis=2))
    assert len(changed)
    assert changed.min(axis=0)[0] > 350  # nothing but my own hand and its deadwood is different
    assert PixelRenderer(300).draw(view).shape == (200, 300, 3)


def test_pixels_of_open_cards_differ():
    state = dealt(FIRST, SECOND, "7h")
    view, other = make_view(state, CLASSIC, 0), make_view(state, CLASSIC, 1)
    renderer = PixelRenderer(300)
    assert (renderer.draw(view) != renderer.draw(view, opponent=other)).any()


def test_a_window_opens_at_the_first_show_and_closes_once(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame")
    view = make_view(dealt(FIRST, SECOND, "7h"), CLASSIC, 0)
    with PixelRenderer(300) as renderer:
        renderer.draw(view)
        assert not pygame.display.get_init()
        renderer.show(view, fps=1000)
        assert pygame.display.get_surface().get_size() == (300, 200)
        shown = pygame.image.tobytes(pygame.display.get_surface(), "RGB")
        assert shown == renderer.draw(view).tobytes()
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        renderer.show(view)
        assert renderer.closed
        renderer.show(view)
        assert not pygame.display.get_init()
    renderer.close()


def test_without_pygame_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"ginrummy_env\[render\]"):
        PixelRenderer()


def test_a_width_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="width=10"):
        PixelRenderer(10)


def test_importing_the_package_loads_no_pygame():
    code = "import sys, ginrummy_env.render; print('pygame' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


# Command line


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html", ".txt"])
def test_the_command_line_writes_files(tmp_path, capsys, suffix):
    out = tmp_path / f"position{suffix}"
    main(["--seed", "3", "--steps", "12", "--policy", "random", "--out", str(out)])
    assert out.stat().st_size > 500
    assert str(out) in capsys.readouterr().out


def test_the_command_line_prints_text(capsys):
    arguments = ["--policy", "random", "--steps", "4", "--player", "1", "--ascii"]
    main([*arguments, "--open-cards", "--rules", "eaai"])
    printed = capsys.readouterr().out
    assert "eaai to 100" in printed
    assert printed.isascii()
    assert "unseen" not in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--rules", "nonsense"], "unknown preset"), (["--out", "a.gif"], "must end in one of")],
)
def test_the_command_line_says_what_is_wrong(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err
