"""Settings of a run on RLlib, and RLlib's configuration made of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from ginrummy_env.core.rules import Rules, as_rules
from ginrummy_training.learning.win_chance import WinChance
from ginrummy_training.rllib.env import NAME, BatchedEnvRunner, register
from ginrummy_training.rllib.module import SHAPE, SuitModule

MODULE = "both"
"""The one module that decides for both agents: self-play."""


@dataclass(frozen=True, kw_only=True)
class RLlibSettings:
    """Everything that decides a run."""

    rules: str = "eaai"
    seed: int = 0
    start: str = ""
    """What to start from: the folder of a run of `ginrummy train` or `imitate`, or a policy alone,
    ``"ppo"`` or ``"ppo:FILE"``, whose value is then learned from nothing."""
    width: int = 64
    layers: int = 2
    convolutions: int = 0
    filters: int = 32
    derived: bool = True
    ahead: bool = True
    episode: str = "deals"
    """See `GinRummyMultiAgentEnv`, as for the next two."""
    reward: str = "chance"
    max_deals: int = 200
    env_runners: int = 0
    """Processes that play; 0: the learner's own."""
    envs: int = 64
    """Games at once in each."""
    batched: bool = True
    """Whether a process steps its games together, else one by one as RLlib does by itself."""
    batch: int = 8_192
    """Decisions an iteration."""
    minibatch: int = 1_024
    """Decisions a step of the optimiser."""
    epochs: int = 4
    """How often each decision is learned from."""
    rate: float = 3e-4
    """Learning rate. This and what follows is as in `learning.settings.TrainSettings`."""
    clip: float = 0.2
    entropy: float = 0.002
    gamma: float = 1.0
    gae_lambda: float = 0.95
    value_weight: float = 0.5
    max_grad_norm: float = 0.5

    def shape(self) -> dict[str, Any]:
        """Return the settings of the layers."""
        return {name: getattr(self, name) for name in SHAPE}

    def __post_init__(self) -> None:
        for name in ("envs", "batch", "minibatch", "epochs", "width", "layers", "max_deals"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: at least 1 is needed")
        if self.env_runners < 0:
            raise ValueError(f"env_runners={self.env_runners}: at least 0 is needed")
        if self.minibatch > self.batch:
            raise ValueError(f"minibatch={self.minibatch}: at most the batch, {self.batch}")
        self.parsed_rules()

    def parsed_rules(self) -> Rules:
        """Return the rules.

        Raises:
            ValueError: neither a preset nor settings.
        """
        return as_rules(self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON can hold them."""
        return asdict(self)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "RLlibSettings":
        """Return the settings with these names and values, and the defaults for all others.

        Raises:
            ValueError: an unknown name (lists the known ones), or a value of a wrong type.
        """
        known = {each.name: type(each.default) for each in fields(cls)}
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"unknown setting {name!r}; the settings are {', '.join(known)}")
            kinds = (int, float) if known[name] is float else (known[name],)
            if not isinstance(value, kinds) or isinstance(value, bool) != (known[name] is bool):
                raise ValueError(f"{name}={value!r}: {known[name].__name__} is needed")
        return cls(**given)


def module_of(agent: str, *_: Any, **__: Any) -> str:
    """Return which module decides for an agent: the same for both."""
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
        # RLlib's check of environments takes actions without a look at the mask.
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
            lr=settings.rate,
            clip_param=settings.clip,
            entropy_coeff=settings.entropy,
            gamma=settings.gamma,
            lambda_=settings.gae_lambda,
            vf_loss_coeff=settings.value_weight,
            grad_clip=settings.max_grad_norm,
            use_kl_loss=False,
        )
        # A seed is one of a 32-bit generator's there.
        .debugging(seed=settings.seed % (1 << 31), log_level="ERROR")
    )
