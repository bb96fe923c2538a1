"""Ladders: saved tournaments that accept new entries, and their page.

A ladder is a folder that `ginrummy tournament --out` has written. An entry has a name, and plays
the pairings that are missing under the ladder's rules, seed and number of games.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ginrummy_env.core.rules import Rules
from ginrummy_env.policy import make_policy
from ginrummy_env.records.data import MAX_NAME
from ginrummy_training.evaluation.result_files import TOURNAMENT, require_tournament_folder
from ginrummy_training.storage import ResultError, read_json


@dataclass(frozen=True, slots=True)
class Ladder:
    """What a ladder plays."""

    folder: Path
    agents: dict[str, str]
    """The text form of each entry, by name."""
    rules: Rules
    seed: int
    games: int
    """Of each pairing."""
    max_deals: int
    made_by: bool
    """Whether it says which code and agents played it."""

    @classmethod
    def of(cls, folder: Path) -> "Ladder":
        """Return the ladder in a folder.

        Raises:
            ResultError: there is none, or it is corrupt.
        """
        path = folder / TOURNAMENT
        if not path.exists():
            raise ResultError(
                f"{folder} is not a ladder: {TOURNAMENT} is missing; "
                f"`ginrummy tournament AGENT ... --out {folder}` begins one"
            )
        stored = read_json(path)
        try:
            return cls(
                folder,
                {each["name"]: each.get("agent", each["name"]) for each in stored["agents"]},
                Rules.from_dict(stored["settings"]),
                stored["seed"],
                stored["games"],
                stored.get("max_deals", 1000),
                "made_by" in stored,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ResultError(f"{path}: corrupt ({type(error).__name__}: {error})") from error

    def adding(self, name: str, agent: str, force: bool = False) -> dict[str, str]:
        """Return all entries with a new one, by name.

        Adding an entry again, as after an interruption, is adding it once.

        Args:
            name: of the entry.
            agent: its text form.
            force: whether all may be played again where code or agents have changed since.

        Raises:
            ValueError: the name is taken or invalid, or there is no such agent.
            ResultError: the ladder's code or agents have changed since it was played.
        """
        if not name.strip() or name != name.strip() or not name.isprintable():
            raise ValueError(f"name={name!r}: a name without spaces around it is needed")
        if len(name) > MAX_NAME:
            raise ValueError(f"name={name[:40]!r}...: at most {MAX_NAME} characters")
        if self.agents.get(name, agent) != agent:
            raise ValueError(f"{self.folder} has another {name}: {self.agents[name]}")
        make_policy(agent)
        if not (self.made_by or force):
            raise ResultError(
                f"{self.folder} does not say which code and agents played it, so nothing can be "
                "added to it; --force plays all of it again"
            )
        entries = {**self.agents, name: agent}
        require_tournament_folder(
            self.folder, entries, self.rules, self.seed, self.max_deals, self.games, force
        )
        return entries


Published = Mapping[str, tuple[str, str]]

PUBLISHED: dict[str, Published] = {
    "eaai": {
        "gold": ("46.6 ± 0.4", "independent simulator"),
        "simple:0": ("67.6 ± 0.3", "independent simulator"),
        "heuristic": ("59.8 ± 0.8", "J"),
        "hein": ("61", "H; independent simulator 57.3 ± 0.5"),
        "lookahead": ("76.6 ± 0.6", "M, independent simulator"),
    },
    "classic": {
        "gold": ("46.2", "independent simulator"),
        "simple:0": ("39.3", "independent simulator"),
        "hein": ("57.9", "independent simulator"),
        "lookahead": ("60.2 ± 1.1", "M, independent simulator"),
        "lookahead:7": ("64.1 ± 1.1", "independent simulator"),
    },
}
"""Shares of games won against `simple` that others have published or measured, in %, and where."""

ELSEWHERE = (
    ("Monte Carlo with 64, 128, 256 sampled worlds", "65.4, 69.2, 73.1", "J"),
    ("a convolutional network, supervised", "55.4", "T"),
    ("a random forest, supervised", "61", "H"),
    ("a network that knocks, supervised", "62", "G"),
)
"""Published players that have no entry: share of games won against `simple` under EAAI, in %."""

_HEAD = """\
# The ladder

