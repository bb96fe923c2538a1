"""Results as tables for the terminal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import (
    Console,
    ConsoleOptions,
    Group,
    JustifyMethod,
    RenderableType,
    RenderResult,
)
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from ginrummy_training.evaluation.game_table import SIDES
from ginrummy_training.evaluation.match_result import EXACT
from ginrummy_training.evaluation.match_summary import Summary

ENDINGS = {
    "gin": "gin",
    "big_gin": "big gin",
    "knock": "knock",
    "undercut": "undercut",
    "equal": "equal deadwood",
    "gin_answered": "gin answered by gin",
}
"""Ways to end in words; the agent is the one that laid down, or that undercut."""

RARE = ("big_gin", "equal", "gin_answered")
"""Ways that most rules do not have: shown only where they happened."""

Number = Mapping[str, float | None]


def percent(number: Number, places: int = 1) -> str:
    """Return a share with its interval.

    >>> percent({"value": 0.5, "low": 0.48, "high": 0.52})
    '50.0 % (48.0–52.0)'
    """
    value, low, high = number["value"], number["low"], number["high"]
    if value is None:
        return "–"
    if low is None or high is None:
        return f"{100 * value:.{places}f} %"
    return f"{100 * value:.{places}f} % ({100 * low:.{places}f}–{100 * high:.{places}f})"


def short_percent(number: Number) -> str:
    """Return a share in %, with half the width of its interval.

    >>> short_percent({"value": 0.5, "low": 0.48, "high": 0.52})
    '50.0 ± 2.0'
    """
    value, low, high = number["value"], number["low"], number["high"]
    if value is None:
        return "–"
    if low is None or high is None:
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} ± {50 * (high - low):.1f}"


def plain(number: Number, places: int = 2, sign: bool = False) -> str:
    """Return a mean with half the width of its interval.

    >>> plain({"value": 7.5, "low": 7.25, "high": 7.75})
    '7.50 ± 0.25'
    """
    value, high = number["value"], number["high"]
    if value is None:
        return "–"
    text = f"{value:{'+' if sign else ''}.{places}f}"
    return text if high is None else f"{text} ± {high - value:.{places}f}"


def titled_table(title: str, columns: Sequence[str]) -> tuple[Text, RichTable]:
    """Return a title, which may be wider, and an empty table: its first column holds words."""
    table = RichTable()
    for number, name in enumerate(columns):
        justify: JustifyMethod = "right" if number else "left"
        table.add_column(name, justify=justify, no_wrap=not number, overflow="fold")
    return Text(title, style="bold"), table


def match_report(summary: Summary) -> RenderableType:
    """Return the summary of a match as a table and notes."""
    a, b = summary["match"]["agents"]
    title = (
        f"{a} – {b}, {summary['rules']}: {summary['games']:,} games in pairs with the same cards, "
        f"seed {summary['match']['seed']}"
    )
    head, table = titled_table(title, ["", a, b])

    def line(name: str, values: Sequence[str]) -> None:
        table.add_row(name, *values)

    def both(key: str) -> list[Number]:
        return [summary[key][side] for side in SIDES]

    line("games won", [percent(x) for x in both("games_won")])
    line("deals won", [percent(x) for x in both("deals_won")])
    line("points per deal", [plain(x) for x in both("points_a_deal")])
    line("points per game", [plain(x) for x in both("points_a_game")])
    line("final score", [plain(x, 1) for x in both("final_score")])
    table.add_section()
    for key, words in ENDINGS.items():
        counts = [summary["endings"][key][side] for side in SIDES]
        if sum(counts) or key not in RARE:
            line(f"deals ended: {words}", [_part(count, summary["deals"]) for count in counts])
    table.add_section()
    line("first upcard taken", [percent(x) for x in both("opening_taken")])
    times = [summary["microseconds_a_decision"][side] for side in SIDES]
    line("time per decision", ["–" if x is None else f"{x:,.1f} µs" for x in times])
    return Group(head, table, Text("\n".join(_notes(summary))))


def _part(count: int, whole: int) -> str:
    return f"{100 * count / whole:.2f} %" if whole else "–"


def _notes(summary: Summary) -> list[str]:
    """Return lines about both agents together."""
    turns, deadwood = summary["turns"], summary["deadwood"]
    spread = "" if turns["sd"] is None else f" (SD {turns['sd']:.2f})"
    lines = [
        f"net points per deal {plain(summary['net_points_a_deal'], sign=True)}, "
        f"net final score {plain(summary['net_final_score'], 1, sign=True)}",
        f"deals per game {plain(summary['deals_a_game'])}; "
        f"void {_part(summary['endings']['void'], summary['deals'])} of deals; "
        f"the non-dealer wins {percent(summary['starter_won'])} of the others",
        f"knocks and gins: after {plain(turns['mean'])} turns{spread}, deadwood "
        f"{plain(deadwood['knocker'])} against {plain(deadwood['defender'])}",
        "intervals are 95 %, clustered by pair; ways to end are shares of all deals",
    ]
    if summary["match"]["settlement"] != EXACT:
        lines.append(f"deals are settled by {summary['match']['settlement']}")
    for side, agent in zip(SIDES, summary["match"]["agents"], strict=True):
        if forfeits := summary["forfeits"][side]:
            counts = ", ".join(f"{kind} {count:,}" for kind, count in forfeits.items())
            lines.insert(0, f"{agent} forfeited {sum(forfeits.values()):,} games: {counts}")
    if summary["games_without_winner"]:
        lines.insert(
            0,
            f"{summary['games_without_winner']:,} games were stopped after "
            f"{summary['match']['max_deals']:,} deals; each counts as a draw",
        )
    return lines


class CrossTable:
    """The share of games that each won of each; shortened where there is no room for all of it.

    Short, it is a cross table as chess has it: the agents numbered, shares without intervals.

    Args:
        tournament: what tournament.json holds.
    """

    def __init__(self, tournament: Mapping[str, Any]) -> None:
        ranked = sorted(tournament["agents"], key=lambda agent: -agent["rating"]["value"])
        self.names: list[str] = [agent["name"] for agent in ranked]
        self.shares: dict[tuple[str, str], Number] = {
            (pairing["agents"][me], pairing["agents"][1 - me]): pairing["games_won"]["ab"[me]]
            for pairing in tournament["pairings"]
            for me in range(2)
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the title and the table, the whole one if it fits."""
        whole = self.whole()
        if Measurement.get(console, options.update(width=10_000), whole).maximum <= (
            options.max_width
        ):
            yield Text("Games won, in %, by the agent of the row (± 95 %)", style="bold")
            yield whole
            return
        halves = [50 * (each["high"] - each["low"]) for each in self.shares.values()
                  if each["low"] is not None and each["high"] is not None]  # fmt: skip
        widest = f" (± {max(halves):.1f} or less)" if halves else ""
        yield Text(f"Games won, in %, by the agent of the row{widest}", style="bold")
        yield self.short()

    def whole(self) -> RichTable:
        """Return the table with intervals and names."""
        table = titled_table("", ["", *self.names])[1]
        for name in self.names:
            table.add_row(name, *(self._cell(name, other, short_percent) for other in self.names))
        return table

    def short(self) -> RichTable:
        """Return the table with numbers in place of names, without intervals."""
        table = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        table.add_column("", justify="right")
        table.add_column("agent", justify="left", no_wrap=True)
        for number in range(1, len(self.names) + 1):
            table.add_column(str(number), justify="right", no_wrap=True, min_width=3)
        for number, name in enumerate(self.names, 1):
            cells = (self._cell(name, other, _whole_percent) for other in self.names)
            table.add_row(str(number), name, *cells)
        return table

    def _cell(self, name: str, other: str, form: Callable[[Number], str]) -> Text:
        share = self.shares.get((name, other))
        if share is None:
            return Text("·")
        low, high = share["low"], share["high"]
        better, worse = low is not None and low > 0.5, high is not None and high < 0.5
        return Text(form(share), style="green" if better else "red" if worse else "")


