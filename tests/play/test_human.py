"""A person at the terminal: what is understood, what is said, and that nothing hidden is shown."""

import re
from pathlib import Path

import numpy as np
import pytest

from ginrummy_env.core.actions import BIG_GIN, KNOCK, PASS, format_action
from ginrummy_env.core.cards import CARD_BIT, FULL_DECK, parse_card
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, MODERN, Rules
from ginrummy_env.core.step import step
from ginrummy_env.core.view import OPPONENT, make_view
from ginrummy_env.policy import make_policy
from ginrummy_env.records.recorder import load
from ginrummy_training.play import terminal as play_module
from ginrummy_training.play.terminal import open_game, play, replay_game
from ginrummy_training.play.terminal_player import (
    HELP,
    Human,
    QuitGame,
    log_text,
    melds_text,
    read_action,
    why_not,
)

RECORDS = Path(__file__).parents[1] / "records"
SIGNS = str.maketrans("♠♥♦♣", "shdc")
CARD = re.compile(r"\b([A2-9TJQK])([shdc])\b")


def said_by(lines):
    """A person who types these lines, and what is shown to him."""
    shown = []
    typed = iter(lines)

    def ask(prompt):
        shown.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    return Human(ask, shown.append, opponent="gold"), shown


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("draw", "draw"),
        ("s", "draw"),
        ("take", "take"),
        ("t", "take"),
        ("pass", "pass"),
        ("p", "pass"),
        ("d ks", "discard Ks"),
        ("discard 10d", "discard Td"),
        ("ks", "discard Ks"),
        ("10d", "discard Td"),
        ("knock ah", "knock Ah"),
        ("T♣", "discard Tc"),
        ("10♣", "discard Tc"),
        ("Tc", "discard Tc"),
        ("d T♣", "discard Tc"),
        ("knock 10♥", "knock Th"),
        ("Q♦\ufe0e", "discard Qd"),
        ("k ah", "knock Ah"),
        ("gin ah", "knock Ah"),
        ("big gin", "big gin"),
    ],
)
def test_what_is_understood(typed, words):
    assert format_action(read_action(typed)) == words


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("d", "which card"),
        ("knock", "which card"),
        ("d 1s", "'1s' is not a card"),
        ("fold", "not understood"),
        ("draw two", "not understood"),
        ("big", "not understood"),
    ],
)
def test_what_is_not_understood(typed, says):
    with pytest.raises(ValueError, match=says):
        read_action(typed)


def position(deck="", actions=(), rules=CLASSIC):
    """A deal with player 1 as dealer, from an explicit deck that starts with these cards."""
    cards = [parse_card(word) for word in deck.split()]
    cards += [card for card in range(52) if card not in cards]
    state = new_games(0, [0], rules, dealers=[1], decks=[cards])
    for action in actions:
        step(state, np.int16([action]), rules)
    return state


DECK = (
    "As Kh 2s Kd 3s Kc 4h 9h 5h 9d 6h 9c 7d Ah 7c 2h 7h 3h Qs Jd "  # 0 and 1 in turn
    "8h"
)
TAKE_8H = (105,)


def test_why_an_action_is_not_legal():
    view = make_view(position(DECK, TAKE_8H), CLASSIC)
    legal = np.flatnonzero(view.action_masks()[0]).tolist()
    assert "do not hold K♥" in why_not(view, parse_card("Kh"), legal)
    assert "just taken 8♥" in why_not(view, parse_card("8h"), legal)
    assert "cannot draw now" in why_not(view, 104, legal)
    assert "11 melded" in why_not(view, BIG_GIN, legal)
    sentence = why_not(view, KNOCK + parse_card("As"), legal)
    assert re.search(r"Without A♠ you have \d+ points of deadwood; 10 is", sentence)
    opening = make_view(position(DECK), CLASSIC)
    first = why_not(opening, parse_card("As"), [105, PASS])
    assert first == "First you have to draw a card: take or pass."


