"""A person's game against an agent, one step at a time, kept as a record after every step.

What leaves here for the browser is made from the person's view alone (`WebGame.scene`), so neither
the opponent's cards, nor the stock, nor the seed can be in it. A step names the game and the
version of it that it was meant for; anything else is refused, so a second tab or a request that
arrives twice changes nothing.
"""

import re
import secrets
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ginrummy_env.core.actions import DRAW_STOCK, KNOCK, format_action
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.chance import Purpose, RowRandom, keys, policy_keys
from ginrummy_env.core.deadwood import NOT_HELD, deadwood_after_discard
from ginrummy_env.core.game import game_winners, new_games, next_deals
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import View, make_view
from ginrummy_env.policy import ENTRY_POINTS, Policy, make_policy
from ginrummy_env.records.data import MAX_NAME
from ginrummy_env.records.recorder import (
    DealRecord,
    GameRecord,
    RecordError,
    deal_record,
    load,
    replay,
    save,
)
from ginrummy_env.render.reading import read_position
from ginrummy_env.render.text import sign_name
from ginrummy_env.viewer import Replay
from ginrummy_env.viewer.scene import Json, action_words, sheet, view_frame
from ginrummy_training.play.terminal_player import log_text, why_not

YOU, AGENT = 0, 1
PERSON = "You"


