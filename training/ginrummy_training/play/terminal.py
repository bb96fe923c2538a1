"""A game at the terminal between a person and an agent; games from records, shown step by step."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ginrummy_env.core.chance import Purpose
from ginrummy_env.core.game import game_winners
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import make_policy
from ginrummy_env.records.recorder import GameRecord, RecordError, replay
from ginrummy_env.render import position_line, position_text
from ginrummy_training.play.saved_game import YOU, SavedGame
from ginrummy_training.play.terminal_player import Human, QuitGame


def open_game(
    path: Path | None,
    agent: str | None = None,
    rules: Rules | None = None,
    seed: int | None = None,
    *,
    fresh_seed: int = 0,
    force: bool = False,
) -> SavedGame:
    """Resume the unfinished game of a file, or start a new one.

    Args:
        path: the file; None: a new game that is not saved.
        agent: the text form of the agent; None: that of the file, or "simple".
        rules: the settings; None: those of the file, or CLASSIC.
        seed: of the decks and of the agent; None: that of the file, or ``fresh_seed``.
        fresh_seed: of a new game without a seed.
        force: replace what the file holds.

    Raises:
        ValueError: no such agent; or the file holds something else than an unfinished game
            against this agent, with these rules and this seed.
        OSError: the file cannot be written.
    """
    if path is not None and path.exists() and not force:
        replace = "name another file, or use --force to overwrite it"
        try:
            game = SavedGame.resume(path, Purpose.TERMINAL_GAME)
        except RecordError as error:
            raise ValueError(f"{error}; {replace}") from error
        if game.finished:
            raise ValueError(f"{path}: the game in it is over; {replace}")
        there = {"agent": game.agent, "rules": rules_name(game.rules), "seed": game.record.seed}
        given = {"agent": agent, "rules": rules and rules_name(rules), "seed": seed}
        for name, value in given.items():
            if value is not None and value != there[name]:
                raise ValueError(
                    f"{path}: an unfinished game with another {name} ({there[name]}); to resume "
                    f"it leave out {name}, else {replace}"
                )
        return game
    name = "simple" if agent is None else agent
    make_policy(name)  # before a file is written
    return SavedGame.start(
        path,
        name,
        Rules() if rules is None else rules,
        Purpose.TERMINAL_GAME,
        seed=fresh_seed if seed is None else seed,
    )


def play(human: Human, game: SavedGame) -> BatchState:
    """Let a person play a game, which is saved after every action.

    Args:
        human: the person, player 0.
        game: a new one, or one to resume.

    Returns:
        The deal in play when the person stopped, or the last one.

    Raises:
        ForfeitError: the agent did something wrong.
    """
    policy, rules = make_policy(game.agent), game.rules
    human.show(
        f"Gin rummy, {rules_name(rules)} rules, to {rules.target} points "
        f"(seed {game.record.seed}).\nType help for what can be typed, quit to stop.\n"
    )
    saved = "" if game.path is None else f" The game is in {game.path};"
    try:
        while True:
            game.answer(policy)
            if not game.state.over[0]:
                game.step(int(human.act(make_view(game.state, rules), game.rng)[0]))
                continue
            human.table(make_view(game.state, rules, players=YOU))
            if game.finished:
                break
            human.line("Press Enter for the next deal. ")
            game.next_deal()
    except (QuitGame, KeyboardInterrupt):
        score, other = game.state.scores[0].tolist()
        again = saved and f"{saved} run the same command to resume."
        human.show(f"\nYou stopped at {score} : {other}.{again}")
    else:
        won = int(game_winners(game.state, rules)[0]) == YOU
        again = saved and f"{saved} ginrummy replay {game.path} shows it."
        human.show(f"{'You' if won else human.names[1]} won the game.{again}")
    finally:
        game.leave(policy)
        if callable(close := getattr(policy, "close", None)):
            close()
    return game.state


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
