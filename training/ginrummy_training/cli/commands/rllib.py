"""``ginrummy rllib``: PPO by self-play on RLlib."""

import argparse
from pathlib import Path

from ginrummy_training.cli.arguments import RULES_HELP, assignment, whole

HELP = f"""\
Trains by self-play on RLlib: one network decides for both players and learns from the decisions of
both. Writes the same kind of policy file as `ginrummy train`. Needs the extra:
pip install -e '.[scale]' (docs/RLLIB.md).

examples:
  ginrummy rllib runs/rllib --rules eaai --iterations 100
  ginrummy rllib runs/rllib --resume --iterations 200
  ginrummy rllib runs/rllib --start runs/look --set envs=128 --set env_runners=2
  ginrummy match ppo:runs/rllib/policy.npz simple --rules eaai

--set NAME=VALUE changes a setting of a new run: training/ginrummy_training/rllib/config.py explains
each.

{RULES_HELP}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the run, must be new")
    parser.add_argument("--iterations", type=whole, default=100, metavar="N", help="in all (100)")
    parser.add_argument("--resume", action="store_true", help="resume the run in the folder")
    parser.add_argument("--previous", action="store_true",
                        help="with --resume: from the checkpoint before the last one")  # fmt: skip
    parser.add_argument("--rules", metavar="RULES", help="a preset or settings, see below (eaai)")
    parser.add_argument("--seed", type=whole, metavar="N",
                        help="seed of decks, agents and weights (0)")  # fmt: skip
    parser.add_argument("--start", metavar="FROM",
                        help="a run of `ginrummy train`, ppo or ppo:FILE")  # fmt: skip
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="given",
                        help="a setting; may be given several times")  # fmt: skip
    parser.add_argument("--ray", default="local", metavar="ADDRESS",
                        help="address of a Ray cluster (start one on this machine)")  # fmt: skip
    parser.add_argument("--checkpoint-every", type=whole, default=10, metavar="N",
                        help="iterations (10)")  # fmt: skip
    parser.add_argument("--eval-every", type=whole, default=10, metavar="N",
                        help="iterations (10)")  # fmt: skip
    parser.add_argument("--eval-games", type=whole, default=1_000, metavar="N", help="(1,000)")
    parser.add_argument("--opponents", nargs="+", default=["simple"], metavar="AGENT",
                        help="of the evaluations (simple)")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, or resume a training."""
    import logging

    from ginrummy_training.cli.console import log
    from ginrummy_training.cluster.ray_runner import connected
    from ginrummy_training.rllib.config import RLlibSettings
    from ginrummy_training.rllib.train import POLICY, settings_in, train

    logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # it warns of its own API's history
    given = dict(assignment(text) for text in options.given)
    for name in ("rules", "seed", "start"):
        if getattr(options, name) is not None:
            given[name] = getattr(options, name)
    if options.resume and given:
        raise ValueError(f"{', '.join(given)}: a resumed run keeps its settings")
    if options.previous and not options.resume:
        raise ValueError("--previous needs --resume")
    settings = None if options.resume else RLlibSettings.of(given)
    runners = (settings or settings_in(options.folder)).env_runners
    try:
        with connected(options.ray, max(1, runners)):
            train(
                options.folder,
                settings,
                options.iterations,
                checkpoint_every=max(1, options.checkpoint_every),
                eval_every=max(1, options.eval_every),
                eval_games=options.eval_games,
                opponents=options.opponents,
                previous=options.previous,
                report=lambda text: print(text, flush=True),
            )
    except KeyboardInterrupt:
        log("\ninterrupted; --resume continues from the last checkpoint")
        return 130
    print(f"written: {options.folder}; play it: ginrummy play ppo:{options.folder / POLICY}")
    return 0
