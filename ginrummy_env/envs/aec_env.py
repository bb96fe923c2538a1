"""PettingZoo: gin rummy as an AEC environment, two players in turn.

`env` is wrapped as PettingZoo's classic games are; `raw_env` raises on illegal actions;
`parallel_env` is the turn-based game in the parallel API.

Version history:

- v0: the first.
"""

import copy
from typing import Any, Unpack, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from ginrummy_env.core.actions import NUM_ACTIONS, PASS, IllegalActionError
from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.checks import one_of
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.single_game import quick_legal_step, quick_mask, quick_observation
from ginrummy_env.core.state import Phase
from ginrummy_env.core.view import View, make_view
from ginrummy_env.envs.episodes import Episodes, action_number
from ginrummy_env.envs.observing import STATE_SIZE, ActionSpace, Observer, privileged_state, row_of
from ginrummy_env.envs.options import (
    PettingZooKeywords,
    WaitingMask,
    known_reset_options,
    read_options,
)
from ginrummy_env.envs.rendering import RENDER_FPS, RENDER_MODES, Screen
from ginrummy_env.envs.shaping import DeadwoodShaping
from ginrummy_env.envs.starts import read_start

AGENTS = ["player_0", "player_1"]
ILLEGAL_REWARD = -1.0

Observation = Any
"""A dict of arrays, or with ``mask_in="info"`` an array."""

_ROW = np.zeros(1, dtype=np.intp)
_DEAL_OVER = int(Phase.DEAL_OVER)


