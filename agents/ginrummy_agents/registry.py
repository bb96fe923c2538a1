"""The agents by name: what each is in a line, and its parameters.

The entry points of the group ``ginrummy_env.policies`` (in pyproject.toml) point here, so
``make_policy("simple:knock=0")`` finds an agent without importing the others' code.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any

from ginrummy_agents.external import ExternalPolicy
from ginrummy_agents.learned.inputs import feature_sizes, features
from ginrummy_agents.learned.policy import Ppo, Scratch
from ginrummy_agents.rules.champion import Champion
from ginrummy_agents.rules.gold import Gold
from ginrummy_agents.rules.hein import Hein
from ginrummy_agents.rules.heuristic import Heuristic
from ginrummy_agents.rules.lookahead import Lookahead
from ginrummy_agents.rules.myopic import Myopic
from ginrummy_agents.rules.random import RandomAgent
from ginrummy_agents.rules.simple import Simple
from ginrummy_agents.search.policy import Search
from ginrummy_agents.win_chance import win_chance_of
from ginrummy_env.core.cards import NUM_CARDS
from ginrummy_env.envs import Features, register_features, register_win_chance
from ginrummy_env.policy import Policy


@dataclass(frozen=True)
class Parameter:
    """One parameter of an agent."""

    name: str
    default: Any
    about: str


@dataclass(frozen=True)
class Agent:
    """An agent's name, what it does in a line, and how it is made.

    Called with parameters it returns the policy.
    """

    name: str
    make: Callable[..., Policy]
    about: str
    main: str | None = None
    """The parameter that may be given without its name: ``"simple:0"`` is ``"simple:knock=0"``."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters: the fields of the agent's dataclass."""
        return tuple(
            Parameter(each.name, each.default, each.metadata.get("about", ""))
            for each in fields(self.make)  # type: ignore[arg-type]
            if each.default is not MISSING
        )

    @property
    def texts(self) -> frozenset[str]:
        """The parameters whose values are text, "" for one without a name (`parse_spec`)."""
        names = {each.name for each in self.parameters if isinstance(each.default, str)}
        return frozenset(names | {""} if self.main in names else names)

    def __call__(self, **given: Any) -> Policy:
        """Return the policy with these parameters, ``main`` standing for the nameless one.

        Raises:
            ValueError: a parameter that the agent does not have (says which it has), or a value
                that the parameter does not allow.
        """
        known = [parameter.name for parameter in self.parameters]
        has = f"it has {', '.join(known)}" if known else "it has none"
        if "main" in given:
            value = given.pop("main")
            if self.main is None:
                raise ValueError(f"{self.name}: has no parameter without a name ({value!r}); {has}")
            if self.main in given:
                raise ValueError(f"{self.name}: {self.main} is given twice")
            given[self.main] = value
        for name in given:
            if name not in known:
                raise ValueError(f"{self.name}: unknown parameter {name!r}; {has}")
        return self.make(**given)


RANDOM = Agent("random", RandomAgent, "any legal action, all equally likely")
GOLD = Agent(
    "gold", Gold, "takes what lowers deadwood, keeps what leaves least, knocks at once", "knock"
)
SIMPLE = Agent(
    "simple", Simple, "the challenge's baseline: takes what melds, knocks at once", "knock"
)
HEURISTIC = Agent("heuristic", Heuristic, "weighs equals by danger, knocks by the score", "knock")
HEIN = Agent("hein", Hein, "keeps the cards with many ways to meld, knocks at once", "alpha")
LOOKAHEAD = Agent(
    "lookahead",
    Lookahead,
    "looks one draw ahead and at what it gives, waits for gin",
    "knock_turns",
)
MYOPIC = Agent(
    "myopic", Myopic, "deadwood less what the next card may meld, knocks at once", "knock"
)
CHAMPION = Agent(
    "champion", Champion, "the best rule agent: weighs every choice by the points it is worth"
)

SEARCH = Agent(
    "search", Search, "tries candidates in sampled worlds, played to the end of the deal", "worlds"
)
PPO = Agent("ppo", Ppo, "learned: imitated a rule agent, then improved by PPO", "path")
SCRATCH = Agent("scratch", Scratch, "learned from nothing: self-play on both seats", "path")

AGENTS: dict[str, Agent] = {
    agent.name: agent
    for agent in (
        RANDOM,
        GOLD,
        SIMPLE,
        HEURISTIC,
        HEIN,
        MYOPIC,
        LOOKAHEAD,
        CHAMPION,
        SEARCH,
        PPO,
        SCRATCH,
    )
}


class _Exec:
    """Makes players of programs: what stands behind ``exec:`` is the command, commas and all."""

    takes_text = True
    about = "a program that plays by the arena's protocol, such as exec:./mybot (docs/ARENA.md)"

    def __call__(self, text: str) -> Policy:
        return ExternalPolicy.parse(text)


EXEC = _Exec()

_PLANES, _SCALARS = feature_sizes(derived=True, ahead=True)
register_features("ahead", Features(_PLANES * NUM_CARDS + _SCALARS, features, -2.0, 2.0))
register_win_chance(win_chance_of)
