"""The rules again, slow and plain: one deal at a time, sets and tuples, no NumPy.

Written from the rules and the vectors' README alone, not from ``ginrummy_env.core``, so that the
two can be held against each other. Cards are 0..51 (``suit * 13 + rank``, suits s h d c, ace 0);
a meld is an ascending list of cards, an arrangement an ascending list of melds; rules are a dict
of the settings that differ from ``RULE_DEFAULTS``; actions and phases are the vectors' strings.
"""

import random
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations, product

RULE_DEFAULTS = {
    "knock_limit": 10,
    "oklahoma": False,
    "oklahoma_ace": 1,
    "oklahoma_spades_double": False,
    "gin_bonus": 20,
    "undercut_bonus": 10,
    "equal_deadwood": "undercut",
    "layoff_on_gin": True,
    "gin_answered_by_gin": "gin_wins",
    "big_gin": False,
    "big_gin_bonus": 31,
    "next_dealer": "winner",
    "target": 100,
    "game_bonus": 100,
    "box_bonus": 20,
    "shutout_bonus": 100,
    "void_stock": 2,
    "at_void_stock": "end",
    "turn_bound": 100,
    "discard_taken_upcard": False,
    "num_ranks": 13,
    "num_suits": 4,
    "hand_size": 10,
}

RULE_VALUES = {
    "knock_limit": range(11),
    "oklahoma": [False, True],
    "oklahoma_ace": [0, 1],
    "oklahoma_spades_double": [False, True],
    "gin_bonus": range(41),
    "undercut_bonus": range(41),
    "equal_deadwood": ["undercut", "knocker", "nobody"],
    "layoff_on_gin": [False, True],
    "gin_answered_by_gin": ["gin_wins", "nobody", "undercut"],
    "big_gin": [False, True],
    "big_gin_bonus": range(61),
    "next_dealer": ["winner", "loser", "alternate"],
    "target": [1, 50, 100, 150, 250],
    "game_bonus": [0, 50, 100],
    "box_bonus": [0, 10, 20, 25],
    "shutout_bonus": [0, 25, 100],
    "void_stock": [0, 1, 2, 3, 5, 10, 20, 30],
    "at_void_stock": ["end", "knock_with_discard", "take_discard"],
    "turn_bound": [1, 2, 5, 10, 20, 50, 100, None],
    "discard_taken_upcard": [False, True],
}

Meld = list[int]
Arrangement = list[Meld]


def full_rules(rules: dict | None = None) -> dict:
    """Return all settings: the defaults, changed by ``rules``."""
    rules = rules or {}
    unknown = set(rules) - set(RULE_DEFAULTS)
    if unknown:
        raise ValueError(f"no such settings: {sorted(unknown)}")
    return RULE_DEFAULTS | rules


def random_rules(rng: random.Random) -> dict:
    """Return settings drawn at random, as a dict of those that differ from the defaults.

    Half of the time few settings differ, so that a fault of one is not hidden by the others.
    """
    share = rng.choice([0.1, 0.5])
    drawn = {
        name: rng.choice(list(values))
        for name, values in RULE_VALUES.items()
        if rng.random() < share
    }
    return {name: value for name, value in drawn.items() if value != RULE_DEFAULTS[name]}


def random_small_rules(rng: random.Random) -> dict:
    """Return settings drawn at random with a deck and hands of any size that makes a game."""
    sizes = {"num_ranks": rng.randint(3, 13)}
    stock = 0
    while stock <= 0:
        sizes |= {"num_suits": rng.randint(1, 4), "hand_size": rng.randint(3, 10)}
        stock = sizes["num_ranks"] * sizes["num_suits"] - 2 * sizes["hand_size"] - 1
    drawn = random_rules(rng) | sizes | {"void_stock": rng.randrange(min(stock, 6))}
    return {name: value for name, value in drawn.items() if value != RULE_DEFAULTS[name]}


