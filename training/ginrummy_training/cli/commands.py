"""What the commands of the command line do."""

import argparse
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ginrummy_env.core.rules import rules_name
from ginrummy_env.policy import ENTRY_POINTS
from ginrummy_env.records.recorder import GameRecord, load, save
from ginrummy_training.cli.selfplay_commands import run_selfplay  # noqa: F401
from ginrummy_training.cli.train_commands import run_imitate, run_train  # noqa: F401
from ginrummy_training.evaluation.match import (
    MatchResult,
    Progress,
    play_match,
    record_games,
    require_games,
    versions,
)
from ginrummy_training.play.terminal import play, replay_game
from ginrummy_training.play.terminal_player import Human, QuitGame
from ginrummy_training.storage import write_json

ROOT = Path(__file__).parents[3]
"""The checkout, if this is one."""

RECORDED = 10
"""So many games `--record` writes, unless `--records` says another number."""

ENOUGH_GAMES = 1_000
"""So many are worth starting another process."""


def workers_for(options: argparse.Namespace, pairings: int = 1) -> int:
    """Return how many processes to use: as asked for, else a core each if there is enough to do."""
    if options.workers is not None:
        if options.workers < 1:
            raise ValueError(f"workers={options.workers}: at least 1 is needed")
        return int(options.workers)
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        cores = os.cpu_count() or 1
    return max(1, min(cores, options.games * pairings // ENOUGH_GAMES))


def who_plays(options: argparse.Namespace, pairings: int = 1) -> dict[str, Any]:
    """Return the arguments of `play_match` that say where games are played."""
    if options.ray is None:
        if options.range is not None:
            raise ValueError("--range needs --ray")
        return {"workers": workers_for(options, pairings)}
    from ginrummy_training.cluster.ray_runner import RayRunner

    return {"runner": RayRunner(options.ray, games=options.range, workers=options.workers)}


@contextmanager
def progress_bar(names: Sequence[str], games: int) -> Iterator[Progress]:
    """Show on stderr how many games have been played, if somebody is looking."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Progress as Bar,
    )

    done = [0] * len(names)
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task(names[0], total=games * len(names))

        def report(number: int, count: int) -> None:
            done[number] = count
            bar.update(task, completed=sum(done), description=names[number])

        yield report


def show_tables(*tables: object) -> None:
    """Print tables; where there is no terminal, wide enough that nothing is broken up."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 160).print(*tables, sep="\n")


def run_match(options: argparse.Namespace) -> int:
    """Play a match."""
    from ginrummy_training.evaluation.console_tables import match_report
    from ginrummy_training.evaluation.match_summary import summarise
    from ginrummy_training.evaluation.tournament import write_games

    a, b = options.agents
    out: Path | None = options.out
    record_to: Path | None = options.record
    if options.records and out is None and record_to is None:
        raise ValueError("--records needs --out, a folder to write them into, or --record")
    require_games(options.games)
    start = perf_counter()
    try:
        with progress_bar([f"{a} – {b}"], options.games) as progress:
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
            )
    except KeyboardInterrupt:
        return interrupted(out)
    summary = summarise(result)
    show_tables(match_report(summary))
    print(f"{perf_counter() - start:.1f} s")
    if out is not None:
        write_json(out / "match.json", summary)
        write_games(result, out / "games.csv")
        if options.records:
            save(
                out / "records.txt", record_games(result.match, min(options.records, options.games))
            )
        print(f"written: {out}{os.sep}")
    if record_to is not None:
        write_record(result, record_to, options.records or RECORDED)
    return 0


def write_record(result: MatchResult, path: Path, games: int) -> None:
    """Write the first games of a match with what the agents thought."""
    from ginrummy_training.evaluation.annotated_records import record_match

    save(path, record_match(result.match, min(games, len(result.table))))
    print(f"written: {path}")


def interrupted(out: Path | None) -> int:
    """Say what an interrupted command has left, and return its exit code."""
    if out is None:
        print(
            "\ninterrupted; with --out FOLDER games are kept and can be gone on with",
            file=sys.stderr,
        )
    else:
        print(f"\ninterrupted; the games are in {out}, the same command goes on", file=sys.stderr)
    return 130


def run_tournament(options: argparse.Namespace) -> int:
    """Play a tournament."""
    from ginrummy_training.evaluation.console_tables import cross_report
    from ginrummy_training.evaluation.tournament import play_tournament, write_tournament
    from ginrummy_training.evaluation.tournament_figures import save_plots

    out: Path | None = options.out
    names = [f"{a} – {b}" for a, b in combinations(options.agents, 2)]
    start = perf_counter()
    require_games(options.games)
    try:
        with progress_bar(names or ["nobody"], options.games) as progress:
            tournament = play_tournament(
                options.agents,
                games=options.games,
                seed=options.seed,
                rules=options.rules,
                **who_plays(options, len(names)),
                batch=options.batch,
                max_deals=options.max_deals,
                out=out,
                progress=progress,
            )
    except KeyboardInterrupt:
        return interrupted(out)
    summary = tournament.summary()
    show_tables(cross_report(summary))
    print(f"{perf_counter() - start:.1f} s")
    if out is not None:
        write_tournament(tournament, out)
        save_plots(summary, out)
        print(f"written: {out}{os.sep}")
    return 0


def _color() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def run_play(options: argparse.Namespace) -> int:
    """Let a person play."""
    if options.web:
        return serve_game(options)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    name = options.agent.partition(":")[0] or "opponent"
    human = Human(opponent=name, color=_color(), ascii=options.ascii)
    with suppress(ImportError):  # where there is none, what is typed can't be edited
        import readline  # noqa: F401
    play(human, options.agent, options.rules, seed=seed, out=options.out)
    return 0


def serve_game(options: argparse.Namespace) -> int:
    """Let a person play in the browser."""
    try:
        from ginrummy_training.play.web.game import WebGame
        from ginrummy_training.play.web.server import Server
    except ModuleNotFoundError as error:
        raise ValueError(f"{error.name} is missing: pip install 'ginrummy_env[web]'") from error
    folder: Path = options.out or Path("ginrummy-games")
    game = WebGame(folder, options.agent, options.rules, seed=options.seed, hints=options.hints)
    if options.port > 65_535:
        raise ValueError(f"--port {options.port}: ports end at 65535")
    try:
        server = Server(game, options.port)
    except OSError as error:
        raise ValueError(
            f"port {options.port} cannot be used ({error.strerror}): choose another with --port"
        ) from error
    print(f"Gin rummy against {game.agent}: open {server.url}   (Ctrl-C stops)")
    print(f"The game is kept in {game.path}; the same command goes on with it.", flush=True)
    server.run()
    return 0


def run_replay(options: argparse.Namespace) -> int:
    """Show a recorded game."""
    records = load(options.file)
    if not 1 <= options.game <= len(records):
        raise ValueError(
            f"{options.file} has {len(records)} games; --game is one of 1..{len(records)}"
        )
    if options.deal == 0:
        raise ValueError("--deal 0: deals are counted from 1")
    if options.html is not None:
        return write_page(options, records[options.game - 1])
    if options.values is not None:
        raise ValueError("--values needs --html, a page to show them in")

    def wait() -> None:
        try:
            if input("[Enter, q] ").strip().lower() in ("q", "quit"):
                raise QuitGame
        except EOFError:
            raise QuitGame from None

    stopping = sys.stdin.isatty() and sys.stdout.isatty() and not (options.all or options.lines)
    try:
        replay_game(
            records[options.game - 1],
            print,
            viewer=None if options.view == "both" else int(options.view),
            deal=None if options.deal is None else options.deal - 1,
            lines=options.lines,
            wait=wait if stopping else lambda: None,
            color=_color(),
        )
    except QuitGame:
        pass
    return 0


def write_page(options: argparse.Namespace, record: GameRecord) -> int:
    """Write a recorded game as a page for a browser."""
    from ginrummy_env.viewer import Replay
    from ginrummy_training.evaluation.annotated_records import annotate

    if options.values is not None:
        (record,) = annotate([record], options.values)
    viewer = None if options.view == "both" else int(options.view)
    Replay(record, viewer=viewer, margin=options.margin).save(options.html)
    print(f"written: {options.html}")
    return 0


def run_analyse(options: argparse.Namespace) -> int:
    """Say why a move: the candidates of a position."""
    from ginrummy_training.analysis.position import run

    return run(options)


def run_agents(options: argparse.Namespace) -> int:
    """List the agents: those of this project and of any other package that brings some."""
    makers = {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}
    width = max(map(len, makers), default=0)
    for name, maker in makers.items():
        about = getattr(maker, "about", None) or (maker.__doc__ or "").strip().partition("\n")[0]
        print(f"{name:<{width}}  {about}")
        for parameter in getattr(maker, "parameters", ()):
            main = f", or just {name}:{parameter.default}" if parameter.name == maker.main else ""
            print(f"{'':<{width}}    {parameter.name}={parameter.default}: {parameter.about}{main}")
    print("\nParameters follow the name: simple:knock=4. A person plays with `ginrummy play`.")
    return 0


def run_bench(options: argparse.Namespace) -> int:
    """Run the checkout's benchmarks, or measure a little."""
    if (ROOT / "benchmarks" / "__main__.py").exists():
        command = [sys.executable, "-m", "benchmarks", "--seed", str(options.seed)]
        command += ["--quick"] * options.quick
        command += ["--only", options.only] if options.only else []
        command += ["--out", str(options.out.resolve())] if options.out else []
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    if options.only:
        raise ValueError("--only: the benchmarks are in the checkout of the project only")
    lines = {}
    for name, games in (("simple", 400 if options.quick else 4_000), ("random", 2)):
        start = perf_counter()
        result = play_match(name, name, games=games, seed=options.seed, rules=options.rules)
        lines[name] = speeds(result, perf_counter() - start)
        each = lines[name]
        print(
            f"{name} – {name}, {rules_name(options.rules)}: {each['games_a_second']:,.0f} games, "
            f"{each['decisions_a_second']:,.0f} decisions a second"
        )
    if options.out is not None:
        write_json(options.out, {"speeds": lines, "versions": versions(), "seed": options.seed})
    return 0


def speeds(result: MatchResult, seconds: float) -> dict[str, float]:
    """Return games and decisions a second."""
    steps = int(result.table["steps"].sum(dtype=np.int64))
    return {"games_a_second": len(result.table) / seconds, "decisions_a_second": steps / seconds}
