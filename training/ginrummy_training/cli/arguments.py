"""Arguments that commands share: a flag means the same wherever it appears."""

import argparse
import re
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from ginrummy_env.core.checks import did_you_mean
from ginrummy_env.core.rules import PRESETS, Rules, as_rules

RULES_HELP = f"""\
rules:
  A preset ({", ".join(PRESETS)}),
  settings, or a preset and settings that differ from it:
  --rules eaai   --rules target=250   --rules eaai,gin_bonus=20
"""

AGENTS_HELP = """\
agents:
  A name, with parameters after a colon: simple   gold:knock=4   heuristic:knock=4,score=40
  `ginrummy agents` lists them. With --trust also sb3:FILE.zip, a model of Stable-Baselines3: its
  file is unpickled, which can run any code.
"""


class Parser(argparse.ArgumentParser):
    """A parser that keeps the layout of its description and reports an error in one line."""

    def __init__(self, **options: Any) -> None:
        """Take what `argparse.ArgumentParser` takes."""
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=layout, allow_abbrev=False, **options)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all arguments; one that is not known is an error that names the nearest."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            near = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized argument {unknown[0]!r}{near}")
        return options

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def whole(text: str) -> int:
    """Return a whole number from 0; argparse turns the error into a message.

    >>> whole("10_000") == whole("10,000") == whole("1e4") == 10_000
    True
    """
    plain = text.replace("_", "").replace(",", "").lower()
    if re.fullmatch(r"[0-9]{1,30}", plain):
        return int(plain)
    power = re.fullmatch(r"([0-9]{1,9})e([0-9]{1,2})", plain)
    if power is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0, such as 10000")
    return int(power[1]) * 10 ** int(power[2])


def even(text: str) -> int:
    """Return a number of games: they are played in pairs."""
    number = whole(text)
    if number < 2 or number % 2:
        raise argparse.ArgumentTypeError(
            f"{text!r}: an even number from 2 is needed, games are played in pairs with the seats "
            "swapped"
        )
    return number


def parse_rules(text: str) -> Rules:
    """Return the rules that a text names; argparse turns the error into a message."""
    try:
        return as_rules(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def assignment(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``name=value``. The value is TOML; quotes may be left out.

    >>> assignment("steps=2_000"), assignment("expert=simple")
    (('steps', 2000), ('expert', 'simple'))
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r}: NAME=VALUE is needed")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return name.strip(), value.strip()


def add_rules(parser: argparse.ArgumentParser, default: str | None = "classic") -> None:
    """Add ``--rules``; without a default it is None if it is not given, which means CLASSIC."""
    shown = default or "classic"
    parser.add_argument("--rules", default=default, type=parse_rules, metavar="RULES",
                        help=f"a preset or settings, see below ({shown})")  # fmt: skip


def add_seed(parser: argparse.ArgumentParser, default: int | None = 0) -> None:
    """Add ``--seed``; without a default each run has a seed of its own."""
    words = "a new one each time" if default is None else str(default)
    parser.add_argument("--seed", default=default, type=whole, metavar="N",
                        help=f"seed of decks and agents ({words})")  # fmt: skip


def add_out(parser: argparse.ArgumentParser, about: str, *, required: bool = False) -> None:
    """Add ``--out``, a file or a folder for results."""
    parser.add_argument("--out", type=Path, metavar="PATH", required=required, help=about)


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``."""
    parser.add_argument("--force", action="store_true",
                        help="replace a file, or results of other games")  # fmt: skip


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add ``--trust``."""
    parser.add_argument("--trust", action="store_true",
                        help="unpickle the files of agents sb3:FILE.zip, which can run any "
                        "code")  # fmt: skip


def add_games(parser: argparse.ArgumentParser, default: int, of: str = "of each pairing") -> None:
    """Add ``--games``."""
    parser.add_argument("--games", default=default, type=even, metavar="N",
                        help=f"games {of}, an even number ({default:,})")  # fmt: skip


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add ``--workers``."""
    parser.add_argument("--workers", type=whole, metavar="N",
                        help="processes (one per core if there is enough to do)")  # fmt: skip


def add_max_deals(parser: argparse.ArgumentParser) -> None:
    """Add ``--max-deals``."""
    parser.add_argument("--max-deals", type=whole, default=1_000, metavar="N",
                        help="stop a game after N deals; it counts as a draw (1,000)")  # fmt: skip


def add_ray(parser: argparse.ArgumentParser) -> None:
    """Add ``--ray``."""
    parser.add_argument("--ray", nargs="?", const="local", metavar="ADDRESS",
                        help="play on a Ray cluster: host:port of its head, or auto; without an "
                        "address, start one on this machine")  # fmt: skip


def add_playing(parser: argparse.ArgumentParser, games: int) -> None:
    """Add what decides how many games are played, and how fast."""
    add_games(parser, games)
    add_workers(parser)
    parser.add_argument("--batch", type=whole, default=4_096, metavar="N",
                        help="games played at the same time (4,096)")  # fmt: skip
    add_max_deals(parser)
    add_ray(parser)
    parser.add_argument("--range", type=whole, metavar="N",
                        help="with --ray: games per task (as many as take 20 s)")  # fmt: skip
