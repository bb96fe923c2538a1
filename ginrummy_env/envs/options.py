"""The options of the environments: each is documented once, here, and checked in one place."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ginrummy_env.core.checks import did_you_mean, flag, one_of, real, whole
from ginrummy_env.core.rules import CLASSIC, Rules, as_rules
from ginrummy_env.envs.deal_infos import EndedDeals
from ginrummy_env.envs.features import chances_under, features_of

Episode = Literal["game", "deal", "deal_of_game"]
Reward = Literal["win", "points", "final", "chance"]
Split = Literal["train", "eval"]
IllegalAction = Literal["lose", "raise"]
WaitingMask = Literal["zeros", "pass"]
MaskIn = Literal["info", "observation", "both"]
MaskType = Literal["int8", "bool"]

RewardHook = Callable[[EndedDeals], ArrayLike]


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeOptions:
    """What an episode is, what it pays and what is seen of it: the options of every environment.

    Raises:
        ValueError: a value that the option does not allow; says which are.
    """

    rules: Rules = CLASSIC
    """Rules, a preset's name or a dict of settings."""

    episode: Episode = "game"
    """"game": deals until a player has the target score; "deal": one deal, from 0:0;
    "deal_of_game": one deal of a full game, whose next deal is the next episode (a reset in the
    middle of a deal, or with a seed or options, begins another game)."""

    reward: Reward = "win"
    """"win": 1 and -1 at the end of the episode, to the winner of the game (or deal) and the other;
    "points": the points of each deal / 100, when it ends; "final": the difference of the final
    scores with all bonuses / 100, at the end of the episode; "chance": twice the change in the
    chance of winning the game, when a deal ends, which over a game adds up to what "win" pays.
    Always zero-sum; void deals pay 0. A deal of a game is paid by "points" or "chance"."""

    max_deals: int | None = None
    """Deals after which a game that is not over is truncated. It then has no winner: the modes
    "win" and "final" pay nothing."""

    split: Split = "train"
    """Which decks: those of "train" and of "eval" never meet, whatever the seeds, and neither meets
    those of matches."""

    features: str = "derived"
    """What observations show: "raw", the cards and numbers of the view; "derived", also what a
    person would work out (melded cards, deadwood after each discard, cards that would meld); or
    what another package has registered, see `features.register_features`."""

    mask_in: MaskIn | None = None
    """Where the mask of legal actions is: in the "info", in the "observation" (which then is a dict
    with ``observation`` and ``action_mask``), or in "both". None: as the library has it, in the
    observation in PettingZoo, else in the info."""

    mask_dtype: MaskType = "int8"
    """The type of that mask: "int8", as Gymnasium's ``sample(mask)`` wants it, or "bool", as torch
    does (TorchRL, ``masked_fill``)."""

    observation_key: str = "observation"
    """What the numbers are called where observations are dicts; RLlib's module for masks looks for
    "observations"."""

    history: int = 0
    """How many of the deal's last actions observations show: then they are dicts with
    ``observation`` and ``history``, see `observing.last_actions`."""

    privileged: bool = False
    """Whether what is hidden is handed out too, for critics and labels, never for who plays: the
    hands and the stock as planes (`observing.STATE_PLANES`), in ``info["state"]`` or PettingZoo's
    ``state()``, never in an observation."""

    shaping: float = 0.0
    """Points of deadwood / 100 that a player gets rid of pay this much at once, to that player
    alone; what is left at the end of the episode counts as none (potential-based, gamma 1)."""

    reward_hook: RewardHook | None = None
    """A function of the deals that have ended in a step (`deal_infos.EndedDeals`: their state,
    rules and rewards so far) that returns what they pay players 0 and 1, [K, 2]."""

    report_deals: bool = True
    """Whether ``info["deals"]`` reports the deals that have ended. Without it the key is missing:
    for libraries whose buffers take numbers only."""

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("rules", as_rules(self.rules))
        for name, allowed in (("episode", Episode), ("reward", Reward), ("split", Split)):
            put(name, one_of(name, getattr(self, name), get_args(allowed)))
        if self.episode == "deal_of_game" and self.reward in ("win", "final"):
            raise ValueError(
                f"reward={self.reward!r} is paid for a game: with episode='deal_of_game' "
                "'points' or 'chance' is needed"
            )
        if self.reward == "chance":
            if self.episode == "deal":
                raise ValueError("reward='chance' needs a game: episode='game' or 'deal_of_game'")
            chances_under(self.rules)
        if self.max_deals is not None:
            put("max_deals", whole("max_deals", self.max_deals, 1, or_="None"))
        features_of(self.features)
        if self.mask_in is not None:
            put("mask_in", one_of("mask_in", self.mask_in, get_args(MaskIn)))
        put("mask_dtype", one_of("mask_dtype", self.mask_dtype, get_args(MaskType)))
        key = self.observation_key
        if not isinstance(key, str) or key in ("", "action_mask", "history"):
            raise ValueError(
                f"observation_key={key!r}: a name is needed, other than 'action_mask' and 'history'"
            )
        put("history", whole("history", self.history, 0))
        put("privileged", flag("privileged", self.privileged))
        put("shaping", real("shaping", self.shaping))
        if self.reward_hook is not None and not callable(self.reward_hook):
            raise ValueError(f"reward_hook={self.reward_hook!r}: a function or None is needed")
        put("report_deals", flag("report_deals", self.report_deals))


