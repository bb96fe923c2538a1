"""Settings of a training run: one table, from code, a preset, a TOML file or the command line."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ginrummy_env.core.chance import MAX_SEED
from ginrummy_env.core.checks import quoted, real
from ginrummy_env.core.rules import Rules
from ginrummy_training.learning.setting_fields import (
    SettingError,
    check_fields,
    check_policies,
    rules_of,
    with_changes,
    within,
)

Episode = Literal["deal_of_game", "deal", "game"]
Reward = Literal["chance", "points", "win", "final"]

POOL = "pool"
"""In place of an opponent's name: the learner's past policies."""

LEAST, MOST = 1e-9, 10**12
"""Limits of positive settings that have no narrower ones."""
MOST_AT_ONCE = 1 << 22
"""Most decisions between updates: each is about 5 kB of observation."""


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """Everything that decides a run. The defaults are those of the preset ``quick``.

    Raises:
        SettingError: a value that is not allowed; says what is.
    """

    rules: str = "eaai"
    """A preset's name, settings, or both: ``"eaai"``, ``"eaai,target=250"``."""
    seed: int = within(0, 0, MAX_SEED)
    """Seed of decks, agents, initial weights and batches."""

    derived: bool = True
    """Whether the network sees the derived planes of the observation."""
    ahead: bool = True
    """Whether it sees the planes that look one draw ahead (`ginrummy_agents.learned.inputs`)."""
    width: int = within(64, 1, 4_096)
    """Numbers per suit in each layer."""
    layers: int = within(2, 1, 64)
    """Layers before the heads."""
    convolutions: int = within(0, 0, 16)
    """Convolutions over the planes, along the ranks and across the suits, before these layers."""
    filters: int = within(32, 1, 1_024)
    """Planes that each convolution makes."""

    expert: str = "lookahead"
    """The agent that the network imitates before PPO; empty: no imitation."""
    data: str = ""
    """A folder of `ginrummy selfplay`: the samples are the expert's decisions recorded there.
    Empty: the expert plays, and is also asked in the network's own games."""
    imitation_samples: int = within(600_000, 0, MOST)
    """Samples to imitate: positions with the expert's action."""
    imitation_learning_rate: float = within(2e-3, LEAST, 1)
    """Learning rate at the first sample; it decays to a fiftieth along half a cosine."""
    imitation_batch: int = within(512, 1, 1_000_000)
    """Samples per step of the optimizer."""

    episode: Episode = "deal_of_game"
    """``"game"``: a full game; ``"deal"``: single deals from 0 : 0; ``"deal_of_game"``: full games
    in which every deal is an episode: the score is observed, but a reward never reaches back
    into an earlier deal."""
    reward: Reward = "chance"
    """``"chance"``: twice the change in the chance of winning the game (over a game that sums to
    1 for the winner); ``"points"``: a deal's points / 100; with ``"game"`` also ``"win"`` and
    ``"final"`` of the environment."""
    max_deals: int = within(200, 1, 1_000_000)
    """Deals after which a game is cut off."""

    opponents: tuple[tuple[float, dict[str, float]], ...] = (
        (0.0, {"simple": 0.7, "lookahead": 0.15, POOL: 0.15}),
    )
    """Stages: the share of the steps at which each starts, and each opponent's share of the games.
    A row of the batch has one opponent. ``"pool"`` is the learner's own past."""
    pool_seeds: tuple[str, ...] = ()
    """Policies that are in the pool from the start, such as ``"ppo"`` or ``"ppo:FILE"``."""
    pool_every: int = within(200_000, 1, MOST)
    """Steps between copies of the learner that join the pool."""
    pool_size: int = within(6, 1, 1_000)
    """Copies kept; the oldest leaves. The latest two are met as often as all others together."""

    steps: int = within(1_000_000, 0, MOST)
    """Decisions of the learner, who plays one seat of each game."""
    num_envs: int = within(1_024, 1, 65_536)
    """Games at once."""
    num_steps: int = within(32, 1, 65_536)
    """Decisions in each game between updates."""
    batch: int = within(2_048, 2, MOST_AT_ONCE)
    """Decisions per step of the optimizer."""
    epochs: int = within(4, 1, 1_000)
    """Passes over the decisions of an update."""
    learning_rate: float = within(6e-4, LEAST, 1)
    """Learning rate of PPO at its first step; it decays linearly to ``final_learning_rate``."""
    final_learning_rate: float = within(1e-4, 0, 1)
    """Learning rate at the last step."""
    clip: float = within(0.2, LEAST, 1)
    """How far the probability of an action may move in one update."""
    entropy: float = within(0.002, 0, 10)
    """Weight of the entropy bonus in the loss."""
    gamma: float = within(1.0, 0, 1)
    """Discount of a reward per decision."""
    gae_lambda: float = within(0.95, 0, 1)
    """Lambda of generalized advantage estimation."""
    value_weight: float = within(0.5, 0, 1_000)
    """Weight of the value's error in the loss."""
    max_grad_norm: float = within(0.5, LEAST, 1e6)
    """Gradients are clipped to this norm."""
    target_kl: float | None = within(0.03, LEAST, 1_000)
    """An update stops when the policy has moved by 1.5 times this; 0 or None: it never stops."""

    eval_opponents: tuple[str, ...] = ("simple", "lookahead")
    """Fixed opponents of the evaluations; the best checkpoint wins most games on average."""
    eval_every: int = within(200_000, 1, MOST)
    """Steps between evaluations."""
    eval_games: int = within(1_000, 2, 10_000_000)
    """Full games against each eval opponent, in pairs with the seats swapped, always the same
    decks."""
    retest_games: int = within(2_000, 2, 10_000_000)
    """Games of the best checkpoint on fresh decks, at the end."""
    checkpoint_every: int = within(100_000, 1, MOST)
    """Steps between checkpoints: the most that a killed run loses."""
    tensorboard: bool = True
    """Whether to write logs for TensorBoard too."""

    def __post_init__(self) -> None:
        """Check all values; `check` also checks agents, files and data."""
        check_fields(self)
        self.parsed_rules()
        object.__setattr__(self, "opponents", _stages(self.opponents))
        if self.reward in ("win", "final") and self.episode == "deal_of_game":
            raise SettingError(
                f"reward={self.reward!r} is paid once per game: it needs episode='game'"
            )
        if self.reward == "chance" and self.episode == "deal":
            raise SettingError("reward='chance' needs a game: episode='deal_of_game' or 'game'")
        if self.data and not self.expert:
            raise SettingError(f"data={self.data!r} needs an expert: whose decisions to imitate")
        if self.num_envs * self.num_steps > MOST_AT_ONCE:
            raise SettingError(
                f"num_envs={self.num_envs} × num_steps={self.num_steps}: at most "
                f"{MOST_AT_ONCE:,} decisions between updates are allowed"
            )
        if (self.num_envs * self.num_steps) % self.batch:
            raise SettingError(
                f"batch={self.batch} does not divide num_envs × num_steps = "
                f"{self.num_envs * self.num_steps}"
            )
        for name in ("eval_games", "retest_games"):
            if getattr(self, name) % 2:
                raise SettingError(f"{name}={getattr(self, name)}: an even number is needed")
        if not self.eval_opponents:
            raise SettingError("eval_opponents=[]: at least one is needed")

    def check(self) -> None:
        """Check everything that the settings name: agents, their files, recorded data.

        Raises:
            SettingError: something that does not exist or can't be used.
        """
        check_policies("expert", filter(None, [self.expert]))
        for _, shares in self.opponents:
            check_policies("opponents", (name for name in shares if name != POOL))
        check_policies("pool_seeds", self.pool_seeds)
        check_policies("eval_opponents", self.eval_opponents)
        if self.data:
            self._check_data()

    def _check_data(self) -> None:
        from ginrummy_training.dataset.reader import Data

        folder = Path(self.data)
        data = Data(folder)
        if data.rules != self.parsed_rules():
            raise SettingError(
                f"data={self.data!r}: its games have other rules than rules={self.rules!r}"
            )
        if self.expert not in data.agents:
            raise SettingError(
                f"expert={self.expert!r} did not play in {folder}; "
                f"{', '.join(map(repr, data.agents))} did"
            )

    def parsed_rules(self) -> Rules:
        """Return the rules.

        Raises:
            SettingError: neither a preset nor settings of rules.
        """
        return rules_of(self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON and TOML can hold them."""
        given = asdict(self)
        given["opponents"] = [
            {"start": start, "shares": shares} for start, shares in self.opponents
        ]
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
        }

    def changed(self, given: Mapping[str, Any]) -> "TrainSettings":
        """Return these settings with some of them changed.

        Args:
            given: names and values as in a TOML file; ``opponents`` is a table of shares, or a list
                of tables ``{start, shares}``.

        Raises:
            SettingError: an unknown name (suggests the nearest), or a value that is not allowed.
        """
        return with_changes(self, given)

    @classmethod
    def load(cls, path: Path, base: "TrainSettings | None" = None) -> "TrainSettings":
        """Return the settings of a TOML file; those it does not name are as in ``base``.

        Raises:
            SettingError: not TOML, an unknown name or a value that is not allowed.
        """
        return (base or cls()).changed(read_toml(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Return the settings that a TOML file names.

    Raises:
        SettingError: not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingError(f"{path}: not TOML ({error})") from error


def _stages(value: Any) -> tuple[tuple[float, dict[str, float]], ...]:
    """Return the stages of the opponents: from a table of shares, tables, or stages.

    Raises:
        SettingError: anything else, or shares that are not shares.
    """
    stages = [(0.0, value)] if isinstance(value, Mapping) else value
    if not isinstance(stages, list | tuple) or not stages:
        raise SettingError(
            f"opponents={quoted(value)}: a table of shares is needed, such as {{simple = 1}}, or a "
            "list of tables {start = 0.0, shares = {simple = 1}}"
        )
    found = tuple(_stage(stage) for stage in stages)
    starts = [start for start, _ in found]
    if starts[0] != 0:
        raise SettingError(f"opponents: the first stage starts at {starts[0]}; 0.0 is needed")
    if starts != sorted(set(starts)):
        raise SettingError(f"opponents: stages start at {starts}; each must start later")
    return found


def _stage(stage: Any) -> tuple[float, dict[str, float]]:
    if isinstance(stage, Mapping) and set(stage) == {"start", "shares"}:
        stage = stage["start"], stage["shares"]
    if not isinstance(stage, list | tuple) or len(stage) != 2 or not isinstance(stage[1], Mapping):
        raise SettingError(
            f"opponents: {quoted(stage)} is not a stage, such as "
            "{start = 0.0, shares = {simple = 1}}"
        )
    try:
        start = real("opponents: start", stage[0], 0, 1)
        shares = {
            str(name): real(f"opponents: share of {name}", share, 0, 1e6)
            for name, share in stage[1].items()
        }
    except ValueError as error:
        raise SettingError(str(error)) from None
    if sum(shares.values()) <= 0:
        raise SettingError(f"opponents from {start}: no opponent has a share above 0")
    return start, shares


QUICK = TrainSettings()
"""Five minutes on a free core, a quarter of an hour on a busy one: about as strong as `lookahead`,
which it imitates."""

SMOKE = replace(
    QUICK, width=32, layers=1, expert="gold", imitation_samples=10_000, imitation_batch=128,
    steps=2_048, num_envs=32, num_steps=32, batch=512, epochs=2,
    opponents=((0.0, {"simple": 0.5, POOL: 0.5}),), eval_opponents=("simple",), eval_every=2_048,
    eval_games=20, retest_games=20, checkpoint_every=1_024, pool_every=1_024,
)  # fmt: skip
"""Runs every part once in well under a minute; the result is not worth keeping."""

DEMO = replace(
    QUICK, width=32, imitation_samples=80_000, steps=98_304, num_envs=512, batch=1024,
    opponents=((0.0, {"simple": 1.0}),), eval_opponents=("simple",), eval_every=32_768,
    eval_games=400, retest_games=400, checkpoint_every=32_768, tensorboard=False,
)  # fmt: skip
"""About a minute on a free core: enough to see it learn."""

FULL = replace(
    QUICK, width=128, layers=3, imitation_samples=4_000_000, steps=20_000_000, learning_rate=3e-4,
    final_learning_rate=2e-5, batch=4096, eval_every=1_000_000, eval_games=4_000,
    retest_games=20_000, checkpoint_every=500_000, pool_every=1_000_000, pool_size=10,
    opponents=(
        (0.0, {"simple": 0.5, "lookahead": 0.3, POOL: 0.2}),
        (0.5, {"simple": 0.3, "lookahead": 0.2, POOL: 0.5}),
    ),
)  # fmt: skip
"""Several hours on one core (docs/TRAINING.md)."""

PRESETS: dict[str, TrainSettings] = {
    "smoke": SMOKE, "demo": DEMO, "quick": QUICK, "full": FULL,
}  # fmt: skip
