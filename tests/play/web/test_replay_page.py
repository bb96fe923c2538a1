"""The page of a recorded game: what is in it, and how it behaves in a browser."""

import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ginrummy_env.core.actions import DRAW_STOCK, TAKE_UPCARD
from ginrummy_env.core.cards import NO_CARD, cards_of
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import CLASSIC
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_env.records.recorder import Annotation, load, record_of, replay
from ginrummy_env.viewer import Replay
from ginrummy_training.cli.main import main

RECORDS = Path(__file__).parents[2] / "records"


def golden(name):
    return load(RECORDS / f"{name}.txt")[0]


@pytest.fixture(scope="module")
def thoughtful():
    """A deal of `simple` with values and estimates, one of them a mistake, beside decisions."""
    state = new_games(5, [1], CLASSIC)
    policy, rng = make_policy("simple"), np.random.default_rng(0)
    while not state.over[0]:
        step(state, policy.act(make_view(state, CLASSIC), rng), CLASSIC)
    record = record_of(state, 0, CLASSIC, ("simple", "also simple"))
    (deal,) = record.deals
    (positions,) = replay(record)
    drawing = [t for t, action in enumerate(deal.actions) if action in (DRAW_STOCK, TAKE_UPCARD)]
    choosing = [t for t in drawing if positions.phase[t] == 2]
    remarks = []
    for number, place in enumerate(choosing[:4]):
        done = deal.actions[place]
        other = TAKE_UPCARD if done == DRAW_STOCK else DRAW_STOCK
        remarks.append(
            Annotation(
                step=place,
                values=((done, 0.5), (other, 0.75 if number == 2 else 0.25)),
                note="chance of winning the game",
                estimate=((51, 1.0), (0, 0.25)),
            )
        )
    return replace(record, deals=(replace(deal, annotations=tuple(remarks)),))


# What is in it


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDS.glob("*.txt")))
def test_every_golden_record_has_a_page(name):
    record = golden(name)
    data = Replay(record).data
    assert len(data["frames"]) == sum(len(deal.actions) + 1 for deal in record.deals)
    ended = [deal for deal in record.deals if deal.end]
    assert [row["scores"] for row in data["sheet"]["rows"]] == [list(d.end.scores) for d in ended]
    bonuses = data["sheet"]["bonuses"]
    if record.final_scores:
        assert bonuses[-1]["points"] == list(record.final_scores)
        before = np.array([line["points"] for line in bonuses[:-1]]).sum(axis=0)
        assert (before + record.scores).tolist() == list(record.final_scores)
    else:
        assert bonuses == []


def test_frames_hold_what_the_engine_says():
    """Cards in one place each, deadwood as the engine counts it, the pile in order."""
    record = golden("game")
    frames = iter(Replay(record).data["frames"])
    for states in replay(record):
        for row in range(len(states)):
            frame = next(frames)
            places = [
                c for side in frame["sides"] for g in side["open"]["groups"] for c in g["cards"]
            ]
            hands = cards_of(int(states.hands[row, 0] | states.hands[row, 1]))
            assert sorted(places) == hands
            pile = [card for card in states.discard_pile[row].tolist() if card != NO_CARD]
            assert frame["pile"] == pile
            assert frame["stock"] == states.stock_count[row]
            assert len(places) + len(pile) + frame["stock"] == 52
            if states.knocker[row] >= 0:
                left = [frame["sides"][p]["open"]["deadwood"] for p in (0, 1)]
                knocker = int(states.knocker[row])
                assert left[knocker] == states.knocker_deadwood[row]
                assert left[1 - knocker] == states.defender_deadwood[row]


@pytest.mark.parametrize("viewer", [0, 1])
def test_a_page_for_one_player_is_the_same_whatever_he_cannot_see(viewer):
    """Permuting the stock and the unknown cards changes nothing."""
    policy, rng = make_policy("gold"), np.random.default_rng(1)
    compared = 0
    for game in range(6):
        state = new_games(3, [game], CLASSIC)
        for _ in range(9):
            step(state, policy.act(make_view(state, CLASSIC), rng), CLASSIC)
            if state.over[0]:
                break
        if state.over[0]:
            continue
        record = record_of(state, 0, CLASSIC)
        stock = state.deck[0, 52 - int(state.stock_count[0]) :].tolist()
        loose = cards_of(int(state.hands[0, 1 - viewer] & ~state.known[0, 1 - viewer]))
        dealt = [card for card in record.deals[0].deck[:20] if card in loose]
        deck = list(record.deals[0].deck)
        one, two = deck.index(dealt[0]), deck.index(stock[-1])
        deck[one], deck[two] = deck[two], deck[one]
        other = replace(record, deals=(replace(record.deals[0], deck=tuple(deck)),))
        assert Replay(record, viewer=viewer).html == Replay(other, viewer=viewer).html
        assert Replay(record).html != Replay(other).html
        compared += 1
    assert compared >= 3


