"""A person's game in the browser, played by clicking what the page offers."""

from dataclasses import replace

import pytest

pytest.importorskip("flask", reason="the extra `web` is not installed")
from web_play import choose, hidden_in, serving

from ginrummy_env.core.rules import CLASSIC, EAAI
from ginrummy_env.records.recorder import load

SCENE = "({status: scene.status, choices: scene.choices, at: document.body.dataset.at})"


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
            page.click(f'#table button[data-card="{choice["card"]}"]')
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
            tab.click(f'#table button[data-card="{choice["card"]}"]')
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
        assert page.locator(".card.back").count() > 0


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
