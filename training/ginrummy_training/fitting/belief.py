"""Fit what the opponent's play says about their hand: `ginrummy_agents.search.belief`.

``ginrummy fit belief`` writes agents/ginrummy_agents/data/belief.npz; how good the file is,
`belief_check` measures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ginrummy_agents.search.belief import (
    FEATURES,
    STAGES,
    Belief,
    features,
    stages,
)
from ginrummy_agents.search.hands import odds_of, sample_hands
from ginrummy_env.core.actions import NO_ACTION
from ginrummy_env.core.cards import card_planes, hand_size
from ginrummy_env.core.chance import FirstGame, Purpose, RowRandom, keys, policy_keys
from ginrummy_env.core.deadwood import deadwood
from ginrummy_env.core.game import new_games
from ginrummy_env.core.rules import as_rules
from ginrummy_env.core.types import Float, Hands, Rows
from ginrummy_env.core.view import OPPONENT, View
from ginrummy_env.files import write_whole
from ginrummy_env.policy import make_policy
from ginrummy_training.evaluation.play_deals import play_deals

OPPONENTS = ("simple", "gold", "hein", "lookahead", "lookahead:knock_turns=7", "gold:0")
VIEWERS = ("simple", "lookahead")
RIDGE = 20.0
"""Pull of the factors towards 0: as if this many cards' worth of doubt were added."""


def positions(
    viewer: str, opponent: str, rules_name: str, deals: int, seed: int
) -> list[tuple[View, Hands]]:
    """Play deals and return the viewer's views at its decisions, with the opponent's true hands.

    Every fourth position is kept, so that those of one deal are not all alike.
    """
    rules = as_rules(rules_name)
    numbers = np.arange(deals, dtype=np.uint64)
    state = new_games(seed, np.uint64(FirstGame.BELIEF_FIT) + numbers, rules)
    row_keys = policy_keys(Purpose.BELIEF_FIT, np.uint64(seed), numbers)
    found: list[tuple[View, Hands]] = []

    def on_decision(policy: int, rows: Rows, view: View, actions: NDArray[np.int16]) -> None:
        if policy == 0:
            kept = np.flatnonzero((rows + view.step_count) % 4 == 0)
            if kept.size:
                hands = state.hands[rows[kept], 1 - view.player[kept]]
                found.append((view.select(kept), hands))

    policies = make_policy(viewer), make_policy(opponent)
    play_deals(policies, state, np.arange(deals) % 2, row_keys, rules, on_decision)
    return found


def pool(rules_names: Sequence[str], deals: int, seed: int) -> Iterator[tuple[View, Hands]]:
    """Yield positions of every viewer against every opponent."""
    for number, rules_name in enumerate(rules_names):
        for first, viewer in enumerate(VIEWERS):
            for second, opponent in enumerate(OPPONENTS):
                apart = seed + 100 * number + 10 * first + second
                yield from positions(viewer, opponent, rules_name, deals, apart)


def offsets(view: View) -> Float:
    """Return the logarithm of each unseen card's odds of being the opponent's, by number alone."""
    unknown = 10.0 - hand_size(view.known[:, OPPONENT])
    unseen = hand_size(view.unseen).astype(np.float64)
    return np.log(unknown / (unseen - unknown))


@dataclass(slots=True)
class Sample:
    """Positions of one stage, with the true hands."""

    view: View
    hands: Hands


def gather(pairs: Iterator[tuple[View, Hands]], most: int) -> list[Sample]:
    """Return positions by stage, at most ``most`` of each, taken evenly from all."""
    parts: list[list[tuple[View, Hands]]] = [[] for _ in STAGES]
    for view, hands in pairs:
        stage = stages(view)
        for number in np.unique(stage):
            rows = np.flatnonzero(stage == number)
            parts[number].append((view.select(rows), hands[rows]))
    found = []
    for part in parts:
        hands = np.concatenate([each[1] for each in part])
        view = joined([each[0] for each in part])
        rows = np.unique(np.linspace(0, len(hands) - 1, most).astype(np.int64))
        found.append(Sample(view.select(rows), hands[rows]))
    return found


