"""Benchmark cards: the same twice, of a frozen protocol, and compared on the same decks."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ginrummy_agents.rules.gold import Gold
from ginrummy_training.cli.main import main
from ginrummy_training.statistics import Estimate
from ginrummy_training.storage import ResultError
from ginrummy_training.strength import card as card_module
from ginrummy_training.strength import protocol as protocols
from ginrummy_training.strength.card import benchmark, pairs_text, read_card, write_card
from ginrummy_training.strength.card_table import (
    compare_markdown,
    difference,
    ladder_markdown,
    pairs_of,
)
from ginrummy_training.strength.figures import ladder_picture
from ginrummy_training.strength.protocol import (
    BENCHMARK_1,
    PROTOCOLS,
    Protocol,
    deck_checksum,
    play_fingerprint,
    require_frozen,
)


@pytest.fixture(scope="module", autouse=True)
def fingerprints_once():
    """Each agent's play is recorded once: all tests of this file have the same agents."""
    once = cache(lambda name, rules: play_fingerprint(name, rules))
    with pytest.MonkeyPatch.context() as patch:
        for module in (protocols, card_module):
            patch.setattr(module, "play_fingerprint", once)
        yield


@pytest.fixture(scope="module")
def tiny():
    """A protocol of a few games."""
    opponents = {name: {"eaai": play_fingerprint(name, "eaai")} for name in ("simple", "gold")}
    return Protocol(
        name="tiny", about="", rules=("eaai",), opponents=opponents, games=8, seed=5, max_deals=3,
        decks=deck_checksum(5, 8),
    )  # fmt: skip


@pytest.fixture(scope="module")
def cards(tiny):
    return {name: benchmark(name, protocol=tiny)[0] for name in ("gold", "hein")}


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_two_runs_give_the_same_card_byte_for_byte(tiny, cards, tmp_path):
    for name, batch in (("a", 4096), ("b", 2)):
        card, _ = benchmark("hein", protocol=tiny, batch=batch, out=tmp_path / name)
        write_card(card, tmp_path / name)
    first = files(tmp_path / "a")
    assert set(first) == {"card.json", "card.md", "card.png"}
    assert files(tmp_path / "b") == first
    assert read_card(tmp_path / "a") == cards["hein"]


def test_what_was_played_is_not_played_again(tiny, tmp_path, monkeypatch):
    benchmark("gold", protocol=tiny, out=tmp_path)
    monkeypatch.setattr(Gold, "act", lambda *_: pytest.fail("played again"))
    _, results = benchmark("gold", protocol=tiny, out=tmp_path)
    assert all(result.complete for result in results)


def test_an_interrupted_benchmark_ends_with_the_same_card(tiny, cards, tmp_path):
    def interrupt(what, done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        benchmark("hein", protocol=tiny, batch=2, out=tmp_path, progress=interrupt)
    seen = []
    card, _ = benchmark(
        "hein", protocol=tiny, out=tmp_path, progress=lambda what, done, total: seen.append(done)
    )
    assert card == cards["hein"]
    assert 0 < seen[0] < seen[-1] == 16


def test_the_score_is_the_mean_over_the_opponents(cards):
    card = cards["hein"]
    won = [cell["games_won"]["value"] for cell in card["matches"]["eaai"].values()]
    assert card["score"]["eaai"]["value"] == pytest.approx(np.mean(won), abs=1e-6)
    assert pairs_of(card, "eaai", "gold").mean() / 2 == pytest.approx(won[1])


def test_another_policy_or_protocol_is_not_overwritten(tiny, tmp_path):
    card, _ = benchmark("gold", protocol=tiny, out=tmp_path)
    write_card(card, tmp_path)
    before = files(tmp_path)
    with pytest.raises(ResultError, match=r"the card of gold.*--force"):
        benchmark("simple", protocol=tiny, out=tmp_path)
    with pytest.raises(ResultError, match="decks is"):
        benchmark("gold", protocol=replace(tiny, seed=6, decks=deck_checksum(6, 8)), out=tmp_path)
    assert files(tmp_path) == before
    write_card(benchmark("simple", protocol=tiny, out=tmp_path, force=True)[0], tmp_path)
    assert read_card(tmp_path)["agent"]["name"] == "simple"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"opponents": {"gold": {"eaai": "0" * 16}}}, "gold does not play as the protocol's"),
        ({"decks": "0" * 16}, "other decks"),
    ],
)
def test_what_is_not_the_protocol_any_more_is_refused(tiny, changed, says):
    with pytest.raises(ResultError, match=says):
        benchmark("simple", protocol=replace(tiny, **changed))


