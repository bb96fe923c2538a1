"""The experiments by name, and how to do them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ginrummy_training.experiments import deals, games, published
from ginrummy_training.experiments.lab import Lab
from ginrummy_training.experiments.rows import Measured, Printed, Row, make_row


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is measured and what it is compared with."""

    name: str
    title: str
    source: str
    """Where it was published, and under which rules."""
    unit: str
    x_name: str
    measure: Callable[[Lab, int], list[Measured]]
    printed: Sequence[Printed]
    number: int
    """Added to the lab's seed."""

    def rows(self, lab: Lab) -> list[Row]:
        """Do it, or take what is kept of it; return its lines of the table."""
        seed = lab.seed + self.number
        measured = self.measure(lab, seed)
        return rows_of(self, measured, seed, compared=not (lab.fast and self.name == "census"))


def rows_of(
    experiment: Experiment, measured: Iterable[Measured], seed: int, compared: bool = True
) -> list[Row]:
    """Return the lines of what was measured.

    Args:
        experiment: it.
        measured: its numbers.
        seed: of its games.
        compared: whether they are of what was published (a census of small hands is not).
    """
    known = {(each.series, each.x): each for each in experiment.printed} if compared else {}
    return [
        make_row(
            experiment.name,
            experiment.unit,
            experiment.x_name,
            seed,
            each,
            known.get((each.series, each.x)),
        )
        for each in measured
    ]


EXPERIMENTS = {
    each.name: each
    for each in (
        Experiment(
            "E1", "heuristic against simple", "[J] EAAI, 12,000 games", "", "", games.e1,
            published.E1, 1,
        ),
        Experiment("E2", "heuristic against gold", "[J] EAAI", "", "", games.e2, published.E2, 2),
        Experiment(
            "E3", "heuristic against lookahead", "[J] EAAI", "", "", games.e3, published.E3, 3
        ),
        Experiment(
            "E4", "ways to meld against deadwood: hein against simple", "[H] EAAI", "% of games",
            "alpha", games.e4, published.E4, 4,
        ),
        Experiment(
            "E5", "what a deal brings, by the hand at its end: simple against simple", "[T] EAAI",
            "points", "=", deals.e5, published.E5, 5,
        ),
        Experiment(
            "E6", "waiting for gin against simple", "[T] EAAI, 10,000 games", "% of games", "",
            games.e6, published.E6, 6,
        ),
        Experiment(
            "E7", "the challenge winner's discard against simple", "[M] EAAI", "% of games", "",
            games.e7, published.E7, 7,
        ),
        Experiment(
            "E8", "deadwood of dealt hands", "[S] 250,000 deals", "points", "", deals.e8,
            published.E8, 8,
        ),
        Experiment(
            "E9", "when to knock: simple with a limit against simple", "[P] EAAI and CLASSIC",
            "% of games", "k =", games.e9, published.E9, 9,
        ),
        Experiment(
            "E10", "gin only against knock at once, by the bonuses", "EAAI with other bonuses",
            "% of games", "undercut", games.e10, published.E10, 10,
        ),
        Experiment(
            "E11", "the pay for a knock that balances knocking and waiting", "[R] RLCARD",
            "pay", "", deals.e11, published.E11, 11,
        ),
        Experiment(
            "E12", "Monte Carlo search from heuristic against lookahead", "[J] EAAI",
            "% of games", "worlds", games.e12, published.E12, 12,
        ),
        Experiment(
            "census", "the deadwood of every hand of ten cards", "exact", "", "",
            deals.every_hand, published.CENSUS, 0,
        ),
    )
}  # fmt: skip


def run(lab: Lab, names: Sequence[str] = ()) -> list[Row]:
    """Do experiments one after another and return all their lines.

    Args:
        lab: how.
        names: which; all if empty.

    Raises:
        ValueError: there is no such experiment.
    """
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(
                f"unknown experiment {name!r}; the experiments are {', '.join(EXPERIMENTS)}"
            )
    rows: list[Row] = []
    for name in names or EXPERIMENTS:
        rows += EXPERIMENTS[name].rows(lab)
    return rows
