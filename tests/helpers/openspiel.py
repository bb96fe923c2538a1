"""The same deals in OpenSpiel's engine and in ours, action by action: ``python -m`` this module.

Our game is played under the preset OPENSPIEL. At each decision the legal actions are compared, at
each decision that allows a knock the cards to knock with as well, and at the end the points, where
both sides meld and lay off best: as our engine does it for them, spelled out for OpenSpiel. Every
difference is put under its cause, and each cause is checked where it is met; one that fits none
stands under "unexplained".
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import spiel_deal
from numpy.typing import NDArray
from spiel_deal import (
    SpielDeal,
    best_return,
    eleven_card_deadwood,
)
from spiel_play import CHOOSERS, Chooser, make_decks

from ginrummy_env.core.actions import (
    DRAW_STOCK,
    KNOCK,
    PASS,
    TAKE_UPCARD,
)
from ginrummy_env.core.cards import CARD_BIT, format_hand
from ginrummy_env.core.deadwood import (
    least_after_discard,
)
from ginrummy_env.core.game import new_games
from ginrummy_env.core.legal import action_masks, mover_hands
from ginrummy_env.core.rules import OPENSPIEL, Rules, as_rules
from ginrummy_env.core.settlement import lay_down
from ginrummy_env.core.state import NOBODY, Outcome, Phase
from ginrummy_env.core.step import step

ELEVEN, FIFTY, THROWN_BACK = "eleven cards", "fifty upcards", "thrown back"
UNEXPLAINED = "unexplained"
CAUSES = {
    ELEVEN: "OpenSpiel judges a knock by the melding that is best for eleven cards, and refuses it "
    "though a discard leaves few enough points",
    FIFTY: "OpenSpiel ends a deal 0:0 at the 50th upcard taken after the opening",
    THROWN_BACK: "OpenSpiel ends a deal 0:0 when both players in turn take a card and throw it "
    "straight back",
    UNEXPLAINED: "none of these",
}
"""What a difference comes from.

That OpenSpiel lets only two cards be laid off at each end of a run is no cause: a third one that
fits is the third in a row of one suit, and these three are a run of the defender's own.
"""

SMALL = {
    "openspiel-5-3-4": {"num_ranks": 5, "num_suits": 3, "hand_size": 4, "knock_limit": 3},
    "openspiel-9-3-6": {"num_ranks": 9, "num_suits": 3, "hand_size": 6, "knock_limit": 7},
    "openspiel-13-4-7": {"hand_size": 7},
}
"""Smaller games that both engines play, as settings that differ from OPENSPIEL. They are called by
ranks, suits and cards in a hand.