def _whole_percent(number: Number) -> str:
    """Return a share in whole percent."""
    return "–" if number["value"] is None else f"{100 * number['value']:.0f}"


def cross_report(tournament: Mapping[str, Any]) -> RenderableType:
    """Return a tournament's tables: the ratings, and the share of games that each won of each."""
    names: list[str] = [agent["name"] for agent in tournament["agents"]]
    order = sorted(range(len(names)), key=lambda i: -tournament["agents"][i]["rating"]["value"])
    games, seed = tournament["games"], tournament["seed"]
    head = f"{tournament['rules']}, {games:,} games per pairing, seed {seed}"
    ratings_head, ratings = titled_table(
        f"Ratings under {head}; 400 points are odds of ten to one, {tournament['anchor']} is 0",
        ["agent", "rating", "games %", "deals %", "net per deal", "µs per decision"],
    )
    for i in order:
        agent = tournament["agents"][i]
        rating = agent["rating"]
        half = rating["high"] - rating["value"]
        time = agent["microseconds_a_decision"]
        ratings.add_row(
            agent["name"],
            f"{rating['value']:+.0f} ± {half:.0f}" if half else "0",
            short_percent(agent["games_won"]),
            short_percent(agent["deals_won"]),
            plain(agent["net_points_a_deal"], sign=True),
            "–" if time is None else f"{time:,.1f}",
        )
    worst = tournament["misfit"]
    if worst:
        first, second = worst["agents"]
        note = (
            f"The ratings do not explain everything: {first} should win "
            f"{100 * worst['expected']:.1f} % against {second}, and won "
            f"{100 * worst['played']:.1f} %; no pairing differs more."
        )
    else:
        note = "Every pairing agrees with the ratings, within its interval."
    return Group(ratings_head, ratings, Text(), CrossTable(tournament), Text(note))
