"""A person's game against an agent, one step at a time, kept as a record after every step.

What leaves here for the browser is made from the person's view alone (`WebGame.scene`), so neither
the opponent's cards, nor the stock, nor the seed can be in it. A step names the game and the
version of it that it was meant for; anything else is refused, so a second tab or a request that
arrives twice changes nothing.
"""

import re
import secrets
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, format_action
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.chance import Purpose, RowRandom, keys
from ginrummy_env.core.deadwood import NOT_HELD, deadwood_after_discard
from ginrummy_env.core.game import game_winners
from ginrummy_env.core.rules import PRESETS, Rules, rules_name
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.view import View, make_view
from ginrummy_env.policy import ENTRY_POINTS, Policy, make_policy
from ginrummy_env.render.reading import read_position
from ginrummy_env.render.text import sign_name
from ginrummy_env.viewer import Replay
from ginrummy_env.viewer.scene import Json, action_words, sheet, view_frame
from ginrummy_training.play.saved_game import (
    AGENT,
    PERSON,
    YOU,
    ChangedFileError,
    ForfeitError,
    SavedGame,
    require_name,
)
from ginrummy_training.play.terminal_player import log_text, why_not


class WebError(Exception):
    """A request that is not done. ``status`` is its HTTP status, the text says why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def registered() -> list[str]:
    """Return the names of all agents that are installed and can play by their name alone."""
    names = {point.name for point in entry_points(group=ENTRY_POINTS)}
    return sorted(names - {"exec", "sb3"})  # which need the command of a program, or a file


class WebGame:
    """The game in play, and the folder that keeps it and those before it.

    Resumes an unfinished game, or starts a new one.

    Args:
        folder: gets one file per game, ``game-0001.txt`` and so on.
        agent: whom a new game is played against.
        rules: of new games.
        seed: of the decks; None: new ones each time.
        hints: more agents to choose from, besides those registered.

    Raises:
        ValueError: no such agent.
        RecordError: the last file of the folder is corrupt; it is left as it is.
        OSError: the folder cannot be read or written.
    """

    def __init__(
        self,
        folder: Path,
        agent: str,
        rules: Rules,
        *,
        seed: int | None = None,
        hints: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.all_rules = {rules_name(rules): rules} | PRESETS
        self.agents = list(dict.fromkeys([agent, *hints, *registered()]))
        for name in (agent, *hints):
            make_policy(name)
            require_name(name)
        self._seed = seed
        self._lock, self._hint_lock = Lock(), Lock()
        self._policies: dict[str, Policy] = {}
        folder.mkdir(parents=True, exist_ok=True)
        numbers = [int(match[1]) for path in folder.iterdir() if (match := _numbered(path.name))]
        self.number = max(numbers, default=0)
        self._game: SavedGame
        if not numbers or not self._resume():
            self._start(agent, rules)
        self.all_rules.setdefault(rules_name(self.rules), self.rules)

    @property
    def agent(self) -> str:
        """The agent that plays."""
        return self._game.agent

    @property
    def rules(self) -> Rules:
        """The rules of the game in play."""
        return self._game.rules

    @property
    def _state(self) -> BatchState:
        return self._game.state

    @property
    def path(self) -> Path:
        """The file of the game in play."""
        return self.folder / f"game-{self.number:04d}.txt"

    @property
    def version(self) -> int:
        """A number that grows with every action and every new deal of the game."""
        deals = [*self._game.ends, self._state]
        return sum(int(deal.step_count[0]) for deal in deals) + len(deals) - 1

    # What the browser asks for

    def scene(self) -> Json:
        """Return what the person sees, and what they may do."""
        with self._lock:
            return self._scene()

    def act(self, game: int, version: int, action: int) -> Json:
        """Do what the person wants, let the agent answer, and return the scene.

        Raises:
            WebError: not their move, not legal, or meant for another position.
        """
        with self._lock:
            self._require(game, version)
            view = self._view()
            if not view.to_move[0]:
                raise WebError(409, "it is not your move")
            legal = np.flatnonzero(view.action_masks()[0]).tolist()
            if action not in legal:
                raise WebError(400, f"{format_action(action)}: {why_not(view, action, legal)}")
            self._do(lambda: self._game.step(action))
            self._answer()
            return self._scene()

    def go_on(self, game: int, version: int) -> Json:
        """Deal the next deal, or let the agent move if it is its move; return the scene.

        Raises:
            WebError: neither is to be done, or meant for another position.
        """
        with self._lock:
            self._require(game, version)
            if self._state.phase[0] == Phase.DEAL_OVER:
                self._do(self._game.next_deal)
            elif self._state.phase[0] == Phase.GAME_OVER:
                raise WebError(409, "the game is over: begin a new one")
            elif self._state.player[0] == YOU:
                raise WebError(409, "it is your move")
            self._answer()
            return self._scene()

    def new_game(self, game: int, version: int, agent: str, rules: str) -> Json:
        """Begin another game, and return the scene. The one in play keeps its file.

        Args:
            game: the number of the game on the page.
            version: of it.
            agent: one of those to choose from.
            rules: one of those to choose from.

        Raises:
            WebError: no such agent or rules, or meant for another position.
        """
        with self._lock:
            self._require(game, version)
            self._require_agent(agent)
            if rules not in self.all_rules:
                raise WebError(400, f"no such rules; there are {', '.join(self.all_rules)}")
            try:
                self._start(agent, self.all_rules[rules])
            except ValueError as error:
                raise WebError(400, f"{agent} cannot play: {error}") from error
            return self._scene()

    def hint(self, game: int, version: int, agent: str) -> Json:
        """Return what an agent would do in the person's place, and what it thinks of it.

        Raises:
            WebError: no such agent, not the person's move, or meant for another position.
        """
        with self._lock:
            self._require(game, version)
            self._require_agent(agent)
            view = self._view()
            if not view.to_move[0]:
                raise WebError(409, "it is not your move")
        with self._hint_lock:  # one at a time; the game can go on meanwhile
            try:
                return {"game": game, "version": version, **self._advice(view, agent)}
            except ValueError as error:
                raise WebError(400, f"{agent} cannot explain: {error}") from error

    def replay_page(self) -> str:
        """Return the game so far as a page, with what the person has seen of it."""
        with self._lock:
            record = self._game.record
        return Replay(record, viewer=YOU).html

    # How the game proceeds

    def _start(self, agent: str, rules: Rules) -> None:
        seed = secrets.randbits(63) if self._seed is None else self._seed
        number = self.number + 1

        def dealt(path: Path | None) -> SavedGame:
            return SavedGame.start(
                path, agent, rules, Purpose.WEB_GAME, seed=seed, game_number=number
            )

        # Some agents find out only when they are asked that something is missing.
        trial = dealt(None)
        self._policy(agent).act(make_view(trial.state, rules, AGENT), trial.rng)
        if hasattr(self, "_game"):
            self._game.leave(self._policy(self.agent))
        self._game = dealt(self.folder / f"game-{number:04d}.txt")
        self.number = number
        self._answer()

    def _resume(self) -> bool:
        """Resume the game of the last file; return whether it is unfinished."""
        game = SavedGame.resume(self.path, Purpose.WEB_GAME)
        if game.finished:
            return False
        self._game = game
        if self.agent not in self.agents:
            self.agents.append(self.agent)
        self._answer()
        return True

    def _answer(self) -> None:
        self._do(lambda: self._game.answer(self._policy(self.agent)))

    def _do(self, change: Callable[[], None]) -> None:
        try:
            change()
        except (ChangedFileError, ForfeitError) as error:
            raise WebError(500, str(error)) from error

    def _sum(self, state: BatchState) -> str:
        """Return how the points of a deal add up; empty while it is not over."""
        return read_position(make_view(state, self.rules, YOU)).sum_words()

    def _policy(self, name: str) -> Policy:
        if name not in self._policies:
            self._policies[name] = make_policy(name)
        return self._policies[name]

    def _require(self, game: int, version: int) -> None:
        if (game, version) != (self.number, self.version):
            raise WebError(
                409,
                f"the game has moved on: this was for move {version} of game {game}, "
                f"here it is move {self.version} of game {self.number}",
            )

    def _require_agent(self, agent: str) -> None:
        if agent not in self.agents:
            raise WebError(400, f"no such agent; there are {', '.join(self.agents)}")
        try:
            self._policy(agent)
        except ValueError as error:
            raise WebError(400, f"{agent} cannot play: {error}") from error

    # What is shown

    def _view(self) -> View:
        return make_view(self._state, self.rules, YOU)

    def _scene(self) -> Json:
        view = self._view()
        names = (PERSON, self.agent)
        deals = [*self._game.ends, self._state]
        sums = {number: self._sum(deal) for number, deal in enumerate(deals) if deal.over[0]}
        scene: Json = {
            "game": self.number,
            "version": self.version,
            "agent": self.agent,
            "agents": self.agents,
            "rules": rules_name(self.rules),
            "allRules": list(self.all_rules),
            "file": self.path.name,
            "frame": view_frame(view, names),
            "sheet": sheet(self._game.record, names, sums),
            "log": log_text(view, names, sign_name).splitlines(),
            "status": self._status(view),
            "choices": choices(view),
        }
        if self._state.phase[0] == Phase.GAME_OVER:
            scene["won"] = int(game_winners(self._state, self.rules)[0]) == YOU
        return scene

    def _status(self, view: View) -> str:
        if self._state.over[0]:
            over = self._state.phase[0] == Phase.GAME_OVER
            return "game over" if over else "deal over"
        return "your move" if view.to_move[0] else "agent's move"

    def _advice(self, view: View, agent: str) -> Json:
        from ginrummy_agents.explain import explain
        from ginrummy_agents.search.policy import Search
        from ginrummy_agents.search.reasons import opponent_belief, why

        policy = self._policy(agent)
        moment = keys(Purpose.HINTS, view.deal_number, view.step_count)
        action = int(policy.act(view, RowRandom(moment))[0])
        upcard = int(view.upcard[0])
        told = explain(policy, view, RowRandom(moment))
        advice: Json = {"agent": agent, "action": action, "words": action_words(action, upcard)}
        if told is None:
            return advice
        values = told.values[0]
        known = np.flatnonzero(~np.isnan(values))
        ranked = known[np.argsort(-values[known], kind="stable")].tolist()
        advice["unit"] = told.unit
        advice["values"] = [
            [action_words(each, upcard), float(f"{values[each]:.4g}"), each == action]
            for each in ranked
        ]
        if told.opponent is not None:
            advice["estimate"] = np.round(told.opponent[0], 2).tolist()
        if isinstance(policy, Search) and told.search is not None:
            gains, base = told.search.gains(0), int(told.search.base[0])
            # Of the base policy's action too: gains are over it.
            advice["gains"] = [[gains[each].mean, gains[each].half] for each in ranked]
            advice["base"] = action_words(base, upcard)
            advice["why"] = why(
                policy,
                told.search.base_name,
                base,
                action,
                gains,
                lambda each: action_words(each, upcard),
            )
            belief = opponent_belief(policy, view, RowRandom(keys(Purpose.HINTS, moment)))
            advice["opponent"] = belief.words(self.agent)
        return advice


def choices(view: View) -> list[Json]:
    """Return what the viewer may do.

    Each action has its number and words; one with a card also the card, and what it leaves.

    Args:
        view: one row.
    """
    legal = np.flatnonzero(view.action_masks()[0]).tolist()
    left: Any = None
    if any(action < DRAW_STOCK for action in legal):
        left = deadwood_after_discard(view.hand)[0]
    found = []
    for action in legal:
        entry: Json = {"action": action, "words": action_words(action, int(view.upcard[0]))}
        if action < DRAW_STOCK:
            card = action % NUM_CARDS
            entry |= {"card": card, "knock": action >= KNOCK}
            if left[card] != NOT_HELD:
                entry["left"] = int(left[card])
        found.append(entry)
    return found


def _numbered(name: str) -> re.Match[str] | None:
    return re.fullmatch("game-([0-9]{4,9})[.]txt", name)
