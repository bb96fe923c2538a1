"""Figures are as wide as a column, and what they tell can be read in grey."""

import itertools

import numpy as np
import pytest
from matplotlib import colors

from training.figures import DPI, FILLS, LINES, STYLE, WIDTH, new_figure, styled, write_in


def lightness(color):
    return float(np.dot(colors.to_rgb(color), (0.299, 0.587, 0.114)))


def test_a_notebook_gets_a_png_of_the_width_of_a_column():
    draw = styled(new_figure)
    figure, axes = draw(2.0)
    axes.plot([1, 2], [3, 4], **LINES[0])
    picture = figure._repr_png_()
    assert picture.startswith(b"\x89PNG")
    width = int.from_bytes(picture[16:20], "big")
    assert width == pytest.approx(WIDTH * DPI, abs=1)
    assert axes.xaxis.label.get_size() == STYLE["axes.labelsize"]


@pytest.mark.parametrize("looks", [LINES, FILLS])
def test_no_two_lines_or_bars_differ_by_hue_alone(looks):
    for one, other in itertools.combinations(looks, 2):
        same_shape = one.get("marker") == other.get("marker") and (
            one.get("hatch") == other.get("hatch")
        )
        if same_shape:
            key = "color" if "color" in one else "facecolor"
            assert abs(lightness(one[key]) - lightness(other[key])) > 0.2


def test_numbers_are_written_dark_on_light_and_light_on_dark():
    _, axes = new_figure()
    numbers = np.array([[0.0, 100.0, np.nan]])
    axes.imshow(numbers, cmap="Greys", vmin=0, vmax=100)
    write_in(axes, numbers)
    assert [(text.get_text(), text.get_color()) for text in axes.texts] == [
        ("0", "black"),
        ("100", "white"),
    ]
