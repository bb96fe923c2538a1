"""Exact results on a small deal: its value, an equilibrium, and how exploitable policies are.

The whole tree is walked in batches (`ginrummy_env.compat.deal_tree`). Everything else is done by
OpenSpiel on that tree: CFR and CFR+, best responses, exploitability, expected returns. Player 0
opens and player 1 deals. All numbers are points per deal.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel

from ginrummy_agents.rules.random import RandomAgent
from ginrummy_env.compat.deal_tree import CHANCE, OVER, DealTree
from ginrummy_env.compat.openspiel_tree import Probabilities, TreeGame, load_tree
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import Outcome
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy, make_policy
from ginrummy_training.progress import Progress, no_progress
from ginrummy_training.provenance import fingerprints, require_same, typed_command, versions
from ginrummy_training.storage import (
    ResultError,
    read_arrays,
    read_json,
    write_arrays,
    write_csv,
    write_json,
)

RESULTS, EQUILIBRIUM, PICTURE = "exact.json", "equilibrium.npz", "exact.png"

SOLVERS = {"CFR": pyspiel.CFRSolver, "CFR+": pyspiel.CFRPlusSolver}
"""The equilibrium is the last one's."""
_BEST = "CFR+"

CODE = ("ginrummy_training.strength.exact", "ginrummy_env.compat.openspiel_tree")
"""The modules that decide the results, besides policies and rules."""

_ROWS = 8192


class BestResponses:
    """Best responses to policies on one tree, which OpenSpiel sets up once."""

    def __init__(self, small: TreeGame) -> None:
        """Take the tree; nothing is done yet."""
        self._small = small
        self._responses: list[Any] = []

    def points(self, policy: Any) -> tuple[float, float]:
        """Return what a best response wins from a policy as its opener, and as its dealer.

        The first is against the policy as dealer, the second against the policy as opener. Their
        mean is the policy's exploitability.
        """
        if self._responses:
            for response in self._responses:
                response.set_policy(policy)
        else:
            game = self._small.game
            self._responses = [pyspiel.TabularBestResponse(game, each, policy) for each in (0, 1)]
        root = self._small.game.new_initial_state().history_str()
        opener, dealer = (response.value(root) for response in self._responses)
        return opener, dealer


def policy_table(
    tree: DealTree, policy: Policy, *, samples: int = 16, seed: int = 0
) -> Probabilities:
    """Return what a policy does in every information set, [G, 108] float64.

    A policy that draws random numbers is asked several times, and its shares are taken for its
    probabilities; that of `random` is known.

    Args:
        tree: of the deal.
        policy: it sees the views of the player to move, as in play.
        samples: how often it is asked if two answers differ anywhere.
        seed: of its random numbers.

    Raises:
        ValueError: an action that is not legal.
    """
    if isinstance(policy, RandomAgent):
        return tree.legal / tree.legal.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    counts = np.zeros(tree.legal.shape)
    every = np.arange(len(counts))
    first = None
    for asked in range(max(2, samples)):
        actions = np.concatenate(
            [
                policy.act(make_view(tree.states.select(rows), tree.rules), rng)
                for rows in np.split(every, range(_ROWS, len(every), _ROWS))
            ]
        )
        wrong = np.flatnonzero(~tree.legal[every, actions])
        if wrong.size:
            where = tree.information_states[wrong[0]]
            raise ValueError(f"{policy!r} took action {actions[wrong[0]]}, not legal in: {where}")
        counts[every, actions] += 1
        if asked == 1 and (actions == first).all():
            break
        first = actions
    return counts / counts.sum(axis=1, keepdims=True)