def test_melds_show_what_each_discard_leaves():
    text = melds_text(make_view(position(DECK, TAKE_8H), CLASSIC))
    assert len(text.splitlines()) == 11
    (queen,) = (line for line in text.splitlines() if "without Qs" in line)
    assert queen == "  without Qs: As 2s 3s | 4h 5h 6h | 7h 7d 7c | deadwood 8: 8h  (may knock)"
    assert "has to stay" in next(line for line in text.splitlines() if "without 8h" in line)
    text = melds_text(make_view(position(DECK), CLASSIC))
    assert "As 2s 3s" in text
    assert "Knock with 10 or less (classic)." in text


def test_the_log_tells_what_was_seen_only():
    state = position(DECK, (PASS, PASS, 104, parse_card("Qs"), 105, parse_card("Jd")))
    names = ("You", "gold")
    lines = log_text(make_view(state, CLASSIC, players=0), names).splitlines()
    assert [line.split(None, 1) for line in lines] == [
        ["You", "pass"],
        ["gold", "pass"],
        ["You", "draw, discard Qs"],
        ["gold", "take Qs, discard Jd"],
    ]


def test_all_that_can_be_typed_at_a_prompt():
    human, shown = said_by(["help", "melds", "log", "show", "", "banana", "draw", "take"])
    view = make_view(position(DECK), CLASSIC)
    assert human.act(view, None).tolist() == [105]
    text = "\n".join(shown)
    assert HELP in shown
    assert "Nothing yet." in text
    assert "'banana' is not understood" in text
    assert "You cannot draw now; you can take or pass." in text
    assert text.count("10 unseen") == 3


def test_quitting_and_the_end_of_input():
    view = make_view(position(DECK), CLASSIC)
    for lines in (["quit"], ["q"], []):
        human, _ = said_by(lines)
        with pytest.raises(QuitGame):
            human.act(view, None)


def test_it_is_asked_only_where_it_is_its_move():
    """A person is a policy: rows of a batch."""
    states = new_games(1, 3, CLASSIC, dealers=[1, 0, 1])
    human, shown = said_by(["take", "pass"])
    actions = human.act(make_view(states, CLASSIC, players=np.zeros(3, dtype=int)), None)
    assert actions.tolist() == [105, -1, PASS]
    assert len([line for line in shown if line.endswith("> ")]) == 2


@pytest.mark.parametrize("seed", [3, 8])
@pytest.mark.parametrize("rules", [Rules(target=20), MODERN])
def test_nothing_hidden_is_shown(monkeypatch, tmp_path, seed, rules):
    """A person who looks at everything and plays at random."""
    seen = {}

    def spy(state, rules, players=None):
        seen["state"] = state
        seen["view"] = make_view(state, rules, players)
        return seen["view"]

    rng = np.random.default_rng(seed)
    looks = []
    counts = {"cards": 0, "prompts": 0}

    def check(text):
        state = seen.get("state")
        if state is None or text == HELP:
            return
        view = make_view(state, rules, players=0)
        hidden = int(FULL_DECK & ~view.hand[0] & ~view.discards[0] & ~view.known[0, OPPONENT])
        hidden &= ~int(view.opponent_hand[0])
        for rank, suit in CARD.findall(str(text).translate(SIGNS)):
            counts["cards"] += 1
            assert not hidden & int(CARD_BIT[parse_card(rank + suit)]), text

    def ask(prompt):
        check(prompt)
        counts["prompts"] += 1
        if "Enter" in prompt or counts["prompts"] > 4000:
            return "" if counts["prompts"] <= 4000 else "quit"
        if not looks:
            legal = np.flatnonzero(seen["view"].action_masks()[0])
            knocks = legal[(legal >= KNOCK) & (legal < 104)]
            chosen = rng.choice(knocks if knocks.size else legal)
            looks.extend(["melds", "log", "show", format_action(int(chosen))])
        return looks.pop(0)

    monkeypatch.setattr(play_module, "make_view", spy)
    human = Human(ask, check, opponent="simple")
    state = play(human, open_game(tmp_path / "game.txt", "simple", rules, seed))
    assert state.scores.max() >= rules.target
    assert counts["cards"] > 200
    (record,) = load(tmp_path / "game.txt")
    assert record.players == ("You", "simple")
    assert record.scores == tuple(state.scores[0].tolist())


