"""Gin rummy as RLlib's MultiAgentEnv: two agents, of which only the mover acts.

`register` registers it as ``"gin_rummy_v0"``. RLlib steps its environments one by one, which is
slow with this engine: `BatchedEnvRunner` steps them together, with the same games.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.vector.vector_multi_agent_env import VectorMultiAgentEnv
from ray.tune.registry import register_env

from ginrummy_agents.learned.inputs import feature_sizes
from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.chance import require_seed
from ginrummy_env.envs.aec_env import AGENTS
from ginrummy_training.rllib.games import Over, SelfPlayGames

NAME = "gin_rummy_v0"
"""The registered name of the environment."""

OBSERVATIONS, MASK = "observations", "action_mask"
"""The parts of an observation, named as in RLlib's example of action masking."""

ByAgent = dict[str, Any]
Stepped = tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]
"""Observations, rewards, terminations, truncations, infos."""

_ROW = np.zeros(1, dtype=np.intp)


def observation_space(derived: bool = True, ahead: bool = True) -> spaces.Dict:
    """Return the space of an agent's observations: `learned.inputs.features` and the mask."""
    planes, scalars = feature_sizes(derived, ahead)
    size = planes * NUM_CARDS + scalars
    return spaces.Dict(
        {
            OBSERVATIONS: spaces.Box(-2.0, 2.0, (size,), np.float32),
            MASK: spaces.Box(0.0, 1.0, (NUM_ACTIONS,), np.float32),
        }
    )


def register() -> None:
    """Register the environment with RLlib under its `NAME`; may be called repeatedly."""
    register_env(NAME, GinRummyMultiAgentEnv)


class GinRummyMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]
    """A game between ``player_0`` and ``player_1``.

    Each step is one decision of one agent, and only the agent to move next gets an observation; at
    the end of an episode both do, without a legal action. Both get their reward in the step that
    ends a deal, so it belongs to an agent's last decision of the deal.

    ``env_config``:

    - ``rules``: a preset's name, a dict of settings, or Rules ("classic").
    - ``episode``: ``"deal_of_game"`` (the default): full games in which every deal is an episode,
      and ``reset`` deals the next; ``"game"``: a full game; ``"deal"``: single deals from 0 : 0.
    - ``reward``: ``"points"`` (the default) of a deal / 100; ``"chance"``: twice the
      change in the chance of winning the game, given by ``chance`` (a `WinChance`); with
      ``"game"`` also ``"win"`` and ``"final"``.
    - ``max_deals``: deals after which a game is cut off (200).
    - ``derived``, ``ahead``: which planes are observed (both).
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        """Make the environment; ``reset`` deals.

        Raises:
            ValueError: an unknown setting, or a bad value.
        """
        super().__init__()
        self.games = SelfPlayGames(1, config)
        self.possible_agents = AGENTS[:]
        self.agents = AGENTS[:]
        space = observation_space(self.games.derived, self.games.ahead)
        self.observation_spaces: dict[str, spaces.Space[Any]] = dict.fromkeys(AGENTS, space)
        self.action_spaces: dict[str, spaces.Space[Any]] = dict.fromkeys(
            AGENTS, spaces.Discrete(NUM_ACTIONS)
        )
        self._seeded = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Start an episode: the next deal of the game, or another game.

        Args:
            seed: starts a stream of games: the same seed gives the same games.
            options: not used.
        """
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(1 << 63))
        if seed is not None:
            self.games.seed(_ROW, require_seed(seed), 0)
            self._seeded = True
        self.games.begin(_ROW)
        self.agents = AGENTS[:]
        return _of_movers(self.games, _ROW)[0], {}

    def step(self, action_dict: dict[str, int]) -> Stepped:
        """Take the mover's action.

        Raises:
            IllegalActionError: it is not legal; nothing has changed.
            ValueError: not exactly the mover acts.
        """
        stepped = _step(self.games, _ROW, [action_dict])[0]
        if stepped[2]["__all__"] or stepped[3]["__all__"]:
            self.agents = []
        return stepped


