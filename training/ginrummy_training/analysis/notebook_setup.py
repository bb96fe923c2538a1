"""What the first cell of a notebook does, and the training runs that notebook 3 shows.

FAST = set_up()  # True: small settings, everything in seconds
"""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from ginrummy_training.analysis.notebook_cache import fast

if TYPE_CHECKING:
    from ginrummy_training.learning.selfplay.settings import SelfPlaySettings
    from ginrummy_training.learning.settings import TrainSettings

EXPERT = "lookahead:knock_turns=7"
"""Whom the network of notebook 3 imitates."""


def set_up() -> bool:
    """Let tables show whole texts, aligned to the left, and return whether to run small.

    Returns:
        Whether the environment asks for small settings, as the tests do (``GINRUMMY_SMALL=1``).
    """
    pd.set_option("display.max_rows", None, "display.max_columns", None)
    pd.set_option("display.max_colwidth", None)
    try:
        from IPython.core.getipython import get_ipython
    except ModuleNotFoundError:
        return fast()
    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        shell.display_formatter.formatters["text/html"].for_type(pd.DataFrame, aligned)
    return fast()


def aligned(frame: pd.DataFrame) -> str:
    """Return a table as HTML: numbers to the right, everything else to the left.

    The alignment is in each cell, since viewers on the web drop style sheets.

    >>> aligned(pd.DataFrame({"a": ["x"], "b": [1]})).count('style="text-align: left"')
    4
    """
    sides = ["right" if pd.api.types.is_numeric_dtype(kind) else "left" for kind in frame.dtypes]
    sides = ["left"] * frame.index.nlevels + sides
    column = 0
    lines = []
    for line in frame.to_html(border=0).splitlines():
        if line.lstrip().startswith("<tr"):
            column = 0
            line = re.sub(r" style=.*?>", ">", line)
        elif cell := re.match(r"(\s*<t[hd])\b(.*)", line):
            # A merged cell of the index leaves fewer cells in the rows that it covers, so the
            # first value of a row is that after its last name.
            if cell[1].endswith("td"):
                column = max(column, frame.index.nlevels)
            side = sides[min(column, len(sides) - 1)]
            line = f'{cell[1]} align="{side}" style="text-align: {side}"{cell[2]}'
            column += 1
        lines.append(line)
    return "\n".join(lines)


def from_nothing(small: bool) -> "SelfPlaySettings":
    """Return the settings of self-play from nothing: four minutes of a core.

    Args:
        small: every part once, in seconds.
    """
    from ginrummy_training.learning.selfplay.settings import MINUTES, SMOKE

    if small:
        return replace(SMOKE, rules="classic", eval_games=2, retest_games=2, tensorboard=False)
    return replace(
        MINUTES,
        rules="classic",
        near=8,
        steps=1_048_576,
        eval_every=65_536,
        eval_games=1_000,
        checkpoint_every=131_072,
        seed=3,
        tensorboard=False,
    )


def imitation_then_ppo(small: bool) -> "TrainSettings":
    """Return the settings of imitation, then MaskablePPO: three minutes of a core.

    Args:
        small: every part once, in seconds.
    """
    from ginrummy_training.learning.settings import POOL, QUICK, SMOKE

    if small:
        return replace(
            SMOKE,
            rules="classic",
            imitation_samples=1_000,
            steps=1_024,
            eval_every=1_024,
            eval_games=2,
            retest_games=2,
            max_deals=4,
            tensorboard=False,
        )
    return replace(
        QUICK,
        rules="classic",
        expert=EXPERT,
        imitation_samples=120_000,
        steps=262_144,
        opponents=((0.0, {"simple": 0.8, POOL: 0.2}),),
        eval_opponents=("simple",),
        eval_every=65_536,
        eval_games=1_000,
        retest_games=2_000,
        seed=3,
        tensorboard=False,
    )
