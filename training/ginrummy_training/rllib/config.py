"""Settings of a run on RLlib, and RLlib's configuration made from them."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from ginrummy_env.core.chance import MAX_SEED
from ginrummy_env.core.rules import Rules
from ginrummy_training.learning.setting_fields import (
    SettingError,
    check_fields,
    check_policies,
    rules_of,
    with_changes,
    within,
)
from ginrummy_training.learning.win_chance import WinChance
from ginrummy_training.rllib.env import NAME, BatchedEnvRunner, register
from ginrummy_training.rllib.module import SHAPE, SuitModule

MODULE = "both"
"""The one module that decides for both agents: self-play."""


@dataclass(frozen=True, kw_only=True)
class RLlibSettings:
    """Everything that decides a run.

    Raises:
        SettingError: a value that is not allowed; says what is.
    """

    rules: str = "eaai"
    seed: int = within(0, 0, MAX_SEED)
    start: str = ""
    """Initial weights: the folder of a run of `ginrummy train`, or a policy, ``"ppo"`` or
    ``"ppo:FILE"``, which has no value head. Empty: random weights."""
    width: int = within(64, 1, 4_096)
    layers: int = within(2, 1, 64)
    convolutions: int = within(0, 0, 16)
    filters: int = within(32, 1, 1_024)
    derived: bool = True
    ahead: bool = True
    episode: Literal["deal_of_game", "deal", "game"] = "deal_of_game"
    """See `GinRummyMultiAgentEnv`, also for the next two."""
    reward: Literal["chance", "points", "win", "final"] = "chance"
    max_deals: int = within(200, 1, 1_000_000)
    env_runners: int = within(0, 0, 10_000)
    """Processes that play; 0: the learner's own."""
    envs: int = within(64, 1, 65_536)
    """Games at once in each."""
    batched: bool = True
    """Whether a process steps its games together; False: one by one, as RLlib does by default."""
    batch: int = within(8_192, 1, 1 << 22)
    """Decisions per iteration."""
    minibatch: int = within(1_024, 1, 1 << 22)
    """Decisions per step of the optimizer."""
    epochs: int = within(4, 1, 1_000)
    """Passes over the decisions of an iteration."""
    learning_rate: float = within(3e-4, 1e-9, 1)
    """This and the following are as in `learning.settings.TrainSettings`."""
    clip: float = within(0.2, 1e-9, 1)
    entropy: float = within(0.002, 0, 10)
    gamma: float = within(1.0, 0, 1)
    gae_lambda: float = within(0.95, 0, 1)
    value_weight: float = within(0.5, 0, 1_000)
    max_grad_norm: float = within(0.5, 1e-9, 1e6)

    def __post_init__(self) -> None:
        """Check all values; `check` also checks what ``start`` names."""
        check_fields(self)
        self.parsed_rules()
        if self.minibatch > self.batch:
            raise SettingError(f"minibatch={self.minibatch}: at most the batch, {self.batch}")
        if self.reward in ("win", "final") and self.episode == "deal_of_game":
            raise SettingError(
                f"reward={self.reward!r} is paid once per game: it needs episode='game'"
            )
        if self.reward == "chance" and self.episode == "deal":
            raise SettingError("reward='chance' needs a game: episode='deal_of_game' or 'game'")

    def check(self) -> None:
        """Check that ``start`` names a run or a policy.

        Raises:
            SettingError: it does not.
        """
        if self.start and not Path(self.start).is_dir():
            check_policies("start", [self.start])

    def shape(self) -> dict[str, Any]:
        """Return the settings of the layers."""
        return {name: getattr(self, name) for name in SHAPE}

    def parsed_rules(self) -> Rules:
        """Return the rules.

        Raises:
            SettingError: neither a preset nor settings of rules.
        """
        return rules_of(self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON can hold them."""
        return asdict(self)

    @classmethod
    def of(cls, given: Any) -> "RLlibSettings":
        """Return settings with these names and values, and the defaults for all others.

        Raises:
            SettingError: an unknown name (suggests the nearest), or a value that is not allowed.
        """
        return with_changes(cls(), given)


def module_of(agent: str, *_: Any, **__: Any) -> str:
    """Return the module that decides for an agent: the same for both."""
    return MODULE


def ppo_config(settings: RLlibSettings, chance: WinChance | None) -> PPOConfig:
    """Return RLlib's configuration of a run, and register the environment.

    Args:
        settings: of the run.
        chance: the chance of winning, for the reward "chance".
    """
    register()
    env = {
        name: getattr(settings, name)
        for name in ("episode", "reward", "max_deals", "derived", "ahead")
    }
    env |= {"rules": settings.parsed_rules().to_dict(), "chance": chance}
    spec = RLModuleSpec(module_class=SuitModule, model_config=settings.shape())
    return (
        PPOConfig()
        # RLlib's check of environments ignores the mask.
        .environment(NAME, env_config=env, disable_env_checking=True)
        .env_runners(
            env_runner_cls=BatchedEnvRunner if settings.batched else MultiAgentEnvRunner,
            num_env_runners=settings.env_runners,
            num_envs_per_env_runner=settings.envs,
            rollout_fragment_length="auto",
        )
        .multi_agent(policies={MODULE}, policy_mapping_fn=module_of)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={MODULE: spec}))
        .training(
            train_batch_size_per_learner=settings.batch,
            minibatch_size=settings.minibatch,
            num_epochs=settings.epochs,
            lr=settings.learning_rate,
            clip_param=settings.clip,
            entropy_coeff=settings.entropy,
            gamma=settings.gamma,
            lambda_=settings.gae_lambda,
            vf_loss_coeff=settings.value_weight,
            grad_clip=settings.max_grad_norm,
            use_kl_loss=False,
        )
        # RLlib's seeds have 31 bits.
        .debugging(seed=settings.seed % (1 << 31), log_level="ERROR")
    )