Four suits of fewer than 13 ranks are not among them: OpenSpiel 2.0.2 offers to lay down a set
without its first suit there, and fails when that is done (the last card of the set is not in the
deck, see ``GinRummyUtils(7, 4, 6).int_to_meld[0]``).
"""

DEALS_A_BATCH = 500
"""Deals that are played at once; with the seed, the first deal of a batch decides its play."""
TRIED_EVERY = 10
"""One knock out of so many is defended in every way that OpenSpiel allows, to find the best."""
MOST_EXAMPLES = 3
_MOST_UPCARDS = 50


@dataclass(slots=True)
class Report:
    """What a comparison has found."""

    deals: int = 0
    decisions: int = 0
    """At each, all legal actions were compared."""
    knocks: int = 0
    """At each, OpenSpiel's points were compared with ours."""
    endings: Counter[str] = field(default_factory=Counter)
    """Deals by how they ended in our engine; "left" where OpenSpiel's had ended before, or where
    the two had come apart."""
    differences: Counter[str] = field(default_factory=Counter)
    """By cause, see `CAUSES`."""
    tried: int = 0
    """Of these, how often no defence that OpenSpiel allows was found to be better than ours."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """The first few of each cause, in words."""

    def differs(self, cause: str, example: str) -> None:
        """Count a difference."""
        self.differences[cause] += 1
        shown = self.examples.setdefault(cause, [])
        if len(shown) < MOST_EXAMPLES:
            shown.append(example)

    def add(self, other: "Report") -> None:
        """Count in what another comparison has found."""
        self.deals += other.deals
        self.decisions += other.decisions
        self.knocks += other.knocks
        self.tried += other.tried
        self.endings += other.endings
        self.differences += other.differences
        for cause, shown in other.examples.items():
            mine = self.examples.setdefault(cause, [])
            mine += shown[: MOST_EXAMPLES - len(mine)]


class Comparison:
    """A batch of deals that are played in both engines."""

    def __init__(
        self,
        seed: int,
        first: int,
        count: int,
        choose: Chooser,
        dense: float,
        rules: Rules | None = None,
    ) -> None:
        """Deal deals ``first`` to ``first + count - 1`` of a seed."""
        self.rules = OPENSPIEL if rules is None else rules
        games = np.arange(first, first + count, dtype=np.uint64)
        cards = make_decks(seed, games, dense, self.rules)
        # Seat 0 opens in OpenSpiel, so player 1 deals.
        dealers = np.ones(count, dtype=np.int8)
        self.state = new_games(seed, games, self.rules, dealers=dealers, decks=cards)
        dealt, in_hands = cards.tolist(), 2 * self.rules.hand_size
        self.spiel = [
            SpielDeal(deck[0:in_hands:2], deck[1:in_hands:2], deck[in_hands:], self.rules)
            for deck in dealt
        ]
        self.report = Report(deals=count)
        self._choose = choose
        self._rng = np.random.default_rng([seed, first])
        # Rows in which the engines have come apart: nothing more is compared there.
        self._lost: set[int] = set()

    def run(self) -> Report:
        """Play all deals to their ends and return what was found."""
        while len(self.state):
            masks = action_masks(self.state, self.rules)
            for row in range(len(self.state)):
                self._compare_legal(row, masks[row])
            uniforms = self._rng.random((len(self.state), 4))
            actions = self._choose(self.state, masks, uniforms)
            phases = self.state.phase.tolist()
            for row, action in enumerate(actions.tolist()):
                if row not in self._lost:
                    self._apply(row, action, phases[row])
            step(self.state, actions, self.rules)
            self._drop_ended()
        return self.report

    def _where(self, row: int) -> str:
        state = self.state
        hand = format_hand(mover_hands(state)[row])
        return f"deal {state.game_number[row]}, step {state.step_count[row]}, hand {hand}"

    def _compare_legal(self, row: int, mask: NDArray[np.bool_]) -> None:
        """Compare the legal actions; where OpenSpiel refuses a knock, take it from ``mask``."""
        self.report.decisions += 1
        state, spiel = self.state, self.spiel[row]
        theirs, phase = spiel.legal(), state.phase.item(row)
        knocks = spiel.cards(np.flatnonzero(mask[KNOCK:DRAW_STOCK]).tolist())
        if phase == Phase.DISCARD and not mask[:KNOCK].any():
            # The upcard was taken at the wall, which in OpenSpiel was the knock.
            if theirs != knocks:
                self._unexplained(row, f"cards to knock with {knocks} against {theirs}")
            return
        ours = _expected(spiel, phase, mask)
        if ours == theirs:
            if knocks and spiel.knock_discards() != knocks:
                self._unexplained(row, f"cards to knock with {knocks} against OpenSpiel's")
        elif ours == sorted([*theirs, spiel_deal.KNOCK]) and self._refused(row, phase):
            self.report.differs(ELEVEN, self._where(row))
            mask[KNOCK:DRAW_STOCK] = False
            if phase == Phase.WALL:
                mask[TAKE_UPCARD] = False
        else:
            self._unexplained(row, f"legal {ours} against {theirs}")

    def _refused(self, row: int, phase: int) -> bool:
        """Return whether eleven cards explain that OpenSpiel refuses a knock."""
        state = self.state
        hand = mover_hands(state)[[row]]
        if phase == Phase.WALL:
            hand = hand | CARD_BIT[state.upcard[[row]]]
        limit = state.knock_limit.item(row)
        return (
            least_after_discard(hand).item()
            <= limit
            < eleven_card_deadwood(hand.item(), self.rules)
        )

    def _unexplained(self, row: int, what: str) -> None:
        self._lost.add(row)
        self.report.differs(UNEXPLAINED, f"{self._where(row)}: {what}")

    def _apply(self, row: int, action: int, phase: int) -> None:
        """Take our action in OpenSpiel's engine."""
        spiel = self.spiel[row]
        if action < KNOCK:
            spiel.apply(*spiel.cards([action]))
        elif action < DRAW_STOCK:
            at_wall = spiel_deal.KNOCK not in spiel.legal()
            if not at_wall:
                spiel.apply(spiel_deal.KNOCK)
            spiel.apply(*spiel.cards([action - KNOCK]))
        elif action == TAKE_UPCARD:
            at_wall = phase == Phase.WALL
            spiel.apply(spiel_deal.KNOCK if at_wall else spiel_deal.DRAW_UPCARD)
        else:
            spiel.apply(spiel_deal.PASS if action == PASS else spiel_deal.DRAW_STOCK)

    def _drop_ended(self) -> None:
        """Settle the deals that are over in either engine, and drop them."""
        state = self.state
        knocked = np.flatnonzero(state.knocker != NOBODY)
        knocked = knocked[~np.isin(knocked, list(self._lost))]
        if knocked.size:
            self._lay_down(knocked)
        over = state.over
        for row in range(len(state)):
            if row in self._lost:
                self.report.endings["left"] += 1
                over[row] = True
            elif over[row]:
                self.report.endings[Outcome(state.outcome.item(row)).name.lower()] += 1
                self._compare_points(row)
            elif self.spiel[row].over:
                self.report.endings["left"] += 1
                self.report.differs(self._early_end(row), self._where(row))
                over[row] = True
        if over.any():
            kept = np.flatnonzero(~over)
            self.state = state.select(kept)
            self.spiel = [self.spiel[row] for row in kept]
            self._lost.clear()

    def _early_end(self, row: int) -> str:
        """Return why OpenSpiel has ended a deal that goes on in ours."""
        state = self.state
        history = state.history[row, : state.step_count[row]].tolist()
        # A taking of the opening is the first action or the second.
        opening = history[:1] == [TAKE_UPCARD] or history[:2] == [PASS, TAKE_UPCARD]
        if history[-1] == TAKE_UPCARD and history.count(TAKE_UPCARD) - opening == _MOST_UPCARDS:
            return FIFTY
        if history[-4::2] == [TAKE_UPCARD] * 2 and history[-1] == history[-3] < KNOCK:
            return THROWN_BACK
        return UNEXPLAINED

    def _lay_down(self, rows: NDArray[np.intp]) -> None:
        """Meld and lay off in OpenSpiel as our engine has done it."""
        some = self.state.select(rows)
        laid = lay_down(some.hands, some.knocker, some.discards, self.rules)
        for place, row in enumerate(rows.tolist()):
            spiel = self.spiel[row]
            self.report.knocks += 1
            refused = spiel.lay_melds(laid.knocker_melds[place].tolist())
            if refused is not None:
                self._unexplained(row, f"OpenSpiel refuses the knocker's action {refused}")
                continue
            defending = spiel.state.clone()
            if some.knocker_deadwood[place] > 0:
                layoffs = int(np.bitwise_or.reduce(laid.defence.layoffs[place]))
                if spiel.lay_off(layoffs):
                    self._unexplained(row, f"OpenSpiel refuses lay-offs of {format_hand(layoffs)}")
                    continue
            refused = spiel.lay_melds(laid.defence.melds[place].tolist())
            if refused is not None:
                self._unexplained(row, f"OpenSpiel refuses the defender's action {refused}")
            elif self.report.knocks % TRIED_EVERY == 0:
                self.report.tried += 1
                seat = 1 - some.knocker.item(place)
                best = best_return(defending, seat)
                if best != self._points(row)[seat]:
                    self._unexplained(row, f"a defence in OpenSpiel brings {best}")

    def _points(self, row: int) -> list[int]:
        winner, points = self.state.winner.item(row), self.state.points.item(row)
        return (
            [0, 0] if winner == NOBODY else [points, -points] if winner == 0 else [-points, points]
        )

    def _compare_points(self, row: int) -> None:
        spiel = self.spiel[row]
        if spiel.over:
            if spiel.returns() != self._points(row):
                points = f"points {self._points(row)} against {spiel.returns()}"
                self._unexplained(row, points)
        elif self.state.knocker[row] == NOBODY:
            self._unexplained(row, "over in our engine, not in OpenSpiel's")