def any_rules(rng: random.Random) -> dict:
    """Return settings drawn at random, half of the time with a deck of any size."""
    return rng.choice([random_rules, random_small_rules])(rng)


def deck_of(rules: dict | None = None) -> list[int]:
    """Return the cards of the deck, ascending: the lowest ranks of the first suits."""
    rules = full_rules(rules)
    return [13 * s + r for s in range(rules["num_suits"]) for r in range(rules["num_ranks"])]


# Cards and melds (RULES, Cards)


def rank(card: int) -> int:
    """Return 0 for an ace, 12 for a king."""
    return card % 13


def suit(card: int) -> int:
    """Return 0 spades, 1 hearts, 2 diamonds, 3 clubs."""
    return card // 13


def points(cards: Iterable[int]) -> int:
    """Return the points of the cards: ace 1, then their number, ten for J Q K."""
    return sum(min(rank(card) + 1, 10) for card in cards)


def is_set(meld: Meld) -> bool:
    """Return whether the cards are of one rank."""
    return rank(meld[0]) == rank(meld[-1])


def melds(cards: Iterable[int]) -> Iterator[frozenset[int]]:
    """Yield every set and every run in the cards; parts of a longer meld are melds too."""
    cards = frozenset(cards)
    for one_rank in range(13):
        same = [card for card in cards if rank(card) == one_rank]
        for size in (3, 4):
            yield from map(frozenset, combinations(same, size))
    for first in cards:
        last = first
        while last in cards and suit(last) == suit(first):
            if last - first >= 2:
                yield frozenset(range(first, last + 1))
            last += 1


def disjoint(choices: list[frozenset[int]]) -> Iterator[tuple[frozenset[int], ...]]:
    """Yield every choice of melds in which no card is in two of them, the empty one included."""
    yield ()
    for i, meld in enumerate(choices):
        rest = [other for other in choices[i + 1 :] if not meld & other]
        for more in disjoint(rest):
            yield (meld, *more)


def unmelded_points(cards: frozenset[int], choice: tuple[frozenset[int], ...]) -> int:
    """Return the points of the cards in no meld of the choice."""
    return points(cards.difference(*choice))


@lru_cache(maxsize=1 << 15)
def _deadwood(cards: frozenset[int]) -> int:
    return min(unmelded_points(cards, choice) for choice in disjoint(list(melds(cards))))


def deadwood(cards: Iterable[int]) -> int:
    """Return the least deadwood of the cards over all ways of melding them."""
    return _deadwood(frozenset(cards))


def arrangements(cards: Iterable[int]) -> list[Arrangement]:
    """Return all arrangements of least deadwood, in ascending order. A run may be split in two."""
    cards = frozenset(cards)
    least = deadwood(cards)
    return sorted(
        sorted(sorted(meld) for meld in choice)
        for choice in disjoint(list(melds(cards)))
        if unmelded_points(cards, choice) == least
    )


# Knocking (RULES, One deal, 5)


def after_discard(cards: Iterable[int]) -> dict[int, int]:
    """Return for each card the deadwood of the others."""
    cards = frozenset(cards)
    return {card: deadwood(cards - {card}) for card in sorted(cards)}


def knock_discards(cards: Iterable[int], limit: int, forbidden: int | None = None) -> set[int]:
    """Return the cards of the eleven that one may knock with; ``forbidden`` is the taken upcard."""
    left = after_discard(cards)
    return {card for card in left if card != forbidden and left[card] <= limit}


# Laying off (RULES, One deal, 6 and Settled here)


def run_ends(meld: Meld) -> tuple[list[int], list[int]]:
    """Return the cards below and above a run up to the ends of its suit, the nearest first."""
    suit_first = 13 * suit(meld[0])
    below = list(range(meld[0] - 1, suit_first - 1, -1))
    above = list(range(meld[-1] + 1, suit_first + 13))
    return below, above


def chain(cards: list[int], available: frozenset[int]) -> list[int]:
    """Return the first cards of the list, as far as all of them are available."""
    for i, card in enumerate(cards):
        if card not in available:
            return cards[:i]
    return cards


