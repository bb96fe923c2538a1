"""``ginrummy match``: two agents play thousands of games."""

import argparse
import os
from pathlib import Path
from time import perf_counter

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    RULES_HELP,
    add_force,
    add_out,
    add_playing,
    add_rules,
    add_seed,
    add_trust,
    whole,
)

HELP = f"""\
Two agents play full games in pairs: both games of a pair have the same cards with the seats
swapped, so that lucky cards help both sides. The output has 95 % intervals, clustered by pair.
Games and deals are reported separately: an agent can win most deals and lose the game.

examples:
  ginrummy match simple gold
  ginrummy match simple:0 simple --rules eaai --games 20000 --seed 7
  ginrummy match lookahead simple --rules eaai --out runs/lookahead

With --out the games are saved: Ctrl-C pauses the match; run the same command to resume. A larger
--games adds games. Results of other games, of agents that have changed since, or of other rules are
not overwritten without --force. --workers, --batch and --ray change the speed only: agents, rules,
seed and its number determine a game. docs/SCALE.md explains --ray.

files in --out:
  games.npz      every game, one row per game; the match resumes from it
  games.csv      the same as text
  match.json     the summary, with rules, seed, versions and command
  records.txt    the first games, move by move, with --records N: `ginrummy replay` shows them

--record FILE also writes the first games (--records says how many, else 10), and next to each
decision what agents that report it thought of it: `ginrummy replay FILE --html PAGE.html`.
Records are of the games that count, written while they are played. Games that are in --out
already are played again for it, which must give the same: programs that draw random numbers of
their own cannot be recorded afterwards.

{AGENTS_HELP}
{RULES_HELP}"""

RECORDED = 10
"""Games that `--record` writes unless `--records` gives another number."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("agents", nargs=2, metavar="AGENT")
    add_rules(parser)
    add_seed(parser)
    add_trust(parser)
    add_out(parser, "folder for the results, and to resume from")
    add_force(parser)
    add_playing(parser, 10_000)
    parser.add_argument("--records", type=whole, default=0, metavar="N",
                        help="write the first N games, move by move, into --out")  # fmt: skip
    parser.add_argument("--record", type=Path, metavar="FILE",
                        help="write the first games with what the agents thought")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play a match."""
    from ginrummy_env.files import require_free
    from ginrummy_env.records.recorder import save
    from ginrummy_training.cli.console import interrupted, show_tables, who_plays
    from ginrummy_training.evaluation.annotated_records import record_match
    from ginrummy_training.evaluation.console_tables import match_report
    from ginrummy_training.evaluation.match import (
        match_records,
        play_match,
        require_exact,
        require_games,
    )
    from ginrummy_training.evaluation.match_result import Match, settlement_of
    from ginrummy_training.evaluation.match_summary import summarise
    from ginrummy_training.evaluation.result_files import require_match_folder, write_match
    from ginrummy_training.progress import progress_bar

    a, b = options.agents
    out: Path | None = options.out
    if options.records and out is None and options.record is None:
        raise ValueError("--records needs --out, a folder to write them into, or --record")
    require_games(options.games)
    if options.record is not None:
        require_free(options.record, options.force)
    match = Match(
        (a.strip(), b.strip()),
        options.rules,
        options.seed,
        options.max_deals,
        settlement_of(a, b),
    )
    records = options.records or (RECORDED if options.record is not None else 0)
    if records:
        require_exact(match)
    if out is not None:
        require_match_folder(out, match, options.games, force=options.force)
    start = perf_counter()
    try:
        with progress_bar("games") as progress:
            result = play_match(
                a,
                b,
                games=options.games,
                seed=options.seed,
                rules=options.rules,
                **who_plays(options),
                batch=options.batch,
                max_deals=options.max_deals,
                out=None if out is None else out / "games.npz",
                progress=progress,
                records=records,
                force=options.force,
            )
    except KeyboardInterrupt:
        return interrupted(out)
    show_tables(match_report(summarise(result)))
    print(f"{perf_counter() - start:.1f} s")
    if out is not None:
        write_match(result, out, options.records)
        print(f"written: {out}{os.sep}")
    if options.record is not None:
        plain = match_records(result, records)
        save(options.record, record_match(result.match, len(plain), records=plain))
        print(f"written: {options.record}")
    return 0