Everyone plays everyone, on the same decks with the seats swapped. Ratings are Bradley-Terry ratings
on Elo's scale, `simple` being 0; intervals are 95 %, clustered by pair of decks. This page is made
from the results by `ginrummy ladder page {folders} --out docs/LADDER.md`.

To add an entry, any [program or policy](ARENA.md):

    ginrummy ladder add mybot "exec:./mybot --fast" --ladder {first}

It plays the pairings that are missing, updates tables and plots in the folder, and refuses if code
or agents have changed since the ladder was played. Ctrl-C pauses; the same command resumes. Games
are not kept in the repository: pairings whose games are missing are played again first, which gives
the same games.

Strength is not one-dimensional: an agent may beat another by more than their ratings suggest. The
cross tables show it.
"""


def ladder_page(ladders: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the page of some ladders as Markdown.

    Args:
        ladders: where each is, as links have it, and what its tournament.json holds.
    """
    folders = [folder for folder, _ in ladders]
    parts = [_HEAD.format(folders=" ".join(folders), first=folders[0])]
    parts += [_section(folder, summary) for folder, summary in ladders]
    rows = "\n".join(f"| {what} | {share} | {key} |" for what, share, key in ELSEWHERE)
    parts.append(
        "## Published players without an entry\n\nAgainst `simple` under EAAI; keys are those of "
        f"[the references](REFERENCES.md).\n\n| player | games won, % | source |\n|---|---|---|\n"
        f"{rows}\n\nThe independent simulator was written by others and lays off greedily, as the "
        "challenge does.\n"
    )
    return "\n".join(parts)


def _section(folder: str, summary: Mapping[str, Any]) -> str:
    rules = summary["rules"]
    published = PUBLISHED.get(rules, {})
    agents = sorted(summary["agents"], key=lambda agent: -agent["rating"]["value"])
    shares = _against(summary, summary["anchor"])
    lines = [
        f"## {rules.upper()}",
        "",
        f"{summary['games']:,} games a pairing, seed {summary['seed']}: `{summary['command']}`",
        "",
        f"| | agent | rating | games won, % | against `{summary['anchor']}`, % | published, % "
        "| source | µs a decision |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for place, agent in enumerate(agents, start=1):
        name = agent["name"]
        rate, source = published.get(name, ("", ""))
        rating = agent["rating"]
        half = (rating["high"] - rating["low"]) / 2
        shown = f"`{name}`" + (f" (`{agent['agent']}`)" if "agent" in agent else "")
        settled = _settlement(summary, name)
        time = agent["microseconds_a_decision"]
        lines.append(
            f"| {place} | {shown}{settled} | {rating['value']:.0f} ± {half:.0f} "
            f"| {100 * agent['games_won']['value']:.1f} | {shares.get(name, '')} | {rate} "
            f"| {source} | {'' if time is None else f'{time:.0f}'} |"
        )
    where = f"Cross table, plots and all numbers: [{folder}](../{folder})."
    return "\n".join([*lines, "", where, ""])


def _against(summary: Mapping[str, Any], anchor: str) -> dict[str, str]:
    """Return each agent's share of games won against one of them, in %, with its interval."""
    found = {}
    for pairing in summary["pairings"]:
        for name, other, side in zip(pairing["agents"], pairing["agents"][::-1], "ab", strict=True):
            if other == anchor:
                won = pairing["games_won"][side]
                half = 50 * (won["high"] - won["low"])
                found[name] = f"{100 * won['value']:.1f} ± {half:.1f}"
    return found


def _settlement(summary: Mapping[str, Any], name: str) -> str:
    """Return a note where an entry's deals are not settled by the rules, in all its pairings."""
    kinds = {
        pairing["match"].get("settlement", "exact")
        for pairing in summary["pairings"]
        if name in pairing["agents"]
    }
    return "" if "exact" in kinds else f", settled by {kinds.pop()}"
