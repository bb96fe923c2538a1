"""``ginrummy agents``: lists the agents."""

import argparse

from ginrummy_training.cli.arguments import AGENTS_HELP

HELP = f"""\
Lists the agents of this project and of other installed packages, with their parameters.

examples:
  ginrummy agents

{AGENTS_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command: none."""
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the agents."""
    from importlib.metadata import entry_points

    from ginrummy_env.policy import ENTRY_POINTS

    makers = {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}
    width = max(map(len, makers), default=0)
    for name, maker in makers.items():
        about = getattr(maker, "about", None) or (maker.__doc__ or "").strip().partition("\n")[0]
        print(f"{name:<{width}}  {about}")
        for parameter in getattr(maker, "parameters", ()):
            value = parameter.default if parameter.default != "" else parameter.name.upper()
            main = f", or {name}:{value}" if parameter.name == maker.main else ""
            print(f"{'':<{width}}    {parameter.name}={parameter.default}: {parameter.about}{main}")
    print("\nParameters follow the name: simple:knock=4. A person plays with `ginrummy play`.")
    return 0