class GinRummyVectorMultiAgentEnv(VectorMultiAgentEnv):  # type: ignore[misc]
    """N such environments that are stepped, and looked at, together.

    An episode's next step after its end resets it, as RLlib has it (``next_step``).
    """

    def __init__(self, num_envs: int, config: dict[str, Any] | None = None) -> None:
        """Make them; see `GinRummyMultiAgentEnv`."""
        super().__init__()
        self.num_envs = num_envs
        self.games = SelfPlayGames(num_envs, config)
        single = GinRummyMultiAgentEnv(config)
        self.envs = [single] * num_envs  # RLlib asks them for their spaces
        self.single_observation_spaces = single.observation_spaces
        self.single_action_spaces = single.action_spaces
        self.single_observation_space = spaces.Dict(single.observation_spaces)
        self.single_action_space = spaces.Dict(single.action_spaces)
        self.metadata = {"autoreset_mode": "next_step"}
        self._waiting = np.zeros(num_envs, dtype=np.bool_)
        self._seeded = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[list[ByAgent], list[ByAgent]]:
        """Start an episode everywhere; see `GinRummyMultiAgentEnv.reset`.

        Args:
            seed: begins N streams of games of their own, none of which any other seed has.
            options: not used.
        """
        super().reset(seed=seed)
        rows = np.arange(self.num_envs)
        if seed is None and not self._seeded:
            seed = int(np.random.default_rng().integers(1 << 63))
        if seed is not None:
            self.games.seed(rows, require_seed(seed), rows)
            self._seeded = True
        self.games.begin(rows)
        self._waiting[:] = False
        return _of_movers(self.games, rows), [{} for _ in rows]

    def step(self, actions: list[dict[str, int]]) -> tuple[list[ByAgent], ...]:
        """Take the movers' actions, and reset where an episode ended in the last step."""
        waiting, live = np.flatnonzero(self._waiting), np.flatnonzero(~self._waiting)
        found: list[Any] = [None] * self.num_envs
        if waiting.size:
            self.games.begin(waiting)
            for row, first in zip(waiting.tolist(), _of_movers(self.games, waiting), strict=True):
                nothing = dict.fromkeys(AGENTS, 0.0)
                found[row] = (first, nothing, _flags(False), _flags(False), {})
        if live.size:
            stepped = _step(self.games, live, [actions[row] for row in live.tolist()])
            for row, each in zip(live.tolist(), stepped, strict=True):
                found[row] = each
        self._waiting = np.array([each[2]["__all__"] or each[3]["__all__"] for each in found])
        seen, rewards, terminated, truncated, infos = (
            list(part) for part in zip(*found, strict=True)
        )
        return seen, rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing is kept open."""


class BatchedEnvRunner(MultiAgentEnvRunner):  # type: ignore[misc]
    """RLlib's own EnvRunner, with the environments of one process stepped together."""

    def make_env(self) -> None:
        """Make the environments."""
        self.env = GinRummyVectorMultiAgentEnv(
            self.config.num_envs_per_env_runner, dict(self.config.env_config)
        )
        self.num_envs = self.env.num_envs
        self._needs_initial_reset = True


def _of_movers(games: SelfPlayGames, rows: NDArray[np.intp]) -> list[ByAgent]:
    """Return what the players to move see in these rows."""
    seen, masks = games.see(rows)
    movers = games.movers[rows].tolist()
    return [
        {AGENTS[mover]: {OBSERVATIONS: seen[place], MASK: masks[place]}}
        for place, mover in enumerate(movers)
    ]


def _step(
    games: SelfPlayGames, rows: NDArray[np.intp], actions: list[dict[str, int]]
) -> list[Stepped]:
    """Take the movers' actions in these rows, which ascend."""
    movers = games.movers[rows].tolist()
    for each, mover in zip(actions, movers, strict=True):
        if set(each) != {AGENTS[mover]}:
            raise ValueError(f"actions of {sorted(each)} where {AGENTS[mover]} is to move")
    chosen = np.array([next(iter(each.values())) for each in actions])
    rewards, over = games.step(rows, chosen)
    ended = _ended(games, over)
    going = [row for row in rows.tolist() if row not in ended]
    seen = dict(zip(going, _of_movers(games, np.array(going, dtype=np.intp)), strict=True))
    found = []
    for place, row in enumerate(rows.tolist()):
        paid = dict(zip(AGENTS, rewards[place].tolist(), strict=True))
        if row in ended:
            last, terminated, infos = ended[row]
        else:
            last, terminated, infos = seen[row], None, {}
        found.append((last, paid, _flags(terminated is True), _flags(terminated is False), infos))
    return found


def _flags(value: bool) -> ByAgent:
    return {**dict.fromkeys(AGENTS, value), "__all__": value}


def _ended(games: SelfPlayGames, over: Over) -> dict[int, tuple[ByAgent, bool, ByAgent]]:
    """Return, by row, both players' last observations, whether it terminated, and the deal."""
    if not over.rows.size:
        return {}
    seen = [games.see_ended(over, player) for player in range(2)]
    results = over.deals.results()
    found = {}
    for place, row in enumerate(over.rows.tolist()):
        last = {
            name: {OBSERVATIONS: seen[player][0][place], MASK: seen[player][1][place]}
            for player, name in enumerate(AGENTS)
        }
        deal = results[int(over.places[place])]
        found[row] = (last, bool(over.terminated[place]), {name: {"deal": deal} for name in AGENTS})
    return found
