"""A game at the terminal between a person and an agent; games from records, shown step by step."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ginrummy_env.core.chance import Purpose, RowRandom, policy_keys
from ginrummy_env.core.game import game_winners, new_games, next_deals
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy, make_policy
from ginrummy_env.records.recorder import GameRecord, Recorder, replay, save
from ginrummy_env.render import position_line, position_text
from ginrummy_training.play.terminal_player import Human, QuitGame

YOU, AGENT = 0, 1


def play(
    human: Human, agent: str | Policy, rules: Rules, *, seed: int, out: Path | None = None
) -> BatchState:
    """Let a person play a game against an agent.

    Args:
        human: the person, player 0.
        agent: player 1.
        rules: the settings.
        seed: of the decks, and of the agent.
        out: a file that gets the record of the game, also of one broken off.

    Returns:
        The game as it stands at the end.
    """
    policies = (human, make_policy(agent))
    state = new_games(seed, [0], rules)
    recorder = Recorder(rules, players=human.names)
    human.show(
        f"Gin rummy, {rules_name(rules)} rules, to {rules.target} points (seed {seed}).\n"
        "Type help for what can be typed, quit to stop.\n"
    )
    try:
        while state.phase[0] != Phase.GAME_OVER:
            while not state.over[0]:
                mover = int(state.player[0])
                moment = policy_keys(
                    Purpose.TERMINAL_GAME, seed, state.deal_number, state.step_count
                )
                actions = policies[mover].act(make_view(state, rules), RowRandom(moment))
                step(state, actions, rules)
            recorder.add(state)
            human.table(make_view(state, rules, players=YOU))
            if state.phase[0] == Phase.DEAL_OVER:
                human.line("Press Enter for the next deal. ")
                next_deals(state, rules)
    except (QuitGame, KeyboardInterrupt):
        score, other = state.scores[0].tolist()
        human.show(f"\nYou stopped at {score} : {other}.")
    else:
        won = int(game_winners(state, rules)[0]) == YOU
        human.show("You won the game." if won else f"{human.names[AGENT]} won the game.")
    if out is not None:
        save(out, recorder.take() + recorder.unfinished(state))
        human.show(f"The game is in {out}; ginrummy replay {out} shows it.")
    return state


def replay_game(
    record: GameRecord,
    show: Callable[[str], object],
    *,
    viewer: int | None = None,
    deal: int | None = None,
    lines: bool = False,
    wait: Callable[[], object] = lambda: None,
    color: bool = False,
) -> None:
    """Show all positions of a recorded game.

    Args:
        record: it.
        show: shows text.
        viewer: 0 or 1: through the eyes of this player; both hands if None.
        deal: the number of one deal of the record, from 0; all if None.
        lines: a line a position, else a page.
        wait: called between positions; may raise QuitGame.
        color: whether the terminal has colours.

    Raises:
        ValueError: there is no such deal.
    """
    names = record.players or ("player 0", "player 1")
    numbers = [each.number for each in record.deals]
    if deal is not None and deal not in numbers:
        first, last = numbers[0] + 1, numbers[-1] + 1
        raise ValueError(f"deal {deal + 1}: the record has deals {first} to {last}")
    me = viewer or 0
    for number, states in zip(numbers, replay(record), strict=True):
        if deal is not None and number != deal:
            continue
        view = make_view(states, record.rules, players=np.full(len(states), me))
        other = make_view(states, record.rules, players=np.full(len(states), 1 - me))
        shown = other if viewer is None else None
        called = (names[me], names[1 - me])
        for row in range(len(states)):
            if lines:
                show(position_line(view, row, names=called, opponent=shown))
            else:
                show(position_text(view, row, names=called, color=color, opponent=shown))
            wait()