def test_thoughts_of_the_other_player_are_not_in_a_page_for_one(thoughtful):
    whole = [f["decision"] for f in Replay(thoughtful).data["frames"] if "decision" in f]
    players = {decision["player"] for decision in whole}
    assert len(whole) == 4
    assert players == {0, 1}
    for viewer in (0, 1):
        frames = Replay(thoughtful, viewer=viewer).data["frames"]
        assert {f["decision"]["player"] for f in frames if "decision" in f} == {viewer}
    losses = [decision["loss"] for decision in whole]
    assert losses == [0, 0, 0.25, 0]
    assert whole[2]["values"][0][1] == 0.75
    assert whole[2]["values"][1][2], "what was done is marked"
    assert whole[0]["estimate"][51] == 1


def test_the_page_needs_nothing_else_and_names_stay_text():
    record = replace(golden("knock"), players=("</script><b>Eve & Co", "x{{data}}"))
    page = Replay(record).html
    assert "<b>Eve" not in page
    assert not re.search(r"https?://|@import|url\(|<link|src=", page)
    assert page.count("</script>") == 2
    assert "default-src 'none'" in page


def test_players_of_one_name_are_told_apart():
    record = replace(golden("game"), players=("search:worlds=128,a", "search:worlds=128,b"))
    shown = Replay(record)
    assert shown.names == ("0 search:worlds=128,a", "1 search:worlds=128,b")
    said = [line for frame in shown.data["frames"] for line in frame["say"]["0"]]
    assert any(line.startswith("1 search") for line in said)
    for line in said:  # the opponent's draw is never said with a card
        assert not re.search("1 search[^.]* drew [A2-9TJQK]", line)


def test_a_notebook_shows_the_page_in_a_frame():
    shown = Replay(golden("knock"))
    frame = shown._repr_html_()
    assert html.unescape(re.search('srcdoc="([^"]*)"', frame)[1]) == shown.html
    assert 'sandbox="allow-scripts"' in frame
    assert "deals" in repr(shown)