def endings(tree: DealTree, probabilities: Probabilities) -> dict[str, float]:
    """Return how deals end if both play a policy, as shares of all deals.

    Args:
        tree: of the deal.
        probabilities: [G, 108].

    Returns:
        ``"void"``, and the others by who ended the deal: ``"opener: gin"``, ``"dealer: undercut"``.
    """
    before, sets = np.maximum(tree.parent, 0), tree.information_set[tree.parent]
    beginning = tree.parent < 0
    children = np.bincount(before[~beginning], minlength=len(before))
    share = np.where(
        tree.kind[before] == CHANCE,
        1 / np.maximum(children[before], 1),
        probabilities[sets, tree.label % probabilities.shape[1]],
    )
    share[beginning] = 1 / beginning.sum()
    reach = share.copy()
    while (before[~beginning] != 0).any():
        # Twice as far towards the beginning in each round.
        reach *= np.where(beginning, 1, reach[before])
        beginning |= beginning[before]
        before = np.where(beginning, 0, before[before])
    found: dict[str, float] = {}
    ended = tree.kind == OVER
    enders = tree.kind[np.maximum(tree.parent, 0)]
    for outcome in Outcome:
        for player, name in enumerate(("opener", "dealer")):
            word = outcome.name.lower()
            key = word if outcome == Outcome.VOID else f"{name}: {word}"
            chance = float(reach[ended & (tree.outcome == outcome) & (enders == player)].sum())
            if chance:
                found[key] = found.get(key, 0.0) + chance
    return found


def solve(
    small: TreeGame, iterations: int, progress: Progress = no_progress
) -> tuple[list[dict[str, Any]], Probabilities]:
    """Run OpenSpiel's solvers and return how exploitable each is by iteration.

    Args:
        small: the tree.
        iterations: of each solver.
        progress: called as they run.

    Returns:
        One entry for each solver and number of iterations 1, 2, 5, 10, 20, ...: ``exploitability``,
        and ``low`` and ``high``, between which the value of the deal lies for the opener.
        What the best of them plays on average, [G, 108].
    """
    responses = BestResponses(small)
    curve: list[dict[str, Any]] = []
    looked = {each * 10**power for power in range(9) for each in (1, 2, 5)} | {iterations}
    done, total = 0, iterations * len(SOLVERS)
    for name, kind in SOLVERS.items():
        solver = kind(small.game)
        for iteration in range(1, iterations + 1):
            solver.evaluate_and_update_policy()
            done += 1
            if iteration in looked:
                progress(name, done, total)
                opener, dealer = responses.points(solver.average_policy())
                curve.append(
                    {
                        "solver": name,
                        "iterations": iteration,
                        "exploitability": (opener + dealer) / 2,
                        "low": -dealer,
                        "high": opener,
                    }
                )
    return curve, small.probabilities(solver.tabular_average_policy())


