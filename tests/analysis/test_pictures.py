"""What an agent is given, as pictures: the observation, the mask, and how fast games go."""

import numpy as np
import pytest

from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.observation import OBSERVATION_LAYOUT, observe, planes
from ginrummy_env.core.rules import CLASSIC
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_training.analysis.env_speed import env_speed
from ginrummy_training.analysis.observation_figures import (
    mask_picture,
    observation_picture,
    speed_picture,
)


@pytest.fixture(scope="module")
def view():
    """A position with eleven cards in hand."""
    state, rng = new_games(5, 1, CLASSIC), np.random.default_rng(5)
    for _ in range(9):
        step(state, random_actions(action_masks(state, CLASSIC), rng.random(1)), CLASSIC)
    view = make_view(state, CLASSIC)
    assert np.bitwise_count(view.hand[0]) == 11
    return view


@pytest.mark.parametrize("derived", [True, False])
def test_every_plane_is_a_board_under_its_name(view, derived):
    observation = observe(view, derived)[0]
    shown = [axes for axes in observation_picture(observation).axes if axes.get_visible()]
    names = [entry.name for entry in OBSERVATION_LAYOUT if entry.is_plane][: len(shown)]
    assert len(shown) == (13 if derived else 10)
    assert [axes.get_title(loc="left") for axes in shown] == names
    for axes, board in zip(shown, planes(observation), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), board)


def test_shades_have_their_number(view):
    observation = observe(view)[0]
    boards = dict(
        zip(
            (entry.name for entry in OBSERVATION_LAYOUT if entry.is_plane),
            observation_picture(observation).axes,
            strict=False,
        )
    )
    texts = [text.get_text() for text in boards["after_discard"].texts]
    assert len(texts) == 11
    assert len(boards["hand"].texts) == 0


def test_an_observation_of_another_size_is_refused():
    with pytest.raises(ValueError, match="numbers, expected"):
        observation_picture(np.zeros(7, dtype=np.float32))


def test_the_mask_is_shown_whole(view):
    (mask,) = view.action_masks()
    shown = np.concatenate(
        [np.asarray(axes.images[0].get_array()).ravel() for axes in mask_picture(mask).axes]
    )
    np.testing.assert_array_equal(shown, mask)


def test_speed_is_that_of_each_size():
    rows = env_speed([1, 8], opponent="random", seconds=0.02)
    assert [row["games"] for row in rows] == [1, 8]
    assert all(row["decisions_a_second"] > 0 for row in rows)
    points = [(row["games"], row["decisions_a_second"]) for row in rows]
    (axes,) = speed_picture({"against random": points}).axes
    assert axes.lines[0].get_xydata().tolist() == [list(map(float, point)) for point in points]