class raw_env(AECEnv):  # type: ignore[misc]
    """Gin rummy for two agents, ``player_0`` and ``player_1``.

    Observations are ``{"observation": float32[size], "action_mask": int8[108]}``; that of the
    player who is not to move is its own view, with a mask of zeros. Both are paid in the step that
    ends a deal. ``infos[agent]["deals"]`` lists the deals that have ended since the agent's last
    action (see `deal_infos.RESULT_KEYS`).

    Raises:
        IllegalActionError: from ``step``, before anything changes.
        gymnasium.error.ResetNeeded: from ``step``, after a step that was broken off, by Ctrl-C say.
    """

    metadata = {  # noqa: RUF012 - PettingZoo's convention
        "name": "gin_rummy_v0",
        "render_modes": RENDER_MODES,
        "render_fps": RENDER_FPS,
        "is_parallelizable": False,
    }

    def __init__(self, **options: Unpack[PettingZooKeywords]) -> None:
        """Make the environment; ``reset`` deals.

        Args:
            options: see `options.PettingZooKeywords` and `options.EpisodeOptions`.
        """
        super().__init__()
        episodes, others = read_options(options, PettingZooKeywords)
        self._games = Episodes(1, episodes)
        self._rules = episodes.rules
        self._observer = Observer(episodes, "observation")
        if self._observer.is_dict and not self._observer.mask_in_observation:
            raise ValueError(
                "history: the observation is a dict then, in which PettingZoo looks for the mask: "
                "mask_in='observation' or 'both' is needed"
            )
        self._shaping = DeadwoodShaping(1, episodes.shaping)
        self._quick = {"raw": False, "derived": True}.get(episodes.features)
        self._waiting_mask = np.zeros(NUM_ACTIONS, dtype=self._observer.mask_dtype)
        waiting = one_of("waiting_mask", others["waiting_mask"], get_args(WaitingMask))
        self._waiting_mask[PASS] = waiting == "pass"
        self.render_mode = others["render_mode"]
        self._screen = Screen(self.render_mode, others["open_cards"])
        self.possible_agents = AGENTS[:]
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._observer.space() for agent in AGENTS}
        if episodes.privileged:
            self.state_space = spaces.Box(0.0, 1.0, (STATE_SIZE,), np.float32)
        self.action_spaces = {agent: ActionSpace(NUM_ACTIONS) for agent in AGENTS}
        # What has been computed for the position: both observations, the mover's mask.
        self._seen: list[NDArray[np.float32] | None] = [None, None]
        self._mask: NDArray[np.int8] | None = None

    @property
    def rules(self) -> Rules:
        """The settings of the game."""
        return self._rules

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        Args:
            seed: begins a stream of games: the same seed gives the same games. Without one the next
                game of the stream is dealt; the first stream is drawn by chance.
            options: ``{"deck": cards in dealing order, "dealer": 0 or 1, "start": {"scores":
                [80, 90], ...}}``, see `starts.read_start`; of others there is a warning, as
                PettingZoo's checks want them to be taken.

        Raises:
            ValueError: a bad seed, deck or dealer; nothing has changed.
        """
        given = known_reset_options(options)
        start = read_start(given, 1, self._games.options)
        if seed is not None:
            require_seed(seed)
        with self._games.whole():
            self._games.reseed(seed, _ROW)
            self._games.start(_ROW, start)
            self._shaping.begin(self._games.state, _ROW)
            self.agents = self.possible_agents[:]
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
            self.terminations = dict.fromkeys(self.agents, False)
            self.truncations = dict.fromkeys(self.agents, False)
            self.infos: dict[str, dict[str, Any]] = {agent: self._info() for agent in AGENTS}
            self._paid = False
            self._skip_agent_selection = None
            self._moved()
            self.agent_selection = AGENTS[self._games.state.player[0]]
            self._note_masks()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Take the action of the agent to move; None for an agent whose episode is over.

        Raises:
            IllegalActionError: the action is not legal; nothing has changed.
            ValueError: an action for an agent whose episode is over, or none for one to move.
        """
        if not hasattr(self, "agent_selection"):
            self._games.require_ready()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        games = self._games
        state = games.state
        if not games.ready.item(0):
            games.require_ready()
        mask = self._mask_to_move()
        ended = None
        games.ready[0] = False  # until the step is done
        if not quick_legal_step(state, action, self._rules, mask):
            try:
                ended = games.step([action_number(action)])
            except ValueError as error:  # nothing has changed
                games.ready[0] = True
                if isinstance(error, IllegalActionError):
                    raise IllegalActionError(None, error.action, error.legal) from None
                raise
        self._moved()
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = self._info()
        self.agent_selection = AGENTS[state.player.item(0)]
        if ended is None and not self._shaping.weight:
            if self._paid:
                self._clear_rewards()
                self._paid = False
        else:
            self._paid = True
            paid = self._shaping.pay(state)[0]
            if ended is not None:
                paid += ended.rewards[0]
            self.rewards = dict(zip(AGENTS, paid.tolist(), strict=True))
            self._accumulate_rewards()
        if ended is not None:
            if games.options.report_deals:
                result = ended.results()[0].to_dict()
                for info in self.infos.values():
                    info["deals"].append(copy.deepcopy(result))
            if ended.terminated[0] or ended.truncated[0]:
                self.terminations = dict.fromkeys(AGENTS, bool(ended.terminated[0]))
                self.truncations = dict.fromkeys(AGENTS, bool(ended.truncated[0]))
                self.agent_selection = AGENTS[1 - AGENTS.index(agent)]
        self._note_masks()
        games.ready[0] = True
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return what the agent sees, in new arrays.

        The mask of the agent that is not to move is that of the option ``waiting_mask``; at the end
        of the episode both are zeros.
        """
        number = AGENTS.index(agent)
        if not self._games.ready.item(0):
            self._games.require_ready()
        state = self._games.state
        mask = self._mask_of(number)
        if self._quick is None or self._games.options.history:
            player = np.array([number], dtype=np.int8)
            return row_of(self._observer.observe(state, self._rules, player, mask[None]), 0)
        observation = self._seen[number]
        if observation is None:
            observation = quick_observation(state, self._rules, number, self._quick)
            self._seen[number] = observation
        if not self._observer.mask_in_observation:
            return observation.copy()
        return {self._observer.key: observation.copy(), "action_mask": mask}

    def state(self) -> NDArray[np.float32]:
        """Return what is hidden too, with the option ``privileged``; see `privileged_state`.

        The hand of ``player_0`` comes first.

        Raises:
            NotImplementedError: without the option.
        """
        if not self._games.options.privileged:
            raise NotImplementedError("state() shows hidden cards: it needs privileged=True")
        return privileged_state(self._games.state, [0])[0]

    def is_legal(self, action: int | None) -> bool:
        """Return whether the agent to move may take this action."""
        if action is None or not 0 <= action < NUM_ACTIONS:
            return False
        if self._games.state.phase.item(0) >= _DEAL_OVER:
            return False
        return bool(self._mask_to_move()[action])

    def view(self, agent: str) -> View:
        """Return the agent's view, one row: what policies are given."""
        self._games.require_ready()
        return make_view(self._games.state, self._rules, [AGENTS.index(agent)])

    def provenance(self) -> dict[str, int]:
        """Return seed, game number and deal number, which name the deck in play.

        For the environment's owner, to replay a game; see `Episodes.provenance`.
        """
        return {name: int(each[0]) for name, each in self._games.provenance().items()}

    def render(self) -> Any:
        """Return the position of the agent to move as text or pixels, or show it in a window."""
        state = self._games.state
        return self._screen.show(state, self._rules, 0, int(state.player[0]))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()

    def _mask_of(self, number: int) -> NDArray[Any]:
        """Return the mask of a player, a new array."""
        state = self._games.state
        if state.phase.item(0) >= _DEAL_OVER:
            return np.zeros_like(self._waiting_mask)
        if state.player.item(0) != number:
            return self._waiting_mask.copy()
        return self._mask_to_move().astype(self._waiting_mask.dtype)

    def _mask_to_move(self) -> NDArray[np.int8]:
        """Return the mask of the player to move; do not write into it."""
        if self._mask is None:
            self._mask = quick_mask(self._games.state, self._rules)
        return self._mask

    def _note_masks(self) -> None:
        """Write the masks into the infos, if they are to be there."""
        if self._observer.mask_in_info:
            for number, each in enumerate(AGENTS):
                self.infos[each]["action_mask"] = self._mask_of(number)

    def _info(self) -> dict[str, Any]:
        return {"deals": []} if self._games.options.report_deals else {}

    def _moved(self) -> None:
        self._seen = [None, None]
        self._mask = None