def test_a_game_broken_off_is_kept(tmp_path):
    human, shown = said_by(["pass", "draw"])
    play(human, open_game(tmp_path / "game.txt", "gold", CLASSIC, 3))
    (record,) = load(tmp_path / "game.txt")
    assert not record.finished
    assert record.deals[0].actions
    assert "You stopped at 0 : 0." in "\n".join(shown)


def test_a_game_resumed_is_the_game_not_interrupted(tmp_path):
    """Every line typed in a session of its own, and all in one."""
    lines = ["pass", *["draw", "9s", "kd", "ah", "4c", "6d", "2s", "qh", "7c", "jd"] * 3]
    whole, parts = tmp_path / "whole.txt", tmp_path / "parts.txt"
    play(said_by(lines)[0], open_game(whole, "gold", CLASSIC, 3))
    for line in lines:
        play(said_by([line])[0], open_game(parts, "gold", CLASSIC, 3))
    assert parts.read_text() == whole.read_text()
    assert len(load(parts)[0].deals[0].actions) > 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"agent": "simple"}, r"another agent \(gold\); to resume it leave out agent"),
        ({"rules": MODERN}, r"another rules \(classic\)"),
        ({"seed": 4}, r"another seed \(3\)"),
    ],
)
def test_an_unfinished_game_is_not_replaced_by_another(tmp_path, given, says):
    path = tmp_path / "game.txt"
    play(said_by(["pass", "draw"])[0], open_game(path, "gold", CLASSIC, 3))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=says):
        open_game(path, **given)
    assert path.read_bytes() == before
    assert open_game(path).agent == "gold"  # what is not given is as it was
    assert open_game(path, **given, force=True).state.step_count.tolist() == [0]


@pytest.mark.parametrize("content", ["game over", "a record of others", "something else"])
def test_what_is_no_unfinished_game_is_not_replaced(tmp_path, content):
    path = tmp_path / "game.txt"
    if content == "game over":
        policy, rules = make_policy("gold"), Rules(target=1)
        game = open_game(path, "gold", rules, 3)
        while not game.finished:
            if game.state.over[0]:
                game.next_deal()
            game.answer(policy)
            if not game.state.over[0]:
                game.step(int(policy.act(make_view(game.state, rules), game.rng)[0]))
    elif content == "a record of others":
        path.write_text((RECORDS / "game.txt").read_text())
    else:
        path.write_text("my diary\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"game\.txt.*--force to overwrite it"):
        open_game(path, "gold")
    assert path.read_bytes() == before


def test_one_seed_gives_one_game(tmp_path):
    texts = []
    for _ in range(2):
        human, shown = said_by(["pass"] + ["draw", "melds"] * 3)
        play(human, open_game(None, "simple", CLASSIC, 11))
        texts.append(shown)
    assert texts[0] == texts[1]


def test_a_replay_shows_every_position(tmp_path):
    human, _ = said_by(["take", "d Kd", "pass", "draw"])
    play(human, open_game(tmp_path / "game.txt", "gold", CLASSIC, 3))
    (record,) = load(tmp_path / "game.txt")
    for lines in (False, True):
        shown, waits = [], []
        replay_game(record, shown.append, lines=lines, wait=lambda waits=waits: waits.append(1))
        assert len(shown) == len(waits) == len(record.deals[0].actions) + 1
    closed = []
    replay_game(record, closed.append, viewer=0)
    assert "unseen" in closed[0]
    assert "unseen" not in shown[0]
    with pytest.raises(ValueError, match="deals 1 to 1"):
        replay_game(record, shown.append, deal=4)