def _expected(spiel: SpielDeal, phase: int, mask: NDArray[np.bool_]) -> list[int]:
    """Return our legal actions in OpenSpiel's numbers, ascending."""
    discards = spiel.cards(np.flatnonzero(mask[:KNOCK]).tolist())
    knocks = bool(mask[KNOCK:DRAW_STOCK].any())
    if phase == Phase.WALL and mask[TAKE_UPCARD]:
        knocks = True
    flags = {
        spiel_deal.DRAW_UPCARD: mask[TAKE_UPCARD] and phase != Phase.WALL,
        spiel_deal.DRAW_STOCK: mask[DRAW_STOCK],
        spiel_deal.PASS: mask[PASS],
        spiel_deal.KNOCK: knocks,
    }
    return sorted([*discards, *(action for action, legal in flags.items() if legal)])


def compare(
    deals: int,
    seed: int = 0,
    *,
    policy: str = "mixed",
    dense: float = 0.2,
    first: int = 0,
    rules: Rules | None = None,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Play deals in both engines and return what was found.

    Args:
        deals: how many.
        seed: of the decks and the play.
        policy: a name of `CHOOSERS`.
        dense: share of decks that are full of melds, 0 to 1.
        first: number of the first deal; a run can be cut into pieces at multiples of
            `DEALS_A_BATCH` without changing what is played.
        rules: OPENSPIEL, or with another deck, hand size and knock limit.
        progress: called with the number of deals done after each batch.

    Raises:
        ImportError: OpenSpiel is missing; names the extra that brings it.
        ValueError: an unknown policy, or a number out of its range.
    """
    if policy not in CHOOSERS:
        raise ValueError(f"policy={policy!r}: one of {', '.join(CHOOSERS)} is needed")
    if not 0 <= dense <= 1:
        raise ValueError(f"dense={dense}: a number from 0 to 1 is needed")
    if deals < 0 or first < 0 or seed < 0:
        raise ValueError("deals, first and seed are whole numbers from 0")
    report = Report()
    for start in range(first, first + deals, DEALS_A_BATCH):
        count = min(DEALS_A_BATCH, first + deals - start)
        report.add(Comparison(seed, start, count, CHOOSERS[policy], dense, rules).run())
        if progress is not None:
            progress(report.deals)
    return report


def report_text(report: Report, examples: bool = True) -> str:
    """Return the tables that the command prints."""
    lines = [
        f"{report.deals:>12,} deals",
        f"{report.decisions:>12,} decisions: all legal actions compared",
        f"{report.knocks:>12,} knocks and gins: points compared",
        f"{report.tried:>12,} of these defended in every way: none better than ours",
        "",
        "how they ended here ('left': OpenSpiel had ended before)",
        *(f"{count:>12,} {name}" for name, count in report.endings.most_common()),
        "",
        "differences by cause",
    ]
    for cause, meaning in CAUSES.items():
        lines.append(f"{report.differences[cause]:>12,} {cause}: {meaning}")
        if examples:
            lines += [f"{'':>13}  {example}" for example in report.examples.get(cause, ())]
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python tests/helpers/openspiel.py",
        description="Play the same deals in OpenSpiel's engine and in ours (preset openspiel), "
        "compare all legal actions and points, and report every difference with its cause.",
        epilog="Exit code 1 if a difference is unexplained. Needs the extra 'bench'.",
    )
    made.add_argument("--deals", type=int, default=1000, help="how many (1000)")
    made.add_argument("--seed", type=int, default=0, help="of decks and play (0)")
    made.add_argument("--policy", choices=list(CHOOSERS), default="mixed", help="(mixed)")
    made.add_argument(
        "--dense", type=float, default=0.2, help="share of decks full of melds, 0 to 1 (0.2)"
    )
    made.add_argument(
        "--rules", default="openspiel", metavar="RULES",
        help="the preset, or with other sizes: openspiel,num_ranks=5,num_suits=3,hand_size=4",
    )  # fmt: skip
    made.add_argument("--no-examples", action="store_true", help="print the counts alone")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    made = parser()
    options = made.parse_args(arguments)

    def progress(done: int) -> None:
        if sys.stderr.isatty():
            print(
                f"\r\x1b[K{done:,} / {options.deals:,} deals", end="", file=sys.stderr, flush=True
            )

    began = time.perf_counter()
    try:
        report = compare(
            options.deals,
            options.seed,
            policy=options.policy,
            dense=options.dense,
            rules=None if options.rules == "openspiel" else as_rules(options.rules),
            progress=progress,
        )
    except (ImportError, ValueError) as error:
        made.error(str(error))
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    print(report_text(report, examples=not options.no_examples))
    print(f"{time.perf_counter() - began:>12.1f} seconds")
    return 1 if report.differences[UNEXPLAINED] else 0


if __name__ == "__main__":
    raise SystemExit(main())
