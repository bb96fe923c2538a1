"""What agents think, beside the decisions of a record."""

from dataclasses import dataclass

import numpy as np
import pytest

import ginrummy_agents.explain
import ginrummy_agents.learned.policy
from ginrummy_agents.explain import Explanation, explain
from ginrummy_agents.learned.inputs import features
from ginrummy_agents.learned.policy import Ppo
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import EAAI
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_env.records.recorder import load, read, save, write
from ginrummy_env.viewer import Replay
from ginrummy_training.cli.main import main
from ginrummy_training.evaluation.annotated_records import CANDIDATES, annotate, remark_on
from ginrummy_training.evaluation.annotated_records import record_match as record
from ginrummy_training.evaluation.match import record_games
from ginrummy_training.evaluation.match_result import Match


@dataclass(frozen=True)
class Numbering:
    """Plays as `simple`, and thinks that the higher the number of an action the better."""

    def act(self, view, rng):
        return make_policy("simple").act(view, rng)

    def explain(self, view, rng):
        numbers = np.arange(108) + rng.random((len(view),))[:, None]
        values = np.where(view.action_masks(), numbers, np.nan)
        return Explanation(values, "number of the action", np.full((len(view), 52), 0.19876))


MATCH = Match(("numbering", "gold"), EAAI, seed=3)


@pytest.fixture(scope="module")
def recorded():
    return record(MATCH, 2, {"numbering": Numbering()})


def test_a_policy_that_explains_itself(recorded):
    plain = record_games(MATCH, 2, {"numbering": Numbering()})
    for with_values, without in zip(recorded, plain, strict=True):
        assert [d.actions for d in with_values.deals] == [d.actions for d in without.deals]
        for deal in with_values.deals:
            assert deal.annotations
            for annotation in deal.annotations:
                values = dict(annotation.values)
                assert deal.actions[annotation.step] in values
                assert len(values) <= CANDIDATES
                assert annotation.note == "number of the action"
                assert set(annotation.estimate) == {(card, 0.2) for card in range(52)}
    assert {game.players.index("numbering") for game in recorded} == {0, 1}


def test_values_survive_the_file_and_show_in_the_page(recorded, tmp_path):
    save(tmp_path / "games.txt", recorded)
    again = load(tmp_path / "games.txt")
    assert again == recorded
    assert read(write(again[0])) == again[0]
    frames = Replay(again[0]).data["frames"]
    shown = [frame["decision"] for frame in frames if "decision" in frame]
    assert len(shown) == sum(len(deal.annotations) for deal in again[0].deals)
    for decision in shown:
        best = max(value for _, value, _ in decision["values"])
        (done,) = [value for _, value, chosen in decision["values"] if chosen]
        assert decision["loss"] == pytest.approx(best - done)


def test_only_decisions_between_two_candidates_get_values():
    values = np.full((1, 108), np.nan)
    values[0, 104] = 0.5
    told = Explanation(values, "points")
    assert remark_on(told, 0, 0, 104) is None
    values[0, :20] = np.arange(20) / 3
    remark = remark_on(told, 0, 7, 2)
    assert [action for action, _ in remark.values] == [19, 18, 17, 16, 15, 14, 13, 2]
    assert dict(remark.values)[2] == 0.6667
    assert remark.step == 7


def test_search_says_what_it_has_chosen_by():
    """With no margin it plays the candidate of the greatest value, in every decision."""
    name = "search:worlds=8,margin=0"
    match = Match((name, "simple"), EAAI, seed=1)
    (game,) = record(match, 1)
    seat = game.players.index(name)
    checked = wide = 0
    for deal in game.deals:
        for annotation in deal.annotations:
            values = dict(annotation.values)
            assert values[deal.actions[annotation.step]] == max(values.values())
            total = sum(share for _, share in annotation.estimate)
            assert total == pytest.approx(10, abs=0.3), "ten cards in the opponent's hand"
            widths = dict(annotation.intervals)
            assert widths.keys() == values.keys()
            assert annotation.intervals[0][1] == 0
            wide += max(widths.values()) > 0
            checked += 1
    assert checked > 10
    assert wide > 0.5 * checked
    frames = Replay(game).data["frames"]
    decisions = [frame["decision"] for frame in frames if "decision" in frame]
    assert len(decisions) == checked
    for shown in decisions:
        assert len(shown["gains"]) == len(shown["values"])
        assert [0, 0] in shown["gains"]
        assert shown["base"] in [words for words, _, _ in shown["values"]]
    assert seat == 0


def test_agents_that_tell_nothing_leave_no_values():
    (game,) = annotate(record_games(Match(("simple", "gold"), EAAI, 2), 1), "simple")
    assert not any(deal.annotations for deal in game.deals)


def test_the_commands(tmp_path, capsys):
    games, page = tmp_path / "games.txt", tmp_path / "page.html"
    assert main(["match", "simple", "gold", "--games", "4", "--record", str(games)]) == 0
    assert len(load(games)) == 4
    asked = ["replay", str(games), "--html", str(page), "--values", "search:worlds=4"]
    assert main(asked) == 0
    assert "chance of winning the game" in page.read_text(encoding="utf-8")
    capsys.readouterr()


def test_the_learned_policy_says_with_which_chance_it_chooses(monkeypatch):
    class Network:
        def features(self, view):
            return features(view, True, False)

        def logits(self, observations):
            return 5 * observations[:, 52:160]

    for module in (ginrummy_agents.explain, ginrummy_agents.learned.policy):
        monkeypatch.setattr(module, "load_network", lambda path: Network())
    state = new_games(3, 40, EAAI)
    for _ in range(3):
        view = make_view(state, EAAI)
        told = explain(Ppo(), view, np.random.default_rng(0))
        actions = Ppo().act(view, np.random.default_rng(0))
        assert np.allclose(np.nansum(told.values, axis=1), 1)
        assert (np.isnan(told.values) == ~view.action_masks()).all()
        best = np.nanmax(told.values, axis=1)
        assert (told.values[np.arange(40), actions] == best).all()
        step(state, actions, EAAI)
