"""Rules: the settings, what they may be, and the presets (RULES, Settings and Presets)."""

import json
import pickle
import random
from dataclasses import FrozenInstanceError, asdict, fields, replace

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ginrummy_env.core.cards import FULL_DECK, card_planes
from ginrummy_env.core.rules import (
    CLASSIC,
    EAAI,
    MINI,
    MODERN,
    NANO,
    OKLAHOMA,
    OPENSPIEL,
    PRESETS,
    RLCARD,
    STRAIGHT,
    Rules,
    as_rules,
    rules_name,
)

NO_BONUSES = {"game_bonus": 0, "box_bonus": 0, "shutout_bonus": 0}
WHOLE = [
    ("knock_limit", 0, 98),
    ("oklahoma_ace", 0, 1),
    ("gin_bonus", 0, 1000),
    ("undercut_bonus", 0, 1000),
    ("big_gin_bonus", 0, 1000),
    ("target", 1, 10000),
    ("game_bonus", 0, 1000),
    ("box_bonus", 0, 1000),
    ("shutout_bonus", 0, 1000),
    ("void_stock", 0, 30),
    ("turn_bound", 1, 10000),
    ("num_ranks", 3, 13),
    ("num_suits", 1, 4),
    ("hand_size", 3, 10),
]
FLAGS = ["oklahoma", "oklahoma_spades_double", "layoff_on_gin", "big_gin", "discard_taken_upcard"]
CHOICES = ["equal_deadwood", "gin_answered_by_gin", "next_dealer", "at_void_stock"]


def random_rules():
    return st.integers(0, 2**32).map(lambda seed: oracle.any_rules(random.Random(seed)))


def test_the_defaults_are_the_vectors():
    assert asdict(CLASSIC) == oracle.RULE_DEFAULTS
    assert Rules() == CLASSIC == PRESETS["classic"]


@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        pytest.param(CLASSIC, {}, id="classic"),
        pytest.param(
            EAAI,
            {"gin_bonus": 25, "undercut_bonus": 25, "layoff_on_gin": False}
            | {"next_dealer": "alternate"}
            | NO_BONUSES,
            id="eaai",
        ),
        pytest.param(
            MODERN,
            {"gin_bonus": 25, "big_gin": True, "big_gin_bonus": 31, "undercut_bonus": 25}
            | {"box_bonus": 25, "game_bonus": 100, "layoff_on_gin": False},
            id="modern",
        ),
        pytest.param(STRAIGHT, {"knock_limit": 0}, id="straight"),
    ],
)
def test_presets(preset, settings):
    """RULES, Presets: what is written there, and the rest as in CLASSIC."""
    assert asdict(preset) == oracle.full_rules(settings)


def test_presets_that_rules_only_names():
    assert OKLAHOMA.oklahoma
    assert (OPENSPIEL.equal_deadwood, OPENSPIEL.at_void_stock) == ("nobody", "knock_with_discard")
    assert OPENSPIEL.discard_taken_upcard
    assert (RLCARD.undercut_bonus, RLCARD.at_void_stock) == (0, "take_discard")
    assert set(PRESETS) == {
        "classic", "eaai", "modern", "oklahoma", "straight", "openspiel", "rlcard", "mini", "nano",
    }  # fmt: skip


def test_every_value_of_every_setting_is_taken():
    for name, values in oracle.RULE_VALUES.items():
        for value in values:
            assert getattr(Rules(**{name: value}), name) == value


@pytest.mark.parametrize(("name", "low", "high"), WHOLE)
def test_bounds_of_the_numbers(name, low, high):
    small = {"hand_size": 3, "void_stock": 0} if name in ("num_ranks", "num_suits") else {}
    for value in (low, high):
        assert getattr(Rules(**small | {name: value}), name) == value
    for value in (low - 1, high + 1, 2.0, "5", True, None):
        if name == "turn_bound" and value is None:
            continue
        with pytest.raises(ValueError, match=f"a whole number from {low} to {high}") as error:
            Rules(**{name: value})
        assert f"{name}={value!r}" in str(error.value)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        pytest.param(
            {"num_ranks": 5},
            "num_ranks=5, num_suits=4, hand_size=10: the deck has 20 cards, and two hands, the "
            "upcard and at least one stock card are 22",
            id="more dealt than there is",
        ),
        pytest.param(
            {"num_ranks": 7, "num_suits": 1, "hand_size": 3},
            "the deck has 7 cards, and two hands, the upcard and at least one stock card are 8",
            id="no stock",
        ),
        pytest.param(
            {"num_ranks": 4, "num_suits": 2, "hand_size": 3},
            "void_stock=2: a whole number from 0 to 0 is needed; the stock starts with 1 cards",
            id="void at once",
        ),
        pytest.param(
            {"void_stock": 31}, "from 0 to 30 is needed; the stock starts with 31", id="52 cards"
        ),
    ],
)
def test_decks_that_make_no_game(settings, why):
    with pytest.raises(ValueError, match=why):
        Rules(**settings)


