"""A person's game in the browser, played by clicking what the page offers."""

from dataclasses import replace
from itertools import pairwise

import pytest

pytest.importorskip("flask", reason="the extra `web` is not installed")
from web_play import choose, hidden_in, serving

from ginrummy_env.core.rules import CLASSIC, EAAI
from ginrummy_env.records.recorder import load

SCENE = "({status: scene.status, choices: scene.choices, at: document.body.dataset.at})"

CORNER = {"x": 8, "y": 20}
"""Of a card: on a phone the next card lies on the rest of it."""


def ready(page, before=None):
    """Wait until the page shows another position than before, and return what may be done."""
    moved = f':not([data-at="{before}"])' if before else ""
    page.wait_for_selector(f"body[data-at]:not([aria-busy]){moved}")
    return page.evaluate(SCENE)


def click_on(page, scene):
    """Do one sensible thing by clicking, as a person does: first the card, then what to do."""
    if scene["status"] == "deal over":
        page.get_by_role("button", name="next deal").click()
    else:
        choice = choose(scene)
        if "card" in choice:
            page.click(f'#table button[data-card="{choice["card"]}"]', position=CORNER)
        page.click(f'#choices button[data-action="{choice["action"]}"]')
    return ready(page, scene["at"])


def test_a_game_played_to_its_end_by_clicking(page, tmp_path):
    leaks, answers = [], []
    with serving(tmp_path, "simple", replace(CLASSIC, target=20), seed=9_000_017) as server:

        def look(response):
            # Before the next click: the game stands where the answer says.
            answers.append(response.url)
            assert response.url.startswith(server.url)

        page.on("response", look)
        page.goto(server.url)
        scene = ready(page)
        steps = 0
        while scene["status"] != "game over":
            text = page.evaluate("JSON.stringify(scene)") + page.inner_text("body")
            leaks += hidden_in(server.game, text)
            scene = click_on(page, scene)
            steps += 1
        assert leaks == []
        assert steps > 15
        assert len(answers) >= steps
        sheet = page.inner_text("#sheet")
        assert "final scores" in sheet
        (record,) = load(server.game.path)
        assert record.finished
        assert all(str(score) in sheet for score in record.final_scores)
        won = "You won the game" if record.winner == 0 else "simple won the game"
        assert won in page.inner_text("#choices")
        page.get_by_role("button", name="new game", exact=True).click()
        assert ready(page, scene["at"])["at"].startswith("2.")


def test_a_second_tab_and_a_restart(page, tmp_path):
    with serving(tmp_path, "gold", EAAI, seed=5) as server:
        page.goto(server.url)
        first = ready(page)
        tab = page.context.new_page()
        tab.goto(server.url)
        old = ready(tab)
        assert old == first
        now = click_on(page, first)
        game = server.game.scene()
        # The second tab still shows the old position: its click does nothing but show the new one.
        choice = choose(old)
        if "card" in choice:
            tab.click(f'#table button[data-card="{choice["card"]}"]', position=CORNER)
        tab.click(f'#choices button[data-action="{choice["action"]}"]')
        assert ready(tab, old["at"]) == now
        assert "moved on" in tab.inner_text("#error")
        assert server.game.scene() == game
        page.wrong.clear()
    with serving(tmp_path, "simple", CLASSIC) as server:
        page.goto(server.url)
        again = ready(page)
        assert {**again, "at": now["at"]} == {**now, "at": again["at"]}
        assert again["at"] == now["at"]
        assert "against gold" in page.inner_text("#title")


def test_hints_and_looking_back(page, tmp_path):
    with serving(tmp_path, "simple", CLASSIC, seed=5) as server:
        page.goto(server.url)
        scene = ready(page)
        page.get_by_label("Agent to ask").select_option("lookahead")
        page.get_by_role("button", name="hint").click()
        page.wait_for_selector("#advice strong")
        assert page.inner_text("#advice").startswith("lookahead would ")
        assert ready(page) == scene
        scene = click_on(page, scene)
        page.goto(server.url + "replay")
        assert "position 1 of" in page.inner_text("#table")
        assert page.locator("#view option").count() == 1
        page.keyboard.press("End")
        assert page.locator(".hand .card.back").count() > 0


