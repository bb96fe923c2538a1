"""The environment behind `gin_rummy_v4`: PettingZoo's interface of that time."""

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from ginrummy_env.compat.actions import NUM_OLD_ACTIONS, IllegalOldActionError
from ginrummy_env.compat.core_game import CoreGame
from ginrummy_env.compat.game import NUM_PLANES, Game
from ginrummy_env.compat.old_game import OldGame
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.envs.aec_env import (
    AGENTS,
    ILLEGAL_REWARD,
    IllegalEnds,
    Observation,
    OrderEnforced,
)
from ginrummy_env.envs.episodes import action_number
from ginrummy_env.envs.rendering import RENDER_MODES, Screen

RLCARD_KNOCK_REWARD, RLCARD_GIN_REWARD = 0.2, 1.0


class OldInterface(AECEnv):  # type: ignore[misc]
    """One deal for ``player_0`` and ``player_1``, by PettingZoo's old interface.

    Observations are ``{"observation": int8[4, 52], "action_mask": int8[110]}``: their own, also of
    the player who waits, whose mask is zero.
    """

    metadata: ClassVar[dict[str, Any]]

    def __init__(
        self,
        knock_reward: float = 0.5,
        gin_reward: float = 1.0,
        opponents_hand_visible: bool | None = False,
        render_mode: str | None = None,
        screen_height: int | None = 1000,
        *,
        faithful: bool = False,
    ) -> None:
        """Make the environment; ``reset`` deals.

        Args:
            knock_reward: what the winner of a knock gets (with ``faithful``: the knocker).
            gin_reward: what gin pays.
            opponents_hand_visible: whether observations have a fifth row, the cards that the player
                has not seen (in spite of the name, which is the old one).
            render_mode: "human", "rgb_array", "ansi" or None.
            screen_height: taken as before, and not used.
            faithful: whether to play the old game itself, see docs/MIGRATION.md.
        """
        super().__init__()
        self.faithful = bool(faithful)
        self.render_mode = render_mode
        self.screen_height = screen_height
        self._game: Game = OldGame() if faithful else CoreGame()
        self._given = (float(knock_reward), float(gin_reward))
        self._paying = self._given
        self._num_planes = NUM_PLANES if opponents_hand_visible else NUM_PLANES - 1
        self._screen = Screen(render_mode)
        self._mask: NDArray[np.int8] | None = None
        self._broken_off = False
        self.possible_agents = AGENTS[:]
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (self._num_planes, NUM_CARDS), np.int8),
                    "action_mask": spaces.Box(0, 1, (NUM_OLD_ACTIONS,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(NUM_OLD_ACTIONS) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal.

        Args:
            seed: begins a stream of deals: the same seed gives the same deals, with ``faithful``
                those of RLCard. Without one, the next deal of the stream.
            options: ``{"deck": 52 cards in dealing order, "dealer": 0 or 1}``, each may be missing;
                other keys are left alone.
        """
        before, self._broken_off = self._broken_off, True
        try:
            self._game.deal(seed, options or {})
        except ValueError:  # nothing has changed
            self._broken_off = before
            raise
        if seed is not None and self.faithful:  # a fault of the old environment, kept there
            self._paying = (RLCARD_KNOCK_REWARD, RLCARD_GIN_REWARD)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._mask = None
        self.agent_selection = AGENTS[self._game.player]
        self._broken_off = False
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Take the action of the agent to move; None for an agent whose deal is over.

        Raises:
            IllegalOldActionError: the action is not legal; nothing has changed.
            ValueError: an action for an agent whose deal is over, or none for one to move.
            gymnasium.error.ResetNeeded: the last step or reset was broken off.
        """
        self._require_whole()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not self.is_legal(action):
            raise IllegalOldActionError(action, np.flatnonzero(self._known_mask()).tolist())
        game, number = self._game, action_number(action)
        self._broken_off = True
        game.step(number)
        self._mask = None
        self._cumulative_rewards[agent] = 0.0
        self.agent_selection = AGENTS[game.player]
        if game.over:
            self.rewards = dict(zip(AGENTS, game.payoffs(*self._paying), strict=True))
            self.terminations = dict.fromkeys(AGENTS, True)
            for info in self.infos.values():
                info.update(game.told())
            self._accumulate_rewards()
            self._deads_step_first()
        self._broken_off = False
        if self.render_mode == "human":
            self.render()

    def is_legal(self, action: object) -> bool:
        """Return whether the agent to move may take this action; any object may be asked for."""
        try:
            number = action_number(action)
        except ValueError:
            return False
        return 0 <= number < NUM_OLD_ACTIONS and bool(self._known_mask()[number])

    def _require_whole(self) -> None:
        if self._broken_off:
            raise ResetNeeded("the last step or reset was broken off: call reset()")

    def _known_mask(self) -> NDArray[np.int8]:
        if self._mask is None:
            self._mask = self._game.mask()
        return self._mask

    def observe(self, agent: str) -> Observation:
        """Return what the agent sees, in new arrays; the mask is zero unless they are to move."""
        self._require_whole()
        player = AGENTS.index(agent)
        game = self._game
        if game.over or game.player != player:
            mask = np.zeros(NUM_OLD_ACTIONS, dtype=np.int8)
        else:
            mask = self._known_mask().copy()
        return {"observation": game.planes(player, self._num_planes), "action_mask": mask}

    def render(self) -> Any:
        """Return the position of the player to move as text or pixels, or show it in a window."""
        if self.render_mode is None:
            return None
        return self._screen.show(self._game.state, self._game.rules, 0, self._game.player)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()


def wrapped(raw: OldInterface) -> Any:
    """Return ``raw`` in the wrappers of PettingZoo's classic games."""
    ending = IllegalEnds(raw, illegal_reward=ILLEGAL_REWARD)
    return OrderEnforced(wrappers.AssertOutOfBoundsWrapper(ending))


def metadata(name: str) -> dict[str, Any]:
    """Return the metadata of an environment of this name."""
    return {
        "name": name,
        "render_modes": RENDER_MODES,
        "render_fps": 1,
        "is_parallelizable": False,
    }
