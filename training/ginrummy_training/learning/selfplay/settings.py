"""Settings of a run of the self-play learner, and its presets."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ginrummy_agents.learned.policy import (
    SHIPPED,
    Network,
    PolicyFileError,
    load_network,
    shipped,
)
from ginrummy_env.core.chance import MAX_SEED
from ginrummy_env.core.checks import quoted
from ginrummy_env.core.rules import Rules
from ginrummy_training.learning.setting_fields import (
    SettingError,
    check_fields,
    check_policies,
    rules_of,
    with_changes,
    within,
)
from ginrummy_training.learning.settings import LEAST, MOST, MOST_AT_ONCE

Reward = Literal["points", "chance"]
Precision = Literal["float32", "bfloat16"]

POOL = "pool"
"""In the place of an opponent's name: the learner's own past."""
SELF = "self"
"""In the place of an opponent's name: the learner as it is; both seats are learned from."""


@dataclass(frozen=True, kw_only=True)
class SelfPlaySettings:
    """Everything that decides a run of `selfplay.train`."""

    rules: str = "eaai"
    """A preset's name, settings, or both: ``"eaai"``, ``"eaai,target=250"``."""
    seed: int = within(0, 0, MAX_SEED)
    """Of decks, initial weights and batches."""

    derived: bool = True
    """Whether the network sees the derived planes of the observation."""
    ahead: bool = False
    """Whether it sees the planes that look one draw ahead."""
    units: bool = True
    """Whether it sees them in the units of `ginrummy_agents.learned.scaling` (then without planes
    that look ahead)."""
    advice: bool = False
    """Whether it sees what the agent `champion` makes of the choices. Needs ``units``."""
    width: int = within(64, 1, 4_096)
    """Numbers of each suit in each layer of the policy."""
    critic_width: int = within(64, 1, 4_096)
    """The same of the critic."""
    layers: int = within(2, 1, 64)
    """Layers of each before the heads."""
    direct: bool = True
    """Whether the planes at a card lead straight to its logits, by weights that all cards share."""
    near: int = within(8, 0, 1_024)
    """Filters of the layer that looks at each card's neighbours; 0: none. Needs ``units``."""
    oracle: bool = True
    """Whether the critic sees both hands. The policy never does."""

    reward: Reward = "points"
    """``"points"``: a deal's points / 50; ``"chance"``: twice the change in the chance of winning
    the game. Full games are played either way, and each deal is paid separately."""
    deadwood_value: float = within(0.5, 0, 10)
    """The critic's initial value of a point of deadwood difference, in points: potential-based
    shaping, which does not change optimal play."""
    max_deals: int = within(60, 1, 1_000_000)
    """Deals after which a game is cut off."""
    joint: bool = True
    """Whether advantages look ahead along the decisions of both players, the value of one being the
    other's loss (it needs a critic that sees both hands); else along each player's own."""

    begin: str = ""
    """A policy to start from instead of random weights: ``"scratch"``, ``"ppo"``, or a file that
    they play. Its network must be that of the settings."""
    expert: str = ""
    """An agent that is imitated before anything else is learned; nobody if empty."""
    imitate: int = within(0, 0, MOST)
    """Decisions at the beginning from which the policy learns what the expert would do in its
    place, and the critic what comes of it. The policy makes them, so it also learns what to do
    after its own mistakes (DAgger)."""
    critic_first: int = within(0, 0, MOST)
    """Decisions at the beginning from which only the critic learns, since it starts untrained
    where the policy does not."""
    held: float = within(0.5, 0, 1)
    """Share of the players of deals who are held to a lower knock limit than that of the rules,
    half of them to gin: they see it as the limit in force. So the value of waiting is learned,
    which a policy that knocks as soon as it may would never find out by single actions."""
    hold: int = within(98, 0, 98)
    """The most deadwood that the policy knocks with when it plays, at evaluations and from its
    file; while it learns too, if its opponents are agents alone."""
    hold_from: int = within(0, 0, 100)
    """Own turns of a deal after which it does."""

    opponents: tuple[tuple[str, float], ...] = ((SELF, 0.9), (POOL, 0.1))
    """Who plays the other seat in which share of the games: ``"self"``, ``"pool"`` or agents."""
    pool_every: int = within(1_000_000, 1, MOST)
    """Decisions after which the learner as it is then joins the pool."""
    pool_size: int = within(6, 1, 1_000)
    """How many of its past are kept; the oldest goes."""

    steps: int = within(20_000_000, 1, MOST)
    """Decisions, of both players."""
    num_envs: int = within(1_024, 1, 65_536)
    """Games at once, over all workers."""
    num_steps: int = within(32, 1, 65_536)
    """Decisions in each game between updates."""
    precision: Precision = "float32"
    """How exact matrix products are while it learns. ``"bfloat16"`` rounds what is multiplied to 8
    binary digits, which newer processors multiply several times as fast; sums and weights are
    float32 either way, and a processor without it takes no notice."""
    batch: int = within(4_096, 2, MOST_AT_ONCE)
    """Decisions in a step of the optimiser, over all workers."""
    epochs: int = within(2, 1, 1_000)
    """How often each decision is learned from."""
    learning_rate: float = within(1e-3, LEAST, 1)
    """Learning rate of policy and critic at the first step; it falls to ``final_learning_rate``,
    in each step by the same factor."""
    final_learning_rate: float = within(2e-4, LEAST, 1)
    """Learning rate at the last step."""
    critic_rate: float = within(1.0, LEAST, 1_000)
    """How much faster the critic learns: its learning rate, as a multiple of the policy's."""
    entropy: float = within(0.05, LEAST, 10)
    """Weight of the entropy at the first step, in standard deviations of the advantage; it falls
    to ``final_entropy`` as the learning rate does."""
    final_entropy: float = within(0.006, LEAST, 10)
    """The same at the last step."""
    clip: float = within(0.2, LEAST, 1)
    """How far the probability of an action may move in one update."""
    gae_lambda: float = within(0.9, 0, 1)
    """How far advantages look ahead before they trust the value (GAE)."""
    value_lambda: float = within(0.95, 0, 1)
    """The same for what the value is fitted to."""
    max_grad_norm: float = within(0.5, LEAST, 1e6)
    """Largest norm of a gradient; longer ones are scaled down."""
    workers: int = within(1, 1, 256)
    """Processes that play and learn, each a share of the games and of every batch."""

    eval_opponents: tuple[str, ...] = ("simple",)
    """Fixed opponents of the evaluations; the best checkpoint is best in their mean."""
    eval_every: int = within(1_000_000, 1, MOST)
    """Decisions between evaluations."""
    eval_games: int = within(1_000, 2, 10_000_000)
    """Full games against each of them, in pairs with the seats swapped."""
    retest_games: int = within(20_000, 2, 10_000_000)
    """Games of the best checkpoint on fresh decks, at the end."""
    checkpoint_every: int = within(1_000_000, 1, MOST)
    """Decisions between checkpoints: a run that is killed loses at most these."""
    tensorboard: bool = True
    """Whether to write logs for TensorBoard too."""

    def __post_init__(self) -> None:
        """Check all values; `check` also looks at what they name."""
        check_fields(self)
        object.__setattr__(self, "opponents", _shares(self.opponents))
        if self.units and (self.ahead or not self.derived):
            raise SettingError("units=True needs derived=True and ahead=False")
        if self.advice and not self.units:
            raise SettingError("advice=True needs units=True")
        if self.near and not self.units:
            raise SettingError(f"near={self.near} needs units=True")
        if bool(self.expert) != bool(self.imitate):
            raise SettingError(
                f"expert={quoted(self.expert)} and imitate={self.imitate}: either both or neither"
            )
        if self.joint and not self.oracle:
            raise SettingError("joint=True needs a critic that sees both hands: oracle=True")
        together = self.num_envs * self.num_steps
        if together > MOST_AT_ONCE:
            raise SettingError(
                f"num_envs={self.num_envs} × num_steps={self.num_steps}: at most "
                f"{MOST_AT_ONCE:,} decisions between updates are allowed"
            )
        for name, whole in (("num_envs", self.num_envs), ("batch", self.batch)):
            if whole % self.workers:
                raise SettingError(f"workers={self.workers} does not divide {name}={whole}")
        if together % self.batch:
            raise SettingError(
                f"batch={self.batch} does not divide num_envs × num_steps = {together}"
            )
        for name in ("eval_games", "retest_games"):
            if getattr(self, name) % 2:
                raise SettingError(f"{name}={getattr(self, name)}: an even number is needed")
        if not self.eval_opponents:
            raise SettingError("eval_opponents=[]: at least one is needed")

    def check(self) -> None:
        """Check everything that the settings name: rules and agents.

        Raises:
            SettingError: something that does not exist.
        """
        self.parsed_rules()
        if self.begin:
            self.first_network()
        check_policies("expert", [self.expert] * bool(self.expert))
        check_policies(
            "opponents", (name for name, _ in self.opponents if name not in (SELF, POOL))
        )
        check_policies("eval_opponents", self.eval_opponents)

    def parsed_rules(self) -> Rules:
        """Return the rules; see `settings.TrainSettings.parsed_rules`."""
        return rules_of(self.rules)

    def first_network(self) -> Network:
        """Return the network to begin with, of ``begin``.

        Raises:
            SettingError: there is none, or its features or layers are not those of the settings.
        """
        network = network_named(self.begin, self.parsed_rules())
        theirs = network_settings(network)
        other = [
            f"{name}={value}" for name, value in theirs.items() if getattr(self, name) != value
        ]
        if other:
            raise SettingError(f"begin={quoted(self.begin)} needs the settings {', '.join(other)}")
        return network

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON and TOML can hold them."""
        return {
            **asdict(self),
            "opponents": dict(self.opponents),
            "eval_opponents": list(self.eval_opponents),
        }

    def changed(self, given: Mapping[str, Any]) -> "SelfPlaySettings":
        """Return these settings with some of them changed.

        Args:
            given: names and values as in a TOML file; ``opponents`` is a table of shares.

        Raises:
            SettingError: an unknown name (suggests the nearest), or a value that is not allowed.
        """
        return with_changes(self, given)


def _shares(given: Any) -> tuple[tuple[str, float], ...]:
    """Return the opponents' shares, from a table or from pairs."""
    pairs = given.items() if isinstance(given, Mapping) else given
    try:
        shares = tuple((str(name), float(share)) for name, share in pairs)
    except (TypeError, ValueError):
        shares = ()
    if not shares or any(not 0 <= share < MOST for _, share in shares):
        raise SettingError(
            f"opponents={quoted(given)}: a table of shares from 0 is needed, such as "
            "{self = 0.9, pool = 0.1}"
        )
    if not sum(share for _, share in shares):
        raise SettingError(f"opponents={quoted(given)}: a share above 0 is needed")
    return shares