def fourth_cards(meld: Meld, available: frozenset[int]) -> list[int]:
    """Return the available cards that a set lacks."""
    return [card for card in available if rank(card) == rank(meld[0]) and card not in meld]


def layoff_potential(
    arrangement: Arrangement,
    own_cards: Iterable[int],
    discard_pile: Iterable[int],
    rules: dict | None = None,
) -> int:
    """Return the points of all cards that could be laid off on the knocker's arrangement.

    Possible is every card of the deck that is neither among the knocker's own nor in the discard
    pile; each counts once.
    """
    unseen = frozenset(deck_of(rules)) - frozenset(own_cards) - frozenset(discard_pile)
    fitting: set[int] = set()
    for meld in arrangement:
        if is_set(meld):
            fitting.update(fourth_cards(meld, unseen))
        else:
            for end in run_ends(meld):
                fitting.update(chain(end, unseen))
    return points(fitting)


def tied_arrangements(
    own_cards: Iterable[int], discard_pile: Iterable[int], rules: dict | None = None
) -> list[Arrangement]:
    """Return, ascending, the arrangements that tie in least deadwood and least potential."""
    own_cards, discard_pile = frozenset(own_cards), frozenset(discard_pile)
    candidates = arrangements(own_cards)
    potentials = [layoff_potential(each, own_cards, discard_pile, rules) for each in candidates]
    least = min(potentials)
    return [
        each for each, potential in zip(candidates, potentials, strict=True) if potential == least
    ]


def knocker_arrangement(
    own_cards: Iterable[int], discard_pile: Iterable[int], rules: dict | None = None
) -> Arrangement:
    """Return what the knocker lays down: least deadwood, least potential, first as a list."""
    return tied_arrangements(own_cards, discard_pile, rules)[0]


def layoff_choices(meld: Meld, held: frozenset[int]) -> list[frozenset[int]]:
    """Return every group of the held cards that may be added to the meld, none included."""
    if is_set(meld):
        return [frozenset(), *(frozenset([card]) for card in fourth_cards(meld, held))]
    below, above = (chain(end, held) for end in run_ends(meld))
    return [
        frozenset(below[:low] + above[:high])
        for low in range(len(below) + 1)
        for high in range(len(above) + 1)
    ]


def defender_deadwood(cards: Iterable[int], arrangement: Arrangement) -> int:
    """Return what the defender is left with, own melds and lay-offs chosen together."""
    cards = frozenset(cards)
    least = deadwood(cards)
    for groups in product(*(layoff_choices(meld, cards) for meld in arrangement)):
        laid_off = frozenset().union(*groups)
        if len(laid_off) == sum(map(len, groups)):  # no card on two melds
            least = min(least, deadwood(cards - laid_off))
    return least


# Scoring a deal


def score(
    knocker: int, defender: int, rules: dict | None = None, *, big=False, answered=False
) -> tuple[str, str | None, int]:
    """Return outcome, winner (``"knocker"``, ``"defender"``, None) and points of two deadwoods.

    Args:
        knocker: the knocker's deadwood.
        defender: the defender's, after lay-offs.
        rules: the settings that differ.
        big: whether it is big gin.
        answered: whether the defender's own ten cards have deadwood 0.
    """
    rules = full_rules(rules)
    difference = defender - knocker
    if big:
        return "big_gin", "knocker", rules["big_gin_bonus"] + defender
    if knocker == 0:
        if answered and rules["gin_answered_by_gin"] == "nobody":
            return "gin_answered", None, 0
        if answered and rules["gin_answered_by_gin"] == "undercut":
            return "gin_answered", "defender", rules["undercut_bonus"]
        return "gin", "knocker", rules["gin_bonus"] + defender
    if difference == 0 and rules["equal_deadwood"] == "nobody":
        return "equal", None, 0
    if difference > 0 or (difference == 0 and rules["equal_deadwood"] == "knocker"):
        return "knock", "knocker", difference
    return "undercut", "defender", rules["undercut_bonus"] - difference