def joined(views: list[View]) -> View:
    """Return one view of all rows, with the rules of the first."""
    width = max(view.history.shape[1] for view in views)
    columns: dict[str, Any] = {}
    for each in fields(View):
        arrays = [getattr(view, each.name) for view in views]
        if each.name == "history":
            pad = [(0, 0), (0, 0)]
            arrays = [
                np.pad(array, [pad[0], (0, width - array.shape[1])], constant_values=NO_ACTION)
                for array in arrays
            ]
        columns[each.name] = arrays[0] if each.name == "rules" else np.concatenate(arrays)
    return View(**columns)


def fit_cards(sample: Sample) -> Float:
    """Return the factors' logarithms by which single cards are the opponent's, [F].

    A logistic regression of all unseen cards, by Newton's method.
    """
    view = sample.view
    rows, cards = np.nonzero(card_planes(view.unseen))
    inputs = features(view)[:, rows, cards].T.astype(np.float64)
    truth = card_planes(sample.hands)[rows, cards].astype(np.float64)
    offset = offsets(view)[rows]
    factors = np.zeros(inputs.shape[1])
    for _ in range(12):
        chance = 1 / (1 + np.exp(-(inputs @ factors + offset)))
        slope = inputs.T @ (truth - chance) - RIDGE * factors
        curve = (inputs * (chance * (1 - chance))[:, None]).T @ inputs
        curve[np.diag_indices_from(curve)] += RIDGE
        change = np.linalg.solve(curve, slope)
        factors += change
        if np.abs(change).max() < 1e-4:
            break
    return factors


def fit_hands(belief: Belief, sample: Sample, stage: int, rounds: int, seed: int) -> None:
    """Move a stage's factors until sampled hands look like the true ones.

    Sampled hands are to have the true hands' mean deadwood, and their cards each feature as often.
    Cards are weighed again with it, as low deadwood by itself favours some. Changes ``belief``.

    Args:
        belief: in which the stage's factors are those of single cards.
        sample: positions of the stage.
        stage: its number.
        rounds: steps of stochastic gradient ascent.
        seed: of the sampled hands.
    """
    view, planes = sample.view, features(sample.view)
    unseen = card_planes(view.unseen)

    def counted(hands: Hands) -> tuple[Float, float]:
        held = card_planes(hands) & unseen
        often = np.array([(plane & held).sum() for plane in planes]) / len(hands)
        return often, float(deadwood(hands).mean())

    aim, aim_left = counted(sample.hands)
    spread = np.array([(plane & unseen).sum() for plane in planes]) / len(unseen)
    # The variance of a feature's count, were the cards drawn one by one.
    spread = 0.2 * spread + RIDGE / len(unseen)
    for number in range(rounds):
        rng = RowRandom(
            keys(Purpose.BELIEF_FIT, np.uint64(seed), number, view.hand, view.step_count)
        )
        often, left = counted(sample_hands(view, 1, rng, odds_of(view, belief))[0])
        pace = 0.6 / (1 + number / 10)
        belief.factors[stage] += pace * 0.5 * (aim - often) / spread
        belief.deadwood[stage] += pace * 0.02 * (left - aim_left)
    print(
        f"stage {stage}: {len(unseen)} positions, deadwood {aim_left:.1f}, "
        f"sampled {left:.1f}, slope {belief.deadwood[stage]:.3f}",
        flush=True,
    )


def fit(rules_names: Sequence[str], deals: int, most: int, rounds: int, seed: int) -> Belief:
    """Return the belief that fits the positions of the pool."""
    belief = Belief(np.zeros((len(STAGES), len(FEATURES))), np.zeros(len(STAGES)))
    for stage, sample in enumerate(gather(pool(rules_names, deals, seed), most)):
        belief.factors[stage] = fit_cards(sample)
        fit_hands(belief, sample, stage, rounds, seed + stage)
    return belief


def write(out: Path, belief: Belief) -> None:
    """Write a belief as the file that `ginrummy_agents.search.belief` reads."""
    file = BytesIO()
    np.savez_compressed(
        file,
        features=np.array(FEATURES),
        factors=belief.factors.astype(np.float32),
        deadwood=belief.deadwood.astype(np.float32),
    )
    write_whole(out, file.getvalue())
