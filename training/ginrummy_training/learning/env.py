"""The learner's environment: the public one with the options of a run, counting how deals end."""

from collections import Counter
from typing import Any

from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from ginrummy_agents.learned.inputs import feature_sizes, features
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.core.rules import Rules
from ginrummy_env.core.state import NOBODY
from ginrummy_env.core.types import Flat
from ginrummy_env.core.view import View
from ginrummy_env.envs import Features, register_features
from ginrummy_env.envs.sb3_vec_env import GinRummyVecEnv
from ginrummy_training.learning.settings import TrainSettings
from ginrummy_training.learning.win_chance import WinChance, changes_of

FEATURES = {
    (False, False): "raw",
    (True, False): "derived",
    (True, True): "ahead",
    (False, True): "raw_ahead",
}
"""The environments' features by the settings ``derived`` and ``ahead``."""


def _raw_ahead(view: View) -> Flat:
    return features(view, derived=False, ahead=True)


_PLANES, _SCALARS = feature_sizes(derived=False, ahead=True)
register_features("raw_ahead", Features(_PLANES * NUM_CARDS + _SCALARS, _raw_ahead, -2.0, 2.0))


class LearningEnv(GinRummyVecEnv):
    """The environment of a run.

    Attributes:
        endings: how deals ended since `take_endings`: ``my_gin``, ``opponent_knock``, ``void`` ...
    """

    def __init__(
        self,
        settings: TrainSettings,
        rules: Rules,
        chance: WinChance | None,
        opponent: str = "simple",
    ) -> None:
        """Make the environment.

        Args:
            settings: episode, reward and planes.
            rules: the settings of the games.
            chance: the chance of winning; needed for the reward "chance".
            opponent: who plays until `set_opponents` is called.
        """
        if (settings.reward == "chance") != (chance is not None):
            raise ValueError(
                "the reward 'chance' needs a chance of winning; no other reward takes one"
            )
        reward, hook = settings.reward, None
        if chance is not None:  # of the expert's own deals, not that of the option "chance"
            reward, hook = "points", changes_of(chance)
        super().__init__(
            settings.num_envs,
            opponent,
            rules=rules,
            episode=settings.episode,
            reward=reward,
            reward_hook=hook,
            max_deals=None if settings.episode == "deal" else settings.max_deals,
            features=FEATURES[settings.derived, settings.ahead],
        )
        self.endings: Counter[str] = Counter()

    def step_wait(self) -> VecEnvStepReturn:
        """Return the outcome of the step."""
        seats = self.games.seats.copy()
        found = super().step_wait()
        for row, info in enumerate(found[3]):
            for deal in info["deals"]:
                self._count(deal, int(seats[row]))
        return found

    def take_endings(self) -> dict[str, float]:
        """Return the share of each ending since this was last called."""
        deals = self.endings["deals"]
        shares = {name: n / deals for name, n in self.endings.items() if name != "deals"}
        self.endings.clear()
        return shares

    def _count(self, deal: Any, seat: int) -> None:
        """Count how a deal ended."""
        self.endings["deals"] += 1
        winner = deal["winner"]
        if winner == NOBODY:
            self.endings[deal["outcome"]] += 1
        else:
            side = "my" if winner == seat else "opponent"
            self.endings[f"{side}_{deal['outcome']}"] += 1
