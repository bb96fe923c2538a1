"""What the variants of gin rummy disagree on: one field per setting, presets as values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from ginrummy_env.core.cards import DECKS, HAND_SIZE, NUM_RANKS, NUM_SUITS
from ginrummy_env.core.checks import did_you_mean, flag, one_of, quoted, whole

EqualDeadwood = Literal["undercut", "knocker", "nobody"]
GinAnswered = Literal["gin_wins", "undercut", "nobody"]
NextDealer = Literal["winner", "loser", "alternate"]
AtVoidStock = Literal["end", "knock_with_discard", "take_discard"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "equal_deadwood": ("undercut", "knocker", "nobody"),
    "gin_answered_by_gin": ("gin_wins", "undercut", "nobody"),
    "next_dealer": ("winner", "loser", "alternate"),
    "at_void_stock": ("end", "knock_with_discard", "take_discard"),
}
# Least and greatest value of each whole-number setting but `void_stock`, which the size of the deck
# bounds. Points and scores are int16 in the core:
# the greatest score is 9,999 and one more deal, whose bonus of 1,000 and 98 of deadwood may be
# doubled. Deals may be won for 0 points, so their number has no bound but that of deals (int32);
# final scores, with a box for each, are int64.
_RANGES: dict[str, tuple[int, int]] = {
    "knock_limit": (0, 98),
    "oklahoma_ace": (0, 1),
    "gin_bonus": (0, 1000),
    "undercut_bonus": (0, 1000),
    "big_gin_bonus": (0, 1000),
    "target": (1, 10000),
    "game_bonus": (0, 1000),
    "box_bonus": (0, 1000),
    "shutout_bonus": (0, 1000),
    "turn_bound": (1, 10000),
    "num_ranks": (3, NUM_RANKS),
    "num_suits": (1, NUM_SUITS),
    "hand_size": (3, HAND_SIZE),  # fewer make no meld
}


def _checked(name: str, value: object) -> int | str | bool | None:
    """Return the value of a setting as a plain one, or say what the setting allows."""
    if name in _CHOICES:
        return one_of(name, value, _CHOICES[name])
    if name not in _RANGES:
        return flag(name, value)
    if name != "turn_bound":
        return whole(name, value, *_RANGES[name])
    return None if value is None else whole(name, value, *_RANGES[name], or_="None")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The settings of a game. The defaults are the game of RULES (the preset CLASSIC).

    Bonuses are 0 to 1,000, ``target`` and ``turn_bound`` 1 to 10,000, ``knock_limit`` 0 to 98 and
    ``void_stock`` 0 to 30 (in general, less than the stock has after the deal). Whole numbers may
    be of any integer type, NumPy's too.

    Raises:
        ValueError: a value that the setting does not allow; says which are. Or a deck that makes
            no game with such hands and stock; says why.

    Source: RULES, Settings.

    >>> Rules(gin_bonus=25).gin_bonus
    25
    >>> Rules(knock_limit=-1)
    Traceback (most recent call last):
    ValueError: knock_limit=-1: a whole number from 0 to 98 is needed
    """

    knock_limit: int = 10
    """Most deadwood to knock with, in points; 0: gin only."""

    oklahoma: bool = False
    """Whether the points of the first upcard are the knock limit instead."""

    oklahoma_ace: int = 1
    """With Oklahoma, the limit if the first upcard is an ace: 1, or 0 for gin only."""

    oklahoma_spades_double: bool = False
    """With Oklahoma, whether a spade as first upcard doubles the points of the deal, its gin and
    undercut bonus included (boxes are not doubled)."""

    gin_bonus: int = 20
    """Points for gin, on top of the defender's deadwood."""

    undercut_bonus: int = 10
    """Points to the defender for an undercut, on top of the difference."""

    equal_deadwood: EqualDeadwood = "undercut"
    """What equal deadwood after a knock is: an undercut; a deal won by the knocker with 0 points;
    or a deal that nobody wins."""

    layoff_on_gin: bool = True
    """Whether the defender lays off after gin and big gin too."""

    gin_answered_by_gin: GinAnswered = "gin_wins"
    """What happens after gin (not big gin) if the defender's own ten cards have no deadwood
    either: gin wins all the same; the defender wins ``undercut_bonus``; or nobody wins."""

    big_gin: bool = False
    """Whether eleven melded cards may be laid down without a discard."""

    big_gin_bonus: int = 31
    """Points for big gin, in place of ``gin_bonus``."""

    next_dealer: NextDealer = "winner"
    """Who deals after a deal that somebody won: its winner, its loser, or the players in turn.
    After a deal without a winner the same player deals again."""

    target: int = 100
    """Points from deals (without bonuses) that end the game."""

    game_bonus: int = 100
    """Points for winning the game."""

    box_bonus: int = 20
    """Points for each deal won, written at the end of the game."""

    shutout_bonus: int = 100
    """Points to the winner of the game if the loser won no deal."""

    void_stock: int = 2
    """Cards in the stock at which the deal ends when a turn ends without a knock."""

    at_void_stock: AtVoidStock = "end"
    """What then happens: the deal is void at once; the next player may first take the upcard if
    they can knock with it, and must then knock, or pass (void); or the players may keep taking
    upcards until one passes (void), knocks, or the turn bound comes."""

    turn_bound: int | None = 100
    """Discards after which the deal is void, None for no bound. A knock with the last counts."""

    discard_taken_upcard: bool = False
    """Whether a card taken from the discard pile may be discarded in the same turn."""

    num_ranks: int = NUM_RANKS
    """Ranks of the deck, from the ace up: 3 to 13."""

    num_suits: int = NUM_SUITS
    """Suits of the deck, in the order spades, hearts, diamonds, clubs: 1 to 4. A deck of one or two
    suits has no sets."""

    hand_size: int = HAND_SIZE
    """Cards dealt to each player: 3 to 10."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "void_stock":
                value = _checked(field.name, getattr(self, field.name))
                object.__setattr__(self, field.name, value)
        if self.num_stock < 1:
            raise ValueError(
                f"num_ranks={self.num_ranks}, num_suits={self.num_suits}, hand_size="
                f"{self.hand_size}: the deck has {self.num_cards} cards, and two hands, the upcard "
                f"and at least one stock card are {2 * self.hand_size + 2}"
            )
        try:
            void_stock = whole("void_stock", self.void_stock, 0, self.num_stock - 1)
        except ValueError as error:
            raise ValueError(f"{error}; the stock starts with {self.num_stock} cards") from None
        object.__setattr__(self, "void_stock", void_stock)

    @property
    def num_cards(self) -> int:
        """Cards of the deck: 52."""
        return self.num_ranks * self.num_suits

    @property
    def num_stock(self) -> int:
        """Cards of the stock after the deal: 31."""
        return self.num_ranks * self.num_suits - 2 * self.hand_size - 1

    @property
    def num_pile(self) -> int:
        """The most cards that the discard pile can hold: 32, all that are in no hand."""
        return self.num_ranks * self.num_suits - 2 * self.hand_size

    @property
    def full_deck(self) -> np.uint64:
        """The cards of the deck as a mask, uint64."""
        return DECKS[self.num_suits][self.num_ranks]

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, as JSON can hold them.

        >>> Rules(gin_bonus=25).to_dict()
        {'gin_bonus': 25}
        """
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> "Rules":
        """Return the rules with these settings and the defaults for all others.

        Raises:
            ValueError: an unknown setting, or a value that it does not allow.

        >>> Rules.from_dict({"gin_bonus": 25}) == Rules(gin_bonus=25)
        True
        """
        known = [field.name for field in fields(cls)]
        for name in settings:
            if name not in known:
                raise ValueError(
                    f"unknown setting {quoted(name)}; the settings are {', '.join(known)}"
                    f"{did_you_mean(name, known)}"
                )
        return cls(**settings)


