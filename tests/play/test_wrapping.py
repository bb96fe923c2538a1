"""Long lines are broken between words, at the width of the terminal."""

import numpy as np
import pytest

from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC
from ginrummy_env.core.view import make_view
from ginrummy_env.render import position_text
from ginrummy_training.play.terminal_player import HELP, Human, melds_text
from ginrummy_training.play.wrapping import shown_width, wrapped

VIEW = make_view(new_games(1, 1, CLASSIC, dealers=[1]), CLASSIC)


@pytest.mark.parametrize("width", [30, 40, 60, 79])
@pytest.mark.parametrize(
    "text",
    [HELP, melds_text(VIEW), position_text(VIEW, color=True), position_text(VIEW)],
    ids=["help", "melds", "table in colour", "table"],
)
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(text, width):
    after = wrapped(text, width)
    assert max(map(shown_width, after.split("\n"))) <= width
    assert [word for word in after.split() if "──" not in word] == [
        word for word in text.split() if "──" not in word
    ]


def test_what_fits_is_left_as_it_is():
    assert wrapped(HELP, 100) == HELP


def test_the_rest_stands_below_the_words_it_explains():
    assert wrapped("  draw   take the top card", 20).split("\n") == [
        "  draw   take the",
        "         top card",
    ]
    assert wrapped("one two three", 8) == "one two\nthree"
    assert wrapped("a" * 12 + " b", 5) == "a" * 12 + "\nb", "a word stays whole"


def test_a_person_sees_lines_as_wide_as_the_terminal_is_now():
    width, shown = [60], []
    answers = iter(["help", "take"])
    human = Human(lambda _: next(answers), shown.append, width=lambda: width[0])
    human.show(HELP)
    width[0] = 40
    human.act(VIEW, np.random.default_rng(1))
    assert max(len(line) for line in shown[0].split("\n")) in range(41, 61)
    assert max(len(line) for text in shown[1:] for line in text.split("\n")) <= 40
