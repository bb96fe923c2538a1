"""How far a policy is from unbeatable, from below: the most that something is found to win of it.

    found = exploit("champion", rules="eaai", steps=500_000, folder=Path("runs/exploit"))

A policy that nobody can beat wins half of the games against anyone. Whatever beats this one, with
an interval that leaves out a half, shows that it is none; by how much is a lower bound. So:

1. *Candidates.* Agents that exist, and a network that the self-play learner trains against the
   frozen policy alone.
2. *Choice.* All play the policy on the same decks; the one that wins most games is chosen.
3. *Confirmation.* It plays on fresh decks, as the best of several measurements is partly luck.
"""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ginrummy_agents.learned.policy import SHIPPED
from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.rules import Rules, as_rules, rules_name
from ginrummy_env.policy import SeatPolicy, make_policy
from ginrummy_training.evaluation.lockstep import BATCH
from ginrummy_training.evaluation.match import play_matches, require_games
from ginrummy_training.evaluation.match_result import Match, MatchResult
from ginrummy_training.evaluation.match_summary import Summary, summarise
from ginrummy_training.learning.selfplay.settings import (
    SCRATCH,
    SelfPlaySettings,
    network_named,
    network_settings,
)
from ginrummy_training.progress import Progress, no_progress, part_of
from ginrummy_training.provenance import (
    OVERWRITE,
    fingerprints,
    policy_fingerprint,
    require_same,
    versions,
)
from ginrummy_training.storage import ResultError, read_checked, read_json, write_json
from ginrummy_training.strength.protocol import play_fingerprint
from ginrummy_training.strength.response_table import LEARNED

FORMAT = 1
RESULT = "exploit.json"
SETTINGS = "settings.json"
GAMES = "games"
TRAINING = "training"

RESPONSE = replace(
    SCRATCH, held=0.0, learning_rate=4e-4, final_learning_rate=6e-5, critic_rate=2.5, entropy=0.01,
    final_entropy=0.003, gae_lambda=0.95, num_steps=16, batch=2_048, max_deals=60, eval_games=400,
    retest_games=2, tensorboard=False,
)  # fmt: skip
"""The training: small steps, as it begins with a network that plays well; but its critic begins
with nothing, so it learns faster."""
EVALUATIONS = 3
"""How often the network is measured while it is trained; the best one is kept."""
CRITIC_FIRST = 65_000
"""Decisions from which the critic learns before the policy does."""

CANDIDATES = ("lookahead", "ppo", "scratch", "champion", "search:64")
"""Agents that are tried besides the trained one."""

SELECTION_SEED, CONFIRMATION_SEED = 3_000_003, 4_000_003
"""Added to the seed: the decks of choice and confirmation, which no other match here has."""

MAX_DEALS = 200
Result = dict[str, Any]


def exploit(
    policy: str,
    *,
    rules: str | Rules = "eaai",
    steps: int = 1_000_000,
    begin: str = "scratch",
    candidates: Sequence[str] = CANDIDATES,
    select_games: int = 1_000,
    games: int = 4_000,
    seed: int = 0,
    folder: Path,
    workers: int = 1,
    batch: int = BATCH,
    report: Callable[[str], None] = print,
    progress: Progress = no_progress,
    force: bool = False,
) -> Result:
    """Find a best response to a policy, or resume the search for one; return what it wins.

    Args:
        policy: the text form of the policy to beat.
        rules: a preset's name, settings or Rules.
        steps: decisions of the training, of both players; 0: nothing is trained.
        begin: the network to begin the training with: ``"scratch"``, ``"ppo"``, a file that they
            play, or ``""`` for random weights. Where it waits for gin, so does the response.
        candidates: text forms of existing agents to try too.
        select_games: of each candidate on the decks of the choice; even.
        games: of the chosen one on fresh decks; even.
        seed: of decks, agents and the training.
        folder: keeps everything; what it holds is not done again.
        workers: processes of the matches.
        batch: games at once.
        report: called with lines of text of the training.
        progress: called as the training makes decisions, then as games of the matches end.
        force: whether another result in the folder is overwritten.

    Returns:
        What ``exploit.json`` in the folder holds.

    Raises:
        ValueError: a policy, a candidate or a network that cannot be loaded, or nothing to try.
        ResultError: the folder holds something else.
    """
    parsed = as_rules(rules)
    named = rules_name(parsed)
    require_games(select_games), require_games(games), require_seed(seed)
    others = [each.strip() for each in dict.fromkeys(candidates) if each.strip() != policy.strip()]
    if LEARNED in others:
        raise ValueError(f"a candidate may not be called {LEARNED}")
    loaded = make_policy(policy)
    for each in others:
        make_policy(each)
    if not others and not steps:
        raise ValueError("nothing to try: give candidates, or steps of a training")
    if steps and isinstance(loaded, SeatPolicy):
        raise ValueError(f"{policy} remembers games, which training does not support: use steps=0")
    settings = response_settings(policy.strip(), named, steps, begin, seed) if steps else None
    begun = [begin if begin in SHIPPED else f"ppo:{begin}"] if steps and begin else []
    here = {
        "policy": policy.strip(),
        "rules": named,
        "seed": seed,
        "steps": steps,
        "begin": begin if steps else "",
        "candidates": others,
        "made_by": fingerprints(list(dict.fromkeys([policy.strip(), *others, *begun]))),
    }
    _begin(folder, here, force)
    behind: dict[str, Any] = {}
    if settings is not None:
        behind[LEARNED] = f"ppo:{_trained(folder / TRAINING, settings, report, progress)}"
    names = [*others, *behind]

    def play(players: Sequence[str], count: int, deck_seed: int, part: Progress) -> Any:
        return play_matches(
            [Match((name, policy.strip()), parsed, deck_seed, MAX_DEALS) for name in players],
            games=count,
            workers=workers,
            batch=batch,
            files=[folder / GAMES / f"{deck_seed}-{_word(name)}.npz" for name in players],
            policies=behind,
            progress=part,
            force=force,
        )

    total = select_games * len(names) + games
    chosen_from = play(
        names, select_games, SELECTION_SEED + seed, part_of(progress, 0, total, "choice")
    )
    tried = [_measured(name, found) for name, found in zip(names, chosen_from, strict=True)]
    best = max(tried, key=lambda each: each["games_won"]["value"])["name"]
    before = part_of(progress, total - games, total, "confirmation")
    (confirmed,) = play([best], games, CONFIRMATION_SEED + seed, before)
    result = {
        "format": FORMAT,
        **here,
        "play": play_fingerprint(policy, named),
        "fingerprint": policy_fingerprint(policy),
        "tried": tried,
        **{key: value for key, value in _measured(best, confirmed).items() if key != "name"},
        "best": best,
        "training": _about(folder / TRAINING) if steps else None,
        "versions": versions(),
        "command": command(here, select_games, games),
    }
    write_json(folder / RESULT, result)
    return result


