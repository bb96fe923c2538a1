import copy
import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from render_positions import (
    FIRST,
    LOOSE,
    SECOND,
    dealt,
    random_positions,
    undercut,
)

from ginrummy_env.core.cards import (
    HAND_SIZE,
    NUM_CARDS,
    SUIT_LETTERS,
    cards_of,
    format_card,
    hand_of,
    parse_card,
    parse_cards,
)
from ginrummy_env.core.rules import CLASSIC, MODERN
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import make_view
from ginrummy_env.render import (
    Picture,
    PixelRenderer,
    position_html,
    position_line,
    position_svg,
    position_text,
)
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
from ginrummy_env.render.reading import read_position
from ginrummy_env.render.text import SUIT_SIGNS, sign_name
from ginrummy_training.cli.main import main


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
    """Nothing is hidden on the screen only."""
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
    with pytest.raises(ImportError, match=r"-e .\.\[render\]"):
        PixelRenderer()


def test_a_renderer_copies_and_pickles_without_its_window():
    renderer = PixelRenderer(300)
    for other in (copy.deepcopy(renderer), pickle.loads(pickle.dumps(renderer))):
        assert other.size == renderer.size


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
    assert main(["render", "--seed=3", "--steps=12", "--agent=random", f"--out={out}"]) == 0
    assert out.stat().st_size > 500
    assert str(out) in capsys.readouterr().out


def test_the_command_line_prints_text(capsys):
    arguments = ["--agent", "random", "--steps", "4", "--view", "both", "--ascii"]
    assert main(["render", *arguments, "--rules", "eaai"]) == 0
    printed = capsys.readouterr().out
    assert "eaai to 100" in printed
    assert printed.isascii()
    assert "unseen" not in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--agent", "nonsense"], "unknown policy"), (["--out", "a.jpg"], "must end in one of")],
)
def test_the_command_line_says_what_is_wrong(arguments, message, capsys):
    assert main(["render", *arguments]) == 2
    assert message in capsys.readouterr().err