def test_a_policy_may_not_go_by_the_name_of_an_opponent(tiny):
    class Other(Gold):
        name = "simple"

    with pytest.raises(ValueError, match="give it another name"):
        benchmark(Other(), protocol=tiny)


def test_play_is_told_apart_by_what_is_played_and_nothing_else():
    class SamePlay(Gold):
        name = "mine"

    mark = play_fingerprint("gold", "eaai")
    assert play_fingerprint(SamePlay(), "eaai") == mark
    assert play_fingerprint("gold:knock=4", "eaai") != mark
    assert play_fingerprint("gold", "classic") != mark


@pytest.mark.parametrize("name", PROTOCOLS)
def test_this_version_plays_the_protocols(name):
    """A failure: an opponent plays otherwise. Then that is a new protocol, with a new name."""
    if name == BENCHMARK_1.name:
        require_frozen(BENCHMARK_1)
    else:  # the same opponents
        other = PROTOCOLS[name]
        assert other.opponents == BENCHMARK_1.opponents
        assert deck_checksum(other.seed, other.games) == other.decks


def test_an_unknown_protocol_suggests_the_nearest():
    with pytest.raises(ValueError, match="ginrummy-benchmark-1"):
        protocols.protocol_of("ginrummy-benchmark1")


def test_a_best_response_of_the_same_play_is_in_the_card(tiny):
    number = {"value": 0.6, "low": 0.5, "high": 0.7}
    found = {
        "policy": "gold", "rules": "eaai", "play": play_fingerprint("gold", "eaai"), "best": "hein",
        "games": 100, "games_won": number, "net_points_a_deal": number, "command": "",
    }  # fmt: skip
    card, _ = benchmark("gold", protocol=tiny, best_responses=[found])
    assert "60.0 (50.0–70.0)" in ladder_markdown([card])
    for wrong, says in (({"play": "x"}, "plays differently"), ({"rules": "classic"}, "no such")):
        with pytest.raises(ValueError, match=says):
            benchmark("gold", protocol=tiny, best_responses=[{**found, **wrong}])
    with pytest.raises(ValueError, match="two best"):
        benchmark("gold", protocol=tiny, best_responses=[found, found])


def test_cards_of_one_protocol_are_compared_pair_by_pair(cards, tiny):
    both = compare_markdown(cards["gold"], cards["hein"])
    assert "| eaai, against `simple` |" in both
    assert "+0.0 ± 0.0" in compare_markdown(cards["gold"], cards["gold"])
    other = {**cards["hein"], "protocol": {**tiny.to_dict(), "name": "other"}}
    with pytest.raises(ResultError, match="different protocols"):
        compare_markdown(cards["gold"], other)


def test_a_paired_difference_is_closer_than_two_intervals():
    rng = np.random.default_rng(3)
    luck = rng.random(400)
    won = [2.0 * (luck + rng.normal(0, 0.02, 400) < level) for level in (0.5, 0.55)]
    found = difference(won[1], won[0], np.full(400, 2))
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx((won[1] - won[0]).mean() / 2)
    assert found.high - found.value < 0.03  # of two independent matches: 0.07


def test_half_games_of_pairs_are_digits():
    assert pairs_text(np.array([0, 0.5, 1, 1.5, 2])) == "01234"


@pytest.mark.parametrize(
    "change",
    [
        lambda card: card.pop("score"),
        lambda card: card["matches"]["eaai"]["gold"].update(pairs="0123"),
        lambda card: card["matches"]["eaai"]["gold"].update(pairs="4444"),
        lambda card: card.update(format=0),
    ],
)
def test_a_damaged_card_is_refused_by_its_name(cards, tmp_path, change):
    card = json.loads(json.dumps(cards["hein"]))
    change(card)
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card))
    with pytest.raises(ResultError, match=r"card\.json"):
        read_card(path)


def test_the_command_wants_one_thing(capsys):
    assert main(["benchmark"]) == 2
    assert "one of POLICY" in capsys.readouterr().err
    assert main(["benchmark", "simple"]) == 2
    assert "--out" in capsys.readouterr().err
    assert main(["benchmark", "simpel", "--out", "nowhere"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_the_picture_of_a_ladder_has_every_opponent(cards):
    figure = ladder_picture(list(cards.values()), "eaai")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["against simple", "against gold"]
