"""Each clause of the agents' recipes, in positions made for it, where the right action is plain."""

import numpy as np
import pytest
from cases import card
from positions import play, stacked_deck

from ginrummy_agents.rules.base import RuleAgent
from ginrummy_agents.rules.heuristic import danger_of, score_limits
from ginrummy_agents.rules.lookahead import candidates, fit_for_opponent, own_turns
from ginrummy_agents.rules.simple import repeated_pairs
from ginrummy_env.core.actions import format_action
from ginrummy_env.core.cards import format_hand, parse_hand
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, EAAI, MODERN, OPENSPIEL, Rules
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy


def deal(hand, upcard, stock="", other="", rules=CLASSIC):
    """A deal in which player 0 holds the hand and moves first."""
    deck = stacked_deck(hand, other, upcard, stock)
    return new_games(0, 1, rules, dealers=[1], decks=[deck])


def choices(agent, state, rules=CLASSIC, tries=40):
    """All that the agent does in the position, with many different random numbers."""
    states = state.select(np.zeros(tries, dtype=int))
    actions = make_policy(agent).act(make_view(states, rules), np.random.default_rng(0))
    return {format_action(action) for action in actions}


def drawn(hand, drawn_card, rules=CLASSIC, upcard="Th", **kwargs):
    """Eleven cards: the hand and a card drawn from the stock in the first turn."""
    state = deal(hand, upcard, stock=drawn_card, rules=rules, **kwargs)
    return play(state, rules, "pass, pass, draw")


# Drawing

LOW = "2s 2d 3c 3h 7s 8d 9c Th Qs Kd"
"""Nothing melded, 66 points."""
IN_TWO = "6s 7s 8s 6h 9h 9d 9c 2c 2d As"
"""With a fourth six in reach, which would save nothing: the run goes or the pair stays."""


@pytest.mark.parametrize("agent", ["gold", "heuristic"])
def test_takes_what_lowers_deadwood_without_a_meld(agent):
    assert choices(agent, deal(LOW, "As")) == {"take"}
    assert choices(agent, deal(LOW, "Kc")) == {"pass"}, "ten for ten saves nothing"


@pytest.mark.parametrize("agent", ["simple", "hein", "lookahead"])
def test_leaves_what_melds_with_nothing(agent):
    assert choices(agent, deal(LOW, "As")) == {"pass"}
    assert choices(agent, deal(LOW, "2h")) == {"take"}, "three twos"


@pytest.mark.parametrize("agent", ["simple", "hein"])
def test_takes_a_card_in_some_meld_even_if_it_saves_nothing(agent):
    assert choices(agent, deal(IN_TWO, "6d")) == {"take"}


@pytest.mark.parametrize("agent", ["gold", "heuristic", "lookahead"])
def test_leaves_a_meld_that_saves_nothing(agent):
    assert choices(agent, deal(IN_TWO, "6d")) == {"pass"}


def test_lookahead_wants_the_card_itself_melded():
    """As saves nine points as a loose card in the king's place, which is not enough."""
    hand = "4s 5s 6s 9h 9d 9c 3h 3d 7c Kd"
    assert choices("lookahead", deal(hand, "As")) == {"pass"}
    assert choices("lookahead", deal(hand, "3s")) == {"take"}


def test_myopic_compares_with_the_average_draw():
    hand = "4s 5s 6s 9h 9d 9c 3h 3d 7c Kd"
    assert choices("myopic", deal(hand, "3s")) == {"take"}, "a meld"
    assert choices("myopic", deal(hand, "Qh")) == {"pass"}, "worse than the average card"


def test_after_the_opening_the_other_choice_is_the_stock():
    state = play(drawn(LOW, "6c", upcard="4c"), CLASSIC, "discard Kd")
    assert choices("simple", state) <= {"draw", "take"}
    assert choices("random", state) == {"draw", "take"}
    assert choices("simple", play(deal(LOW, "Kc"), CLASSIC, "pass, pass")) == {"draw"}


# Discarding


def test_gold_throws_the_dearest_then_the_lowest():
    assert choices("gold", drawn(LOW, "Jc", upcard="4c")) == {"discard Qs"}
    assert choices("gold", drawn("4s 5s 6s 9h 9d 9c As 4h 3d 8c", "2c")) == {"knock 8c"}


