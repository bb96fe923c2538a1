"""A line of the table: what was printed, what came out here, and whether the two agree."""

from dataclasses import asdict, dataclass
from math import hypot, sqrt
from typing import Any, Literal

from ginrummy_training.statistics import Estimate

Kind = Literal["interval", "exact", "games", "rounding", "assumed"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A published number, and how sure it is."""

    value: float
    half: float = 0.0
    """Half the width of its interval; of ``games`` it follows from ours (see `half_beside`)."""
    kind: Kind = "interval"
    """Where ``half`` comes from: printed with it; exact; not printed, but the number of games is;
    not printed, so only how many digits are; or assumed, for a reason given with it."""
    games: int = 0

    def half_beside(self, ours: Estimate, games: int) -> float:
        """Return half the width of its interval.

        Where only the number of games was printed, the number of our games stands in for it.
        """
        if self.kind == "games":
            return (ours.high - ours.low) / 2 * sqrt(games / self.games)
        return self.half


@dataclass(frozen=True, slots=True)
class Printed:
    """What was published of one number: in print, and by an independent program."""

    series: str
    x: float | None = None
    published: Reference | None = None
    check: Reference | None = None
    why: str = ""
    """Why ours differs, if it does."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One number that an experiment gave. With ``x`` it is a point of a series."""

    series: str
    x: float | None
    value: float
    low: float
    high: float
    games: int
    """Games, deals or hands that it comes from."""

    @classmethod
    def of(cls, series: str, x: float | None, estimate: Estimate, games: int) -> "Measured":
        """Return an estimate as a measured number."""
        return cls(series, x, estimate.value, estimate.low, estimate.high, games)

    @property
    def estimate(self) -> Estimate:
        """The number with its interval."""
        return Estimate(self.value, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether two numbers agree."""

    word: Literal["reproduced", "differs"]
    difference: float
    """Ours less theirs."""
    half: float
    """Half the width of the difference's interval."""


def verdict(ours: Estimate, reference: Reference, games: int = 0) -> Verdict:
    """Return whether our number agrees with a published one.

    It does if the interval of the difference holds 0: half its width is the root of the sum of both
    half widths squared, as the two were measured independently.

    Args:
        ours: with its interval.
        reference: the published number.
        games: how many ours comes from.

    >>> verdict(Estimate(60.1, 59.5, 60.7), Reference(59.8, 0.8)).word
    'reproduced'
    >>> verdict(Estimate(26.9, 26.3, 27.5), Reference(29.2, 0.8)).word
    'differs'
    """
    half = hypot((ours.high - ours.low) / 2, reference.half_beside(ours, games))
    difference = ours.value - reference.value
    # What was rounded to be printed may lie off by the last bit of a floating-point number.
    agrees = abs(difference) <= half * (1 + 1e-9) + 1e-12
    return Verdict("reproduced" if agrees else "differs", difference, half)


NOT_EXPLAINED = "not explained"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table. Numbers that there are not are None, words empty."""

    experiment: str
    what: str
    series: str
    x: float | None
    unit: str
    published: float | None
    published_half: float | None
    published_kind: str
    """Where ``published_half`` comes from; see `Reference.kind`."""
    check: float | None
    check_half: float | None
    check_kind: str
    ours: float
    low: float
    high: float
    games: int
    seed: int
    against: str
    """What the verdict is about: print, or where there is none the independent check."""
    verdict: str
    difference: float | None
    difference_half: float | None
    check_verdict: str
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Return the columns."""
        return asdict(self)


def make_row(
    experiment: str, unit: str, x_name: str, seed: int, measured: Measured, printed: Printed | None
) -> Row:
    """Return the line of one number.

    Args:
        experiment: its name, such as E4.
        unit: of the number.
        x_name: of what a series runs over.
        seed: of the games.
        measured: ours.
        printed: what there is to compare it with, if anything.
    """
    found = printed or Printed(measured.series, measured.x)
    ours, games = measured.estimate, measured.games
    verdicts = {
        name: verdict(ours, reference, games)
        for name, reference in (("print", found.published), ("check", found.check))
        if reference is not None
    }
    against = next(iter(verdicts), "")
    first = verdicts.get(against)
    halves = [
        None if reference is None else reference.half_beside(ours, games)
        for reference in (found.published, found.check)
    ]
    differs = any(each.word == "differs" for each in verdicts.values())
    what = measured.series
    if measured.x is not None:
        point = f"{x_name} {measured.x:g}".strip()
        what = f"{what}, {point}" if what and x_name else f"{what} {point}".strip()
    return Row(
        experiment=experiment,
        what=what,
        series=measured.series,
        x=measured.x,
        unit=unit,
        published=None if found.published is None else found.published.value,
        published_half=halves[0],
        published_kind="" if found.published is None else found.published.kind,
        check=None if found.check is None else found.check.value,
        check_half=halves[1],
        check_kind="" if found.check is None else found.check.kind,
        ours=ours.value,
        low=ours.low,
        high=ours.high,
        games=games,
        seed=seed,
        against=against,
        verdict=first.word if first else "",
        difference=first.difference if first else None,
        difference_half=first.half if first else None,
        check_verdict=verdicts["check"].word if "check" in verdicts else "",
        note=(found.why or NOT_EXPLAINED) if differs else "",
    )