def measure(
    small: TreeGame,
    responses: BestResponses,
    equilibrium: Probabilities,
    value: float,
    policy: str | Policy,
    *,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Return how exploitable a policy is.

    Args:
        small: the tree.
        responses: on that tree.
        equilibrium: [G, 108].
        value: of the deal for the opener.
        policy: it.
        samples: see `policy_table`.
        seed: see `policy_table`.

    Returns:
        ``exploitability``, what a best response wins from it per deal, seats taken in turn;
        ``loses_as_opener`` and ``loses_as_dealer``, by how much its worst case is below the
        deal's value in that seat; ``against_equilibrium``, its points per deal against the
        equilibrium, seats taken in turn.
    """
    table = policy_table(small.tree, make_policy(policy), samples=samples, seed=seed)
    opener, dealer = responses.points(small.policy(table))
    root = small.game.new_initial_state()
    opens = small.tree.player[:, None] == 0
    as_opener, as_dealer = (
        pyspiel.expected_returns(root, small.policy(np.where(mine, table, equilibrium)), -1, True)
        for mine in (opens, ~opens)
    )
    return {
        "exploitability": (opener + dealer) / 2,
        "loses_as_opener": dealer + value,
        "loses_as_dealer": opener - value,
        "against_equilibrium": (as_opener[0] + as_dealer[1]) / 2,
    }


def exact(
    agents: Sequence[str],
    rules: Rules,
    *,
    iterations: int = 200,
    samples: int = 16,
    seed: int = 0,
    out: Path | None = None,
    force: bool = False,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return exact results on a small deal; what a folder has of them already is not done again.

    Args:
        agents: text forms of policies.
        rules: of a small deck.
        iterations: of the solvers.
        samples: how often policies with random numbers are asked, see `policy_table`.
        seed: of these.
        out: a folder for the results, or None.
        force: whether to replace results of something else there.
        progress: called with what is under way.

    Raises:
        ValueError: rules whose tree is too large, a policy that there is not.
        ResultError: other results in the folder.
    """
    made_by = fingerprints(agents, also=CODE)
    here: dict[str, Any] = {
        "settings": rules.to_dict(),
        "iterations": iterations,
        "samples": samples,
        "seed": seed,
    }
    stored = _stored(out, {**here, "made_by": made_by}, force)
    small = load_tree(rules)
    kinds = np.bincount(small.tree.kind, minlength=OVER + 1)
    found: dict[str, Any] = {
        "rules": rules_name(rules),
        **here,
        "command": typed_command(),
        "versions": versions(),
        "made_by": made_by,
        "tree": {
            "beginnings": int((small.tree.parent < 0).sum()),
            "histories": int(kinds.sum()),
            "decisions": int(kinds[:CHANCE].sum()),
            "information_sets": len(small.tree.legal),
        },
    }
    if stored is not None and out is not None:
        found["made_by"]["policies"] |= stored["made_by"]["policies"] | made_by["policies"]
        found |= {name: stored[name] for name in ("value", "endings", "solvers", "agents")}
        equilibrium = read_equilibrium(out / EQUILIBRIUM, small.tree)
    else:
        curve, equilibrium = solve(small, iterations, progress)
        last = curve[-1]
        found["value"] = {name: last[name] for name in ("low", "high", "exploitability")}
        found |= {"endings": endings(small.tree, equilibrium), "solvers": curve, "agents": {}}
        if out is not None:
            about = {"settings": rules.to_dict(), "solver": _BEST, **found["value"]}
            legal = equilibrium[small.tree.legal].astype(np.float32)
            write_arrays(out / EQUILIBRIUM, {"probabilities": legal}, about)
            write_results(found, out)
    responses = BestResponses(small)
    value = (found["value"]["low"] + found["value"]["high"]) / 2
    for number, name in enumerate(agents):
        progress(name, number, len(agents))
        if name not in found["agents"]:
            found["agents"][name] = measure(
                small, responses, equilibrium, value, name, samples=samples, seed=seed
            )
            if out is not None:
                write_results(found, out)
    return found


def _stored(out: Path | None, here: Mapping[str, Any], force: bool) -> dict[str, Any] | None:
    """Return the results in a folder that may be added to; None if there are none."""
    if out is None or force or not (out / RESULTS).exists():
        return None
    stored = read_json(out / RESULTS)
    if not isinstance(stored, dict):
        raise ResultError(f"{out / RESULTS}: corrupt; use --force to overwrite it")
    require_same(
        out / RESULTS,
        "exact results",
        here,
        stored,
        "name another folder, or use --force to overwrite it",
    )
    return stored


def read_equilibrium(path: Path, tree: DealTree) -> Probabilities:
    """Return the equilibrium that `exact` has written, [G, 108] float64.

    Args:
        path: ``equilibrium.npz``.
        tree: of the same rules.

    Raises:
        ResultError: it is corrupt, or of other rules.
    """
    arrays, about = read_arrays(path)
    if about.get("settings") != tree.rules.to_dict():
        raise ResultError(f"{path}: an equilibrium for other rules, {about.get('settings')}")
    probabilities = np.zeros(tree.legal.shape)
    try:
        probabilities[tree.legal] = arrays["probabilities"]
    except (KeyError, ValueError) as error:
        raise ResultError(f"{path}: corrupt ({error})") from error
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def write_results(found: Mapping[str, Any], out: Path) -> None:
    """Write results: exact.json (all there is), agents.csv and solvers.csv."""
    write_json(out / RESULTS, found)
    head = ["exploitability", "loses_as_opener", "loses_as_dealer", "against_equilibrium"]
    rows = [[name, *(each[key] for key in head)] for name, each in found["agents"].items()]
    write_csv(out / "agents.csv", ["agent", *head], rows)
    columns = ["solver", "iterations", "exploitability", "low", "high"]
    rows = [[each[key] for key in columns] for each in found["solvers"]]
    write_csv(out / "solvers.csv", columns, rows)
