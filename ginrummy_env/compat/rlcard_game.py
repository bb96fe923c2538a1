"""One deal of these rules as an environment of RLCard, for its agents, runners and tournaments.

Importing this module registers ``ginrummy-env``; it needs rlcard (the extra ``bench``)::

    import rlcard
    import ginrummy_env.compat.rlcard_game

    env = rlcard.make("ginrummy-env", config={"seed": 42, "game_rules": "eaai"})
    env.set_agents([agent, PolicyAgent("simple")])
    trajectories, payoffs = env.run(is_training=True)
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlcard.envs import Env
from rlcard.envs.registration import register

from ginrummy_env.core.actions import NUM_ACTIONS, format_action
from ginrummy_env.core.chance import MAX_SEED, Random
from ginrummy_env.core.observation import observation_size
from ginrummy_env.core.single_game import quick_legal_step, quick_mask, quick_observation
from ginrummy_env.core.state import NUM_PLAYERS
from ginrummy_env.core.view import View, make_view
from ginrummy_env.envs.episodes import Episodes, action_number
from ginrummy_env.envs.opponents import PolicyLike
from ginrummy_env.envs.options import EpisodeOptions
from ginrummy_env.policy import make_policy, policy_name

NAME = "ginrummy-env"

_ROW = np.zeros(1, dtype=np.intp)


class Deal:
    """A deal with the methods that RLCard expects of a game. States are views."""

    def __init__(self, options: EpisodeOptions) -> None:
        """Make a game; `init_game` deals."""
        self._games = Episodes(1, options)
        self._before: list[Any] = []
        self.allow_step_back = False
        self.np_random: Any = None
        self.payoffs = [0.0, 0.0]

    def get_num_players(self) -> int:
        """Return 2."""
        return NUM_PLAYERS

    def get_num_actions(self) -> int:
        """Return 108."""
        return NUM_ACTIONS

    def begin_stream(self, seed: int) -> None:
        """Let the next deal be the first of a seed's."""
        self._games.reseed(seed, _ROW)

    def init_game(self) -> tuple[View, int]:
        """Deal; return what the player to move sees, and who that is."""
        with self._games.whole():
            self._games.start(_ROW)
        self._before.clear()
        self.payoffs = [0.0, 0.0]
        return self._turn()

    def step(self, action: int) -> tuple[View, int]:
        """Take an action; return what the player to move sees, and who that is.

        Raises:
            IllegalActionError: the action is not legal; nothing has changed.
        """
        self._games.require_ready()
        state = self._games.state
        before = state.copy() if self.allow_step_back else None
        if not quick_legal_step(state, action, self._games.options.rules):
            ended = self._games.step([action_number(action)])
            if ended is not None:
                self.payoffs = ended.rewards[0].tolist()
        if before is not None:
            self._before.append(before)
        return self._turn()

    def step_back(self) -> bool:
        """Take the last action back; return whether there was one."""
        if not self._before:
            return False
        self._games.state.assign(_ROW, self._before.pop())
        self.payoffs = [0.0, 0.0]
        return True

    def get_state(self, player: int) -> View:
        """Return what a player sees, one row."""
        return make_view(self._games.state, self._games.options.rules, [player])

    def get_player_id(self) -> int:
        """Return who is to move."""
        return int(self._games.state.player[0])

    def is_over(self) -> bool:
        """Return whether the deal is over."""
        return bool(self._games.state.over[0])

    def mask(self) -> NDArray[np.int8]:
        """Return the legal actions, [108] int8; none when the deal is over."""
        if self.is_over():
            return np.zeros(NUM_ACTIONS, dtype=np.int8)
        return quick_mask(self._games.state, self._games.options.rules)

    def observation(self, player: int) -> NDArray[np.float32]:
        """Return a player's observation, [693] float32."""
        return quick_observation(self._games.state, self._games.options.rules, player, True)

    def _turn(self) -> tuple[View, int]:
        player = self.get_player_id()
        return self.get_state(player), player


class GinRummyEnv(Env):  # type: ignore[misc]
    """One deal, paid in points / 100.

    A state has ``obs`` (float32[693], as in the other environments), ``legal_actions`` (an
    OrderedDict of action numbers), ``raw_obs`` (the `View`) and ``raw_legal_actions`` (in words).
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Make the environment.

        Args:
            config: ``seed``, ``allow_step_back`` and ``game_rules`` (a preset, text or settings).
        """
        self.name = NAME
        rules = config.get("game_rules", "classic")
        self.game = Deal(EpisodeOptions(rules=rules, episode="deal", reward="points"))
        super().__init__(config=config)
        self.state_shape = [[observation_size(True)]] * NUM_PLAYERS
        self.action_shape = [None] * NUM_PLAYERS

    def seed(self, seed: int | None = None) -> int:
        """Begin a stream of deals; drawn by chance without a seed."""
        drawn = int(super().seed(seed)) & MAX_SEED
        self.game.begin_stream(drawn if seed is None else seed)
        return drawn if seed is None else seed

    def get_payoffs(self) -> NDArray[np.float64]:
        """Return what the deal pays players 0 and 1; zeros while it is not over."""
        return np.array(self.game.payoffs)

    def get_perfect_information(self) -> dict[str, Any]:
        """Return both players' observations and who is to move."""
        seen = [self.game.observation(player) for player in range(NUM_PLAYERS)]
        return {"observations": seen, "current_player": self.game.get_player_id()}

    def _extract_state(self, state: View) -> dict[str, Any]:
        player = int(state.player[0])
        legal = self._get_legal_actions() if player == self.game.get_player_id() else OrderedDict()
        return {
            "obs": self.game.observation(player),
            "legal_actions": legal,
            "raw_obs": state,
            "raw_legal_actions": [format_action(action) for action in legal],
            "action_record": self.action_recorder,
        }

    def _decode_action(self, action_id: int) -> int:
        return action_id

    def _get_legal_actions(self) -> "OrderedDict[int, None]":
        return OrderedDict.fromkeys(np.flatnonzero(self.game.mask()).tolist())


class PolicyAgent:
    """One of this project's policies as an agent of RLCard."""

    use_raw = False

    def __init__(self, policy: PolicyLike, rng: Random | None = None) -> None:
        """Make an agent.

        Args:
            policy: a policy, its name, such as "simple", or a function ``(view, rng) -> actions``.
            rng: its randomness; a NumPy generator of its own if None.
        """
        self._policy = make_policy(policy)
        self._rng = np.random.default_rng() if rng is None else rng
        self.name = policy_name(self._policy)

    def step(self, state: Mapping[str, Any]) -> int:
        """Return the policy's action."""
        return int(self._policy.act(state["raw_obs"], self._rng)[0])

    def eval_step(self, state: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the policy's action, and no further information."""
        return self.step(state), {}


register(env_id=NAME, entry_point=f"{__name__}:GinRummyEnv")