@pytest.mark.parametrize("wrong", [{"viewer": 2}, {"margin": -1.0}, {"margin": float("nan")}])
def test_wrong_arguments(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Replay(golden("knock"), **wrong)


def test_the_command_writes_a_page(tmp_path, capsys):
    page = tmp_path / "game.html"
    assert main(["replay", str(RECORDS / "game.txt"), "--html", str(page), "--view", "1"]) == 0
    assert page.read_text(encoding="utf-8") == Replay(golden("game"), viewer=1).html
    assert str(page) in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["game.html"]
    assert main(["replay", str(RECORDS / "game.txt"), "--values", "simple"]) == 2


# In a browser


def test_the_page_works_inside_a_notebook(page, tmp_path):
    (tmp_path / "notebook.html").write_text(
        f"<!doctype html><meta charset=utf-8><p>Out[1]:</p>{Replay(golden('game'))._repr_html_()}",
        encoding="utf-8",
    )
    page.goto((tmp_path / "notebook.html").as_uri())
    inside = page.frame_locator("iframe")
    inside.get_by_role("button", name="One step forward").click()
    assert "position 2 of" in inside.locator("#table").inner_text()


def opened(page, record, tmp_path, **arguments):
    """The page of a record, opened; requests for anything else are noted."""
    path = tmp_path / "page.html"
    Replay(record, **arguments).save(path)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    assert asked == [path.as_uri()]
    return page


def texts(page, selector):
    return page.locator(selector).inner_text()


@pytest.mark.parametrize("name", ["gin_laid_off", "undercut"])
def test_what_is_laid_down_and_off_stays_in_one_row(page, tmp_path, name):
    opened(page, golden(name), tmp_path)
    page.keyboard.press("End")
    assert "laid off" in texts(page, "#table")
    for width in (360, 390, 1180):
        page.set_viewport_size({"width": width, "height": 844})
        hands = page.eval_on_selector_all(
            "#table .hand",
            "all => all.map(hand => [...hand.querySelectorAll('.cards')].map(cards => {"
            " const b = cards.getBoundingClientRect(); return [b.top, b.right]; }))",
        )
        for groups in hands:
            assert len({round(top) for top, _ in groups}) == 1
            assert max(right for _, right in groups) <= width


def test_a_game_replayed_to_its_end(page, tmp_path):
    record = golden("game")
    opened(page, record, tmp_path)
    total = sum(len(deal.actions) + 1 for deal in record.deals)
    assert f"1 of {total}" in texts(page, "#table")
    forward = page.get_by_role("button", name="One step forward")
    forward.click()
    assert f"2 of {total}" in texts(page, "#table")
    for number in range(3, total + 1):
        page.keyboard.press("ArrowRight")
        if number % 40 == 0:
            assert f"{number} of {total}" in texts(page, "#table")
    assert forward.is_disabled()
    assert f"{total} of {total}" in texts(page, "#table")
    sheet = texts(page, "#sheet")
    assert "final scores" in sheet
    for score in record.final_scores:
        assert str(score) in sheet
    assert "won the game" in texts(page, "#status")
    page.keyboard.press("Home")
    assert "final scores" not in texts(page, "#sheet")
    assert f"1 of {total}" in texts(page, "#table")


def test_jumps_by_keys_mouse_and_slider(page, tmp_path, thoughtful):
    opened(page, golden("game"), tmp_path)
    page.keyboard.press("PageDown")
    assert "Deal 2, turn 1" in texts(page, "#table")
    page.get_by_label("Go to deal").select_option("4")
    assert "Deal 4, turn 1" in texts(page, "#table")
    page.get_by_role("button", name="knock ▶").click()
    page.keyboard.press("ArrowRight")
    assert re.search("knock|gin|undercut", texts(page, "#status"))
    page.get_by_label("Position in the game").fill("0")
    assert "Deal 1, turn 1" in texts(page, "#table")
    assert page.get_by_role("button", name="mistake ▶").is_disabled()
    opened(page, thoughtful, tmp_path)
    page.keyboard.press("m")
    thoughts = texts(page, "#thoughts")
    assert "A mistake: 0.25 below the best" in thoughts
    assert "chance of winning the game" in thoughts
    assert page.locator("#thoughts table.heat td[aria-label]").count() == 52
    assert page.get_by_label("king of clubs: 100 %").count() == 1
    page.keyboard.press("v")
    page.keyboard.press("v")
    hidden = {texts(page, "#view option:checked"): page.locator("#thoughts").is_hidden()}
    page.keyboard.press("v")
    page.keyboard.press("v")
    hidden[texts(page, "#view option:checked")] = page.locator("#thoughts").is_hidden()
    assert sorted(hidden.values()) == [False, True], "one player's thoughts are his own"


def test_swipes_and_one_seat(page, tmp_path):
    opened(page, golden("game"), tmp_path)
    swipe = """(to) => {
      const at = (x) => [
        new Touch({identifier: 1, target: document.body, clientX: x, clientY: 300})];
      const felt = document.getElementById("felt");
      felt.dispatchEvent(new TouchEvent("touchstart", {touches: at(200)}));
      felt.dispatchEvent(new TouchEvent("touchend", {changedTouches: at(to)}));
    }"""
    page.evaluate(swipe, 80)
    assert "position 2 of" in texts(page, "#table")
    page.evaluate(swipe, 320)
    page.evaluate(swipe, 190)
    assert "position 1 of" in texts(page, "#table")
    assert page.locator(".hand .card.back").count() == 0
    page.get_by_label("Whose cards are shown").select_option("0")
    assert page.locator(".hand .card.back").count() == 10
    assert "unseen" in texts(page, "#table")


def test_legible_on_a_phone_and_on_a_desktop_dark_and_light(page, tmp_path, thoughtful):
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        for width, height in ((390, 844), (1200, 800)):
            page.set_viewport_size({"width": width, "height": height})
            for record in (golden("gin_laid_off"), thoughtful):
                opened_at = tmp_path / "page.html"
                Replay(record).save(opened_at)
                page.goto(opened_at.as_uri())
                for _ in range(6):
                    page.keyboard.press("ArrowRight")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.evaluate(CONTRAST, "body") >= 7
                assert page.evaluate(CONTRAST, ".faint") >= 4.5
                small = page.evaluate(
                    "[...document.querySelectorAll('nav button')]"
                    ".filter(b => b.offsetParent && b.offsetHeight < 40).length"
                )
                assert small == 0, "buttons are large enough to be touched"


CONTRAST = """(selector) => {
  const light = (color) => {
    const [r, g, b] = color.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const element = document.querySelector(selector);
  let under = element;
  const back = (of) => getComputedStyle(of).backgroundColor;
  while (back(under) === "rgba(0, 0, 0, 0)") under = under.parentElement;
  const pair = [light(getComputedStyle(element).color), light(back(under))];
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
}"""


def test_everything_has_a_name_for_screen_readers(page, tmp_path, thoughtful):
    opened(page, thoughtful, tmp_path)
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, select, input, [role=img]')].filter(e =>"
        " !(e.getAttribute('aria-label') || e.innerText || (e.labels && e.labels.length))).length"
    )
    assert nameless == 0
    assert page.get_by_role("group", name="Hand of simple").count() == 1
    cards = page.locator("#table [role=img]")
    assert cards.count() >= 20
    assert re.fullmatch("[a-z]+ of [a-z]+.*", cards.first.get_attribute("aria-label"))
    assert page.locator("[role=status]").count() == 1
