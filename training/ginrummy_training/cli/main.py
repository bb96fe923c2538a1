"""The command line: ``ginrummy``. A command's module is imported when the command is named."""

import os
import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ginrummy_env import __version__
from ginrummy_env.core.checks import did_you_mean
from ginrummy_env.envs.sb3_policy import trusting
from ginrummy_training.cli.arguments import Parser

EXTRAS = {
    **dict.fromkeys(["rich", "scipy", "matplotlib", "pandas", "psutil"], "eval"),
    **dict.fromkeys(["torch", "stable_baselines3", "sb3_contrib", "tensorboard", "tqdm"], "train"),
    **dict.fromkeys(["flask", "waitress"], "web"),
    **dict.fromkeys(["nbclient", "nbconvert", "nbformat", "ipykernel"], "notebooks"),
    "pyarrow": "data",
    "pyspiel": "openspiel",
    "pygame": "render",
    "ray": "scale",
}
"""The extra that installs a module."""

GROUPS = {
    "play": {
        "play": "play a game against an agent, in the terminal or the browser",
        "replay": "show a recorded game, or make a web page of it",
        "analyse": "explain a move: what each alternative is worth",
        "render": "draw a position as text or as a picture",
    },
    "measure": {
        "agents": "list the agents",
        "match": "let two agents play thousands of games",
        "tournament": "let everyone play everyone, and rate them",
        "compare": "compare settings of an agent on the same decks",
        "bench": "measure the speed",
        "java-bridge": "let players of the AAAI-21 challenge play here",
    },
    "strength": {
        "benchmark": "play a frozen protocol and write a card to cite",
        "exploit": "train a best response: what a policy loses at least",
        "exact": "solve a small deck: its value, and how exploitable agents are",
        "ladder": "add an entry to a ladder, or write its page",
    },
    "train": {
        "train": "train an agent: imitation, then PPO",
        "imitate": "train an agent by imitation alone",
        "selfplay": "write games and positions as Parquet files",
        "curves": "draw the learning curves of runs",
        "rllib": "train by self-play on RLlib",
    },
    "project": {
        "demo": "see the project at work, in about a minute",
        "experiments": "repeat published experiments",
        "ablations": "measure what each part of a training is worth",
        "search-gain": "measure what a search gains over its base policy",
        "plot": "redraw the plots of saved results",
        "fit": "fit the data files that agents use",
        "notebooks": "run the notebooks",
        "cluster": "estimate what a run on a cluster costs",
    },
}
"""The commands in the order of the help."""

TITLES = {
    "play": "Play and look",
    "measure": "Measure",
    "strength": "Measure strength and exploitability",
    "train": "Train",
    "project": "Reproduce what the project publishes",
}

OWN_FOLDERS = ("strength", "project")
"""The groups whose modules are in a folder of their name; the others are in ``commands``."""

COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}


def overview() -> str:
    """Return the help of ``ginrummy`` without a command."""
    lines = ["usage: ginrummy COMMAND ...", "", "Gin rummy: play it, let agents play it, train and "
             "measure them."]  # fmt: skip
    for group, commands in GROUPS.items():
        lines += ["", f"{TITLES[group]}:"]
        lines += [f"  {name:<12} {about}" for name, about in commands.items()]
    lines += [
        "",
        "Begin with:",
        "  ginrummy play simple             a game against an agent, here in the terminal",
        "  ginrummy match simple gold       two agents, ten thousand games",
        "  ginrummy train runs/first        train an agent in a few minutes",
        "  ginrummy COMMAND --help          more about a command, with examples",
    ]
    return "\n".join(lines)


def parser_of(command: str) -> Parser:
    """Return the parser of a command; what it parses has the function to call as ``run``."""
    folder = next((name for name in OWN_FOLDERS if command in GROUPS[name]), "commands")
    module = import_module(f"ginrummy_training.cli.{folder}.{command.replace('-', '_')}")
    parser = Parser(prog=f"ginrummy {command}", description=module.HELP)
    module.add_arguments(parser)
    return parser


def neighbour(path: str | bytes | None) -> str:
    """Return " (did you mean ...?)" for a path where something with nearly this name is there."""
    missing = Path(os.fsdecode(path or ""))
    try:
        names = [each.name for each in missing.parent.iterdir()]
    except OSError:
        return ""
    return did_you_mean(missing.name, names)


def raise_again(unraisable: Any) -> None:
    """Raise a Ctrl-C again that Python had to ignore, as it came in a destructor or a callback.

    Made `sys.unraisablehook` while a command runs.
    """
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    again = threading.Timer(0.01, _interrupt)  # when the destructor has returned
    again.daemon = True
    again.start()


def _interrupt() -> None:
    if hasattr(signal, "pthread_kill"):  # ends a wait too
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        interrupt_main()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        0; 2 for what can't be done, reported in one line; 130 if interrupted.
    """
    command, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    hook = sys.unraisablehook
    try:
        if command in ("--help", "-h", "help"):
            print(overview())
            return 0
        if command == "--version":
            print(f"ginrummy_env {__version__}")
            return 0
        if command not in COMMANDS:
            near = did_you_mean(command, COMMANDS) or " (see ginrummy --help)"
            print(f"ginrummy: no command {command!r}{near}", file=sys.stderr)
            return 2
        sys.unraisablehook = raise_again
        options = parser_of(command).parse_args(rest)
        with trusting(getattr(options, "trust", False)):
            code: int = options.run(options)
        return code
    except BrokenPipeError:
        # Whoever reads the output has closed it (`| head`). Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        wrong = f"{error.name} is missing"
        wrong += f": pip install -e '.[{extra}]'" if extra else ""
    except OSError as error:
        wrong = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        if isinstance(error, FileNotFoundError):
            wrong += neighbour(error.filename)
    except (ValueError, RuntimeError) as error:
        notes = getattr(error, "__notes__", [])
        wrong = "; ".join([" ".join(str(error).split()), *notes])
    except KeyboardInterrupt:
        print(f"ginrummy {command}: interrupted", file=sys.stderr)
        return 130
    finally:
        sys.unraisablehook = hook
    print(f"ginrummy {command}: {wrong}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