CLASSIC = Rules()
"""The game of RULES: gin 20, undercut 10, lay-off on gin too, box 20, game 100, shutout 100."""

EAAI = Rules(
    gin_bonus=25,
    undercut_bonus=25,
    layoff_on_gin=False,
    game_bonus=0,
    box_bonus=0,
    shutout_bonus=0,
    next_dealer="alternate",
)
"""The AAAI-21 undergraduate challenge: 25 and 25, no lay-off on gin, no bonuses of the game, the
dealer alternates after a scored deal. The challenge lays off greedily; here laying off is exact."""

MODERN = Rules(
    gin_bonus=25,
    undercut_bonus=25,
    layoff_on_gin=False,
    big_gin=True,
    box_bonus=25,
)
"""The usual American game of today: gin 25, big gin 31, undercut 25, box 25, game 100."""

OKLAHOMA = Rules(oklahoma=True, oklahoma_spades_double=True)
"""CLASSIC, but the first upcard sets the knock limit, and a spade doubles the points."""

STRAIGHT = Rules(knock_limit=0)
"""CLASSIC, but only gin ends a deal."""

OPENSPIEL = Rules(
    gin_bonus=25,
    undercut_bonus=25,
    equal_deadwood="nobody",
    layoff_on_gin=False,
    at_void_stock="knock_with_discard",
    discard_taken_upcard=True,
    turn_bound=None,
    game_bonus=0,
    box_bonus=0,
    shutout_bonus=0,
    next_dealer="alternate",
)
"""Near OpenSpiel's ``gin_rummy`` with its default parameters. What still differs there:

- 50 upcards taken after the opening, or a card taken and thrown straight back by both players in
  turn, end the deal 0:0; here nothing bounds it but the stock (set ``turn_bound`` to bound it).
- A run takes two lay-offs at each end at most; here as many as fit. (No points depend on it: a
  third card in a row is a run of the defender's own with the two before it.)
- A knock is judged by the melding that is best for eleven cards, which refuses some legal knocks
  (0.02 % of hands full of melds).
- The players meld and lay off by hand, badly if they like; here always for the least deadwood, and
  gin needs no declaration. Seat 0 always opens, and a deal is the whole game.
"""