class EpisodeKeywords(TypedDict, total=False):
    """The fields of `EpisodeOptions`, as every environment takes them."""

    rules: str | Rules | Mapping[str, Any]
    episode: Episode
    reward: Reward
    max_deals: int | None
    split: Split
    features: str
    mask_in: MaskIn | None
    mask_dtype: MaskType
    observation_key: str
    history: int
    privileged: bool
    shaping: float
    reward_hook: RewardHook | None
    report_deals: bool


class ScreenKeywords(EpisodeKeywords, total=False):
    """Options of environments that have ``render()``."""

    render_mode: str | None
    """"ansi" (text), "rgb_array" (pixels), "human" (a window) or None."""

    open_cards: bool
    """Whether ``render()`` shows the opponent's cards too; off, nothing hidden is shown."""


class PettingZooKeywords(ScreenKeywords, total=False):
    """Options of PettingZoo's environment."""

    waiting_mask: WaitingMask
    """What the mask of the player who is not to move flags: "zeros", nothing; "pass", the action
    106 alone, so that what samples actions for both players finds one (it is not looked at)."""


class LearnerKeywords(ScreenKeywords, total=False):
    """Options of environments in which one learner plays against a policy."""

    seat: int | Sequence[int] | NDArray[np.integer] | None
    """The learner's player number, or in vector environments N of them; drawn for each episode if
    None."""

    illegal_action: IllegalAction
    """"lose": an illegal action ends the episode and pays -1, ``info["illegal_action"]`` says what
    was legal, and there is one warning; "raise": an IllegalActionError, nothing has changed."""


RESET_OPTIONS = ("deck", "dealer", "start")
"""The options of ``reset`` in every environment, see `starts.read_start`."""

DEFAULTS: dict[str, Any] = {
    **{each.name: each.default for each in fields(EpisodeOptions)},
    "rules": "classic",
    "render_mode": None,
    "open_cards": False,
    "waiting_mask": "zeros",
    "seat": None,
    "illegal_action": "lose",
}
"""The default of each option; that of ``waiting_mask`` in `parallel_env` is "pass"."""


def read_options(
    options: Mapping[str, Any], keywords: Any
) -> tuple[EpisodeOptions, dict[str, Any]]:
    """Return an environment's options, those of episodes and the others with their defaults.

    Args:
        options: as given.
        keywords: the TypedDict of those that the environment has.

    Raises:
        TypeError: an option that it does not have; says which it has.
        ValueError: a value that an option of episodes does not allow.
    """
    known = list(keywords.__annotations__)
    for name in options:
        if name not in known:
            raise TypeError(
                f"unknown option {name!r}{did_you_mean(name, known)}; the options are "
                f"{', '.join(known)}"
            )
    of_episodes = EpisodeKeywords.__annotations__
    others = {name: DEFAULTS[name] for name in known if name not in of_episodes}
    others |= {name: value for name, value in options.items() if name not in of_episodes}
    given = {name: value for name, value in options.items() if name in of_episodes}
    return EpisodeOptions(**given), others


def reset_options(options: Mapping[str, Any] | None, *allowed: str) -> dict[str, Any]:
    """Return the options of a ``reset``, or say which of them it does not have.

    Args:
        options: as given.
        allowed: the names that there are.

    Raises:
        ValueError: another name, or not a dict.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options={options!r}: a dict is needed, or None")
    given = dict(options or {})
    for name in given:
        if name not in allowed:
            raise ValueError(unknown_reset_option(name, allowed))
    return given


def known_reset_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of a PettingZoo ``reset`` that there are, and warn of others."""
    given = dict(options or {})
    for name in given.keys() - set(RESET_OPTIONS):
        warnings.warn(unknown_reset_option(name, RESET_OPTIONS), stacklevel=3)
        del given[name]
    return given


def unknown_reset_option(name: object, allowed: tuple[str, ...]) -> str:
    """Return what to say of an option of ``reset`` that does not exist."""
    listed = ", ".join(map(repr, allowed))
    return f"unknown reset option {name!r}{did_you_mean(name, allowed)}; the options are {listed}"
