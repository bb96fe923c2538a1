"""A person's game against an agent, written to its file after every action.

The terminal and the browser both play a `SavedGame`, so whatever stops the program (Ctrl-C, a
closed terminal, a kill) costs nothing that was played, and the game resumes where it was.
"""

from pathlib import Path

from ginrummy_env.core.chance import Purpose, RowRandom, policy_keys
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import BatchState, Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Policy, SeatPolicy, new_seats
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

YOU, AGENT = 0, 1
PERSON = "You"


class ChangedFileError(RuntimeError):
    """The file of a game was changed by another program while the game was played."""


class ForfeitError(RuntimeError):
    """The agent, a program say, did something wrong. It may be asked again."""


class SavedGame:
    """A game of a person, player 0, and an agent, player 1.

    Attributes:
        path: the file; None: the game is not saved.
        agent: the text form of the agent.
        rules: the settings.
        state: one row, the deal in play.
        ends: how the deals before it ended, one row each.
    """

    def __init__(
        self,
        path: Path | None,
        agent: str,
        rules: Rules,
        purpose: Purpose,
        deals: list[BatchState],
    ) -> None:
        """Use `start` or `resume`."""
        self.path, self.agent, self.rules, self.purpose = path, agent, rules, purpose
        *self.ends, self.state = deals
        self._records: tuple[DealRecord, ...] = tuple(
            deal_record(end, 0, rules) for end in self.ends
        )
        self._stamp = _stamp(path)
        self._seat = new_seats(1)  # of an agent that remembers
        self._told = len(self.ends)  # the deals whose end it has been told of

    @classmethod
    def start(
        cls,
        path: Path | None,
        agent: str,
        rules: Rules,
        purpose: Purpose,
        *,
        seed: int,
        game_number: int = 0,
    ) -> "SavedGame":
        """Deal the first deal of a game and write it.

        Args:
            path: the file, which is replaced; folders above it are made. None: do not save.
            agent: the agent's text form.
            rules: the settings.
            purpose: of the agent's random numbers.
            seed: of the decks and of the agent.
            game_number: with the seed it determines the decks.

        Raises:
            ValueError: the agent's text form is too long for a record.
            OSError: the file cannot be written.
        """
        require_name(agent)
        game = cls(path, agent, rules, purpose, [new_games(seed, [game_number], rules)])
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            game._commit(game.state, game.ends)
        return game

    @classmethod
    def resume(cls, path: Path, purpose: Purpose) -> "SavedGame":
        """Return the game that a file holds; see `finished`.

        Raises:
            RecordError: a corrupt file, or not a game of a person from its first deal.
            OSError: the file cannot be read.
        """
        stamp = _stamp(path)
        records = load(path)
        record = records[-1] if records else None
        if record is None or len(records) > 1 or (record.players or ("",))[YOU] != PERSON:
            raise RecordError("not a game of `ginrummy play`", None, str(path))
        if record.seed is None or record.deals[0].number:
            raise RecordError("not a game from its first deal, with its seed", None, str(path))
        assert record.players is not None
        deals = [states.select([-1]) for states in replay(record)]
        game = cls(path, record.players[AGENT], record.rules, purpose, deals)
        game._stamp = stamp
        return game

    @property
    def finished(self) -> bool:
        """Whether the game is over."""
        return bool(self.state.phase[0] == Phase.GAME_OVER)

    @property
    def record(self) -> GameRecord:
        """The game so far."""
        return GameRecord(
            rules=self.rules,
            deals=(*self._records, deal_record(self.state, 0, self.rules)),
            seed=int(self.state.seed[0]),
            game_number=int(self.state.game_number[0]),
            players=(PERSON, self.agent),
        )

    @property
    def rng(self) -> RowRandom:
        """The agent's random numbers in this position: the same after the game is resumed."""
        state = self.state
        return RowRandom(policy_keys(self.purpose, state.seed, state.deal_number, state.step_count))

    def step(self, action: int) -> None:
        """Take one action and save the game. Nothing has changed if that fails.

        Raises:
            ValueError: the action is not legal.
            OSError: the file cannot be written.
            ChangedFileError: another program has changed it.
        """
        state = self.state.copy()
        step(state, [action], self.rules)
        self._commit(state, self.ends)

    def answer(self, policy: Policy) -> None:
        """Let the agent move until it is the person's turn or the deal is over; see `step`.

        An agent that remembers is informed of the end of deals and of the game.

        Raises:
            ForfeitError: the agent did something wrong.
        """
        while not self.state.over[0] and self.state.player[0] == AGENT:
            self.step(self._ask(policy))
        if isinstance(policy, SeatPolicy) and self.state.over[0] and self._told <= len(self.ends):
            self._told = len(self.ends) + 1
            view = make_view(self.state, self.rules, AGENT)
            policy.deals_over(self._seat, view)
            if self.finished:
                policy.games_over(self._seat, view)

    def _ask(self, policy: Policy) -> int:
        view = make_view(self.state, self.rules)
        if not isinstance(policy, SeatPolicy):
            return int(policy.act(view, self.rng)[0])
        action = int(policy.act_at(self._seat, view, self.rng)[0])
        if action < 0:
            reason = policy.forfeit_reason(int(self._seat[0]))
            self.leave(policy)
            raise ForfeitError(f"{self.agent}: {reason}")
        return action

    def leave(self, policy: Policy) -> None:
        """Tell an agent that remembers that the game is given up, for now at least."""
        if isinstance(policy, SeatPolicy) and not self.finished:
            policy.games_over(self._seat, make_view(self.state, self.rules, AGENT))
            self._seat = new_seats(1)

    def next_deal(self) -> None:
        """Deal the next deal after one that is over, and save the game; see `step`."""
        state = self.state.copy()
        next_deals(state, self.rules)
        self._commit(state, [*self.ends, self.state])

    def _commit(self, state: BatchState, ends: list[BatchState]) -> None:
        before = self.state, self.ends, self._records
        self.state, self.ends = state, ends
        if len(ends) > len(self._records):
            self._records = (*self._records, deal_record(ends[-1], 0, self.rules))
        if self.path is None:
            return
        try:
            if _stamp(self.path) != self._stamp:
                raise ChangedFileError(
                    f"{self.path.name} has been changed by another program: restart"
                )
            save(self.path, [self.record])
        except BaseException:
            self.state, self.ends, self._records = before
            raise
        self._stamp = _stamp(self.path)


def require_name(agent: str) -> None:
    """Raise ValueError if a record cannot hold the text form of an agent."""
    if len(agent) > MAX_NAME or not agent.isprintable():
        raise ValueError(f"{agent[:40]!r}...: an agent's name has at most {MAX_NAME} letters")


def _stamp(path: Path | None) -> tuple[int, ...]:
    """Return what changes when a file is written; nothing if there is none."""
    try:
        status = path.stat() if path is not None else None
    except FileNotFoundError:
        status = None
    return () if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)