def settle(
    knocker: Iterable[int],
    defender: Iterable[int],
    discard_pile: Iterable[int],
    rules: dict | None = None,
    *,
    first_upcard: int | None = None,
    arrangement: Arrangement | None = None,
) -> dict:
    """Return how a deal ends that the knocker has ended with these cards.

    Args:
        knocker: his cards after the discard (ten), or one more: big gin.
        defender: as many as were dealt (ten).
        discard_pile: the knock discard included.
        rules: the settings that differ.
        first_upcard: the one turned at the deal, for ``oklahoma_spades_double``.
        arrangement: what the knocker lays down, if not what the rules choose.

    Returns:
        outcome, winner (``"knocker"``, ``"defender"`` or None), points, knocker_deadwood,
        defender_deadwood (after lay-offs), melds (the knocker's).
    """
    knocker, defender, rules = frozenset(knocker), frozenset(defender), full_rules(rules)
    if arrangement is None:
        arrangement = knocker_arrangement(knocker, discard_pile, rules)
    own = deadwood(knocker)
    alone = deadwood(defender)
    laid_off = own > 0 or rules["layoff_on_gin"]
    left = defender_deadwood(defender, arrangement) if laid_off else alone
    big = len(knocker) > rules["hand_size"]
    outcome, winner, won = score(own, left, rules, big=big, answered=alone == 0)
    if doubled(rules, first_upcard):
        won *= 2
    return {
        "outcome": outcome,
        "winner": winner,
        "points": won,
        "knocker_deadwood": own,
        "defender_deadwood": left,
        "melds": arrangement,
    }


def doubled(rules: dict, first_upcard: int | None) -> bool:
    """Return whether the points of the deal count double."""
    rules = full_rules(rules)
    spade = first_upcard is not None and suit(first_upcard) == 0
    return rules["oklahoma"] and rules["oklahoma_spades_double"] and spade


def knock_limit(rules: dict | None, first_upcard: int) -> int:
    """Return the most deadwood one may knock with in a deal with this first upcard."""
    rules = full_rules(rules)
    if not rules["oklahoma"]:
        return rules["knock_limit"]
    if rank(first_upcard) == 0:
        return rules["oklahoma_ace"]
    return points([first_upcard])


# One deal (RULES, One deal)


