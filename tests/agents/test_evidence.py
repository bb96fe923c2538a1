"""What the opponent was seen to do: replayed from the view, and what it says of their hand."""

import numpy as np
import pytest

from ginrummy_agents import compiled
from ginrummy_agents.search.belief import fitted
from ginrummy_agents.search.evidence import log_likelihoods, undone
from ginrummy_agents.search.hands import odds_of, sample_hands
from ginrummy_agents.search.manners import manners
from ginrummy_agents.search.past import past_turns
from ginrummy_agents.search.worlds import sample_worlds, tempered
from ginrummy_env.core.actions import KNOCK, PASS
from ginrummy_env.core.cards import CARD_BIT, NO_CARD
from ginrummy_env.core.chance import RowRandom, keys
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC, EAAI, OKLAHOMA
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import ARRAY_NAMES, OPPONENT
from ginrummy_env.policy import make_policy
from ginrummy_training.analysis.position import typed_view
from ginrummy_training.evaluation.play_deals import play_deals

PUBLIC = (
    "player is_dealer phase taken_card upcard first_upcard knock_limit known taken discarded "
    "declined turn stock_count scores step_count"
).split()


def decisions(names, rules, deals, seed=5):
    """Views at the first player's decisions, the opponent's hands, and all that was decided."""
    state = new_games(seed, np.arange(deals, dtype=np.uint64), rules)
    found, log = [], {}

    def note(policy, rows, view, actions):
        for place, row in enumerate(rows.tolist()):
            log.setdefault((row, int(view.player[place])), []).append(
                (view.select([place]), int(actions[place]))
            )
        if policy == 0:
            hands = state.hands[rows, 1 - view.player]
            past = {row: len(log.get((row, 1 - int(p)), [])) for row, p in zip(
                rows.tolist(), view.player, strict=True)}  # fmt: skip
            found.append((rows, view, hands, past))

    policies = tuple(make_policy(name) for name in names)
    seats = np.arange(deals) % 2
    play_deals(policies, state, seats, keys(seed, np.arange(deals)), rules, note)
    return found, log


@pytest.mark.parametrize("rules", [EAAI, CLASSIC, OKLAHOMA], ids=["eaai", "classic", "oklahoma"])
def test_past_turns_are_as_the_opponent_saw_them(rules):
    found, log = decisions(("lookahead", "simple"), rules, 20)
    compared = 0
    for rows, view, _, past in found:
        for back, turn in enumerate(past_turns(view, 3)):
            for place, row in enumerate(turn.rows.tolist()):
                deal = int(rows[row])
                theirs = log[deal, 1 - int(view.player[row])][: past[deal]]
                turns = []
                for seen, action in theirs:
                    if seen.phase[0] == Phase.DISCARD:
                        turns[-1].append((seen, action))
                    else:
                        turns.append([(seen, action)])
                steps = turns[-1 - back]
                for mine, (seen, _) in zip((turn.draw, turn.discard), steps, strict=False):
                    for name in PUBLIC:
                        if name == "upcard" and seen.phase[0] == Phase.DISCARD:
                            continue
                        got, true = getattr(mine, name)[place], getattr(seen, name)[0]
                        np.testing.assert_array_equal(got, true, err_msg=name)
                        compared += 1
                    unseen = seen.rules.full_deck & ~(mine.unseen[place] & ~seen.hand[0])
                    assert unseen == seen.rules.full_deck & ~seen.unseen[0]
                last = steps[-1][1]
                assert turn.thrown[place] == (NO_CARD if last == PASS else last % KNOCK)
    assert compared > 5_000


def test_a_typed_position_has_no_past():
    view = typed_view("4s 5s 6s 9h 9d 9c Ah Ad 3c 2c", "Kh 8d", EAAI, thrown="8d")
    assert past_turns(view, 2) == []
    none = sample_worlds(view, 50, RowRandom(keys(1)), odds_of(view, fitted()), past_turns(view, 2))
    assert set(none.manner) == {0, 1, 2}


def some_positions(opponent, rules, deals=40):
    """Views in which the opponent has discarded, with their true hands."""
    found, _ = decisions(("champion", opponent), rules, deals, seed=8)
    for _, view, hands, _ in found:
        some = np.flatnonzero(view.discarded[:, OPPONENT] != 0)
        if some.size:
            yield view.select(some), hands[some]


@pytest.mark.parametrize("rules", [EAAI, CLASSIC], ids=["eaai", "classic"])
@pytest.mark.parametrize(
    ("opponent", "least"), [("champion", 0.3), ("lookahead", 0.3), ("simple", 0.1)]
)
def test_true_hands_explain_more_than_sampled_ones(opponent, least, rules):
    """By the mean logarithm of a true hand's weight over that of the mean sampled hand."""
    gains = []
    shares = np.log([each.share for each in manners(rules)])
    for view, hands in some_positions(opponent, rules):
        rng = RowRandom(keys(3, np.arange(len(view)), view.step_count))
        sampled, _ = sample_hands(view, 24, rng, odds_of(view, fitted()))
        every = np.concatenate([hands[:, None], sampled.reshape(len(view), -1)], axis=1)
        logs = log_likelihoods(view, every, rng, past_turns(view, 2)) + shares
        weights = np.exp(logs).sum(axis=2)
        gains.extend(np.log(weights[:, 0]) - np.log(weights[:, 1:].mean(axis=1)))
    assert len(gains) > 200
    assert np.mean(gains) > least


