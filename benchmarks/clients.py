"""The table of docs/CLIENTS.md: each library's example is run, and its time taken.

    python -m benchmarks.clients --all               all, each in the environment that has it
    python -m benchmarks.clients                     all that this interpreter can import
    python -m benchmarks.clients torchrl tianshou    some
    python -m benchmarks.clients --steps 1000        less to learn, for a test: nothing is written
    python -m benchmarks.clients --table             the table alone, from the results on file

A run writes ``results/clients/NAME.json``, and the table is made of all that are there. Each
example runs in a process of its own. Time is processor time, so that a busy machine does not count;
what the examples do to evaluate is left out.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ginrummy_env.files import write_whole

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "clients"
PAGE = ROOT / "docs" / "CLIENTS.md"
MARKS = "<!-- made by python -m benchmarks.clients -->", "<!-- end -->"
COLUMNS = (
    "library",
    "version",
    "example",
    "lines of glue",
    "works",
    "decisions a second",
    "in the environment",
    "reached",
)


@dataclass(frozen=True)
class Client:
    """A library and its example.

    Attributes:
        title: what the table calls it.
        script: in ``examples/``.
        package: what pip calls the library.
        module: its import name.
        steps: the option that says how much the example learns.
        venv: the environment that has the library.
    """

    title: str
    script: str
    package: str
    module: str
    steps: str = "--steps"
    venv: str = ".venv"


CLIENTS = {
    "sb3": Client("SB3, MaskablePPO", "sb3_maskable_ppo", "sb3-contrib", "sb3_contrib"),
    "cleanrl": Client("PPO with masks in CleanRL's manner", "cleanrl_ppo", "torch", "torch"),
    "selfplay": Client("PPO on both seats", "selfplay_ppo", "torch", "torch", "--updates"),
    "pettingzoo": Client(
        "PettingZoo's tutorial for SB3", "pettingzoo_sb3", "pettingzoo", "sb3_contrib"
    ),
    "torchrl": Client("TorchRL, PPO", "torchrl_ppo", "torchrl", "torchrl", venv=".venv-clients"),
    "tianshou": Client(
        "Tianshou, two DQN agents", "tianshou_dqn", "tianshou", "tianshou", venv=".venv-clients"
    ),
    "rllib": Client(
        "RLlib, PPO with its masking module", "rllib_ppo", "ray", "ray", venv=".venv-scale"
    ),
    "agilerl": Client(
        "AgileRL, DQN", "agilerl_dqn", "agilerl", "agilerl", venv=".venv-clients-agilerl"
    ),
    "rlcard": Client("RLCard, its DQN agent", "rlcard_dqn", "rlcard", "rlcard"),
    "openspiel": Client(
        "OpenSpiel: CFR+, MCCFR, IS-MCTS", "openspiel_cfr", "open-spiel", "pyspiel", "--iterations"
    ),
}


@dataclass
class ClientRun:
    """What a run found.

    Attributes:
        version: of the library.
        glue: lines of the example that its own documentation would not show.
        works: whether the example ran to its end.
        decisions: made in the environment.
        seconds: processor time from the first call of an environment on.
        share: of it spent in the environment, opponents and observations included.
        reached: the last line that the example printed, of its error if it does not work.
        command: repeats it.
    """

    version: str
    glue: int
    works: bool
    decisions: int
    seconds: float
    share: float
    reached: str
    command: str


class Watch:
    """Processor time spent in the outermost of some calls, and the decisions made in them."""

    def __init__(self) -> None:
        """Start at 0."""
        self.seconds = 0.0
        self.decisions = 0
        self.left_out = 0.0
        self.first: float | None = None
        self._inside = False

    def over(self, owner: type, name: str, count: Callable[[Any], int] | None = None) -> None:
        """Time a method; ``count`` says how many decisions a call is, given the object."""
        function = getattr(owner, name)

        @wraps(function)
        def timed(this: Any, *args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return function(this, *args, **kwargs)
            began = time.process_time()
            self.first = began if self.first is None else self.first
            self._inside = True
            try:
                return function(this, *args, **kwargs)
            finally:
                self._inside = False
                self.seconds += time.process_time() - began
                self.decisions += count(this) if count else 0

        setattr(owner, name, timed)

    def leave_out(self, module: ModuleType, name: str) -> None:
        """Let a function's time and decisions not count."""
        function = getattr(module, name)

        @wraps(function)
        def unwatched(*args: Any, **kwargs: Any) -> Any:
            began, self._inside = time.process_time(), True
            try:
                return function(*args, **kwargs)
            finally:
                self._inside = False
                self.left_out += time.process_time() - began

        setattr(module, name, unwatched)


def watch_environments() -> Watch:
    """Time all environments of this process."""
    from ginrummy_env.envs.aec_env import raw_env
    from ginrummy_env.envs.gym_env import GinRummyEnv
    from ginrummy_env.envs.selfplay_env import GinRummySelfPlayEnv
    from ginrummy_env.envs.vector_env import GinRummyVectorEnv

    def rows(env: Any) -> int:
        return env.num_envs

    def one(env: Any) -> int:
        return 1

    watched: list[tuple[type, Callable[[Any], int], str, tuple[str, ...]]] = [
        (GinRummyVectorEnv, rows, "step", ("reset", "action_masks")),
        (GinRummySelfPlayEnv, rows, "step", ("reset",)),
        (GinRummyEnv, one, "step", ("reset", "action_masks")),
        (raw_env, one, "step", ("reset", "observe")),
    ]
    if find_spec("stable_baselines3"):
        from ginrummy_env.envs.sb3_vec_env import GinRummyVecEnv

        watched.append((GinRummyVecEnv, rows, "step_wait", ("reset", "env_method", "action_masks")))
    if find_spec("rlcard"):
        from ginrummy_env.compat.rlcard_game import GinRummyEnv as RLCardEnv

        watched.append((RLCardEnv, one, "step", ("reset", "get_state")))
    if find_spec("pyspiel"):
        from ginrummy_env.compat.openspiel_game import GinRummyState

        reads = ("_legal_actions", "chance_outcomes", "returns", "resample_from_infostate")
        watched.append((GinRummyState, one, "_apply_action", reads))
    watch = Watch()
    for owner, count, step, others in watched:
        watch.over(owner, step, count)
        for name in others:
            watch.over(owner, name)
    return watch