def test_simple_throws_any_of_the_best():
    assert choices("simple", drawn(LOW, "Jc", upcard="4c")) == {
        "discard Qs",
        "discard Th",
        "discard Kd",
        "discard Jc",
    }


def test_a_card_of_a_meld_goes_where_it_can_be_spared():
    """Eleven melded cards: any end of the runs of four, or a jack, leaves gin."""
    state = drawn("3s 4s 5s 6s 9h 9d 9c Js Jh Jd", "Jc")
    jacks = {f"knock {jack}" for jack in ("Js", "Jh", "Jd", "Jc")}
    assert choices("simple", state) == {"knock 3s", "knock 6s"} | jacks
    assert choices("gold", state) == {"knock Js"}


def test_the_card_just_taken_stays():
    """RULES, One deal, 4. Only under rules that allow it may it go."""
    hand = "3s 4s 5s 9h 9d 9c 2h 3d 4h 5c"
    for agent in ("gold", "simple", "heuristic", "hein", "lookahead", "myopic", "champion"):
        assert choices(agent, play(deal(hand, "Kc"), CLASSIC, "take")) <= {
            f"{kind} {name}" for kind in ("discard", "knock") for name in hand.split()
        }
    allowed = play(deal(hand, "Kc", rules=OPENSPIEL), OPENSPIEL, "take")
    assert choices("gold", allowed, OPENSPIEL) == {"discard Kc"}


def pair_again(first_draw):
    """Player 0 draws the queen of spades, throws the king of diamonds, and takes it back later."""
    hand = "4s 5s 6s 9h 9d 9c 3h 3c 7d Kd"
    other = "2s 8s 2h 8h Jh 2d 6d Jd 8c Jc"
    upcard, stock = ("Qs", "Ac 4c 5c") if first_draw == "take" else ("Ts", "Qs 4c 5c")
    opening = "take" if first_draw == "take" else "pass, pass, draw"
    words = f"{opening}, discard Kd, take, discard 2s, draw, discard 7d, draw, discard Kd, take"
    return play(deal(hand, upcard, stock, other), CLASSIC, words)


def test_simple_repeats_no_pair():
    """It drew Qs and threw Kd. Now it has taken Kd: Qs may not go, though it leaves least."""
    state = pair_again("take")
    assert choices("gold", state) == {"discard Qs"}
    banned = repeated_pairs(make_view(state, CLASSIC))
    assert format_hand(banned[0]) == "Qs"
    left = choices("simple", state)
    assert left
    assert "discard Qs" not in left


def test_simple_does_not_know_pairs_that_began_with_the_stock():
    """What its docstring says: the history does not tell which card a player drew."""
    state = pair_again("draw")
    assert repeated_pairs(make_view(state, CLASSIC)).tolist() == [0]
    assert choices("simple", state) == {"discard Qs"}


def test_heuristic_weighs_equals_by_danger():
    """Either king may go. The opponent has taken the queen of spades, so that king stays."""
    hand = "4s 5s 6s 9h 9d 9c 2h 3d Kd Ks"
    other = "Kh 7s 2s 7h 6h 2d 7d 8d 6c Kc"
    state = deal(hand, "Qs", stock="2c", other=other)
    play(state, CLASSIC, "pass, take, discard 7s, draw")
    assert choices("heuristic", state) == {"discard Kd"}
    assert choices("gold", state) == {"discard Ks"}


@pytest.mark.parametrize(
    ("known", "refused", "danger"),
    [
        # Of Kd adjoin Ks Kh Kc Qd Jd, all unseen at first.
        ("", "", 5),
        ("Kh", "", 4 + 2),
        ("Kh Qd", "", 3 + 4),
        ("", "Kh", 4 - 2),
        ("", "Kh Jd Qd", 2 - 6),
        ("5h", "6s", 5),
    ],
)
def test_danger(known, refused, danger):
    """Refused cards lie in the pile: they are seen."""
    view = make_view(deal("Kd As 2s 3s 4s 5s 6s 7s 8s 9s", "Ts"), CLASSIC)
    view.known[0, 1] = parse_hand(known)
    view.discarded[0, 1] = parse_hand(refused)
    pile = [card(name) for name in refused.split()]
    view.discard_pile[0, 1 : 1 + len(pile)] = pile
    assert danger_of(view, np.array([0]), np.array([card("Kd")])).tolist() == [danger]