def network_named(begin: str, rules: Rules) -> Network:
    """Return a network to begin with: a shipped one for these rules, or that of a file.

    Raises:
        SettingError: there is none.
    """
    path = shipped(rules, begin) if begin in SHIPPED else Path(begin)
    try:
        return load_network(path)
    except PolicyFileError as error:
        names = ", ".join(SHIPPED)
        raise SettingError(f"begin={quoted(begin)}: {names} or a file: {error}") from None


def network_settings(network: Network) -> dict[str, Any]:
    """Return the settings that give a policy the features and layers of a network."""
    arrays = network.arrays
    return {
        "derived": network.derived,
        "ahead": network.ahead,
        "units": network.units,
        "advice": network.advice,
        "width": len(arrays["bias0"]),
        "layers": network.num_layers,
        "direct": "direct" in arrays,
        "near": len(arrays.get("near_bias", ())),
    }


SCRATCH = SelfPlaySettings()
"""What the shipped agent `scratch` was trained with: some hours of a core."""

SMOKE = replace(
    SCRATCH, width=16, critic_width=16, layers=1, near=2, steps=4_096, num_envs=32, num_steps=16,
    batch=256, pool_every=2_048, eval_every=4_096, eval_games=20, retest_games=20,
    checkpoint_every=2_048, max_deals=6,
)  # fmt: skip
"""Every part of a run once, in some seconds; nothing is learned that is worth keeping."""

MINUTES = replace(SCRATCH, near=0, steps=2_000_000, eval_every=250_000, retest_games=2_000)
"""A few minutes of a core: enough to see it learn."""

PRESETS: dict[str, SelfPlaySettings] = {
    "smoke": SMOKE, "quick": MINUTES, "full": SCRATCH,
}  # fmt: skip