def run_here(script: str, arguments: list[str]) -> None:
    """Run an example in this process, and print what was found as the last line."""
    watch = watch_environments()
    sys.argv = [f"examples/{script}.py", *arguments]
    sys.path.insert(0, str(ROOT / "examples"))
    scores = import_module("scores")
    watch.leave_out(scores, "points_a_deal")
    if arguments:  # a test: what is reached says nothing
        vars(scores).update(DEALS=100)
    runpy.run_path(str(ROOT / "examples" / f"{script}.py"), run_name="__main__")
    seconds = time.process_time() - (watch.first or 0.0) - watch.left_out
    found = {"decisions": watch.decisions, "seconds": seconds, "share": watch.seconds / seconds}
    print(json.dumps(found))


def run_client(name: str, steps: int | None) -> ClientRun:
    """Run a client's example in a process of its own."""
    client = CLIENTS[name]
    arguments = [] if steps is None else [client.steps, str(steps)]
    command = [sys.executable, "-m", "benchmarks.clients", "--here", client.script, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        reached, found = done.stderr.strip().splitlines()[-1], dict.fromkeys(MEASURED, 0)
    else:
        *_, reached, last = done.stdout.strip().splitlines()
        found = json.loads(last)
    return ClientRun(
        version=version(client.package).partition("+")[0],
        glue=glue(client.script),
        works=not done.returncode,
        decisions=found["decisions"],
        seconds=round(found["seconds"], 1),
        share=round(found["share"], 3),
        reached=re.sub(r".*?(?=[+-][0-9.]+ points a deal)", "", reached),
        command=" ".join(["python", f"examples/{client.script}.py", *arguments]),
    )


MEASURED = "decisions", "seconds", "share"


def interpreter(client: Client) -> str:
    """Return the Python that has a client's library: this one, or that of its environment.

    Raises:
        FileNotFoundError: there is none; says how to build it.
    """
    if find_spec(client.module):
        return sys.executable
    path = ROOT / client.venv / "bin" / "python"
    if not path.exists():
        raise FileNotFoundError(
            f"{client.package} is neither here nor in {client.venv}: make test-clients builds it"
        )
    return str(path)


def glue(script: str) -> int:
    """Return how many lines of an example are marked as glue."""
    text = (ROOT / "examples" / f"{script}.py").read_text(encoding="utf-8")
    return len(re.findall(r"#.*\bglue$", text, re.MULTILINE))


def table() -> str:
    """Return the table of all results on file."""
    rows = [COLUMNS, ("---", "---", "---", "---:", "---", "---:", "---:", "---")]
    for name, client in CLIENTS.items():
        path = RESULTS / f"{name}.json"
        if path.exists():
            found = ClientRun(**json.loads(path.read_text(encoding="utf-8")))
            rows.append(
                (
                    client.title,
                    f"{client.package} {found.version}",
                    f"`{client.script}.py`",
                    str(found.glue),
                    "yes" if found.works else "no",
                    f"{found.decisions / found.seconds:,.0f}" if found.works else "",
                    f"{found.share:.0%}" if found.works else "",
                    found.reached,
                )
            )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write_page() -> None:
    """Put the table into the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    write_whole(PAGE, f"{before}{MARKS[0]}\n{table()}\n{MARKS[1]}{after}")


def main() -> int:
    """Run the command."""
    if sys.argv[1:2] == ["--here"]:
        run_here(sys.argv[2], sys.argv[3:])
        return 0
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.clients", description=__doc__, formatter_class=layout
    )
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--steps", type=int, help="decisions to learn from; nothing is written")
    parser.add_argument("--table", action="store_true", help="write the table alone")
    parser.add_argument("--all", action="store_true", help="each in the environment that has it")
    options = parser.parse_args()
    if options.all:
        pythons = {name: interpreter(client) for name, client in CLIENTS.items()}
        steps = [] if options.steps is None else ["--steps", str(options.steps)]
        codes = [
            subprocess.run(
                [python, "-m", "benchmarks.clients", name, *steps], check=False
            ).returncode
            for name, python in pythons.items()
        ]
        return max(codes)
    there = [name for name, client in CLIENTS.items() if find_spec(client.module)]
    failed = False
    for name in [] if options.table else options.clients or there:
        if name not in CLIENTS:
            parser.error(f"no client {name!r}; there are {', '.join(CLIENTS)}")
        if name not in there:
            parser.error(f"{CLIENTS[name].package} is not installed here; see docs/CLIENTS.md")
        outcome = run_client(name, options.steps)
        failed |= not outcome.works
        text = json.dumps(asdict(outcome), indent=2)
        print(f"{name}: {text}", flush=True)
        if options.steps is None:
            write_whole(RESULTS / f"{name}.json", f"{text}\n")
    if options.steps is None:
        write_page()
        print(table())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