def test_the_game_fits_a_phone_and_a_desktop(page, tmp_path):
    with serving(tmp_path, "simple", CLASSIC, seed=5) as server:
        for width, height in ((390, 844), (1200, 800)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto(server.url)
            scene = ready(page)
            for _ in range(3):
                scene = click_on(page, scene)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            heights = page.eval_on_selector_all(
                "#choices button, #hint", "all => all.map(b => b.offsetHeight)"
            )
            assert min(heights) >= 40, "buttons are large enough to be touched"
            nameless = page.eval_on_selector_all(
                "button, select",
                "all => all.filter(e => !(e.getAttribute('aria-label') || e.textContent)).length",
            )
            assert nameless == 0


def inside(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + CORNER["x"], box["y"] + CORNER["y"]


def drag(page, source, target):
    """Drag with the mouse, and let go."""
    page.mouse.move(*inside(page, source))
    page.mouse.down()
    page.mouse.move(*inside(page, target), steps=6)
    page.mouse.up()


def drag_by_finger(page, source, target):
    finger = page.context.new_cdp_session(page)
    (x, y), (to_x, to_y) = inside(page, source), inside(page, target)

    def touch(kind, *points):
        touches = [{"x": a, "y": b} for a, b in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    touch("touchStart", (x, y))
    for part in (0.2, 0.5, 0.8, 1):
        touch("touchMove", (x + part * (to_x - x), y + part * (to_y - y)))
    touch("touchEnd")


STOCK, PILE, HAND = '#table button[data-action="104"]', '[data-drop="pile"]', '[data-drop="hand"]'


def until(page, scene, kind):
    """Click on until the person has to draw or to discard."""
    wanted = {
        "draw": lambda choice: choice["action"] == 104,
        "discard": lambda choice: "card" in choice,
    }
    while not any(map(wanted[kind], scene["choices"])):
        scene = click_on(page, scene)
    return scene


@pytest.mark.parametrize("drags", [drag, drag_by_finger])
def test_cards_are_drawn_and_discarded_by_dragging(page, tmp_path, drags):
    with serving(tmp_path, "simple", CLASSIC, seed=5) as server:
        page.goto(server.url)
        scene = until(page, ready(page), "draw")
        hand = page.locator(f"{HAND} [data-card]").count()
        assert hand == 10
        drags(page, STOCK, PILE)  # no place for it: nothing happens
        assert page.evaluate(SCENE) == scene
        drags(page, STOCK, HAND)
        scene = ready(page, scene["at"])
        assert page.locator("#table button[data-drag^=card]").count() == 11
        card = choose(scene)["card"]
        drags(page, f'#table [data-card="{card}"]', PILE)
        scene = ready(page, scene["at"])
        thrown = [a for a in server.game._game.record.deals[0].actions if a < 52]
        assert card in thrown
        assert page.locator(".ghost, .ready").count() == 0


def test_stock_and_pile_are_buttons_that_say_what_they_do(page, tmp_path):
    with serving(tmp_path, "simple", CLASSIC, seed=5) as server:
        page.goto(server.url)
        scene = until(page, ready(page), "draw")
        assert page.get_by_role("button", name="draw from the stock").count() == 2
        page.get_by_role("button", name="draw from the stock").first.press("Enter")
        scene = ready(page, scene["at"])
        card = choose(scene)["card"]
        page.click(f'#table [data-card="{card}"]', position=CORNER)
        page.locator("#table .pile button").click()
        ready(page, scene["at"])
        assert card in server.game._game.record.deals[0].actions


def test_the_eleven_cards_stay_in_one_row(page, tmp_path):
    with serving(tmp_path, "simple", CLASSIC, seed=21) as server:
        page.goto(server.url)
        scene = until(page, ready(page), "discard")
        for _ in range(3):
            for width in (390, 820, 1280):
                page.set_viewport_size({"width": width, "height": 844})
                boxes = page.eval_on_selector_all(
                    "#table button[data-drag^=card]",
                    "all => all.map(e => { const b = e.getBoundingClientRect();"
                    " return [b.top, b.left, b.right]; })",
                )
                assert len(boxes) == 11
                assert len({round(top) for top, _, _ in boxes}) == 1
                assert max(right for _, _, right in boxes) <= width
                steps = [b[1] - a[1] for a, b in pairwise(boxes)]
                assert min(steps) >= 14, "the corner of each card is seen"
            scene = until(page, click_on(page, scene), "discard")


def test_rules_and_agent_of_a_new_game_are_chosen(page, tmp_path):
    with serving(tmp_path, "simple", CLASSIC, seed=5) as server:
        page.goto(server.url)
        scene = ready(page)
        page.get_by_text("New game", exact=True).click()
        page.get_by_label("Opponent of a new game").select_option("gold")
        page.get_by_label("Rules of a new game").select_option("eaai")
        page.get_by_role("button", name="begin a new game").click()
        ready(page, scene["at"])
        assert (server.game.agent, server.game.rules) == ("gold", EAAI)
        assert "Rules: eaai" in page.inner_text("#about")
        assert page.input_value("#rules") == "eaai"


def test_a_hint_of_a_search_shows_differences_and_the_reason(page, tmp_path):
    with serving(tmp_path, "search:64", CLASSIC, seed=21) as server:
        page.goto(server.url)
        until(page, ready(page), "discard")
        page.get_by_role("button", name="hint").click()
        page.wait_for_selector("#advice .whisker")
        assert "base policy" in page.inner_text("#advice")
        assert "95 % intervals" in page.inner_text("#advice")
        assert page.locator("#advice .zero").count() == page.locator("#advice tbody .bars").count()
        uncoloured = page.locator("#advice .heat td:not([style])[aria-label]").count()
        assert uncoloured > 26, "early in a deal hardly anything is known"


def test_the_lines_of_the_score_sheet_do_not_wrap(page, tmp_path):
    with serving(
        tmp_path, "lookahead:knock_turns=7", replace(CLASSIC, target=20), seed=9
    ) as server:
        page.goto(server.url)
        scene = ready(page)
        while scene["status"] != "game over":
            scene = click_on(page, scene)
        for width in (390, 820, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            heights = page.eval_on_selector_all("#sheet tr", "all => all.map(e => e.offsetHeight)")
            assert max(heights) <= 36
            assert page.evaluate("document.documentElement.scrollWidth") <= width