class WebError(Exception):
    """A request that is not done. ``status`` is its HTTP status, the text says why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def registered() -> list[str]:
    """Return the names of all agents that are installed."""
    return sorted({point.name for point in entry_points(group=ENTRY_POINTS)})


class WebGame:
    """The game in play, and the folder that keeps it and those before it.

    A game that is not over is gone on with; otherwise a new one begins.

    Args:
        folder: gets a file a game, ``game-0001.txt`` and so on.
        agent: whom a new game is played against.
        rules: of new games.
        seed: of the decks; None: new ones each time.
        hints: further agents to choose from, besides those registered.

    Raises:
        ValueError: no such agent.
        RecordError: the last file of the folder is damaged; it is left as it is.
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
        self.folder, self.rules, self._new_rules = folder, rules, rules
        self.agents = list(dict.fromkeys([agent, *hints, *registered()]))
        for name in (agent, *hints):
            make_policy(name)
            if len(name) > MAX_NAME or not name.isprintable():
                raise ValueError(f"{name[:40]!r}...: an agent's name of {MAX_NAME} letters at most")
        self._seed = seed
        self._lock, self._hint_lock = Lock(), Lock()
        self._policies: dict[str, Policy] = {}
        folder.mkdir(parents=True, exist_ok=True)
        numbers = [int(match[1]) for path in folder.iterdir() if (match := _numbered(path.name))]
        self.number = max(numbers, default=0)
        self._state: BatchState
        self._done: tuple[DealRecord, ...] = ()
        self._sums: dict[int, str] = {}
        self._kept: tuple[Path | None, tuple[int, ...]] = None, ()
        self.agent = agent
        if not numbers or not self._resume():
            self._start(agent)

    @property
    def path(self) -> Path:
        """The file of the game in play."""
        return self.folder / f"game-{self.number:04d}.txt"

    @property
    def version(self) -> int:
        """A number that grows with every action and every new deal of the game."""
        taken = sum(len(deal.actions) for deal in self._done) + int(self._state.step_count[0])
        return taken + len(self._done)

    # What the browser asks for

    def scene(self) -> Json:
        """Return what the person sees, and what he may do."""
        with self._lock:
            return self._scene()

    def act(self, game: int, version: int, action: int) -> Json:
        """Do what the person wants, let the agent answer, and return the scene.

        Raises:
            WebError: not his move, not legal, or meant for another position.
        """
        with self._lock:
            self._require(game, version)
            view = self._view()
            if not view.to_move[0]:
                raise WebError(409, "it is not your move")
            legal = np.flatnonzero(view.action_masks()[0]).tolist()
            if action not in legal:
                raise WebError(400, f"{format_action(action)}: {why_not(view, action, legal)}")
            self._step(action)
            self._answer()
            return self._scene()

    def go_on(self, game: int, version: int) -> Json:
        """Deal again after a deal, or let the agent move if it is his move; return the scene.

        Raises:
            WebError: neither is to be done, or meant for another position.
        """
        with self._lock:
            self._require(game, version)
            if self._state.phase[0] == Phase.DEAL_OVER:
                state = self._state.copy()
                done = (*self._done, deal_record(state, 0, self.rules))
                next_deals(state, self.rules)
                self._commit(state, done)
            elif self._state.phase[0] == Phase.GAME_OVER:
                raise WebError(409, "the game is over: begin a new one")
            elif self._state.player[0] == YOU:
                raise WebError(409, "it is your move")
            self._answer()
            return self._scene()

    def new_game(self, game: int, version: int, agent: str) -> Json:
        """Begin another game, and return the scene. The one in play keeps its file.

        Raises:
            WebError: no such agent, or meant for another position.
        """
        with self._lock:
            self._require(game, version)
            self._require_agent(agent)
            try:
                self._start(agent)
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
                raise WebError(400, f"{agent} cannot say: {error}") from error

    def replay_page(self) -> str:
        """Return the game so far as a page, with what the person has seen of it."""
        with self._lock:
            record = self._record(self._state, self._done)
        return Replay(record, viewer=YOU).html

    # How the game goes on

    def _start(self, agent: str) -> None:
        seed = secrets.randbits(63) if self._seed is None else self._seed
        state = new_games(seed, [self.number + 1], self._new_rules)
        # Some agents find out only when they are asked that something is missing.
        self._policy(agent).act(make_view(state, self._new_rules, AGENT), _rng(state))
        before = self.number, self.agent, self.rules
        self.number, self.agent, self.rules = self.number + 1, agent, self._new_rules
        try:
            self._commit(state, ())
        except BaseException:
            self.number, self.agent, self.rules = before
            raise
        self._sums = {}
        self._answer()

    def _resume(self) -> bool:
        """Go on with the game of the last file; return whether it is not over."""
        self._kept = self.path, _stamp(self.path)
        records = load(self.path)
        record = records[-1]
        if len(records) > 1 or record.players is None or record.players[YOU] != PERSON:
            raise RecordError("not a game that was played in the browser", None, str(self.path))
        if record.seed is None or record.deals[0].number:
            raise RecordError("a game from its first deal, with its seed, is needed", None)
        if record.finished:
            return False
        self.agent, self.rules = record.players[AGENT], record.rules
        if self.agent not in self.agents:
            self.agents.append(self.agent)
        self._policy(self.agent)
        deals = [states.select([-1]) for states in replay(record)]
        self._sums = {number: self._sum(state) for number, state in enumerate(deals)}
        self._state, self._done = deals[-1], record.deals[:-1]
        self._answer()
        return True

    def _step(self, action: int) -> None:
        """Take one action, and keep the game. Nothing has changed if that fails."""
        state = self._state.copy()
        step(state, [action], self.rules)
        self._commit(state, self._done)

    def _answer(self) -> None:
        """Let the agent move until it is the person's turn or the deal is over."""
        while not self._state.over[0] and self._state.player[0] == AGENT:
            state = self._state
            actions = self._policy(self.agent).act(make_view(state, self.rules), _rng(state))
            self._step(int(actions[0]))

    def _commit(self, state: BatchState, done: tuple[DealRecord, ...]) -> None:
        path, stamp = self._kept
        if path == self.path and _stamp(path) != stamp:
            raise WebError(500, f"{path.name} has been changed by another program: start again")
        save(self.path, [self._record(state, done)])
        self._kept = self.path, _stamp(self.path)
        self._state, self._done = state, done
        if state.over[0]:
            self._sums[len(done)] = self._sum(state)

    def _sum(self, state: BatchState) -> str:
        """Return how the points of a deal add up; empty while it is not over."""
        return read_position(make_view(state, self.rules, YOU)).sum_words()

    def _record(self, state: BatchState, done: tuple[DealRecord, ...]) -> GameRecord:
        return GameRecord(
            rules=self.rules,
            deals=(*done, deal_record(state, 0, self.rules)),
            seed=int(state.seed[0]),
            game_number=int(state.game_number[0]),
            players=(PERSON, self.agent),
        )

    def _policy(self, name: str) -> Policy:
        if name not in self._policies:
            self._policies[name] = make_policy(name)
        return self._policies[name]

    def _require(self, game: int, version: int) -> None:
        if (game, version) != (self.number, self.version):
            raise WebError(
                409,
                f"the game has gone on: this was meant for move {version} of game {game}, "
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
        record = self._record(self._state, self._done)
        scene: Json = {
            "game": self.number,
            "version": self.version,
            "agent": self.agent,
            "agents": self.agents,
            "rules": rules_name(self.rules),
            "file": self.path.name,
            "frame": view_frame(view, names),
            "sheet": sheet(record, names, self._sums),
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

        policy = self._policy(agent)
        moment = keys(Purpose.HINTS, view.deal_number, view.step_count)
        action = int(policy.act(view, RowRandom(moment))[0])
        upcard = int(view.upcard[0])
        told = explain(policy, view, RowRandom(moment))
        advice: Json = {"agent": agent, "action": action, "words": action_words(action, upcard)}
        if told is not None:
            values = told.values[0]
            known = np.flatnonzero(~np.isnan(values))
            ranked = known[np.argsort(-values[known], kind="stable")].tolist()
            advice["values"] = [
                [action_words(each, upcard), float(f"{values[each]:.4g}"), each == action]
                for each in ranked
            ]
            advice["unit"] = told.unit
            if told.opponent is not None:
                advice["estimate"] = np.round(told.opponent[0], 2).tolist()
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


def _rng(state: BatchState) -> RowRandom:
    """Return the agent's randomness in a position: after a restart it is the same."""
    return RowRandom(policy_keys(Purpose.WEB_GAME, state.seed, state.deal_number, state.step_count))


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is written; nothing if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _numbered(name: str) -> re.Match[str] | None:
    return re.fullmatch("game-([0-9]{4,9})[.]txt", name)
