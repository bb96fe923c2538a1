"""What is shown to one player of a deal in play: nothing that player cannot know."""

import json
from dataclasses import replace

import numpy as np
import pytest
from positions import permute_hidden

from ginrummy_env.core.actions import random_actions
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import CLASSIC
from ginrummy_env.core.step import step
from ginrummy_env.records.recorder import record_of
from ginrummy_env.viewer import Replay


@pytest.mark.parametrize("viewer", [0, 1])
def test_a_replay_for_one_player_shows_nothing_hidden(viewer):
    """The hidden cards change places: the page of the deal in play stays the same, turn by turn."""
    rng = np.random.default_rng(7)
    state = new_games(5, 6, CLASSIC)
    for _ in range(25):
        masks = action_masks(state, CLASSIC)
        masks[:, 52:104] = False
        step(state, random_actions(masks, rng.random(len(state))), CLASSIC)
    other = permute_hidden(state, np.full(len(state), viewer), rng)
    assert not state.over.any()
    assert (other.deck != state.deck).any(axis=1).all()
    for row in range(len(state)):
        pages = []
        for batch in (state, other):
            record = replace(record_of(batch, row, CLASSIC), seed=None, game_number=None)
            pages.append(json.dumps(Replay(record, viewer=viewer).data))
        assert pages[0] == pages[1]
        assert json.dumps(Replay(record).data) != json.dumps(
            Replay(record_of(state, row, CLASSIC)).data
        )


def test_the_page_of_a_record_does_not_hold_its_seed():
    seed = 0xFEEDFACECAFEBEEF
    page = Replay(record_of(new_games(np.uint64(seed), 1, CLASSIC), 0, CLASSIC), viewer=0).html
    assert str(seed) not in page


@pytest.mark.parametrize("viewer", [True, 2, "0", 1.0])
def test_a_viewer_is_a_player_or_none(viewer):
    record = record_of(new_games(5, 1, CLASSIC), 0, CLASSIC)
    with pytest.raises(ValueError, match=r"viewer=.*: a whole number from 0 to 1, or None"):
        Replay(record, viewer=viewer)
    assert Replay(record, viewer=np.int64(1)).viewer == 1
