"""The text of records parsed, with the line number of everything. `writer` shows the format."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ginrummy_env.core.actions import (
    BIG_GIN,
    DISCARD,
    DRAW_STOCK,
    KNOCK,
    PASS,
    TAKE_UPCARD,
    parse_action,
)
from ginrummy_env.core.cards import (
    CARD_BIT,
    NO_CARD,
    NUM_CARDS,
    cards_of,
    format_card,
    parse_card,
)
from ginrummy_env.core.chance import MAX_SEED
from ginrummy_env.core.checks import quoted
from ginrummy_env.core.rules import Rules, as_rules
from ginrummy_env.records.data import (
    MAX_ACTIONS,
    MAX_DEALS,
    MAX_NAME,
    MAX_SCORE,
    Annotation,
    Cards,
    DealRecord,
    GameRecord,
    RecordError,
    require_line,
)
from ginrummy_env.records.writer import HEADER, checksum, seed_deck

MAX_LINE = 8192
"""Most characters of a line."""

_CARDS = {format_card(card): card for card in range(NUM_CARDS)}
_REMARKS = ("values", "intervals", "note", "estimate")
_CLIP = 60  # characters of a wrong word that an error repeats
_BOM = "\ufeff"  # some editors put it at the start of a file
_FLOAT = "-?[0-9]{1,400}([.][0-9]{1,400})?(e[-+]?[0-9]{1,3})?"


@dataclass(slots=True)
class DealText:
    """A deal as its text has it. Nothing is checked yet that needs the rules."""

    line: int
    deal: DealRecord
    steps: list["Step"]
    annotation_lines: list[int]
    end: list[tuple[int, str]]
    """The lines from ``end`` on, with their numbers; empty if there are none."""


class Step(NamedTuple):
    """An action as the text has it."""

    line: int
    player: int
    action: int
    shown: int
    """The card that it brings, or NO_CARD."""


@dataclass(slots=True)
class GameText:
    """A game as its text has it: its deals are without ends, which the engine is to find."""

    line: int
    record: GameRecord
    start_line: int
    deals: list[DealText]
    ending: tuple[int, str]
    check: tuple[int, int, int] | None
    """The line, what it says and what it should say."""


def parse_games(stream: Iterable[str]) -> Iterator[GameText]:
    """Yield the games of a text.

    Args:
        stream: lines, each with its line break or without.

    Raises:
        RecordError: a line that is not as it should be.
    """
    lines = _Lines(stream)
    while lines.peek():
        yield _parse_game(lines)


class _Lines:
    """The lines that count: without comments and blank ones, white space collapsed."""

    def __init__(self, stream: Iterable[str]) -> None:
        self._lines = self._counting(stream)
        self._next = next(self._lines, None)
        self.number = 0
        """Of the line taken last."""
        self.taken: list[str] = []

    def _counting(self, stream: Iterable[str]) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(stream, 1):
            if len(line) > MAX_LINE + 1:  # with its line break
                raise RecordError(f"the line is longer than {MAX_LINE} characters", number)
            text = " ".join(line.removeprefix(_BOM if number == 1 else "").split())
            if not text or text[0] == "#":
                continue
            if not text.isprintable():
                odd = next(character for character in text if not character.isprintable())
                raise RecordError(f"{odd!a} is not a printable character", number)
            yield number, text

    def peek(self) -> str:
        """Return the first word of the next line, "" behind the last."""
        return self._next[1].split(" ", 1)[0] if self._next else ""

    def take(self, what: str) -> str:
        """Return the next line; ``what`` says what it should be."""
        if self._next is None:
            raise RecordError(f"the record ends too early: {what} is missing", self.number or None)
        self.number, text = self._next
        self._next = next(self._lines, None)
        self.taken.append(text)
        return text

    def wrong(self, reason: object) -> RecordError:
        """Return an error about the line taken last."""
        return RecordError(str(reason), self.number)

    def rest(self, start: str, what: str) -> str:
        """Return the rest of the next line, which must begin with the word ``start``."""
        text = self.take(repr(what))
        if not text.startswith(start + " "):
            raise self.wrong(f"{quoted(text)}: {what!r} is needed here")
        return text[len(start) + 1 :]

    def numbers(self, what: str, most: int) -> list[int]:
        """Return the whole numbers of the next line, which reads like "game N of seed N"."""
        text = self.take(repr(what))
        match = re.fullmatch(re.escape(what).replace("N", "([0-9]{1,20})"), text)
        if match is None:
            raise self.wrong(f"{quoted(text)}: {what!r} is needed here, N a whole number")
        numbers = [int(word) for word in match.groups()]
        if max(numbers) > most:
            raise self.wrong(f"{max(numbers)}: at most {most} is allowed in {what!r}")
        return numbers

    def card(self, word: str) -> int:
        """Return the card that a word names."""
        if word in _CARDS:
            return _CARDS[word]
        try:
            return parse_card(word[:_CLIP])
        except ValueError as error:
            raise self.wrong(error) from None

    def cards(self, text: str, count: int, rules: Rules, left: set[int]) -> Cards:
        """Return the cards that a text names; each is taken from those that are ``left``."""
        words = text.split(" ")
        if len(words) != count:
            raise self.wrong(f"{len(words)} cards, expected {count}")
        cards = tuple(map(self.card, words))
        for card in cards:
            if card not in left:
                raise self.wrong(f"{format_card(card)} {_why_not(card, rules)}")
            left.remove(card)
        return cards


def _why_not(card: int, rules: Rules) -> str:
    """Return why a card that is not left cannot be dealt."""
    if CARD_BIT[card] & rules.full_deck:
        return "appears twice in the deal"
    return f"is not in a deck of {rules.num_suits} suits and {rules.num_ranks} ranks"


def _parse_game(lines: _Lines) -> GameText:
    lines.taken.clear()
    header = lines.take(repr(HEADER))
    if header != HEADER:
        raise lines.wrong(f"{quoted(header)}: a record begins with {HEADER!r}")
    line = lines.number
    rules = _parse_rules(lines)
    seed = game_number = players = None
    start_line = lines.number
    if lines.peek() == "game":
        game_number, seed = lines.numbers("game N of seed N", MAX_SEED)
    if lines.peek() == "player":
        players = _parse_name(lines, 0), _parse_name(lines, 1)
    start = [0, 0, 0, 0]
    if lines.peek() == "start":
        start = lines.numbers("start scores N N; won N N", MAX_SCORE)
        start_line = lines.number
    deals = [_parse_deal(lines, rules, seed, game_number)]
    while lines.peek() == "deal":
        deals.append(_parse_deal(lines, rules, seed, game_number))
    record = GameRecord(
        rules=rules,
        seed=seed,
        game_number=game_number,
        players=players,
        start_scores=(start[0], start[1]),
        start_deals_won=(start[2], start[3]),
        deals=tuple(text.deal for text in deals),
    )
    what = "'deal', 'final scores' or 'unfinished'"
    ending = lines.take(what)
    if lines.taken[-1].split()[0] not in ("final", "unfinished"):
        raise lines.wrong(f"{quoted(ending)}: {what} is needed here")
    ending_number, check = lines.number, None
    if lines.peek() == "check":
        right = checksum(lines.taken)
        word = lines.rest("check", "check CHECKSUM")
        if not re.fullmatch("[0-9a-f]{8}", word):
            raise lines.wrong(f"check {quoted(word)}: eight digits 0..9 a..f are needed")
        check = lines.number, int(word, 16), right
    return GameText(line, record, start_line, deals, (ending_number, ending), check)


def _parse_rules(lines: _Lines) -> Rules:
    text = lines.rest("rules", "rules PRESET or SETTINGS")
    try:
        return as_rules(text)
    except ValueError as error:
        raise lines.wrong(error) from None


def _parse_name(lines: _Lines, player: int) -> str:
    name = lines.rest(f"player {player}:", f"player {player}: NAME")
    try:
        return require_line("name", name, MAX_NAME)
    except ValueError as error:
        raise lines.wrong(error) from None


def _parse_deal(lines: _Lines, rules: Rules, seed: int | None, game_number: int | None) -> DealText:
    number, dealer = lines.numbers("deal N: dealer N", MAX_DEALS)
    line = lines.number
    if dealer > 1:
        raise lines.wrong(f"dealer {dealer}: 0 or 1 is needed")
    deck = _parse_deck(lines, rules, dealer, seed, game_number, number)
    steps: list[Step] = []
    found: dict[int, dict[str, Any]] = {}
    remarks: dict[int, int] = {}
    while lines.peek() in ("0", "1", *_REMARKS):
        if lines.peek() in ("0", "1"):
            steps += _parse_turns(lines)
            if len(steps) > MAX_ACTIONS:
                raise lines.wrong(f"a deal has at most {MAX_ACTIONS} actions")
            continue
        step = _parse_annotation(lines, found, len(steps))
        remarks.setdefault(step, lines.number)
    annotations = [Annotation(step=step, **found[step]) for step in sorted(remarks)]
    end = []
    if lines.peek() == "end":
        while lines.peek() in ("end", "melds", "points"):
            end.append((0, lines.take("the end of the deal")))
            end[-1] = lines.number, end[-1][1]
    deal = DealRecord(
        number=number,
        dealer=dealer,
        deck=deck,
        actions=tuple(step.action for step in steps),
        annotations=tuple(annotations),
    )
    return DealText(line, deal, steps, [remarks[step] for step in sorted(remarks)], end)


def _parse_deck(
    lines: _Lines,
    rules: Rules,
    dealer: int,
    seed: int | None,
    game_number: int | None,
    number: int,
) -> Cards:
    left = set(cards_of(rules.full_deck))
    parts: list[tuple[Cards, int]] = []
    size = rules.hand_size
    for start, count in (("hand 0:", size), ("hand 1:", size), ("upcard", 1)):
        cards = lines.cards(lines.rest(start, f"{start} CARDS"), count, rules, left)
        parts.append((cards, lines.number))
    (hand_0, _), (hand_1, _), (upcard, _) = parts
    stock = lines.rest("stock", "stock CARDS or stock by seed")
    if stock != "by seed":
        hands = (hand_1, hand_0) if dealer == 0 else (hand_0, hand_1)
        dealt = [card for pair in zip(*hands, strict=True) for card in pair]
        return (*dealt, *upcard, *lines.cards(stock, rules.num_stock, rules, left))
    deck = seed_deck(rules, seed, game_number, number)
    if deck is None:
        raise lines.wrong("stock by seed: the record has no line 'game N of seed N'")
    hand_of_other, hand_of_dealer = deck[0 : 2 * size : 2], deck[1 : 2 * size : 2]
    hands = (hand_of_dealer, hand_of_other) if dealer == 0 else (hand_of_other, hand_of_dealer)
    for (cards, line), right in zip(parts, (*hands, deck[2 * size : 2 * size + 1]), strict=True):
        if set(cards) != set(right):
            words = " ".join(map(format_card, sorted(right)))
            raise RecordError(f"the seed deals {words} here in deal {number}", line)
    return deck


def _parse_turns(lines: _Lines) -> Iterator[Step]:
    """Yield the actions of a line such as "0 draw 2c discard Kd / 1 pass"."""
    for turn in lines.take("a turn").split("/"):
        words = iter(turn.split())
        player = next(words, "")
        if player not in ("0", "1"):
            raise lines.wrong(f"{quoted(player)}: a turn begins with its player, 0 or 1")
        word = next(words, None)
        if word is None:
            raise lines.wrong(f"player {player}: a turn without an action")
        while word is not None:
            action, shown = _parse_step(lines, word, words)
            yield Step(lines.number, int(player), action, shown)
            word = next(words, None)


def _parse_step(lines: _Lines, word: str, words: Iterator[str]) -> tuple[int, int]:
    """Return an action and the card that it brings."""
    if word == "pass":
        return PASS, NO_CARD
    follower = next(words, "")
    if word in ("draw", "take"):
        return DRAW_STOCK if word == "draw" else TAKE_UPCARD, lines.card(follower)
    if word in ("discard", "knock"):
        return lines.card(follower) + (DISCARD if word == "discard" else KNOCK), NO_CARD
    if (word, follower) == ("big", "gin"):
        return BIG_GIN, NO_CARD
    raise lines.wrong(
        f"{quoted(word)}: pass, draw CARD, take CARD, discard CARD, knock CARD or big gin is needed"
    )


def _parse_annotation(lines: _Lines, found: dict[int, dict[str, Any]], count: int) -> int:
    """Put a remark on one of ``count`` actions into ``found``; return the action's number."""
    text = lines.take("a remark")
    match = re.fullmatch(f"({'|'.join(_REMARKS)}) ([0-9]{{1,5}}): (.+)", text)
    if match is None:
        raise lines.wrong(
            f"{quoted(text)}: 'values N: ACTION VALUE, ...', 'intervals N: ACTION HALF, ...', "
            "'note N: TEXT' or 'estimate N: CARD SHARE, ...' is needed"
        )
    kind, step = match[1], int(match[2])
    if step >= count:
        raise lines.wrong(f"{kind} {step}: only the actions 0..{count - 1} stand above")
    remarks = found.setdefault(step, {})
    if kind in remarks:
        raise lines.wrong(f"{kind} {step} appears twice")
    try:
        remark: Any = match[3]
        if kind in ("values", "intervals"):
            remark = tuple(_parse_value(part) for part in remark.split(","))
        elif kind == "estimate":
            remark = tuple(_parse_share(part) for part in remark.split(","))
        remarks[kind] = getattr(Annotation(step=step, **{kind: remark}), kind)
    except ValueError as error:
        raise lines.wrong(error) from None
    return step


def _parse_value(text: str) -> tuple[int, float]:
    action, _, value = text.strip().rpartition(" ")
    if not re.fullmatch(_FLOAT, value):
        raise ValueError(f"{quoted(text)}: 'ACTION VALUE' is needed, such as 'draw 0.5'")
    return parse_action(action[:_CLIP]), float(value)


def _parse_share(text: str) -> tuple[int, float]:
    card, _, share = text.strip().rpartition(" ")
    if not re.fullmatch(_FLOAT, share):
        raise ValueError(f"{quoted(text)}: 'CARD SHARE' is needed, such as '9s 0.5'")
    return parse_card(card[:_CLIP]), float(share)
