"""The command line: ``ginrummy``."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from ginrummy_env import __version__
from ginrummy_env.core.rules import PRESETS, Rules
from ginrummy_training.cli import selfplay_commands, train_commands

DESCRIPTION = """\
Gin rummy: play it, let agents play it, measure them.

  ginrummy agents                      what can play
  ginrummy play simple                 a game against an agent, here in the terminal
  ginrummy match simple gold           two agents, ten thousand games
  ginrummy tournament simple gold random
  ginrummy train runs/first            train an agent
  ginrummy selfplay simple --out data  games and positions as Parquet files
  ginrummy COMMAND --help              more about a command, with examples
"""

RULES_HELP = f"""\
rules:
  A preset ({", ".join(PRESETS)}), settings, or a preset and
  settings that differ from it: --rules eaai   --rules target=250   --rules eaai,gin_bonus=20
"""

AGENTS_HELP = """\
agents:
  A name, with parameters after a colon: simple   gold:knock=4   heuristic:knock=4,score=40
  `ginrummy agents` lists them.
"""

MATCH_HELP = f"""\
Two agents play full games, in pairs: both games of a pair have the same cards, with the seats
swapped, so luck in the cards falls on both sides. What is printed has 95 % intervals, clustered by
pair. Games and deals are reported apart: an agent can win most deals and lose the game.

examples:
  ginrummy match simple gold
  ginrummy match simple:0 simple --rules eaai --games 20000 --seed 7
  ginrummy match lookahead simple --rules eaai --out results/lookahead

With --out the games are kept: Ctrl-C stops the match, and the same command goes on where it
stopped. A larger --games adds games. Number of workers, batch and --ray change the speed only: a
game is decided by the agents, the rules, the seed and its number. docs/SCALE.md is about --ray.

files in --out:
  games.npz      every game, a row each; what the match goes on from
  games.csv      the same as text
  match.json     what is printed, with rules, seed, versions and command
  records.txt    the first games, move by move, with --records N: `ginrummy replay` shows them

--record FILE writes the first games too (--records says how many, else 10), with what the agents
thought beside each decision, as far as they tell: `ginrummy replay FILE --html PAGE.html`.

{AGENTS_HELP}
{RULES_HELP}"""

TOURNAMENT_HELP = f"""\
Everyone plays everyone, all on the same decks. Prints the cross table and Bradley-Terry ratings
with 95 % intervals.

examples:
  ginrummy tournament random gold simple simple:0
  ginrummy tournament simple gold lookahead --rules eaai --games 4000 --out results/eaai

With --out everything is kept: Ctrl-C stops, the same command goes on, and a command with more
agents plays only the new pairings. --ray plays on a cluster (docs/SCALE.md): the same games.

files in --out:
  tournament.json, ratings.csv, pairings.csv, cross_table.csv    results, with seed, rules, versions
  cross_table.png, ratings.png, endings.png                      plots
  games-A-B-*.npz                                                every game of a pairing

{AGENTS_HELP}
{RULES_HELP}"""

PLAY_HELP = f"""\
A game against an agent, here in the terminal (while playing, type help) or in the browser.

examples:
  ginrummy play
  ginrummy play gold --rules modern
  ginrummy play lookahead --seed 5 --out game.txt

  ginrummy play search:128 --web           then open http://127.0.0.1:8765/

With one seed the cards are the same again. --out keeps the game: `ginrummy replay` shows it.
In the browser the game is saved after every move, in the folder ginrummy-games or that of --out,
and the same command goes on with it.

{AGENTS_HELP}
{RULES_HELP}"""

REPLAY_HELP = """\
Shows a recorded game step by step. The record is played again by the engine, which finds out if it
is damaged or not allowed by the rules. With --html it becomes one page for a browser, which needs
no network: both hands, or with --view only what one player sees.

examples:
  ginrummy replay game.txt                 Enter goes on, q stops
  ginrummy replay game.txt --deal 2 --view 0
  ginrummy replay game.txt --lines         a line a position
  ginrummy replay game.txt --html game.html
  ginrummy replay game.txt --html game.html --values search:64

--values asks an agent what the candidates of every decision are worth; records of
`ginrummy match --record` carry that already. In the page one jumps to the mistakes: decisions that
were worth --margin less than the best.

Records come from `ginrummy play --out`, `ginrummy match --record` and `--records`.
"""

ANALYSE_HELP = f"""\
Why a move: tries the candidates of one position in sampled worlds, the same for each, plays every
deal to its end and prints what each candidate is worth and how the deals ended.

