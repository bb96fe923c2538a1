"""How good the belief is, as a picture."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ginrummy_training.plotting import LINES, Picture, new_figure, styled

FEWEST = 50
"""Cards from which on a share is drawn."""


@styled
def reliability_picture(found: Mapping[str, Any]) -> Picture:
    """Return how often a card was the opponent's, over the chance that was estimated.

    Args:
        found: what belief.json of `belief_check.check` holds.
    """
    figure, axes = new_figure(5.2)
    axes.plot([0, 1], [0, 1], color="#888888", linewidth=0.8)
    # Uniform is the reference, in grey.
    for (kind, curve), look in zip(
        found["reliability"].items(), (LINES[4], LINES[2], LINES[0]), strict=True
    ):
        mean, true, count = map(np.array, curve)
        some = count >= FEWEST
        loss = found["log_loss"][kind]
        axes.plot(mean[some], true[some], label=f"{kind}: log-loss {loss:.3f}", **look)
    axes.set_xlabel("estimated chance that an unseen card is in the opponent's hand")
    axes.set_ylabel("share of these cards that was")
    axes.set_title("calibration of the belief (thin line: perfect)")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.grid()
    axes.legend()
    return figure
