"""``ginrummy search-gain``: what a search gains over its base policy."""

import argparse

from ginrummy_training.cli.arguments import (
    AGENTS_HELP,
    RULES_HELP,
    add_force,
    add_out,
    add_rules,
    add_seed,
    add_trust,
    whole,
)

HELP = f"""\
Measures what a search gains over its base policy, in positions of the base policy's own deals: a
cheap measure with less noise than games. Where a variant chooses another action, both actions are
continued several times from the true position. The gain in a hundred decisions is about what games
would show, because a game has some hundred decisions.

examples:
  ginrummy search-gain search:64 search:64,belief=false --out gain.json

{AGENTS_HELP}
{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="searches, such as search:64")
    parser.add_argument("--against", default="simple", metavar="AGENT",
                        help="the opponent of the base policy (simple)")  # fmt: skip
    add_rules(parser, "eaai")
    add_seed(parser)
    add_trust(parser)
    add_out(parser, "JSON file; the plot is written next to it")
    add_force(parser)
    parser.add_argument("--deals", type=whole, default=1_000, metavar="N", help="(1,000)")
    parser.add_argument("--repeats", type=whole, default=6, metavar="N",
                        help="continuations of each action (6)")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure, print and write."""
    from ginrummy_env.files import require_free
    from ginrummy_training.analysis.search_gain import measure
    from ginrummy_training.provenance import typed_command, versions
    from ginrummy_training.storage import write_json

    if options.out is not None:
        require_free(options.out, options.force)
        require_free(options.out.with_suffix(".png"), options.force)
    found = measure(
        options.agents, options.against, options.rules, options.deals, options.seed, options.repeats
    )
    print(
        f"{found['rules']}, {found['base']} against {options.against}: "
        f"{found['decisions']} decisions"
    )
    for each in found["variants"]:
        over = each["over_the_first"]
        print(
            f"{each['search']}: differs in {100 * each['left']:.1f} % of decisions\n"
            f"    gains {each['gain']:+.2f} ± {each['half']:.2f} % of games in 100 decisions; "
            f"over the first {over['gain']:+.2f} ± {over['half']:.2f}"
        )
        for kind, gain in each["kinds"].items():
            if "gain" in gain:
                print(
                    f"    {kind}: {gain['count']}, {gain['gain']:+.2f} ± {gain['half']:.2f} % each"
                )
    if options.out is not None:
        from ginrummy_training.analysis.search_figures import gain_picture

        write_json(options.out, found | {"command": typed_command(), "versions": versions()})
        gain_picture(found).save(options.out.with_suffix(".png"))
        print(f"written: {options.out}")
    return 0