@pytest.mark.parametrize(
    ("mine", "his", "limit"),
    [(0, 0, 4), (50, 50, 4), (50, 40, 12), (40, 50, 0), (60, 59, 5), (99, 0, 98), (0, 99, 0)],
)
def test_heuristic_knocks_by_the_score(mine, his, limit):
    view = make_view(deal(LOW, "As"), CLASSIC)
    view.scores[0] = mine, his
    assert score_limits(view, np.array([0]), 4.0, 40.0).tolist() == [limit]


def test_heuristic_knocks_with_four_but_not_five():
    four, five = "4s 5s 6s 9h 9d 9c Ah Ad 2c Kd", "4s 5s 6s 9h 9d 9c Ah 2d 2c Kd"
    assert choices("heuristic", drawn(four, "7s")) == {"knock Kd"}
    assert choices("heuristic", drawn(five, "7s")) == {"discard Kd"}
    assert choices("heuristic:5", drawn(five, "7s")) == {"knock Kd"}


# Lookahead


def test_candidates_of_lookahead():
    def of(hand, taken="", stays=None):
        stays = taken if stays is None else stays
        found = candidates(*(np.array([parse_hand(text)]) for text in (hand, taken, stays)))
        return format_hand(found[0])

    hand = "4s 5s 6s 9h 9d 9c 2h 4d 6c 8d Kd"
    assert of(hand) == "8d Kd 6c", "loose, at most 5 points below the dearest"
    assert of("4s 5s 6s 9h 9d 9c 2h 4d 6c 7d 8d") == "4d 7d 8d 6c"
    assert of(hand, taken="Kd") == "4d 8d 6c", "not the card just taken"
    assert of("4s 5s 6s 9h 9d 9c 2h 2d 2c 7d 7c", taken="7d") == "7c", "the only one left"
    assert of("5s 6s 7s 6h 6d 9c 9d 9h As 2d 3c") == "5s 7s 6h 2d 6d 3c", (
        "the run or the sixes: loose in either; the ace is too cheap"
    )
    eleven = "3s 4s 5s 6s 9h 9d 9c Js Jh Jd Jc"
    assert of(eleven) == "3s 6s Js Jh Jd Jc", "those that leave gin"
    assert of("3s 4s 5s 6s 9h 9d 9c Js Jh Jd Kc", taken="Kc") == "3s 6s", "none loose: the legal"


@pytest.mark.parametrize(
    ("name", "his", "gone", "fit"),
    [
        ("7h", "", "", 0),
        ("7h", "", "8h", -5),
        ("7h", "", "9h", -3),
        ("7h", "", "8h 9h", -8),
        ("7h", "", "8h 6h", -10),
        ("7h", "", "8h 5h", -10),
        ("7h", "", "6h 9h", -10),
        ("7h", "", "5h 9h", -6),
        ("7h", "8h 9h", "", 20),
        ("7h", "6h 8h", "", 20),
        ("7h", "8h", "", 5),
        ("7h", "5h 9h", "", 6),
        ("7h", "5h", "8h", 3 - 5),
        ("7h", "", "7s", -4),
        ("7h", "", "7s 7d", -10),
        ("7h", "", "7s 7d 7c", -10),
        ("7h", "7s", "", 4),
        ("7h", "7s 7d", "7c", 20 - 4),
        # Beyond the ends of a suit all is gone, and other suits are no neighbours.
        ("Ah", "", "", -5 - 3),
        ("2h", "", "", -3),
        ("Kh", "", "", -5 - 3),
        ("As", "", "", -5 - 3),
        ("Ah", "Ks Qs", "", -5 - 3),
        ("Ah", "", "2h", -10),
    ],
)
def test_fit_for_the_opponent(name, his, gone, fit):
    deck = parse_hand(" ".join(f"{rank}{suit}" for suit in "shdc" for rank in "A23456789TJQK"))
    own = parse_hand(name)
    held = parse_hand(his)
    unseen = deck & ~own & ~held & ~parse_hand(gone)
    found = fit_for_opponent(np.array([card(name)]), np.array([held]), np.array([unseen]))
    assert found.tolist() == [fit]