def command(about: Result, select_games: int, games: int) -> str:
    """Return the command that gives a result again.

    Args:
        about: of the result: policy, rules, seed, steps, begin and candidates.
        select_games: of each candidate.
        games: of the chosen one.
    """
    words = ["ginrummy", "exploit", about["policy"], "--rules", about["rules"]]
    words += ["--steps", about["steps"]]
    words += ["--begin", about["begin"] or "nothing"] if about["steps"] else []
    words += ["--candidates", *about["candidates"], "--select-games", select_games]
    words += ["--games", games, "--seed", about["seed"], "--out", "FOLDER"]
    return shlex.join(map(str, words))


def response_settings(
    policy: str, rules: str, steps: int, begin: str, seed: int
) -> SelfPlaySettings:
    """Return the settings of the training, checked: every game is against the policy.

    Args:
        policy: its text form.
        rules: a preset's name or settings.
        steps: decisions, of both players.
        begin: see `exploit`.
        seed: of the training.

    Raises:
        SettingError: something that does not exist.
    """
    first = replace(
        RESPONSE, rules=rules, seed=seed, opponents=((policy, 1.0),), eval_opponents=(policy,)
    )
    each = first.num_envs * first.num_steps
    part = -(-steps // (EVALUATIONS * each)) * each  # whole updates
    settings = replace(
        first, begin=begin, steps=steps, eval_every=part, checkpoint_every=part,
        critic_first=min(CRITIC_FIRST, steps // 4) if begin else 0,
    )  # fmt: skip
    if begin:  # features and layers are those of the network
        network = network_named(begin, settings.parsed_rules())
        settings = replace(
            settings,
            **network_settings(network),
            hold=network.hold,
            hold_from=network.hold_from,
        )
    settings.check()
    return settings


def _begin(folder: Path, here: Result, force: bool) -> None:
    """Note in a new folder what is done there, or raise ResultError if it is something else."""
    about = folder / SETTINGS
    if about.exists():
        try:
            require_same(about, "best response", here, read_json(about), OVERWRITE)
        except ResultError:
            if not force:
                raise
            _clear(folder)
    elif folder.exists() and not force:
        for stranger in sorted(folder.iterdir()):
            raise ResultError(f"{stranger} exists, and no best response is here; {OVERWRITE}")
    write_json(about, here)


def _clear(folder: Path) -> None:
    """Remove what a best response to something else has left."""
    from shutil import rmtree

    for name in (GAMES, TRAINING):
        rmtree(folder / name, ignore_errors=True)
    for name in (RESULT, SETTINGS):
        (folder / name).unlink(missing_ok=True)


def _trained(
    folder: Path, settings: Any, report: Callable[[str], None], progress: Progress
) -> Path:
    """Return the file of the trained network: it is trained now, or resumed, if there is none."""
    from ginrummy_training.learning.run_folder import BEST, RESULT, SETTINGS
    from ginrummy_training.learning.selfplay.run import selfplay_train

    if not (folder / RESULT).exists():
        begun = (folder / SETTINGS).exists()
        first = None if begun else settings
        selfplay_train(folder, first, resume=begun, report=report, progress=progress)
    return folder / BEST


def _about(folder: Path) -> dict[str, Any]:
    """Return what a result says of the training."""
    from ginrummy_training.learning.run_folder import RESULT

    stored = read_json(folder / RESULT)
    return {key: stored[key] for key in ("steps", "best_at")}


def _word(name: str) -> str:
    """Return a name as part of a file's."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _measured(name: str, result: MatchResult) -> Result:
    summary: Summary = summarise(result)
    return {
        "name": name,
        "games": summary["games"],
        "games_won": summary["games_won"]["a"],
        "deals_won": summary["deals_won"]["a"],
        "net_points_a_deal": summary["net_points_a_deal"],
    }


def read_result(path: Path) -> Result:
    """Return a result that `exploit` wrote.

    Args:
        path: of the file, or of its folder.

    Raises:
        ResultError: it is not one, or corrupt.
    """
    result: Result = read_checked(path, RESULT, FORMAT, "a result of `ginrummy exploit`", _check)
    return result


def _check(found: Any) -> None:
    """Raise KeyError, TypeError or ValueError if a result lacks what is read of it, or is wrong."""
    for key in ("policy", "rules", "play", "best", "games", "command"):
        found[key]
    for number in (found["games_won"], found["net_points_a_deal"]):
        if not number["low"] <= number["value"] <= number["high"]:
            raise ValueError(f"{number}: not an interval")
    for each in found["tried"]:
        str(each["name"]), float(each["games_won"]["value"])
