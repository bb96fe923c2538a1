"""The learner's environment: its observations, episodes and rewards."""

from collections import Counter
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from ginrummy_agents.learned.inputs import feature_sizes, with_ahead
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY
from ginrummy_env.core.types import Flat
from ginrummy_env.envs.sb3_vec_env import GinRummyVecEnv
from ginrummy_training.learning.settings import TrainSettings
from ginrummy_training.learning.win_chance import WinChance


def make_env(
    settings: TrainSettings, rules: Rules, chance: WinChance | None, opponent: str = "simple"
) -> "LearningEnv":
    """Return the environment of a run."""
    paid = "points" if settings.reward == "chance" else settings.reward
    games = GinRummyVecEnv(
        settings.num_envs,
        opponent,
        rules=rules,
        episode="deal" if settings.episode == "deal" else "game",
        reward=paid,
        max_deals=None if settings.episode == "deal" else settings.max_deals,
        features="derived" if settings.derived else "raw",
    )
    return LearningEnv(games, settings, chance)


class LearningEnv(VecEnvWrapper):
    """Adds the planes that look ahead, ends episodes with deals, and pays the chance of winning.

    Attributes:
        games: the environment inside.
        endings: how deals ended since `take_endings`: ``my_gin``, ``opponent_knock``, ``void`` ...
    """

    def __init__(
        self, games: GinRummyVecEnv, settings: TrainSettings, chance: WinChance | None
    ) -> None:
        """Wrap an environment.

        Args:
            games: pays points if the reward is to be the chance.
            settings: episode, reward and planes.
            chance: the chance of winning; needed for the reward "chance".
        """
        planes, scalars = feature_sizes(settings.derived, settings.ahead)
        space = spaces.Box(-2.0, 2.0, (planes * NUM_CARDS + scalars,), np.float32)
        super().__init__(games, observation_space=space)
        if (settings.reward == "chance") != (chance is not None):
            raise ValueError(
                "the reward 'chance' needs a chance of winning; no other reward takes one"
            )
        self.games = games
        self.settings = settings
        self.chance = chance
        self.endings: Counter[str] = Counter()
        self._chances = np.full(self.num_envs, 0.5)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)

    def reset(self) -> Flat:
        """Start games in all rows."""
        self._chances[:] = 0.5
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return self._see(np.asarray(self.games.reset()))

    def step_wait(self) -> VecEnvStepReturn:
        """Return the outcome of the step."""
        seats = self.games.games.seats.copy()
        observations, rewards, dones, infos = self.games.step_wait()
        for row, info in enumerate(infos):
            deals = info.get("deals")
            if not deals:
                continue
            for deal in deals:
                self._count(deal, int(seats[row]))
            if self.chance is not None:
                rewards[row] = self._change(row, deals[-1], int(seats[row]), bool(dones[row]))
            if self.settings.episode == "deal_of_game":
                dones[row] = True
                info["TimeLimit.truncated"] = False  # the deal is over, whatever of the game
        self._returns += rewards
        self._lengths += 1
        for row in np.flatnonzero(dones).tolist():
            infos[row]["episode"] = {
                "r": float(self._returns[row]),
                "l": int(self._lengths[row]),
                "t": 0.0,
            }
            last = infos[row].get("terminal_observation")
            if last is not None:
                infos[row]["terminal_observation"] = self._padded(last)
        self._returns[dones] = 0.0
        self._lengths[dones] = 0
        return self._see(np.asarray(observations)), rewards, dones, infos

    def take_endings(self) -> dict[str, float]:
        """Return the share of each ending since this was last called."""
        deals = self.endings["deals"]
        shares = {name: n / deals for name, n in self.endings.items() if name != "deals"}
        self.endings.clear()
        return shares

    def _see(self, observations: Flat) -> Flat:
        if not self.settings.ahead:
            return observations
        return with_ahead(observations, self.games.games.views(), self.settings.derived)

    def _padded(self, observation: Flat) -> Flat:
        """Return a last observation with empty planes ahead: there is nothing left to decide."""
        at = feature_sizes(self.settings.derived, False)[0] * NUM_CARDS
        missing = self.observation_space.shape[0] - len(observation)  # type: ignore[index]
        return np.insert(observation, at, np.zeros(missing, dtype=np.float32))

    def _change(self, row: int, deal: Any, seat: int, over: bool) -> float:
        """Return twice the change in the chance of winning that deals have brought."""
        assert self.chance is not None
        scores = np.array([deal["scores"]])[:, [seat, 1 - seat]]
        now = float(self.chance(scores)[0])
        change = 2 * (now - self._chances[row])
        self._chances[row] = 0.5 if over else now
        return change

    def _count(self, deal: Any, seat: int) -> None:
        """Count how a deal ended."""
        self.endings["deals"] += 1
        winner = deal["winner"]
        if winner == NOBODY:
            self.endings[deal["outcome"]] += 1
        else:
            side = "my" if winner == seat else "opponent"
            self.endings[f"{side}_{deal['outcome']}"] += 1
