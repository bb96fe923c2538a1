"""Action numbers, their words, and the error for one that is not legal."""

import pickle

import numpy as np
import pytest
from positions import CODES, chi_square_p

from ginrummy_env.core.actions import (
    BIG_GIN,
    DISCARD,
    DRAW_STOCK,
    KNOCK,
    NUM_ACTIONS,
    PASS,
    TAKE_UPCARD,
    IllegalActionError,
    describe,
    format_action,
    parse_action,
    random_actions,
)
from ginrummy_env.core.cards import format_card


def test_the_numbers_are_fixed():
    """They never change without a new version of the environment."""
    assert (DISCARD, KNOCK, DRAW_STOCK, TAKE_UPCARD, PASS, BIG_GIN) == (0, 52, 104, 105, 106, 107)
    assert len(CODES) == NUM_ACTIONS == 108


def test_every_action_in_words_and_back():
    for action in range(NUM_ACTIONS):
        words = format_action(action)
        assert parse_action(words) == parse_action(words.upper()) == action
        assert parse_action(f"  {words.replace(' ', '   ')} ") == action
        assert format_action(np.int16(action)) == words
    assert [format_action(card) for card in range(52)] == [
        f"discard {format_card(card)}" for card in range(52)
    ]
    assert [format_action(52 + card) for card in range(52)] == [
        f"knock {format_card(card)}" for card in range(52)
    ]
    assert [format_action(action) for action in range(104, 108)] == [
        "draw", "take", "pass", "big gin",
    ]  # fmt: skip
    assert parse_action("knock 10h") == parse_action("knock Th")


@pytest.mark.parametrize(
    "words", ["", "knock", "fold", "discard 3x", "draw Ks", "big", "knock K s"]
)
def test_words_that_are_no_action(words):
    with pytest.raises(ValueError, match="is not a") as error:
        parse_action(words)
    assert repr(words) in str(error.value) or repr(words.split()[1]) in str(error.value)


@pytest.mark.parametrize("number", [-1, 108, 255])
def test_numbers_that_are_no_action(number):
    with pytest.raises(ValueError, match=f"{number} is not an action: actions are 0..107"):
        format_action(number)
    assert describe(number) == f"action {number} (there are 0..107)"


def test_the_error_says_what_was_asked_for_and_what_was_legal():
    error = IllegalActionError(3, 64, [105, 106])
    assert isinstance(error, ValueError)
    assert (error.row, error.action, error.legal) == (3, 64, [105, 106])
    assert str(error) == "row 3: action 64, 'knock Ks', is not legal; legal: take, pass"
    assert str(IllegalActionError(None, 108, [104])).startswith("action 108 (there are 0..107) is")


def test_the_error_passes_between_processes():
    error = IllegalActionError(3, 64, [105, 106])
    again = pickle.loads(pickle.dumps(error))
    assert (again.row, again.action, again.legal) == (3, 64, [105, 106])
    assert str(again) == str(error)


# Random legal actions


@pytest.mark.parametrize("dtype", [np.bool_, np.int8])
def test_random_actions_are_flagged_ones(dtype):
    rng = np.random.default_rng(0)
    masks = rng.random((3000, NUM_ACTIONS)) < rng.random((3000, 1)) ** 3
    rows = np.arange(3000)
    for uniforms in (rng.random(3000), np.zeros(3000), np.full(3000, np.nextafter(1, 0))):
        actions = random_actions(masks.astype(dtype), uniforms)
        some = masks.any(axis=1)
        assert masks[rows[some], actions[some]].all()
        assert (actions[~some] == -1).all()
        assert actions.dtype == np.int16
    assert (~masks.any(axis=1)).any(), "a row without a legal action was among them"


def test_the_first_and_the_last_flag_can_be_drawn():
    """The least uniform number draws the first flagged action, the greatest the last."""
    rng = np.random.default_rng(1)
    masks = rng.random((500, NUM_ACTIONS)) < 0.2
    assert (random_actions(masks, np.zeros(500)) == masks.argmax(axis=1)).all()
    last = NUM_ACTIONS - 1 - masks[:, ::-1].argmax(axis=1)
    assert (random_actions(masks, np.full(500, np.nextafter(1, 0))) == last).all()
    every = np.ones((1, NUM_ACTIONS), dtype=bool)
    for action in range(NUM_ACTIONS):
        assert random_actions(every, np.array([(action + 0.5) / NUM_ACTIONS])) == action


@pytest.mark.parametrize("flagged", [[5], [0, 107], [3, 63, 64, 65, 100], list(range(11))])
def test_all_flagged_actions_are_equally_likely(flagged):
    masks = np.zeros((20_000, NUM_ACTIONS), dtype=bool)
    masks[:, flagged] = True
    actions = random_actions(masks, np.random.default_rng(2).random(20_000))
    counts = np.bincount(actions, minlength=NUM_ACTIONS)
    assert counts.sum() == counts[flagged].sum()
    if len(flagged) > 1:
        assert chi_square_p(counts[flagged], 20_000 / len(flagged)) > 1e-4
