"""How good the belief of `search.belief` is, against true hands of deals not fitted to.

``ginrummy fit belief-check --out FOLDER`` writes belief.csv, belief.json and belief.png.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.search.belief import STAGES, fitted, scaled
from ginrummy_agents.search.hands import odds_of, sample_hands
from ginrummy_env.core.cards import card_planes, hand_size
from ginrummy_env.core.chance import Purpose, RowRandom, keys
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.types import Float
from ginrummy_env.core.view import OPPONENT
from ginrummy_training.fitting.belief import Sample, gather, pool
from ginrummy_training.fitting.belief_figure import reliability_picture
from ginrummy_training.storage import write_csv, write_json

WORLDS = 64
"""Hands sampled for each position."""

BINS = np.linspace(0, 1, 21)

KINDS = ("uniform", "card by card", "sampled hands")


@dataclass(slots=True)
class Checked:
    """Estimated chances and what was true, of all unseen cards of a stage."""

    chances: Float
    """[3, C] by KINDS."""
    truth: Float
    """[C] 0 or 1."""
    deadwood: Float
    """[4] mean deadwood of the true hands, of uniform ones, card by card, of sampled hands."""


def check_stage(sample: Sample, seed: int) -> Checked:
    """Return the estimates for the positions of one stage."""
    view, belief = sample.view, fitted()
    unseen = card_planes(view.unseen)
    known = card_planes(view.known[:, OPPONENT])
    unknown = 10.0 - known.sum(axis=1)
    rng = RowRandom(keys(Purpose.BELIEF_CHECK, np.uint64(seed), view.hand, view.step_count))
    hands = sample_hands(view, WORLDS, rng, odds_of(view, belief))[0]
    drawn = sample_hands(view, 4, rng, odds_of(view, belief, swaps=0))[0]
    even = sample_hands(view, 4, rng, odds_of(view, None))[0]
    often = card_planes(hands).reshape(len(view), WORLDS, -1).sum(axis=1)
    # Half a hand of doubt, so that no card is certain.
    share = unknown / hand_size(view.unseen)
    sampled = (often + 0.5 * share[:, None]) / (WORLDS + 0.5)
    chances = [
        np.broadcast_to(share[:, None], unseen.shape),
        scaled(np.where(unseen, belief.weights(view), 0.0), unknown),
        sampled,
    ]
    left = [float(deadwood(each).mean()) for each in (sample.hands, even, drawn, hands)]
    return Checked(
        np.stack([each[unseen] for each in chances]),
        card_planes(sample.hands)[unseen].astype(np.float64),
        np.array(left),
    )


def log_loss(chances: Float, truth: Float) -> float:
    """Return the mean negative logarithm of the chance given to what was true, in nats."""
    safe = np.clip(chances, 1e-6, 1 - 1e-6)
    return float(-np.where(truth > 0, np.log(safe), np.log(1 - safe)).mean())


def reliability(chances: Float, truth: Float) -> tuple[Float, Float, NDArray[np.int64]]:
    """Return mean estimate, share that was true and number of cards, by estimate."""
    place = np.clip(np.digitize(chances, BINS) - 1, 0, len(BINS) - 2)
    count = np.bincount(place, minlength=len(BINS) - 1)
    some = np.maximum(count, 1)
    mean = np.bincount(place, chances, minlength=len(count)) / some
    true = np.bincount(place, truth, minlength=len(count)) / some
    return mean[count > 0], true[count > 0], count[count > 0]


def check(rules_names: Sequence[str], deals: int, seed: int, out: Path) -> None:
    """Check the shipped belief, print and write what comes out.

    Args:
        rules_names: presets.
        deals: of each pairing.
        seed: of the deals; none of those that were fitted to.
        out: folder for belief.csv, belief.json and belief.png.
    """
    samples = gather(pool(rules_names, deals, seed), 2000)
    found = [check_stage(sample, seed + stage) for stage, sample in enumerate(samples)]
    rows: list[dict[str, Any]] = []
    for stage, one in enumerate(found):
        losses = [log_loss(chances, one.truth) for chances in one.chances]
        rows.append(
            {
                "opponent's discards from": int(STAGES[stage]),
                "cards": len(one.truth),
                **{f"log-loss {kind}": loss for kind, loss in zip(KINDS, losses, strict=True)},
                **{
                    f"deadwood {kind}": left
                    for kind, left in zip(("true", *KINDS), one.deadwood.tolist(), strict=True)
                },
            }
        )
        print("  ".join(f"{name} {value:.4g}" for name, value in rows[-1].items()))
    every = Checked(
        np.concatenate([one.chances for one in found], axis=1),
        np.concatenate([one.truth for one in found]),
        np.zeros(4),
    )
    total = {
        kind: log_loss(chances, every.truth)
        for kind, chances in zip(KINDS, every.chances, strict=True)
    }
    print(f"all stages: {total}")
    out.mkdir(parents=True, exist_ok=True)
    write_csv(out / "belief.csv", list(rows[0]), [list(row.values()) for row in rows])
    curves = {
        kind: [values.tolist() for values in reliability(chances, every.truth)]
        for kind, chances in zip(KINDS, every.chances, strict=True)
    }
    kept = {
        "rules": list(rules_names),
        "deals": deals,
        "seed": seed,
        "log_loss": total,
        "reliability": curves,
        "stages": rows,
    }
    write_json(out / "belief.json", kept)
    reliability_picture(kept).save(out / "belief.png")