examples:
  ginrummy analyse game.txt --deal 2 --step 7
  ginrummy analyse --hand "4s 5s 6s 9h 9d 9c Kh Kd 2c 3c Qs" --pile "7h Jd" --rules eaai
  ginrummy analyse --hand "4s 5s 6s 9h 9d 9c Kh Kd 2c 3c" --pile "7h Kc" --score 40:75
  ginrummy analyse game.txt --deal 2 --step 7 --out why.png

A typed position has a hand of ten cards (draw or take?) or eleven (which discard? knock?). Cards
that he threw and left tell of his hand: --thrown, --declined and --known say which they were.

{RULES_HELP}"""

BENCH_HELP = """\
In a checkout of the project: runs its benchmarks, which compare with other libraries. Elsewhere:
measures games a second of this installation.

examples:
  ginrummy bench
  ginrummy bench --quick
  ginrummy bench --only core
"""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with 2."""
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help says more)\n")


def parser() -> Parser:
    """Return the parser of the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    made = Parser(prog="ginrummy", description=DESCRIPTION, formatter_class=raw)
    made.add_argument("--version", action="version", version=f"ginrummy_env {__version__}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, about: str, description: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=about, description=description, formatter_class=raw, allow_abbrev=False
        )

    def common(to: argparse.ArgumentParser, out: str, seed: int | None = 0) -> None:
        to.add_argument("--rules", default="classic", type=parse_rules, metavar="RULES",
                        help="a preset or settings, see below (classic)")  # fmt: skip
        default = "0" if seed == 0 else "a new one each time"
        to.add_argument("--seed", type=whole, default=seed, help=f"of decks and agents ({default})")
        to.add_argument("--out", type=Path, help=out)

    def playing(to: argparse.ArgumentParser, games: int) -> None:
        to.add_argument("--games", type=whole, default=games, metavar="N",
                        help=f"games of each pairing, an even number ({games:,})")  # fmt: skip
        to.add_argument("--workers", type=whole, metavar="N",
                        help="processes (one for each core, if there is enough to do)")  # fmt: skip
        to.add_argument("--batch", type=whole, default=4096, metavar="N",
                        help="games at once (4096)")  # fmt: skip
        to.add_argument("--max-deals", type=whole, default=1000, metavar="N",
                        help="a game of so many deals has no winner (1000)")  # fmt: skip
        to.add_argument("--ray", nargs="?", const="local", metavar="ADDRESS",
                        help="play on a Ray cluster: host:port of its head, or auto; without an "
                        "address one is started on this machine")  # fmt: skip
        to.add_argument("--range", type=whole, metavar="N",
                        help="with --ray: games that a task plays (what takes 20 s)")  # fmt: skip

    match = command("match", "two agents, thousands of games", MATCH_HELP)
    match.add_argument("agents", nargs=2, metavar="AGENT")
    common(match, "a folder for the results, and to go on from")
    playing(match, 10_000)
    match.add_argument("--records", type=whole, default=0, metavar="N",
                       help="write the first N games, move by move, into --out")  # fmt: skip
    match.add_argument("--record", type=Path, metavar="FILE",
                       help="write the first games with what the agents thought")  # fmt: skip

    tournament = command("tournament", "everyone against everyone", TOURNAMENT_HELP)
    tournament.add_argument("agents", nargs="+", metavar="AGENT")
    common(tournament, "a folder for results and plots, and to go on from")
    playing(tournament, 2_000)

    play = command("play", "a game against an agent", PLAY_HELP)
    play.add_argument("agent", nargs="?", default="simple", metavar="AGENT", help="(simple)")
    common(play, "a file for the record of the game; with --web a folder", seed=None)
    play.add_argument("--web", action="store_true", help="in the browser, at http://127.0.0.1:PORT")
    play.add_argument("--port", type=whole, default=8765, metavar="PORT", help="with --web (8765)")
    play.add_argument("--hints", nargs="+", default=[], metavar="AGENT",
                      help="with --web: further agents to choose from")  # fmt: skip
    play.add_argument("--ascii", action="store_true", help="letters for the suits, no other signs")

    replay = command("replay", "show a recorded game", REPLAY_HELP)
    replay.add_argument("file", type=Path, metavar="FILE")
    replay.add_argument("--game", type=whole, default=1, metavar="K",
                        help="which game of the file, from 1 (1)")  # fmt: skip
    replay.add_argument("--deal", type=whole, metavar="K", help="only this deal, from 1")
    replay.add_argument("--view", choices=("0", "1", "both"), default="both",
                        help="whose cards are shown (both)")  # fmt: skip
    replay.add_argument("--lines", action="store_true", help="a line a position")
    replay.add_argument("--all", action="store_true", help="do not stop for Enter")
    replay.add_argument("--html", type=Path, metavar="PAGE", help="write a page for a browser")
    replay.add_argument("--values", metavar="AGENT",
                        help="with --html: what this agent thinks of each decision")  # fmt: skip
    replay.add_argument("--margin", type=float, default=0.02, metavar="X",
                        help="with --html: what a mistake costs at least (0.02)")  # fmt: skip

    train_commands.add_commands(command)
    selfplay_commands.add_commands(command)

    analyse = command("analyse", "why a move: candidates in sampled worlds", ANALYSE_HELP)
    analyse.add_argument("file", type=Path, nargs="?", metavar="FILE", help="a record")
    analyse.add_argument("--game", type=whole, default=1, metavar="K", help="from 1 (1)")
    analyse.add_argument("--deal", type=whole, default=1, metavar="K", help="from 1 (1)")
    analyse.add_argument("--step", type=whole, default=1, metavar="K", help="action, from 1 (1)")
    common(analyse, "a file for the plot (png, svg, pdf) or the numbers (json)")
    for name, about in (
        ("hand", "your cards, ten or eleven"),
        ("pile", "the discard pile, oldest first"),
        ("known", "his cards that he took from the pile"),
        ("thrown", "cards of the pile that he threw"),
        ("declined", "upcards that he left"),
        ("taken", "the upcard you took this turn"),
    ):
        analyse.add_argument(f"--{name}", default="", metavar="CARDS", help=about)
    analyse.add_argument("--score", default="0:0", metavar="A:B", help="yours and his (0:0)")
    analyse.add_argument("--dealer", action="store_true", help="you dealt")
    analyse.add_argument("--opening", action="store_true", help="the first upcard is offered")
    analyse.add_argument("--search", default="search:1000", metavar="AGENT",
                         help="what weighs the candidates (search:1000)")  # fmt: skip

    bench = command("bench", "measure the speed", BENCH_HELP)
    bench.add_argument("--quick", action="store_true", help="a look: short, few rounds")
    bench.add_argument("--only", metavar="NAMES", help="some of the checkout's benchmarks")
    bench.add_argument("--seed", type=whole, default=0, help="of decks and actions (0)")
    bench.add_argument("--rules", default="eaai", type=parse_rules, metavar="RULES",
                       help="outside a checkout: of the games (eaai)")  # fmt: skip
    bench.add_argument("--out", type=Path, help="a file for the results, JSON")

    command("agents", "what can play", f"Lists the agents.\n\n{AGENTS_HELP}")
    return made


def whole(text: str) -> int:
    """Return a whole number from 0; argparse turns the error into a message."""
    try:
        number = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return number


def parse_rules(text: str) -> Rules:
    """Return the rules that a text names: a preset, settings, or both.

    >>> parse_rules("eaai,target=250").gin_bonus
    25
    """
    settings: dict[str, Any] = {}
    try:
        for number, part in enumerate(piece.strip() for piece in text.split(",")):
            name, equals, value = part.partition("=")
            if equals:
                settings[name.strip()] = _setting(value.strip())
            elif number == 0 and part.lower() in PRESETS:
                settings.update(PRESETS[part.lower()].to_dict())
            else:
                raise ValueError(
                    f"{part!r} is neither a preset ({', '.join(PRESETS)}) nor a setting "
                    "(name=value)"
                )
        return Rules.from_dict(settings)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _setting(text: str) -> int | bool | str | None:
    words: dict[str, bool | None] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        0; 2 for what can't be done, said in one line; 130 if interrupted.
    """
    options = parser().parse_args(arguments)
    try:
        from ginrummy_training.cli import commands

        run = getattr(commands, f"run_{options.command}")
        code: int = run(options)
        return code
    except BrokenPipeError:
        # Whoever reads the output has closed it (`| head`). Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ModuleNotFoundError as error:
        wrong = f"{error.name} is missing: pip install 'ginrummy_env[eval]'"
    except OSError as error:
        wrong = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except (ValueError, RuntimeError) as error:
        notes = getattr(error, "__notes__", [])
        wrong = "; ".join([" ".join(str(error).split()), *notes])
    except KeyboardInterrupt:
        wrong = "interrupted"
        print(f"ginrummy {options.command}: {wrong}", file=sys.stderr)
        return 130
    print(f"ginrummy {options.command}: {wrong}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
