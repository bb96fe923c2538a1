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
    crowd,
    intervals,
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


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        pytest.param([-844, -31, 0, 109, 226], (-31, 226), id="one far below"),
        pytest.param([-46, -36, -3, -1, 0, 2], (-3, 2), id="two far below"),
        pytest.param([0, 1, 2, 90], (0, 2), id="one far above"),
        pytest.param([0, 10, 25], (0, 25), id="none"),
        pytest.param([0, 100], (0, 100), id="two are no crowd"),
        pytest.param([5], (5, 5), id="one"),
    ],
)
def test_what_lies_far_away_does_not_squeeze_the_scale(values, scale):
    assert crowd(values) == scale
    _, axes = new_figure()
    estimates = [Estimate(value, value - 1, value + 1) for value in values]
    intervals(axes, range(len(values)), estimates, LINES[0], scale=scale, form="{:+.0f}")
    outside = [value for value in values if not scale[0] <= value <= scale[1]]
    assert [text.get_text() for text in axes.texts] == [
        f"{value:+.0f}".replace("-", "−") for value in outside
    ]
    low, high = axes.get_xlim()
    assert high - low <= 2 * (scale[1] - scale[0] + 2)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_is_written_as_its_name_says(tmp_path, ending):
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    figure, _ = new_figure()
    figure.save(tmp_path / f"one.{ending}")
    figure.save(tmp_path / f"two.{ending}")
    first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
    assert first.startswith(starts[ending])
    assert first == second


def test_a_name_that_is_no_pictures_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"ends with \.png, \.svg, \.pdf"):
        new_figure()[0].save(tmp_path / "picture.gif")


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
    words = [text.get_text() for text in picture.legends[0].get_texts()]
    assert words == ["one", "two", "one, published"]
