"""OpenSpiel's algorithms on our rules: CFR+ on a small deal, MCCFR, and search on the full game.

pip install -e '.[openspiel]'
python examples/openspiel_cfr.py             # some seconds
python examples/openspiel_cfr.py --rules nano --iterations 100

CFR+ is exploitable for 0.0030 points a deal of `nano,turn_bound=1` after 40 iterations.
"""

import argparse
from time import process_time

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

import ginrummy_env.compat.openspiel_game  # noqa: F401  registers the game: glue
from ginrummy_env.compat.openspiel_tree import load_tree


def solve(rules: str, iterations: int) -> float:
    """Run CFR+ on the whole tree of a small deal, and return how exploitable the outcome is."""
    small = load_tree(rules)
    print(f"{rules}: {len(small.tree.kind):,} histories, {len(small.keys):,} information sets")
    solver = pyspiel.CFRPlusSolver(small.game)
    start, looking = process_time(), 0.0
    for iteration in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration in (1, iterations // 4, iterations):
            look = process_time()
            left = pyspiel.exploitability(small.game, solver.average_policy())
            looking += process_time() - look
            print(f"CFR+ {iteration:4} iterations: exploitability {left:.4f} points per deal")
    seconds = (process_time() - start - looking) / iterations
    print(f"{seconds:.3f} s of a core per iteration")
    # What it does with its first decision, in the words of the game "ginrummy_env".
    shares = small.probabilities(solver.tabular_average_policy())
    for number in (0, 1, 2):
        take = shares[number, 105]
        print(f"  {small.tree.information_states[number]}: takes the upcard {take:.0%}")
    return left


def sample(rules: str, iterations: int) -> None:
    """Run external-sampling MCCFR on the game itself: it needs no tree."""
    game = pyspiel.load_game("ginrummy_env", {"rules": rules})
    solver = pyspiel.ExternalSamplingMCCFRSolver(game, seed=0)
    for _ in range(iterations):
        solver.run_iteration()
    print(f"MCCFR: {iterations} iterations on {game}")


def search(rules: str, simulations: int) -> None:
    """Let information-set MCTS play the opener of a full deal against random play."""
    game = pyspiel.load_game("ginrummy_env", {"rules": rules})
    rng = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    bot = ismcts.ISMCTSBot(game, evaluator, uct_c=50, max_simulations=simulations, random_state=rng)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            cards, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(cards, p=np.array(chances) / sum(chances))))
        elif state.current_player() == 0:
            state.apply_action(int(bot.step(state)))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    print(f"IS-MCTS, {simulations} simulations, won {state.returns()[0]:+.0f} points:")
    print(state)


def main() -> None:
    """Run all three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", default="nano,turn_bound=1", help="of a small deck")
    parser.add_argument("--iterations", type=int, default=40, help="of CFR+")
    parser.add_argument("--full", default="eaai,turn_bound=10", help="rules of the full deal")
    parser.add_argument("--simulations", type=int, default=10, help="of each decision of IS-MCTS")
    options = parser.parse_args()
    left = solve(options.rules, options.iterations)
    sample(options.rules, 5)
    search(options.full, options.simulations)
    print(f"CFR+: exploitable for {left:.4f} points a deal of {options.rules}")


if __name__ == "__main__":
    main()
