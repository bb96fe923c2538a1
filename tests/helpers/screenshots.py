"""Make the pictures of docs/VIEWER.md: ``python tests/helpers/screenshots.py``."""

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "play" / "web"))
from conftest import FLAGS
from test_play_page import click_on, ready
from web_play import choose, serving

from ginrummy_env.core.rules import CLASSIC
from ginrummy_env.viewer import Replay
from ginrummy_training.evaluation.annotated_records import annotate
from ginrummy_training.evaluation.match import record_games
from ginrummy_training.evaluation.match_result import Match

DOCS = Path(__file__).parents[2] / "docs"
SIZES = {"phone": (390, 844, "dark"), "desktop": (1180, 820, "light")}

STATIC = "document.querySelector('.sticky').style.position = 'static'"
"""A picture of the whole page has no lower edge of a screen for the controls to stick to."""


def main():
    (game,) = annotate(record_games(Match(("gold", "lookahead"), CLASSIC, 12), 1), "search:64")
    folder = Path(tempfile.mkdtemp())
    Replay(game).save(folder / "game.html")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(FLAGS)
        )
        for name, (width, height, scheme) in SIZES.items():
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page = context.new_page()
            page.goto((folder / "game.html").as_uri())
            for _ in range(2):
                page.keyboard.press("PageDown")
            page.keyboard.press("m")
            page.evaluate(STATIC)
            page.screenshot(path=DOCS / f"replay-{name}.png", full_page=True)
            with serving(folder / name, "search:64", CLASSIC, seed=21) as server:
                page.goto(server.url)
                scene = ready(page)
                page.evaluate(STATIC)
                while not (scene["status"] == "deal over" and page.get_by_text("laid off").count()):
                    if scene["status"] == "game over":
                        break
                    scene = click_on(page, scene)
                if name == "phone":
                    page.screenshot(path=DOCS / "play-phone-end.png", full_page=True)
                page.get_by_role("button", name="next deal").click()
                scene = ready(page, scene["at"])
                while not any("card" in choice for choice in scene["choices"]):
                    scene = click_on(page, scene)
                page.click(
                    f"""#table button[data-card="{choose(scene)["card"]}"]""",
                    position={"x": 8, "y": 20},
                )
                page.click("#hint")
                page.wait_for_selector("#advice strong")
                page.screenshot(path=DOCS / f"play-{name}.png", full_page=True)
            context.close()
        browser.close()
    for path in (*DOCS.glob("replay-*.png"), *DOCS.glob("play-*.png")):
        picture = Image.open(path).convert("RGB")
        picture.quantize(256, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


if __name__ == "__main__":
    main()