def test_own_turns():
    state = deal(LOW, "As", stock="6c 5d 4h")
    turns = []
    for words in ("pass", "pass", "draw, discard 6c", "draw, discard 5d", "draw"):
        play(state, CLASSIC, words)
        turns.append(int(own_turns(make_view(state, CLASSIC), np.array([0]))[0]))
    assert turns == [1, 1, 1, 2, 2]


def test_lookahead_knocks_in_the_first_turns_only():
    """Three turns of up to ten points, then gin only; the other way round with `later`."""
    state = drawn("4s 5s 6s 9h 9d 9c 2h 3d 4c Kd", "7s")
    assert choices("lookahead", state) == {"knock Kd"}
    assert choices("lookahead:knock=8", state) == {"discard Kd"}, "nine are left"
    state.turn[:] = 6
    assert choices("lookahead", state) == {"discard Kd"}
    assert choices("lookahead:7", state) == {"knock Kd"}
    assert choices("lookahead:later=9", state) == {"knock Kd"}


def test_lookahead_prefers_what_the_next_draw_can_use():
    """8d 8c wait for two eights; Ks, as dear as Qd, waits for nothing."""
    state = drawn("4s 5s 6s 2h 2d Jd Qd 8c 8d Ks", "Ac", upcard="Kc")
    assert choices("lookahead", state) == {"discard Ks"}


# Knocking, gin and the wall

RULE_AGENTS = ["gold", "simple", "heuristic", "hein", "myopic", "lookahead", "champion"]


@pytest.mark.parametrize("agent", RULE_AGENTS)
def test_gin_is_laid_down(agent):
    state = drawn("4s 5s 6s 9h 9d 9c 2h 2d 2c Kd", "2s")
    assert choices(agent, state) == {"knock Kd"}
    assert choices(agent, state, EAAI) == {"knock Kd"}


@pytest.mark.parametrize("agent", ["gold:0", "simple:0", "hein:knock=0", "myopic:0", "lookahead:0"])
def test_gin_only(agent):
    assert choices(agent, drawn("4s 5s 6s 9h 9d 9c Ah Ad Ac Kd", "7s")) == {"knock Kd"}
    assert choices(agent, drawn("4s 5s 6s 9h 9d 9c Ah Ad 3c Kd", "7s")) == {"discard Kd"}


@pytest.mark.parametrize("agent", RULE_AGENTS)
def test_big_gin_is_laid_down(agent):
    state = drawn("3s 4s 5s 6s 9h 9d 9c Js Jh Jd", "Jc", rules=MODERN)
    assert choices(agent, state, MODERN) == {"big gin"}


@pytest.mark.parametrize("agent", RULE_AGENTS)
def test_at_the_wall_what_lets_one_knock_is_taken_and_knocked_with(agent):
    rules = Rules(at_void_stock="knock_with_discard", void_stock=30)
    hand, other = "4s 5s 6s 9h 9d 9c 2h 3d Kd Qs", "Ts 8s Th 8h Jh Td 6d Jd 8c Tc"
    state = deal(hand, "Kc", stock="4c", other=other, rules=rules)
    play(state, rules, "pass, pass, draw, discard 4c")
    assert state.phase[0] == Phase.WALL
    assert choices(agent, state, rules) == {"pass"}, "he cannot knock with the four"
    state = deal(other, "Kc", stock="4c", other=hand, rules=rules)
    play(state, rules, "pass, pass, draw, discard 4c")
    assert choices(agent, state, rules) == {"pass"}, "two tens are left with the four"
    close = "4s 5s 6s 9h 9d 9c 2h 3d Kd 4d"
    state = deal(other, "Kc", stock="2d", other=close, rules=rules)
    play(state, rules, "pass, pass, draw, discard 2d")
    assert choices(agent, state, rules) == {"take"}, "2d 3d 4d leaves a two"
    play(state, rules, "take")
    assert choices(agent, state, rules) == {"knock Kd"}


def test_random_does_anything_legal():
    state = drawn("4s 5s 6s 9h 9d 9c 2h 2d 2c Kd", "2s")
    every = choices("random", state, tries=2000)
    mask = make_view(state, CLASSIC).action_masks()[0]
    assert every == {format_action(action) for action in np.flatnonzero(mask)}


def test_agents_are_made_of_the_three_questions():
    for name in RULE_AGENTS:
        assert isinstance(make_policy(name), RuleAgent)