def env(**options: Unpack[PettingZooKeywords]) -> Any:
    """Return the environment with the wrappers of PettingZoo's classic games.

    An illegal action ends the game: -1 for the agent that took it, 0 for the other. Arguments: see
    `raw_env`.
    """
    ending = IllegalEnds(raw_env(**options), illegal_reward=ILLEGAL_REWARD)
    return OrderEnforced(wrappers.AssertOutOfBoundsWrapper(ending))


class IllegalEnds(wrappers.TerminateIllegalWrapper):  # type: ignore[misc]
    """PettingZoo's TerminateIllegalWrapper; legal actions may bypass it, see `OrderEnforced`."""

    def step(self, action: int | None) -> None:
        """Take a legal action, or end the episode."""
        self._prev_obs = None  # a mask seen before may be that of another position
        super().step(action)


class OrderEnforced(wrappers.OrderEnforcingWrapper):  # type: ignore[misc]
    """PettingZoo's OrderEnforcingWrapper; legal actions and reads go to `raw_env` directly.

    PettingZoo's wrappers pass on each call one by one, which takes longer than a step of the game.
    Before `reset` the attributes are missing here as there, with the same words.
    """

    def __init__(self, env: Any) -> None:
        """Wrap ``env``, at whose bottom there is a `raw_env`."""
        super().__init__(env)
        self._raw: raw_env = env.unwrapped
        self._last_action = int(next(iter(self._raw.action_spaces.values())).n) - 1

    def step(self, action: Any) -> None:
        """Take an action; what is not a whole number is refused here, in one way.

        Raises:
            ValueError: such as True, 2.0 or an array in brackets.
        """
        number = None if action is None else action_number(action, self._last_action)
        raw = self._raw
        live = self._has_reset and raw.agents and not raw.terminations[raw.agent_selection]
        if live and raw.is_legal(number):  # the wrappers between would have nothing to object
            self._has_updated = True
            raw.step(number)
        else:
            super().step(number)

    def observe(self, agent: str) -> Observation:
        """Return what the agent sees."""
        return self._raw.observe(agent) if self._has_reset else super().observe(agent)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, termination, truncation and info of the agent to move."""
        return self._raw.last(observe) if self._has_reset else super().last(observe)


def _direct(name: str) -> property:
    def read(wrapper: OrderEnforced) -> Any:
        if not wrapper._has_reset:
            raise AttributeError(name)  # Python then asks __getattr__, which says more
        return getattr(wrapper._raw, name)

    return property(read)


for _name in (
    "agents",
    "agent_selection",
    "rewards",
    "terminations",
    "truncations",
    "infos",
    "_cumulative_rewards",
):
    setattr(OrderEnforced, _name, _direct(_name))


class ParallelGame(turn_based_aec_to_parallel_wrapper):  # type: ignore[misc]
    """The game in the parallel API; after its end a step gives five dicts (PettingZoo's four)."""

    def step(self, actions: dict[str, int | None]) -> Any:
        """Take the mover's action; the others' are not looked at."""
        if not getattr(self, "agents", True):
            return {}, {}, {}, {}, {}
        return super().step(actions)

    def provenance(self) -> dict[str, int]:
        """Return what names the deck in play; see `raw_env.provenance`."""
        return self.unwrapped.provenance()


def parallel_env(**options: Unpack[PettingZooKeywords]) -> Any:
    """Return `env` in the parallel API; ``infos[agent]["active_agent"]`` is the one to move next.

    Both agents give an action in each step; that of the agent not to move is ignored. Its
    mask flags a pass (``waiting_mask="pass"``), so that samplers find an action.
    """
    options.setdefault("waiting_mask", "pass")
    return ParallelGame(env(**options))
