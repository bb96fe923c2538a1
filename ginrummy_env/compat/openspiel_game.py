"""A deal of gin rummy by any rules as a game of OpenSpiel, registered as ``ginrummy_env``.

>>> import ginrummy_env.compat.openspiel_game
>>> game = pyspiel.load_game("ginrummy_env", {"rules": "eaai"})
>>> state = game.new_initial_state()
>>> while not state.is_terminal():
...     state.apply_action(state.legal_actions()[-1])
>>> sum(state.returns())
0.0

Parameters:

``rules``
    A preset, settings, or a preset and settings that differ from it, as everywhere:
    ``"classic"``, ``"eaai,turn_bound=50"``. The rules need a turn bound. In OpenSpiel's own texts
    of games, which reserve ``,`` and ``=``, write ``ginrummy_env(rules=eaai turn_bound:50)``.
``dealer``
    0 or 1 (the default): the other player opens.

One deal is a game; the returns are its points. Actions have the numbers that they have everywhere
(108 of them, `core.actions`), and so have cards, which are the outcomes of chance. Chance deals
card by card: `chance_deal`. Information states hold all that a player has seen in its order
(perfect recall); observations are those of the environments (`core.observation`).

OpenSpiel offers its Python games no ``undo_action``, and its C++ ``ISMCTSBot`` cannot resample
them: use ``open_spiel.python.algorithms.ismcts``.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyspiel

from ginrummy_env.compat.chance_deal import ACTION_WORDS, CARD_WORDS, ChanceDeal, resampled
from ginrummy_env.compat.openspiel_observer import InformationState, Observation
from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.cards import NUM_CARDS, POINTS, cards_of
from ginrummy_env.core.checks import whole
from ginrummy_env.core.rules import Rules, as_rules, rules_name
from ginrummy_env.core.state import NUM_PLAYERS

__all__ = ["SHORT_NAME", "GinRummyGame", "GinRummyState", "rules_text"]

SHORT_NAME = "ginrummy_env"

GAME_TYPE = pyspiel.GameType(
    short_name=SHORT_NAME,
    long_name="Gin rummy (ginrummy_env)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=NUM_PLAYERS,
    min_num_players=NUM_PLAYERS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rules": "classic", "dealer": 1},
)


def rules_text(rules: Rules) -> str:
    """Return rules as a text that OpenSpiel's texts of games can hold.

    >>> rules_text(Rules(gin_bonus=25, target=250))
    'gin_bonus:25 target:250'
    """
    return rules_name(rules).replace(", ", " ").replace("=", ":")


def _parsed(text: str) -> Rules:
    """Return the rules of a text as everywhere, or as `rules_text` writes it."""
    settings = re.sub(r"\s*[:=]\s*", "=", text.strip())
    return as_rules(re.sub(r"[\s,]+", ",", settings))


def _most_points(rules: Rules) -> int:
    """Return a bound of the points of a deal."""
    points = np.sort(POINTS[cards_of(rules.full_deck)])
    most_deadwood = int(points[-rules.hand_size :].sum())
    limit = int(points[-1]) if rules.oklahoma else rules.knock_limit
    most = max(
        rules.gin_bonus + most_deadwood,
        rules.undercut_bonus + limit,
        rules.big_gin * (rules.big_gin_bonus + most_deadwood),
    )
    return most * (1 + (rules.oklahoma and rules.oklahoma_spades_double))


def _most_events(rules: Rules) -> int:
    """Return how many decisions a deal has at most: two passes; a draw and a discard each turn."""
    assert rules.turn_bound is not None
    return 2 * rules.turn_bound + 2


def _most_cards(rules: Rules) -> int:
    """Return how many cards are dealt at most: two hands, the upcard, and one for each draw."""
    return rules.num_cards - rules.num_stock + min(rules.num_stock, _most_events(rules))


class GinRummyGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """A deal by some rules. See the module."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Take OpenSpiel's parameters.

        Raises:
            ValueError: rules that there are not or that have no turn bound, no such dealer.
        """
        given = {"rules": "classic", "dealer": 1} | dict(params or {})
        rules = _parsed(str(given["rules"]))
        if rules.turn_bound is None:
            raise ValueError(
                "turn_bound=None: a game of OpenSpiel has a greatest length; set a bound, as in "
                f"rules={rules_name(rules)},turn_bound=100"
            )
        most = float(_most_points(rules))
        super().__init__(
            GAME_TYPE,
            pyspiel.GameInfo(
                num_distinct_actions=NUM_ACTIONS,
                max_chance_outcomes=NUM_CARDS,
                num_players=NUM_PLAYERS,
                min_utility=-most,
                max_utility=most,
                utility_sum=0.0,
                # OpenSpiel's own bounds leave out chance; Shimmy cuts games off that do.
                max_game_length=_most_events(rules) + _most_cards(rules),
            ),
            {"rules": rules_text(rules), "dealer": whole("dealer", given["dealer"], 0, 1)},
        )

    # From the parameters: OpenSpiel reads a pickled game without calling `__init__`.

    @cached_property
    def rules(self) -> Rules:
        """The settings."""
        return _parsed(self.get_parameters()["rules"])

    @cached_property
    def dealer(self) -> int:
        """0 or 1; the other player opens."""
        return int(self.get_parameters()["dealer"])

    def new_initial_state(self) -> "GinRummyState":
        """Return a deal of which no card has been dealt."""
        return GinRummyState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return how many cards are dealt at most."""
        return _most_cards(self.rules)

    def make_py_observer(
        self,
        iig_obs_type: "pyspiel.IIGObservationType | None" = None,
        params: Mapping[str, Any] | None = None,
    ) -> InformationState | Observation:
        """Return what turns states into tensors and strings.

        Args:
            iig_obs_type: with perfect recall an information state, else (and if None) an
                observation; both of what is public and of what one player sees.
            params: none.

        Raises:
            ValueError: another type of observation, or parameters.
        """
        if params:
            raise ValueError(f"{dict(params)}: observations take no parameters")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(
                f"{kind}: an observation is of public_info and of what a SINGLE_PLAYER sees"
            )
        if kind.perfect_recall:
            return InformationState(_most_events(self.rules))
        return Observation(self.rules)