def test_sizes_that_follow_from_the_deck():
    rules = Rules(num_ranks=8, num_suits=3, hand_size=6)
    assert (rules.num_cards, rules.num_stock, rules.num_pile) == (24, 11, 12)
    assert np.flatnonzero(card_planes(rules.full_deck)).tolist() == [
        *range(8), *range(13, 21), *range(26, 34),
    ]  # fmt: skip
    assert (CLASSIC.num_cards, CLASSIC.num_stock, CLASSIC.num_pile) == (52, 31, 32)
    assert CLASSIC.full_deck == FULL_DECK
    assert (NANO.num_cards, MINI.num_cards) == (8, 15)


def test_no_turn_bound():
    assert Rules(turn_bound=None).turn_bound is None


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [0, 1, None, "yes"])
def test_flags_are_true_or_false(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}: True or False is needed"):
        Rules(**{name: value})


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["none of these", None, True, ["winner"]])
def test_choices_name_what_there_is(name, value):
    with pytest.raises(ValueError, match=f"{name}=") as error:
        Rules(**{name: value})
    for allowed in oracle.RULE_VALUES[name]:
        assert repr(allowed) in str(error.value)


def test_all_settings_are_tested_here():
    assert {name for name, *_ in WHOLE} | {*FLAGS, *CHOICES} == {
        each.name for each in fields(Rules)
    }


@given(random_rules())
def test_settings_survive_every_way_of_storing_them(settings):
    """No setting is lost in a dict, JSON, a pickle or a copy; equal rules are one key."""
    rules = Rules(**settings)
    assert rules.to_dict() == settings
    assert asdict(rules) == oracle.full_rules(settings)
    for again in (
        Rules.from_dict(json.loads(json.dumps(rules.to_dict()))),
        pickle.loads(pickle.dumps(rules)),
        as_rules(settings),
        as_rules(rules),
    ):
        assert again == rules
        assert hash(again) == hash(rules)


def test_rules_do_not_change():
    with pytest.raises(FrozenInstanceError):
        CLASSIC.gin_bonus = 25
    with pytest.raises(TypeError):
        Rules(5)


def test_an_unknown_setting_is_named_with_those_there_are():
    with pytest.raises(
        ValueError, match=r"unknown setting 'gin'; the settings are knock_limit, .*"
    ):
        Rules.from_dict({"gin": 25})
    with pytest.raises(TypeError, match="gin"):
        Rules(gin=25)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_by_name(name):
    assert as_rules(name) == as_rules(name.upper()) == PRESETS[name]
    assert rules_name(PRESETS[name]) == name


@pytest.mark.parametrize("wrong", ["gin", "", 25, None, ["eaai"]])
def test_what_is_no_rules(wrong):
    with pytest.raises(ValueError, match="preset") as error:
        as_rules(wrong)
    assert repr(wrong) in str(error.value)


def test_an_unknown_preset_is_answered_by_those_there_are():
    with pytest.raises(ValueError, match="the presets are classic, eaai, modern, oklahoma"):
        as_rules("mordern")


@given(random_rules())
def test_the_name_of_any_rules_is_read_as_these_rules(settings):
    rules = Rules(**settings)
    assert as_rules(rules_name(rules)) == rules
    for preset in PRESETS.values():
        text = ", ".join([rules_name(preset), *(f"{k}={v}" for k, v in asdict(rules).items())])
        assert as_rules(text) == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("eaai,target=50", replace(EAAI, target=50)),
        ("eaai,num_ranks=8", replace(EAAI, num_ranks=8)),
        ("nano,num_suits=3", replace(NANO, num_suits=3)),
        (" EAAI , big_gin=true,turn_bound = none", replace(EAAI, big_gin=True, turn_bound=None)),
        ("next_dealer=loser", Rules(next_dealer="loser")),
    ],
)
def test_a_preset_and_what_differs_from_it(text, rules):
    assert as_rules(text) == rules
    assert as_rules(rules_name(rules)) == rules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("eaai,target=50,target=60", "the setting 'target' appears twice"),
        ("target=50,eaai", "'eaai' is not a setting"),
        ("eaai,", "'' is not a setting"),
        ("target=" + "9" * 5000, "target='999.*: a whole number from 1 to 10000"),
        ("targt=50", "unknown setting 'targt'; .*did you mean 'target'"),
        ("eaia", "unknown preset 'eaia'; .*did you mean 'eaai'"),
        ("big_gin=1", "big_gin=1: True or False is needed"),
    ],
)
def test_a_text_that_names_no_rules(text, message):
    with pytest.raises(ValueError, match=message) as error:
        as_rules(text)
    assert len(str(error.value)) < 500


def test_rules_without_a_name_are_called_by_what_differs():
    assert rules_name(Rules(gin_bonus=25, turn_bound=None)) == "gin_bonus=25, turn_bound=None"