class Deal:
    """One deal, from the dealt cards to its result.

    Attributes:
        rules: all settings.
        deck: its cards in dealing order, 52 but in a small deck.
        dealer, player: 0 or 1; the player to act, at the end the one who acted last.
        phase: ``opening``, ``draw``, ``discard``, ``wall`` or ``over``.
        hands: the two players' cards, sets.
        stock: the next card to draw first.
        first_upcard: the one turned at the deal.
        discard_pile: oldest first, the upcard last.
        knock_limit: in force in this deal.
        taken: the card taken from the discard pile this turn, or None.
        drawn: the card drawn from the stock this turn, or None.
        turns: discards made.
        actions: all so far, in order.
        result: None, or at the end the dict of the vectors' README.
    """

    def __init__(self, deck: Iterable[int], dealer: int, rules: dict | None = None):
        """Deal the deck, one card at a time, the non-dealer first."""
        self.rules = full_rules(rules)
        self.deck = list(deck)
        if sorted(self.deck) != deck_of(self.rules):
            raise ValueError(f"not the cards of the deck: {self.deck}")
        dealt = 2 * self.rules["hand_size"]
        self.dealer = dealer
        self.player = 1 - dealer
        self.phase = "opening"
        self.hands: list[set[int]] = [set(), set()]
        self.hands[1 - dealer] = set(self.deck[0:dealt:2])
        self.hands[dealer] = set(self.deck[1:dealt:2])
        self.first_upcard = self.deck[dealt]
        self.discard_pile = [self.first_upcard]
        self.stock = self.deck[dealt + 1 :]
        self.knock_limit = knock_limit(self.rules, self.first_upcard)
        self.taken: int | None = None
        self.drawn: int | None = None
        self.turns = 0
        self.actions: list[str] = []
        self.result: dict | None = None
        self.passes = 0
        self.at_wall = False

    @property
    def hand(self) -> set[int]:
        """The cards of the player to act."""
        return self.hands[self.player]

    @property
    def upcard(self) -> int:
        """The top of the discard pile."""
        return self.discard_pile[-1]

    def forbidden(self, taken: int | None) -> int | None:
        """Return the card that may not be discarded in a turn in which ``taken`` was taken."""
        return None if self.rules["discard_taken_upcard"] else taken

    def may_take(self) -> bool:
        """Return whether the upcard may be taken: at the wall perhaps only to knock."""
        if self.phase != "wall" or self.rules["at_void_stock"] == "take_discard":
            return True
        eleven = self.hand | {self.upcard}
        return bool(knock_discards(eleven, self.knock_limit, self.forbidden(self.upcard)))

    def must_knock(self) -> bool:
        """Return whether the upcard was taken at the wall in order to knock."""
        return self.at_wall and self.rules["at_void_stock"] == "knock_with_discard"

    def legal(self) -> set[str]:
        """Return all legal actions, none when the deal is over."""
        if self.phase in ("opening", "wall"):
            return {"P", "U"} if self.may_take() else {"P"}
        if self.phase == "draw":
            return {"S"} if self.passes == 2 and self.turns == 0 else {"S", "U"}
        if self.phase == "discard":
            forbidden = self.forbidden(self.taken)
            knocks = knock_discards(self.hand, self.knock_limit, forbidden)
            actions = {f"K{card}" for card in knocks}
            if not self.must_knock():
                actions |= {f"D{card}" for card in self.hand if card != forbidden}
            if self.rules["big_gin"] and deadwood(self.hand) == 0:
                actions.add("G")
            return actions
        return set()

    def play(self, action: str) -> None:
        """Take one action; ValueError, and nothing changes, if it is not legal."""
        if action not in self.legal():
            raise ValueError(f"{action} is not legal, but {sorted(self.legal())}")
        self.actions.append(action)
        kind, card = action[0], int(action[1:] or -1)
        if kind == "P":
            self._pass()
        elif kind == "U":
            self.taken = self.discard_pile.pop()
            self.hand.add(self.taken)
            self.phase = "discard"
        elif kind == "S":
            self.drawn = self.stock.pop(0)
            self.hand.add(self.drawn)
            self.phase = "discard"
        elif kind == "G":
            self._settle()
        else:
            self.hand.remove(card)
            self.discard_pile.append(card)
            self.turns += 1
            if kind == "K":
                self._settle()
            else:
                self._end_turn()

    def _pass(self) -> None:
        if self.at_wall:
            self._void("stock")
            return
        self.passes += 1
        self.player = 1 - self.player
        if self.passes == 2:
            self.phase = "draw"

    def _end_turn(self) -> None:
        if self.turns == self.rules["turn_bound"]:
            self._void("bound")
            return
        self.at_wall = len(self.stock) <= self.rules["void_stock"]
        if self.at_wall and self.rules["at_void_stock"] == "end":
            self._void("stock")
            return
        self.phase = "wall" if self.at_wall else "draw"
        self.player = 1 - self.player
        self.taken = self.drawn = None

    def _void(self, reason: str) -> None:
        self._end(
            outcome="void",
            winner=None,
            points=0,
            knocker=None,
            knocker_deadwood=None,
            opponent_deadwood=None,
            melds=None,
            void_reason=reason,
            tie_results=[[None, 0, None]],
        )

    def _settle(self) -> None:
        knocker, defender = self.hand, self.hands[1 - self.player]
        names = {"knocker": self.player, "defender": 1 - self.player, None: None}
        results = []
        for arrangement in tied_arrangements(knocker, self.discard_pile, self.rules):
            result = settle(
                knocker,
                defender,
                self.discard_pile,
                self.rules,
                first_upcard=self.first_upcard,
                arrangement=arrangement,
            )
            result["winner"] = names[result["winner"]]
            result["opponent_deadwood"] = result.pop("defender_deadwood")
            results.append(result)
        tied = []
        for result in results:
            values = [result["winner"], result["points"], result["opponent_deadwood"]]
            if values not in tied:
                tied.append(values)
        self._end(**results[0], knocker=self.player, void_reason=None, tie_results=tied)

    def _end(self, **result) -> None:
        self.phase = "over"
        self.result = result | {
            "turns": self.turns,
            "stock_left": len(self.stock),
            "hands": [sorted(hand) for hand in self.hands],
        }