RLCARD = Rules(
    gin_bonus=25,
    undercut_bonus=0,
    equal_deadwood="knocker",
    layoff_on_gin=False,
    at_void_stock="take_discard",
    game_bonus=0,
    box_bonus=0,
    shutout_bonus=0,
    next_dealer="alternate",
)
"""Near RLCard's ``gin-rummy`` (PettingZoo's ``gin_rummy_v4``). What still differs there:

- No opening: the non-dealer is dealt eleven cards and discards; here they are offered the upcard.
- Gin is compulsory, and the engine picks its discard; here it is a choice like any knock.
- The card just taken may not be discarded but may be knocked with; here neither.
- A knock is paid 0.2 and gin 1, whatever the other player holds; everyone else pays their
  deadwood / 100, both of them in a dead hand. No points, no undercut, no lay-offs; here the deal
  is scored as usual, with an undercut worth only the difference.
- The player to move may declare the hand dead instead of drawing when two cards are left; here
  they pass (void). It ends after 200 recorded moves; here after 100 discards.
- The dealer is drawn again for each deal.
"""

MINI = Rules(
    num_ranks=5, num_suits=3, hand_size=4, knock_limit=3, turn_bound=20,
    gin_bonus=8, undercut_bonus=4, target=40, game_bonus=40, box_bonus=8, shutout_bonus=40,
)  # fmt: skip
"""A small game for quick experiments: 15 cards (ace to five of three suits), hands of four. A knock
takes a meld and a three at most; six cards of stock, of which four are drawn."""

NANO = Rules(
    num_ranks=4, num_suits=2, hand_size=3, knock_limit=6, void_stock=0, turn_bound=3,
    gin_bonus=4, undercut_bonus=2, target=20, game_bonus=20, box_bonus=4, shutout_bonus=20,
)  # fmt: skip
"""The smallest game that is still gin rummy, for exact results: 8 cards (ace to four of two suits),
hands of three, one card of stock, three discards at most. A meld is a run of three or four, so gin
is a run in hand; a knock is three low cards. A deal has 1,120 beginnings, 323,920 histories and
47,320 information states of both players (see tests/core/test_small_decks.py)."""

PRESETS: dict[str, Rules] = {
    "classic": CLASSIC,
    "eaai": EAAI,
    "modern": MODERN,
    "oklahoma": OKLAHOMA,
    "straight": STRAIGHT,
    "openspiel": OPENSPIEL,
    "rlcard": RLCARD,
    "mini": MINI,
    "nano": NANO,
}


def as_rules(rules: "str | Rules | Mapping[str, Any]") -> Rules:
    """Return the rules that a text, a dict of settings or Rules themselves stand for.

    Args:
        rules: a text names a preset, settings, or a preset and settings that differ from it:
            ``"eaai"``, ``"target=250"``, ``"eaai,target=250"``. Settings alone differ from CLASSIC.

    Raises:
        ValueError: an unknown preset or setting, or a value it does not allow; says which there
            are.

    >>> as_rules("eaai,target=250") == Rules(**{**EAAI.to_dict(), "target": 250})
    True
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return _parsed(rules)
    if isinstance(rules, Mapping):
        return Rules.from_dict(rules)
    raise ValueError(
        f"{quoted(rules)}: a preset's name, a text, a dict of settings or Rules are needed"
    )


def _parsed(text: str) -> Rules:
    """Return the rules that a text stands for (see `as_rules`)."""
    settings: dict[str, Any] = {}
    named: set[str] = set()
    for number, part in enumerate(piece.strip() for piece in text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if equals and name in named:
            raise ValueError(f"the setting {quoted(name)} appears twice")
        if equals:
            named.add(name)
            settings[name] = _value(value)
        elif number == 0 and part.lower() in PRESETS:
            settings.update(PRESETS[part.lower()].to_dict())
        else:
            known = ", ".join(PRESETS)
            if number == 0:
                raise ValueError(
                    f"unknown preset {quoted(part)}; the presets are {known}, a setting is "
                    f"name=value{did_you_mean(part, PRESETS)}"
                )
            raise ValueError(f"{quoted(part)} is not a setting (name=value); a preset comes first")
    return Rules.from_dict(settings)


def _value(text: str) -> int | bool | str | None:
    """Return the value that a word stands for; other words are left to `Rules`."""
    words: dict[str, bool | None] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    return int(text) if re.fullmatch("-?[0-9]{1,9}", text) else text


def rules_name(rules: Rules) -> str:
    """Return the preset's name, or the settings that differ from CLASSIC; `as_rules` reads it.

    >>> rules_name(EAAI), rules_name(Rules(target=250, turn_bound=None))
    ('eaai', 'target=250, turn_bound=None')
    """
    for name, preset in PRESETS.items():
        if preset == rules:
            return name
    return ", ".join(f"{name}={value}" for name, value in rules.to_dict().items())