def test_the_manner_shows_in_what_they_do():
    """Early in a deal, more worlds have one who knocks at once if the opponent is one."""
    shares = {}
    for opponent in ("simple", "champion"):
        found = []
        for view, _ in some_positions(opponent, EAAI):
            early = view.select(view.turn < 8)
            if len(early):
                rng = RowRandom(keys(3, np.arange(len(early)), early.step_count))
                worlds = sample_worlds(
                    early, 30, rng, odds_of(early, fitted()), past_turns(early, 2)
                )
                found.extend(worlds.manner)
        shares[opponent] = np.bincount(found, minlength=3) / len(found)
    before = np.array([each.share for each in manners(EAAI)])
    assert shares["simple"][0] > before[0] + 0.1
    assert shares["simple"][0] > shares["champion"][0] + 0.1
    assert (shares["simple"] > 0.1).all()


@pytest.mark.skipif(not compiled.available(), reason="the extra `fast` is not there")
@pytest.mark.parametrize("rules", [EAAI, CLASSIC], ids=["eaai", "classic"])
def test_a_turn_undone_is_the_same_with_kernels(rules):
    for view, _ in some_positions("champion", rules, deals=12):
        hands, _ = sample_hands(
            view, 8, RowRandom(keys(1, np.arange(len(view)))), odds_of(view, fitted())
        )
        for turn in past_turns(view, 2):
            source = np.repeat(np.arange(len(turn.rows)), 8)
            some = hands.reshape(-1, 8)[turn.rows].reshape(-1)
            uniforms = np.random.default_rng(1).random(len(some))
            with compiled.kernels(True):
                fast = undone(turn, source, some, uniforms)
            with compiled.kernels(False):
                plain = undone(turn, source, some, uniforms)
            for name in ("least", "dearer", "worse", "wrong", "before"):
                np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name))
            hands.reshape(-1, 8)[turn.rows] = plain.before.reshape(-1, 8)
            took = turn.took[source] >= 0
            assert (fast.before[took] & CARD_BIT[turn.took[source[took]]] == 0).all()


@pytest.mark.skipif(not compiled.available(), reason="the extra `fast` is not there")
@pytest.mark.parametrize("rules", [EAAI, CLASSIC], ids=["eaai", "classic"])
def test_worlds_and_past_turns_are_the_same_with_kernels(rules):
    for view, _ in some_positions("champion", rules, deals=12):
        found = []
        for used in (True, False):
            with compiled.kernels(used):
                past = past_turns(view, 3)
                rng = RowRandom(keys(1, np.arange(len(view))))
                worlds = sample_worlds(view, 8, rng, odds_of(view, fitted()), past)
            seen = [each.draw for each in past] + [each.discard for each in past]
            columns = [getattr(eyes, name) for eyes in seen for name in ARRAY_NAMES]
            found.append([worlds.theirs, worlds.deck, worlds.manner, *columns])
        for fast, plain in zip(*found, strict=True):
            np.testing.assert_array_equal(fast, plain)


def test_worlds_do_not_depend_on_the_rows_around_them():
    """A deal in which the opponent has done little, with others in which they have done more."""
    positions = [view for view, _ in some_positions("champion", EAAI, deals=4)]
    long = next(view for view in positions if (view.turn >= 6).any())
    row = long.select([0])
    row_keys = keys(2, np.arange(len(long)))
    every = sample_worlds(
        long, 6, RowRandom(row_keys), odds_of(long, fitted()), past_turns(long, 2)
    )
    alone = sample_worlds(
        row, 6, RowRandom(row_keys[:1]), odds_of(row, fitted()), past_turns(row, 2)
    )
    np.testing.assert_array_equal(every.theirs[:6], alone.theirs)
    np.testing.assert_array_equal(every.manner[:6], alone.manner)
    rng, other = RowRandom(row_keys[:1]), RowRandom(row_keys[:1])
    for draw, past in ((rng, past_turns(row, 2)), (other, [])):
        log_likelihoods(row, alone.theirs.reshape(1, -1), draw, past)
    assert rng.random((1,)) == other.random((1,))


def test_weights_that_leave_few_worlds_are_drawn_together():
    logs = np.log(np.array([[1.0, 1e-9, 1e-9, 1e-9], [1.0, 0.5, 1.0, 0.5]]))
    weights = tempered(logs, 4)
    sizes = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)
    assert sizes[0] >= 2
    assert (np.argsort(-weights[0], kind="stable")[0]) == 0
    np.testing.assert_allclose(weights[1], [1, 0.5, 1, 0.5])