def random_deal(
    rng: random.Random, rules: dict | None = None, *, knocks: float = 0.5, greed: float = 0.9
) -> Iterator[Deal]:
    """Yield one deal, played at random, before each of its actions and once when it is over.

    Args:
        rng: shuffles, and chooses the dealer and the actions.
        rules: the settings that differ.
        knocks: how often a player who may knock or lay down big gin does.
        greed: how often a discard is one that leaves least deadwood; without, few deals end in a
            knock.
    """
    cards = deck_of(rules)
    deal = Deal(rng.sample(cards, len(cards)), rng.randrange(2), rules)
    while deal.result is None:
        yield deal
        legal = sorted(deal.legal())
        ends = [action for action in legal if action[0] in "KG"]
        discards = [action for action in legal if action[0] == "D"]
        if ends and (not discards or rng.random() < knocks):
            deal.play(rng.choice(ends))
        elif discards and rng.random() < greed:
            left = after_discard(deal.hand)
            deal.play(min(discards, key=lambda action: left[int(action[1:])]))
        else:
            deal.play(rng.choice(discards or legal))
    yield deal


# The game


class Game:
    """Deals up to the target score, over decks that are given.

    Attributes:
        rules: all settings.
        dealer: of the next deal.
        deals: those that are over.
        totals: the players' points of all deals.
        deals_won: by each player.
        winner: None, or who reached the target.
    """

    def __init__(self, rules: dict | None, first_dealer: int):
        """Start a game in which ``first_dealer`` deals first."""
        self.rules = full_rules(rules)
        self.dealer = first_dealer
        self.deals: list[Deal] = []
        self.totals = [0, 0]
        self.deals_won = [0, 0]
        self.winner: int | None = None

    def new_deal(self, deck: Iterable[int]) -> Deal:
        """Return the next deal, of this deck. Play it, then ``add`` it."""
        return Deal(deck, self.dealer, self.rules)

    def add(self, deal: Deal) -> None:
        """Count a deal that is over: points, deals won, who deals next, whether the game is won."""
        if self.winner is not None or deal.result is None:
            raise ValueError("the game is over" if deal.result else "the deal is not over")
        self.deals.append(deal)
        winner = deal.result["winner"]
        if winner is None:
            return  # the same player deals again
        self.totals[winner] += deal.result["points"]
        self.deals_won[winner] += 1
        if self.totals[winner] >= self.rules["target"]:
            self.winner = winner
        self.dealer = {
            "winner": winner,
            "loser": 1 - winner,
            "alternate": 1 - deal.dealer,
        }[self.rules["next_dealer"]]

    @property
    def final(self) -> list[int] | None:
        """The final scores with all bonuses, None before the game is won."""
        if self.winner is None:
            return None
        return final_scores(self.totals, self.deals_won, self.winner, self.rules)


def final_scores(
    totals: list[int], deals_won: list[int], winner: int, rules: dict | None = None
) -> list[int]:
    """Return both players' points and bonuses at the end of a game."""
    rules = full_rules(rules)
    final = [totals[p] + rules["box_bonus"] * deals_won[p] for p in (0, 1)]
    final[winner] += rules["game_bonus"]
    if deals_won[1 - winner] == 0:
        final[winner] += rules["shutout_bonus"]
    return final