class GinRummyState(pyspiel.State):  # type: ignore[misc]
    """A deal at some point. ``deal`` is what has happened: read it, do not change it."""

    def __init__(self, game: GinRummyGame) -> None:
        """Begin a deal; call ``game.new_initial_state()``."""
        super().__init__(game)
        # OpenSpiel copies a state by deep copies of its attributes, and writes it as their pickle.
        self.deal = ChanceDeal(game.rules, game.dealer)

    def current_player(self) -> int:
        """Return the player to move, chance or `pyspiel.PlayerId.TERMINAL`."""
        if self.deal.is_chance:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.deal.is_over else self.deal.player

    def _legal_actions(self, player: int) -> list[int]:
        return self.deal.legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the cards that may be dealt now, each with its probability."""
        return self.deal.outcomes()

    def _apply_action(self, action: int) -> None:
        deal = self.deal = self.deal.going_on()
        if deal.is_chance:
            deal.deal(action)
        else:
            deal.act(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {CARD_WORDS[action]}" if player < 0 else ACTION_WORDS[action]

    def is_terminal(self) -> bool:
        """Return whether the deal is over."""
        return self.deal.is_over

    def returns(self) -> list[float]:
        """Return the points of the deal: positive for its winner, 0 until it is over."""
        return [float(points) for points in self.deal.points()]

    def resample_from_infostate(
        self, player_id: int, probability_sampler: Callable[[], float]
    ) -> "GinRummyState":
        """Return a state, at random, that the player cannot tell from this one.

        All states that fit are equally likely; see `chance_deal.resampled`.
        """
        rng = np.random.default_rng(int(probability_sampler() * 2**53))
        state: GinRummyState = self.get_game().new_initial_state()
        for number in resampled(self.deal, player_id, rng).history():
            state.apply_action(number)
        return state

    def __str__(self) -> str:
        """Return all cards and all that has happened."""
        deal = self.deal
        lines = [f"{player}: {_cards(deal.hand(player))}" for player in range(NUM_PLAYERS)]
        events = [
            f"draw {CARD_WORDS[event.card]}" if event.card >= 0 else ACTION_WORDS[event.action]
            for event in deal.events
        ]
        events += ["draw"] * deal.drawing
        return "\n".join([*lines, f"upcard: {CARD_WORDS[deal.upcard]}", ", ".join(events)])


def _cards(cards: tuple[int, ...]) -> str:
    return " ".join(CARD_WORDS[card] for card in cards)


pyspiel.register_game(GAME_TYPE, GinRummyGame)
