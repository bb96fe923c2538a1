"""``ginrummy bench``: the checkout's benchmarks, or a small measurement of an installation."""

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ginrummy_training.cli.arguments import RULES_HELP, add_force, add_out, add_rules, add_seed

if TYPE_CHECKING:
    from ginrummy_training.evaluation.match_result import MatchResult

HELP = f"""\
In a checkout of the project, runs its benchmarks, which compare with other libraries. Elsewhere,
measures how many games per second this installation plays.

examples:
  ginrummy bench --quick                       a short look
  ginrummy bench --only core
  ginrummy bench --list                        names for --only
  ginrummy bench --only 'random/*,deadwood/*' --out bench.json

{RULES_HELP}"""

ROOT = Path(__file__).parents[4]
"""The checkout, if this is one."""


FLAGS = ("quick", "list", "goals", "force")
"""Options that are passed on to the checkout's benchmarks."""


ROUNDS = (("simple", 4_000, 1_000), ("random", 2, 1_000))
"""Agents that play themselves where there is no checkout: games, and deals of a game at most."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--quick", action="store_true", help="a short look: few and short rounds")
    parser.add_argument("--only", metavar="NAMES", help="some of the checkout's benchmarks")
    parser.add_argument("--list", action="store_true", help="list the checkout's benchmarks")
    add_rules(parser, "eaai")
    add_seed(parser)
    parser.add_argument("--goals", action="store_true",
                        help="show the goals of the checkout's benchmarks")  # fmt: skip
    add_out(parser, "file for the results, JSON")
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the checkout's benchmarks, or measure a little."""
    from ginrummy_env.files import require_free

    if options.out is not None:
        require_free(options.out, options.force)
    if (ROOT / "benchmarks" / "__main__.py").exists():
        command = [sys.executable, "-m", "benchmarks", "--seed", str(options.seed)]
        command += [f"--{name}" for name in FLAGS if getattr(options, name)]
        command += ["--only", options.only] if options.only else []
        command += ["--out", str(options.out.resolve())] if options.out else []
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    if options.only or options.list:
        raise ValueError("--only and --list: the benchmarks are in a checkout of the project")
    from ginrummy_env.core.rules import rules_name
    from ginrummy_training.evaluation.match import play_match
    from ginrummy_training.provenance import versions
    from ginrummy_training.storage import write_json

    lines = {}
    # Random games hardly end: in a short look they are cut off.
    rounds = (("simple", 400, 1_000), ("random", 2, 20)) if options.quick else ROUNDS
    for name, games, deals in rounds:
        start = perf_counter()
        result = play_match(
            name, name, games=games, seed=options.seed, rules=options.rules, max_deals=deals
        )
        lines[name] = speeds(result, perf_counter() - start)
        each = lines[name]
        print(
            f"{name} – {name}, {rules_name(options.rules)}: {each['games_a_second']:,.0f} games, "
            f"{each['decisions_a_second']:,.0f} decisions a second"
        )
    if options.out is not None:
        write_json(options.out, {"speeds": lines, "versions": versions(), "seed": options.seed})
    return 0


def speeds(result: "MatchResult", seconds: float) -> dict[str, float]:
    """Return games and decisions a second."""
    steps = int(result.table["steps"].sum(dtype="int64"))
    return {"games_a_second": len(result.table) / seconds, "decisions_a_second": steps / seconds}
