"""What a training run is made of: one table of settings, from code, a preset or a TOML file."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from ginrummy_env.core.chance import require_seed
from ginrummy_env.core.rules import Rules, as_rules

Episode = Literal["deals", "deal", "game"]
Reward = Literal["chance", "points", "win", "final"]

POOL = "pool"
"""In the place of an opponent's name: the learner's own past."""


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """Everything that decides a run. The defaults are those of the preset ``quick``."""

    rules: str = "eaai"
    """A preset's name, settings, or both: ``"eaai"``, ``"eaai,target=250"``."""
    seed: int = 0
    """Of decks, agents, first weights and batches."""

    derived: bool = True
    """Whether the network sees the derived planes of the observation."""
    ahead: bool = True
    """Whether it sees the planes that look one draw ahead (`ginrummy_agents.learned.inputs`)."""
    width: int = 64
    """Numbers a suit in each layer."""
    layers: int = 2
    """Layers before the heads."""
    convolutions: int = 0
    """Convolutions over the planes, along the ranks and across the suits, before these layers."""
    filters: int = 32
    """Planes that each convolution makes."""

    teacher: str = "lookahead"
    """Whom the network imitates before it learns by itself; empty: it begins from nothing."""
    data: str = ""
    """A folder of `ginrummy selfplay`: lessons are the teacher's decisions in it, so that it need
    not be asked. Empty: it plays and is asked, in the network's own games too."""
    lessons: int = 600_000
    """Positions in which the teacher is imitated."""
    lesson_rate: float = 2e-3
    """Learning rate at the first lesson; it falls to a fiftieth, by half a cosine."""
    lesson_batch: int = 512
    """Lessons a step of the optimiser."""

    episode: Episode = "deals"
    """``"game"``: a full game; ``"deal"``: single deals from 0 : 0; ``"deals"``: full games whose
    every deal is an episode of its own: the score is seen, but only the deal is answered for."""
    reward: Reward = "chance"
    """``"chance"``: how a deal changes the chance of winning the game (twice that, so a game won
    pays 1 in all); ``"points"``: a deal's points / 100; with ``"game"`` also ``"win"`` and
    ``"final"`` of the environment."""
    max_deals: int = 200
    """Deals after which a game is cut off."""

    opponents: tuple[tuple[float, dict[str, float]], ...] = (
        (0.0, {"simple": 0.7, "lookahead": 0.15, POOL: 0.15}),
    )
    """Stages: from which share of the steps on, and each opponent's share of the games; a row
    of the batch has one opponent. ``"pool"`` is the learner's own past."""
    pool_seeds: tuple[str, ...] = ()
    """Policies that are in the pool from the start, such as ``"ppo"`` or ``"ppo:FILE"``."""
    pool_every: int = 200_000
    """Steps after which the learner as it is then joins the pool."""
    pool_size: int = 6
    """How many of its past are kept; the oldest goes. The latest two are met as often as all the
    others together."""

    steps: int = 1_000_000
    """Decisions of the learner, of one player a game: the other player is somebody else."""
    num_envs: int = 1024
    """Games at once."""
    num_steps: int = 32
    """Decisions in each game between updates."""
    batch: int = 2048
    """Decisions a step of the optimiser."""
    epochs: int = 4
    """How often each decision is learned from."""
    rate: float = 6e-4
    """Learning rate of PPO at its first step; it falls to ``last_rate``, evenly."""
    last_rate: float = 1e-4
    """Learning rate at the last step."""
    clip: float = 0.2
    """How far the probability of an action may move in one update."""
    entropy: float = 0.002
    """Worth of trying things out, in the loss."""
    gamma: float = 1.0
    """What is left of a reward one decision earlier."""
    gae_lambda: float = 0.95
    """How far advantages look ahead before they trust the value (GAE)."""
    value_weight: float = 0.5
    """Weight of the value's error in the loss."""
    max_grad_norm: float = 0.5
    """Gradients longer than this are shortened."""
    target_kl: float | None = 0.03
    """An update stops when the policy has moved by 1.5 times this."""

    panel: tuple[str, ...] = ("simple", "lookahead")
    """Fixed opponents of the evaluations; the best checkpoint is best in their mean."""
    eval_every: int = 200_000
    """Steps between evaluations."""
    eval_games: int = 1_000
    """Full games against each of the panel, in pairs with the seats swapped, always the same
    decks."""
    retest_games: int = 2_000
    """Games of the best checkpoint on fresh decks, at the end."""
    checkpoint_every: int = 100_000
    """Steps between checkpoints: a run that is killed loses at most these."""
    tensorboard: bool = True
    """Whether to write logs for TensorBoard too."""

    def __post_init__(self) -> None:
        """Check what can be checked before anything starts."""
        require_seed(self.seed)
        for name, allowed in (("episode", Episode), ("reward", Reward)):
            if getattr(self, name) not in get_args(allowed):
                words = ", ".join(map(repr, get_args(allowed)))
                raise ValueError(f"{name}={getattr(self, name)!r}: one of {words} is needed")
        if self.reward in ("win", "final") and self.episode == "deals":
            raise ValueError(f"reward={self.reward!r} is paid for a game: it needs episode='game'")
        if self.reward == "chance" and self.episode == "deal":
            raise ValueError("reward='chance' needs a game: episode='deals' or 'game'")
        if self.data and not self.teacher:
            raise ValueError(f"data={self.data!r}: teacher is to say whose decisions are learned")
        for name in _POSITIVE:
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: at least 1 is needed")
        for name in ("lessons", "steps", "convolutions"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: at least 0 is needed")
        if (self.num_envs * self.num_steps) % self.batch:
            raise ValueError(
                f"batch={self.batch} does not divide num_envs × num_steps = "
                f"{self.num_envs * self.num_steps}"
            )
        for name in ("eval_games", "retest_games"):
            if getattr(self, name) % 2 or getattr(self, name) < 2:
                raise ValueError(f"{name}={getattr(self, name)}: an even number is needed")
        if not self.opponents or self.opponents[0][0] != 0:
            raise ValueError("opponents: the first stage starts at 0.0")
        for start, shares in self.opponents:
            if not shares or min(shares.values()) < 0 or sum(shares.values()) <= 0:
                raise ValueError(f"opponents from {start}: shares {shares} are no shares")

    def parsed_rules(self) -> Rules:
        """Return the rules."""
        return as_rules(self.rules)

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
            ValueError: an unknown name (says which there are), or a value of a wrong type.
        """
        known = {each.name: each for each in fields(self)}
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"unknown setting {name!r}; there are {', '.join(known)}")
            values[name] = _of_type(name, value, getattr(TrainSettings(), name))
        return replace(self, **values)

    @classmethod
    def load(cls, path: Path, base: "TrainSettings | None" = None) -> "TrainSettings":
        """Return the settings of a TOML file; what it does not name is as in ``base``.

        Raises:
            ValueError: no TOML, an unknown name or a bad value.
        """
        try:
            given = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: no TOML ({error})") from error
        return (base or cls()).changed(given)


_POSITIVE = (
    "width", "layers", "filters", "lesson_batch", "num_envs", "num_steps", "batch", "epochs",
    "pool_every", "pool_size", "eval_every", "checkpoint_every", "max_deals",
)  # fmt: skip


def _of_type(name: str, value: Any, default: Any) -> Any:
    """Return a value of the type that the setting has."""
    if name == "opponents":
        stages: Any = [{"start": 0.0, "shares": value}] if isinstance(value, Mapping) else value
        try:
            return tuple(
                (float(stage["start"]), {str(k): float(v) for k, v in stage["shares"].items()})
                for stage in stages
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"opponents={value!r}: a table of shares is needed") from error
    if name == "target_kl":
        return None if value in (None, 0) else float(value)
    if isinstance(default, tuple):
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise ValueError(f"{name}={value!r}: a list of names is needed")
        return tuple(value)
    kinds = (int, float) if isinstance(default, float) else (type(default),)
    if not isinstance(value, kinds) or (isinstance(value, bool) != isinstance(default, bool)):
        raise ValueError(f"{name}={value!r}: {type(default).__name__} is needed")
    return type(default)(value)


QUICK = TrainSettings()
"""Five minutes of a core, a quarter of an hour on a busy one: about as strong as its teacher."""

SMOKE = replace(
    QUICK, width=32, layers=1, teacher="gold", lessons=10_000, lesson_batch=128, steps=2_048,
    num_envs=32, num_steps=32, batch=512, epochs=2, opponents=((0.0, {"simple": 0.5, POOL: 0.5}),),
    panel=("simple",), eval_every=2_048, eval_games=20, retest_games=20, checkpoint_every=1_024,
    pool_every=1_024,
)  # fmt: skip
"""Every part of a run once, in well under a minute; nothing is learned that is worth keeping."""

DEMO = replace(
    QUICK, width=32, lessons=80_000, steps=98_304, num_envs=512, batch=1024,
    opponents=((0.0, {"simple": 1.0}),), panel=("simple",), eval_every=32_768, eval_games=400,
    retest_games=400, checkpoint_every=32_768, tensorboard=False,
)  # fmt: skip
"""About a minute: enough to see it learn. `ginrummy demo` shows it."""

FULL = replace(
    QUICK, width=128, layers=3, lessons=4_000_000, steps=20_000_000, rate=3e-4,
    last_rate=2e-5, batch=4096, eval_every=1_000_000, eval_games=4_000, retest_games=20_000,
    checkpoint_every=500_000, pool_every=1_000_000, pool_size=10,
    opponents=(
        (0.0, {"simple": 0.5, "lookahead": 0.3, POOL: 0.2}),
        (0.5, {"simple": 0.3, "lookahead": 0.2, POOL: 0.5}),
    ),
)  # fmt: skip
"""Some hours of one core (docs/TRAINING.md)."""

PRESETS: dict[str, TrainSettings] = {
    "smoke": SMOKE, "demo": DEMO, "quick": QUICK, "full": FULL,
}  # fmt: skip
