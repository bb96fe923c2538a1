"""Figures are as wide as a column, and what they tell can be read in grey."""

import itertools

import numpy as np
import pytest
from matplotlib import colors

from ginrummy_training.plotting import (
    DPI,
    FILLS,
    LINES,
    STYLE,
    WIDTH,
    new_figure,
    series_picture,
    styled,
    write_in,
)
from ginrummy_training.statistics import Estimate


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


def test_a_series_has_its_interval_and_what_was_published():
    points = [(10, Estimate(50.0, 49.0, 51.0)), (0, Estimate(40.0, 38.0, 42.0))]
    picture = series_picture(
        {"one": points, "two": points},
        x_label="x",
        title="y",
        published={"one": [(0, 41.0, 0.5)]},
        level=50,
    )
    (axes,) = picture.axes
    lines = {line.get_label(): line for line in axes.lines}
    assert lines["one"].get_xdata().tolist() == [0, 10]
    assert lines["one"].get_ydata().tolist() == [40, 50]
    band = axes.collections[0].get_datalim(axes.transData)
    assert (band.ymin, band.ymax) == (38, 51)
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["one", "two", "one, published"]
