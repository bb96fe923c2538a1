"""``ginrummy fit``: the data files that agents use."""

import argparse
from pathlib import Path

from ginrummy_training.cli.arguments import Parser, add_force, add_seed, whole

HELP = """\
Fits the data files that agents use, and checks them.

  ginrummy fit champion --rules eaai       weights of `champion`: champion.json
  ginrummy fit belief                      what play says about the opponent's hand: belief.npz
  ginrummy fit belief-check --out FOLDER   how good the shipped belief is, on other deals
  ginrummy fit deal-points                 how many points deals are worth: winchance.npz

examples:
  ginrummy fit champion --rules classic --rounds 2 --out mine.json
  ginrummy fit belief --force
  ginrummy fit belief-check --out runs/belief
  ginrummy fit WHAT --help                 more about one of them

Without --out the shipped file in agents/ginrummy_agents/data is replaced, which needs --force.
"""

RULES = ("eaai", "classic")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands."""
    parser.set_defaults(run=overview, print_help=parser.print_help)
    kinds = parser.add_subparsers(metavar="WHAT", parser_class=Parser)

    champion = kinds.add_parser(
        "champion",
        description="Fits the weights of `champion` for one preset to the results of deals in "
        "which a share\nof the choices was random, on decks of no match. A few minutes.",
    )
    champion.add_argument("--rules", choices=RULES, required=True, help="which set of weights")
    champion.add_argument("--opponents", nargs="+", metavar="AGENT", default=["simple"] * 3,
                          help="each plays --games a round; self: the agent of the round before "
                          "(simple simple simple)")  # fmt: skip
    champion.add_argument("--rounds", type=whole, default=4, metavar="N", help="(4)")
    champion.add_argument("--games", type=whole, default=3_000, metavar="N",
                          help="games of each opponent and round (3,000)")  # fmt: skip
    add_seed(champion, 1)
    champion.set_defaults(run=fit_champion)

    belief = kinds.add_parser(
        "belief", description="Fits what the opponent's play says about their hand."
    )
    belief.add_argument("--positions", type=whole, default=2_500, metavar="N",
                        help="at most, of each stage (2,500)")  # fmt: skip
    belief.add_argument("--rounds", type=whole, default=40, metavar="N", help="(40)")
    belief.set_defaults(run=fit_belief)

    check = kinds.add_parser(
        "belief-check",
        description="Checks the shipped belief on deals that it was not fitted to, and writes "
        "belief.csv,\nbelief.json and belief.png.",
    )
    check.set_defaults(run=check_belief)
    for each, deals, seed in ((belief, 400, 97), (check, 100, 10_097)):
        each.add_argument("--deals", type=whole, default=deals, metavar="N",
                          help=f"of each pairing ({deals})")  # fmt: skip
        each.add_argument("--rules", nargs="+", choices=RULES, default=list(RULES),
                          help="(eaai classic)")  # fmt: skip
        add_seed(each, seed)

    points = kinds.add_parser(
        "deal-points",
        description="Plays deals and counts their points, for the chance of winning a game.",
    )
    points.add_argument("--deals", type=whole, default=10_000, metavar="N",
                        help="of each preset (10,000)")  # fmt: skip
    add_seed(points, 411)
    points.set_defaults(run=fit_deal_points)
    for each in (champion, belief, points):
        each.add_argument("--out", type=Path, metavar="FILE", help="instead of the shipped file")
    check.add_argument("--out", type=Path, metavar="FOLDER", required=True,
                       help="for the results")  # fmt: skip
    for each in (champion, belief, check, points):
        add_force(each)


def overview(options: argparse.Namespace) -> int:
    """Print the help: what is to be fitted was not named."""
    options.print_help()
    return 0


def data_file(options: argparse.Namespace, name: str) -> Path:
    """Return the file to write, ``--out`` or the one that ships, if it may be written."""
    import ginrummy_agents
    from ginrummy_env.files import require_free

    out: Path = options.out or Path(ginrummy_agents.__path__[0]) / "data" / name
    require_free(out, options.force)
    return out


def fit_champion(options: argparse.Namespace) -> int:
    """Fit and write one set of weights."""
    from ginrummy_training.fitting.champion import Settings, tune, write

    settings = Settings(
        rules=options.rules,
        opponents=tuple(options.opponents),
        rounds=options.rounds,
        games=options.games,
        seed=options.seed,
    )
    out = data_file(options, "champion.json")
    write(out, settings, tune(settings))
    print(f"written: {out}")
    return 0


def fit_belief(options: argparse.Namespace) -> int:
    """Fit and write the belief."""
    from ginrummy_agents.search.belief import BELIEF
    from ginrummy_training.fitting.belief import fit, write

    out = data_file(options, BELIEF)
    write(out, fit(options.rules, options.deals, options.positions, options.rounds, options.seed))
    print(f"written: {out}")
    return 0


def check_belief(options: argparse.Namespace) -> int:
    """Check the shipped belief."""
    from ginrummy_env.files import require_free
    from ginrummy_training.fitting.belief_check import check

    require_free(options.out / "belief.json", options.force)
    check(options.rules, max(options.deals, 1), options.seed, options.out)
    print(f"written: {options.out}/")
    return 0


def fit_deal_points(options: argparse.Namespace) -> int:
    """Play the deals and write their points."""
    from ginrummy_agents.win_chance import DEAL_POINTS
    from ginrummy_training.fitting.deal_points import fit

    out = data_file(options, DEAL_POINTS)
    fit(out, options.deals, options.seed)
    print(f"written: {out}")
    return 0
